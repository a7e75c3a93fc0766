// Fits by the methods exact-*: progress, stopping and going on, what is refused, and that failures change
// nothing.
#include "posterior/full/full.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"
#include "train/scales.hpp"
#include "train/stream/stream.hpp"
#include "train/units.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 4, dimension = 5, examples = 40;
constexpr Progress silent{nullptr, nullptr};

struct Data {
  Dense x = Random(95).normal(inputs, examples), y = Dense(1, examples);
  Data() {
    Random random(96);
    for (Index i = 0; i < examples; ++i) y(0, i) = x(0, i) + random.normal() > 0 ? 1 : 0;
  }
  Array inputs_array(Index rows = examples) const {
    return bdl_strided(x.values.data(), BDL_F64, rows, inputs, inputs, 1);
  }
  Array targets_array(Index rows = examples) const { return bdl_f64(y.values.data(), rows, 1); }
};

std::unique_ptr<Optimizer<double>> make_optimizer(Index rank, Likelihood likelihood = {BDL_BERNOULLI, 1},
                                                  const std::vector<Index>& sizes = {inputs, 1}) {
  const auto model = make_network<double>(sizes, likelihood);
  std::shared_ptr<Posterior<double>> q = std::make_shared<FullPosterior<double>>(model->parameters());
  if (rank >= 0) q = bdl::testing::make_posterior<double>(model->parameters(), rank);
  const char* method = rank < 0 ? "exact-full" : rank == 0 ? "exact-diagonal" : "exact-low-rank";
  return std::make_unique<Optimizer<double>>(model, q, find_method(method), examples);
}

Dense state_of(const Optimizer<double>& optimizer) {
  return beside(column_of(std::as_const(*optimizer.posterior()).mean()),
                dense_precision(*optimizer.posterior()));
}

/// Counts calls, watches the ELBO, and answers at one of them.
struct Watch {
  const Optimizer<double>* optimizer;
  int calls = 0, at = -1;
  std::int32_t answer = 1;
  std::vector<double> elbo{};
};

std::int32_t watch(void* context) {
  auto& seen = *static_cast<Watch*>(context);
  seen.elbo.push_back(seen.optimizer->state.running_log_likelihood - kl_from_prior(*seen.optimizer));
  return ++seen.calls == seen.at ? seen.answer : 0;
}

/// Every iteration is an epoch, and none is worse than the one before.
void iterations_are_epochs_and_rise(void**) {
  const Data data;
  for (const Index rank : {-1, 0, 2}) {
    const auto optimizer = make_optimizer(rank);
    Watch seen{optimizer.get()};
    assert_true(fit(*optimizer, data.inputs_array(), data.targets_array(), 2000, {watch, &seen}) ==
                Status::OK);
    const TrainingState& state = optimizer->state;
    assert_true(seen.calls == state.step && state.step == state.epoch && state.step == state.running_steps);
    assert_true(state.step > 2 && state.step < 1000 && state.plan.end == state.step);
    for (std::size_t k = 1; k < seen.elbo.size(); ++k) assert_true(seen.elbo[k] > seen.elbo[k - 1] - 1e-10);
    assert_true(!std::as_const(*optimizer->posterior()).is_blank());
    expect_error(Status::ERROR_INVALID_ARGUMENT, "no interrupted fit",
                 [&] { fit(*optimizer, data.inputs_array(), data.targets_array(), 0, silent); });
    // Once more from the optimum: hardly an iteration, and nothing moves.
    const Dense before = state_of(*optimizer);
    const Index steps = state.step;
    fit(*optimizer, data.inputs_array(), data.targets_array(), 2000, silent);
    assert_true(optimizer->state.step <= steps + 2);
    assert_close("optimum", state_of(*optimizer), before, 1e-9);
  }
}

/// A fit that is stopped, limited, or both leaves the posterior of its last iteration, and continues to the
/// same optimum.
void stopped_fits_go_on(void**) {
  const Data data;
  for (const Index rank : {-1, 0, 2}) {
    const auto whole = make_optimizer(rank), parts = make_optimizer(rank);
    Watch all{whole.get()}, some{parts.get()};
    fit(*whole, data.inputs_array(), data.targets_array(), 2000, {watch, &all});
    some.at = 3;
    const auto go_on = [&](Index epochs, const Progress& progress) {
      return fit(*parts, data.inputs_array(), data.targets_array(), epochs, progress);
    };
    assert_true(go_on(2000, {watch, &some}) == Status::STOPPED);
    assert_int_equal(parts->state.step, 3);
    assert_true(some.elbo[2] == all.elbo[2]);
    assert_true(parts->state.running_log_likelihood - kl_from_prior(*parts) == some.elbo[2]);
    parts->stop_requested = true;
    assert_true(go_on(0, silent) == Status::STOPPED && parts->state.step == 4);
    assert_true(go_on(2, silent) == Status::OK && parts->state.step == 6);
    assert_true(go_on(2000, silent) == Status::OK);
    assert_close("optimum", state_of(*parts), state_of(*whole), 1e-8);
  }
}

/// Stops in the middle of libLBFGS's loop, at each of its first iterations.
void descents_stop_anywhere(void**) {
  const Data data;
  const auto whole = make_optimizer(1);
  Watch all{whole.get()};
  fit(*whole, data.inputs_array(), data.targets_array(), 2000, {watch, &all});
  for (int at = 1; at < std::min(all.calls, 40); ++at) {
    const auto part = make_optimizer(1);
    Watch some{part.get(), 0, at};
    assert_true(fit(*part, data.inputs_array(), data.targets_array(), 2000, {watch, &some}) ==
                Status::STOPPED);
    assert_true(part->state.step == at && some.elbo.back() == all.elbo[static_cast<std::size_t>(at - 1)]);
  }
}

void failing_callbacks_keep_the_last_iteration(void**) {
  const Data data;
  for (const Index rank : {-1, 0, 2})
    for (const int at : {1, 2, 7}) {
      const auto optimizer = make_optimizer(rank), other = make_optimizer(rank);
      Watch seen{optimizer.get(), 0, at, -4};
      expect_error(Status::ERROR_CALLBACK, "returned -4", [&] {
        fit(*optimizer, data.inputs_array(), data.targets_array(), 2000, {watch, &seen});
      });
      assert_int_equal(optimizer->state.step, at);
      fit(*other, data.inputs_array(), data.targets_array(), at, silent);
      assert_same("states", state_of(*optimizer), state_of(*other));
    }
}

void other_data_are_refused(void**) {
  const Data data;
  const auto optimizer = make_optimizer(-1);
  const auto refuse = [&](Status status, const char* word, const Array& x, const Array& y) {
    expect_error(status, word, [&] { fit(*optimizer, x, y, 10, silent); });
    assert_true(std::as_const(*optimizer->posterior()).is_blank() && optimizer->state.step == 0 &&
                optimizer->state.fit_end_epoch == 0);
  };
  refuse(Status::ERROR_INVALID_ARGUMENT,
         "x has 39 rows, but method \"exact-full\" takes the whole data set of 40", data.inputs_array(39),
         data.targets_array(39));
  Data bad;
  bad.y(0, 7) = 2;
  refuse(Status::ERROR_LABEL, "row 7", bad.inputs_array(), bad.targets_array());
  bad.x(1, 3) = not_a_number;
  refuse(Status::ERROR_NOT_FINITE, "x", bad.inputs_array(), data.targets_array());
}

/// A variance beyond a double at the first iteration: nothing has happened.
void failures_change_nothing(void**) {
  Data data;
  data.x(0, 3) = 1e300;
  for (const Index rank : {-1, 0, 2}) {
    const auto optimizer = make_optimizer(rank, Likelihood(BDL_POISSON, 1));
    optimizer->posterior()->mean()[0] = 1e5;
    optimizer->posterior()->set_blank(false);
    const Dense before = state_of(*optimizer);
    expect_error(Status::ERROR_DIVERGED, "is not finite",
                 [&] { fit(*optimizer, data.inputs_array(), data.targets_array(), 10, silent); });
    assert_same("states", state_of(*optimizer), before);
    assert_true(optimizer->state.step == 0 && optimizer->state.fit_end_epoch == 0);
  }
}

void other_models_and_calls_are_refused(void**) {
  const Data data;
  expect_error(Status::ERROR_UNSUPPORTED, "a network with one layer", [] {
    make_optimizer(-1, {BDL_BERNOULLI, 1}, {inputs, 3, 1});
  });
  const auto optimizer = make_optimizer(0);
  const auto refuse = [](auto call) {
    expect_error(Status::ERROR_UNSUPPORTED, "\"exact-diagonal\", but it takes no single steps", call);
  };
  refuse([&] { step(*optimizer, data.inputs_array(), data.targets_array()); });
  refuse([&] { step_rows(*optimizer, bdl_f64(data.x.values.data(), 2, dimension)); });
  refuse([&] { observe(*optimizer, data.inputs_array(), data.targets_array(), bdl_none_out()); });
  refuse([&] { forecast(*optimizer, 1); });
  for (const char* method : {"exact-full", "exact-diagonal", "exact-low-rank"})
    for (const Index rank : {-1, 0, 1}) {
      const auto like = make_optimizer(rank);
      const bool suits = &like->method() == &find_method(method);
      const auto create = [&] {
        Optimizer<double>(like->model(), like->posterior(), find_method(method), examples);
      };
      if (suits)
        create();
      else
        expect_error(Status::ERROR_UNSUPPORTED, "is for", create);
    }
}

/// The noise is that of the option, in units of 1 / Var(y); a prior that would be learned is refused.
void scales_are_fixed(void**) {
  const Data data;
  const auto optimizer = make_optimizer(-1, Likelihood(BDL_GAUSSIAN, 1));
  Options options = optimizer->options();
  options.initial_noise_precision = 3;
  optimizer->set_options(options);
  const double mean = dot(data.y, Dense(1, examples, 1)) / examples;
  const double variance = dot(data.y, data.y) / examples - mean * mean;
  assert_true(fit(*optimizer, data.inputs_array(), data.targets_array(), 100, silent) == Status::OK);
  assert_near("noise precision", optimizer->model()->likelihood.noise_precision(0), 3 / variance, 1e-12);
  Dense with_ones = beside(transposed(data.x), Dense(examples, 1, 1));
  assert_close("precision", dense_precision(*optimizer->posterior()),
               3 / variance * (transposed(with_ones) * with_ones) + identity(dimension), 1e-12);
  const auto refuse = [&](const char* option, auto change) {
    Options other = optimizer->options();
    change(other);
    optimizer->set_options(other);
    expect_error(Status::ERROR_UNSUPPORTED, option,
                 [&] { fit(*optimizer, data.inputs_array(), data.targets_array(), 10, silent); });
    optimizer->set_options(options);
  };
  refuse("\"learn_prior\"", [](Options& o) { o.learn_prior = 2; });
  refuse("\"laplace\"", [](Options& o) { o.laplace = 1; });
}

/// At the optimum over posterior and noise the two conditions hold: the precision is that of the noise, which
/// is N / E[sum of squared errors]. Data of conjugate models, so both are known in closed form.
void noise_is_learned(void**) {
  Data data;
  Random random(97);
  for (Index i = 0; i < examples; ++i) data.y(0, i) = 2 * data.x(0, i) - 1 + 0.3 * random.normal();
  const Dense with_ones = beside(transposed(data.x), Dense(examples, 1, 1));
  for (const Index rank : {-1, 0, 2}) {
    const auto optimizer = make_optimizer(rank, {BDL_GAUSSIAN, 1});
    Options options = optimizer->options();
    options.learn_noise = 1;
    optimizer->set_options(options);
    Watch seen{optimizer.get()};
    assert_true(fit(*optimizer, data.inputs_array(), data.targets_array(), 3000, {watch, &seen}) ==
                Status::OK);
    assert_true(optimizer->state.step < 3000);
    const double tau = optimizer->model()->likelihood.noise_precision(0);
    const Dense precision = dense_precision(*optimizer->posterior());
    if (rank < 0)
      assert_close("precision", precision, tau * (transposed(with_ones) * with_ones) + identity(dimension),
                   1e-9);
    const Dense errors =
        transposed(data.y) - with_ones * column_of(std::as_const(*optimizer->posterior()).mean());
    const Dense spread = with_ones * inverse_of(precision) * transposed(with_ones);
    double squares = 0;
    for (Index i = 0; i < examples; ++i) squares += errors(i, 0) * errors(i, 0) + spread(i, i);
    assert_near("noise precision", tau, examples / squares, 1e-8);
  }
}

/// Targets without noise are learned as such, to what is left of rounding.
void straight_lines_converge(void**) {
  Data data;
  for (Index i = 0; i < examples; ++i) data.y(0, i) = 2 * data.x(0, i) - 1;
  const auto optimizer = make_optimizer(-1, {BDL_GAUSSIAN, 1});
  Options options = optimizer->options();
  options.learn_noise = 1;
  options.prior_precision = 1e-6;
  optimizer->set_options(options);
  assert_true(fit(*optimizer, data.inputs_array(), data.targets_array(), 1000, silent) == Status::OK);
  assert_true(optimizer->state.step < 1000);
  assert_near("slope", std::as_const(*optimizer->posterior()).mean()[0], 2, 1e-6);
  ArrayData targets({}, data.targets_array());
  assert_near("noise precision",
              optimizer->model()->likelihood.noise_precision(0) * target_variance(targets, {}), 1e12, 1e-6);
}

/// A likelihood without noise takes no notice of the option, and noise that has a covariance keeps it.
void other_noise_stays(void**) {
  const Data data;
  for (const bool correlated : {false, true}) {
    const auto optimizer = correlated ? make_optimizer(-1, {BDL_GAUSSIAN, 1}) : make_optimizer(-1);
    const double variance = 0.25;
    if (correlated) optimizer->model()->likelihood.set_noise_covariance(NoiseCovariance({&variance, 1, 1}));
    Options options = optimizer->options();
    options.learn_noise = 1;
    optimizer->set_options(options);
    assert_true(fit(*optimizer, data.inputs_array(), data.targets_array(), 100, silent) == Status::OK);
    if (correlated) assert_near("noise variance", optimizer->model()->likelihood.noise_variance(0), 0.25, 0);
  }
}

/// Inputs that say nothing, examples that a plane separates, more parameters than examples, N = 1.
void awkward_data_converge(void**) {
  for (const Index rank : {-1, 0, 1, 3}) {
    Data data;
    for (Index i = 0; i < examples; ++i) {
      data.x(1, i) = 0;
      data.x(2, i) = data.x(3, i);
      data.y(0, i) = data.x(0, i) > 0 ? 1 : 0;
    }
    const auto separable = make_optimizer(rank);
    assert_true(fit(*separable, data.inputs_array(), data.targets_array(), 3000, silent) == Status::OK);
    assert_true(separable->state.step < 3000);
    const Dense precision = dense_precision(*separable->posterior());
    assert_near("precision of an input that is 0", precision(1, 1), 1, 1e-8);
    for (const Index count : {1, 3}) {
      const auto few = make_optimizer(rank);
      Optimizer<double> optimizer(few->model(), few->posterior(), few->method(), count);
      assert_true(fit(optimizer, data.inputs_array(count), data.targets_array(count), 3000, silent) ==
                  Status::OK);
      assert_true(optimizer.state.step < 3000);
    }
  }
}

}  // namespace

int test_exact_course() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(iterations_are_epochs_and_rise),
      cmocka_unit_test(stopped_fits_go_on),
      cmocka_unit_test(descents_stop_anywhere),
      cmocka_unit_test(failing_callbacks_keep_the_last_iteration),
      cmocka_unit_test(other_data_are_refused),
      cmocka_unit_test(failures_change_nothing),
      cmocka_unit_test(other_models_and_calls_are_refused),
      cmocka_unit_test(scales_are_fixed),
      cmocka_unit_test(noise_is_learned),
      cmocka_unit_test(straight_lines_converge),
      cmocka_unit_test(other_noise_stays),
      cmocka_unit_test(awkward_data_converge),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
