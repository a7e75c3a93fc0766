#include "io/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "io/checksums.hpp"
#include "io/file.hpp"

// An assertion of the JSON library must not abort the host process.
#define JSON_ASSERT(condition) static_cast<void>(0)
#include <nlohmann/json.hpp>

namespace bdl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_dimensions = 32;
constexpr std::array field_names = {"dtype", "shape", "data_offsets"};
constexpr std::size_t dtype_field = 0, shape_field = 1, offsets_field = 2;

void set_type(NamedEntry& tensor, std::string&& text, Types types) {
  auto& [name, entry] = tensor;
  const ElementType* const type = type_of_name(text);
  entry.dtype = type ? type->dtype : DType::OTHER;
  if (types == Types::written && std::ranges::find(written_types, entry.dtype) == std::end(written_types))
    fail(Status::ERROR_FORMAT, "tensor '%s' has unknown dtype '%s', expected F64, F32, I64, I32 or U8",
         shown(name).c_str(), shown(text).c_str());
  if (!type) entry.other_type = std::move(text);
}

/// Handles the parser's events. Keys are checked as they arrive, so no value is silently overwritten, and
/// only expected containers are entered, so nesting cannot exceed three levels.
class ArchiveHeaderReader {
 public:
  ArchiveHeaderReader(ArchiveHeader& header, Types types) : header_(header), types_(types) {}

  bool null() { reject("null"); }
  bool boolean(bool) { reject("a boolean"); }
  bool number_integer(Json::number_integer_t) { reject("a negative number"); }
  bool number_float(Json::number_float_t, const Json::string_t&) {
    reject("a number that is no 64-bit integer");
  }
  bool binary(Json::binary_t&) { reject("binary data"); }
  bool number_unsigned(Json::number_unsigned_t value);
  bool string(Json::string_t& text);
  bool key(Json::string_t& text);
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error);

 private:
  enum class Place { OUTSIDE, ROOT, METADATA, TENSOR, ARRAY };

  [[noreturn]] void reject(const char* got) const;
  [[noreturn]] void fail_duplicate(const std::string& text) const {
    fail(Status::ERROR_FORMAT, "duplicate key '%s' in the header", shown(text).c_str());
  }
  void begin_field(const std::string& text);
  const char* tensor_name() const { return shown_name_.c_str(); }

  ArchiveHeader& header_;
  Types types_;
  Place place_ = Place::OUTSIDE;
  std::string key_;         // the latest key: a tensor's name, metadata_key or a key of the metadata
  std::string shown_name_;  // of the current tensor
  NamedEntry* tensor_ = nullptr;
  std::size_t field_ = 0;
  std::array<bool, field_names.size()> seen_{};
  bool seen_metadata_ = false;
  std::vector<Index> numbers_;  // of the current array
};

void ArchiveHeaderReader::reject(const char* got) const {
  switch (place_) {
    case Place::OUTSIDE:
      fail(Status::ERROR_FORMAT, "header is %s, expected an object", got);
    case Place::ROOT:
      fail(Status::ERROR_FORMAT, "header entry '%s' is %s, expected an object", shown(key_).c_str(), got);
    case Place::METADATA:
      fail(Status::ERROR_FORMAT, "metadata value '%s' is %s, expected a string", shown(key_).c_str(), got);
    case Place::TENSOR:
      fail(Status::ERROR_FORMAT, "'%s' of tensor '%s' is %s, expected %s", field_names[field_], tensor_name(),
           got, field_ == dtype_field ? "a string" : "an array");
    case Place::ARRAY:
      break;
  }
  fail(Status::ERROR_FORMAT, "'%s' of tensor '%s' contains %s, expected non-negative integers",
       field_names[field_], tensor_name(), got);
}

bool ArchiveHeaderReader::number_unsigned(Json::number_unsigned_t value) {
  if (place_ != Place::ARRAY) reject("a number");
  if (value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) reject("a number above 2^63");
  const std::size_t most = field_ == offsets_field ? 2 : most_dimensions;
  if (numbers_.size() == most)
    fail(Status::ERROR_FORMAT, "'%s' of tensor '%s' has more than %zu numbers", field_names[field_],
         tensor_name(), most);
  numbers_.push_back(static_cast<Index>(value));
  return true;
}

bool ArchiveHeaderReader::string(Json::string_t& text) {
  if (text.find('\0') != std::string::npos)
    fail(Status::ERROR_FORMAT, "header contains the character U+0000 in '%s'", shown(text).c_str());
  if (place_ == Place::METADATA) {
    header_.metadata[key_] = std::move(text);
  } else if (place_ == Place::TENSOR && field_ == dtype_field) {
    set_type(*tensor_, std::move(text), types_);
  } else {
    reject("a string");
  }
  return true;
}

void ArchiveHeaderReader::begin_field(const std::string& text) {
  const auto found = std::find(field_names.begin(), field_names.end(), text);
  if (found == field_names.end())
    fail(Status::ERROR_FORMAT, "tensor '%s' has unknown field '%s', expected dtype, shape or data_offsets",
         tensor_name(), shown(text).c_str());
  field_ = static_cast<std::size_t>(found - field_names.begin());
  if (std::exchange(seen_[field_], true)) fail_duplicate(text);
}

bool ArchiveHeaderReader::key(Json::string_t& text) {
  if (text.find('\0') != std::string::npos)
    fail(Status::ERROR_FORMAT, "header contains the character U+0000 in key '%s'", shown(text).c_str());
  if (place_ == Place::TENSOR) {
    begin_field(text);
    return true;
  }
  key_ = std::move(text);
  if (place_ == Place::METADATA) {
    if (header_.metadata.contains(key_)) fail_duplicate(key_);
  } else if (key_ == metadata_key) {
    if (std::exchange(seen_metadata_, true)) fail_duplicate(key_);
  } else {
    const auto [position, inserted] = header_.tensors.try_emplace(key_);
    if (!inserted) fail_duplicate(key_);
    tensor_ = &*position;
    shown_name_ = shown(key_);
    seen_.fill(false);
  }
  return true;
}

bool ArchiveHeaderReader::start_object(std::size_t) {
  if (place_ == Place::OUTSIDE) {
    place_ = Place::ROOT;
  } else if (place_ == Place::ROOT) {
    place_ = key_ == metadata_key ? Place::METADATA : Place::TENSOR;
  } else {
    reject("an object");
  }
  return true;
}

bool ArchiveHeaderReader::end_object() {
  if (place_ == Place::TENSOR) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (!seen_[i]) fail(Status::ERROR_FORMAT, "tensor '%s' has no '%s'", tensor_name(), field_names[i]);
    }
  }
  place_ = place_ == Place::ROOT ? Place::OUTSIDE : Place::ROOT;
  return true;
}

bool ArchiveHeaderReader::start_array(std::size_t) {
  if (place_ != Place::TENSOR || field_ == dtype_field) reject("an array");
  place_ = Place::ARRAY;
  numbers_.clear();
  return true;
}

bool ArchiveHeaderReader::end_array() {
  TensorEntry& entry = tensor_->second;
  if (field_ == shape_field) {
    entry.shape = numbers_;
  } else if (numbers_.size() == 2) {
    entry.begin = static_cast<std::uint64_t>(numbers_[0]);
    entry.end = static_cast<std::uint64_t>(numbers_[1]);
  } else {
    fail(Status::ERROR_FORMAT, "'data_offsets' of tensor '%s' has %zu numbers, expected 2", tensor_name(),
         numbers_.size());
  }
  place_ = Place::TENSOR;
  return true;
}

bool ArchiveHeaderReader::parse_error(std::size_t, const std::string&, const Json::exception& error) {
  std::string_view reason = error.what();
  reason.remove_prefix(
      std::min(reason.find("] ") + 2, reason.size()));    // "[json.exception.parse_error.101] "
  reason = reason.substr(0, reason.find("; last read"));  // arbitrary bytes follow
  fail(Status::ERROR_FORMAT, "header is not valid JSON: %.200s", std::string(reason).c_str());
}

std::size_t width_of(const TensorEntry& entry) {
  return entry.dtype == DType::OTHER ? width_of_other(entry.other_type) : dtype_width(entry.dtype);
}

/// Returns false on overflow. Zero lengths count as one, so no partial product of an accepted shape
/// overflows.
bool byte_count(const TensorEntry& entry, std::uint64_t& bytes) {
  Index product = static_cast<Index>(width_of(entry));
  bool empty = false;
  for (const Index length : entry.shape) {
    empty = empty || length == 0;
    if (__builtin_mul_overflow(product, std::max<Index>(length, 1), &product)) return false;
  }
  bytes = empty ? 0 : static_cast<std::uint64_t>(product);
  return true;
}

void check_size(const NamedEntry& tensor) {
  const auto& [name, entry] = tensor;
  const auto begin = static_cast<unsigned long long>(entry.begin),
             end = static_cast<unsigned long long>(entry.end);
  if (begin > end)
    fail(Status::ERROR_FORMAT, "'data_offsets' of tensor '%s' end before they begin: %llu, %llu",
         shown(name).c_str(), begin, end);
  if (width_of(entry) == 0) return;
  std::uint64_t bytes = 0;
  if (!byte_count(entry, bytes))
    fail(Status::ERROR_FORMAT, "'shape' of tensor '%s' overflows: its size exceeds 2^63 bytes",
         shown(name).c_str());
  if (end - begin != bytes)
    fail(Status::ERROR_FORMAT, "'data_offsets' of tensor '%s' span %llu bytes, dtype and shape expected %llu",
         shown(name).c_str(), end - begin, static_cast<unsigned long long>(bytes));
}

void check_tiling(const ArchiveHeader& header, std::uint64_t data_size) {
  std::vector<const NamedEntry*> order;
  order.reserve(header.tensors.size());
  for (const NamedEntry& tensor : header.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const NamedEntry* a, const NamedEntry* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  for (const NamedEntry* tensor : order) {
    const std::uint64_t begin = tensor->second.begin;
    if (begin != covered)
      fail(Status::ERROR_FORMAT, "tensor '%s' %s: it begins at byte %llu, expected %llu",
           shown(tensor->first).c_str(), begin < covered ? "overlaps its predecessor" : "leaves a hole",
           static_cast<unsigned long long>(begin), static_cast<unsigned long long>(covered));
    covered = tensor->second.end;
  }
  if (covered != data_size)
    fail(Status::ERROR_FORMAT, "file has %llu bytes of tensor data, header expected %llu",
         static_cast<unsigned long long>(data_size), static_cast<unsigned long long>(covered));
}

}  // namespace

ArchiveHeader parse_header(std::string_view json, std::uint64_t data_size, Types types) {
  if (!json.starts_with('{')) fail(Status::ERROR_FORMAT, "header does not begin with '{'");
  // The JSON parser takes a zero byte for the end of its input and would ignore what follows.
  if (json.find('\0') != std::string_view::npos) fail(Status::ERROR_FORMAT, "header contains a zero byte");
  ArchiveHeader header;
  ArchiveHeaderReader reader(header, types);
  Json::sax_parse(json.begin(), json.end(), &reader);
  extract_checksums(header);
  check_layout(header, data_size);
  return header;
}

void check_layout(const ArchiveHeader& header, std::uint64_t data_size) {
  for (const NamedEntry& tensor : header.tensors) check_size(tensor);
  check_tiling(header, data_size);
}

}  // namespace bdl
