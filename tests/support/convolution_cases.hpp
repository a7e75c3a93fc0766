// Cases for tests of convolutions: shapes, batch_sizes, and the instruction sets of this processor.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "base/simd.hpp"
#include "support/naive_convolution.hpp"
#include "support/verify.hpp"

namespace bdl::testing {

/// Fewer instructions than the processor has, while it lives.
class SimdLimit {
 public:
  explicit SimdLimit(Simd simd) { most_simd = simd; }
  ~SimdLimit() { most_simd = Simd::avx512; }
  SimdLimit(const SimdLimit&) = delete;
  SimdLimit& operator=(const SimdLimit&) = delete;
};

template <class Test>
void with_every_simd(Test&& test) {
  const int widest = static_cast<int>(widest_simd());
  for (int simd = 0; simd <= widest; ++simd) {
    const SimdLimit limit(static_cast<Simd>(simd));
    test();
  }
}

struct ConvolutionCase {
  ConvShape shape;
  Index examples;
  std::string name() const {
    const auto text = [](Index i) { return std::to_string(i); };
    return text(shape.input.channels) + " x " + text(shape.input.rows) + " x " + text(shape.input.columns) +
           ", conv " + text(shape.output.channels) + " " + text(shape.kernel) + " stride " +
           text(shape.stride) + " pad " + text(shape.pad) + " groups " + text(shape.groups) + ", " +
           text(examples) + " examples";
  }
};

inline constexpr Index channel_counts[] = {1, 2, 5, 6, 7, 16, 17}, batch_sizes[] = {1, 15, 16, 17, 33};

/// Takes turns.
template <std::size_t n>
Index in_turn(const Index (&values)[n], Index i) {
  return values[static_cast<std::size_t>(i) % n];
}

inline ConvolutionCase convolution_case(const Shape& input, Index filters, Index kernel, Index stride,
                                        Index pad, Index groups, Index i) {
  ConvShape shape = window_of(input, filters, kernel, stride, pad, groups);
  if (i % 3 != 0) shape.bias_offset = shape.weights();
  return {shape, in_turn(batch_sizes, i)};
}

/// Every kernel, stride and padding; every number of channels with every number of filters; every map;
/// groups; kernels of more taps than a tile's weights hold at a time.
inline std::vector<ConvolutionCase> convolution_cases() {
  std::vector<ConvolutionCase> all;
  Index i = 0;
  for (Index kernel = 1; kernel <= 5; ++kernel)
    for (Index stride = 1; stride <= 3; ++stride)
      for (Index pad = 0; pad < kernel; ++pad, ++i) {
        const Index least = std::max<Index>(1, kernel - 2 * pad);
        all.push_back(convolution_case(
            {in_turn(channel_counts, i), least + i * 5 % (10 - least), least + i * 3 % (10 - least)},
            in_turn(channel_counts, i + i / 7 + 1), kernel, stride, pad, 1, i));
      }
  for (const Index channels : channel_counts)
    for (const Index filters : channel_counts) {
      ++i;
      all.push_back(
          convolution_case({channels, 3 + i % 2, 2 + i % 3}, filters, 2 + i % 2, 1 + i % 5 / 4, 1, 1, i));
    }
  for (Index rows = 1; rows <= 9; ++rows)
    for (Index columns = 1; columns <= 9; ++columns, ++i)
      all.push_back(convolution_case({2, rows, columns}, 3, 3, 1, 1, 1, i));
  for (const auto& [channels, filters, groups] : {std::tuple<Index, Index, Index>{2, 2, 2},
                                                  {6, 6, 2},
                                                  {6, 7 * 3, 3},
                                                  {16, 16, 16},
                                                  {17, 34, 17},
                                                  {16, 6, 2},
                                                  {16, 32, 4}}) {
    ++i;
    all.push_back(convolution_case({channels, 4, 5}, filters, 3, 1 + i % 2, 1, groups, i));
    all.push_back(convolution_case({channels, 3, 3}, filters, 2, 1, 0, groups, i + 1));
  }
  for (const Index channels : {1, 5}) all.push_back(convolution_case({channels, 9, 8}, 3, 17, 1, 8, 1, ++i));
  all.push_back(convolution_case({17, 4, 4}, 17, 5, 1, 2, 1, ++i));
  // Taps that meet few positions: products of matrices.
  for (const auto& [rows, columns, kernel, stride, pad] : {std::array<Index, 5>{1, 1, 1, 1, 0},
                                                           {1, 1, 3, 1, 1},
                                                           {2, 2, 3, 1, 1},
                                                           {2, 2, 5, 1, 2},
                                                           {4, 4, 3, 2, 1},
                                                           {3, 3, 3, 1, 0},
                                                           {4, 2, 3, 1, 1},
                                                           {2, 1, 2, 1, 1},
                                                           {5, 5, 5, 1, 0}}) {
    ++i;
    all.push_back(convolution_case({16, rows, columns}, 17, kernel, stride, pad, 1, i));
    all.push_back(convolution_case({19, rows, columns}, 70, kernel, stride, pad, 1, i + 1));
  }
  return all;
}

/// Rounded to T, so that both see the same numbers.
template <class T>
Dense rounded_normal(Random& random, Index rows, Index cols) {
  return rounded<T>(random.normal(rows, cols));
}

/// Numbers in places without an example, and without a position: they are finite and must have no effect.
inline constexpr double absent = 40, gap = 50;

}  // namespace bdl::testing
