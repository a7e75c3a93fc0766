// Expected losses and their derivatives against 40-digit values and against plain sums over the normal
// density.
#include "likelihood/expected_loss.hpp"
#include "support/likelihoods.hpp"
#include "support/logistic_cases.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Relative to each value, or to `least` where that is more.
void assert_loss(const ExpectedLoss& got, const ExpectedLoss& expected, double tolerance, double least = 0) {
  const auto check = [&](const char* what, double value, double reference) {
    if (!(std::abs(value - reference) <= tolerance * std::max(least, std::abs(reference))))
      fail_msg("%s is %.17g, expected %.17g", what, value, reference);
  };
  check("E[l]", got.loss, expected.loss);
  check("E[l']", got.slope, expected.slope);
  check("E[l'']", got.curvature, expected.curvature);
}

/// Each relative to itself, however small; y = 1 is y = 0 with the sign of f changed.
void logistic_losses_are_exact(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  for (const LogisticCase& c : logistic_cases) {
    assert_loss(expected_loss(bernoulli, c.m, c.v, 0), {-c.log_q, c.p, c.pq}, 2e-14);
    assert_loss(expected_loss(bernoulli, -c.m, c.v, 1), {-c.log_q, -c.p, c.pq}, 2e-14);
  }
}

/// The trapezoidal rule with steps of 0.01 over 14 standard deviations on the likelihood's own functions.
ExpectedLoss summed(const Likelihood& likelihood, double m, double v, double y) {
  ExpectedLoss sums;
  double total = 0;
  for (double t = -14; t <= 14; t += 0.01) {
    const double f = m + std::sqrt(v) * t, weight = std::exp(-t * t / 2);
    double slope = 0, h = 0;
    likelihood.gradient(&f, &y, &slope);
    likelihood.hessian_terms(&f, static_cast<const double*>(nullptr), &h);
    total += weight;
    sums.loss -= weight * likelihood.log_density(&f, &y);
    sums.slope += weight * slope;
    sums.curvature += weight * likelihood.hessian_entry(&h, 0, 0);
  }
  return {sums.loss / total, sums.slope / total, sums.curvature / total};
}

void losses_are_sums_over_the_normal_density(void**) {
  Random random(81);
  for (const Likelihood& likelihood :
       {gaussian(1, {2.5}), correlated_gaussian(1), Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)})
    for (const double v : {1e-20, 0.3, 1.0, 4.0})
      for (const double m : {-2.0, 0.1, 1.7}) {
        const double y = random_targets(likelihood, random)(0, 0);
        assert_loss(expected_loss(likelihood, m, v, y), summed(likelihood, m, v, y), 1e-13, 1);
      }
}

void limits(void**) {
  for (const Likelihood& likelihood :
       {gaussian(1, {2.5}), Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)}) {
    const double m = 0.4, y = 1;
    double slope = 0, h = 0;
    likelihood.gradient(&m, &y, &slope);
    likelihood.hessian_terms(&m, static_cast<const double*>(nullptr), &h);
    assert_loss(expected_loss(likelihood, m, 0, y), {-likelihood.log_density(&m, &y), slope, h}, 1e-15);
    const ExpectedLoss missing = expected_loss(likelihood, m, 1, not_a_number);
    assert_true(missing.loss == 0 && missing.slope == 0 && missing.curvature == 0);
  }
  assert_true(std::isinf(expected_loss(Likelihood(BDL_POISSON, 1), 700, 100, 3).loss));
  assert_near("rate", expected_loss(Likelihood(BDL_POISSON, 1), -800, 1600, 0).loss, 1, 1e-13);
}

/// Logits of any size end, those just within and beyond where the rule changes agree, and none is not a
/// number.
void far_logits_have_losses(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  for (const double v : {1.0, 25.0, 1e4})
    for (const double r : {99.0, 9999.0, 10001.0, 1e6}) {
      const double m = r * std::sqrt(v);
      assert_near("E[softplus]", expected_loss(bernoulli, m, v, 0).loss, m, 1e-14);
      const double tail = expected_loss(bernoulli, -m, v, 0).loss;
      assert_true(tail >= 0 && tail <= std::exp(-m + v / 2) * (1 + 1e-12));
    }
  for (const double m : {1e15, 1e20, 1e300})
    for (const double v : {1e-300, 1.0, 1e20, 1e300})
      assert_true(std::isfinite(expected_loss(bernoulli, m, v, 0).loss));
  assert_true(std::isnan(expected_loss(bernoulli, 0, HUGE_VAL, 0).loss));
  assert_true(std::isnan(expected_loss(bernoulli, HUGE_VAL, 1, 0).loss));
}

}  // namespace

int test_expected_loss() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(logistic_losses_are_exact),
      cmocka_unit_test(losses_are_sums_over_the_normal_density),
      cmocka_unit_test(limits),
      cmocka_unit_test(far_logits_have_losses),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
