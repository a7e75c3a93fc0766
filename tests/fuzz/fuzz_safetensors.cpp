// libFuzzer target: any bytes either parse into a consistent archive or are refused with ERROR_FORMAT; as an
// archive of tensors of any type, they either lie within the bytes or are refused.
#include "base/error.hpp"
#include "io/npy_samples.hpp"

namespace {

void refused_or(void (*use)(std::span<const std::byte>), std::span<const std::byte> bytes) {
  try {
    use(bytes);
  } catch (const bdl::Error& error) {
    if (error.status() != bdl::Status::ERROR_FORMAT) __builtin_trap();
  }
}

void parse(std::span<const std::byte> bytes) {
  const bdl::TensorArchive archive = bdl::parse_archive({bytes.begin(), bytes.end()});
  if (!bdl::testing::accepted_is_consistent(archive)) __builtin_trap();
}

void view(std::span<const std::byte> bytes) {
  for (const auto& [name, tensor] : bdl::view_archive(bytes)) {
    if (tensor.bytes.data() < bytes.data() ||
        tensor.bytes.data() + tensor.bytes.size() > bytes.data() + bytes.size())
      __builtin_trap();
    if (tensor.dtype == bdl::DType::OTHER || tensor.shape.empty() || tensor.bytes.empty()) continue;
    const bdl::FileArray rows =
        bdl::rows_in_order(tensor.bytes.data(), bdl::element_type(tensor.dtype), false, tensor.shape);
    volatile double first = bdl::testing::element(rows, 0, 0),
                    last = bdl::testing::element(rows, rows.rows - 1, rows.cols - 1);
    (void)first, (void)last;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  refused_or(parse, bytes);
  refused_or(view, bytes);
  return 0;
}
