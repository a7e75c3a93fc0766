// Rows of networks with convolutions: each is what back-propagation of its example alone gives; every
// operation is that of the rows written out, for several samples and seeds, of convolutions on data and on
// others' maps.
#include "network/graph.hpp"

// Last: it includes cmocka.h.
#include "support/verify_rows.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Case {
  const char* description;
  Index examples, samples, seeds;
};

constexpr const char* descriptions[] = {
    "input 2 4 3; conv 5 3 pad 1; tanh; maxpool 2 stride 1; conv 4 2 nobias; sigmoid; dense 2",
    "input 1 5 5; conv 4 3 stride 2 pad 2; softplus; avgpool 3 stride 2 pad 1; conv 6 3 pad 1 groups 2; "
    "tanh; "
    "globalavgpool; dense 3",
    "input 4 2 2; residual; conv 4 3 pad 1; tanh; conv 4 1 groups 4; end; tanh; conv 3 2",
    "input 5 1 1; conv 6 3 pad 1; tanh; residual; conv 6 1; shortcut; flatten; dense 6; end; dense 2 nobias",
    "input 2 1 8; conv 4 6 stride 41 pad 6; tanh; dense 2",  // every tap of every patch lies in the padding
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* description : descriptions)
    for (const auto& [examples, samples, seeds] :
         {std::tuple<Index, Index, Index>{1, 1, 1}, {17, 1, 1}, {3, 3, 1}, {16, 1, 2}, {5, 3, 2}})
      all.push_back({description, examples, samples, seeds});
  return all;
}

/// A tape with random seeds, back-propagated, and its rows.
template <class T>
struct Run {
  Graph<T> graph;
  Padded<T> thetas, x, e, f;
  Index examples;
  Tape<T> tape;
  NetworkRows<T> rows{graph};

  Run(const char* description, const Dense& at, const Dense& inputs, const Dense& seeds)
      : graph(description),
        thetas(at),
        x(inputs),
        e(seeds),
        f(poison(graph.outputs(), inputs.cols * at.cols)),
        examples(inputs.cols) {
    const Index seed_count = seeds.cols / (at.cols * examples);
    graph.forward(thetas.get(), x.get(), tape, f.view());
    std::copy_n(e.get().data, e.get().size(), graph.seeds(tape, seeds.cols).data);
    graph.backward(thetas.get(), tape, seed_count);
    rows.assign(tape, seed_count);
  }
  Dense sum(const Dense& c) {
    const Padded<T> factors(c);
    Padded<T> out(poison(graph.parameters(), 1));
    rows.sum(factors.column(), out.column());
    return out.dense();
  }
};

template <class T>
struct Problem {
  Random random;
  Index parameters, inputs, outputs;
  Dense thetas, x, e;
  Run<T> run;
  Dense b;

  Problem(const Graph<T>& graph, const Case& item)
      : random(static_cast<std::uint64_t>(graph.parameters() + item.samples)),
        parameters(graph.parameters()),
        inputs(graph.inputs()),
        outputs(graph.outputs()),
        thetas(rounded<T>(random.normal(parameters, item.samples, 0.5))),
        x(rounded<T>(random.normal(inputs, item.examples))),
        e(rounded<T>(random.normal(outputs, item.examples * item.samples * item.seeds))),
        run(item.description, thetas, x, e),
        b(parameters, e.cols) {
    std::vector<T> row(static_cast<std::size_t>(parameters));
    for (Index r = 0; r < e.cols; ++r) {
      std::ranges::fill(row, static_cast<T>(not_a_number));
      run.rows.write_row(r, 0, row);
      std::copy(row.begin(), row.end(), b.column(r));
    }
  }
  explicit Problem(const Case& item) : Problem(Graph<T>(item.description), item) {}
};

/// The gradient of one example, sample and seed, as the sum over this row alone.
template <class T>
void rows_are_gradients_of_single_examples(void**) {
  for (const Case& item : cases()) {
    Problem<T> problem(item);
    const Index columns = item.examples * item.samples;
    for (Index r = 0; r < problem.b.cols; r += std::max<Index>(1, problem.b.cols / 7)) {
      Run<T> one(item.description, columns_of(problem.thetas, r % columns / item.examples, 1),
                 columns_of(problem.x, r % item.examples, 1), columns_of(problem.e, r, 1));
      assert_close(item.description, columns_of(problem.b, r, 1), one.sum(Dense(1, 1, 1)),
                   sizeof(T) == 8 ? 1e-13 : 1e-5);
    }
  }
}

template <class T>
void operations_are_those_of_the_rows_written_out(void**) {
  for (const Case& item : cases()) {
    Problem<T> problem(item);
    check_all<T>(problem.run.rows, problem.b, problem.random);
    check_parts(problem.run.rows, item.samples * item.seeds, problem.b, problem.random);
    check_gradients<T>(problem.run.rows, item.seeds, problem.b, problem.random);
  }
}

/// Both sums in one pass; and rows of some parameters only.
template <class T>
void sums_in_one_pass_and_parts_of_parameters(void**) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 3e-5;
  for (const Case& item : cases()) {
    Problem<T> problem(item);
    const Dense& b = problem.b;
    const Padded<T> c(problem.random.normal(b.cols, 1)), w(problem.random.uniform(b.cols, 1, 0.1, 2));
    Padded<T> sum(poison(b.rows, 1)), squares(poison(b.rows, 1));
    problem.run.rows.sum_and_squares(c.column(), sum.column(), w.column(), squares.column());
    Dense squared = b;
    for (double& value : squared.values) value *= value;
    assert_close("sum", sum.dense(), b * c.dense(), tolerance);
    assert_close("squares", squares.dense(), squared * w.dense(), tolerance);
    const Index first = b.rows / 3, count = b.rows - first - 1;
    Rows<T>& some = problem.run.rows.part(first, count);
    Dense part(count, b.cols);
    for (Index r = 0; r < b.cols; ++r) std::copy_n(b.column(r) + first, count, part.column(r));
    check_all<T>(some, part, problem.random);
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_convolution_rows() {
  const CMUnitTest tests[] = {
      BOTH(rows_are_gradients_of_single_examples),
      BOTH(operations_are_those_of_the_rows_written_out),
      BOTH(sums_in_one_pass_and_parts_of_parameters),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
