// Means and standard deviations of columns: of any layout and type, missing numbers left out, constants
// found, and nothing lost beside large means.
#include "support/column_moments.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Dense as_column(const std::vector<double>& values) {
  return column_of(values);
}

/// In the precision of long double.
ColumnMoments reference(const Dense& x) {
  ColumnMoments out;
  for (Index c = 0; c < x.cols; ++c) {
    long double n = 0, mean = 0, square = 0;
    for (Index i = 0; i < x.rows; ++i)
      if (!std::isnan(x(i, c))) ++n, mean += x(i, c);
    mean /= n;
    for (Index i = 0; i < x.rows; ++i)
      if (!std::isnan(x(i, c))) square += (x(i, c) - mean) * (x(i, c) - mean);
    out.mean.push_back(static_cast<double>(mean));
    out.scale.push_back(static_cast<double>(std::sqrt(square / n)));
  }
  return out;
}

void assert_moments(const ColumnMoments& got, const ColumnMoments& expected, double tolerance) {
  assert_int_equal(got.mean.size(), expected.mean.size());
  for (std::size_t c = 0; c < got.mean.size(); ++c) {
    if (!(std::abs(got.mean[c] - expected.mean[c]) <=
          tolerance * (std::abs(expected.mean[c]) + expected.scale[c])))
      fail_msg("mean is %.17g, expected %.17g", got.mean[c], expected.mean[c]);
    if (!(std::abs(got.scale[c] - expected.scale[c]) <= tolerance * expected.scale[c]))
      fail_msg("scale is %.17g, expected %.17g", got.scale[c], expected.scale[c]);
  }
}

/// One row, one block, and blocks that do not fill.
void moments_are_those_of_the_definition(void**) {
  Random random(1);
  for (const Index rows : {2, 255, 256, 257, 5000})
    for (const double offset : {0.0, 1e3, 1e9}) {
      Dense x = random.normal(rows, 3);
      for (Index i = 0; i < rows; ++i) x(i, 1) += offset, x(i, 2) = 1e-40 * (x(i, 2) - offset);
      const Array column_major = bdl_column_major(x.values.data(), BDL_F64, rows, 3);
      assert_moments(moments_of_columns(column_major), reference(x), 1e-13);
      const Dense turned = transposed(x);
      assert_moments(moments_of_columns(bdl_f64(turned.values.data(), rows, 3)), reference(x), 1e-13);
      const Array reversed = bdl_strided(x.values.data() + rows - 1, BDL_F64, rows, 3, -1, rows);
      assert_moments(moments_of_columns(reversed), reference(x), 1e-13);
    }
}

void other_types_are_read(void**) {
  const std::int32_t counts[] = {1, 5, -3, 5};
  const float singles[] = {0.5F, 2, 0.25F, 8};
  assert_moments(moments_of_columns(bdl_i32(counts, 4, 1)), reference(as_column({1, 5, -3, 5})), 1e-15);
  assert_moments(moments_of_columns(bdl_f32(singles, 4, 1)), reference(as_column({0.5, 2, 0.25, 8})), 1e-15);
}

void missing_numbers_do_not_count(void**) {
  Random random(2);
  Dense x = random.normal(700, 4);
  for (Index i = 0; i < 700; ++i) {
    if (i % 3 == 0 || i < 300) x(i, 1) = not_a_number;
    x(i, 2) = not_a_number;
    if (i != 611) x(i, 3) = not_a_number;
  }
  const ColumnMoments got = moments_of_columns(bdl_column_major(x.values.data(), BDL_F64, 700, 4));
  ColumnMoments expected = reference(x);
  expected.mean[2] = 0;
  expected.mean[3] = x(611, 3);
  expected.scale[2] = expected.scale[3] = 1;
  assert_moments(got, expected, 1e-14);
}

/// Also where a mean of equal numbers is not one of them, and where numbers differ by rounding.
void constants_have_scale_1(void**) {
  for (const double value : {0.0, 0.1, -1e9 / 7, 1e100, 1e-300})
    for (const Index rows : {1, 3, 1000}) {
      Dense x(rows, 1, value);
      if (rows == 1000) x(500, 0) = std::nextafter(value, infinity);
      const ColumnMoments got = moments_of_columns(bdl_f64(x.values.data(), rows, 1));
      assert_true(got.scale[0] == 1);
      assert_true(std::abs(got.mean[0] - value) <= 1e-15 * std::abs(value) + 1e-320);
    }
}

/// Nothing is taken for a constant because its squares overflow.
void overflow_is_seen(void**) {
  const double far[] = {1e200, -1e200, 3e200}, farther[] = {1.7e308, -1.7e308, 1e308};
  assert_false(is_scale(moments_of_columns(bdl_f64(far, 3, 1)).scale[0]));
  assert_false(is_scale(moments_of_columns(bdl_f64(farther, 3, 1)).scale[0]));
}

void units_are_converted(void**) {
  const Standardization none, both({{1, 2}, {3, 4}}, {{10, -1}, {0.5, 8}});
  const double missing[] = {not_a_number, 0};
  assert_true(!none.given() && both.given() && !none.has_targets() && both.has_targets());
  assert_true(none.to_caller(1, 3) == 3 && none.variance_to_caller(1, 3) == 3 && none.log_scale() == 0);
  assert_true(none.is_isotropic() && !both.is_isotropic() && none.target_scale(5) == 1);
  assert_true(both.to_caller(0, 2) == 11 && both.variance_to_caller(1, 2) == 128 &&
              both.variance_to_caller(0, 1, 2) == 8);
  assert_near("log scale", both.log_scale(), std::log(4.0), 1e-15);
  assert_near("log scale", both.log_scale(missing), std::log(8.0), 1e-15);
  assert_true(both.inputs().apply(1, 10) == 2 && none.inputs().apply(1, 10) == 10);
}

}  // namespace

int test_standardization() {
  const CMUnitTest tests[] = {cmocka_unit_test(moments_are_those_of_the_definition),
                              cmocka_unit_test(other_types_are_read),
                              cmocka_unit_test(missing_numbers_do_not_count),
                              cmocka_unit_test(constants_have_scale_1),
                              cmocka_unit_test(overflow_is_seen),
                              cmocka_unit_test(units_are_converted)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
