#include "work.hpp"

#include <algorithm>
#include <string>

namespace bench {

std::int64_t parameters(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 0;
  for (std::size_t l = 1; l < sizes.size(); ++l) count += sizes[l] * (sizes[l - 1] + 1);
  return count;
}

/// Flops, with n = M S gradient rows; biases and everything element-wise are not counted:
///   forward        2 M S in out for each layer; backward the same from the second layer on
///   products       rows times or by a vector, 2 n in out for each layer, where the first layer folds its S
///                  samples, which share their inputs, into 2 M in out. 2 + 2 L of them: the rows' sum and
///                  sum of squares, and L each to project on and to combine the new columns of U
///   Gram matrix    n^2 out + columns^2 in for each layer, columns being the M inputs of the first layer and
///                  the n of others (a row is an outer product; the symmetric half)
///   sampling       4 D L S; V^T V and U^T U: D L^2 each (the symmetric half); solve 4 D L
/// A single layer with one output has parallel rows for the samples of an example: n = M. The eigenproblem is
/// left out. Bytes: U is read or written 10 times, S samples 3 times, vectors 12
/// times.
Work slang_step_work(const Shape& shape, double scalar_bytes) {
  const auto m = static_cast<double>(shape.minibatch), s = static_cast<double>(shape.samples),
             rank = static_cast<double>(shape.rank), d = static_cast<double>(parameters(shape.sizes));
  const double n = shape.sizes.size() == 2 && shape.sizes.back() == 1 ? m : m * s;
  double forward = 0, backward = 0, product = 0, gram = 0;
  for (std::size_t l = 1; l < shape.sizes.size(); ++l) {
    const auto in = static_cast<double>(shape.sizes[l - 1]), out = static_cast<double>(shape.sizes[l]);
    const double columns = l == 1 ? m : n;
    forward += 2 * m * s * in * out;
    backward += l == 1 ? 0 : 2 * m * s * in * out;
    product += 2 * columns * in * out;
    gram += n * n * out + columns * columns * in;
  }
  return {forward + backward + (2 + 2 * rank) * product + gram + 4 * d * rank * s + 2 * d * rank * rank +
              4 * d * rank,
          (10 * rank + 3 * s + 12) * d * scalar_bytes};
}

/// The factor's D L^2 and 4 D L for each sample; normal variates are not counted. Bytes: U twice; a sample
/// written, read and written; d in both passes and the mean in one.
Work sample_work(std::int64_t dimension, std::int64_t rank, std::int64_t samples, double scalar_bytes) {
  const auto d = static_cast<double>(dimension), l = static_cast<double>(rank),
             s = static_cast<double>(samples);
  return {d * l * l + 4 * d * l * s, (2 * l + 3 * s + 3) * d * scalar_bytes};
}

/// The factor's D L^2 and 4 D L for each vector. Bytes: U twice; a vector read twice and its solution
/// written; d twice.
Work solve_work(std::int64_t dimension, std::int64_t rank, std::int64_t vectors, double scalar_bytes) {
  const auto d = static_cast<double>(dimension), l = static_cast<double>(rank),
             k = static_cast<double>(vectors);
  return {d * l * l + 4 * d * l * k, (2 * l + 3 * k + 2) * d * scalar_bytes};
}

/// The products of the forward passes; the draws are not counted. Bytes: each draw written and read, inputs
/// read once.
Work predict_work(const std::vector<std::int64_t>& sizes, std::int64_t examples, std::int64_t samples,
                  double scalar_bytes) {
  const auto n = static_cast<double>(examples), s = static_cast<double>(samples);
  double weights = 0;
  for (std::size_t l = 1; l < sizes.size(); ++l)
    weights += static_cast<double>(sizes[l - 1]) * static_cast<double>(sizes[l]);
  return {2 * weights * n * s,
          (2 * s * static_cast<double>(parameters(sizes)) + n * static_cast<double>(sizes.front())) *
              scalar_bytes};
}

void add_timing(Record& record, const Timing& timing) {
  record.set("steps", timing.calls)
      .set("ms_median", timing.median)
      .set("ms_min", timing.min)
      .set("ms_max", timing.max);
}

void add_rates(Record& record, Work work) {
  const double peak = record.number(record.has("sgemm_peak") ? "sgemm_peak" : "dgemm_peak"),
               bandwidth = record.number("triad_gbs"), seconds = record.number("ms_median") / 1e3,
               gflop = work.flops / 1e9, gbytes = work.bytes / 1e9,
               bound = std::max(gflop / peak, gbytes / bandwidth);
  record.set("gflop", gflop)
      .set("gbytes", gbytes)
      .set("gflops", gflop / seconds)
      .set("peak_fraction", gflop / seconds / peak)
      .set("bandwidth_fraction", gbytes / seconds / bandwidth)
      .set("bound_ms", 1e3 * bound)
      .set("time_over_bound", seconds / bound);
}

}  // namespace bench
