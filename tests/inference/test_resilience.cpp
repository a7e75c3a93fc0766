// Cases that break other implementations: gradients that are all zero, dead units, more columns than rows;
// and the state after a step that fails.
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr EigenMethod methods[] = {EigenMethod::automatic, EigenMethod::gram, EigenMethod::outer,
                                   EigenMethod::randomized};

/// Everything a step may change.
template <class T>
struct Snapshot {
  Dense mean, u, d, momentum, prior, noise;
  Index step;

  explicit Snapshot(const Optimizer<T>& optimizer)
      : mean(column_of(std::as_const(*optimizer.posterior()).mean())),
        momentum(column_of(optimizer.averages.momentum.values())),
        prior(column_of(optimizer.prior().precision())),
        step(optimizer.state.step) {
    if (const auto* q = dynamic_cast<const LowRankPosterior<T>*>(optimizer.posterior().get())) {
      u = dense_of(q->u());
      d = column_of(q->d());
    } else {
      u = dense_precision(*optimizer.posterior());
    }
    if (optimizer.model()) noise = column_of(optimizer.model()->likelihood.noise_precision());
  }
};

template <class T>
void assert_unchanged(const Optimizer<T>& optimizer, const Snapshot<T>& before) {
  const Snapshot<T> now(optimizer);
  assert_same("means", now.mean, before.mean);
  assert_same("low-rank parts", now.u, before.u);
  assert_same("diagonals", now.d, before.d);
  assert_same("momenta", now.momentum, before.momentum);
  assert_same("priors", now.prior, before.prior);
  assert_same("noise precisions", now.noise, before.noise);
  assert_int_equal(now.step, before.step);
}

template <class T>
void assert_sane(const Optimizer<T>& optimizer) {
  const Snapshot<T> now(optimizer);
  for (const Dense* part : {&now.mean, &now.u, &now.d, &now.momentum})
    for (const double value : part->values) assert_true(std::isfinite(value));
  for (const double value : now.d.values) assert_true(value > 0);
  assert_true(std::isfinite(kl_from_prior(optimizer)));
}

template <class T>
std::unique_ptr<Optimizer<T>> optimizer_on_rows(Index dimension, Index rank, EigenMethod method) {
  auto optimizer =
      std::make_unique<Optimizer<T>>(nullptr, make_posterior<T>(dimension, rank), find_method("slang"), 100);
  Options options = plain_options();
  options.learning_rate = options.curvature_rate = 0.1;
  options.eigen_method = method;
  optimizer->set_options(options);
  return optimizer;
}

/// Without any gradient the posterior tends to the prior, d' = (1 - beta) d + beta lambda, and then learns
/// again.
template <class T>
void zero_gradients_train_on(void**) {
  for (const EigenMethod method : methods)
    for (const Index rank : {0, 1, 4, 6}) {
      const auto owner = optimizer_on_rows<T>(6, rank, method);
      auto& optimizer = *owner;
      Options options = optimizer.options();
      options.initial_precision = 5;
      optimizer.set_options(options);
      for (int step = 0; step < 10; ++step) {
        fill(rows_to_fill(optimizer, 3), Dense(6, 3));
        step_on_rows(optimizer);
        assert_sane(optimizer);
      }
      const double expected = 1 + 4 * std::pow(0.9, 10);
      assert_close("precision", dense_precision(*optimizer.posterior()), expected * identity(6), 1e-5);
      fill(rows_to_fill(optimizer, 3), Random(1).normal(6, 3));
      step_on_rows(optimizer);
      assert_sane(optimizer);
      assert_true(max_abs(dense_precision(*optimizer.posterior())) > 2 * expected);
    }
}

template <class T>
void more_columns_than_rows_train_on(void**) {
  for (const EigenMethod method : methods)
    for (const Index count : {0, 1, 2}) {
      const auto owner = optimizer_on_rows<T>(30, 20, method);
      auto& optimizer = *owner;
      Random random(2);
      for (int step = 0; step < 15; ++step) {
        fill(rows_to_fill(optimizer, count), random.normal(30, count));
        step_on_rows(optimizer);
        assert_sane(optimizer);
      }
    }
}

/// One row again and again: U has rank 1, whatever its number of columns.
template <class T>
void repeated_rows_train_on(void**) {
  const Dense row = Random(3).normal(12, 1);
  for (const EigenMethod method : methods) {
    const auto owner = optimizer_on_rows<T>(12, 5, method);
    auto& optimizer = *owner;
    for (int step = 0; step < 40; ++step) {
      fill(rows_to_fill(optimizer, 4), row * Dense(1, 4, 1));
      step_on_rows(optimizer);
      assert_sane(optimizer);
    }
    const Dense u = dense_of(dynamic_cast<const LowRankPosterior<T>&>(*optimizer.posterior()).u());
    const double kept = 1 - std::pow(0.9, 40);
    assert_close("U U^T", u * transposed(u), 100 * kept * (row * transposed(row)),
                 sizeof(T) == 8 ? 1e-10 : 1e-4);
  }
}

/// Units that never fire under a bias prior of 1e-6: d falls towards it, standard deviations rise towards
/// 1000.
template <class T>
void dead_units_train_on(void**) {
  for (const Index rank : {0, 1, 8}) {
    const auto model = make_network<T>({3, 10, 1}, Likelihood(BDL_BERNOULLI, 1), true, BDL_RELU);
    Optimizer<T> optimizer(model, make_posterior<T>(model->parameters(), rank), find_method("slang"), 40);
    Options options = plain_options();
    options.prior_precision = 1;
    options.bias_prior_precision = 1e-6;
    options.learning_rate = 0.01;
    options.curvature_rate = 0.05;
    optimizer.set_options(options);
    initialize(optimizer);
    for (Index i = 30; i < 40; ++i) optimizer.posterior()->mean()[static_cast<std::size_t>(i)] = T(-2000);
    Random random(4);
    double lowest = 1;
    for (int step = 0; step < 1500; ++step) {
      const Dense x = random.normal(3, 8);
      Dense y(1, 8);
      for (Index i = 0; i < 8; ++i) y(0, i) = x(0, i) > 0;
      step_on(optimizer, x, y);
      for (const double d : Snapshot<T>(optimizer).d.values) lowest = std::min(lowest, d);
    }
    assert_sane(optimizer);
    assert_true(lowest < 1e-3);
  }
}

template <class T>
std::unique_ptr<Optimizer<T>> regression(Index rank) {
  const auto model = make_network<T>({2, 4, 2}, gaussian(2, {3}));
  std::shared_ptr<Posterior<T>> q = make_posterior<T>(model->parameters(), std::max<Index>(rank, 0));
  if (rank < 0) q = std::make_shared<FullPosterior<T>>(model->parameters());
  auto optimizer = std::make_unique<Optimizer<T>>(model, q, find_method("slang"), 20);
  Options options;
  options.learn_from = 0;
  options.samples = 2;
  optimizer->set_options(options);
  return optimizer;
}

/// A step on outputs that are not finite fails, changes no bit, and the next one is that of an undisturbed
/// twin.
template <class T>
void failed_steps_leave_no_trace(void**) {
  for (const Index rank : {-1, 0, 3}) {
    const auto owner = regression<T>(rank), twin_owner = regression<T>(rank);
    Optimizer<T>&optimizer = *owner, &twin = *twin_owner;
    Random random(5);
    for (int step = 0; step < 4; ++step) {
      const Dense x = random.normal(2, 5), y = random.normal(2, 5);
      step_on(optimizer, x, y);
      step_on(twin, x, y);
      const Snapshot<T> before(optimizer);
      for (const double bad : {not_a_number, infinity, -infinity}) {
        Dense spoiled = x;
        spoiled(1, 3) = bad;
        Dense spoiled_y = y;
        spoiled_y(0, 2) = bad;
        if (!std::isinf(bad))
          expect_error(Status::ERROR_DIVERGED, "not finite", [&] { step_on(optimizer, spoiled, y); });
        if (std::isinf(bad))  // NaN is a missing target
          expect_error(Status::ERROR_DIVERGED, "not finite", [&] { step_on(optimizer, x, spoiled_y); });
        assert_unchanged(optimizer, before);
      }
    }
    assert_unchanged(optimizer, Snapshot<T>(twin));
    assert_true(optimizer.state.running_log_likelihood == twin.state.running_log_likelihood);
  }
}

/// Also where the precision is fine and only the mean overflows.
void overflowing_means_leave_no_trace(void**) {
  const auto owner = optimizer_on_rows<float>(3, 0, EigenMethod::automatic);
  auto& optimizer = *owner;
  fill(rows_to_fill(optimizer, 2), Random(6).normal(3, 2));
  step_on_rows(optimizer);
  Options options = optimizer.options();
  options.curvature_rate = 0;
  optimizer.set_options(options);
  const Snapshot<float> before(optimizer);
  fill(rows_to_fill(optimizer, 2), Dense(3, 2, 3e38));
  expect_error(Status::ERROR_DIVERGED, "not finite", [&] { step_on_rows(optimizer); });
  assert_unchanged(optimizer, before);
  fill(rows_to_fill(optimizer, 2), Random(7).normal(3, 2));
  step_on_rows(optimizer);
  assert_sane(optimizer);
}

template <class T>
void rows_that_are_not_finite_leave_no_trace(void**) {
  for (const EigenMethod method : methods)
    for (const Index rank : {0, 2}) {
      const auto owner = optimizer_on_rows<T>(7, rank, method);
      auto& optimizer = *owner;
      fill(rows_to_fill(optimizer, 3), Random(8).normal(7, 3));
      step_on_rows(optimizer);
      const Snapshot<T> before(optimizer);
      Dense rows = Random(9).normal(7, 3);
      rows(6, 2) = not_a_number;
      fill(rows_to_fill(optimizer, 3), rows);
      expect_error(Status::ERROR_DIVERGED, "finite", [&] { step_on_rows(optimizer); });
      assert_unchanged(optimizer, before);
    }
}

/// Saturated logits under Gauss-Newton: curvature at rounding level, finite coefficients, in both types.
template <class T>
void saturated_outputs_train_on(void**) {
  for (const Likelihood& likelihood : {Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_CATEGORICAL, 3)}) {
    const auto model = make_network<T>({2, likelihood.outputs()}, likelihood);
    Optimizer<T> optimizer(model, make_posterior<T>(model->parameters(), 2), find_method("slang-ggn"), 10);
    Options options = plain_options();
    options.curvature = EstimateKind::mc_ggn;
    optimizer.set_options(options);
    for (int step = 0; step < 30; ++step) {
      step_on(optimizer, Dense(2, 4, 300), Dense(1, 4, step % 2));
      assert_sane(optimizer);
    }
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_resilience() {
  const CMUnitTest tests[] = {
      BOTH(zero_gradients_train_on),
      BOTH(more_columns_than_rows_train_on),
      BOTH(repeated_rows_train_on),
      BOTH(dead_units_train_on),
      BOTH(failed_steps_leave_no_trace),
      cmocka_unit_test(overflowing_means_leave_no_trace),
      BOTH(rows_that_are_not_finite_leave_no_trace),
      BOTH(saturated_outputs_train_on),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
