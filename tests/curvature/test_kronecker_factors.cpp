// Kronecker factors of dense layers and convolutions, and the squares of rotated gradients, against plain
// sums over examples and positions.
#include "network/convolution/patch_rows.hpp"
#include "network/outer_rows.hpp"
#include "support/naive_convolution.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;

/// Inputs u of each position (q x positions) and sensitivities e (o x positions), example by example.
struct Factors {
  std::vector<Dense> u, e;
  Index inputs() const { return std::ssize(u); }

  Dense omega() const {
    Dense sum(u.front().rows, u.front().rows);
    for (const Dense& own : u) sum = sum + own * transposed(own);
    return 1 / static_cast<double>(u.size()) * sum;
  }
  Dense gamma(const Dense& w) const {
    Dense sum(e.front().rows, e.front().rows);
    for (Index r = 0; r < std::ssize(e); ++r) sum = sum + w(r, 0) * (of(r) * transposed(of(r)));
    return sum;
  }
  Dense squares(const Dense& w, const Dense& uo, const Dense& ug) const {
    Dense sum(uo.rows, ug.rows);
    for (Index r = 0; r < std::ssize(e); ++r) {
      Dense g = transposed(uo) * (u[static_cast<std::size_t>(r % inputs())] * transposed(of(r))) * ug;
      for (double& value : g.values) value *= value;
      sum = sum + w(r, 0) * g;
    }
    return sum;
  }
  const Dense& of(Index r) const { return e[static_cast<std::size_t>(r)]; }
};

Dense lower(Dense a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = 0;
  return a;
}

Dense random_rotation(Random& random, Index size) {
  const Dense root = random.normal(size, size);
  return eigen_of(root * transposed(root)).vectors;
}

/// Three times the factor is added to what is there.
template <class T>
void compare(const char* what, const BlockRows<T>& rows, const Factors& expected, Random& random) {
  const Index q = expected.u.front().rows, o = expected.e.front().rows;
  const Dense w = random.uniform(std::ssize(expected.e), 1, 0.2, 2), uo = random_rotation(random, q),
              ug = random_rotation(random, o);
  Scratch scratch;
  Padded<double> omega(identity(q)), gamma(identity(o)), squares(Dense(q, o, 1.0));
  rows.add_input_factor(3, {}, omega.view(), scratch);
  rows.add_output_factor(3, Padded<T>(w).column(), gamma.view(), scratch);
  rows.add_rotated_squares(Padded<T>(w).column(), Padded<T>(uo).get(), Padded<T>(ug).get(), squares.view(),
                           scratch);
  assert_int_equal(rows.positions(), expected.u.front().cols);
  assert_close(what, lower(omega.dense()), lower(identity(q) + 3.0 * expected.omega()), tolerance<T>);
  assert_close(what, lower(gamma.dense()), lower(identity(o) + 3.0 * expected.gamma(w)), tolerance<T>);
  assert_close(what, squares.dense(), Dense(q, o, 1.0) + expected.squares(w, uo, ug), tolerance<T>);
}

template <class T>
void dense_layers_have_the_sums_of_their_examples(void**) {
  Random random(3);
  for (const bool bias : {false, true})
    for (const auto& [inputs, outputs, examples, sections, repeats] :
         {std::tuple<Index, Index, Index, Index, Index>{1, 1, 1, 1, 1},
          {3, 2, 5, 4, 2},
          {4, 7, 300, 1, 1},
          {9, 600, 500, 2, 1}}) {
      if (outputs > 100 && bias) continue;
      const Dense a = random.normal(inputs, examples * repeats),
                  e = random.normal(outputs, examples * sections);
      OuterRows<T> rows({inputs, outputs, 0, bias ? inputs * outputs : -1});
      const Padded<T> in(a), out(e);
      rows.view(in.get(), out.get(), examples);
      Factors expected;
      for (Index j = 0; j < a.cols; ++j) {
        Dense u(inputs + (bias ? 1 : 0), 1, 1.0);
        for (Index i = 0; i < inputs; ++i) u(i, 0) = a(i, j);
        expected.u.push_back(u);
      }
      for (Index j = 0; j < e.cols; ++j) expected.e.push_back(columns_of(e, j, 1));
      if (outputs > 100) {  // a large factor alone, in chunks
        const Dense w = random.uniform(e.cols, 1, 0.2, 2);
        Padded<double> gamma(Dense(outputs, outputs));
        Scratch scratch;
        rows.add_output_factor(1, Padded<T>(w).column(), gamma.view(), scratch);
        Dense weighted = e;
        for (Index j = 0; j < e.cols; ++j)
          for (Index i = 0; i < outputs; ++i) weighted(i, j) *= w(j, 0);
        assert_close("dense, many outputs", lower(gamma.dense()), lower(weighted * transposed(e)),
                     tolerance<T>);
        continue;
      }
      compare("dense", rows, expected, random);
    }
}

/// Returns the inputs of filter 0 at each position, by the gradient of an output there.
Dense patches_of(const NaiveConvolution& naive, const Dense& in, Index example) {
  const ConvShape& shape = naive.shape;
  const Index q = shape.fan_in() + (shape.has_bias() ? 1 : 0);
  Dense one(1, in.cols), out(q, shape.positions());
  for (Index j = 0; j < in.cols; ++j) one(0, j) = in(example, j);
  for (Index p = 0; p < shape.positions(); ++p) {
    Dense seed(1, shape.output.size());
    seed(0, p) = 1;
    const Dense gradient = naive.gradients(one, seed);
    for (Index j = 0; j < shape.fan_in(); ++j) out(j, p) = gradient(0, j);
    if (shape.has_bias()) out(q - 1, p) = gradient(0, shape.weights());
  }
  return out;
}

template <class T>
void convolutions_have_the_sums_of_their_positions(void**) {
  Random random(4);
  for (const bool bias : {false, true})
    for (const auto& [input, filters, kernel, stride, pad] :
         {std::tuple<Shape, Index, Index, Index, Index>{{2, 5, 4}, 3, 3, 1, 1},
          {{1, 6, 5}, 4, 3, 2, 1},
          {{3, 3, 3}, 2, 1, 2, 0},
          {{2, 2, 2}, 5, 3, 1, 1},
          {{1, 1, 1}, 1, 1, 1, 0}})
      for (const auto& [examples, sections, repeats] :
           {std::tuple<Index, Index, Index>{1, 1, 1}, {3, 4, 2}, {17, 2, 1}, {300, 1, 1}}) {
        ConvShape shape = window_of(input, filters, kernel, stride, pad);
        if (bias) shape.bias_offset = shape.weights();
        const NaiveConvolution naive{shape};
        const Dense in = random.normal(examples * repeats, input.size()),
                    e = random.normal(examples * sections, shape.output.size());
        Packets<T> inputs(input, examples, in, not_a_number, not_a_number),
            sensitivities(shape.output, examples, e, 0, not_a_number);
        PatchRows<T> rows(shape, repeats == 1 && sections > 1);
        rows.view(inputs.view(), sensitivities.view(), examples);
        Factors expected;
        for (Index i = 0; i < in.rows; ++i) expected.u.push_back(patches_of(naive, in, i));
        for (Index r = 0; r < e.rows; ++r) {
          Dense own(filters, shape.positions());
          for (Index o = 0; o < filters; ++o)
            for (Index p = 0; p < shape.positions(); ++p) own(o, p) = e(r, o * shape.positions() + p);
          expected.e.push_back(own);
        }
        compare("convolution", rows, expected, random);
      }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_kronecker_factors() {
  const CMUnitTest tests[] = {BOTH(dense_layers_have_the_sums_of_their_examples),
                              BOTH(convolutions_have_the_sums_of_their_positions)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
