// The row operations, by blocks and dense, against rows written out one by one: depths 0 to 3, with and
// without bias, several samples and seeds.
#include "curvature/blocked_rows.hpp"
#include "curvature/dense_rows.hpp"
#include "model/network.hpp"
#include "support/naive_network.hpp"

// Last: it includes cmocka.h.
#include "support/verify_rows.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Shape {
  NaiveNetwork network;
  Index examples, samples, seeds;
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const bool bias : {false, true})
    for (const auto& sizes : std::vector<std::vector<Index>>{
             {1, 1}, {3, 1}, {4, 3}, {2, 5, 1}, {3, 1, 2}, {4, 6, 3, 2}, {2, 3, 4, 5, 3}})
      for (const auto& [examples, samples, seeds] :
           {std::tuple<Index, Index, Index>{1, 1, 1}, {3, 1, 1}, {1, 4, 1}, {4, 3, 1}, {1, 1, 3}, {3, 2, 3}})
        out.push_back({{sizes, BDL_TANH, bias}, examples, samples, seeds});
  return out;
}

/// A tape with random seeds, back-propagated, and B (D x n) written out.
template <class T>
struct Problem {
  Random random;
  Network<T> network;
  Padded<T> thetas, x;
  Tape<T> tape;
  Dense b;

  explicit Problem(const Shape& shape)
      : random(static_cast<std::uint64_t>(shape.network.parameters() + shape.samples)),
        network(shape.network.sizes, shape.network.activation, shape.network.bias,
                Likelihood(BDL_GAUSSIAN, shape.network.sizes.back())),
        thetas(random.normal(network.parameters(), shape.samples, 0.8)),
        x(random.normal(network.inputs(), shape.examples)),
        b(network.parameters(), 0) {
    const Index columns = shape.examples * shape.samples, outputs = network.outputs();
    Padded<T> f(poison(outputs, columns)), e(random.normal(outputs, columns * shape.seeds));
    const Graph<T>& graph = *network.graph();
    graph.forward(thetas.get(), x.get(), tape, f.view());
    std::copy_n(e.get().data, e.get().size(), graph.seeds(tape, e.get().cols).data);
    graph.backward(thetas.get(), tape, shape.seeds);
    for (Index r = 0; r < columns * shape.seeds; ++r)
      b = beside(
          b, shape.network.row(columns_of(thetas.dense(), r % columns / shape.examples, 1),
                               columns_of(x.dense(), r % shape.examples, 1), columns_of(e.dense(), r, 1)));
  }
};

template <class T>
void rows_of_networks_are_the_rows_written_out(void**) {
  for (const Shape& shape : shapes()) {
    Problem<T> problem(shape);
    NetworkRows<T> rows(*problem.network.graph());
    rows.assign(problem.tape, shape.seeds);
    check_all<T>(rows, problem.b, problem.random);
    check_parts(rows, shape.samples * shape.seeds, problem.b, problem.random);
    check_gradients<T>(rows, shape.seeds, problem.b, problem.random);
  }
}

template <class T>
void dense_rows_are_the_rows_written_out(void**) {
  DenseRows<T> rows;
  for (const auto& [dimension, count] :
       {std::pair<Index, Index>{1, 1}, {7, 1}, {1, 5}, {30, 11}, {4, 9}, {50, 64}, {50, 65}, {300, 3}}) {
    Random random(static_cast<std::uint64_t>(dimension));
    const Dense b = rounded<T>(random.normal(dimension, count));
    const auto matrix = rows.resize(dimension, count);
    for (Index j = 0; j < count; ++j)
      for (Index i = 0; i < dimension; ++i) matrix(i, j) = static_cast<T>(b(i, j));
    check_all<T>(rows, b, random);
    for (const Index parts : {Index{1}, count}) check_parts(rows, parts, b, random);
    for (const Index seeds : {Index{1}, count}) check_gradients<T>(rows, seeds, b, random);
  }
}

template <class T>
void no_row_is_a_sum_of_zero(void**) {
  DenseRows<T> rows;
  rows.resize(4, 0);
  Random random(1);
  check_all<T>(rows, Dense(4, 0), random);
}

/// Generalised linear models: rows are the inputs themselves.
template <class T>
void a_single_layer_takes_given_factors(void**) {
  for (const bool bias : {false, true}) {
    Random random(2);
    const std::vector<Index> sizes{3, 2};
    const Network<T> network(sizes, BDL_TANH, bias, Likelihood(BDL_GAUSSIAN, 2));
    const Padded<T> a(random.normal(3, 5)), e(random.normal(2, 5));
    Dense b(network.parameters(), 5);
    for (Index r = 0; r < 5; ++r)
      for (Index o = 0; o < 2; ++o) {
        for (Index i = 0; i < 3; ++i) b(o * 3 + i, r) = e.dense()(o, r) * a.dense()(i, r);
        if (bias) b(6 + o, r) = e.dense()(o, r);
      }
    NetworkRows<T> rows(*network.graph());
    rows.assign_single(a.get(), e.get());
    check_all<T>(rows, b, random);
  }
}

/// The cost model sees that a shared input is multiplied once: less than for separate inputs.
void shared_inputs_cost_less(void**) {
  const Graph<double> wide("input 1000\ndense 2 nobias");
  const NetworkRows<double> rows(wide);
  const RowsCost shared = rows.cost(10, 8, 1), separate = rows.cost(80, 1, 1);
  assert_true(shared.count == 80 && separate.count == 80);
  assert_true(shared.gram_flops < separate.gram_flops / 8 &&
              shared.product_flops < separate.product_flops / 7);
}

}  // namespace

int test_rows() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_networks_are_the_rows_written_out<float>),
      cmocka_unit_test(rows_of_networks_are_the_rows_written_out<double>),
      cmocka_unit_test(dense_rows_are_the_rows_written_out<float>),
      cmocka_unit_test(dense_rows_are_the_rows_written_out<double>),
      cmocka_unit_test(no_row_is_a_sum_of_zero<float>),
      cmocka_unit_test(no_row_is_a_sum_of_zero<double>),
      cmocka_unit_test(a_single_layer_takes_given_factors<float>),
      cmocka_unit_test(a_single_layer_takes_given_factors<double>),
      cmocka_unit_test(shared_inputs_cost_less),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
