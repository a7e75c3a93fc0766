// Networks from descriptions: gradients, Hessians and their diagonals against finite differences of the
// outputs, for sums of branches, mixed activations, layers without bias; dropout; texts and their errors.
#include "curvature/estimator.hpp"
#include "curvature/hessian.hpp"
#include "model/network.hpp"
#include "support/dense.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr const char* descriptions[] = {
    "input 3; dense 2",
    "input 3; dense 4; tanh; dense 3 nobias; softplus; dense 2",
    "input 3; dense 4; tanh; residual; dense 4; sigmoid; end; dense 2",
    "input 3; residual; dense 3; tanh; dense 3 nobias; end; dense 2",
    "input 3; dense 4; residual; tanh; dense 5; swish; shortcut; dense 5 nobias; end; tanh; dense 2",
    "input 3; dense 4; tanh; residual; residual; dense 4; end; tanh; dense 4; end; tanh; dense 2",
    "input 3; tanh; dense 4; elu; gelu; dense 2; sigmoid",
    "input 3; residual; dense 2; tanh; dense 2; shortcut; dense 2 nobias; end",
    "input 3 1 1; dense 4; identity; residual; softplus; dense 4; shortcut; tanh; end; dense 2",
};

template <class T>
Network<T> network_of(const char* description, const Likelihood& likelihood) {
  return Network<T>(std::make_shared<const Graph<T>>(description), likelihood);
}

/// A network with parameters and data.
struct Problem {
  Network<double> network;
  Random random;
  Dense thetas, x, y;

  explicit Problem(const char* description, Index examples = 4, Index samples = 2)
      : network(network_of<double>(description, Likelihood(BDL_CATEGORICAL, 2))),
        random(static_cast<std::uint64_t>(network.parameters())),
        thetas(random.normal(network.parameters(), samples, 0.7)),
        x(random.normal(3, examples)),
        y(1, examples) {
    for (Index i = 0; i < examples; i += 2) y(0, i) = 1;
  }
  Dense outputs(const Dense& theta) const {
    Padded<double> f(poison(network.outputs(), x.cols));
    Scratch scratch;
    network.forward(Padded<double>(theta).column(), Padded<double>(x).get(), f.view(), scratch);
    return f.dense();
  }
  /// Returns sum_i -log p(y_i | x_i, theta).
  double loss(const Dense& theta) const {
    const Dense f = outputs(theta);
    double sum = 0;
    for (Index i = 0; i < x.cols; ++i)
      sum -= network.likelihood.log_density(f.values.data() + i * f.rows, y.values.data() + i);
    return sum;
  }
  Dense gradient(const Dense& theta) const {
    const auto estimator = make_estimator<double>(network);
    const Padded<double> at(theta), inputs(x), targets(y);
    const auto estimate = estimator->estimate(at.get(), inputs.get(), targets.get(), SeedSpec{});
    Padded<double> out(poison(network.parameters(), 1));
    estimate.rows->sum(estimate.c, out.column());
    return out.dense();
  }
};

template <class Function>
Dense differences(const Dense& theta, Function&& value) {
  constexpr double h = 1e-5;
  Dense out(0, 0);
  for (Index p = 0; p < theta.rows; ++p) {
    Dense up = theta, down = theta;
    up(p, 0) += h;
    down(p, 0) -= h;
    const Dense change = 1 / (2 * h) * (value(up) - value(down));
    if (p == 0) out = Dense(change.rows, 0);
    out = beside(out, change);
  }
  return out;
}

Dense scalar(double value) {
  Dense out(1, 1);
  out(0, 0) = value;
  return out;
}

void gradients_are_finite_differences(void**) {
  for (const char* description : descriptions) {
    const Problem problem(description);
    const Dense theta = columns_of(problem.thetas, 0, 1);
    const Dense expected = differences(theta, [&](const Dense& at) { return scalar(problem.loss(at)); });
    assert_close(description, transposed(problem.gradient(theta)), expected, 1e-7);
  }
}

/// Passes agree with a tape and without, for all samples at once and one by one; so do rows of several
/// samples and seeds.
void passes_agree(void**) {
  for (const char* description : descriptions) {
    const Problem problem(description);
    const auto estimator = make_estimator<double>(problem.network);
    const Padded<double> thetas(problem.thetas), x(problem.x), y(problem.y);
    SeedSpec seeds;
    seeds.kind = CurvatureKind::gauss_newton;
    const auto estimate = estimator->estimate(thetas.get(), x.get(), y.get(), seeds);
    Padded<double> sum(poison(problem.network.parameters(), 1));
    estimate.rows->sum(estimate.c, sum.column());
    Dense expected(problem.network.parameters(), 1);
    for (Index s = 0; s < 2; ++s) {
      const Dense theta = columns_of(problem.thetas, s, 1);
      const auto f = estimator->outputs().columns(s * problem.x.cols, problem.x.cols);
      const Dense alone = problem.outputs(theta);
      for (Index i = 0; i < f.cols; ++i)
        for (Index c = 0; c < f.rows; ++c) assert_true(f(c, i) == alone(c, i));
      expected = expected + problem.gradient(theta);
    }
    assert_close(description, sum.dense(), expected, 1e-12);
  }
}

void hessians_are_differences_of_gradients(void**) {
  for (const char* description : descriptions) {
    const Problem problem(description, 4, 1);
    const Index d = problem.network.parameters();
    HessianEstimator<double> estimator(problem.network);
    const Padded<double> theta(problem.thetas), x(problem.x), y(problem.y), units(identity(d));
    Padded<double> products(poison(d, d)), diagonal(poison(d, 1)), dense(Dense(d, d));
    estimator.products(theta.get(), x.get(), y.get(), 1, units.get(), products.view());
    estimator.diagonal(theta.get(), x.get(), y.get(), 1, diagonal.column());
    estimator.dense(theta.get(), x.get(), y.get(), 1, dense.view());
    const Dense expected = differences(problem.thetas, [&](const Dense& at) { return problem.gradient(at); });
    assert_close(description, products.dense(), expected, 1e-7);
    assert_close("symmetry", products.dense(), transposed(products.dense()), 1e-13);
    assert_close("diagonal", diagonal.dense(), diagonal_of(products.dense()), 1e-12);
    for (Index j = 0; j < d; ++j)
      for (Index i = j; i < d; ++i) assert_near("dense", dense.dense()(i, j), products.dense()(i, j), 1e-12);
  }
}

/// A perceptron and the network of its description give identical results.
void a_perceptron_is_its_description(void**) {
  const std::vector<Index> sizes{3, 5, 4, 2};
  const Network<float> mlp(sizes, BDL_SWISH, false, Likelihood(BDL_GAUSSIAN, 2));
  const char* const text = "input 3\ndense 5 nobias\nswish\ndense 4 nobias\nswish\ndense 2 nobias\n";
  assert_string_equal(mlp.graph()->description().c_str(), text);
  assert_true(mlp.graph()->layer_sizes() == sizes && mlp.graph()->activation() == BDL_SWISH);
  const auto same = network_of<float>(text, Likelihood(BDL_GAUSSIAN, 2));
  Buffer<float> a(mlp.parameters()), b(mlp.parameters());
  mlp.initialize(BDL_INIT_HE, 4, a.first(mlp.parameters()));
  same.initialize(BDL_INIT_HE, 4, b.first(mlp.parameters()));
  assert_memory_equal(a.data(), b.data(), static_cast<std::size_t>(mlp.parameters()) * sizeof(float));
}

void texts_have_a_canonical_form(void**) {
  const Graph<double> graph(
      "# a network\n input  4 ;dense 3 # first; of two\n\tresidual; dropout 0.10\n dense 3 "
      "nobias\nshortcut;end;tanh;"
      "dense 1");
  const char* const expected =
      "input 4\ndense 3\nresidual\n  dropout 0.1\n  dense 3 nobias\nend\ntanh\ndense 1\n";
  assert_string_equal(graph.description().c_str(), expected);
  assert_string_equal(Graph<double>(expected).description().c_str(), expected);
  assert_true(graph.layer_sizes().empty() && graph.activation() == BDL_TANH);
  for (const char* description : descriptions) {
    const Graph<double> once(description);
    assert_string_equal(Graph<double>(once.description()).description().c_str(), once.description().c_str());
  }
}

void wrong_texts_are_named(void**) {
  std::string many = "input 1", deep = "input 1";
  for (int i = 0; i < 5000; ++i) many += "\nrelu";
  for (int i = 0; i < 20; ++i) deep += ";residual";
  const std::pair<std::string, const char*> cases[] = {
      {"", "begins with \"\", expected \"input FEATURES\""},
      {"dense 3", "begins with \"dense\""},
      {"input", "FEATURES is missing"},
      {"input 0", "FEATURES is \"0\""},
      {"input 3 4", "COLUMNS is missing"},
      {"input 3 4 5 6", "\"6\" is not expected here"},
      {"input 2000000 2000000 1", "more than 2147483647 numbers"},
      {"input 3; tanh", "no layer with parameters"},
      {"input 3; dense", "line 2 of the description: dense: OUTPUTS is missing"},
      {"input 3\n\ndense two", "line 3 of the description: dense two: OUTPUTS is \"two\""},
      {"input 3; dense 2.5", "OUTPUTS is \"2.5\""},
      {"input 3; dense 99999999999999999999", "OUTPUTS is"},
      {"input 3; dense 2 bias", "\"bias\" is not expected here"},
      {"input 3; dense 2; relu 3", "\"3\" is not expected here"},
      {"input 3; dense 2; tahn", "expected one of dense, conv"},
      {"input 3; dropout 1; dense 2", "RATE is \"1\", expected [0, 1)"},
      {"input 3; dropout -0.5; dense 2", "RATE is \"-0.5\""},
      {"input 3; dense 2; end", "no residual comes before it"},
      {"input 3; dense 2; shortcut", "no residual comes before it"},
      {"input 3; residual; dense 3", "its \"end\" is missing"},
      {"input 3; residual; end; dense 2", "its main branch has no layer"},
      {"input 3; residual; dense 2; end", "the main branch has outputs 2, the shortcut has 3"},
      {"input 3 2 2; residual; dense 3; end", "the main branch has outputs 3, the shortcut has 3 x 2 x 2"},
      {"input 100000; dense 100000", "more than 2147483647 parameters"},
      {"input 3; dense 268435456 nobias; dense 1", "more than 268435456 numbers"},
      {"input 20000000; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; tanh; "
       "dense 1",
       "more than 268435456 numbers"},
      {"input 3; dropout 0.99999999; dense 2", "RATE is so close to 1"},
      {std::string(1'000'001, ' '), "expected at most 1000000"},
      {std::string(5000, ';'), "more than 4096 lines"},
      {many, "more than 4096 lines"},
      {deep, "residuals are nested more than 16 deep"},
  };
  for (const auto& item : cases)
    expect_error(Status::ERROR_INVALID_ARGUMENT, item.second, [&] { Graph<float> graph(item.first); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "3 outputs, expected 2",
               [] { network_of<double>("input 2; dense 3", Likelihood(BDL_GAUSSIAN, 2)); });
}

/// Layers are hidden unless their outputs go straight to the network's; the activation is that of all layers.
void structure_is_known(void**) {
  const struct {
    const char* text;
    Index hidden;
    int activation;
  } cases[] = {{"input 2; dense 1", 0, BDL_IDENTITY},
               {"input 2; residual; dense 2; end", 0, BDL_IDENTITY},
               {"input 2; residual; dense 1; shortcut; dense 1; end", 0, BDL_IDENTITY},
               {"input 2; dense 1; tanh", 1, BDL_TANH},
               {"input 2; dense 3; relu; dense 1", 1, BDL_RELU},
               {"input 2; dense 3; relu; dense 3; tanh; dense 1", 2, 0},
               {"input 2; dense 2; residual; tanh; dense 2; end", 0, BDL_TANH}};
  for (const auto& item : cases) {
    const Graph<double> graph(item.text);
    if (graph.hidden_layers() != item.hidden || graph.activation() != item.activation)
      fail_msg("%s: %ld hidden layers, activation %d", item.text, static_cast<long>(graph.hidden_layers()),
               static_cast<int>(graph.activation()));
  }
}

/// Log noise precisions start at 0, along whatever branch they come straight.
void log_precisions_start_at_zero(void**) {
  for (const char* text :
       {"input 3; dense 4; tanh; dense 2", "input 3; dense 2; residual; tanh; dense 2; end",
        "input 3; residual; dense 2; shortcut; dense 2; end"}) {
    const auto network = network_of<double>(text, Likelihood(BDL_HETEROSCEDASTIC, 2));
    Padded<double> theta(poison(network.parameters(), 1)), f(poison(2, 4));
    network.initialize(BDL_INIT_UNIFORM_FAN_IN, 3, theta.column());
    Random random(3);
    Scratch scratch;
    network.forward(theta.get().column(0), Padded<double>(random.normal(3, 4)).get(), f.view(), scratch);
    for (Index i = 0; i < 4; ++i) assert_true(f.dense()(1, i) == 0 && f.dense()(0, i) != 0);
  }
}

/// Masks of two layers, M examples and S samples are 0 or 1 / (1 - rate), with a fraction of zeros within 5
/// standard errors (6e-7); identical if repeated, different in another step; all 1 without noise.
template <class T>
void dropout_is_a_mask_for_each_example_and_sample(void**) {
  constexpr Index units = 50, examples = 40, samples = 3;
  constexpr double rate = 0.2;
  const Graph<T> graph("input 50; dropout 0.2; dropout 0.2; dense 1; relu; dense 1");
  Tape<T> tape, again;
  const Padded<T> thetas(Dense(graph.parameters(), samples, 0.1)), x(Dense(units, examples, 1));
  Padded<T> f(poison(1, examples * samples));
  const auto record = [&](Tape<T>& to, std::uint64_t step, bool noisy) {
    const StreamKey noise{3, Stream::layer_noise, step, 0};
    graph.forward(thetas.get(), x.get(), to, f.view(), noisy ? &noise : nullptr);
  };
  record(tape, 7, true);
  const Index count = units * examples * samples;
  const T *first = tape.slopes[0].data(), *second = tape.slopes[1].data();
  Index zeros = 0, both = 0;
  for (Index i = 0; i < count; ++i) {
    assert_true(first[i] == 0 || first[i] == static_cast<T>(1 / (1 - rate)));
    zeros += first[i] == 0;
    both += first[i] == 0 && second[i] == 0;
    // Layers work in place, so the second layer's outputs stand where x was.
    assert_true(tape.values[0].data()[i] == first[i] * second[i]);
  }
  const double n = static_cast<double>(count);
  assert_true(std::abs(static_cast<double>(zeros) / n - rate) < 5 * std::sqrt(rate * (1 - rate) / n));
  assert_true(std::abs(static_cast<double>(both) / n - rate * rate) <
              5 * std::sqrt(rate * rate * (1 - rate * rate) / n));
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  record(again, 7, true);
  assert_memory_equal(first, again.slopes[0].data(), bytes);
  record(again, 8, true);
  assert_memory_not_equal(first, again.slopes[0].data(), bytes);
  record(again, 8, false);
  for (Index i = 0; i < count; ++i) assert_true(again.values[0].data()[i] == 1);
  assert_string_equal(graph.first_without(Need::second_derivatives).c_str(),
                      "layer \"dropout 0.2\" (line 2)");
}

/// Masks are part of the function that is differentiated.
void gradients_know_the_masks(void**) {
  const Problem problem("input 3; dense 6; tanh; dropout 0.4; residual; dense 6; dropout 0.3; end; dense 2");
  const StreamKey noise{5, Stream::layer_noise, 2, 0};
  const auto estimator = make_estimator<double>(problem.network);
  const Padded<double> x(problem.x), y(problem.y);
  SeedSpec seeds;
  seeds.noise = &noise;
  const Dense theta = columns_of(problem.thetas, 0, 1);
  const auto estimate = [&](const Dense& at) {
    return estimator->estimate(Padded<double>(at).get(), x.get(), y.get(), seeds);
  };
  const Dense expected =
      differences(theta, [&](const Dense& at) { return scalar(-estimate(at).expected_log_likelihood); });
  const Padded<double> at(theta);
  const auto result = estimator->estimate(at.get(), x.get(), y.get(), seeds);
  Padded<double> sum(poison(theta.rows, 1));
  result.rows->sum(result.c, sum.column());
  assert_close("gradient", transposed(sum.dense()), expected, 1e-7);
}

/// Outputs whose window holds nothing but padding are the bias.
void convolutions_of_padding_are_their_bias(void**) {
  const Graph<double> graph("input 1 1 1; conv 2 2 stride 3 pad 2");
  Dense theta(graph.parameters(), 1), x(1, 3), f(graph.outputs(), 3);
  for (Index i = 0; i < 8; ++i) theta(i, 0) = 5;
  theta(8, 0) = 1;
  theta(9, 0) = -2;
  Scratch scratch;
  graph.forward(theta.values, {x.values.data(), 1, 3}, {f.values.data(), f.rows, f.cols}, scratch);
  for (Index j = 0; j < f.cols; ++j)
    for (Index i = 0; i < f.rows; ++i) assert_near("output", f(i, j), i < f.rows / 2 ? 1 : -2, 1e-15);
}

}  // namespace

int test_layers() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_finite_differences),
      cmocka_unit_test(passes_agree),
      cmocka_unit_test(hessians_are_differences_of_gradients),
      cmocka_unit_test(a_perceptron_is_its_description),
      cmocka_unit_test(texts_have_a_canonical_form),
      cmocka_unit_test(wrong_texts_are_named),
      cmocka_unit_test(structure_is_known),
      cmocka_unit_test(log_precisions_start_at_zero),
      cmocka_unit_test(dropout_is_a_mask_for_each_example_and_sample<float>),
      cmocka_unit_test(dropout_is_a_mask_for_each_example_and_sample<double>),
      cmocka_unit_test(convolutions_of_padding_are_their_bias),
      cmocka_unit_test(gradients_know_the_masks),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
