// Convolutions against plain loops, by every instruction set: forward, backward to the inputs, and all
// products of single examples' gradients; adjoint identities; and shapes that never meet an input.
#include <numeric>

#include "network/convolution/convolution.hpp"
#include "network/convolution/patch_rows.hpp"
#include "support/convolution_cases.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
ConstSpan<T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}
template <class T>
std::vector<T> as(const Dense& column) {
  return {column.values.begin(), column.values.end()};
}
template <class T>
Dense dense_of(const std::vector<T>& values) {
  return column_of(values);
}

template <class T>
void check_maps(const ConvolutionCase& item) {
  const ConvShape& shape = item.shape;
  const NaiveConvolution naive{shape};
  Random random(static_cast<std::uint64_t>(shape.weights() + item.examples));
  const Dense theta = rounded_normal<T>(random, shape.parameters(), 1),
              in = rounded_normal<T>(random, item.examples, shape.input.size()),
              e = rounded_normal<T>(random, item.examples, shape.output.size()),
              before = rounded_normal<T>(random, item.examples, shape.input.size());
  const std::vector<T> weights = as<T>(theta);
  Packets<T> inputs(shape.input, item.examples, in, absent, gap),
      outputs(shape.output, item.examples, 1, not_a_number),
      sensitivities(shape.output, item.examples, e, 0, gap), to(shape.input, item.examples, 1, not_a_number),
      sum(shape.input, item.examples, before, 0, 0);
  convolve<T>(shape, weights.data(), shape.has_bias() ? weights.data() + shape.weights() : nullptr,
              inputs.view(), outputs.view());
  assert_close(item.name().c_str(), outputs.rows(), naive.forward(theta, in), accuracy<T>);
  assert_true(outputs.has_clear_gaps());
  const Dense back = naive.backward(theta, e);
  convolve_back<T>(shape, weights.data(), sensitivities.view(), false, to.view());
  if (max_abs(back) > 0) assert_close(item.name().c_str(), to.rows(), back, accuracy<T>);
  assert_true(to.has_clear_gaps());
  convolve_back<T>(shape, weights.data(), sensitivities.view(), true, sum.view());
  assert_close(item.name().c_str(), sum.rows(), before + back, accuracy<T>);
}

template <class T>
void maps_are_those_of_plain_loops(void**) {
  with_every_simd([] {
    for (const ConvolutionCase& item : convolution_cases()) check_maps<T>(item);
  });
}

/// Rows in S K sections, for samples and seeds; inputs have one section if they are data, else S.
struct Sections {
  Index inputs, all;
};

template <class T>
struct Problem {
  ConvolutionCase item;
  Sections sections;
  Random random;
  Dense in, e, b;  ///< b: parameters x rows
  Packets<T> inputs, sensitivities;
  Scratch scratch;

  Problem(const ConvolutionCase& of, const Sections& with)
      : item(of),
        sections(with),
        random(static_cast<std::uint64_t>(of.shape.weights() + of.examples + with.all)),
        in(rounded_normal<T>(random, of.examples * with.inputs, of.shape.input.size())),
        e(rounded_normal<T>(random, of.examples * with.all, of.shape.output.size())),
        b(transposed(NaiveConvolution{of.shape}.gradients(in, e))),
        inputs(of.shape.input, of.examples, in, absent, gap),
        sensitivities(of.shape.output, of.examples, e, 0, gap) {}

  void view(PatchRows<T>& rows) { rows.view(inputs.view(), sensitivities.view(), item.examples); }
};

/// Checks sums and sums of squares, alone and together, and sums over some sections.
template <class T>
void check_sums(PatchRows<T>& rows, Problem<T>& problem) {
  const std::string name = problem.item.name();
  const Dense& b = problem.b;
  const Dense c = rounded_normal<T>(problem.random, b.cols, 1),
              w = rounded<T>(problem.random.uniform(b.cols, 1, 0.1, 2));
  const auto length = static_cast<std::size_t>(b.rows);
  std::vector<T> sum(length, static_cast<T>(not_a_number)), squares(sum), alone(sum), part(sum);
  const auto ct = as<T>(c), wt = as<T>(w);
  rows.sum_and_squares(span_of(ct), sum, span_of(wt), squares, problem.scratch);
  rows.sum_squares(span_of(wt), alone, problem.scratch);
  Dense squared = b;
  for (double& value : squared.values) value *= value;
  const auto same = [&](const Dense& got, const Dense& expected) {
    if (max_abs(expected) == 0)
      assert_true(max_abs(got) == 0);
    else
      assert_close(name.c_str(), got, expected, accuracy<T>);
  };
  same(dense_of(sum), b * c);
  same(dense_of(squares), squared * w);
  same(dense_of(alone), squared * w);
  const Index size = problem.item.examples, first = (problem.sections.all - 1) * size;
  rows.combine(first, size, {ct.data() + first, size, 1}, {part.data(), b.rows, 1}, problem.scratch);
  Dense last(size, 1);
  std::copy_n(c.values.begin() + first, size, last.values.begin());
  same(dense_of(part), columns_of(b, first, size) * last);
}

template <class T>
void check_products(PatchRows<T>& rows, Problem<T>& problem) {
  const std::string name = problem.item.name();
  const Dense& b = problem.b;
  const double tolerance = 3 * accuracy<T>;
  const Padded<T> u(problem.random.normal(b.rows, 3), 2), w(problem.random.normal(b.cols, 2), 1);
  Padded<T> projected(Dense(3, b.cols, 1), 1), combined(poison(b.rows, 2), 3);
  rows.project(u.get(), true, projected.view(), problem.scratch);
  rows.combine(0, b.cols, w.get(), combined.view(), problem.scratch);
  assert_close(name.c_str(), projected.dense(), transposed(u.dense()) * b + Dense(3, b.cols, 1), tolerance);
  assert_close(name.c_str(), combined.dense(), b * w.dense(), tolerance);
  for (const Index r : {Index{0}, b.cols / 2, b.cols - 1}) {
    std::vector<T> row(static_cast<std::size_t>(b.rows), static_cast<T>(not_a_number));
    rows.write_row(r, 0, row);
    assert_close(name.c_str(), dense_of(row), columns_of(b, r, 1), accuracy<T>);
    if (b.rows < 4) continue;
    std::vector<T> some(3);
    rows.write_row(r, b.rows - 3, some);
    for (std::size_t j = 0; j < 3; ++j) assert_true(some[j] == row[row.size() - 3 + j]);
  }
}

template <class T>
void sums_are_those_of_gradients_written_out(void**) {
  with_every_simd([] {
    Index i = 0;
    for (const ConvolutionCase& item : convolution_cases()) {
      const Sections sections = ++i % 4 == 0 ? Sections{3, 6} : i % 4 == 1 ? Sections{1, 3} : Sections{1, 1};
      Problem<T> problem(item, sections);
      PatchRows<T> rows(item.shape, sections.inputs == 1);
      problem.view(rows);
      check_sums(rows, problem);
      if (i % 3 == 0) check_products(rows, problem);
    }
  });
}

Dense lower_part(Dense a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = 0;
  return a;
}

/// Checks Gram matrices by factors, though that may take longer, and by the way that the rows choose.
template <class T>
void both_ways_to_the_gram_matrix_agree(void**) {
  Index factored = 0, blocked = 0;
  for (const auto& [input, filters, kernel, stride, pad, groups] :
       {std::tuple<Shape, Index, Index, Index, Index, Index>{{5, 1, 1}, 7, 1, 1, 0, 1},
        {{4, 1, 1}, 6, 3, 1, 1, 1},
        {{16, 2, 2}, 7, 3, 1, 1, 1},
        {{6, 2, 3}, 5, 3, 2, 1, 1},
        {{2, 6, 5}, 3, 3, 1, 1, 1},
        {{3, 5, 4}, 5, 2, 1, 0, 1},
        {{4, 4, 4}, 6, 3, 1, 1, 2},
        {{1, 7, 7}, 2, 5, 1, 2, 1}})
    for (const Index examples : {3, 17})
      for (const Sections sections : {Sections{1, 1}, Sections{1, 3}, Sections{3, 3}, Sections{3, 6}}) {
        Problem<T> problem(
            {convolution_case(input, filters, kernel, stride, pad, groups, examples).shape, examples},
            sections);
        const Index n = problem.b.cols;
        const GramSize size{examples, sections.all, sections.inputs};
        PatchRows<T> rows(problem.item.shape, sections.inputs == 1);
        problem.view(rows);
        const Dense expected = lower_part(transposed(problem.b) * problem.b + Dense(n, n, 1));
        const double tolerance = sizeof(T) == 8 ? 1e-12 : 3e-5;
        Padded<double> chosen(Dense(n, n, 1), 2), forced(Dense(n, n, 1), 1);
        rows.gram(true, chosen.view(), problem.scratch);
        assert_close(problem.item.name().c_str(), lower_part(chosen.dense()), expected, tolerance);
        const double flops = factored_gram_flops(problem.item.shape, size);
        const Index samples = sections.inputs == 1 ? sections.all : sections.inputs;
        const BlockCost cost = rows.cost(examples, samples, sections.all / samples);
        (cost.gram_flops < flops ? blocked : factored) += 1;
        if (groups > 1) continue;
        factored_gram<T>(problem.item.shape, {problem.inputs.view(), problem.sensitivities.view()}, size,
                         true, forced.view(), problem.scratch);
        assert_close(problem.item.name().c_str(), lower_part(forced.dense()), expected, tolerance);
        assert_close("both ways", lower_part(forced.dense()), lower_part(chosen.dense()),
                     sizeof(T) == 8 ? 1e-11 : 1e-4);
        rows.gram(false, forced.view(), problem.scratch);
        assert_close("anew", lower_part(forced.dense()), expected - lower_part(Dense(n, n, 1)), tolerance);
      }
  assert_true(factored > 15 && blocked > 15);
}

/// <conv(x), d> = <x, backward(d)> = <w, dW>.
void convolutions_and_their_derivatives_are_adjoint(void**) {
  with_every_simd([] {
    for (ConvolutionCase item : convolution_cases()) {
      item.shape.bias_offset = -1;
      const ConvShape& shape = item.shape;
      Random random(static_cast<std::uint64_t>(shape.weights()));
      const Dense w = random.normal(shape.weights(), 1), x = random.normal(item.examples, shape.input.size()),
                  d = random.normal(item.examples, shape.output.size());
      Packets<double> in(shape.input, item.examples, x, absent, gap),
          out(shape.output, item.examples, 1, not_a_number), e(shape.output, item.examples, d, 0, gap),
          to(shape.input, item.examples, 1, not_a_number);
      convolve(shape, w.values.data(), static_cast<const double*>(nullptr),
               ConstMatrixView<double>(in.view()), out.view());
      convolve_back(shape, w.values.data(), ConstMatrixView<double>(e.view()), false, to.view());
      PatchRows<double> rows(shape, true);
      rows.view(in.view(), e.view(), item.examples);
      const std::vector<double> ones(static_cast<std::size_t>(item.examples), 1.0);
      std::vector<double> sum(static_cast<std::size_t>(shape.weights()));
      Scratch scratch;
      rows.combine(0, item.examples, {ones.data(), item.examples, 1}, {sum.data(), shape.weights(), 1},
                   scratch);
      const double forward = dot(out.rows(), d), backward = dot(x, to.rows()),
                   by_weights = dot(w, dense_of(sum));
      const double scale = std::sqrt(dot(out.rows(), out.rows()) * dot(d, d)) + 1e-300;
      if (!(std::abs(forward - backward) <= 1e-13 * scale) ||
          !(std::abs(forward - by_weights) <= 1e-13 * scale))
        fail_msg("%s: %.17g, %.17g, %.17g", item.name().c_str(), forward, backward, by_weights);
    }
  });
}

/// Returns the weights of taps that no position meets, as in the last stages of ResNet-18 on 32 x 32 maps.
Index dead_weights(const ConvShape& shape) {
  Index dead = 0;
  for (Index a = 0; a < shape.kernel; ++a)
    for (Index b = 0; b < shape.kernel; ++b)
      dead += shape.output_rows(a).size() == 0 || shape.output_columns(b).size() == 0;
  return dead * shape.output.channels * shape.channels();
}

void weights_of_resnet_that_meet_only_padding_are_counted(void**) {
  Index dead = dead_weights(window_of({3, 32, 32}, 64, 7, 2, 3)), all = 0;
  Shape input{64, 8, 8};
  for (const Index filters : {64, 128, 256, 512})
    for (const bool is_first : {true, false}) {
      const Index stride = is_first && filters > 64 ? 2 : 1;
      const ConvShape first = window_of(input, filters, 3, stride, 1),
                      second = window_of(first.output, filters, 3, 1, 1);
      if (stride == 2) dead += dead_weights(window_of(input, filters, 1, 2, 0));
      dead += dead_weights(first) + dead_weights(second);
      all += first.weights() + second.weights();
      input = second.output;
    }
  assert_true(input == Shape({512, 1, 1}) && all > 10'000'000);
  assert_int_equal(dead, 6'946'816);
}

/// Sums for taps that meet no input are 0 exactly, whatever the other gradients are.
template <class T>
void weights_that_meet_only_padding_have_no_gradient(void**) {
  with_every_simd([] {
    for (const Shape& input : {Shape{17, 1, 1}, Shape{6, 1, 3}, Shape{16, 2, 1}, Shape{5, 2, 1}}) {
      Problem<T> problem(convolution_case(input, input.channels > 15 ? 16 : 7, 3, 1, 1, 1, 1), {1, 2});
      PatchRows<T> rows(problem.item.shape, true);
      problem.view(rows);
      const auto n = static_cast<std::size_t>(problem.b.cols), d = static_cast<std::size_t>(problem.b.rows);
      const std::vector<T> ones(n, T(1));
      std::vector<T> sum(d, static_cast<T>(not_a_number)), squares(sum);
      rows.sum_and_squares(span_of(ones), sum, span_of(ones), squares, problem.scratch);
      for (Index weight = 0; weight < problem.item.shape.weights(); ++weight) {
        const Index a = weight % 9 / 3, b = weight % 3;
        const bool is_dead = (input.rows == 1 && a != 1) || (input.columns == 1 && b != 1);
        assert_true((squares[static_cast<std::size_t>(weight)] == 0) == is_dead);
        assert_true((sum[static_cast<std::size_t>(weight)] == 0) == is_dead);
      }
    }
  });
}

/// The products of two positions cancel in all filters and channels: rounding leaves no square below 0.
template <class T>
void squares_of_what_cancels_are_not_negative(void**) {
  for (const Index kernel : {1, 3}) {
    Problem<T> problem(convolution_case({16, 1, 2}, 17, kernel, 1, kernel / 2, 1, 1), {1, 1});
    const ConvShape& shape = problem.item.shape;
    const Index examples = problem.item.examples;
    for (Index i = 0; i < examples; ++i) {
      for (Index c = 0; c < shape.input.channels; ++c) problem.in(i, 2 * c + 1) = -problem.in(i, 2 * c) / 0.7;
      for (Index o = 0; o < shape.output.channels; ++o) problem.e(i, 2 * o + 1) = 0.7 * problem.e(i, 2 * o);
    }
    Packets<T> inputs(shape.input, examples, rounded<T>(problem.in), absent, gap),
        sensitivities(shape.output, examples, rounded<T>(problem.e), 0, gap);
    PatchRows<T> rows(shape, true);
    rows.view(inputs.view(), sensitivities.view(), examples);
    const std::vector<T> ones(static_cast<std::size_t>(examples), T(1));
    std::vector<T> squares(static_cast<std::size_t>(shape.parameters()));
    rows.sum_squares(span_of(ones), squares, problem.scratch);
    for (const T square : squares) assert_true(square >= 0);
  }
}

template <class T>
void sums_pass_on_nan(void**) {
  for (const Shape& input : {Shape{16, 2, 2}, Shape{16, 1, 1}, Shape{4, 6, 6}}) {
    Problem<T> problem(convolution_case(input, 16, 3, 1, 1, 1, 0), {1, 1});
    problem.e(0, 0) = not_a_number;
    Packets<T> sensitivities(problem.item.shape.output, problem.item.examples, problem.e, 0, gap);
    PatchRows<T> rows(problem.item.shape, true);
    rows.view(problem.inputs.view(), sensitivities.view(), problem.item.examples);
    const std::vector<T> ones(static_cast<std::size_t>(problem.item.examples), T(1));
    std::vector<T> sum(static_cast<std::size_t>(problem.item.shape.parameters())), squares(sum);
    rows.sum_and_squares(span_of(ones), sum, span_of(ones), squares, problem.scratch);
    assert_true(std::isnan(sum[4]) && std::isnan(squares[4]));  // the kernel's middle
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_convolutions() {
  const CMUnitTest tests[] = {
      BOTH(maps_are_those_of_plain_loops),
      BOTH(sums_are_those_of_gradients_written_out),
      BOTH(both_ways_to_the_gram_matrix_agree),
      cmocka_unit_test(convolutions_and_their_derivatives_are_adjoint),
      cmocka_unit_test(weights_of_resnet_that_meet_only_padding_are_counted),
      BOTH(weights_that_meet_only_padding_have_no_gradient),
      BOTH(squares_of_what_cancels_are_not_negative),
      BOTH(sums_pass_on_nan),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
