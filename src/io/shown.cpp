#include "io/shown.hpp"

#include <algorithm>

namespace bdl {

std::string shown(std::string_view text) {
  std::size_t length = std::min<std::size_t>(text.size(), 60);
  const auto inside_character = [&] { return (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80; };
  while (length > 0 && length < text.size() && inside_character()) --length;
  std::string result(text.substr(0, length));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return length < text.size() ? result + "..." : result;
}

}  // namespace bdl
