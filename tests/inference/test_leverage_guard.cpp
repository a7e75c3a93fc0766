// The leverage guard: leverages of every family against dense matrices, the part of each example's gradient
// against its definition, whole steps against the formula, and what it is for: training that does not run
// away.
#include "posterior/leverages.hpp"
#include "steps/guard.hpp"
#include "support/likelihoods.hpp"
#include "support/naive_network.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void leverages_are_those_of_the_dense_covariance(void**) {
  constexpr Index dimension = 9, seeds = 2, n = 70;  // more than are made at a time
  Random random(61);
  const Dense b = rounded<T>(random.normal(dimension, seeds * n));
  const Padded<T> z(random.normal(seeds * n, 1));
  DenseRows<T> rows;
  fill(rows.resize(dimension, seeds * n), b);
  Dense gradients(dimension, n);
  for (Index r = 0; r < b.cols; ++r)
    add_multiple(z.dense()(r, 0), b.column(r), gradients.column(r % n), dimension);
  std::vector<Index> which;
  for (Index j = 0; j < n; j += j == 3 ? 2 : 1) which.push_back(j);  // all but one
  for (const Belief<T>& belief : beliefs<T>(dimension, 62)) {
    Scratch scratch;
    std::vector<double> found(n, not_a_number);
    const bool exact = bound_leverages<T>(*belief.q, rows, z.column(), found, scratch);
    const std::vector<double> bounds = found;
    if (!exact) find_leverages<T>(*belief.q, rows, z.column(), which, found, scratch);
    for (Index j = 0; j < n; ++j) {
      const Dense g = columns_of(gradients, j, 1);
      const double leverage = dot(g, belief.covariance * g);
      const auto k = static_cast<std::size_t>(j);
      if (!(bounds[k] >= leverage * (1 - 1e-4))) fail_msg("%s: no bound", belief.name.c_str());
      if (exact || j != 4)
        assert_near(belief.name.c_str(), found[k], leverage, sizeof(T) == 8 ? 1e-9 : 2e-3);
      else
        assert_true(found[k] == bounds[k]);
    }
  }
}

/// a(s) of the documentation, in the plainest words.
double curvature_along(const Likelihood& likelihood, const Dense& f, const Dense& y, const Dense& e,
                       double t) {
  const Dense moved = f - t * e;
  const double change = likelihood.log_density(f.values.data(), y.values.data()) -
                        likelihood.log_density(moved.values.data(), y.values.data());
  return 2 * (1 + change / (t * dot(e, e)));
}

void parts_meet_the_condition_and_are_not_needlessly_small(void**) {
  Random random(63);
  Index held = 0;
  for (const Likelihood& likelihood : all_likelihoods())
    for (int repeat = 0; repeat < 200; ++repeat) {
      const Dense f = random.normal(likelihood.outputs(), 1, 3), y = random_targets(likelihood, random);
      Dense e(f.rows, 1), moved(f.rows, 1);
      likelihood.gradient(f.values.data(), y.values.data(), e.values.data());
      const double t = std::exp(10 * random.uniform() - 5), limit = repeat % 2 ? 1 : 1.6;
      const double part = kept_fraction(likelihood, f.values.data(), y.values.data(), e.values.data(), t,
                                        limit, moved.values.data());
      assert_true(part > 0 && part <= 1);
      if (part * t * dot(e, e) < 1e-10) continue;  // below the rounding of the loss
      if (!(curvature_along(likelihood, f, y, e, part * t) <= 1.011 * limit))
        fail_msg("likelihood %d: part %g of %g, a %g of %g, f %g y %g e %g", likelihood.kind(), part, t,
                 curvature_along(likelihood, f, y, e, part * t), limit, f(0, 0), y(0, 0), e(0, 0));
      if (part == 1) continue;
      ++held;
      // One factor of the search earlier, the condition did not hold.
      assert_true(curvature_along(likelihood, f, y, e, std::min(1.0, part / 0.05) * t) > limit);
    }
  assert_true(held > 300);
}

void the_part_of_a_squared_error_is_the_newton_step(void**) {
  const Likelihood likelihood = gaussian(1, {4});
  const double f = 3, y = 1, e = 8;  // tau (f - y)
  double moved = 0;
  assert_true(kept_fraction(likelihood, &f, &y, &e, 0.25, 1, &moved) == 1);  // to y itself
  assert_near("half", kept_fraction(likelihood, &f, &y, &e, 0.5, 1, &moved), 0.5, 1e-12);
  assert_near("a quarter", kept_fraction(likelihood, &f, &y, &e, 0.5, 0.5, &moved), 0.25, 1e-12);
}

void a_confident_mistake_has_no_curvature_and_is_held_back(void**) {
  const Likelihood likelihood(BDL_BERNOULLI, 1);
  const double f = -40, y = 1;
  double e = 0, moved = 0;
  likelihood.gradient(&f, &y, &e);
  const double part = kept_fraction(likelihood, &f, &y, &e, 1e6, 1, &moved);
  assert_true(1e6 * part < 2 * 40 * 1.02 && 1e6 * part > 40 * 0.05);
  assert_true(kept_fraction(likelihood, &f, &y, &e, 20, 1, &moved) == 1);
}

const std::vector<Index> sizes{2, 3, 1};
constexpr Index dimension = 13, data_size = 50, examples = 4, samples = 2;

struct StepCase {
  EstimateKind kind;
  Index rank;  // -1: full; D: low rank without loss
};

/// One step from precision 1 of a network: what the guard lets through, written out.
Index check_step(const StepCase& item, const Likelihood& likelihood) {
  const NaiveNetwork naive{sizes, BDL_TANH, true};
  Random random(64);
  const Dense x = random.normal(2, examples);
  Dense y(1, 0);
  for (Index i = 0; i < examples; ++i) y = beside(y, random_targets(likelihood, random));
  const std::shared_ptr<Posterior<double>> q =
      item.rank < 0 ? std::shared_ptr<Posterior<double>>(std::make_shared<FullPosterior<double>>(dimension))
                    : make_posterior<double>(dimension, item.rank);
  Optimizer<double> optimizer(make_network<double>(sizes, likelihood), q, find_method("slang"), data_size);
  Options options = plain_options();
  options.curvature = item.kind;
  options.momentum = 0;
  options.learning_rate = 0.7;
  options.curvature_rate = 0.1;
  options.guard = 0.8;
  optimizer.set_options(options);
  initialize(optimizer);
  const Dense start = column_of(std::as_const(*q).mean());
  Scratch scratch;
  const Index drawn = is_sampled(item.kind) ? samples : 1;
  Padded<double> thetas(Dense(dimension, drawn));
  if (is_sampled(item.kind))
    sample(*q, {static_cast<std::uint64_t>(options.seed), Stream::posterior_sample, 0, 0}, thetas.view(),
           scratch);
  else
    std::ranges::copy(std::as_const(*q).mean(), thetas.column().begin());
  step_on(optimizer, x, y);

  const Dense covariance = inverse_of(dense_precision(*q));  // after the step's curvature
  const double weight = static_cast<double>(data_size) / examples;
  Dense gradient = start;  // of the prior, precision 1
  Index held = 0;
  for (Index s = 0; s < drawn; ++s)
    for (Index i = 0; i < examples; ++i) {
      const Dense theta = columns_of(thetas.dense(), s, 1), input = columns_of(x, i, 1),
                  target = columns_of(y, i, 1);
      const Dense f = naive.outputs(theta, input);
      Dense e(1, 1), moved(1, 1);
      likelihood.gradient(f.values.data(), target.values.data(), e.values.data());
      const Dense g = naive.row(theta, input, e);
      const double t = 0.7 * weight * dot(g, covariance * g) / dot(e, e);
      const double part = kept_fraction(likelihood, f.values.data(), target.values.data(), e.values.data(), t,
                                        0.8, moved.values.data());
      held += part < 1;
      gradient = gradient + (weight / static_cast<double>(drawn) * part) * g;
    }
  assert_int_equal(optimizer.state.guarded_steps, held > 0);
  assert_close("mean", column_of(std::as_const(*q).mean()), start - 0.7 * (covariance * gradient), 1e-9);
  return held;
}

void steps_are_those_of_the_formula(void**) {
  for (const Likelihood& likelihood : {gaussian(1, {0.05}), gaussian(1, {2}), Likelihood(BDL_BERNOULLI, 1)}) {
    Index held = 0;
    for (const EstimateKind kind : {EstimateKind::mc_ef, EstimateKind::mc_ggn, EstimateKind::lin_hess})
      for (const Index rank : {Index{-1}, Index{0}, Index{4}, dimension})
        held += check_step({kind, rank}, likelihood);
    if (likelihood.noise_precision(0) == 2) assert_true(held > 10);
  }
}

/// Where nothing is held back, steps are those without a guard, to rounding; and the guard can be turned off.
void short_steps_pass(void**) {
  for (const char* method : {"slang", "slang-ggn", "von", "slang-online-eig"}) {
    Dense means[2];
    for (const double limit : {0.0, 1.0}) {
      const bool diagonal = method[0] == 'v';
      Optimizer<double> optimizer(make_network<double>(sizes, gaussian(1, {1})),
                                  make_posterior<double>(dimension, diagonal ? 0 : 3), find_method(method),
                                  data_size);
      Options options = optimizer.options();
      options.guard = limit;
      options.learning_rate = 1e-3;
      optimizer.set_options(options);
      Random random(65);
      for (int step = 0; step < 5; ++step) {
        const Dense x = random.normal(2, examples);
        step_on(optimizer, x, random.normal(1, examples));
      }
      assert_int_equal(optimizer.state.guarded_steps, 0);
      means[limit > 0] = column_of(std::as_const(*optimizer.posterior()).mean());
    }
    assert_close(method, means[1], means[0], 1e-13);
  }
}

/// Two hidden layers, rates far too high.
struct Course {
  Dense x, y;
  std::unique_ptr<Optimizer<double>> optimizer;

  explicit Course(double guard, const char* method = "slang-ggn") : x(4, 120), y(1, 120) {
    Random random(66);
    x = random.normal(4, 120);
    for (Index i = 0; i < 120; ++i) y(0, i) = std::sin(x(0, i)) + 0.5 * x(1, i) + 0.1 * random.normal();
    const std::vector<Index> deep{4, 20, 20, 1};
    const auto network = make_network<double>(deep, Likelihood(BDL_GAUSSIAN, 1), true, BDL_RELU);
    optimizer = std::make_unique<Optimizer<double>>(
        network, make_posterior<double>(network->parameters(), method[0] == 'v' ? 0 : 3), find_method(method),
        120);
    Options options = optimizer->options();
    options.guard = guard;
    options.learning_rate = 0.8;
    options.curvature_rate = 0.001;
    options.initial_precision = 1200;
    options.prior_scaling = PriorScaling::unit;
    optimizer->set_options(options);
  }
  void run(Index epochs) {
    fit(*optimizer, bdl_strided(x.values.data(), BDL_F64, 120, 4, 4, 1), bdl_f64(y.values.data(), 120, 1),
        epochs, Progress{nullptr, nullptr});
  }
  double largest() const { return max_abs(column_of(std::as_const(*optimizer->posterior()).mean())); }
};

/// At these rates a guard of single examples is not enough: where many examples together make training
/// diverge, it goes on more slowly from its last good state.
void what_runs_away_without_the_guard_is_fitted_with_it(void**) {
  for (const char* method : {"slang-ggn", "von"}) {
    Course held(1, method);
    held.run(60);
    const TrainingState& state = held.optimizer->state;
    assert_true(held.largest() < 100 && state.guarded_steps > 0 && state.rate_cuts < 5);
    assert_true(state.watch.ratio() < 0.5 && !state.has_diverged);
  }
}

/// Divergence is an error, and leaves the last good state.
void a_run_away_is_taken_back(void**) {
  Course free(0);
  expect_error(Status::ERROR_DIVERGED, "last good state", [&] { free.run(60); });
  const TrainingState& state = free.optimizer->state;
  assert_true(state.has_diverged && free.largest() < 100);
  assert_true(state.step > 0 && state.rate_cuts == 0 && state.watch.ratio() <= 2);
  // Training that continues with other options is no longer marked.
  Options options = free.optimizer->options();
  options.guard = 1;
  free.optimizer->set_options(options);
  free.run(10);
  assert_false(free.optimizer->state.has_diverged);
}

/// The good state does not include what the caller has changed since: a prior with other groups stays.
void changes_of_the_prior_are_not_taken_back(void**) {
  Course free(0);
  Options options = free.optimizer->options();
  options.prior_groups = PriorGroups::blocks;
  options.learning_rate = 0.01;
  free.optimizer->set_options(options);
  free.run(5);
  options.prior_groups = PriorGroups::shared;
  options.learning_rate = 50;
  free.optimizer->set_options(options);
  expect_error(Status::ERROR_DIVERGED, "last good state", [&] { free.run(60); });
  assert_int_equal(free.optimizer->prior().groups().size(), 1);
  assert_true(free.largest() < 100);
}

/// A rate that the caller sets is taken as it is.
void a_new_rate_ends_the_cuts(void**) {
  Course held(1);
  held.optimizer->state.rate_cuts = 3;
  Options options = held.optimizer->options();
  options.samples = 3;
  held.optimizer->set_options(options);
  assert_int_equal(held.optimizer->state.rate_cuts, 3);
  options.learning_rate = 0.1;
  held.optimizer->set_options(options);
  assert_int_equal(held.optimizer->state.rate_cuts, 0);
}

}  // namespace

int test_leverage_guard() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(leverages_are_those_of_the_dense_covariance<float>),
      cmocka_unit_test(leverages_are_those_of_the_dense_covariance<double>),
      cmocka_unit_test(parts_meet_the_condition_and_are_not_needlessly_small),
      cmocka_unit_test(the_part_of_a_squared_error_is_the_newton_step),
      cmocka_unit_test(a_confident_mistake_has_no_curvature_and_is_held_back),
      cmocka_unit_test(steps_are_those_of_the_formula),
      cmocka_unit_test(short_steps_pass),
      cmocka_unit_test(what_runs_away_without_the_guard_is_fitted_with_it),
      cmocka_unit_test(a_run_away_is_taken_back),
      cmocka_unit_test(changes_of_the_prior_are_not_taken_back),
      cmocka_unit_test(a_new_rate_ends_the_cuts),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
