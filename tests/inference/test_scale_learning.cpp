// Prior and noise precisions that are learned: the moving averages, when they begin, and the fixed points
// lambda = D / E[theta^T theta] and tau = N C / E[sum of squared errors] (docs/theory/scales.md).
#include <array>

#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/scales.hpp"
#include "train/units.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void weights_are_a_running_mean_and_then_the_rate(void**) {
  assert_true(scale_weight(0.01, 1) == 1.0 / 11 && scale_weight(0.01, 50) == 1.0 / 60);
  assert_true(scale_weight(0.01, 90) == 0.01 && scale_weight(0.01, 1'000'000) == 0.01 &&
              scale_weight(1, 1) == 1);
}

/// 1 / lambda moves by the weight towards E[theta^2], within limits.
void prior_precisions_move_to_the_inverse_mean_square(void**) {
  const auto blocks = make_network<double>({2, 1}, Likelihood(BDL_GAUSSIAN, 1))->blocks();
  Prior<double> prior;
  prior.reset(blocks, Options{});
  prior.set_groups(std::vector<double>{4, 0.5});
  Padded<double> thetas(
      column_of(std::vector<double>{1, 3, 2}));  // weights 1, 3 and bias 2: mean squares 5 and 4
  Scales scales;
  learn_prior_from<double>(prior, thetas.get(), 0.25, scales);
  assert_near("weights", scales.prior[0], 1 / (0.75 / 4 + 0.25 * 5), 1e-14);
  assert_near("biases", scales.prior[1], 1 / (0.75 * 2 + 0.25 * 4), 1e-14);
  assert_true(prior.groups()[0] == 4);  // not before the step is committed
  for (int k = 0; k < 200; ++k) {
    learn_prior_from<double>(prior, thetas.get(), 0.25, scales);
    prior.set_groups(scales.prior);
  }
  assert_near("weights", prior.groups()[0], 1.0 / 5, 1e-12);
  assert_near("biases", prior.groups()[1], 1.0 / 4, 1e-12);
  for (double& value : thetas.column()) value = 0;
  for (int k = 0; k < 500; ++k) {
    learn_prior_from<double>(prior, thetas.get(), 0.25, scales);
    prior.set_groups(scales.prior);
  }
  assert_near("limit", prior.groups()[0], 1e30, 1e18);
}

struct Regression {
  Dense x, y;
  explicit Regression(Index outputs, Index examples = 30) {
    Random random(41);
    x = random.normal(2, examples);
    y = random.normal(outputs, 2) * x;
    for (Index j = 0; j < examples; ++j)
      for (Index c = 0; c < outputs; ++c) y(c, j) += 1 + static_cast<double>(c + 1) * 0.2 * random.normal();
  }
};

/// E over the posterior of sum_i (y_ic - f_ic)^2 in closed form.
Dense expected_squared_errors(const Optimizer<double>& optimizer, const Regression& data) {
  const Dense mean = column_of(std::as_const(*optimizer.posterior()).mean()),
              covariance = inverse_of(dense_precision(*optimizer.posterior()));
  Dense out(data.y.rows, 1);
  for (Index c = 0; c < data.y.rows; ++c)
    for (Index j = 0; j < data.x.cols; ++j) {
      Dense row(mean.rows, 1);
      for (Index i = 0; i < 2; ++i) row(2 * c + i, 0) = data.x(i, j);
      row(2 * data.y.rows + c, 0) = 1;
      out(c, 0) += std::pow(data.y(c, j) - dot(row, mean), 2) + dot(row, covariance * row);
    }
  return out;
}

Options learning_options() {
  Options options;
  options.curvature = EstimateKind::mc_ggn;
  options.learning_rate = options.curvature_rate = 0.1;
  options.momentum = 0;
  options.samples = 40;
  options.learn_from = 0;
  options.scale_rate = 0.02;
  options.initial_precision = 100;
  return options;
}

/// The means are far from zero and average 40 samples a step: a few per mille of noise, asserted to 2 per
/// cent.
void training_ends_at_the_fixed_points(void**) {
  for (const auto& [method, kind, per_output] :
       {std::tuple("slang-ggn", EstimateKind::mc_ggn, false),
        std::tuple("slang-ggn", EstimateKind::mc_ggn, true),
        std::tuple("slang-lin-hess", EstimateKind::lin_hess, false)}) {
    const Regression data(2);
    const auto model = make_network<double>(
        {2, 2}, gaussian(2, per_output ? std::vector<double>{1, 1} : std::vector<double>{1}));
    Optimizer<double> optimizer(model, make_posterior<double>(6, 6), find_method(method), 30);
    Options options = learning_options();
    options.curvature = kind;  // lin-hess: samples for the scales alone
    optimizer.set_options(options);
    for (int step = 0; step < 800; ++step) step_on(optimizer, data.x, data.y);
    const Dense errors = expected_squared_errors(optimizer, data);
    const auto tau = model->likelihood.noise_precision();
    if (per_output)
      for (Index c = 0; c < 2; ++c)
        assert_near("tau", tau[static_cast<std::size_t>(c)] * errors(c, 0) / 30, 1, 0.02);
    else
      assert_near("tau", tau[0] * (errors(0, 0) + errors(1, 0)) / 60, 1, 0.02);
    assert_int_equal(tau.size(), per_output ? 2 : 1);
    const Dense mean = column_of(std::as_const(*optimizer.posterior()).mean()),
                covariance = inverse_of(dense_precision(*optimizer.posterior()));
    for (const auto& [group, first, count] : {std::tuple<std::size_t, Index, Index>{0, 0, 4}, {1, 4, 2}}) {
      double squares = 0;
      for (Index i = first; i < first + count; ++i) squares += std::pow(mean(i, 0), 2) + covariance(i, i);
      assert_near("lambda", optimizer.prior().groups()[group] * squares / static_cast<double>(count), 1,
                  0.02);
    }
  }
}

/// Steps until the scales first change, of at most 40.
template <class T>
Index first_learning_step(const Options& options, Index minibatch) {
  const Regression data(1, minibatch);
  const auto model = make_network<T>({2, 1}, gaussian(1, {1}));
  Optimizer<T> optimizer(model, make_posterior<T>(3, 1), find_method("slang"), 20);
  optimizer.set_options(options);
  for (Index step = 1; step <= 40; ++step) {
    step_on(optimizer, data.x, data.y);
    const bool prior = optimizer.prior().groups()[0] != 1, noise = model->likelihood.noise_precision(0) != 1;
    assert_true(prior == noise);
    if (prior) return step;
  }
  return 41;
}

template <class T>
void learning_begins_where_the_option_says(void**) {
  Options options = learning_options();
  options.total_steps = 10;
  for (const auto& [from, step] : {std::pair<double, Index>{0, 1}, {0.45, 6}, {0.5, 6}, {1, 11}}) {
    options.learn_from = from;
    assert_int_equal(first_learning_step<T>(options, 10), step);
  }
  options.total_steps = 0;  // no plan: that fraction of 100 epochs, here of 2 steps or 1
  options.learn_from = 0.05;
  assert_int_equal(first_learning_step<T>(options, 10), 11);
  assert_int_equal(first_learning_step<T>(options, 20), 6);
}

/// The k-th learning step has weight scale_weight(rate, k), wherever in training learning begins; it sees the
/// samples of its own step.
void weights_count_from_the_first_learning_step(void**) {
  const Regression data(1, 10);
  Optimizer<double> optimizer(make_network<double>({2, 1}, gaussian(1, {1})), make_posterior<double>(3, 1),
                              find_method("slang"), 20);
  Options options = learning_options();
  options.learn_from = 0.5;
  options.total_steps = 10;
  optimizer.set_options(options);
  for (int step = 0; step < 5; ++step) step_on(optimizer, data.x, data.y);
  for (const Index k : {1, 2, 3}) {
    Scratch scratch;
    Padded<double> thetas(Dense(3, options.samples));
    sample(*optimizer.posterior(),
           {1, Stream::posterior_sample, static_cast<std::uint64_t>(optimizer.state.step), 0}, thetas.view(),
           scratch);
    const Dense held = thetas.dense();
    double squares = 0;
    for (Index s = 0; s < held.cols; ++s) squares += (held(0, s) * held(0, s) + held(1, s) * held(1, s)) / 2;
    const double weight = scale_weight(options.scale_rate, k), before = optimizer.prior().groups()[0];
    step_on(optimizer, data.x, data.y);
    const double expected = 1 / ((1 - weight) / before + weight * squares / static_cast<double>(held.cols));
    assert_near("lambda", optimizer.prior().groups()[0], expected, 1e-12);
  }
}

void what_is_not_to_be_learned_stays(void**) {
  const Regression data(1);
  const auto trained = [&](Options options, bool fixed) {
    const auto model = make_network<double>({2, 1}, gaussian(1, {3}));
    Optimizer<double> optimizer(model, make_posterior<double>(3, 1), find_method("slang"), 30);
    optimizer.set_options(options);
    if (fixed) optimizer.prior().fix(std::vector<double>{1, 2, 3});
    for (int step = 0; step < 5; ++step) step_on(optimizer, data.x, data.y);
    const auto lambda = optimizer.prior().precision();
    return std::array{lambda[0], lambda[1], lambda[2], model->likelihood.noise_precision(0)};
  };
  Options options = learning_options();
  options.learn_prior = 0;
  auto scales = trained(options, false);
  assert_true(scales[0] == 1 && scales[2] == 1 && scales[3] != 3);
  options.learn_prior = 1;
  options.learn_noise = 0;
  scales = trained(options, false);
  assert_true(scales[0] != 1 && scales[2] != 1 && scales[3] == 3);
  scales = trained(options, true);
  assert_true(scales[0] == 1 && scales[1] == 2 && scales[2] == 3);
}

void noise_starts_from_the_variance_of_the_targets(void**) {
  const auto started = [](const std::vector<double>& y, Index cols, bool set, bool learn,
                          double initial = 50) {
    const auto model = make_network<double>({1, cols}, Likelihood(BDL_GAUSSIAN, cols));
    if (set) model->likelihood.set_noise_precision(std::vector<double>{7});
    Optimizer<double> optimizer(model, make_posterior<double>(2 * cols, 1), find_method("slang"), 4);
    Options options;
    options.learn_noise = learn;
    options.initial_noise_precision = initial;
    optimizer.set_options(options);
    ArrayData targets({}, bdl_f64(y.data(), std::ssize(y) / cols, cols));
    start_noise(optimizer, targets);
    return model->likelihood.noise_precision(0);
  };
  assert_near("one output", started({1, 3, 1, 3}, 1, false, true), 50, 1e-14);
  assert_near("mean over outputs", started({1, 30, 3, 30, 1, 36, 3, 36}, 2, false, true), 50 / 5.0, 1e-14);
  assert_near("constant targets: y^2", started({2, 2, 2}, 1, false, true), 50 / 4.0, 1e-14);
  assert_near("fixed", started({1, 3, 1, 3}, 1, false, false), 50, 1e-14);
  assert_true(started({1, 3}, 1, true, true) == 7 && started({1, 3}, 1, true, false) == 7);
  assert_near("automatic, a linear model", started({1, 5, 1, 5}, 1, false, true, 0), 1 / 4.0, 1e-14);
  assert_true(started({1, 5, 1, 5}, 1, false, false, 0) == 1);  // the model's own
}

}  // namespace

int test_scale_learning() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_a_running_mean_and_then_the_rate),
      cmocka_unit_test(prior_precisions_move_to_the_inverse_mean_square),
      cmocka_unit_test(training_ends_at_the_fixed_points),
      cmocka_unit_test(learning_begins_where_the_option_says<float>),
      cmocka_unit_test(learning_begins_where_the_option_says<double>),
      cmocka_unit_test(weights_count_from_the_first_learning_step),
      cmocka_unit_test(what_is_not_to_be_learned_stays),
      cmocka_unit_test(noise_starts_from_the_variance_of_the_targets),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
