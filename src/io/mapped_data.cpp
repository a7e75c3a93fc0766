#include "io/mapped_data.hpp"

#include "base/file_dtype.hpp"
#include "io/file.hpp"
#include "io/npy.hpp"
#include "io/safetensors.hpp"
#include "io/shown.hpp"

namespace bdl {
namespace {

using File = std::shared_ptr<MappedFile>;

/// An array in a mapped file; none without a file.
struct MappedArray {
  File file;
  Array array;

  /// visit(offset, size) of the bytes in which these rows lie.
  template <class Visit>
  void for_bytes(Index first, Index count, Visit visit) const {
    if (!file) return;
    const std::size_t width = width_of(array.dtype);
    const auto at = [&](Index row, Index column) {
      const auto* const start = static_cast<const std::byte*>(array.data);
      const Index elements = row * array.row_stride + column * array.col_stride;
      return static_cast<std::size_t>(start - file->bytes().data()) +
             static_cast<std::size_t>(elements) * width;
    };
    const Index last = first + count - 1;
    if (array.col_stride == 1) return visit(at(first, 0), at(last, array.cols - 1) + width - at(first, 0));
    for (Index c = 0; c < array.cols; ++c) visit(at(first, c), at(last, c) + width - at(first, c));
  }
};

class MappedData final : public DataSet {
 public:
  MappedData(MappedArray x, MappedArray y)
      : x_(std::move(x)), y_(std::move(y)), arrays_(x_.array, y_.array) {}
  Index rows() const override { return arrays_.rows(); }
  Index inputs() const override { return arrays_.inputs(); }
  Index targets() const override { return arrays_.targets(); }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<float> x,
             MatrixView<float> y) override {
    prepare(examples);
    arrays_.fetch(examples, units, x, y);
  }
  void fetch(const RowNumbers& examples, const Standardization& units, MatrixView<double> x,
             MatrixView<double> y) override {
    prepare(examples);
    arrays_.fetch(examples, units, x, y);
  }
  void expect(Index first, Index count) override {
    for (const MappedArray* of : {&x_, &y_})
      of->for_bytes(first, count,
                    [&](std::size_t offset, std::size_t size) { of->file->prefetch(offset, size); });
  }
  void forget(Index first, Index count) override {
    for (const MappedArray* of : {&x_, &y_})
      of->for_bytes(first, count,
                    [&](std::size_t offset, std::size_t size) { of->file->release(offset, size); });
  }

 private:
  void prepare(const RowNumbers& examples) {
    using Access = MappedFile::Access;
    for (const MappedArray* of : {&x_, &y_}) {
      if (!of->file) continue;
      of->file->check_size();
      of->file->expect(examples.is_list() && !blocks.given() ? Access::scattered : Access::in_order);
    }
  }
  MappedArray x_, y_;
  ArrayData arrays_;
};

/// read(), with the file's name before what it says about the format.
template <class Read>
auto naming(const char* path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_FORMAT) throw;
    fail(Status::ERROR_FORMAT, "%.250s: %s", path, error.what());
  }
}

std::int32_t element_type(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return BDL_F64;
    case DType::F32:
      return BDL_F32;
    case DType::I64:
      return dtype_i64;
    case DType::I32:
      return BDL_I32;
    case DType::U8:
      break;
  }
  return BDL_U8;
}

Array tensor_rows(const TensorMap& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) fail(Status::ERROR_FORMAT, "there is no tensor '%s'", shown(name).c_str());
  const Tensor& tensor = found->second;
  check_alignment(tensor.bytes.data(), dtype_width(tensor.dtype));
  return rows_in_order(tensor.bytes.data(), element_type(tensor.dtype), tensor.shape);
}

void check_rows(const Array& x, const Array& y) {
  if (x.rows < 1 || x.cols < 1 || (given(y) && y.cols < 1))
    fail(Status::ERROR_SHAPE, "x is %lld x %lld and y %lld x %lld, expected at least one row and column",
         static_cast<long long>(x.rows), static_cast<long long>(x.cols), static_cast<long long>(y.rows),
         static_cast<long long>(y.cols));
  if (given(y) && x.rows != y.rows)
    fail(Status::ERROR_SHAPE, "y has %lld rows, expected %lld as x", static_cast<long long>(y.rows),
         static_cast<long long>(x.rows));
}

}  // namespace

std::unique_ptr<DataSet> map_npy(const char* x_path, const char* y_path) {
  const auto open = [](const char* path, File& file) {
    file = std::make_shared<MappedFile>(path);
    return naming(path, [&] { return view_npy(file->bytes()); });
  };
  File x_file, y_file;
  const Array x = open(x_path, x_file), y = y_path ? open(y_path, y_file) : Array();
  check_rows(x, y);
  return std::make_unique<MappedData>(MappedArray{std::move(x_file), x}, MappedArray{std::move(y_file), y});
}

std::unique_ptr<DataSet> map_safetensors(const char* path, const char* x_name, const char* y_name) {
  auto file = std::make_shared<MappedFile>(path);
  const TensorMap tensors = naming(path, [&] { return view_archive(file->bytes()); });
  const Array x = naming(path, [&] { return tensor_rows(tensors, x_name); }),
              y = y_name ? naming(path, [&] { return tensor_rows(tensors, y_name); }) : Array();
  check_rows(x, y);
  return std::make_unique<MappedData>(MappedArray{file, x}, MappedArray{y_name ? file : File(), y});
}

}  // namespace bdl
