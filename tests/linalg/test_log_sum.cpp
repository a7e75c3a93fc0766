// Sums of logarithms against one logarithm per value, with values at the ends of the range.
#include "linalg/dense/log_sum.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void sums_are_those_of_single_logarithms(void**) {
  for (const Index count : {0, 1, 7, 8, 9, 1023, 1024, 1025, 5000})
    for (const double scale : {1e-30, 1.0, 1e30}) {
      const Padded<T> values(
          Random(static_cast<std::uint64_t>(count)).uniform(std::max<Index>(1, count), 1, 0.5, 4 * scale));
      double expected = 0;
      for (Index i = 0; i < count; ++i) expected += std::log(values.dense()(i, 0));
      assert_near("sum", sum_of_logs<T>(values.column().first(static_cast<std::size_t>(count))), expected,
                  1e-14 * static_cast<double>(count + 1) * 80);
    }
}

template <class T>
void extremes_are_summed(void**) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values(1500, Limits::max()), tiny(1500, Limits::min()),
      denormal(1500, Limits::denorm_min());
  for (const auto& vector : {values, tiny, denormal})
    assert_near("sum", sum_of_logs<T>(vector) / 1500, std::log(static_cast<double>(vector[0])), 1e-10);
}

template <class T>
void what_has_no_logarithm_is_not_finite(void**) {
  for (const double bad : {0.0, -1.0, infinity, not_a_number})
    for (const std::size_t where : {0, 700, 1499}) {
      std::vector<T> values(1500, T(2));
      values[where] = static_cast<T>(bad);
      assert_false(std::isfinite(sum_of_logs<T>(values)));
    }
}

}  // namespace

int test_log_sum() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_single_logarithms<float>),
      cmocka_unit_test(sums_are_those_of_single_logarithms<double>),
      cmocka_unit_test(extremes_are_summed<float>),
      cmocka_unit_test(extremes_are_summed<double>),
      cmocka_unit_test(what_has_no_logarithm_is_not_finite<float>),
      cmocka_unit_test(what_has_no_logarithm_is_not_finite<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
