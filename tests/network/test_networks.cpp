// Networks of depth 0 to 3: outputs against plain loops, back-propagated gradients against finite differences
// for every activation, the layout of theta, and initial weights.
#include "curvature/blocked_rows.hpp"
#include "model/network.hpp"
#include "support/naive_network.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr bdl_activation all[] = {BDL_IDENTITY, BDL_RELU,    BDL_LEAKY_RELU, BDL_ELU,  BDL_GELU,
                                  BDL_TANH,     BDL_SIGMOID, BDL_SOFTPLUS,   BDL_SWISH};

std::vector<NaiveNetwork> shapes(bdl_activation activation) {
  std::vector<NaiveNetwork> out;
  for (const bool bias : {false, true})
    for (const auto& sizes : std::vector<std::vector<Index>>{
             {1, 1}, {3, 1}, {4, 3}, {2, 5, 1}, {3, 1, 2}, {4, 6, 3, 2}, {2, 3, 4, 5, 3}})
      out.push_back({sizes, activation, bias});
  return out;
}

template <class T>
Network<T> network_of(const NaiveNetwork& naive) {
  return Network<T>(naive.sizes, naive.activation, naive.bias, Likelihood(BDL_GAUSSIAN, naive.sizes.back()));
}

void blocks_are_weights_and_biases_layer_by_layer(void**) {
  const std::vector<Index> sizes{4, 3, 2};
  const Network<double> with(sizes, BDL_TANH, true, Likelihood(BDL_GAUSSIAN, 2)),
      without(sizes, BDL_TANH, false, Likelihood(BDL_GAUSSIAN, 2));
  assert_int_equal(with.parameters(), 4 * 3 + 3 + 3 * 2 + 2);
  assert_int_equal(without.parameters(), 4 * 3 + 3 * 2);
  assert_int_equal(with.blocks().size(), 4);
  assert_int_equal(without.blocks().size(), 2);
  const ParameterBlock& bias = with.blocks()[1];
  assert_string_equal(bias.name.c_str(), "layer0.bias");
  assert_true(bias.offset == 12 && bias.rows == 3 && bias.cols == 1 && bias.layer == 0 && bias.is_bias);
  const ParameterBlock& weight = with.blocks()[2];
  assert_string_equal(weight.name.c_str(), "layer1.weight");
  assert_true(weight.offset == 15 && weight.rows == 2 && weight.cols == 3 && weight.layer == 1 &&
              !weight.is_bias);
  assert_true(with.inputs() == 4 && with.outputs() == 2);
}

void single_index_means_one_layer_and_one_output(void**) {
  const auto single = [](std::vector<Index> sizes) {
    return Network<double>(sizes, BDL_RELU, true, Likelihood(BDL_GAUSSIAN, sizes.back())).is_single_index();
  };
  assert_true(single({3, 1}));
  assert_false(single({3, 2}));
  assert_false(single({3, 4, 1}));
}

/// Checks both forward passes with several examples and samples at once.
template <class T>
void outputs_are_those_of_plain_loops(void**) {
  for (const bdl_activation activation : all)
    for (const NaiveNetwork& naive : shapes(activation))
      for (const Index examples : {1, 4})
        for (const Index samples : {1, 3}) {
          Random random(static_cast<std::uint64_t>(naive.parameters()));
          const Network<T> network = network_of<T>(naive);
          const Padded<T> thetas(random.normal(naive.parameters(), samples, 0.8)),
              x(random.normal(naive.width(0), examples));
          Padded<T> f(poison(naive.sizes.back(), examples * samples)),
              f_one(poison(naive.sizes.back(), examples));
          Tape<T> tape;
          Scratch scratch;
          network.graph()->forward(thetas.get(), x.get(), tape, f.view());
          Dense expected(naive.sizes.back(), 0), last = expected;
          for (Index s = 0; s < samples; ++s) {
            last = Dense(naive.sizes.back(), 0);
            for (Index i = 0; i < examples; ++i)
              last =
                  beside(last, naive.outputs(columns_of(thetas.dense(), s, 1), columns_of(x.dense(), i, 1)));
            expected = beside(expected, last);
          }
          network.forward(thetas.get().column(samples - 1), x.get(), f_one.view(), scratch);
          assert_close("F", f.dense(), expected, accuracy<T>);
          assert_close("F of one sample", f_one.dense(), last, accuracy<T>);
        }
}

/// Returns df_c / dtheta from the tape: a sum over the rows of a single example.
Dense jacobian_row(const Graph<double>& graph, const Dense& theta, const Dense& x, const Dense& seed) {
  Tape<double> tape;
  Padded<double> f(poison(graph.outputs(), 1));
  const Padded<double> thetas(theta), inputs(x);
  graph.forward(thetas.get(), inputs.get(), tape, f.view());
  std::copy(seed.values.begin(), seed.values.end(), graph.seeds(tape, 1).data);
  graph.backward(thetas.get(), tape, 1);
  Dense out(graph.parameters(), 1);
  for (std::size_t l = 0; l < graph.dense().size(); ++l) {
    const DenseShape& layer = graph.dense()[l];
    const auto& node = graph.nodes()[static_cast<std::size_t>(graph.dense_nodes()[l])];
    const double* a = graph.values(tape, node.in).data;
    for (Index o = 0; o < layer.outputs; ++o) {
      const double e = graph.sensitivities(tape, node.out, 1)(o, 0);
      for (Index i = 0; i < layer.inputs; ++i) out(layer.weight_offset + o * layer.inputs + i, 0) = e * a[i];
      if (layer.bias_offset >= 0) out(layer.bias_offset + o, 0) = e;
    }
  }
  return out;
}

void gradients_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for (const bdl_activation activation : all)
    for (const NaiveNetwork& naive : shapes(activation)) {
      Random random(static_cast<std::uint64_t>(5 + naive.parameters()));
      const Network<double> network = network_of<double>(naive);
      const Dense theta = random.normal(naive.parameters(), 1, 0.8), x = random.normal(naive.width(0), 1);
      const Dense seed = random.normal(naive.sizes.back(), 1);
      Scratch scratch;
      const auto value = [&](const Dense& at) {
        Padded<double> f(poison(naive.sizes.back(), 1));
        network.forward(Padded<double>(at).get().column(0), Padded<double>(x).get(), f.view(), scratch);
        return dot(f.dense(), seed);
      };
      Dense expected(naive.parameters(), 1);
      for (Index i = 0; i < naive.parameters(); ++i) {
        Dense up = theta, down = theta;
        up(i, 0) += h;
        down(i, 0) -= h;
        expected(i, 0) = (value(up) - value(down)) / (2 * h);
      }
      const Dense row = jacobian_row(*network.graph(), theta, x, seed);
      for (Index i = 0; i < naive.parameters(); ++i) assert_near("gradient", row(i, 0), expected(i, 0), 1e-6);
      assert_close("gradient", row, naive.row(theta, x, seed), 1e-12);
    }
}

/// A tape that was used for other numbers of examples, samples and seeds gives the results of a new one.
void tapes_grow_where_passes_write_them(void**) {
  const Graph<double> graph(
      "input 2 5 5; conv 3 3 pad 1; relu; residual; conv 3 3 pad 1; tanh; end; maxpool 2; dense 4; elu; "
      "dense 2");
  Random random(8);
  Tape<double> used;
  struct Size {
    Index examples, samples, seeds;
  };
  for (const Size& size : {Size{3, 1, 1}, Size{20, 2, 3}, Size{5, 2, 1}}) {
    const Index columns = size.examples * size.samples;
    const Dense thetas = random.normal(graph.parameters(), size.samples, 0.5),
                x = random.normal(graph.inputs(), size.examples),
                of_seeds = random.normal(2, columns * size.seeds);
    const auto run = [&](Tape<double>& tape) {
      Padded<double> f(poison(2, columns)), squares(poison(graph.parameters(), 1));
      const Padded<double> at(thetas), inputs(x);
      graph.forward(at.get(), inputs.get(), tape, f.view());
      std::ranges::copy(of_seeds.values, graph.seeds(tape, of_seeds.cols).data);
      graph.backward(at.get(), tape, size.seeds);
      NetworkRows<double> rows(graph);
      rows.assign(tape, size.seeds);
      rows.sum_squares(std::vector<double>(static_cast<std::size_t>(of_seeds.cols), 1.0), squares.column());
      return std::pair(f.dense(), squares.dense());
    };
    Tape<double> fresh;
    const auto got = run(used), expected = run(fresh);
    assert_same("outputs", got.first, expected.first);
    assert_same("squares", got.second, expected.second);
  }
}

/// Checks bounds, variances and zeros of each scheme; the mean square of 1,600 weights is within 5 standard
/// errors (6e-7).
template <class T>
void initial_weights_have_the_scheme_s_distribution(void**) {
  const std::vector<Index> sizes{40, 40, 2};
  const Network<T> network(sizes, BDL_TANH, true, Likelihood(BDL_GAUSSIAN, 2));
  for (const auto& [scheme, variance, bound] :
       {std::tuple(BDL_INIT_UNIFORM_FAN_IN, 1.0 / 120, 1 / std::sqrt(40.0)),
        std::tuple(BDL_INIT_XAVIER, 6.0 / 80 / 3, std::sqrt(6.0 / 80)),
        std::tuple(BDL_INIT_HE, 2.0 / 40, infinity)}) {
    Padded<T> theta(poison(network.parameters(), 1)), again(poison(network.parameters(), 1)), other(again);
    network.initialize(scheme, 3, theta.column());
    network.initialize(scheme, 3, again.column());
    network.initialize(scheme, 4, other.column());
    assert_same("two initialisations", again.dense(), theta.dense());
    assert_true(max_abs(other.dense() - theta.dense()) > 0);
    double squares = 0, top = 0;
    for (Index i = 0; i < 1600; ++i) {
      squares += std::pow(theta.dense()(i, 0), 2);
      top = std::max(top, std::abs(theta.dense()(i, 0)));
    }
    const double kurtosis = std::isinf(bound) ? 3 : 1.8;
    assert_true(std::abs(squares / 1600 / variance - 1) < 5 * std::sqrt((kurtosis - 1) / 1600));
    assert_true(top <= bound && (std::isinf(bound) || top > 0.99 * bound));
    double biases = 0;
    for (Index i = 1600; i < 1640; ++i) biases += std::abs(theta.dense()(i, 0));
    assert_true(scheme == BDL_INIT_UNIFORM_FAN_IN ? biases > 1 : biases == 0);
  }
}

void outputs_that_are_not_finite_are_named(void**) {
  Padded<double> f(Dense(2, 3, 1));
  check_outputs_finite(f.get());
  f.view()(1, 2) = infinity;
  expect_error(Status::ERROR_DIVERGED, "output 1 for example 2", [&] { check_outputs_finite(f.get()); });
}

}  // namespace

int test_networks() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_weights_and_biases_layer_by_layer),
      cmocka_unit_test(single_index_means_one_layer_and_one_output),
      cmocka_unit_test(outputs_are_those_of_plain_loops<float>),
      cmocka_unit_test(outputs_are_those_of_plain_loops<double>),
      cmocka_unit_test(gradients_are_the_finite_differences),
      cmocka_unit_test(tapes_grow_where_passes_write_them),
      cmocka_unit_test(initial_weights_have_the_scheme_s_distribution<float>),
      cmocka_unit_test(initial_weights_have_the_scheme_s_distribution<double>),
      cmocka_unit_test(outputs_that_are_not_finite_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
