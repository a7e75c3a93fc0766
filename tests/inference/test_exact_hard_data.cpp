// The methods exact-* on data that are good but hard: huge counts, no counts, inputs of any size, classes
// that a plane separates under a flat prior, as many parameters as examples. They reach the optimum within
// the usual epochs; where they do not, the diagnosis says so.
#include "io/checkpoint.hpp"
#include "posterior/full/full.hpp"
#include "support/exact_reference.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/diagnose.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Progress silent{nullptr, nullptr};
constexpr Index usual = 120;

/// Columns are examples.
struct Data {
  Dense x, y;
  Array inputs() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets() const { return bdl_f64(y.values.data(), y.cols, 1); }
};

using Learner = std::unique_ptr<Optimizer<double>>;

/// rank -1: exact-full.
Learner make_learner(const Likelihood& likelihood, const Data& data, Index rank, double prior = 1,
                     double bias_prior = 1e-4) {
  const Index dimension = data.x.rows + 1;
  std::shared_ptr<Posterior<double>> q = std::make_shared<FullPosterior<double>>(dimension);
  if (rank >= 0) q = bdl::testing::make_posterior<double>(dimension, rank);
  auto learner = std::make_unique<Optimizer<double>>(make_network<double>({data.x.rows, 1}, likelihood), q,
                                                     find_method(rank < 0    ? "exact-full"
                                                                 : rank == 0 ? "exact-diagonal"
                                                                             : "exact-low-rank"),
                                                     data.x.cols);
  Options options = learner->options();
  options.prior_precision = prior;
  options.bias_prior_precision = bias_prior;
  options.learn_noise = 1;
  learner->set_options(options);
  return learner;
}

void fit(Optimizer<double>& learner, const Data& data, Index epochs = usual) {
  assert_true(bdl::fit(learner, data.inputs(), data.targets(), epochs, silent) == Status::OK);
}

/// Largest step by which the mean and the precision's diagonal would still move, as tolerance measures it.
double distance_by_reference(const Optimizer<double>& learner, const Data& data) {
  const Dense mean = column_of(std::as_const(*learner.posterior()).mean()),
              precision = dense_precision(*learner.posterior()), covariance = inverse_of(precision);
  const Reference expected = expectations(learner.model()->likelihood, mean, covariance, data.x, data.y, 1);
  const Dense prior = column_of(learner.prior().precision());
  Dense slope = expected.gradient;
  const Dense target = expected.hessian + diagonal_matrix(prior);
  for (Index i = 0; i < mean.rows; ++i) slope(i, 0) += prior(i, 0) * mean(i, 0);
  double distance = std::sqrt(dot(slope, covariance * slope));
  for (Index i = 0; i < mean.rows; ++i)
    distance = std::max(distance, std::abs(target(i, i) / precision(i, i) - 1));
  return distance;
}

/// Also that one iteration more is no early end.
void assert_arrived(Optimizer<double>& learner, const Data& data, double tolerance = 1e-6) {
  if (learner.state.step >= usual || learner.state.distance != 0)
    fail_msg("%g from the optimum after %ld iterations", learner.state.distance,
             static_cast<long>(learner.state.step));
  assert_string_equal(diagnose(learner).message, "");
  const double distance = distance_by_reference(learner, data);
  if (!(distance < tolerance)) fail_msg("%g from the optimum", distance);
  fit(learner, data, 1);
  assert_string_equal(diagnose(learner).message, "");
}

/// The noise precision is the number of examples by E[sum of squared errors].
void assert_best_noise(const Optimizer<double>& learner, const Data& data, double tolerance) {
  const Index examples = data.x.cols, features = data.x.rows;
  const Dense mean = column_of(std::as_const(*learner.posterior()).mean()),
              covariance = inverse_of(dense_precision(*learner.posterior()));
  double squares = 0;
  for (Index i = 0; i < examples; ++i) {
    Dense x(features + 1, 1, 1);
    for (Index j = 0; j < features; ++j) x(j, 0) = data.x(j, i);
    squares += std::pow(data.y(0, i) - dot(x, mean), 2) + dot(x, covariance * x);
  }
  assert_near("noise precision", learner.model()->likelihood.noise_precision(0),
              static_cast<double>(examples) / squares, tolerance);
}

Data counts(double level, std::uint64_t seed) {
  Random random(seed);
  Data data{random.normal(2, 60), Dense(1, 60)};
  for (Index i = 0; i < 60; ++i) {
    const double rate = std::exp(level + 0.5 * data.x(0, i));
    data.y(0, i) = std::max(0.0, std::round(rate + std::sqrt(rate) * random.normal()));
  }
  return data;
}

void huge_counts_are_fitted(void**) {
  for (const double level : {0.0, 5.0, 10.0, 11.0, 13.0, 15.0, 20.0, 30.0})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Data data = counts(level, seed);
      const auto learner = make_learner({BDL_POISSON, 1}, data, -1);
      fit(*learner, data);
      assert_true(learner->state.step < 40);
      assert_arrived(*learner, data, 1e-5);
    }
}

/// The mean and the variance of the intercept make up for each other: natural-gradient steps crawl.
void no_counts_are_fitted(void**) {
  Data data{Random(5).normal(2, 40), Dense(1, 40)};
  const auto learner = make_learner({BDL_POISSON, 1}, data, -1);
  fit(*learner, data);
  assert_arrived(*learner, data);
  data.y(0, 3) = 1;
  const auto one = make_learner({BDL_POISSON, 1}, data, -1, 1e-2, 1e-2);
  fit(*one, data);
  assert_arrived(*one, data);
}

/// Years as they are: at the start, rates are beyond a double.
void inputs_may_have_any_size(void**) {
  Random random(6);
  Data years{Dense(2, 40), Dense(1, 40)}, mixed{Dense(2, 80), Dense(1, 80)};
  for (Index i = 0; i < 40; ++i) {
    years.x(0, i) = 1980 + static_cast<double>(i);
    years.x(1, i) = static_cast<double>(i % 7);
    years.y(0, i) = std::round(std::exp(5 + 0.05 * (years.x(0, i) - 2000)));
  }
  for (Index i = 0; i < 80; ++i) {
    mixed.x(0, i) = 1e8 * random.normal();
    mixed.x(1, i) = 1e-8 * random.normal();
    mixed.y(0, i) = std::round(std::exp(1e-8 * mixed.x(0, i) + 1e8 * mixed.x(1, i)));
  }
  const auto by_year = make_learner({BDL_POISSON, 1}, years, -1, 1e-12, 1e-12),
             by_both = make_learner({BDL_POISSON, 1}, mixed, -1, 1e-20, 1e-20);
  fit(*by_year, years);
  fit(*by_both, mixed);
  assert_arrived(*by_year, years);
  assert_arrived(*by_both, mixed);
}

Data classes(Index flipped, Index copies = 1) {
  Random random(7);
  Data data{Dense(3 * copies, 80), Dense(1, 80)};
  for (Index i = 0; i < 80; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const double value = random.normal();
      for (Index k = 0; k < copies; ++k) data.x(j + 3 * k, i) = value;
    }
    data.y(0, i) = (3 * data.x(0, i) - 2 * data.x(1, i) > 0) != (i < flipped) ? 1 : 0;
  }
  return data;
}

void classes_may_be_apart(void**) {
  for (const auto& [data, prior] :
       {std::pair{classes(0), 1.0}, {classes(0), 1e-4}, {classes(2), 1e-8}, {classes(2, 2), 1e-8}}) {
    const auto learner = make_learner({BDL_BERNOULLI, 1}, data, -1, prior, prior);
    fit(*learner, data);
    assert_arrived(*learner, data);
  }
}

Data numbers(Index features, Index examples, double noise) {
  Random random(8);
  Data data{random.normal(features, examples), Dense(1, examples)};
  for (Index i = 0; i < examples; ++i) data.y(0, i) = 3 * data.x(0, i) + noise * random.normal();
  return data;
}

/// EM would take thousands of steps here.
void noise_is_found_with_few_degrees_of_freedom(void**) {
  for (const auto& [features, prior] :
       {std::pair<Index, double>{3, 1}, {15, 1}, {17, 1}, {18, 1}, {19, 1e-4}, {25, 1e-4}, {40, 1e-4}}) {
    const Data data = numbers(features, 20, 1);
    const auto learner = make_learner(gaussian(1, {1}), data, -1, prior);
    fit(*learner, data);
    if (learner->state.step >= 60)
      fail_msg("%ld features: %ld steps", static_cast<long>(features),
               static_cast<long>(learner->state.step));
    assert_best_noise(*learner, data, prior < 1 ? 1e-5 : 1e-7);  // the reference's inverse loses ten digits
    assert_arrived(*learner, data);
  }
}

/// A caller's own loop, an iteration at a time, learns the noise as well.
void noise_is_learned_an_iteration_at_a_time(void**) {
  const Data data = numbers(3, 80, 0.3);
  const auto learner = make_learner(gaussian(1, {1}), data, -1);
  for (Index epoch = 0; epoch < usual; ++epoch) fit(*learner, data, 1);
  assert_best_noise(*learner, data, 1e-7);
  assert_string_equal(diagnose(*learner).message, "");
}

void noise_of_any_size_is_found(void**) {
  for (const double noise : {1e-3, 1e3, 1e8}) {
    const Data data = numbers(3, 80, noise);
    const auto learner = make_learner(gaussian(1, {1}), data, -1, 1e-20, 1e-20);
    fit(*learner, data);
    if (learner->state.step >= usual || learner->state.distance != 0)
      fail_msg("noise %g: %g from the optimum after %ld iterations", noise, learner->state.distance,
               static_cast<long>(learner->state.step));
    const double got = 1 / std::sqrt(learner->model()->likelihood.noise_precision(0));
    assert_true(got > 0.7 * noise && got < 1.3 * noise);
    assert_best_noise(*learner, data, 1e-6);
  }
}

/// An early end is diagnosed, also after saving and loading; at the optimum nothing is said.
void an_early_end_is_told(void**) {
  const Data data = classes(20), rates = counts(3, 1);
  for (const Index rank : {-1, 0, 2})
    for (const bool counted : {false, true}) {
      const Data& taken = counted ? rates : data;
      const auto learner = make_learner({counted ? BDL_POISSON : BDL_BERNOULLI, 1}, taken, rank);
      fit(*learner, taken, 1);
      assert_true(learner->state.distance > 1e-4);
      assert_non_null(strstr(diagnose(*learner).message, "fit with more epochs"));
      const SavedParts<double> parts{nullptr, nullptr, learner.get()};
      const auto bytes = serialize_checkpoint(parts);
      const auto loaded = load_checkpoint<double>(parse_archive(bytes), nullptr).optimizer;
      assert_true(loaded->state.distance == learner->state.distance);
      fit(*learner, taken, 3000);
      assert_true(learner->state.distance == 0);
      assert_string_equal(diagnose(*learner).message, "");
    }
}

std::int32_t stop_at_two(void* steps) {
  return ++*static_cast<int*>(steps) == 2 ? 1 : 0;
}

/// A stopped fit is not reported as converged.
void a_stopped_fit_has_not_arrived(void**) {
  const Data data = classes(20);
  const auto learner = make_learner({BDL_BERNOULLI, 1}, data, -1);
  int steps = 0;
  assert_true(bdl::fit(*learner, data.inputs(), data.targets(), usual, {stop_at_two, &steps}) ==
              Status::STOPPED);
  assert_non_null(strstr(diagnose(*learner).message, "ended before the optimum"));
}

}  // namespace

int test_exact_hard_data() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(huge_counts_are_fitted),
      cmocka_unit_test(no_counts_are_fitted),
      cmocka_unit_test(inputs_may_have_any_size),
      cmocka_unit_test(classes_may_be_apart),
      cmocka_unit_test(noise_is_found_with_few_degrees_of_freedom),
      cmocka_unit_test(noise_is_learned_an_iteration_at_a_time),
      cmocka_unit_test(noise_of_any_size_is_found),
      cmocka_unit_test(an_early_end_is_told),
      cmocka_unit_test(a_stopped_fit_has_not_arrived),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
