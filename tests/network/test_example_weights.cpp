// Convolutions with other weights for each example, and sums of gradients with other numbers for each
// example, against plain loops.
#include "network/convolution/convolution.hpp"
#include "support/convolution_cases.hpp"
#include "support/stored_numbers.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// y_r += a_r b_(r mod b_rows) for r < rows.
BDL_UNSANITIZED void add_products(const double* a, const double* b, Index b_rows, double* y, Index rows) {
  for (Index first = 0; first < rows; first += b_rows)
    for (Index r = 0; r < b_rows; ++r) y[first + r] += a[first + r] * b[r];
}

/// Plain loops. Each row is an example, also of the weights; rows of inputs repeat.
struct Reference {
  NaiveConvolution naive;

  Dense forward(const Dense& weights, const Dense& in) const {
    const ConvShape& shape = naive.shape;
    Dense out(weights.rows, shape.output.size());
    naive.for_each_product([&](Index to, Index weight, Index from) {
      add_products(weights.column(weight), in.column(from), in.rows, out.column(to), out.rows);
    });
    for (Index to = 0; shape.has_bias() && to < out.cols; ++to)
      add_multiple(1, weights.column(shape.weights() + to / shape.positions()), out.column(to), out.rows);
    return out;
  }
  Dense backward(const Dense& weights, const Dense& e) const {
    Dense out(weights.rows, naive.shape.input.size());
    naive.for_each_product([&](Index from, Index weight, Index to) {
      add_products(weights.column(weight), e.column(from), e.rows, out.column(to), e.rows);
    });
    return out;
  }
  Dense gradient_sum(const Dense& numbers, const Dense& in, const Dense& e) const {
    const ConvShape& shape = naive.shape;
    Dense gradients(e.rows, shape.parameters()), out(shape.parameters(), 1);
    naive.for_each_product([&](Index output, Index weight, Index input) {
      add_products(e.column(output), in.column(input), in.rows, gradients.column(weight), e.rows);
    });
    for (Index from = 0; shape.has_bias() && from < e.cols; ++from)
      add_multiple(1, e.column(from), gradients.column(shape.weights() + from / shape.positions()), e.rows);
    for (Index p = 0; p < out.rows; ++p)
      out(p, 0) = std::inner_product(numbers.column(p), numbers.column(p) + e.rows, gradients.column(p), 0.0);
    return out;
  }
};

/// One section of examples, or a section for each of several samples with the same inputs.
template <class T>
struct Problem {
  ConvolutionCase item;
  Index sections;
  Random random;
  Dense in, e, weights, before;
  Packets<T> inputs, sensitivities;
  StoredNumbers<T> stored;

  Problem(const ConvolutionCase& of, Index with_sections)
      : item(of),
        sections(with_sections),
        random(static_cast<std::uint64_t>(of.shape.weights() + of.examples)),
        in(rounded_normal<T>(random, of.examples, of.shape.input.size())),
        e(rounded_normal<T>(random, of.examples * sections, of.shape.output.size())),
        weights(rounded_normal<T>(random, e.rows, of.shape.parameters())),
        before(rounded_normal<T>(random, e.rows, of.shape.input.size())),
        inputs(of.shape.input, of.examples, in, absent, gap),
        sensitivities(of.shape.output, of.examples, e, 0, gap),
        stored(weights, of.examples, absent) {}
};

template <class T>
void check_forward(Problem<T>& problem, const Dense& expected) {
  const ConvolutionCase& item = problem.item;
  Packets<T> outputs(item.shape.output, item.examples, problem.sections, not_a_number);
  problem.stored.start_count();
  convolve_by_example<T>(item.shape, problem.stored, problem.inputs.view(), outputs.view());
  assert_true(problem.stored.were_formed_once());
  assert_close(item.name().c_str(), outputs.rows(), expected, accuracy<T>);
  assert_true(outputs.has_clear_gaps());
}

template <class T>
void check_backward(Problem<T>& problem, const Dense& expected) {
  const ConvolutionCase& item = problem.item;
  Packets<T> to(item.shape.input, item.examples, problem.sections, not_a_number),
      sum(item.shape.input, item.examples, problem.before, 0, 0);
  convolve_back_by_example<T>(item.shape, problem.stored, problem.sensitivities.view(), false, to.view());
  assert_close(item.name().c_str(), to.rows(), expected, accuracy<T>);
  assert_true(to.has_clear_gaps());
  convolve_back_by_example<T>(item.shape, problem.stored, problem.sensitivities.view(), true, sum.view());
  assert_close(item.name().c_str(), sum.rows(), problem.before + expected, accuracy<T>);
}

template <class T>
Dense gradient_sum_of(Problem<T>& problem) {
  std::vector<T> sum(static_cast<std::size_t>(problem.weights.cols), static_cast<T>(not_a_number));
  sum_gradients_by_example<T>(problem.item.shape, problem.stored,
                              {problem.inputs.view(), problem.sensitivities.view()}, sum);
  return column_of(sum);
}

template <class T>
void maps_and_sums_are_those_of_plain_loops(void**) {
  Index i = 0;
  for (const ConvolutionCase& item : convolution_cases()) {
    Problem<T> problem(item, ++i % 4 == 0 ? 3 : 1);
    const Reference reference{{item.shape}};
    const Dense forward = reference.forward(problem.weights, problem.in),
                backward = reference.backward(problem.weights, problem.e),
                sum = reference.gradient_sum(problem.weights, problem.in, problem.e);
    with_every_simd([&] {
      check_forward(problem, forward);
      check_backward(problem, backward);
      assert_close(item.name().c_str(), gradient_sum_of(problem), sum, accuracy<T>);
    });
  }
}

/// Sums over lanes and positions have one order for all widths. Without fused multiply-add, rounding differs.
template <class T>
void results_do_not_depend_on_the_width_of_vectors(void**) {
  if (widest_simd() != Simd::avx512) return;
  for (const ConvolutionCase& item : convolution_cases()) {
    Problem<T> problem(item, 1);
    std::array<Packets<T>, 2> outputs{Packets<T>(item.shape.output, item.examples, 1, 0),
                                      Packets<T>(item.shape.output, item.examples, 1, 0)},
        to{Packets<T>(item.shape.input, item.examples, 1, 0),
           Packets<T>(item.shape.input, item.examples, 1, 0)};
    std::array<Dense, 2> sums;
    for (std::size_t i = 0; i < 2; ++i) {
      const SimdLimit limit(i == 0 ? Simd::avx2 : Simd::avx512);
      convolve_by_example<T>(item.shape, problem.stored, problem.inputs.view(), outputs[i].view());
      convolve_back_by_example<T>(item.shape, problem.stored, problem.sensitivities.view(), false,
                                  to[i].view());
      sums[i] = gradient_sum_of(problem);
    }
    assert_same("outputs", outputs[0].rows(), outputs[1].rows());
    assert_same("derivatives by the inputs", to[0].rows(), to[1].rows());
    assert_same("sums of gradients", sums[0], sums[1]);
  }
}

}  // namespace

int test_example_weights() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(maps_and_sums_are_those_of_plain_loops<double>),
      cmocka_unit_test(maps_and_sums_are_those_of_plain_loops<float>),
      cmocka_unit_test(results_do_not_depend_on_the_width_of_vectors<double>),
      cmocka_unit_test(results_do_not_depend_on_the_width_of_vectors<float>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
