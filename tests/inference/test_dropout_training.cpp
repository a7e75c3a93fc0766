// Method "mc-dropout": gradients against finite differences with fixed masks, steps against the published
// recursion, and the closed form that dropout has in linear regression.
#include "support/first_order.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double lambda = 0.7, input_rate = 0.2, hidden_rate = 0.4;

/// Masks that a test knows.
Dense masks_of(Index step, const DropoutLayout& layout, Index samples) {
  Random random(static_cast<std::uint64_t>(300 + step));
  std::vector<double> rates;
  for (const auto& layer : layout.layers)
    rates.insert(rates.end(), static_cast<std::size_t>(layer.inputs),
                 layer.of_data ? layout.input_rate : layout.hidden_rate);
  Dense out(static_cast<Index>(rates.size()), samples);
  for (Index s = 0; s < samples; ++s)
    for (Index u = 0; u < out.rows; ++u) {
      const double rate = rates[static_cast<std::size_t>(u)];
      out(u, s) = random.uniform() < rate ? 0 : 1 / (1 - rate);
    }
  return out;
}

template <class T>
class KnownMasks final : public DrawSource<T> {
 public:
  void parameters(const Posterior<T>&, DrawPlace, MatrixView<T>, Scratch&) override {
    fail_msg("dropout draws masks");
  }
  void probes(const Posterior<T>&, DrawPlace, MatrixView<T>) override {}
  void masks(const DropoutPosterior<T>& q, DrawPlace place, MatrixView<T> out) override {
    fill(out, masks_of(place.step, q.layout(), out.cols));
  }
};

/// theta of the mean under masks (column s).
Dense masked(const DropoutLayout& layout, const Dense& mean, const Dense& masks, Index s) {
  Dense theta = mean;
  Index at = 0, units = 0;
  for (const DropoutLayout::Layer& layer : layout.layers) {
    for (Index k = 0; k < layer.weights(); ++k) theta(at++, 0) *= masks(units + k % layer.inputs, s);
    if (layer.bias) at += layer.outputs;
    units += layer.inputs;
  }
  return theta;
}

/// lambda / 2 (||W||^2 / (1 - rate) + ||b||^2).
double penalty(const DropoutLayout& layout, const Dense& mean) {
  double sum = 0;
  Index at = 0;
  for (const DropoutLayout::Layer& layer : layout.layers) {
    const double kept = 1 - (layer.of_data ? layout.input_rate : layout.hidden_rate);
    for (Index k = 0; k < layer.weights(); ++k, ++at) sum += lambda / 2 * mean(at, 0) * mean(at, 0) / kept;
    for (Index k = 0; layer.bias && k < layer.outputs; ++k, ++at)
      sum += lambda / 2 * mean(at, 0) * mean(at, 0);
  }
  return sum;
}

template <class T>
std::shared_ptr<DropoutPosterior<T>> start(const DropoutLayout& layout, std::uint64_t seed) {
  auto q = std::make_shared<DropoutPosterior<T>>(layout);
  fill(MatrixView<T>(q->mean().data(), q->dimension(), 1), Random(seed).normal(q->dimension(), 1, 0.6));
  q->set_blank(false);
  return q;
}

/// Every likelihood, one layer (whose rows would be merged) and more: the whole loss of a step, by
/// differences, is what SGD and Adam go down.
void training_is_its_recursion(void**) {
  constexpr Index data_size = 12, batch = 4, steps = 4, samples = 3;
  for (const Likelihood& likelihood : all_likelihoods())
    for (const std::vector<Index>& hidden : {std::vector<Index>{2}, {3, 4}, {2, 3, 2}})
      for (const auto descent : {DescentOption::sgd, DescentOption::adam}) {
        std::vector<Index> sizes = hidden;
        sizes.push_back(likelihood.outputs());
        const bool bias = hidden.size() != 2;
        const DropoutLayout layout = dropout_layout(sizes, bias, input_rate, hidden_rate);
        Examples data({sizes, BDL_TANH, bias}, likelihood, batch, 72);
        data.scale = static_cast<double>(data_size) / batch;
        const auto q = start<double>(layout, 71);
        Optimizer<double> optimizer(make_network<double>(sizes, likelihood, bias), q,
                                    find_method("mc-dropout"), data_size);
        Options options = first_order_options(Rule::map, EstimateKind::mc_reparam, descent);
        options.prior_precision = lambda;
        options.samples = samples;
        optimizer.set_options(options);
        optimizer.set_draws(std::make_shared<KnownMasks<double>>());
        Dense mean = column_of(std::as_const(*q).mean());
        Descent1 reference(options, mean.rows);
        for (Index t = 0; t < steps; ++t) {
          const Dense masks = masks_of(t, layout, samples);
          const auto loss = [&](const Dense& at) {
            double sum = penalty(layout, at);
            for (Index s = 0; s < samples; ++s) sum += data(masked(layout, at, masks, s)) / samples;
            return sum / data_size;
          };
          reference.take(differences(loss, mean), mean);
          step_on(optimizer, data.x, data.y);
          assert_close("mean", column_of(std::as_const(*q).mean()), mean, 1e-6);
        }
      }
}

/// A sum of branches, layers with and without bias, two that see the data: as above, by the network's own
/// outputs.
void networks_of_any_form_train_by_their_recursion(void**) {
  constexpr Index data_size = 12, batch = 4, samples = 3;
  const Likelihood likelihood = gaussian(1, {2});
  const auto graph = std::make_shared<Graph<double>>(
      "input 2\ndense 3\ntanh\nresidual\ndense 4 nobias\nswish\ndense 3\nend\n"
      "residual\ndense 2\nshortcut\ndense 2 nobias\nend\ndense 1");
  const auto model = std::make_shared<Network<double>>(graph, likelihood);
  const DropoutLayout layout{layers_with_masks(*graph), input_rate, hidden_rate};
  assert_int_equal(layout.layers.size(), 6);
  assert_true(layout.layers[0].of_data && !layout.layers[1].of_data && !layout.layers[1].bias);
  const auto q = start<double>(layout, 78);
  Optimizer<double> optimizer(model, q, find_method("mc-dropout"), data_size);
  Options options = first_order_options(Rule::map, EstimateKind::mc_reparam, DescentOption::sgd);
  options.prior_precision = lambda;
  options.samples = samples;
  optimizer.set_options(options);
  optimizer.set_draws(std::make_shared<KnownMasks<double>>());
  Random random(79);
  const Padded<double> x(random.normal(2, batch)), y(random.normal(1, batch));
  Dense mean = column_of(std::as_const(*q).mean());
  const Dense masks = masks_of(0, layout, samples);
  const auto loss = [&](const Dense& at) {
    double sum = penalty(layout, at);
    Scratch scratch;
    for (Index s = 0; s < samples; ++s) {
      const Padded<double> theta(masked(layout, at, masks, s));
      Padded<double> f(poison(1, batch));
      model->forward(theta.column(), x.get(), f.view(), scratch);
      for (Index i = 0; i < batch; ++i)
        sum -= likelihood.log_density(f.get().column_data(i), y.get().column_data(i)) * data_size / batch /
               samples;
    }
    return sum / data_size;
  };
  Descent1 reference(options, mean.rows);
  reference.take(differences(loss, mean), mean);
  step_on(optimizer, x.dense(), y.dense());
  assert_close("mean", column_of(std::as_const(*q).mean()), mean, 1e-6);
}

/// All masks of the inputs, each as often as its probability says at rate 1/2: expectations are exact.
template <class T>
class AllMasks final : public DrawSource<T> {
 public:
  void parameters(const Posterior<T>&, DrawPlace, MatrixView<T>, Scratch&) override {}
  void probes(const Posterior<T>&, DrawPlace, MatrixView<T>) override {}
  void masks(const DropoutPosterior<T>&, DrawPlace, MatrixView<T> out) override {
    for (Index s = 0; s < out.cols; ++s)
      for (Index u = 0; u < out.rows; ++u) out(u, s) = (s >> u) % 2 == 0 ? T(0) : T(2);
  }
};

struct Regression {
  Dense x, y;
  Regression() {
    Random random(73);
    x = random.normal(3, 25);
    y = random.normal(1, 3) * x + random.normal(1, 25, 0.4);
    for (double& value : y.values) value += 0.7;
  }
  /// Minimum of tau / 2 E sum (y - f)^2 + penalty: masks add tau rate / (1 - rate) sum_i x_i^2 w^2 / 2, so
  /// ridge regression whose ridge is (tau rate sum_i x_i^2 + lambda) / (1 - rate) for weights, lambda for the
  /// bias.
  Dense closed_form(double tau, double rate) const {
    Dense a(4, 4), b(4, 1);
    for (Index i = 0; i < x.cols; ++i) {
      Dense row(4, 1, 1);
      for (Index k = 0; k < 3; ++k) row(k, 0) = x(k, i);
      a = a + tau * (row * transposed(row));
      b = b + tau * y(0, i) * row;
      for (Index k = 0; k < 3; ++k) a(k, k) += tau * rate / (1 - rate) * x(k, i) * x(k, i);
    }
    for (Index k = 0; k < 3; ++k) a(k, k) += lambda / (1 - rate);
    a(3, 3) += lambda;
    return inverse_of(a) * b;
  }
};

template <class T>
Dense trained(const Regression& data, double rate, Options options, std::shared_ptr<DrawSource<T>> draws) {
  const auto q = start<T>(dropout_layout(std::vector<Index>{3, 1}, true, rate, 0), 74);
  Optimizer<T> optimizer(make_network<T>({3, 1}, gaussian(1, {6})), q, find_method("mc-dropout"), 25);
  options.prior_precision = lambda;
  options.total_steps = 2000;
  optimizer.set_options(options);
  optimizer.set_draws(std::move(draws));
  for (Index step = 0; step < options.total_steps; ++step) step_on(optimizer, data.x, data.y);
  return column_of(std::as_const(*q).mean());
}

template <class T>
void linear_regression_ends_at_ridge_regression(void**) {
  const Regression data;
  Options options = first_order_options(Rule::map, EstimateKind::mc_reparam, DescentOption::adam);
  options.learning_rate = 0.05;
  options.final_rate = 0;
  options.samples = 8;
  assert_close("mean", trained<T>(data, 0.5, options, std::make_shared<AllMasks<T>>()),
               data.closed_form(6, 0.5), 10 * accuracy<T>);
  options.descent = DescentOption::sgd;
  options.learning_rate = 0.03;
  options.final_rate = 1;
  assert_close("mean", trained<T>(data, 0.5, options, std::make_shared<AllMasks<T>>()),
               data.closed_form(6, 0.5), 10 * accuracy<T>);
}

/// With the optimizer's own masks, 50 a step: within 3 % of the largest coefficient. And without dropout it
/// is map.
void random_masks_end_near_it(void**) {
  const Regression data;
  Options options = first_order_options(Rule::map, EstimateKind::mc_reparam, DescentOption::adam);
  options.learning_rate = 0.02;
  options.final_rate = 1e-3;
  options.samples = 50;
  assert_close("mean", trained<double>(data, 0.3, options, nullptr), data.closed_form(6, 0.3), 0.03);
  options.samples = 1;
  assert_close("mean", trained<double>(data, 0, options, nullptr), data.closed_form(6, 0), 1e-6);
}

/// The noise precision that is learned is N / E[sum of squared errors] under masks; prior precisions stay.
void noise_is_learned_under_the_masks(void**) {
  const Regression data;
  const auto q = start<double>(dropout_layout(std::vector<Index>{3, 1}, true, 0.5, 0), 75);
  const auto model = make_network<double>({3, 1}, gaussian(1, {1}));
  Optimizer<double> optimizer(model, q, find_method("mc-dropout"), 25);
  Options options = first_order_options(Rule::map, EstimateKind::mc_reparam, DescentOption::adam);
  options.prior_precision = lambda;
  options.learn_noise = 1;
  options.learn_from = 0;
  options.samples = 8;
  options.scale_rate = 0.05;
  options.final_rate = 0;
  options.total_steps = 2000;
  optimizer.set_options(options);
  optimizer.set_draws(std::make_shared<AllMasks<double>>());
  for (Index step = 0; step < 2000; ++step) step_on(optimizer, data.x, data.y);
  const double tau = model->likelihood.noise_precision(0);
  const Dense mean = data.closed_form(tau, 0.5);
  assert_close("mean", column_of(std::as_const(*q).mean()), mean, 1e-6);
  double errors = 0;
  for (Index i = 0; i < 25; ++i) {
    double f = mean(3, 0), variance = 0;
    for (Index k = 0; k < 3; ++k) {
      f += mean(k, 0) * data.x(k, i);
      variance += std::pow(mean(k, 0) * data.x(k, i), 2);  // rate / (1 - rate) = 1
    }
    errors += std::pow(data.y(0, i) - f, 2) + variance;
  }
  assert_near("tau", tau * errors / 25, 1, 1e-6);
  assert_true(optimizer.prior().groups()[0] == lambda);
}

void what_does_not_fit_is_refused(void**) {
  const std::vector<Index> sizes{2, 3, 1};
  const DropoutLayout layout = dropout_layout(sizes, true, input_rate, hidden_rate);
  const Examples data({sizes, BDL_TANH, true}, gaussian(1, {2}), 4, 76);
  const auto model = make_network<double>(sizes, data.likelihood);
  const auto q = start<double>(layout, 77);
  expect_error(Status::ERROR_UNSUPPORTED, "this one's is dropout",
               [&] { Optimizer<double>(model, q, find_method("slang"), 4); });
  expect_error(Status::ERROR_UNSUPPORTED, "dropout", [&] {
    Optimizer<double>(model, make_posterior<double>(13, 0), find_method("mc-dropout"), 4);
  });
  expect_error(Status::ERROR_SHAPE, "other layers", [&] {
    Optimizer<double>(make_network<double>({12, 1}, data.likelihood), q, find_method("mc-dropout"), 4);
  });
  Optimizer<double> optimizer(model, q, find_method("mc-dropout"), 4);
  const Dense before = column_of(std::as_const(*q).mean());
  const auto refused = [&](Rule rule, EstimateKind estimate, const char* word) {
    optimizer.set_options(first_order_options(rule, estimate, DescentOption::sgd));
    expect_error(Status::ERROR_UNSUPPORTED, word, [&] { step_on(optimizer, data.x, data.y); });
    assert_same("means", column_of(std::as_const(*q).mean()), before);
  };
  refused(Rule::blr, EstimateKind::mc_reparam, "rule \"map\"");
  refused(Rule::bbb, EstimateKind::mc_reparam, "rule \"map\"");
  refused(Rule::map, EstimateKind::lin_ef, "mc-reparam");
  refused(Rule::map, EstimateKind::mc_ef, "mc-reparam");
  optimizer.set_options(first_order_options(Rule::map, EstimateKind::mc_reparam, DescentOption::sgd));
  optimizer.set_draws(std::make_shared<KnownDraws<double>>());
  expect_error(Status::ERROR_UNSUPPORTED, "masks", [&] { step_on(optimizer, data.x, data.y); });
  fill(rows_to_fill(optimizer, 1), Dense(13, 1, 1));
  expect_error(Status::ERROR_UNSUPPORTED, "rows", [&] { step_on_rows(optimizer); });
  optimizer.set_options(first_order_options(Rule::bong, EstimateKind::lin_hess, DescentOption::sgd));
  double score = 0;
  expect_error(Status::ERROR_UNSUPPORTED, "stream", [&] { observe_block(optimizer, 1, {&score, 1}); });
  expect_error(Status::ERROR_UNSUPPORTED, "stream", [&] { move_time(optimizer, 1); });
  assert_int_equal(optimizer.state.step, 0);
}

}  // namespace

int test_dropout_training() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(training_is_its_recursion),
      cmocka_unit_test(networks_of_any_form_train_by_their_recursion),
      cmocka_unit_test(linear_regression_ends_at_ridge_regression<float>),
      cmocka_unit_test(linear_regression_ends_at_ridge_regression<double>),
      cmocka_unit_test(random_masks_end_near_it),
      cmocka_unit_test(noise_is_learned_under_the_masks),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
