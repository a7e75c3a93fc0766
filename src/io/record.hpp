// Fields of a checkpoint: short values are text in the metadata, vectors are tensors. Reading trusts nothing.
// RecordWriter and RecordReader have some members in common (has, flag, integer with a range, real, sum,
// vector), so that one function that visits all fields of a part can both write and read it.
#pragma once

#include <initializer_list>

#include "base/error.hpp"
#include "io/safetensors.hpp"

namespace bdl {

/// Values that a vector may have, all of them finite.
enum class Numbers { any, not_negative, positive };

class RecordWriter {
 public:
  void text(const std::string& key, const std::string& value) { metadata_[key] = value; }
  void integer(const std::string& key, Index value) { metadata_[key] = std::to_string(value); }
  void integer(const std::string& key, Index value, Index, Index) { integer(key, value); }
  /// Writes integers with spaces between them.
  void integers(const std::string& key, std::span<const Index> values);
  void flag(const std::string& key, bool value) { integer(key, value ? 1 : 0); }
  /// Writes the shortest text that reads back to the same value.
  void real(const std::string& key, double value);
  /// Writes a number that may be infinite.
  void sum(const std::string& key, double value) { real(key, value); }
  template <class T>
  void tensor(const std::string& name, std::vector<Index> shape, std::span<const T> values) {
    tensors_.push_back(make_tensor<T>(name, std::move(shape), values));
  }
  template <class T>
  void vector(const std::string& name, std::span<const T> values, Numbers = Numbers::any) {
    tensor<T>(name, {static_cast<Index>(values.size())}, values);
  }
  /// True: a part is written with all its fields.
  static bool has(const char*) { return true; }
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
  /// True if the file has this field or tensor; older files may lack it.
  bool has(const std::string& key) const {
    return metadata_.contains(key) || (archive_ && archive_->contains(key));
  }
  const std::string& text(const std::string& key) const;
  Index integer(const std::string& key, Index low, Index high) const;
  void integer(const std::string& key, Index& value, Index low, Index high) const {
    value = integer(key, low, high);
  }
  void flag(const std::string& key, bool& value) const { value = integer(key, 0, 1) == 1; }
  double real(const std::string& key) const;
  void real(const std::string& key, double& value) const { value = real(key); }
  /// Reads a real number that may be infinite, such as a sum of scores.
  double sum(const std::string& key) const;
  void sum(const std::string& key, double& value) const { value = sum(key); }
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
  void vector(const std::string& name, std::span<T> out, Numbers numbers = Numbers::any) const;

 private:
  const Metadata& metadata_;
  const TensorArchive* archive_ = nullptr;
};

}  // namespace bdl
