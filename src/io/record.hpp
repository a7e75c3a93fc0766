// Fields of a checkpoint: short values are text in the metadata, vectors are tensors. Reading trusts nothing.
// RecordWriter and RecordReader handle one field at a time; FieldWriter and FieldReader let one function,
// which visits all fields of a part, both write and read it.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "base/error.hpp"
#include "io/safetensors.hpp"

namespace bdl {

class RecordWriter {
 public:
  void text(const std::string& key, const std::string& value) { metadata_[key] = value; }
  void integer(const std::string& key, Index value) { metadata_[key] = std::to_string(value); }
  /// Writes the shortest text that reads back to the same value.
  void real(const std::string& key, double value);
  template <class T>
  void tensor(const std::string& name, std::vector<Index> shape, std::span<const T> values) {
    tensors_.push_back(make_tensor<T>(name, std::move(shape), values));
  }
  template <class T>
  void vector(const std::string& name, std::span<const T> values) {
    tensor<T>(name, {static_cast<Index>(values.size())}, values);
  }
  const Metadata& metadata() const { return metadata_; }
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  Metadata metadata_;
  std::vector<Tensor> tensors_;  // views of memory that outlives the writer
};

/// True if an error does not concern the file: the call was stopped, a callback failed, or memory ran out.
inline bool is_of_the_call(Status status) {
  return status == Status::STOPPED || status == Status::ERROR_CALLBACK ||
         status == Status::ERROR_OUT_OF_MEMORY;
}

/// Calls read(), and turns an object's refusal of the file's values into ERROR_FORMAT.
template <class Read>
decltype(auto) reading_file(Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (is_of_the_call(error.status())) throw;
    fail(Status::ERROR_FORMAT, "%s", error.what());
  }
}

/// Reads fields. Every member fails with ERROR_FORMAT, naming the field.
class RecordReader {
 public:
  explicit RecordReader(const TensorArchive& archive) : metadata_(archive.metadata()), archive_(&archive) {}
  /// Reads metadata only: there are no tensors.
  explicit RecordReader(const Metadata& metadata) : metadata_(metadata) {}
  bool has(const std::string& key) const { return metadata_.contains(key); }
  const std::string& text(const std::string& key) const;
  Index integer(const std::string& key, Index low, Index high) const;
  double real(const std::string& key) const;
  /// Reads a real number that may be infinite, such as a sum of scores.
  double sum(const std::string& key) const;
  /// Returns the position of the text among the words.
  Index word(const std::string& key, std::span<const char* const> words) const;
  /// Reads integers separated by spaces.
  std::vector<Index> integers(const std::string& key, Index low, Index high) const;
  /// Reads the positive sizes of a network's inputs and layers; fails if they give too many parameters.
  std::vector<Index> layer_sizes(const std::string& key) const;
  const TensorArchive& archive() const { return *archive_; }
  /// Returns the shape of a tensor; fails unless it has `rank` dimensions.
  const std::vector<Index>& shape(const std::string& name, std::size_t rank) const;
  /// Reads a finite vector of this length.
  template <class T>
  void vector(const std::string& name, std::span<T> out) const;
  /// Reads a finite and positive vector of this length.
  template <class T>
  void positive_vector(const std::string& name, std::span<T> out) const;

 private:
  const Metadata& metadata_;
  const TensorArchive* archive_ = nullptr;
};

/// Values that a vector may have, all of them finite.
enum class Numbers { any, not_negative, positive };

class FieldWriter {
 public:
  explicit FieldWriter(RecordWriter& record) : record_(record) {}
  bool has(const char*) const { return true; }
  void integer(const char* key, Index value, Index, Index) { record_.integer(key, value); }
  void flag(const char* key, bool value) { record_.integer(key, value ? 1 : 0); }
  void real(const char* key, double value) { record_.real(key, value); }
  /// Writes a number that may be infinite.
  void sum(const char* key, double value) { record_.real(key, value); }
  template <class T>
  void vector(const std::string& name, std::span<T> values, Numbers = Numbers::any) {
    record_.vector<std::remove_const_t<T>>(name, values);
  }

 private:
  RecordWriter& record_;
};

class FieldReader {
 public:
  explicit FieldReader(const RecordReader& record) : record_(record) {}
  /// True if the file has this field or tensor; older files may lack it.
  bool has(const char* key) const { return record_.has(key) || record_.archive().contains(key); }
  void integer(const char* key, Index& value, Index low, Index high) {
    value = record_.integer(key, low, high);
  }
  void flag(const char* key, bool& value) { value = record_.integer(key, 0, 1) == 1; }
  void real(const char* key, double& value) { value = record_.real(key); }
  void sum(const char* key, double& value) { value = record_.sum(key); }
  template <class T>
  void vector(const std::string& name, std::span<T> values, Numbers numbers = Numbers::any) {
    if (numbers == Numbers::positive) return record_.positive_vector<T>(name, values);
    record_.vector<T>(name, values);
    if (numbers == Numbers::not_negative && std::ranges::any_of(values, [](T value) { return value < 0; }))
      fail(Status::ERROR_FORMAT, "tensor %s has a negative value", name.c_str());
  }
  const RecordReader& record() const { return record_; }

 private:
  const RecordReader& record_;
};

}  // namespace bdl
