// Fields of a checkpoint: short values as text in the metadata, vectors as tensors. Reading trusts nothing.
#pragma once

#include <initializer_list>

#include "base/error.hpp"
#include "io/safetensors.hpp"

namespace bdl {

class RecordWriter {
 public:
  void text(const std::string& key, const std::string& value) { metadata_[key] = value; }
  void integer(const std::string& key, Index value) { metadata_[key] = std::to_string(value); }
  /// Shortest text that reads back to the same bits.
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

/// True if an error says nothing about the file: the call was stopped, a callback failed, or memory ran out.
inline bool is_of_the_call(Status status) {
  return status == Status::STOPPED || status == Status::ERROR_CALLBACK ||
         status == Status::ERROR_OUT_OF_MEMORY;
}

/// read() for values that their objects may refuse: that is an ERROR_FORMAT of the file.
template <class Read>
decltype(auto) reading_file(Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (is_of_the_call(error.status())) throw;
    fail(Status::ERROR_FORMAT, "%s", error.what());
  }
}

/// Everything fails with ERROR_FORMAT naming the field.
class RecordReader {
 public:
  explicit RecordReader(const TensorArchive& archive) : metadata_(archive.metadata()), archive_(&archive) {}
  /// Without tensors.
  explicit RecordReader(const Metadata& metadata) : metadata_(metadata) {}
  bool has(const std::string& key) const { return metadata_.contains(key); }
  const std::string& text(const std::string& key) const;
  Index integer(const std::string& key, Index low, Index high) const;
  double real(const std::string& key) const;
  /// May be infinite: of scores, say.
  double sum(const std::string& key) const;
  /// Position of the text among the words.
  Index word(const std::string& key, std::span<const char* const> words) const;
  /// Whitespace-separated integers.
  std::vector<Index> integers(const std::string& key, Index low, Index high) const;
  /// Sizes of a network's inputs and layers: positive, and not too many parameters.
  std::vector<Index> layer_sizes(const std::string& key) const;
  const TensorArchive& archive() const { return *archive_; }
  /// Shape of a tensor that must have `rank` dimensions.
  const std::vector<Index>& shape(const std::string& name, std::size_t rank) const;
  /// A finite vector of this length.
  template <class T>
  void vector(const std::string& name, std::span<T> out) const;
  /// A finite and positive vector of this length.
  template <class T>
  void positive_vector(const std::string& name, std::span<T> out) const;

 private:
  const Metadata& metadata_;
  const TensorArchive* archive_ = nullptr;
};

}  // namespace bdl
