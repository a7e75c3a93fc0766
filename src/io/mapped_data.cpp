#include "io/mapped_data.hpp"

#include "io/file.hpp"
#include "io/npy.hpp"
#include "io/safetensors.hpp"

namespace bdl {
namespace {

using File = std::shared_ptr<MappedFile>;

/// An array in a mapped file, or no array.
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(File file, const FileArray& array)
      : file_(std::move(file)), array_(array), in_memory_(as_array_in_memory(array)) {}
  Index rows() const { return array_.rows; }
  Index cols() const { return array_.cols; }
  bool given() const { return file_ != nullptr; }
  /// Must be called before rows are read; fails if the file has become shorter.
  void prepare(MappedFile::Access access) const {
    if (!given()) return;
    file_->check_size();
    file_->expect(access);
  }
  template <class T>
  void fetch(const RowNumbers& examples, const ColumnScales& scales, MatrixView<T> out) const;
  void prefetch(Index first, Index count) const {
    for_bytes(first, count, [&](std::size_t offset, std::size_t size) { file_->prefetch(offset, size); });
  }
  void release(Index first, Index count) const {
    for_bytes(first, count, [&](std::size_t offset, std::size_t size) { file_->release(offset, size); });
  }

 private:
  /// Calls visit(offset, size) for each range of bytes in which these rows lie.
  template <class Visit>
  void for_bytes(Index first, Index count, Visit visit) const {
    if (!given()) return;
    const std::size_t width = array_.type->width;
    const auto at = [&](Index row, Index column) {
      return static_cast<std::size_t>(array_.data - file_->bytes().data() + array_.offset(row, column));
    };
    const Index last = first + count - 1;
    if (array_.col_stride == 1) return visit(at(first, 0), at(last, cols() - 1) + width - at(first, 0));
    for (Index c = 0; c < cols(); ++c) visit(at(first, c), at(last, c) + width - at(first, c));
  }

  File file_;
  FileArray array_;
  Array in_memory_{};  // has data if the numbers can be read where they lie
};

template <class T>
void MappedArray::fetch(const RowNumbers& examples, const ColumnScales& scales, MatrixView<T> out) const {
  if (!out.data) return;
  const auto gather_from = [&](const auto& array) {
    if (examples.is_list())
      gather(array, examples.list(), out, scales);
    else
      gather(array, examples.first(), out, scales);
  };
  if (in_memory_.data)
    gather_from(in_memory_);
  else
    gather_from(array_);
}

class MappedData final : public DataSet {
 public:
  MappedData(MappedArray x, MappedArray y) : x_(std::move(x)), y_(std::move(y)) {}
  Index rows() const override { return x_.rows(); }
  Index inputs() const override { return x_.cols(); }
  Index targets() const override { return y_.cols(); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override {
    fetch_into(examples, units, x, y);
  }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override {
    fetch_into(examples, units, x, y);
  }
  void expect(Index first, Index count) override {
    x_.prefetch(first, count);
    y_.prefetch(first, count);
  }
  void forget(Index first, Index count) override {
    x_.release(first, count);
    y_.release(first, count);
  }

 private:
  template <class T>
  void fetch_into(const RowNumbers& examples, const Standardization& units, MatrixView<T> x,
                  MatrixView<T> y) {
    using Access = MappedFile::Access;
    const Access access = examples.is_list() && !blocks.given() ? Access::scattered : Access::in_order;
    x_.prepare(access);
    y_.prepare(access);
    x_.fetch(examples, units.inputs(), x);
    y_.fetch(examples, units.targets(), y);
  }
  MappedArray x_, y_;
};

/// Calls read(), and puts the file's name before the message of an ERROR_FORMAT.
template <class Read>
auto naming(const char* path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_FORMAT) throw;
    fail(Status::ERROR_FORMAT, "%.250s: %s", path, error.what());
  }
}

FileArray tensor_rows(const TensorMap& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) fail(Status::ERROR_FORMAT, "there is no tensor '%s'", shown(name).c_str());
  const Tensor& tensor = found->second;
  if (tensor.dtype == DType::OTHER)
    fail(Status::ERROR_FORMAT,
         "tensor '%s' has type '%s', expected F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 or "
         "BOOL",
         shown(name).c_str(), shown(tensor.other_type).c_str());
  return rows_in_order(tensor.bytes.data(), element_type(tensor.dtype), false, tensor.shape);
}

std::unique_ptr<DataSet> data_of(MappedArray x, MappedArray y) {
  if (x.rows() < 1 || x.cols() < 1 || (y.given() && y.cols() < 1))
    fail(Status::ERROR_SHAPE, "x is %lld x %lld and y %lld x %lld, expected at least one row and column",
         static_cast<long long>(x.rows()), static_cast<long long>(x.cols()), static_cast<long long>(y.rows()),
         static_cast<long long>(y.cols()));
  if (y.given() && x.rows() != y.rows())
    fail(Status::ERROR_SHAPE, "y has %lld rows, expected %lld as x", static_cast<long long>(y.rows()),
         static_cast<long long>(x.rows()));
  return std::make_unique<MappedData>(std::move(x), std::move(y));
}

}  // namespace

std::unique_ptr<DataSet> map_npy(const char* x_path, const char* y_path) {
  const auto open = [](const char* path) {
    auto file = std::make_shared<MappedFile>(path);
    const FileArray array = naming(path, [&] { return view_npy(file->bytes()); });
    return MappedArray(std::move(file), array);
  };
  MappedArray x = open(x_path), y = y_path ? open(y_path) : MappedArray();
  return data_of(std::move(x), std::move(y));
}

std::unique_ptr<DataSet> map_safetensors(const char* path, const char* x_name, const char* y_name) {
  auto file = std::make_shared<MappedFile>(path);
  const TensorMap tensors = naming(path, [&] { return view_archive(file->bytes()); });
  const auto open = [&](const char* name) {
    return MappedArray(file, naming(path, [&] { return tensor_rows(tensors, name); }));
  };
  MappedArray x = open(x_name), y = y_name ? open(y_name) : MappedArray();
  return data_of(std::move(x), std::move(y));
}

}  // namespace bdl
