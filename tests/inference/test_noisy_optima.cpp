// Where training by gradients through noise ends: posteriors that are known, equal columns, what a factor is
// worth.
#include "evidence/noisy_estimator.hpp"
#include "steps/averages.hpp"
#include "support/likelihoods.hpp"
#include "support/noisy_beliefs.hpp"
#include "support/steps.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 4, examples = 30;

struct Regression {
  Dense x, y, precision, mean;
};

/// Inputs that hang together, noise and prior of precision 1.
Regression regression() {
  Random random(11);
  Regression out{random.normal(inputs, examples), Dense(1, examples), {}, {}};
  for (Index i = 0; i < examples; ++i) {
    for (Index j = 1; j < inputs; ++j) out.x(j, i) = 0.5 * out.x(j, i) + 0.7 * out.x(0, i);
    out.y(0, i) = out.x(0, i) - 0.5 * out.x(2, i) + random.normal();
  }
  out.precision = out.x * transposed(out.x) + identity(inputs);
  out.mean = inverse_of(out.precision) * (out.x * transposed(out.y));
  return out;
}

double divergence_after_training(const char* method, Index rank, const Regression& data) {
  const auto network = described_network<double>("input 4; dense 1 nobias", BDL_GAUSSIAN);
  const double noise_precision = 1;
  network->likelihood.set_noise_precision({&noise_precision, 1});
  const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, rank);
  Optimizer<double> optimizer(network, q, find_method(method), examples);
  Options options = optimizer.options();
  options.learning_rate = 0.02;
  options.final_rate = 0;
  options.total_steps = 4000;
  options.samples = 1;
  options.learn_prior = options.learn_noise = 0;
  options.prior_scaling = PriorScaling::unit;
  options.initial_precision = 30;
  optimizer.set_options(options);
  for (int step = 0; step < 4000; ++step) step_on(optimizer, data.x, data.y);
  return kl_of(column_of(std::as_const(*q).mean()), covariance_of(*q), data.mean, data.precision);
}

/// There are D = 4 parameters: the mean field's own optimum has precisions Lambda_ii; rank 3 can be exact.
void regressions_end_at_their_posterior(void**) {
  const Regression data = regression();
  double optimum = -log_det(data.precision) / 2;
  for (Index i = 0; i < inputs; ++i) optimum += std::log(data.precision(i, i)) / 2;
  assert_true(optimum > 0.2);
  const double mean_field = divergence_after_training("mf-vi", 0, data),
               low_rank = divergence_after_training("elrg-d", 3, data);
  if (!(mean_field > optimum && mean_field < optimum + 0.02))
    fail_msg("mean field: %g, its optimum is %g", mean_field, optimum);
  if (!(low_rank > 0 && low_rank < 0.02)) fail_msg("rank 3: %g", low_rank);
}

/// With nothing but the KL, and s fixed, W^T W ends at (gamma - s) I, whatever a is.
void the_divergence_alone_fills_the_prior(void**) {
  constexpr Index dimension = 12, rank = 3;
  constexpr double s = 0.04, gamma = 0.5;
  for (const double scale : {0.0, 1.0}) {
    Options options;
    options.descent = DescentOption::adam;
    options.diagonal_part = DiagonalPart::fixed;
    options.low_rank_scale = scale;
    const auto q = create_posterior<double>({Family::low_rank_moment, dimension, rank, {}, {}});
    const auto next = q->clone();
    set_belief(*q, 0.1, 1, 3);
    for_each_block(*q, [&](LowRankMomentPosterior<double>& member, Index, std::size_t) {
      std::ranges::fill(member.s(), s);
      Scratch scratch;
      member.factorize(scratch);
    });
    const std::vector<double> precision(dimension, 1 / gamma);
    std::vector<double> gradient(dimension, 0.0), by_w(dimension * rank, 0.0);
    const NoiseGradient<double> noise{gradient, by_w, {}};
    Evidence<double> evidence;
    evidence.gradient = gradient;
    evidence.noise = &noise;
    StepRig<double> rig(precision, options);
    constexpr int count = 3000;
    for (int t = 1; t <= count; ++t) {
      const double rate = 0.05 * (1 - (t - 1.0) / count);
      rig.step(StepKind::low_rank_moment, *q, {rate, 0, 1, 1}, 1, t, evidence, *next);
      q->swap(*next);
    }
    for_each_block(*q, [&](LowRankMomentPosterior<double>& member, Index, std::size_t) {
      const Dense w = dense_of(member.w());
      assert_close("W^T W", transposed(w) * w, (gamma - s) * identity(rank), 1e-4);
      for (const double value : member.s()) assert_true(value == s);
    });
    assert_true(max_abs(column_of(std::as_const(*q).mean())) < 1e-4);
  }
}

/// Two equal columns and a tiny s: in float the Gram matrix of W / sqrt(s) is singular.
void equal_columns_train_on(void**) {
  const auto network = described_network<float>("input 20; dense 30; relu; dense 3", BDL_CATEGORICAL);
  const std::shared_ptr<Posterior<float>> q = layerwise_moment_posterior<float>(*network, 2);
  set_belief(*q, 0.1, 1, 6);
  for_each_block(*q, [&](LowRankMomentPosterior<float>& member, Index, std::size_t) {
    std::ranges::copy(member.w().column(0), member.w().column(1).begin());
    std::ranges::fill(member.s(), std::exp(-12.0f));
    Scratch scratch;
    member.factorize(scratch);
  });
  Optimizer<float> optimizer(network, q, find_method("elrg"), 1000);
  Random random(7);
  const Dense x = random.normal(20, 32);
  Dense y(1, 0);
  for (Index i = 0; i < 32; ++i) y = beside(y, random_targets(network->likelihood, random));
  for (int step = 0; step < 200; ++step) step_on(optimizer, x, y);
  for_each_block(*q, [&](LowRankMomentPosterior<float>& member, Index, std::size_t) {
    const Dense w = dense_of(member.w());
    assert_true(std::isfinite(max_abs(w)));
    assert_true(max_abs(columns_of(w, 0, 1) - columns_of(w, 1, 1)) > 1e-4);
  });
}

/// The ELBO after training on two clouds of points, as in figure 1 of Tomczak et al. (2020).
double elbo_after_training(Index rank, const Dense& x, const Dense& y) {
  const auto network = described_network<double>("input 2; dense 10; elu; dense 1", BDL_BERNOULLI);
  const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, rank);
  Optimizer<double> optimizer(network, q, find_method("elrg"), x.cols);
  Options options = optimizer.options();
  options.initial_precision = std::exp(6.0);
  options.prior_scaling = PriorScaling::unit;
  options.prior_precision = 1;
  options.learning_rate = 0.02;
  options.final_rate = 0;
  options.total_steps = 2500;
  optimizer.set_options(options);
  for (int step = 0; step < 2500; ++step) step_on(optimizer, x, y);
  NoisyEstimator<double> estimator(*network);
  options.samples = 2000;
  const auto estimate = estimator.estimate(*q, {x.values.data(), 2, x.cols}, {y.values.data(), 1, x.cols},
                                           options, 1, 1 << 20, {{}, {}});
  const Index dimension = q->dimension();
  return estimate.expected_log_likelihood - kl_of(column_of(std::as_const(*q).mean()), covariance_of(*q),
                                                  Dense(dimension, 1), identity(dimension));
}

/// A factor that lies where the data say nothing turns to the prior: (log(gamma / s) - 1 + s / gamma) / 2
/// nats in each of two blocks, 5.0 together.
void each_factor_is_worth_five_nats(void**) {
  Random random(16);
  Dense x(2, 100), y(1, 100);
  for (Index i = 0; i < 100; ++i) {
    y(0, i) = static_cast<double>(i % 2);
    x(0, i) = (i % 2 ? 1.5 : 0.5) + 0.5 * random.normal();
    x(1, i) = (i % 2 ? -0.5 : -1.0) + (i % 2 ? 0.5 : 1.0) * random.normal();
  }
  const double none = elbo_after_training(0, x, y), one = elbo_after_training(1, x, y),
               three = elbo_after_training(3, x, y);
  if (!(std::abs(one - none - 5) < 1 && std::abs(three - none - 15) < 1.5))
    fail_msg("ELBOs %g, %g, %g of rank 0, 1, 3", none, one, three);
}

}  // namespace

int test_noisy_optima() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(regressions_end_at_their_posterior),
      cmocka_unit_test(the_divergence_alone_fills_the_prior),
      cmocka_unit_test(equal_columns_train_on),
      cmocka_unit_test(each_factor_is_worth_five_nats),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
