#include "model/names.hpp"

#include <algorithm>

namespace bdl {
namespace {

/// Returns the number of bytes of the character that begins with this byte, or 0 if none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return first != 0 ? 1 : 0;
  if (first < 0xc2) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/// Checks the second byte, which excludes surrogates, overlong forms and characters beyond U+10FFFF.
bool suits(unsigned char first, unsigned char second) {
  const unsigned char least = first == 0xe0   ? 0xa0
                              : first == 0xf0 ? 0x90
                                              : 0x80,
                      greatest = first == 0xed   ? 0x9f
                                 : first == 0xf4 ? 0x8f
                                                 : 0xbf;
  return second >= least && second <= greatest;
}

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = length_of(first);
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !suits(first, static_cast<unsigned char>(text[1]))) return false;
    if (!std::ranges::all_of(text.substr(1, length - 1), continues)) return false;
    text.remove_prefix(length);
  }
  return true;
}

const std::string& Names::get(bdl_named what, Index index) const {
  static const std::string none;
  const auto& names = all(what);
  return names.empty() ? none : names[static_cast<std::size_t>(index)];
}

void Names::set(bdl_named what, Index index, Index count, std::string name) {
  auto& names = lists_[place(what)];
  if (names.empty() && name.empty()) return;
  if (names.empty()) names.resize(static_cast<std::size_t>(count));
  names[static_cast<std::size_t>(index)] = std::move(name);
  if (std::ranges::all_of(names, [](const std::string& text) { return text.empty(); })) names.clear();
}

}  // namespace bdl
