// Integrals of the likelihoods over Gaussian outputs: closed forms against dense algebra and fine sums.
#include "likelihood/limited_rates.hpp"
#include "likelihood/linearized_density.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

double density(const Likelihood& likelihood, const Dense& mean, const Dense& covariance, const Dense& y) {
  Buffer<double> scratch;
  const double got = linearized_log_density<double>(
      likelihood, mean.values, {covariance.values.data(), mean.rows, mean.rows}, y.values.data(), scratch);
  const std::vector<float> single(y.values.begin(), y.values.end());
  if (likelihood.kind() != BDL_GAUSSIAN)  // targets are small integers
    assert_true(linearized_log_density<float>(likelihood, mean.values,
                                              {covariance.values.data(), mean.rows, mean.rows}, single.data(),
                                              scratch) == got);
  return got;
}

/// Returns a random covariance of this rank, which may be 0.
Dense covariance_of_rank(Index size, Index rank, Random& random) {
  const Dense root = random.normal(size, rank);
  return root * transposed(root);
}

void regression_is_a_joint_normal_density(void**) {
  Random random(1);
  for (const auto& precision : std::vector<std::vector<double>>{{2.5}, {0.5, 2, 30}})
    for (const Index rank : {0, 1, 2, 3}) {
      const Likelihood likelihood = gaussian(3, precision);
      const Dense mean = random.normal(3, 1), y = random.normal(3, 1), r = y - mean;
      Dense sum = covariance_of_rank(3, rank, random);
      const Dense covariance = sum;
      for (Index c = 0; c < 3; ++c) sum(c, c) += 1 / likelihood.noise_precision(c);
      const double expected =
          -(3 * std::log(2 * std::numbers::pi) + log_det(sum) + dot(r, inverse_of(sum) * r)) / 2;
      assert_near("log N(y; m, S + R)", density(likelihood, mean, covariance, y), expected, 1e-12);
      if (rank == 0)
        assert_near("without S", density(likelihood, mean, covariance, y),
                    likelihood.log_density(mean.values.data(), y.values.data()), 1e-13);
    }
}

double sigmoid(double z) {
  return 1 / (1 + std::exp(-z));
}

/// E[sigma(f)] by a fine trapezoidal sum.
double average_sigmoid(double m, double v) {
  double sum = 0, weights = 0;
  for (double t = -9; t <= 9; t += 0.01) {
    const double weight = std::exp(-t * t / 2);
    weights += weight;
    sum += weight * sigmoid(m + std::sqrt(v) * t);
  }
  return sum / weights;
}

/// The approximation is exact at m = 0 and at v = 0, and its error stays below 0.02.
void probit_is_near_the_integral(void**) {
  const Likelihood one(BDL_BERNOULLI, 1);
  double worst = 0;
  for (const double v : {0.0, 0.01, 0.3, 1.0, 4.0, 20.0, 100.0, 1e4})
    for (double m = -12; m <= 12; m += 0.5) {
      const double p = std::exp(density(one, Dense(1, 1, m), Dense(1, 1, v), Dense(1, 1, 1)));
      const double q = std::exp(density(one, Dense(1, 1, m), Dense(1, 1, v), Dense(1, 1, 0)));
      const double exact = average_sigmoid(m, v);
      assert_near("p + q", p + q, 1, 1e-14);
      assert_near("p", p, sigmoid(m / std::sqrt(1 + std::numbers::pi * v / 8)), 1e-14);
      worst = std::max(worst, std::abs(p - exact));
      if (m == 0 || v == 0) assert_near("exact", p, exact, 1e-13);
    }
  assert_true(worst > 0.005 && worst < 0.02);
}

void classes_are_scaled_one_by_one(void**) {
  Random random(2);
  const Likelihood classes(BDL_CATEGORICAL, 4), coins(BDL_BERNOULLI, 4);
  const Dense mean = random.normal(4, 1, 3), covariance = covariance_of_rank(4, 4, random);
  double logits[4], sum = 0, total = 0, independent = 0;
  const Dense y = random_targets(coins, random);
  for (Index c = 0; c < 4; ++c) {
    logits[c] = mean(c, 0) / std::sqrt(1 + std::numbers::pi * covariance(c, c) / 8);
    sum += std::exp(logits[c]);
    independent += std::log(sigmoid(y(c, 0) > 0 ? logits[c] : -logits[c]));
  }
  for (Index c = 0; c < 4; ++c) {
    const double got = density(classes, mean, covariance, Dense(1, 1, static_cast<double>(c)));
    assert_near("log softmax", got, logits[c] - std::log(sum), 1e-13);
    total += std::exp(got);
  }
  assert_near("sum", total, 1, 1e-13);
  assert_near("outputs are independent", density(coins, mean, covariance, y), independent, 1e-13);
}

void counts_are_integrated(void**) {
  const Likelihood counts(BDL_POISSON, 2);
  Dense covariance(2, 2, 0.1);
  covariance(0, 0) = 0.8;
  const Dense mean = column_of(std::vector{1.5, -0.3}), y = column_of(std::vector{7.0, 0.0});
  assert_near("log p", density(counts, mean, covariance, y),
              log_poisson_lognormal(1.5, 0.8, 7) + log_poisson_lognormal(-0.3, 0.1, 0), 1e-14);
  assert_near("v = 0", density(counts, mean, Dense(2, 2), y),
              counts.log_density(mean.values.data(), y.values.data()), 1e-13);
}

void shrinkage_keeps_its_digits(void**) {
  for (const double v : {0.0, 1e-14, 1e-3, 1.0, 1e6, 1e300}) {
    const ProbitScale scale = probit_scale(v);
    const long double kappa = 1 / std::sqrt(1 + std::numbers::pi_v<long double> * v / 8);
    assert_true(std::abs(scale.kappa - static_cast<double>(kappa)) <= 1e-15 * static_cast<double>(kappa));
    const double series = std::numbers::pi * v / 16;  // to first order
    const double expected = v < 1e-10 ? series : static_cast<double>(1 - kappa);
    assert_true(std::abs(scale.complement - expected) <= 1e-13 * expected);
  }
  assert_true(probit_scale(infinity).kappa == 0 && probit_scale(infinity).complement == 1);
}

void covariances_that_are_none_have_no_density(void**) {
  const Likelihood likelihood = gaussian(2, {1e6});
  Dense covariance(2, 2, 5);
  covariance(0, 0) = covariance(1, 1) = 1;
  assert_true(density(likelihood, Dense(2, 1), covariance, Dense(2, 1)) == -HUGE_VAL);
}

}  // namespace

int test_linearized_density() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(regression_is_a_joint_normal_density),
      cmocka_unit_test(probit_is_near_the_integral),
      cmocka_unit_test(classes_are_scaled_one_by_one),
      cmocka_unit_test(counts_are_integrated),
      cmocka_unit_test(shrinkage_keeps_its_digits),
      cmocka_unit_test(covariances_that_are_none_have_no_density),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
