// Outputs under the noise of every estimator: their expected loss, and their mean by pairs of opposite signs.
#include "evidence/noisy_estimator.hpp"
#include "support/noisy_beliefs.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr NoiseEstimator all_noise[] = {NoiseEstimator::local, NoiseEstimator::weights,
                                        NoiseEstimator::flipout, NoiseEstimator::shared};

struct MonteCarlo {
  double mean, error;
};

/// E[-log p] of all examples; draws are the samples, each of all examples.
MonteCarlo expected_loss(const Network<double>& network, const Posterior<double>& q, const Dense& x,
                         const Dense& y, NoiseEstimator noise) {
  Options options;
  options.samples = 500;
  options.noise_estimator = noise;
  options.diagonal_part = DiagonalPart::fixed;
  NoisyEstimator<double> estimator(network);
  double sum = 0, squares = 0, count = 0;
  for (Index step = 0; step < 20; ++step) {
    estimator.estimate(q, {x.values.data(), x.rows, x.cols}, {y.values.data(), y.rows, y.cols}, options, 1,
                       step, {{}, {}});
    const auto f = estimator.outputs();
    for (Index s = 0; s < options.samples; ++s, ++count) {
      double loss = 0;
      for (Index i = 0; i < x.cols; ++i)
        loss -= network.likelihood.log_density(f.column_data(s * x.cols + i), y.column(i));
      sum += loss;
      squares += loss * loss;
    }
  }
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

/// Within 4.5 standard errors of each other: three comparisons, so that a right library would fail once in
/// 49,000 seeds. The networks with another law must be told apart as surely.
void every_exact_estimator_has_the_same_expectation(void**) {
  const auto network = described_network<double>("input 3; dense 6; tanh; dense 3", BDL_CATEGORICAL);
  const auto q = layerwise_moment_posterior<double>(*network, 2);
  set_belief(*q, 0.7, 0.8, 4);
  Random random(5);
  const Dense x = random.normal(3, 4);
  Dense y(1, 4);
  for (Index i = 0; i < 4; ++i) y(0, i) = static_cast<double>(i % 3);
  const MonteCarlo local = expected_loss(*network, *q, x, y, NoiseEstimator::local);
  for (const NoiseEstimator noise : all_noise) {
    const MonteCarlo other = expected_loss(*network, *q, x, y, noise);
    assert_true(std::abs(other.mean - local.mean) <= 4.5 * std::hypot(other.error, local.error));
  }
  const auto narrower = layerwise_moment_posterior<double>(*network, 2);
  set_belief(*narrower, 0.7, 0.7, 4);
  const MonteCarlo other = expected_loss(*network, *narrower, x, y, NoiseEstimator::local);
  assert_true(std::abs(other.mean - local.mean) > 4.5 * std::hypot(other.error, local.error));
}

void pairs_have_the_mean_of_linear_networks(void**) {
  for (const char* const text : {"input 3; dense 2", "input 2 4 4; conv 3 3 pad 1 groups 1"})
    for (const NoiseEstimator noise : all_noise) {
      const auto network = described_network<double>(text, BDL_GAUSSIAN);
      const auto q = layerwise_moment_posterior<double>(*network, 2);
      set_belief(*q, 0.5, 0.5, 9);
      Options options;
      options.samples = 4;
      options.antithetic = 1;
      options.noise_estimator = noise;
      Random random(10);
      const Dense x = random.normal(network->inputs(), 5), y = random.normal(network->outputs(), 5);
      NoisyEstimator<double> estimator(*network);
      estimator.estimate(*q, {x.values.data(), x.rows, 5}, {y.values.data(), y.rows, 5}, options, 1, 3,
                         {{}, {}});
      const Dense f = dense_of(estimator.outputs());
      Dense at_mean(network->outputs(), 5);
      Scratch scratch;
      network->forward(std::as_const(*q).mean(), {x.values.data(), x.rows, 5},
                       {at_mean.values.data(), at_mean.rows, 5}, scratch, {});
      for (const Index s : {0, 2}) {
        const Dense one = columns_of(f, s * 5, 5), other = columns_of(f, s * 5 + 5, 5);
        assert_close(text, 0.5 * (one + other), at_mean, 1e-14);
        assert_true(max_abs(one - other) > 0.1);
      }
      assert_true(max_abs(columns_of(f, 0, 5) - columns_of(f, 10, 5)) > 0.1);
    }
}

}  // namespace

int test_noisy_expectations() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_exact_estimator_has_the_same_expectation),
      cmocka_unit_test(pairs_have_the_mean_of_linear_networks),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
