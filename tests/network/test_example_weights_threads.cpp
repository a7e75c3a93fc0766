// Convolutions with other weights for each example give identical results on one thread and on several.
#include "network/convolution/convolution.hpp"
#include "parallel/parallel.hpp"
#include "support/convolution_cases.hpp"
#include "support/stored_numbers.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
Dense results_of(const ConvShape& shape, Index examples, Index threads) {
  const ThreadLimit limit(threads);
  Random random(3);
  const Dense in = random.normal(examples, shape.input.size()),
              e = random.normal(examples, shape.output.size());
  Packets<T> inputs(shape.input, examples, in, absent, gap), outputs(shape.output, examples, 1, not_a_number),
      sensitivities(shape.output, examples, e, 0, gap), to(shape.input, examples, 1, not_a_number);
  const StoredNumbers<T> numbers(random.normal(examples, shape.parameters()), examples, absent);
  std::vector<T> sum(static_cast<std::size_t>(shape.parameters()), static_cast<T>(not_a_number));
  convolve_by_example<T>(shape, numbers, inputs.view(), outputs.view());
  convolve_back_by_example<T>(shape, numbers, sensitivities.view(), false, to.view());
  sum_gradients_by_example<T>(shape, numbers, {inputs.view(), sensitivities.view()}, sum);
  Dense all = column_of(sum);
  for (const Dense& part : {outputs.rows(), to.rows()})
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  for (const double value : all.values) assert_true(std::isfinite(value));
  return all;
}

template <class T>
void several_threads_have_the_bits_of_one(void**) {
  ConvShape grouped = window_of({20, 9, 9}, 34, 3, 2, 1, 2), flat = window_of({6, 12, 12}, 16, 5, 1, 0);
  grouped.bias_offset = grouped.weights();
  for (const ConvShape& shape : {grouped, flat}) {
    const Dense expected = results_of<T>(shape, 70, 1);
    for (const Index threads : {2, 3})
      assert_same("results of several threads", results_of<T>(shape, 70, threads), expected);
  }
}

}  // namespace

int test_example_weights_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(several_threads_have_the_bits_of_one<float>),
      cmocka_unit_test(several_threads_have_the_bits_of_one<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
