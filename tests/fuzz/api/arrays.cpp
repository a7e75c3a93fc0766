#include "fuzz/api/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fuzz/api/hash.hpp"

namespace fuzz {
namespace {

std::int64_t size_of(std::int32_t dtype) {
  return dtype == BDL_F64 ? 8 : dtype == BDL_U8 ? 1 : 4;
}

/// Strides of one of five layouts, and how many elements they take; `first` is where element (0, 0) is.
struct Layout {
  std::int64_t row, col, size, first;
};

Layout layout_of(int number, std::int64_t rows, std::int64_t cols) {
  const std::int64_t r = std::max<std::int64_t>(rows, 0), c = std::max<std::int64_t>(cols, 0);
  if (r == 0 || c == 0) return {c, 1, 0, 0};
  switch (number) {
    case 4:
      return {1, r, r * c, 0};
    case 5:  // gaps
      return {2 * c + 1, 2, (r - 1) * (2 * c + 1) + 2 * (c - 1) + 1, 0};
    case 6:  // backwards
      return {-c, -1, r * c, r * c - 1};
    default:
      return {c, 1, r * c, 0};
  }
}

constexpr double specials[] = {0,     -1,    1e300,  -1e300, 1e-300, 1e38,     1e8,       -1e8,
                               1e-38, 1e155, 1e-155, 0.5,    255,    INFINITY, -INFINITY, NAN};

/// A number of a kind; `last` is the one before it in the row.
double number(Numbers& numbers, Kind kind, std::int64_t classes, double last) {
  switch (kind) {
    case Kind::positive:
      return std::exp(numbers.real());
    case Kind::unit:
      return 0.02 + 0.96 * numbers.unit();
    case Kind::binary:
      return static_cast<double>(numbers.below(2));
    case Kind::label:
      return static_cast<double>(numbers.below(std::max<std::int64_t>(classes, 1)));
    case Kind::count:
      return static_cast<double>(numbers.below(6));
    case Kind::sorted:
      return last + numbers.unit();
    default:
      return numbers.real();
  }
}

std::vector<double> numbers_of(std::uint8_t seed, bool whole, std::int64_t rows, std::int64_t cols, Kind kind,
                               std::int64_t classes) {
  Numbers numbers(seed);
  std::vector<double> values(static_cast<std::size_t>(rows * cols));
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
    return values[static_cast<std::size_t>(i * cols + j)];
  };
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) {
      at(i, j) = number(numbers, kind, classes, j > 0 ? at(i, j - 1) : 0);
      if (whole) at(i, j) = kind == Kind::positive ? 1 + std::floor(at(i, j)) : std::floor(at(i, j));
    }
  for (std::int64_t i = 0; kind == Kind::probabilities && i < rows; ++i) {
    const std::int64_t certain = whole ? numbers.below(cols) : -1;
    double sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += at(i, j) = whole ? j == certain : 0.01 + numbers.unit();
    for (std::int64_t j = 0; cols > 1 && j < cols; ++j) at(i, j) /= sum;
    if (cols == 1) at(i, 0) = std::min(at(i, 0), 1.0);
  }
  for (std::int64_t i = 0; kind == Kind::covariance && i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      at(i, j) = i == j  ? 1.5 + std::floor(numbers.unit() * 2)
                 : whole ? 0
                         : 0.5 * std::cos(double(i * j)) / double(cols);
  return values;
}

void store(void* data, std::int32_t dtype, std::int64_t at, double value) {
  if (dtype == BDL_F64) static_cast<double*>(data)[at] = value;
  if (dtype == BDL_F32)
    static_cast<float*>(data)[at] =
        std::fabs(value) < 3e38 || !std::isfinite(value) ? static_cast<float>(value) : 3e38f;
  if (dtype == BDL_I32)
    static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(std::clamp(value, -2e9, 2e9));
  if (dtype == BDL_U8)
    static_cast<std::uint8_t*>(data)[at] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

}  // namespace

double read(const bdl_matrix& m, std::int64_t i, std::int64_t j) {
  const std::int64_t at = i * m.row_stride + j * m.col_stride;
  return m.dtype == BDL_F64 ? static_cast<const double*>(m.data)[at]
                            : static_cast<double>(static_cast<const float*>(m.data)[at]);
}

void write(const bdl_matrix_out& m, std::int64_t i, std::int64_t j, double value) {
  store(m.data, m.dtype, i * m.row_stride + j * m.col_stride, value);
}

bdl_matrix Arrays::in(Bytes& bytes, bool faulty, std::int64_t rows, std::int64_t cols, Kind kind,
                      std::int64_t classes) {
  const std::uint8_t flags = bytes.next(), seed = bytes.next();
  const int fault = faulty ? static_cast<int>(bytes.below(16)) : 16;
  if (fault == 0) return bdl_none();
  if (fault == 1) ++rows;
  if (fault == 2) ++cols;
  if (fault == 3) --rows;
  if (fault == 4) --cols;
  constexpr bdl_dtype dtypes[] = {BDL_F64, BDL_F32, BDL_F64, BDL_F32, BDL_F64, BDL_F64, BDL_I32, BDL_U8};
  const bdl_dtype dtype = dtypes[flags & 7];
  const bool whole = dtype == BDL_I32 || dtype == BDL_U8;
  const Layout layout = layout_of((flags >> 3) & 7, rows, cols);
  std::vector<unsigned char> memory(static_cast<std::size_t>(layout.size * size_of(dtype)));
  unsigned char* const data = memory.data();
  if (layout.size > 0) {
    std::vector<double> values = numbers_of(seed, whole, rows, cols, kind, classes);
    if (flags >= 0xc0) values[bytes.next() % values.size()] = bytes.one_of(specials);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        store(data, dtype, layout.first + i * layout.row + j * layout.col,
              std::isnan(values[static_cast<std::size_t>(i * cols + j)]) && whole
                  ? 0
                  : values[static_cast<std::size_t>(i * cols + j)]);
  }
  inputs_.push_back(std::move(memory));
  bdl_matrix view = bdl_strided(layout.size > 0 ? data + layout.first * size_of(dtype) : nullptr, dtype, rows,
                                cols, layout.row, layout.col);
  if (fault == 5) view.dtype = 77;
  if (fault == 6) view.data = nullptr;
  if (fault == 7) view.rows = -1;
  if (fault == 8) view.rows = INT64_MAX, view.data = nullptr;
  if (fault == 9) view.reserved = 1;
  if (fault == 10) view.cols = INT64_MIN;
  return view;
}

bdl_matrix_out Arrays::out(Bytes& bytes, bool faulty, std::int64_t rows, std::int64_t cols, Finite finite) {
  const std::uint8_t flags = bytes.next();
  const int fault = faulty ? static_cast<int>(bytes.below(16)) : 16;
  if (fault == 0) return bdl_none_out();
  if (fault == 1) ++rows;
  if (fault == 2) ++cols;
  if (fault == 3) --rows;
  if (fault == 4) --cols;
  const bdl_dtype dtype = flags & 1 ? BDL_F32 : BDL_F64;
  const Layout layout = layout_of((flags >> 3) & 7, rows, cols);
  results_.push_back(std::make_unique<Result>());
  Result& result = *results_.back();
  result.scalar = false;
  result.rule = finite == Finite::yes           ? Rule::finite
                : finite == Finite::or_infinite ? Rule::number
                                                : Rule::any;
  result.bytes.assign(static_cast<std::size_t>(layout.size * size_of(dtype)), poison);
  if (layout.size > 0)
    result.view = bdl_strided_out(result.bytes.data() + layout.first * size_of(dtype), dtype, rows, cols,
                                  layout.row, layout.col);
  bdl_matrix_out view = bdl_strided_out(result.view.data, dtype, rows, cols, layout.row, layout.col);
  if (fault == 5) view.dtype = BDL_I32;
  if (fault == 6) view.data = nullptr;
  if (fault == 7) view.rows = -1;
  if (fault == 8) view.row_stride = 0;
  if (fault == 9) view.rows = INT64_MAX, view.data = nullptr;
  return view;
}

std::string Arrays::problem_of(const Result& result) {
  if (result.scalar) {
    if (result.rule == Rule::finite) {
      double value;
      std::memcpy(&value, result.bytes.data(), sizeof value);
      return std::isfinite(value) ? "" : "a number that is not finite";
    }
    const bool same =
        std::all_of(result.bytes.begin(), result.bytes.end(), [](int byte) { return byte == poison; });
    return same && result.rule == Rule::text ? "a text that was not written" : "";
  }
  const bdl_matrix_out& m = result.view;
  std::vector<bool> element(result.bytes.size());
  const auto size = static_cast<std::size_t>(size_of(m.dtype));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.cols; ++j) {
      const auto* at =
          static_cast<unsigned char*>(m.data) + (i * m.row_stride + j * m.col_stride) * size_of(m.dtype);
      std::fill_n(element.begin() + (at - result.bytes.data()), size, true);
      const double value = read({m.data, m.dtype, 0, m.rows, m.cols, m.row_stride, m.col_stride}, i, j);
      if ((result.rule == Rule::finite && !std::isfinite(value)) ||
          (result.rule == Rule::number && std::isnan(value)))
        return "an array whose element (" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
               std::to_string(value);
    }
  for (std::size_t k = 0; k < element.size(); ++k)
    if (!element[k] && result.bytes[k] != poison) return "bytes between the elements of an array";
  return "";
}

std::string Arrays::written() const {
  for (const auto& result : results_)
    if (std::string problem = problem_of(*result); !problem.empty()) return problem;
  return "";
}

std::string Arrays::untouched() const {
  for (const auto& result : results_)
    for (const unsigned char byte : result->bytes)
      if (byte != poison) return "a result";
  return "";
}

std::uint64_t Arrays::hash(std::uint64_t before) const {
  for (const auto& result : results_) {
    if (result->rule != Rule::text) {
      before = hash_of(before, result->bytes.data(), result->bytes.size());
      continue;
    }
    const char* text;
    std::memcpy(&text, result->bytes.data(), sizeof text);
    const bool written = result->bytes[0] != poison || result->bytes[7] != poison;
    if (written && text) before = hash_of(before, text, std::strlen(text));
  }
  return before;
}

void Arrays::clear() {
  results_.clear();
  inputs_.clear();
}

}  // namespace fuzz
