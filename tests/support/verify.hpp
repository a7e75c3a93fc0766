// Shared by the CMocka programs of the core. Its name sorts it behind every other header, where cmocka.h
// must be.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "support/dense.hpp"

// Last: its macro fail() would break the headers above.
#include <setjmp.h>
extern "C" {
#include <cmocka.h>
}

namespace bdl::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                        infinity = std::numeric_limits<double>::infinity();

/// Relative accuracy that structured operations keep against dense references.
template <class T>
constexpr double accuracy = sizeof(T) == 8 ? 1e-12 : 1e-5;

/// |got - expected| <= tolerance max|expected|, element by element; a NaN fails.
inline void assert_close(const char* what, const Dense& got, const Dense& expected, double tolerance) {
  if (got.rows != expected.rows || got.cols != expected.cols)
    fail_msg("%s is %ld x %ld, expected %ld x %ld", what, static_cast<long>(got.rows),
             static_cast<long>(got.cols), static_cast<long>(expected.rows), static_cast<long>(expected.cols));
  const double scale = max_abs(expected);
  for (Index j = 0; j < got.cols; ++j)
    for (Index i = 0; i < got.rows; ++i)
      if (!(std::abs(got(i, j) - expected(i, j)) <= tolerance * scale))
        fail_msg("%s(%ld, %ld) is %.17g, expected %.17g (scale %g, error %.3g of it)", what,
                 static_cast<long>(i), static_cast<long>(j), got(i, j), expected(i, j), scale,
                 std::abs(got(i, j) - expected(i, j)) / scale);
}

/// |got - expected| <= tolerance max(1, |expected|).
inline void assert_near(const char* what, double got, double expected, double tolerance) {
  if (!(std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected))))
    fail_msg("%s is %.17g, expected %.17g (error %.3g)", what, got, expected, std::abs(got - expected));
}

inline void assert_same(const char* what, const Dense& got, const Dense& expected) {
  if (got.values.size() != expected.values.size() ||
      (!got.values.empty() &&
       std::memcmp(got.values.data(), expected.values.data(), got.values.size() * sizeof(double)) != 0))
    fail_msg("%s are not the same numbers", what);
}

/// The call must fail with this status and a message that contains `word`.
template <class Call>
void expect_error(Status status, const char* word, Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == status && std::strstr(error.what(), word)) return;
    fail_msg("got status %d, '%s'; expected %d, '%s'", static_cast<int>(error.status()), error.what(),
             static_cast<int>(status), word);
  }
  fail_msg("got success, expected '%s'", word);
}

/// A matrix of T with `padding` unused elements below each column, which must stay as they are.
template <class T>
class Padded {
 public:
  explicit Padded(const Dense& values, Index padding = 0)
      : rows_(values.rows),
        cols_(values.cols),
        ld_(values.rows + padding),
        elements_(static_cast<std::size_t>(ld_ * cols_ + 1), static_cast<T>(mark)) {
    for (Index j = 0; j < cols_; ++j)
      for (Index i = 0; i < rows_; ++i) view()(i, j) = static_cast<T>(values(i, j));
  }
  MatrixView<T> view() { return {elements_.data(), rows_, cols_, ld_}; }
  ConstMatrixView<T> get() const { return {elements_.data(), rows_, cols_, ld_}; }
  std::span<T> column() { return view().column(0); }
  ConstSpan<T> column() const { return get().column(0); }
  Dense dense() const {
    for (Index j = 0; j < cols_; ++j)
      for (Index i = rows_; i < ld_; ++i)
        assert_true(elements_[static_cast<std::size_t>(i + j * ld_)] == static_cast<T>(mark));
    return dense_of(get());
  }

 private:
  static constexpr double mark = -77;
  Index rows_, cols_, ld_;
  std::vector<T> elements_;
};

/// The values as T holds them, for references that must see the same input.
template <class T>
Dense rounded(Dense a) {
  for (double& value : a.values) value = static_cast<double>(static_cast<T>(value));
  return a;
}

inline Dense poison(Index rows, Index cols) {
  return Dense(rows, cols, not_a_number);
}

}  // namespace bdl::testing
