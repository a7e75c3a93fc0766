#include "io/safetensors.hpp"

#include "base/error.hpp"
#include "base/loop_turns.hpp"
#include "io/shown.hpp"

namespace bdl {
namespace {

std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "[";
  for (const Index length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return shown(text + "]");
}

}  // namespace

const char* dtype_name(DType dtype) {
  return dtype == DType::OTHER ? "" : element_type(dtype).name;
}

std::size_t dtype_width(DType dtype) {
  return dtype == DType::OTHER ? 0 : element_type(dtype).width;
}

const Tensor& TensorArchive::at(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(Status::ERROR_FORMAT, "tensor '%s' is missing", shown(name).c_str());
  return found->second;
}

void TensorArchive::require_shape(const Tensor& tensor, const std::vector<Index>& shape) {
  if (tensor.shape == shape) return;
  fail(Status::ERROR_FORMAT, "tensor '%s' has shape %s, expected %s", shown(tensor.name).c_str(),
       shape_text(tensor.shape).c_str(), shape_text(shape).c_str());
}

void TensorArchive::copy_bytes(const Tensor& tensor, DType dtype, std::span<std::byte> out) {
  if (tensor.dtype != dtype) {
    fail(Status::ERROR_FORMAT, "tensor '%s' has type %s, expected %s", shown(tensor.name).c_str(),
         dtype_name(tensor.dtype), dtype_name(dtype));
  }
  if (tensor.bytes.size() != out.size()) {
    fail(Status::ERROR_FORMAT, "tensor '%s' has %zu elements, expected %zu", shown(tensor.name).c_str(),
         tensor.bytes.size() / element_type(dtype).width, out.size() / element_type(dtype).width);
  }
  copy_in_parts(tensor.bytes.data(), static_cast<Index>(out.size()), out.data());
}

}  // namespace bdl
