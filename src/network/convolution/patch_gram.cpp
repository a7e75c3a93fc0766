// Inner products of gradients by their factors: <g_r, g_s> = sum over pairs of positions p, q of the products
// of their patches and of their sensitivities, <a_rp, a_sq> <e_rp, e_sq>. Cheaper than the gradients
// themselves where maps are small (docs/theory/rows.md, "Rows of a convolution").
#include <limits>

#include "linalg/blas.hpp"
#include "network/convolution/convolution.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Most products of pairs of factors, which are all there at a time.
constexpr double most_pairs = 1 << 22;
/// Number of factors that are written out at a time.
constexpr Index most_factors = 1 << 18;

double as_double(Index value) {
  return static_cast<double>(value);
}

/// Number of taps that meet any input.
Index live_taps(const ConvShape& shape) {
  Index taps = 0;
  for (Index tap = 0; tap < shape.taps(); ++tap) taps += shape.positions_of(tap) > 0 ? 1 : 0;
  return taps;
}

Index live_tap(const ConvShape& shape, Index number) {
  Index tap = 0;
  for (;; ++tap)
    if (shape.positions_of(tap) > 0 && number-- == 0) return tap;
}

/// Number of columns of `rows` numbers that are written out at a time.
Index columns_together(Index rows, Index columns) {
  return std::max<Index>(1, std::min(most_factors / std::max<Index>(1, rows), columns));
}

/// Copies the numbers of one position of all examples, one after the other.
template <class T>
void copy_lanes(ConstMatrixView<T> maps, Index at, const GramSize& size, Index sections, T* out) {
  const Index packets = packets_of(size.examples);
  for (Index section = 0; section < sections; ++section)
    for (Index packet = 0; packet < packets; ++packet, out += packet_size) {
      const Index lanes = std::min(packet_size, size.examples - packet * packet_size);
      std::copy_n(maps.column_data(section * packets + packet) + at, lanes, out);
      if (lanes < packet_size) out -= packet_size - lanes;
    }
}

/// out = F F^T for the matrix F of one kind of factors, where fill(c, column) writes column c; some columns
/// at a time.
template <class T, class Fill>
void multiply_factors(Index rows, Index columns, Scratch& scratch, MatrixView<T> out, Fill&& fill) {
  if (columns == 0)  // every tap meets padding alone
    for (Index j = 0; j < out.cols; ++j) std::ranges::fill(out.column(j), T(0));
  const Index together = columns_together(rows, columns);
  const Scratch::Frame frame(scratch);
  const auto block = scratch.matrix<T>(rows, together);
  for (Index first = 0; first < columns; first += together) {
    const Index count = std::min(together, columns - first);
    const auto some = block.columns(0, count);
    parallel_for(count, [&](Index c) noexcept { fill(first + c, some.column_data(c)); });
    syrk(Op::none, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), out);
  }
}

}  // namespace

double factored_gram_flops(const ConvShape& shape, const GramSize& size) {
  const double factors = as_double(size.rows() * shape.positions()),
               inputs = as_double(size.input_rows() * shape.positions());
  if (shape.groups > 1 || factors * factors + inputs * inputs > most_pairs)
    return std::numeric_limits<double>::infinity();
  return inputs * inputs * as_double(shape.channels() * live_taps(shape)) +
         factors * factors * as_double(shape.output.channels + 2);
}

/// out_rs (+)= sum_pq (AA_(rp)(sq) + bias) EE_(rp)(sq) for s <= r.
template <class T>
void add_pairs(ConstMatrixView<T> aa, ConstMatrixView<T> ee, Index positions, T bias, bool add,
               MatrixView<double> out) {
  const Index n = out.cols, inputs = aa.cols / positions;
  parallel_blocks(n, task_grain(n * positions * positions), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index s = first; s < first + count; ++s) {
        if (!add) std::fill_n(&out(s, s), n - s, 0.0);
        for (Index p = 0; p < positions; ++p)
          for (Index q = 0; q < positions; ++q) {
            const T* e = ee.column_data(q * n + s) + p * n;
            const T* a = aa.column_data(q * inputs + s % inputs) + p * inputs;
            for (Index r = s; r < n; ++r)
              out(r, s) += static_cast<double>(a[r % inputs] + bias) * static_cast<double>(e[r]);
          }
      }
    });
  });
}

template <class T>
void factored_gram(const ConvShape& shape, const PatchFactors<T>& factors, const GramSize& size, bool add,
                   MatrixView<double> out, Scratch& scratch) {
  const Index positions = shape.positions(), n = size.rows() * positions,
              inputs = size.input_rows() * positions;
  const Scratch::Frame frame(scratch);
  const auto ee = scratch.matrix<T>(n, n), aa = scratch.matrix<T>(inputs, inputs);
  const Index e_channel = PacketMap{shape.output}.channel_numbers(),
              in_channel = PacketMap{shape.input}.channel_numbers();
  multiply_factors(n, shape.output.channels, scratch, ee, [&](Index o, T* to) noexcept {
    for (Index p = 0; p < positions; ++p)
      copy_lanes(factors.e, o * e_channel + p * packet_size, size, size.sections, to + p * size.rows());
  });
  const Index taps = live_taps(shape);
  multiply_factors(inputs, shape.channels() * taps, scratch, aa, [&](Index k, T* to) noexcept {
    const Index channel = k / taps, tap = live_tap(shape, k % taps), a = tap / shape.kernel,
                b = tap % shape.kernel;
    for (Index p = 0; p < positions; ++p, to += size.input_rows()) {
      const Index row = p / shape.output.columns * shape.stride + a - shape.pad,
                  column = p % shape.output.columns * shape.stride + b - shape.pad;
      if (row < 0 || column < 0 || row >= shape.input.rows || column >= shape.input.columns)
        std::fill_n(to, size.input_rows(), T(0));
      else
        copy_lanes(factors.in, channel * in_channel + (row * shape.input.columns + column) * packet_size,
                   size, size.input_sections, to);
    }
  });
  mirror_lower(ee);
  mirror_lower(aa);
  add_pairs<T>(aa, ee, positions, shape.has_bias() ? T(1) : T(0), add, out);
}

#define BDL_INSTANTIATE(T)                                                                     \
  template void factored_gram(const ConvShape&, const PatchFactors<T>&, const GramSize&, bool, \
                              MatrixView<double>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
