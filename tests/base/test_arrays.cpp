// The caller's arrays: every element type in every layout is gathered, scattered and checked alike.
#include <array>
#include <functional>

#include "base/array.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Memory for a rows x cols matrix of some type and layout; element (i, j) holds value(i, j).
class Stored {
 public:
  struct Layout {
    const char* name;
    Index row_stride, col_stride, first;  // in elements; `first` is where element (0, 0) stands
  };
  Stored(bdl_dtype dtype, Index rows, Index cols, const Layout& layout, const Dense& values)
      : floats_(capacity, -9),
        doubles_(capacity, -9),
        integers_(capacity, -9),
        bytes_(capacity, 9),
        array_(bdl_strided(start(dtype, layout.first), dtype, rows, cols, layout.row_stride,
                           layout.col_stride)) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j)
        put(layout.first + i * layout.row_stride + j * layout.col_stride, values(i, j));
  }
  const Array& array() const { return array_; }
  OutArray output() {
    const auto type = static_cast<bdl_dtype>(array_.dtype);
    void* const first =
        type == BDL_F32 ? static_cast<void*>(floats_.data() + offset()) : doubles_.data() + offset();
    return bdl_strided_out(first, type, array_.rows, array_.cols, array_.row_stride, array_.col_stride);
  }
  void put(Index at, double value) {
    const auto k = static_cast<std::size_t>(at);
    floats_[k] = static_cast<float>(value);
    doubles_[k] = value;
    integers_[k] = std::isfinite(value) ? static_cast<std::int32_t>(value) : 0;
    bytes_[k] = static_cast<std::uint8_t>(integers_[k]);
  }
  /// Elements that no longer hold what was there at first, outside the matrix.
  Index touched() const {
    std::vector<bool> inside(capacity, false);
    for (Index i = 0; i < array_.rows; ++i)
      for (Index j = 0; j < array_.cols; ++j)
        inside[offset() + static_cast<std::size_t>(i * array_.row_stride + j * array_.col_stride)] = true;
    Index count = 0;
    for (std::size_t k = 0; k < capacity; ++k)
      count += !inside[k] && (floats_[k] != -9 || doubles_[k] != -9 || integers_[k] != -9);
    return count;
  }

 private:
  static constexpr std::size_t capacity = 400;
  const void* start(bdl_dtype dtype, Index first) const {
    if (dtype == BDL_F32) return floats_.data() + first;
    if (dtype == BDL_U8) return bytes_.data() + first;
    return dtype == BDL_F64 ? static_cast<const void*>(doubles_.data() + first) : integers_.data() + first;
  }
  std::size_t offset() const {
    if (array_.dtype == BDL_F32)
      return static_cast<std::size_t>(static_cast<const float*>(array_.data) - floats_.data());
    if (array_.dtype == BDL_F64)
      return static_cast<std::size_t>(static_cast<const double*>(array_.data) - doubles_.data());
    if (array_.dtype == BDL_U8)
      return static_cast<std::size_t>(static_cast<const std::uint8_t*>(array_.data) - bytes_.data());
    return static_cast<std::size_t>(static_cast<const std::int32_t*>(array_.data) - integers_.data());
  }
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::int32_t> integers_;
  std::vector<std::uint8_t> bytes_;
  Array array_;
};

constexpr Stored::Layout layouts[] = {{"C", 3, 1, 5},
                                      {"Fortran", 1, 5, 5},
                                      {"padded rows", 7, 1, 5},
                                      {"every second", 6, 2, 5},
                                      {"rows backwards", -3, 1, 20},
                                      {"columns backwards", 3, -1, 20},
                                      {"both backwards", -1, -5, 60}};
constexpr bdl_dtype types[] = {BDL_F32, BDL_F64, BDL_I32, BDL_U8};

Dense numbered() {
  Dense out(5, 3);
  for (std::size_t k = 0; k < out.values.size(); ++k) out.values[k] = static_cast<double>(k) + 1;
  return out;
}

void for_each_array(const std::function<void(Stored&, const Stored::Layout&)>& check) {
  for (const bdl_dtype type : types)
    for (const auto& layout : layouts) {
      Stored stored(type, 5, 3, layout, numbered());
      check(stored, layout);
    }
}

template <class T>
void rows_become_columns(void**) {
  for_each_array([](Stored& stored, const Stored::Layout& layout) {
    const std::vector<Index> chosen{4, 0, 0, 2};
    Padded<T> out(poison(3, 4), 2), range(poison(3, 2), 1), nothing(Dense(3, 0));
    gather<T>(stored.array(), chosen, out.view());
    gather<T>(stored.array(), 3, range.view());
    gather<T>(stored.array(), 0, nothing.view());
    const Dense all = transposed(numbered());
    Dense expected(3, 0);
    for (const Index row : chosen) expected = beside(expected, columns_of(all, row, 1));
    assert_close(layout.name, out.dense(), expected, 0);
    assert_close(layout.name, range.dense(), columns_of(all, 3, 2), 0);
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 3; ++j) assert_true(element(stored.array(), i, j) == numbered()(i, j));
  });
}

template <class T>
void columns_become_rows_and_nothing_else_changes(void**) {
  for_each_array([](Stored& stored, const Stored::Layout& layout) {
    if (stored.array().dtype >= BDL_I32) return;  // of inputs only
    Dense values(3, 2, 0), expected = transposed(numbered());
    for (std::size_t k = 0; k < 6; ++k) values.values[k] = 100 + static_cast<double>(k);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 2; ++j) expected(i, j + 2) = values(i, j);
    scatter<T>(Padded<T>(values, 3).get(), stored.output(), 2);
    Padded<T> back(poison(3, 5));
    gather<T>(stored.array(), 0, back.view());
    assert_close(layout.name, back.dense(), expected, 0);
    assert_int_equal(stored.touched(), 0);
  });
}

template <class T>
void views_cross_as_one_example_per_row(void**) {
  const Padded<T> columns(numbered(), 2);
  const Array array = as_array(columns.get());
  assert_true(array.rows == 3 && array.cols == 5 && array.dtype == (sizeof(T) == 4 ? BDL_F32 : BDL_F64));
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j) assert_true(element(array, i, j) == numbered()(j, i));
}

void shapes_are_checked(void**) {
  for_each_array([](Stored& stored, const Stored::Layout&) {
    const Array& a = stored.array();
    check_shape(a, 5, 3, "x");
    check_shape(a, -1, -1, "x");
    expect_error(Status::ERROR_SHAPE, "x has 5 rows, expected 4", [&] { check_shape(a, 4, 3, "x"); });
    expect_error(Status::ERROR_SHAPE, "x has 3 columns, expected 2", [&] { check_shape(a, -1, 2, "x"); });
  });
  const double value = 0;
  expect_error(Status::ERROR_SHAPE, "empty (0 x 3)",
               [&] { check_shape(bdl_f64(&value, 0, 3), -1, -1, "x"); });
  expect_error(Status::ERROR_SHAPE, "empty", [] { check_shape(bdl_none(), -1, -1, "x"); });
  expect_error(Status::ERROR_SHAPE, "negative", [&] { check_shape(bdl_f64(&value, -1, 3), -1, -1, "x"); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "NULL",
               [] { check_shape(bdl_f64(nullptr, 1, 1), -1, -1, "x"); });
  Array strange = bdl_f64(&value, 1, 1);
  for (const int none : {0, BDL_U8 + 1}) {
    strange.dtype = none;
    expect_error(Status::ERROR_SHAPE,
                 none == 0 ? "dtype 0" : "dtype 5, expected BDL_F32, BDL_F64, BDL_I32 or",
                 [&] { check_shape(strange, -1, -1, "x"); });
  }
}

void outputs_must_not_overlap(void**) {
  double memory[64] = {};
  const auto output = [&](bdl_dtype type, Index rows, Index cols, Index row_stride, Index col_stride) {
    check_output(bdl_strided_out(memory + 32, type, rows, cols, row_stride, col_stride), -1, -1, "out");
  };
  for (const auto& layout : layouts)
    for (const bdl_dtype type : {BDL_F32, BDL_F64}) output(type, 5, 3, layout.row_stride, layout.col_stride);
  output(BDL_F64, 1, 3, 0, 1);  // one row: its stride does not matter
  output(BDL_F64, 3, 1, 1, 0);
  output(BDL_F64, 1, 1, 0, 0);
  for (const std::array<Index, 4>& s : std::vector<std::array<Index, 4>>{{2, 3, 0, 1},
                                                                         {2, 3, 1, 0},
                                                                         {2, 2, 0, 0},
                                                                         {5, 3, 2, 1},
                                                                         {5, 3, 1, 4},
                                                                         {2, 2, 1, 1},
                                                                         {2, 2, 1, -1},
                                                                         {5, 3, -2, 1},
                                                                         {3, 1, 0, 1},
                                                                         {1, 3, 1, 0}})
    expect_error(Status::ERROR_SHAPE, "overlap", [&] { output(BDL_F64, s[0], s[1], s[2], s[3]); });
  expect_error(Status::ERROR_SHAPE, "dtype i32", [&] { output(BDL_I32, 2, 2, 2, 1); });
  expect_error(Status::ERROR_SHAPE, "dtype u8", [&] { output(BDL_U8, 2, 2, 2, 1); });
  expect_error(Status::ERROR_SHAPE, "rows", [&] { check_output(bdl_f64_out(memory, 2, 2), 3, 2, "out"); });
  OutArray strange = bdl_f64_out(memory, 1, 1);
  strange.reserved = 1;
  expect_error(Status::ERROR_INVALID_ARGUMENT, "reserved", [&] { check_output(strange, 1, 1, "out"); });
  strange.reserved = 0;
  strange.dtype = -5;
  expect_error(Status::ERROR_SHAPE, "unknown dtype -5", [&] { check_output(strange, 1, 1, "out"); });
}

void bad_numbers_are_found_where_they_stand(void**) {
  for_each_array([](Stored& stored, const Stored::Layout& layout) {
    check_finite(stored.array(), "x");
    check_positive(stored.array(), "x");
    if (stored.array().dtype >= BDL_I32) return;
    for (const double bad : {not_a_number, infinity, -infinity, 0.0, -1.0}) {
      Dense values = numbered();
      values(3, 1) = bad;
      const Stored spoiled(static_cast<bdl_dtype>(stored.array().dtype), 5, 3, layout, values);
      expect_error(Status::ERROR_INVALID_ARGUMENT, "at row 3, column 1",
                   [&] { check_positive(spoiled.array(), "x"); });
      if (!std::isfinite(bad))
        expect_error(Status::ERROR_NOT_FINITE, "row 3, column 1",
                     [&] { check_finite(spoiled.array(), "x"); });
      else
        check_finite(spoiled.array(), "x");
    }
  });
}

/// Bytes are always finite, but not when they are divided by next to nothing.
void scaled_bytes_are_checked(void**) {
  const std::uint8_t bytes[] = {0, 1, 0, 0, 200, 1};
  const Array array = bdl_u8(bytes, 3, 2);
  const std::vector<double> mean{0, 1}, tiny{1e-100, 1}, small{1e-36, 1};
  check_finite<float>(array, "x", {mean, small});
  check_finite<double>(array, "x", {mean, tiny});
  expect_error(Status::ERROR_NOT_FINITE, "x is not finite at row 2, column 0 (counting from 0): 200 before",
               [&] {
                 check_finite<float>(array, "x", {mean, tiny});
               });
}

void given_means_more_than_none(void**) {
  const double value = 1;
  assert_false(given(bdl_none()));
  assert_true(given(bdl_f64(&value, 1, 1)));
  assert_true(given(bdl_f64(nullptr, 2, 0)));
}

}  // namespace

int test_arrays() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_become_columns<float>),
      cmocka_unit_test(rows_become_columns<double>),
      cmocka_unit_test(columns_become_rows_and_nothing_else_changes<float>),
      cmocka_unit_test(columns_become_rows_and_nothing_else_changes<double>),
      cmocka_unit_test(views_cross_as_one_example_per_row<float>),
      cmocka_unit_test(views_cross_as_one_example_per_row<double>),
      cmocka_unit_test(shapes_are_checked),
      cmocka_unit_test(outputs_must_not_overlap),
      cmocka_unit_test(bad_numbers_are_found_where_they_stand),
      cmocka_unit_test(scaled_bytes_are_checked),
      cmocka_unit_test(given_means_more_than_none),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
