// Batch norm: passes and running statistics against plain loops, gradients against finite differences of the
// minibatch's loss, rows against each other, the golden networks, and what it refuses.
#include "curvature/blocked_rows.hpp"
#include "curvature/jacobian.hpp"
#include "model/network.hpp"
#include "network/batchnorm_golden.hpp"
#include "support/dense.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// A training pass of a network, and the back-propagation of seeds.
template <class T>
struct Run {
  Graph<T> graph;
  Padded<T> thetas, x;
  std::vector<double> learned;
  Tape<T> tape;
  NetworkRows<T> rows{graph};
  Padded<T> f;

  Run(const char* description, const Dense& at, const Dense& inputs)
      : graph(description),
        thetas(at),
        x(inputs),
        learned(static_cast<std::size_t>(graph.statistics_size())),
        f(poison(graph.outputs(), inputs.cols * at.cols)) {
    std::fill(learned.begin() + static_cast<std::ptrdiff_t>(learned.size() / 2), learned.end(), 1.0);
  }
  Dense forward() {
    graph.forward(thetas.get(), x.get(), tape, f.view(), nullptr, {learned, learned});
    return f.dense();
  }
  Dense predict(Index s, ConstSpan<double> statistics) {
    Padded<T> out(poison(graph.outputs(), x.get().cols));
    Scratch scratch;
    graph.forward(thetas.get().column(s), x.get(), out.view(), scratch, statistics);
    return out.dense();
  }
  void backward(const Dense& seeds) {
    const auto to = graph.seeds(tape, seeds.cols);
    for (Index j = 0; j < seeds.cols; ++j)
      for (Index i = 0; i < seeds.rows; ++i) to(i, j) = static_cast<T>(seeds(i, j));
    graph.backward(thetas.get(), tape, 1);
    rows.assign(tape, 1);
  }
  Dense sum(const Dense& c) {
    const Padded<T> factors(c);
    Padded<T> out(poison(graph.parameters(), 1));
    rows.sum(factors.column(), out.column());
    return out.dense();
  }
};

/// Compares one layer on images, sample after sample, with loops.
template <class T>
void a_layer_is_plain_loops(void**) {
  constexpr Index channels = 3, positions = 4, examples = 5, samples = 3;
  Random random(1);
  const char* const text = "input 3 2 2; batchnorm momentum 0.3 eps 0.01; dense 2";
  const Dense x = rounded<T>(random.normal(channels * positions, examples, 2));
  const Dense thetas = rounded<T>(random.normal(Graph<double>(text).parameters(), samples));
  Run<T> run(text, thetas, x);
  Dense normalized(channels * positions, 0);
  Dense mean(channels, 1), variance(channels, 1, 1);
  const Dense f = run.forward();
  for (Index s = 0; s < samples; ++s) {
    Dense out = x;
    for (Index c = 0; c < channels; ++c) {
      double sum = 0, squares = 0;
      constexpr double m = positions * examples;
      for (Index i = 0; i < examples; ++i)
        for (Index p = 0; p < positions; ++p) sum += x(c * positions + p, i);
      for (Index i = 0; i < examples; ++i)
        for (Index p = 0; p < positions; ++p) squares += std::pow(x(c * positions + p, i) - sum / m, 2);
      mean(c, 0) = 0.7 * mean(c, 0) + 0.3 * sum / m;
      variance(c, 0) = 0.7 * variance(c, 0) + 0.3 * squares / (m - 1);
      for (Index i = 0; i < examples; ++i)
        for (Index p = 0; p < positions; ++p) {
          double& value = out(c * positions + p, i);
          value = thetas(c, s) * (value - sum / m) / std::sqrt(squares / m + 0.01) + thetas(channels + c, s);
        }
    }
    Dense w(2, channels * positions), expected(2, examples);
    for (Index o = 0; o < 2; ++o)
      for (Index k = 0; k < w.cols; ++k) w(o, k) = thetas(2 * channels + o * w.cols + k, s);
    expected = w * out;
    for (Index o = 0; o < 2; ++o)
      for (Index i = 0; i < examples; ++i) expected(o, i) += thetas(2 * channels + 2 * w.cols + o, s);
    assert_close("F", columns_of(f, s * examples, examples), expected, accuracy<T>);
  }
  for (Index c = 0; c < channels; ++c) {
    assert_near("running mean", run.learned[static_cast<std::size_t>(c)], mean(c, 0), 1e-14);
    assert_near("running variance", run.learned[static_cast<std::size_t>(channels + c)], variance(c, 0),
                1e-14);
  }
  // Predictions normalise by the running statistics and do not change them.
  const std::vector<double> before = run.learned;
  const Dense g = run.predict(0, before);
  double expected = thetas(2 * channels + 2 * channels * positions, 0);
  for (Index k = 0; k < channels * positions; ++k) {
    const Index c = k / positions;
    expected +=
        thetas(2 * channels + k, 0) *
        (thetas(c, 0) * (x(k, 1) - mean(c, 0)) / std::sqrt(variance(c, 0) + 0.01) + thetas(channels + c, 0));
  }
  assert_near("prediction", g(0, 1), expected, 10 * accuracy<T>);
  assert_true(run.learned == before);
}

constexpr const char* descriptions[] = {
    "input 3; dense 4; batchnorm; tanh; dense 2",
    "input 3; dense 4; tanh; batchnorm noaffine; dense 2",
    "input 3; batchnorm eps 0.1; dense 4; batchnorm eps 0.2 noaffine; sigmoid; dense 2; batchnorm",
    "input 3; dense 4; residual; dense 4 nobias; batchnorm; tanh; dense 4; batchnorm; end; tanh; dense 2",
    "input 3 1 1; residual; dense 4; batchnorm; shortcut; dense 4; batchnorm noaffine; end; elu; dense 2",
};

/// Returns the sum over examples and samples of seeds . f with the minibatch's statistics.
double linear_loss(const char* description, const Dense& thetas, const Dense& x, const Dense& seeds) {
  return dot(Run<double>(description, thetas, x).forward(), seeds);
}

void gradients_are_finite_differences(void**) {
  for (const char* description : descriptions) {
    Random random(7);
    const Index d = Graph<double>(description).parameters();
    const Dense thetas = random.normal(d, 3), x = random.normal(3, 6), seeds = random.normal(2, 18);
    Run<double> run(description, thetas, x);
    run.forward();
    run.backward(seeds);
    const Dense sum = run.sum(Dense(18, 1, 1));
    Dense expected(d, 1);
    constexpr double h = 1e-5;
    for (Index p = 0; p < d; ++p) {
      Dense up = thetas, down = thetas;
      for (Index s = 0; s < 3; ++s) up(p, s) += h, down(p, s) -= h;
      expected(p, 0) =
          (linear_loss(description, up, x, seeds) - linear_loss(description, down, x, seeds)) / (2 * h);
    }
    assert_close(description, sum, expected, 1e-7);
  }
}

/// Rows add up to the sum, and squares of point parameters to their sum of squares; curvature has none of
/// them.
template <class T>
void rows_are_consistent(void**) {
  for (const char* description : descriptions) {
    Random random(8);
    const Graph<T> graph(description);
    const Index d = graph.parameters(), n = 10;
    Run<T> run(description, rounded<T>(random.normal(d, 2)), rounded<T>(random.normal(3, 5)));
    run.forward();
    run.backward(random.normal(2, n));
    const Dense w = random.uniform(n, 1, 0.5, 2);
    Dense sum(d, 1), squares(d, 1), without(d, n);
    std::vector<bool> is_point(static_cast<std::size_t>(d));
    for (const ParameterBlock& block : graph.blocks())
      std::fill_n(is_point.begin() + block.offset, block.size(), block.is_point);
    for (Index r = 0; r < n; ++r) {
      Dense unit(n, 1);
      unit(r, 0) = 1;
      const Dense row = run.sum(unit);
      Padded<T> written(poison(d, 1));
      run.rows.write_row(r, 0, written.column());
      for (Index p = 0; p < d; ++p) {
        sum(p, 0) += w(r, 0) * row(p, 0);
        squares(p, 0) += w(r, 0) * row(p, 0) * row(p, 0);
        without(p, r) = is_point[static_cast<std::size_t>(p)] ? 0 : row(p, 0);
      }
      assert_close("row", written.dense(), columns_of(without, r, 1), accuracy<T>);
    }
    assert_close(description, run.sum(w), sum, accuracy<T>);
    const Padded<T> weights(w), u(random.normal(d, 2)), mix(random.normal(n, 2));
    Padded<T> of_all(poison(d, 1)), product(poison(2, n)), mixed(poison(d, 2)), points(poison(d, 1));
    run.rows.sum_squares(weights.column(), of_all.column());
    run.rows.project(u.get(), product.view());
    run.rows.combine(mix.get(), mixed.view());
    run.rows.point_squares(weights.column(), points.column());
    Padded<double> gram(Dense(n, n));
    run.rows.gram(gram.view());
    const Dense expected_gram = transposed(without) * without;
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i)
        assert_near("gram", gram.dense()(i, j), expected_gram(i, j), 10 * accuracy<T>);
    assert_close("U^T B", product.dense(), transposed(u.dense()) * without, accuracy<T>);
    assert_close("B W", mixed.dense(), without * mix.dense(), accuracy<T>);
    Index k = 0;
    for (Index p = 0; p < d; ++p) {
      const bool point = is_point[static_cast<std::size_t>(p)];
      assert_near("squares", of_all.dense()(p, 0), point ? 0 : squares(p, 0), 10 * accuracy<T>);
      if (point) assert_near("squares of points", points.dense()(k++, 0), squares(p, 0), 10 * accuracy<T>);
    }
  }
}

/// Rows are the gradients of single examples if running statistics normalise.
void jacobians_take_running_statistics(void**) {
  for (const char* description : descriptions) {
    Random random(9);
    const Network<double> network(std::make_shared<const Graph<double>>(description),
                                  Likelihood(BDL_GAUSSIAN, 2));
    const Graph<double>& graph = *network.graph();
    const Index d = graph.parameters();
    const Dense theta = random.normal(d, 1), x = random.normal(3, 2);
    std::vector<double> statistics(static_cast<std::size_t>(graph.statistics_size()));
    for (double& value : statistics) value = 0.5 + random.uniform();
    JacobianRows<double> jacobian(network);
    Padded<double> f(poison(2, 2)), rows(poison(d, 4));
    const Padded<double> inputs(x);
    jacobian.compute(Padded<double>(theta).get().column(0), inputs.get(), f.view(), rows.view(), statistics);
    Dense expected(d, 4);
    constexpr double h = 1e-5;
    for (const ParameterBlock& block : graph.blocks())
      for (Index p = block.offset; p < block.offset + block.size() && !block.is_point; ++p) {
        Dense up = theta, down = theta;
        up(p, 0) += h, down(p, 0) -= h;
        const Dense change = 1 / (2 * h) *
                             (Run<double>(description, up, x).predict(0, statistics) -
                              Run<double>(description, down, x).predict(0, statistics));
        for (Index i = 0; i < 2; ++i)
          for (Index c = 0; c < 2; ++c) expected(p, c * 2 + i) = change(c, i);
      }
    assert_close(description, rows.dense(), expected, 1e-7);
  }
}

void the_weights_before_may_be_scaled(void**) {
  const char* const text = "input 3; dense 4; batchnorm eps 0; tanh; dense 2";
  Random random(10);
  Dense thetas = random.normal(Graph<double>(text).parameters(), 1);
  const Dense x = random.normal(3, 6);
  const Dense f = Run<double>(text, thetas, x).forward();
  for (Index p = 0; p < 16; ++p) thetas(p, 0) *= 37;
  assert_close("F", Run<double>(text, thetas, x).forward(), f, 1e-12);
}

Dense matrix_of(const std::vector<double>& values, Index rows) {
  Dense out(rows, static_cast<Index>(values.size()) / rows);
  out.values = values;
  return out;
}

void golden_networks(void**) {
  for (const BatchNormGolden& golden : batchnorm_goldens()) {
    const Index d = Graph<double>(golden.description).parameters(), n = golden.examples * golden.samples;
    Run<double> run(golden.description, matrix_of(golden.theta, d), matrix_of(golden.x, golden.inputs));
    assert_close(golden.name, run.forward(), matrix_of(golden.output, 2), 1e-11);
    run.backward(matrix_of(golden.seeds, 2));
    const Dense w = matrix_of(golden.w, n), expected = matrix_of(golden.sum_squares, d);
    assert_close(golden.name, run.sum(w), matrix_of(golden.sum, d), 1e-11);
    Padded<double> squares(poison(d, 1)), points(poison(d, 1));
    run.rows.sum_squares(Padded<double>(w).get().column(0), squares.column());
    run.rows.point_squares(Padded<double>(w).get().column(0), points.column());
    Dense got = squares.dense();
    Index k = 0;
    for (const ParameterBlock& block : run.graph.blocks())
      for (Index p = block.offset; p < block.offset + block.size() && block.is_point; ++p)
        got(p, 0) = points.get()(k++, 0);
    assert_close(golden.name, got, expected, 1e-11);
    std::vector<double> after = golden.mean_after;
    after.insert(after.end(), golden.variance_after.begin(), golden.variance_after.end());
    const auto count = static_cast<Index>(after.size());
    assert_close(golden.name, matrix_of(run.learned, count), matrix_of(after, count), 1e-11);
  }
}

void descriptions_and_blocks(void**) {
  const Graph<float> graph(
      "input 3 2 2\nbatchnorm eps 1e-5 noaffine\ndense 4\nbatchnorm momentum 0.5 eps 0\ndense 1");
  assert_string_equal(graph.description().c_str(),
                      "input 3 2 2\nbatchnorm noaffine\ndense 4\nbatchnorm momentum 0.5 eps 0\ndense 1\n");
  assert_int_equal(graph.blocks().size(), 6);
  const ParameterBlock &scale = graph.blocks()[2], &shift = graph.blocks()[3], &last = graph.blocks()[4];
  assert_true(scale.is_point && shift.is_point && !last.is_point && shift.is_bias);
  assert_string_equal(scale.name.c_str(), "layer1.scale");
  assert_string_equal(shift.name.c_str(), "layer1.shift");
  assert_string_equal(last.name.c_str(), "layer2.weight");
  assert_true(scale.offset == 52 && scale.size() == 4 && shift.offset == 56 && last.offset == 60);
  assert_int_equal(graph.statistics_size(), 14);
  assert_true(graph.layer_sizes().empty());
  std::vector<float> theta(65);
  graph.initialize(BDL_INIT_UNIFORM_FAN_IN, 1, theta);
  for (Index p = 52; p < 60; ++p) assert_true(theta[static_cast<std::size_t>(p)] == (p < 56 ? 1 : 0));
}

/// One batch norm layer with one output is no linear model: two values become 1 and -1.
void a_network_of_nothing_else(void**) {
  Dense x(1, 2, 3), theta(2, 1), expected(1, 2);
  x(0, 1) = 5;
  theta(0, 0) = 2;
  theta(1, 0) = 0.5;
  expected(0, 0) = -1.5;
  expected(0, 1) = 2.5;
  assert_close("outputs", Run<double>("input 1; batchnorm eps 0", theta, x).forward(), expected, 1e-15);
}

void refusals(void**) {
  const auto refused = [](const char* text, const char* word) {
    expect_error(Status::ERROR_INVALID_ARGUMENT, word, [=] { const Graph<double> graph(text); });
  };
  refused("input 3; batchnorm momentum 2; dense 1",
          "line 2 of the description: batchnorm momentum 2: momentum is \"2\"");
  refused("input 3; batchnorm eps; dense 1", "eps is missing");
  refused("input 3; batchnorm eps -1; dense 1", "expected 0 to 1");
  refused("input 3; batchnorm 4; dense 1", "\"4\" is not expected here");
  Random random(11);
  const char* const text = "input 3; dense 2; batchnorm; dense 1";
  const Dense theta = random.normal(Graph<double>(text).parameters(), 1);
  Run<double> one(text, theta, random.normal(3, 1));
  expect_error(Status::ERROR_INVALID_ARGUMENT, "layer \"batchnorm\" (line 3)", [&] { one.forward(); });
  expect_error(Status::ERROR_UNSUPPORTED, "layer \"batchnorm\" (line 3)", [&] { one.predict(0, {}); });
  // Positions count as values too.
  Run<double> image("input 2 2 1; batchnorm; dense 1", random.normal(9, 1), random.normal(4, 1));
  image.forward();
}

}  // namespace

int test_batchnorm() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(a_layer_is_plain_loops<float>),
      cmocka_unit_test(a_layer_is_plain_loops<double>),
      cmocka_unit_test(gradients_are_finite_differences),
      cmocka_unit_test(rows_are_consistent<float>),
      cmocka_unit_test(rows_are_consistent<double>),
      cmocka_unit_test(jacobians_take_running_statistics),
      cmocka_unit_test(the_weights_before_may_be_scaled),
      cmocka_unit_test(golden_networks),
      cmocka_unit_test(descriptions_and_blocks),
      cmocka_unit_test(a_network_of_nothing_else),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
