#include "io/npy.hpp"

#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "io/file.hpp"

namespace bdl {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t largest_header = 65536, largest_rank = 32;

struct Header {
  std::string_view descr;
  bool is_fortran = false;
  std::vector<Index> shape;
};

/// Parses a dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, and blanks.
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(std::string_view text) : rest_(text) {}
  Header read();

 private:
  [[noreturn]] void fail_at() const {
    fail(Status::ERROR_FORMAT,
         "the header is not a dictionary of descr, fortran_order and shape: unexpected '%s'",
         shown(rest_.substr(0, 20)).c_str());
  }
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool next_is(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!next_is(word)) fail_at();
  }
  std::string_view quoted();
  bool truth();
  std::vector<Index> tuple();
  Index number();

  std::string_view rest_;
};

std::string_view NpyHeaderReader::quoted() {
  const char* const quote = next_is("'") ? "'" : "\"";
  if (*quote == '"') expect("\"");
  const std::size_t size = rest_.find(quote);
  if (size == std::string_view::npos) fail_at();
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size + 1);
  return text;
}

bool NpyHeaderReader::truth() {
  if (next_is("True")) return true;
  expect("False");
  return false;
}

Index NpyHeaderReader::number() {
  skip_blanks();
  Index value = 0;
  std::size_t digits = 0;
  for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, rest_[digits] - '0', &value))
      fail(Status::ERROR_FORMAT, "the header's shape has a number above 2^63");
  if (digits == 0) fail_at();
  rest_.remove_prefix(digits);
  return value;
}

std::vector<Index> NpyHeaderReader::tuple() {
  std::vector<Index> numbers;
  expect("(");
  while (!next_is(")")) {
    if (numbers.size() == largest_rank)
      fail(Status::ERROR_FORMAT, "the header's shape has more than %zu numbers", largest_rank);
    numbers.push_back(number());
    if (!next_is(",")) {
      expect(")");
      break;
    }
  }
  return numbers;
}

Header NpyHeaderReader::read() {
  Header header;
  bool has_descr = false, has_order = false, has_shape = false;
  expect("{");
  while (!next_is("}")) {
    const std::string_view key = quoted();
    bool& seen = key == "descr" ? has_descr : key == "fortran_order" ? has_order : has_shape;
    if (seen || (&seen == &has_shape && key != "shape"))
      fail(Status::ERROR_FORMAT, "the header has the key '%s'%s", shown(key).c_str(),
           seen ? " twice" : ", expected descr, fortran_order and shape");
    seen = true;
    expect(":");
    if (key == "descr")
      header.descr = quoted();
    else if (key == "fortran_order")
      header.is_fortran = truth();
    else
      header.shape = tuple();
    if (!next_is(",")) {
      expect("}");
      break;
    }
  }
  skip_blanks();
  if (!has_descr || !has_order || !has_shape || !rest_.empty()) fail_at();
  return header;
}

/// Parses a byte order ('|' for none) and a type, such as "<f8".
const ElementType& type_of(std::string_view descr) {
  const std::string_view order = descr.substr(0, 1);
  const ElementType* const type = type_of_descr(descr.substr(order.size()));
  if (type && (order == "<" || order == ">" || (order == "|" && type->width == 1))) return *type;
  fail(
      Status::ERROR_FORMAT,
      "elements are '%s', expected numbers or truth values: f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1 "
      "after '<' or '>'",
      shown(descr).c_str());
}

/// Fails unless the data have exactly the size that the header states.
void check_size(const Header& header, std::size_t width, std::size_t got) {
  Index size = static_cast<Index>(width);
  bool overflows = false, empty = false;
  for (const Index length : header.shape) {
    empty = empty || length == 0;
    overflows = overflows || __builtin_mul_overflow(size, std::max<Index>(length, 1), &size);
  }
  if (overflows) fail(Status::ERROR_FORMAT, "the header's shape overflows: it exceeds 2^63 bytes");
  if (empty) size = 0;
  if (got != static_cast<std::size_t>(size))
    fail(Status::ERROR_FORMAT, "file has %zu bytes of data, the header expected %lld", got,
         static_cast<long long>(size));
}

/// Returns the header's text, which the data follow.
std::string_view header_text(std::string_view file) {
  if (!file.starts_with(magic) || file.size() < magic.size() + 2)
    fail(Status::ERROR_FORMAT, "not a .npy file: it does not begin with \\x93NUMPY and a version");
  const int version = static_cast<unsigned char>(file[magic.size()]);
  const std::size_t field = version == 1 ? 2 : 4, start = magic.size() + 2 + field;
  if (version < 1 || version > 3)
    fail(Status::ERROR_FORMAT, "the .npy format has version %d, expected 1 to 3", version);
  if (file.size() < start) fail(Status::ERROR_FORMAT, "file ends within the header");
  std::uint32_t size = 0;
  std::memcpy(&size, file.data() + start - field, field);
  if (size > largest_header)
    fail(Status::ERROR_FORMAT, "the header has %u bytes, expected at most %zu", size, largest_header);
  if (file.size() - start < size) fail(Status::ERROR_FORMAT, "file ends within the header");
  return file.substr(start, size);
}

}  // namespace

FileArray view_npy(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view text = header_text(file);
  const Header header = NpyHeaderReader(text).read();
  const ElementType& type = type_of(header.descr);
  const bool is_swapped = header.descr.starts_with('>');
  const auto start = static_cast<std::size_t>(text.data() + text.size() - file.data());
  check_size(header, type.width, bytes.size() - start);
  const std::byte* const data = bytes.data() + start;
  if (!header.is_fortran || header.shape.size() < 2)
    return rows_in_order(data, type, is_swapped, header.shape);
  if (header.shape.size() > 2)
    fail(Status::ERROR_FORMAT, "the array has %zu dimensions in Fortran order, expected 1 or 2, or C order",
         header.shape.size());
  const Index rows = header.shape[0];
  return {data, &type, is_swapped, rows, header.shape[1], 1, rows};
}

}  // namespace bdl
