// Training with heteroscedastic noise: when the log noise precisions are freed, what is learned of noise that
// differs between examples, by every kind of estimate, and what is refused.
#include "io/checkpoint.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"
#include "train/stream/stream.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 300;
constexpr Progress silent{nullptr, nullptr};

/// y = 2 x + noise of standard deviation e^x, x in (-1, 1).
struct Data {
  Dense x{1, examples}, y{1, examples};
  Data() {
    Random random(5);
    for (Index i = 0; i < examples; ++i) {
      x(0, i) = 2 * random.uniform() - 1;
      y(0, i) = 2 * x(0, i) + std::exp(x(0, i)) * random.normal();
    }
  }
  Array inputs() const { return bdl_f64(x.values.data(), examples, 1); }
  Array targets() const { return bdl_f64(y.values.data(), examples, 1); }
};

struct Learner {
  std::shared_ptr<Network<double>> model = make_network<double>({1, 2}, Likelihood(BDL_HETEROSCEDASTIC, 2));
  std::unique_ptr<Optimizer<double>> optimizer;

  explicit Learner(const char* method = "slang-ggn", std::shared_ptr<Posterior<double>> q = nullptr) {
    optimizer = std::make_unique<Optimizer<double>>(model, q ? q : make_posterior<double>(4, 4),
                                                    find_method(method), examples);
    Options options = optimizer->options();
    options.minibatch = 20;
    optimizer->set_options(options);
  }
  double log_precision(double x) const {
    const auto mean = std::as_const(*optimizer->posterior()).mean();
    return mean[1] * x + mean[3];
  }
};

struct Watched {
  Learner* learner;
  Index freed = -1;
  bool moved = false;
};

std::int32_t watch(void* context) {
  auto& watched = *static_cast<Watched*>(context);
  Optimizer<double>& o = *watched.learner->optimizer;
  if (watched.learner->model->likelihood.log_precision_is_free()) {
    if (watched.freed < 0) watched.freed = o.state.step;
  } else {
    watched.moved = watched.moved || std::abs(watched.learner->log_precision(1)) > 1e-12;
  }
  return 0;
}

/// Step t is the first one with (t - 1) / steps >= heteroscedastic_from.
void log_precisions_are_freed_when_the_mean_fits(void**) {
  const Data data;
  for (const double from : {0.6, 0.25, 1.0, 0.0}) {
    Learner learner;
    Options options = learner.optimizer->options();
    options.heteroscedastic_from = from;
    options.progress_every = 1;
    learner.optimizer->set_options(options);
    Watched watched{&learner};
    assert_true(fit(*learner.optimizer, data.inputs(), data.targets(), 4, {watch, &watched}) == Status::OK);
    const Index steps = learner.optimizer->state.step;
    const auto expected = static_cast<Index>(std::ceil(from * static_cast<double>(steps))) + 1;
    assert_int_equal(watched.freed, from < 1 ? expected : -1);
    assert_false(watched.moved);
    assert_true((std::abs(learner.log_precision(1)) > 1e-12) == (from < 1));
  }
}

/// Freed is freed until training starts anew.
void going_on_does_not_hold_them_again(void**) {
  const Data data;
  Learner learner;
  assert_true(learner.model->likelihood.log_precision_is_free());
  fit(*learner.optimizer, data.inputs(), data.targets(), 5, silent);
  Watched watched{&learner};
  fit(*learner.optimizer, data.inputs(), data.targets(), 2, {watch, &watched});
  assert_true(watched.freed == learner.optimizer->state.step - 15);
  initialize(*learner.optimizer);
  assert_false(learner.model->likelihood.log_precision_is_free());
}

void failed_first_steps_leave_them_as_they_are(void**) {
  const Data data;
  Learner learner;
  Options options = learner.optimizer->options();
  options.learning_rate = 1e6;
  options.initial_precision = 1e-30;
  learner.optimizer->set_options(options);
  Array bad = data.targets();
  bad.rows = 7;
  try {
    fit(*learner.optimizer, data.inputs(), bad, 4, silent);
    fail_msg("a wrong shape was taken");
  } catch (const Error&) {
  }
  assert_true(learner.model->likelihood.log_precision_is_free());
}

/// The step that would free them, but is not taken, leaves them held; the next one that is taken frees them.
void failed_steps_leave_them_held(void**) {
  const Data data;
  Learner learner;
  Options options = learner.optimizer->options();
  options.total_steps = 4;
  options.heteroscedastic_from = 0.5;
  learner.optimizer->set_options(options);
  Optimizer<double>& o = *learner.optimizer;
  const auto step = [&](double scale) {
    fill(o.batch_x(20), columns_of(data.x, 0, 20));
    fill(o.batch_y(20), columns_of(data.y, 0, 20));
    for (Index i = 0; i < 20; ++i) o.batch_y(20)(0, i) *= scale;
    train_step(o, 20);
  };
  while (o.state.step < 2) step(1);
  assert_false(learner.model->likelihood.log_precision_is_free());
  expect_error(Status::ERROR_DIVERGED, "", [&] { step(1e300); });
  assert_int_equal(o.state.step, 2);
  assert_false(learner.model->likelihood.log_precision_is_free());
  step(1);
  assert_true(learner.model->likelihood.log_precision_is_free());
}

/// Also where a method for batches observes.
void every_observation_frees_them(void**) {
  const Data data;
  Learner learner;
  std::vector<double> score(1);
  fill(learner.optimizer->batch_x(1), columns_of(data.x, 0, 1));
  fill(learner.optimizer->batch_y(1), columns_of(data.y, 0, 1));
  observe_block(*learner.optimizer, 1, score);
  assert_true(learner.model->likelihood.log_precision_is_free());
}

/// h rises by -2 per unit of x, and tau e^h is 1 at x = 0.
void assert_learned(const char* method, const Learner& learner, double tolerance) {
  const double tau = learner.model->likelihood.noise_precision(0), low = learner.log_precision(-1),
               middle = std::log(tau) + learner.log_precision(0), high = learner.log_precision(1);
  if (!(std::abs(high - low + 4) < tolerance && std::abs(middle) < tolerance / 2))
    fail_msg("%s: log precision %g at 0, %g at -1, %g at 1", method, middle, low + std::log(tau),
             high + std::log(tau));
}

void noise_is_learned_where_it_is(void**) {
  const Data data;
  const auto run = [&](const char* method, std::shared_ptr<Posterior<double>> q, double tolerance) {
    Learner learner(method, std::move(q));
    assert_true(fit(*learner.optimizer, data.inputs(), data.targets(), 200, silent) == Status::OK);
    assert_learned(method, learner, tolerance);
  };
  for (const char* method : {"slang-ggn", "slang-lin-hess", "slang", "slang-lin-ef", "map", "laplace"})
    run(method, nullptr, 1.0);
  for (const char* method : {"von", "vogn"}) run(method, make_posterior<double>(4, 0), 1.0);
  run("bbb", make_posterior<double>(4, 0), 2.0);  // its steps are short
  for (const char* method : {"von-full", "vogn-full"})
    run(method, std::make_shared<FullPosterior<double>>(4), 1.0);
}

/// Courses of every method for networks, in single precision too.
template <class T>
void deep_networks_learn(void**) {
  const Data data;
  const auto run = [&](const char* method, Index rank) {
    const auto model = make_network<T>({1, 6, 2}, Likelihood(BDL_HETEROSCEDASTIC, 2));
    Optimizer<T> optimizer(model, make_posterior<T>(model->parameters(), rank), find_method(method),
                           examples);
    assert_true(fit(optimizer, data.inputs(), data.targets(), 60, silent) == Status::OK);
    assert_true(model->likelihood.log_precision_is_free() &&
                std::isfinite(optimizer.state.running_log_likelihood));
  };
  for (const char* method : {"slang-ggn", "slang", "slang-lin-ef", "map", "laplace"}) run(method, 3);
  for (const char* method : {"von", "vogn", "bbb"}) run(method, 0);
}

/// A line without noise: the noise becomes small, but not so small that nothing can be computed.
void targets_without_noise_are_learned(void**) {
  Data data;
  data.y.values = data.x.values;
  for (const char* method : {"slang", "slang-ggn"})
    for (const std::int64_t seed : {1, 2, 3}) {
      const auto model = make_network<double>({1, 10, 2}, Likelihood(BDL_HETEROSCEDASTIC, 2));
      Optimizer<double> optimizer(model, make_posterior<double>(model->parameters(), 5), find_method(method),
                                  examples);
      Options options = optimizer.options();
      options.seed = seed;
      optimizer.set_options(options);
      model->likelihood.set_limit(std::log(100));  // as of standardised targets
      assert_true(fit(optimizer, data.inputs(), data.targets(), 40, silent) == Status::OK);
      Dense f(2, examples);
      Scratch scratch;
      model->forward(std::as_const(*optimizer.posterior()).mean(), {data.x.values.data(), 1, examples},
                     {f.values.data(), 2, examples}, scratch);
      double square = 0;
      for (Index i = 0; i < examples; ++i) {
        square += std::pow(f(0, i) - data.y(0, i), 2);
        assert_true(f(1, i) + std::log(model->likelihood.noise_precision(0)) < 22);
      }
      assert_true(std::sqrt(square / examples) < 1e-3);
    }
}

/// In a stream they are free from the first observation; missing targets say nothing.
void streams_learn_them(void**) {
  Data data;
  for (const char* method : {"bong", "ekf", "rvga", "lo-fi", "vd-ekf"}) {
    const bool diagonal = std::strcmp(method, "vd-ekf") == 0, full = method[0] != 'l' && !diagonal;
    Learner learner(method,
                    full ? std::shared_ptr<Posterior<double>>(std::make_shared<FullPosterior<double>>(4))
                         : make_posterior<double>(4, diagonal ? 0 : 3));
    Learner skipping(method, learner.optimizer->posterior()->clone());
    std::vector<double> score(1);
    for (Index repeat = 0; repeat < 4; ++repeat)
      for (Index i = 0; i < examples; ++i) {
        fill(learner.optimizer->batch_x(1), columns_of(data.x, i, 1));
        fill(learner.optimizer->batch_y(1), columns_of(data.y, i, 1));
        observe_block(*learner.optimizer, 1, score);
        assert_true(std::isfinite(score[0]));
      }
    assert_true(learner.model->likelihood.log_precision_is_free());
    assert_learned(method, learner, 1.5);
    initialize(*skipping.optimizer);
    fill(skipping.optimizer->batch_x(1), columns_of(data.x, 0, 1));
    skipping.optimizer->batch_y(1)(0, 0) = not_a_number;
    const Dense before = dense_precision(*skipping.optimizer->posterior());
    if (method[0] == 'r') continue;  // exact Hessians see the outputs of a row together
    observe_block(*skipping.optimizer, 1, score);
    assert_close("precision", dense_precision(*skipping.optimizer->posterior()), before, 1e-12);
  }
}

void exact_expectations_are_refused(void**) {
  for (const char* method : {"slang-exact-hess", "exact-full"}) {
    const bool full = std::strcmp(method, "exact-full") == 0;
    expect_error(
        Status::ERROR_UNSUPPORTED,
        full ? "not heteroscedastic or Student t" : "not categorical, heteroscedastic or Student t", [&] {
          Learner(method, full
                              ? std::shared_ptr<Posterior<double>>(std::make_shared<FullPosterior<double>>(4))
                              : nullptr);
        });
  }
}

/// Held or freed: what a file says, a loaded model does.
void files_hold_whether_they_are_free(void**) {
  for (const bool free : {false, true}) {
    Learner learner;
    learner.model->likelihood.free_log_precision(free);
    const auto bytes = serialize_checkpoint(SavedParts<double>{learner.model.get(), nullptr, nullptr});
    const auto loaded = load_checkpoint<double>(parse_archive(bytes), nullptr);
    assert_true(loaded.noise.log_precision_is_free == free);
    assert_true(loaded.model->likelihood.kind() == BDL_HETEROSCEDASTIC && loaded.model->outputs() == 2);
  }
}

}  // namespace

int test_heteroscedastic_course() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(log_precisions_are_freed_when_the_mean_fits),
      cmocka_unit_test(going_on_does_not_hold_them_again),
      cmocka_unit_test(failed_first_steps_leave_them_as_they_are),
      cmocka_unit_test(failed_steps_leave_them_held),
      cmocka_unit_test(every_observation_frees_them),
      cmocka_unit_test(noise_is_learned_where_it_is),
      cmocka_unit_test(deep_networks_learn<float>),
      cmocka_unit_test(deep_networks_learn<double>),
      cmocka_unit_test(targets_without_noise_are_learned),
      cmocka_unit_test(streams_learn_them),
      cmocka_unit_test(exact_expectations_are_refused),
      cmocka_unit_test(files_hold_whether_they_are_free),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
