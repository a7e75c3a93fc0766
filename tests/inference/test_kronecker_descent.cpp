// K-FAC's steps: Newton's where the curvature is exact, the damping of both forms, clipping, intervals,
// point parameters, and identical results after a checkpoint and for any number of threads. Steps against
// dense references: tests/golden/vogn_kronecker.cpp.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "train/fit.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 24;
constexpr const char* with_points =
    "input 2 4 4; conv 3 3 pad 1 nobias; batchnorm; relu; conv 4 2 stride 2; tanh; flatten; dense 3";

template <class T>
std::shared_ptr<Network<T>> network_of(const char* description, const Likelihood& likelihood) {
  return std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(description), likelihood);
}

template <class T>
std::shared_ptr<Posterior<T>> posterior_for(const Model<T>& model) {
  return create_posterior<T>(
      {Family::kronecker, model.parameters(), 0, {}, {}, point_parameters_of(model), matrices_of(model)});
}

struct Data {
  Dense x, y;
  Data(Index inputs, const Likelihood& likelihood, std::uint64_t seed = 3)
      : x(Random(seed).normal(inputs, examples)), y(likelihood.targets(), examples) {
    Random random(seed + 1);
    for (double& value : y.values)
      value = likelihood.kind() == BDL_CATEGORICAL
                  ? std::floor(static_cast<double>(likelihood.outputs()) * random.uniform())
                  : random.normal();
  }
  Array inputs() const { return bdl_f64(x.values.data(), examples, x.rows); }
  Array targets() const { return bdl_f64(y.values.data(), examples, y.rows); }
};

Options exact_options(const Options& defaults) {
  Options options = defaults;
  options.schedule = ScheduleKind::power;
  options.learn_noise = 0;
  options.learning_rate = 1;
  options.momentum = 0;
  options.damping = options.initial_curvature = 0;
  options.kl_clip = options.kl_warmup = 0;
  options.damping_in = DampingIn::both;
  return options;
}

/// A linear layer with Gaussian noise: one step over all data is Newton's, and ends at the posterior.
void one_step_of_a_linear_gaussian_model_is_its_posterior(void**) {
  const Likelihood likelihood = gaussian(2, {0.5, 3});
  const Data data(3, likelihood);
  for (const double tau : {1.0, 0.25}) {
    const auto network = network_of<double>("input 3; dense 2", likelihood);
    const auto q = posterior_for<double>(*network);
    Optimizer<double> optimizer(network, q, find_method("kfac"), examples);
    Options options = exact_options(optimizer.options());
    options.kl_weight = tau;
    options.prior_precision = 0.7;
    optimizer.set_options(options);
    step_on(optimizer, data.x, data.y);
    // p(w) exp(-loss / tau) by least squares.
    Dense precision(8, 8), right(8, 1);
    for (Index i = 0; i < examples; ++i)
      for (Index o = 0; o < 2; ++o) {
        Dense row(8, 1);
        for (Index j = 0; j < 3; ++j) row(o * 3 + j, 0) = data.x(j, i);
        row(6 + o, 0) = 1;
        const double weight = likelihood.noise_precision(o) / tau;
        precision = precision + weight * (row * transposed(row));
        right = right + (weight * data.y(o, i)) * row;
      }
    precision = precision + 0.7 * identity(8);
    assert_close("precision", dense_precision(*q), precision, 1e-11);
    assert_close("mean", column_of(std::as_const(*q).mean()), inverse_of(precision) * right, 1e-10);
  }
}

/// Split, the product of the two factors has more than the damping; it stays out of the posterior where only
/// steps are damped.
void damping_enters_as_it_says(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const Data data(2, likelihood);
  const auto after = [&](DampingForm form, DampingIn where, double damping) {
    const auto network = network_of<double>("input 2; dense 4; tanh; dense 3", likelihood);
    const auto q = posterior_for<double>(*network);
    Optimizer<double> optimizer(network, q, find_method("kfac"), examples);
    Options options = exact_options(optimizer.options());
    options.damping_form = form;
    options.damping_in = where;
    options.damping = damping;
    optimizer.set_options(options);
    step_on(optimizer, data.x, data.y);
    return std::pair(dense_precision(*q), column_of(std::as_const(*q).mean()));
  };
  const auto without = after(DampingForm::exact, DampingIn::both, 0),
             exact = after(DampingForm::exact, DampingIn::both, 0.5),
             of_step = after(DampingForm::exact, DampingIn::step, 0.5),
             split = after(DampingForm::split, DampingIn::both, 0.5);
  const Index size = exact.first.rows;
  assert_close("exact", exact.first, without.first + (0.5 * examples) * identity(size), 1e-11);
  assert_same("in the step", of_step.first, without.first);
  assert_same("the same step", of_step.second, exact.second);
  assert_true(max_abs(of_step.second - without.second) > 1e-3);
  cholesky_of(split.first - exact.first);  // positive definite
  assert_true(log_det(split.first) > log_det(exact.first));
}

/// c I, of which the first step keeps the part 1 - beta.
void curvature_begins_as_it_is_given(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const Data data(2, likelihood);
  const auto network = network_of<double>("input 2; dense 4; tanh; dense 3", likelihood);
  const auto precision_after = [&](double initial, double rate) {
    const auto q = posterior_for<double>(*network);
    Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
    Options options = exact_options(optimizer.options());
    options.initial_curvature = initial;
    options.curvature_rate = rate;
    options.prior_precision = 1e-3;
    optimizer.set_options(options);
    step_on(optimizer, data.x, data.y);
    return dense_precision(*q);
  };
  const Dense start = precision_after(5, 0);
  assert_close("the start alone", start, start(0, 0) * identity(start.rows), 1e-9);
  assert_near("c", start(0, 0) / examples, 5, 1e-2);
  assert_true(max_abs(precision_after(5, 0.1) - start) > 1e-3);
}

/// With kappa, alpha^2 <m, direction> is kappa: the step is shorter in its direction.
void clipped_steps_are_shorter(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const Data data(2, likelihood);
  const auto network = network_of<double>("input 2; dense 4; tanh; dense 3", likelihood);
  const auto run = [&](double kappa, double& shortening) {
    const auto q = posterior_for<double>(*network);
    Optimizer<double> optimizer(network, q, find_method("kfac"), examples);
    Options options = exact_options(optimizer.options());
    options.kl_clip = kappa;
    optimizer.set_options(options);
    step_on(optimizer, data.x, data.y);
    shortening = optimizer.averages.kfac.shortening();
    return column_of(std::as_const(*q).mean()) - column_of(optimizer.initial_mean());
  };
  double none = 0, some = 0, quarter = 0;
  const Dense whole = run(0, none), shorter = run(1e-3, some), half = run(2.5e-4, quarter);
  assert_true(none == 1 && some < 1);
  assert_near("kappa / 4", quarter, some / 2, 1e-12);
  assert_close("shorter", shorter, some * whole, 1e-9);
  assert_close("half", half, 0.5 * shorter, 1e-9);
}

/// Factors and eigenvectors only change where it is their turn.
void factors_and_vectors_wait_for_their_turn(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>("input 2; dense 4; tanh; dense 3", likelihood);
  const auto q = posterior_for<double>(*network);
  Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
  Options options = optimizer.options();
  options.factor_interval = 2;
  options.eigen_interval = 4;
  optimizer.set_options(options);
  const auto factors = [&] { return column_of(optimizer.averages.kfac.now().factors.values()); };
  const auto vectors = [&] {
    return dense_of(as_kronecker(as_blocks(std::as_const(*q)).member(0)).input_vectors());
  };
  for (Index t = 0; t < 9; ++t) {
    const Dense before = factors(), of_before = vectors();
    const Data data(2, likelihood, static_cast<std::uint64_t>(10 + t));
    step_on(optimizer, data.x, data.y);
    const bool same = factors().values == before.values, same_vectors = vectors().values == of_before.values;
    assert_true(same == (t % 2 != 0) && same_vectors == (t % 4 != 0));
  }
}

/// fit() in two parts with a file between them, and with other threads.
template <class T>
Dense run_in_parts(const char* method, const char* description, bool in_parts, int threads, Index interval) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  auto network = network_of<T>(description, likelihood);
  const Data data(network->inputs(), likelihood);
  auto optimizer =
      std::make_shared<Optimizer<T>>(network, posterior_for<T>(*network), find_method(method), examples);
  Options options = optimizer->options();
  options.minibatch = 8;
  options.threads = threads;
  options.total_steps = 12;
  options.fisher = FisherLabels::sampled;
  options.factor_interval = interval;
  options.eigen_interval = interval;
  optimizer->set_options(options);
  fit(*optimizer, data.inputs(), data.targets(), in_parts ? 2 : 4, {});
  if (in_parts) {
    char path[] = "/tmp/bdl-kronecker-XXXXXX";
    const int file = ::mkstemp(path);
    assert_true(file >= 0 && ::close(file) == 0);
    save_checkpoint<T>(path, {network.get(), optimizer->posterior().get(), optimizer.get()});
    const TensorArchive archive = read_archive(path);
    std::remove(path);
    optimizer = load_checkpoint<T>(archive, nullptr).optimizer;
    fit(*optimizer, data.inputs(), data.targets(), 2, {});
  }
  assert_true(optimizer->state.step == 12);
  Dense out = column_of(std::as_const(*optimizer->posterior()).mean());
  optimizer->posterior()->read_tensors([&](const PosteriorTensor<const T>& tensor) {
    tensor.with([&](const auto& values) {
      const Dense numbers = dense_of(values);
      out.values.insert(out.values.end(), numbers.values.begin(), numbers.values.end());
    });
  });
  out.rows = std::ssize(out.values);
  return out;
}

template <class T>
void bits_do_not_depend_on_threads_or_files(void**) {
  for (const char* const method : {"kfac", "noisy-kfac"})
    for (const char* const description : {"input 5; dense 40; tanh; dense 3", with_points})
      for (const Index interval : {1, 3}) {
        const Dense whole = run_in_parts<T>(method, description, false, 1, interval);
        assert_same("threads", run_in_parts<T>(method, description, false, 4, interval), whole);
        assert_same("in two parts", run_in_parts<T>(method, description, true, 1, interval), whole);
      }
}

/// Training fits what an easy problem says, with points and without.
void training_learns_classes(void**) {
  for (const char* const method : {"kfac", "noisy-kfac"})
    for (const FisherLabels fisher : {FisherLabels::exact, FisherLabels::empirical, FisherLabels::sampled}) {
      const Likelihood likelihood(BDL_CATEGORICAL, 2);
      const auto network = network_of<double>("input 2; dense 8; tanh; dense 2", likelihood);
      Data data(2, likelihood);
      for (Index i = 0; i < examples; ++i) data.y(0, i) = data.x(0, i) + data.x(1, i) > 0;
      const auto q = posterior_for<double>(*network);
      Optimizer<double> optimizer(network, q, find_method(method), examples);
      Options options = optimizer.options();
      options.fisher = fisher;
      options.learning_rate = 0.02;
      options.kl_clip = 0.01;
      optimizer.set_options(options);
      fit(optimizer, data.inputs(), data.targets(), 60, {});
      const double loss = -optimizer.state.running_log_likelihood / examples;
      if (!(loss < 0.4)) fail_msg("%s: loss %g", method, loss);
    }
}

void what_steps_have_no_use_for_is_refused(void**) {
  const auto network = network_of<double>("input 2; dense 2", gaussian(2, {1}));
  const auto q = posterior_for<double>(*network);
  Optimizer<double> optimizer(network, q, find_method("kfac"), examples);
  Options options = optimizer.options();
  options.kl_weight = 0;
  options.kl_warmup = 0;
  expect_error(Status::ERROR_INVALID_ARGUMENT, "temperature",
               [&] { check_combination(optimizer.combination(options), Use::fit); });
  options.kl_weight = 1;
  options.curvature = EstimateKind::mc_ggn;
  expect_error(Status::ERROR_UNSUPPORTED, "fisher",
               [&] { check_combination(optimizer.combination(options), Use::fit); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_kronecker_descent() {
  const CMUnitTest tests[] = {cmocka_unit_test(one_step_of_a_linear_gaussian_model_is_its_posterior),
                              cmocka_unit_test(damping_enters_as_it_says),
                              cmocka_unit_test(curvature_begins_as_it_is_given),
                              cmocka_unit_test(clipped_steps_are_shorter),
                              cmocka_unit_test(factors_and_vectors_wait_for_their_turn),
                              BOTH(bits_do_not_depend_on_threads_or_files),
                              cmocka_unit_test(training_learns_classes),
                              cmocka_unit_test(what_steps_have_no_use_for_is_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
