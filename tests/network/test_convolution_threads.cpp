// Networks with convolutions give identical results on three threads and on one: outputs, sensitivities,
// masks, and all operations on rows.
#include <array>
#include <thread>

#include "curvature/blocked_rows.hpp"
#include "parallel/parallel.hpp"
#include "support/dense.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Enough examples and channels for every loop to have several tasks.
constexpr const char* descriptions[] = {
    "input 3 9 9; conv 17 3 pad 1; batchnorm; relu; maxpool 2; dropout 0.3; conv 16 3 pad 1 nobias; relu; "
    "residual; "
    "conv 16 3 pad 1 groups 4; tanh; conv 16 1; end; avgpool 2 stride 1; conv 24 3 stride 2; globalavgpool; "
    "dense 3",
    "input 20 2 2; conv 30 3 pad 1; relu; conv 30 2; flatten; dense 5",
};
constexpr Index examples = 70, samples = 2;

void append(std::vector<double>& all, const Dense& values) {
  all.insert(all.end(), values.values.begin(), values.values.end());
}

template <class T>
std::vector<double> numbers_of(const char* description, Index threads) {
  const ThreadLimit limit(threads);
  const Graph<T> graph(description);
  const Index d = graph.parameters(), n = examples * samples;
  Random random(4);
  const Padded<T> thetas(random.normal(d, samples, 0.2)), x(random.normal(graph.inputs(), examples)),
      e(random.normal(graph.outputs(), n)), c(random.normal(n, 1)), w(random.uniform(n, 1, 0.1, 1)),
      u(random.normal(d, 3)), mix(random.normal(n, 2));
  Padded<T> f(poison(graph.outputs(), n)), sum(poison(d, 1)), squares(sum), alone(sum),
      projected(poison(3, n)), combined(poison(d, 2));
  Padded<double> gram(Dense(n, n));
  std::vector<double> learned(static_cast<std::size_t>(graph.statistics_size())), all;
  Tape<T> tape;
  NetworkRows<T> rows(graph);
  const StreamKey noise{3, Stream::layer_noise, 9, 4};
  graph.forward(thetas.get(), x.get(), tape, f.view(), &noise, {learned, learned});
  std::copy_n(e.get().data, e.get().size(), graph.seeds(tape, n).data);
  graph.backward(thetas.get(), tape, 1);
  rows.assign(tape, 1);
  rows.sum_and_squares(c.column(), sum.column(), w.column(), squares.column());
  rows.sum_squares(w.column(), alone.column());
  rows.gram(gram.view());
  rows.project(u.get(), projected.view());
  rows.combine(mix.get(), combined.view());
  std::vector<double> gradient_squares(static_cast<std::size_t>(n));
  rows.gradient_squares(c.column(), squares.column(), gradient_squares);
  for (const auto* const part : {&f, &sum, &squares, &alone, &projected, &combined})
    append(all, part->dense());
  append(all, gram.dense());
  all.insert(all.end(), gradient_squares.begin(), gradient_squares.end());
  all.insert(all.end(), learned.begin(), learned.end());
  return all;
}

/// Results are identical too if two callers want the threads at the same time.
template <class T>
void three_threads_have_the_bits_of_one(void**) {
  for (const char* description : descriptions) {
    const std::vector<double> expected = numbers_of<T>(description, 1);
    for (const double value : expected) assert_true(std::isfinite(value));
    std::array<std::vector<double>, 3> got;
    got[0] = numbers_of<T>(description, 3);
    std::thread first([&] { got[1] = numbers_of<T>(description, 3); }),
        second([&] { got[2] = numbers_of<T>(description, 2); });
    first.join();
    second.join();
    for (const auto& values : got) assert_true(values == expected);
  }
}

}  // namespace

int test_convolution_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(three_threads_have_the_bits_of_one<float>),
      cmocka_unit_test(three_threads_have_the_bits_of_one<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
