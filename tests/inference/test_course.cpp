// Training over a data set: order and number of steps, progress, stopping and going on, and the diagnosis
// afterwards.
#include "data/minibatch.hpp"
#include "data/robust.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/answers.hpp"
#include "train/diagnose.hpp"
#include "train/fit.hpp"
#include "train/units.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 23;

struct Data {
  Dense x = Random(61).normal(2, examples), y = Random(62).normal(1, examples);
  Array inputs() const { return bdl_column_major(rows.values.data(), BDL_F64, examples, 2); }
  Array targets() const { return bdl_f64(y.values.data(), examples, 1); }
  Dense rows = transposed(x);
};

std::unique_ptr<Optimizer<double>> make_optimizer(std::int64_t progress_every = 0) {
  const auto model = make_network<double>({2, 3, 1}, Likelihood(BDL_GAUSSIAN, 1));
  auto optimizer = std::make_unique<Optimizer<double>>(model, make_posterior<double>(13, 2),
                                                       find_method("slang"), examples);
  Options options;
  options.minibatch = 5;
  options.samples = 2;
  options.progress_every = progress_every;
  optimizer->set_options(options);
  return optimizer;
}

Dense state_of(const Optimizer<double>& optimizer) {
  return beside(column_of(std::as_const(*optimizer.posterior()).mean()),
                dense_precision(*optimizer.posterior()));
}

constexpr Progress silent{nullptr, nullptr};

/// fit() is gathering each minibatch of Minibatches in turn and stepping on it.
void fitting_steps_on_every_minibatch_in_turn(void**) {
  const Data data;
  const auto fitted = make_optimizer(), stepped = make_optimizer();
  assert_true(fit(*fitted, data.inputs(), data.targets(), 3, silent) == Status::OK);
  initialize(*stepped);
  ArrayData targets({}, data.targets());
  start_noise(*stepped, targets);
  stepped->state.plan = {0, 15};
  stepped->state.batches = 5;
  Minibatches minibatches(stepped->options(), examples);
  for (Index epoch = 0; epoch < 3; ++epoch)
    for (Index b = 0; b < 5; ++b) {
      Dense x(2, 0), y(1, 0);
      for (const Index i : minibatches.batch(epoch, b)) {
        x = beside(x, columns_of(data.x, i, 1));
        y = beside(y, columns_of(data.y, i, 1));
      }
      step_on(*stepped, x, y);
    }
  assert_same("posteriors", state_of(*fitted), state_of(*stepped));
  assert_true(fitted->state.step == 15 && fitted->state.epoch == 3 && fitted->state.batch == 0);
}

struct Counter {
  int calls = 0, stop_at = -1;
  std::int32_t answer = 1;
};

std::int32_t count(void* context) {
  auto& counter = *static_cast<Counter*>(context);
  return ++counter.calls == counter.stop_at ? counter.answer : 0;
}

void progress_is_told_once_an_epoch_or_every_so_many_steps(void**) {
  const Data data;
  for (const auto& [every, calls] : {std::pair<std::int64_t, int>{0, 3}, {1, 15}, {4, 3}, {15, 1}, {16, 0}}) {
    Counter counter;
    const auto optimizer = make_optimizer(every);
    assert_true(fit(*optimizer, data.inputs(), data.targets(), 3, {count, &counter}) == Status::OK);
    assert_int_equal(counter.calls, calls);
  }
}

/// A stopped fit that goes on ends where an undisturbed one does.
void stopped_fits_go_on_exactly(void**) {
  const Data data;
  const auto whole = make_optimizer(1), parts = make_optimizer(1);
  fit(*whole, data.inputs(), data.targets(), 4, silent);
  Counter counter{0, 7};
  assert_true(fit(*parts, data.inputs(), data.targets(), 4, {count, &counter}) == Status::STOPPED);
  assert_int_equal(parts->state.step, 7);
  parts->stop_requested = true;
  assert_true(fit(*parts, data.inputs(), data.targets(), 0, silent) == Status::STOPPED);
  assert_true(parts->state.step == 8 && !parts->stop_requested);
  assert_true(fit(*parts, data.inputs(), data.targets(), 0, silent) == Status::OK);
  assert_same("posteriors", state_of(*parts), state_of(*whole));
  expect_error(Status::ERROR_INVALID_ARGUMENT, "no interrupted fit",
               [&] { fit(*parts, data.inputs(), data.targets(), 0, silent); });
}

void failing_callbacks_fail_the_fit(void**) {
  const Data data;
  Counter counter{0, 2, -5};
  const auto optimizer = make_optimizer(1);
  expect_error(Status::ERROR_CALLBACK, "returned -5", [&] {
    fit(*optimizer, data.inputs(), data.targets(), 1, {count, &counter});
  });
  assert_int_equal(optimizer->state.step, 2);
}

void other_data_cannot_finish_a_fit(void**) {
  const Data data;
  Counter counter{0, 2};
  const auto optimizer = make_optimizer(1);
  fit(*optimizer, data.inputs(), data.targets(), 2, {count, &counter});
  Array fewer_x = data.inputs(), fewer_y = data.targets();
  fewer_x.rows = fewer_y.rows = 9;
  expect_error(Status::ERROR_INVALID_ARGUMENT, "23 examples in 5 minibatches an epoch, these data 9 in 2",
               [&] { fit(*optimizer, fewer_x, fewer_y, 0, silent); });
}

/// A checkpoint holds the end of a fit.
void epochs_are_counted_in_32_bits(void**) {
  const Data data;
  const auto optimizer = make_optimizer();
  fit(*optimizer, data.inputs(), data.targets(), 2, silent);
  const Dense before = state_of(*optimizer);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "epochs is 2147483647 after 2 epochs",
               [&] { fit(*optimizer, data.inputs(), data.targets(), INT32_MAX, silent); });
  assert_same("posterior", state_of(*optimizer), before);
  assert_true(optimizer->state.epoch == 2 && optimizer->state.fit_end_epoch == 2);
}

void data_must_fit_the_model(void**) {
  const Data data;
  const auto optimizer = make_optimizer();
  Array narrow = data.inputs(), few = data.targets();
  narrow.cols = 1;
  few.rows = 22;
  expect_error(Status::ERROR_SHAPE, "x has 1 columns, expected 2",
               [&] { fit(*optimizer, narrow, data.targets(), 1, silent); });
  expect_error(Status::ERROR_SHAPE, "y has 22 rows, expected 23",
               [&] { fit(*optimizer, data.inputs(), few, 1, silent); });
  Data spoiled;
  spoiled.rows(4, 1) = not_a_number;
  expect_error(Status::ERROR_NOT_FINITE, "x is not finite at row 4, column 1",
               [&] { step(*optimizer, spoiled.inputs(), spoiled.targets()); });
  const Dense many(24, 2), targets(24, 1);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "24 rows, more than the data set's 23", [&] {
    step(*optimizer, bdl_f64(many.values.data(), 24, 2), bdl_f64(targets.values.data(), 24, 1));
  });
  assert_int_equal(optimizer->state.step, 0);
}

/// Shifts in units of the posterior: root mean squares of (mu - mu_0) sqrt(P_ii) and of log(P_ii / P0_ii).
void diagnosis_measures_how_far_training_went(void**) {
  const Data data;
  const auto optimizer = make_optimizer();
  initialize(*optimizer);
  const Dense start = column_of(std::as_const(*optimizer->posterior()).mean());
  assert_non_null(std::strstr(diagnose(*optimizer).message, "has not begun"));
  fit(*optimizer, data.inputs(), data.targets(), 40, silent);
  const Dense mean = column_of(std::as_const(*optimizer->posterior()).mean());
  const Dense precision = diagonal_of(dense_precision(*optimizer->posterior()));
  double shift = 0, ratio = 0;
  for (Index i = 0; i < 13; ++i) {
    shift += std::pow(mean(i, 0) - start(i, 0), 2) * precision(i, 0) / 13;
    ratio += std::pow(std::log(precision(i, 0) / (10.0 * examples)), 2) / 13;
  }
  const Diagnosis diagnosis = diagnose(*optimizer);
  assert_near("mean", diagnosis.mean_shift, std::sqrt(shift), 1e-12);
  assert_near("precision", diagnosis.precision_shift, std::sqrt(ratio), 1e-12);
  assert_string_equal(diagnosis.message, "");
}

/// Trains, lets spoil() change the optimizer's state, and returns the diagnosis.
template <class Spoil>
const char* diagnosed(Index epochs, Spoil&& spoil) {
  const Data data;
  const auto optimizer = make_optimizer();
  fit(*optimizer, data.inputs(), data.targets(), epochs, silent);
  spoil(*optimizer);
  return diagnose(*optimizer).message;
}

/// Newton and Kronecker descents forget the precision that they start from as natural gradients do, and say
/// so where they do not.
void diagnosis_knows_every_descent(void**) {
  const Data data;
  const auto message_of = [&](const char* method, double rate) {
    const auto model = make_network<double>({2, 3, 1}, Likelihood(BDL_GAUSSIAN, 1));
    const bool is_kronecker = std::strstr(method, "kfac") != nullptr;
    std::shared_ptr<Posterior<double>> q = make_posterior<double>(13, 0);
    if (is_kronecker)
      q = create_posterior<double>(
          {Family::kronecker, 13, 0, {}, {}, point_parameters_of(*model), matrices_of(*model)});
    Optimizer<double> optimizer(model, std::move(q), find_method(method), examples);
    Options options = optimizer.options();
    options.minibatch = 5;
    if (rate > 0) {
      options.curvature_rate = rate;
      options.initial_precision = 1e4;
      options.start_share = 0;
      options.learning_rate = 1e-3;
      options.kl_start = 1;  // a rising temperature lowers the precision of a curvature that is held
    }
    optimizer.set_options(options);
    fit(optimizer, data.inputs(), data.targets(), 120, silent);
    return diagnose(optimizer).message;
  };
  for (const char* method : {"vogn", "ogn", "ivon", "kfac", "noisy-kfac"}) {
    assert_null(std::strstr(message_of(method, 0), "precision"));
    assert_non_null(std::strstr(message_of(method, 1e-9), "precision"));
  }
}

/// Each of the states that training can end in has its message, the worst first; a healthy one has none.
void diagnosis_names_what_is_wrong(void**) {
  using O = Optimizer<double>;
  const auto says = [](const char* message, const char* part) {
    assert_non_null(std::strstr(message, part));
  };
  const auto scale = [](O& o, double factor) {
    std::vector<double> precision(13);
    o.posterior()->precision_diagonal(precision);
    for (double& value : precision) value *= factor;
    o.posterior()->set_diagonal(precision, std::nullopt);
  };
  assert_string_equal(diagnosed(40, [](O&) {}), "");
  says(diagnosed(40, [](O& o) { o.state.has_diverged = true; }), "diverged");
  says(diagnosed(40, [&](O& o) { scale(o, 1e-9); }), "less than a hundredth of their prior's precision");
  says(diagnosed(40, [&](O& o) { scale(o, 1e15); }), "grown by more than 1e12");
  const auto noise = [](O& o, double precision) {
    o.model()->likelihood.learn_noise_precision(std::vector<double>{precision});
  };
  says(diagnosed(40, [&](O& o) { noise(o, 9e29); }), "estimated noise is zero");
  says(diagnosed(40, [&](O& o) { noise(o, 2e-30); }), "far larger than the targets");
  says(diagnosed(40, [](O& o) { o.state.learning_step = 0; }), "lower learn_from");
  says(diagnosed(40, [](O& o) { o.state.start_weight = 0.51; }), "hardly changed the precision");
  assert_string_equal(diagnosed(40, [](O& o) { o.state.start_weight = 0.49; }), "");
  const auto rise = [](O& o, double first, double average) {
    const double now = o.state.running_log_likelihood, n = static_cast<double>(o.data_size());
    o.state.convergence = {10, now - first * n, now - average * n};
  };
  says(diagnosed(40, [&](O& o) { rise(o, 3, 0.16); }), "still rises");
  assert_string_equal(diagnosed(40, [&](O& o) { rise(o, 2, 0.14); }), "");
  assert_string_equal(diagnosed(40, [&](O& o) { rise(o, 4, 0.16); }), "");
}

/// Answers are compared at the posterior's mean, of numbers in standard deviations of the targets; or on
/// average over draws, if these differ where the mean's do not.
void diagnosis_knows_answers_that_do_not_depend_on_the_row(void**) {
  const Data data;
  ArrayData all(data.inputs(), data.targets());
  const auto optimizer = make_optimizer();
  fit(*optimizer, data.inputs(), data.targets(), 40, silent);
  const Posterior<double>& q = *optimizer->posterior();
  Dense f(1, examples);
  Scratch scratch;
  optimizer->model()->forward(std::as_const(q).mean(), {data.x.values.data(), 2, examples},
                              {f.values.data(), 1, examples}, scratch, q.statistics());
  const auto deviation = [](const Dense& values) {
    double mean = 0, squares = 0;
    for (const double value : values.values) mean += value / examples;
    for (const double value : values.values) squares += std::pow(value - mean, 2) / examples;
    return std::sqrt(squares);
  };
  assert_near("spread", spread_of_answers(*optimizer, all), deviation(f) / deviation(data.y), 1e-12);
  assert_string_equal(answers_advice(*optimizer, 0.011), "");
  assert_non_null(std::strstr(answers_advice(*optimizer, 0.009), "the same for every row"));
  std::ranges::fill(optimizer->posterior()->mean(), 0.0);
  assert_true(spread_of_answers(*optimizer, all) == 0);
  const Optimizer<double> drawn(optimizer->model(), make_posterior<double>(13, 0), find_method("bbb"),
                                examples);
  assert_true(spread_of_answers(drawn, all) > least_spread);  // of N(0, I)
  drawn.posterior()->set_isotropic(1e12);
  assert_true(spread_of_answers(drawn, all) < 1e-9);
  const std::vector<double> constant(examples, 3.0);
  ArrayData nothing(data.inputs(), bdl_f64(constant.data(), examples, 1));
  assert_true(std::isinf(spread_of_answers(*optimizer, nothing)));
}

/// With Student-t noise an outlier among the targets does not make answers look equal.
void an_outlier_does_not_hide_that_answers_differ(void**) {
  Data data;
  data.y(0, 5) = 1e4;
  ArrayData all(data.inputs(), data.targets());
  const double deviation = robust_moments_of_targets(all, {}).scale[0];
  const auto spread = [&](bdl_likelihood noise) {
    const Optimizer<double> optimizer(make_network<double>({2, 3, 1}, Likelihood(noise, 1)),
                                      make_posterior<double>(13, 2), find_method("laplace"), examples);
    const auto mean = optimizer.posterior()->mean();
    for (Index i = 0; i < 13; ++i) mean[i] = std::sin(static_cast<double>(i + 1));
    return spread_of_answers(optimizer, all);
  };
  assert_true(spread(BDL_GAUSSIAN) < least_spread && spread(BDL_STUDENT_T) > least_spread);
  const double usual = std::sqrt(target_variances(all, {})[0]);
  assert_near("spread", spread(BDL_STUDENT_T), spread(BDL_GAUSSIAN) * usual / deviation, 1e-9);
}

/// The average that training is compared with: the k-th value has weight k.
void arrival_is_a_weighted_average(void**) {
  Convergence arrival;
  double sum = 0, weights = 0;
  for (int k = 1; k <= 9; ++k) {
    const double value = std::sin(k) - 20;
    arrival.add(value);
    sum += k * value;
    weights += k;
    assert_near("average", arrival.average, sum / weights, 1e-14);
  }
  assert_near("first", arrival.first, std::sin(1) - 20, 0);
  assert_int_equal(arrival.steps, 9);
}

/// A fit that ends on its way up says so. What comes before the noise is learned says
/// nothing.
void short_fits_have_not_arrived(void**) {
  Data data;
  for (Index i = 0; i < examples; ++i) data.y(0, i) = data.x(0, i) - data.x(1, i);
  const auto optimizer = make_optimizer(), learner = make_optimizer();
  Options options = optimizer->options();
  options.learn_noise = 0;
  options.curvature_rate = 0.2;
  optimizer->set_options(options);
  optimizer->model()->likelihood.set_noise_precision(std::vector<double>{100});
  fit(*optimizer, data.inputs(), data.targets(), 2, silent);
  assert_non_null(std::strstr(diagnose(*optimizer).message, "still rises"));
  assert_int_equal(optimizer->state.convergence.steps, optimizer->state.running_steps);
  fit(*learner, data.inputs(), data.targets(), 40, silent);
  assert_string_equal(diagnose(*learner).message, "");
  assert_int_equal(learner->state.convergence.steps, learner->state.step - learner->state.learning_step + 1);
}

}  // namespace

int test_course() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(fitting_steps_on_every_minibatch_in_turn),
      cmocka_unit_test(progress_is_told_once_an_epoch_or_every_so_many_steps),
      cmocka_unit_test(stopped_fits_go_on_exactly),
      cmocka_unit_test(failing_callbacks_fail_the_fit),
      cmocka_unit_test(other_data_cannot_finish_a_fit),
      cmocka_unit_test(epochs_are_counted_in_32_bits),
      cmocka_unit_test(data_must_fit_the_model),
      cmocka_unit_test(diagnosis_measures_how_far_training_went),
      cmocka_unit_test(diagnosis_knows_every_descent),
      cmocka_unit_test(diagnosis_names_what_is_wrong),
      cmocka_unit_test(diagnosis_knows_answers_that_do_not_depend_on_the_row),
      cmocka_unit_test(an_outlier_does_not_hide_that_answers_differ),
      cmocka_unit_test(arrival_is_a_weighted_average),
      cmocka_unit_test(short_fits_have_not_arrived),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
