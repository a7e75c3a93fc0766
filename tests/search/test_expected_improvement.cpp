// Expected improvement against quadrature, down to where it underflows.
#include <numbers>

#include "search/gaussian_process.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// log of the integral of f N(best + f; mean, variance) over f > 0, by Simpson's rule in f = deviation t; the
/// density's value at the start is taken out, so that nothing underflows.
double by_quadrature(double mean, double variance, double best) {
  const double deviation = std::sqrt(variance), z = (mean - best) / deviation;
  const double peak = std::max(z, 0.0), width = z < 0 ? 60 / (1 - z) : 12;
  const double low = std::max(0.0, peak - width), high = peak + width;
  const auto exponent = [&](double t) { return -(t - z) * (t - z) / 2; };
  constexpr int intervals = 20000;
  const double h = (high - low) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double t = low + i * h;
    sum += (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2) * t * std::exp(exponent(t) - exponent(peak));
  }
  return std::log(deviation * sum * h / 3 / std::sqrt(2 * std::numbers::pi)) + exponent(peak);
}

void improvement_is_the_integral(void**) {
  for (const double variance : {0.01, 1.0, 30.0})
    for (const double z : {-300.0, -40.0, -13.0, -12.0, -11.9, -5.0, -1.0, 0.0, 0.5, 3.0, 10.0}) {
      const double best = 2, mean = best + z * std::sqrt(variance);
      assert_near("log improvement", log_expected_improvement(mean, variance, best),
                  by_quadrature(mean, variance, best), 1e-11);
    }
}

void certain_values_improve_or_not(void**) {
  assert_near("better", log_expected_improvement(5, 0, 2), std::log(3.0), 1e-15);
  assert_true(log_expected_improvement(1, 0, 2) == -infinity);
  assert_true(log_expected_improvement(2, 0, 2) == -infinity);
}

void improvement_grows_with_mean_and_variance(void**) {
  double last = -infinity;
  for (double mean = -50; mean < 5; mean += 0.01) {
    const double now = log_expected_improvement(mean, 1.5, 0.3);
    assert_true(now > last);
    last = now;
  }
  last = -infinity;
  for (double variance = 1e-4; variance < 100; variance *= 1.01) {
    const double now = log_expected_improvement(-1, variance, 0.3);
    assert_true(now > last);
    last = now;
  }
}

}  // namespace

int test_expected_improvement() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(improvement_is_the_integral),
      cmocka_unit_test(certain_values_improve_or_not),
      cmocka_unit_test(improvement_grows_with_mean_and_variance),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
