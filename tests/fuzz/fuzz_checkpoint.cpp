// libFuzzer target: any bytes either load as a checkpoint that can be used, trained and saved, or are
// refused. Mutations go to the header's text or to the data, and leave the length between them and no
// checksums.
#include <algorithm>

#include "fuzz/archive_text.hpp"
#include "fuzz/load_any.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!fuzz::load_is_right(data, static_cast<std::int64_t>(size))) __builtin_trap();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  fuzz::ArchiveText archive({reinterpret_cast<const char*>(data), size});
  archive.drop_checksums();
  std::string& part = seed % 8 < 6 ? archive.header : archive.data;
  const std::size_t other = archive.header.size() + archive.data.size() - part.size() + 8;
  if (other >= most) return LLVMFuzzerMutate(data, size, most);
  const std::size_t before = part.size(), room = seed % 2 ? std::max<std::size_t>(before, 1) : most - other;
  part.resize(std::max(room, before));
  part.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), std::min(before, room), room));
  const std::string file = archive.file();
  std::copy_n(file.data(), std::min(file.size(), most), data);
  return std::min(file.size(), most);
}
