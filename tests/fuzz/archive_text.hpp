// A safetensors file as header text and data, to change either and keep the length in front right; and
// without checksums, which refuse nearly everything that a mutation makes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fuzz {

struct ArchiveText {
  std::string header, data;

  explicit ArchiveText(std::string_view file) {
    std::uint64_t length = 0;
    if (file.size() < sizeof length) return;
    std::memcpy(&length, file.data(), sizeof length);
    file.remove_prefix(sizeof length);
    header = file.substr(0, length);
    data = file.substr(header.size());
  }

  std::string file() const {
    const std::uint64_t length = header.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + header + data;
  }

  /// Takes "crc32c...":"..." and the comma behind it out of the header.
  void drop_checksums() {
    constexpr std::string_view key = "\"crc32c";
    for (std::size_t from = header.find(key); from != std::string::npos; from = header.find(key, from)) {
      std::size_t end = from;
      for (int quotes = 0; quotes < 4; ++quotes) {
        end = header.find('"', end);
        if (end == std::string::npos) return;
        ++end;
      }
      if (end < header.size() && header[end] == ',') ++end;
      header.erase(from, end - from);
    }
  }
};

}  // namespace fuzz
