#include "network/convolution/factor_sums.hpp"

#include <limits>
#include <numeric>

#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Most positions that a tap may meet.
constexpr Index few_positions = 4;
/// Number of filters whose products stay in the second-level cache until they are written.
constexpr Index filters_together = 64;
/// Number of channels and of filters from which matrix products are faster than tiles.
constexpr Index least_channels = 16;

/// Returns the number of a pair, which is added at the end if it is new.
Index number_of(FactorPlan::Pair pair, std::vector<FactorPlan::Pair>& pairs) {
  const auto found = std::ranges::find(pairs, pair);
  const auto number = static_cast<Index>(found - pairs.begin());
  if (found == pairs.end()) pairs.push_back(pair);
  return number;
}

}  // namespace

/// Taps that meet the most positions come first, so that others reuse their pairs.
FactorPlan::FactorPlan(const ConvShape& shape, bool of_squares) {
  std::vector<Index> taps(at(shape.taps()));
  std::iota(taps.begin(), taps.end(), Index{0});
  std::ranges::stable_sort(taps,
                           [&](Index a, Index b) { return shape.positions_of(a) > shape.positions_of(b); });
  for (const Index tap : taps) add_tap(shape, tap, of_squares);
}

void FactorPlan::add_tap(const ConvShape& shape, Index tap, bool of_squares) {
  const Index a = tap / shape.kernel, b = tap % shape.kernel;
  const Range rows = shape.output_rows(a), columns = shape.output_columns(b);
  std::vector<Pair> met;  // output and input
  for (Index y = rows.first; y < rows.end; ++y)
    for (Index x = columns.first; x < columns.end; ++x)
      met.push_back({y * shape.output.columns + x, shape.input_of(y, x, a, b)});
  for (std::size_t j = 0; j < met.size(); ++j)
    for (std::size_t i = of_squares ? 0 : j; i <= j; ++i) {
      const Index e = number_of({met[i].p, met[j].p}, e_), in = number_of({met[i].q, met[j].q}, in_);
      const bool goes_on = !runs_.empty() && runs_.back().tap == tap &&
                           runs_.back().e + runs_.back().count == e &&
                           runs_.back().in + runs_.back().count == in;
      if (goes_on)
        ++runs_.back().count;
      else
        runs_.push_back({tap, in, e, 1});
    }
}

bool suits_factors(const ConvShape& shape) {
  if (shape.groups > 1 || shape.channels() < least_channels || shape.filters() < least_channels) return false;
  for (Index tap = 0; tap < shape.taps(); ++tap)
    if (shape.positions_of(tap) > few_positions) return false;
  return true;
}

template <class T>
FactorSums<T>::FactorSums(const ConvShape& shape)
    : shape_(shape), sums_(shape, false), squares_(shape, true), live_number_(at(shape.taps()), -1) {
  for (Index tap = 0; tap < shape.taps(); ++tap)
    if (shape.positions_of(tap) > 0) live_number_[at(tap)] = live_taps_++;
}

/// out = channels x (pairs, packets, lanes): the packets transposed.
template <class T>
void FactorSums<T>::pack_inputs(const PatchFactors<T>& factors, const FactorPlan& plan,
                                MatrixView<T> out) const {
  const Index packets = factors.e.cols, channel = PacketMap{shape_.input}.channel_numbers();
  const bool of_squares = &plan == &squares_;
  parallel_for(std::ssize(plan.in()) * packets, [&](Index task) noexcept {
    const auto [p, q] = plan.in()[at(task / packets)];
    const T* const from = factors.in.column_data(task % packets % factors.in.cols);
    for (Index lane = 0; lane < packet_size; ++lane) {
      const T *a = from + p * packet_size + lane, *b = from + q * packet_size + lane;
      T* const to = out.column_data(task * packet_size + lane);
      if (of_squares)
        for (Index c = 0; c < out.rows; ++c) to[c] = a[c * channel] * b[c * channel];
      else
        for (Index c = 0; c < out.rows; ++c) to[c] = a[c * channel];
    }
  });
}

/// out = (pairs, packets, lanes) x filters. A pair of two positions stands for both orders of them.
template <class T>
void FactorSums<T>::pack_sensitivities(const PatchFactors<T>& factors, const FactorPlan& plan,
                                       const T* weights, MatrixView<T> out) const {
  const Index packets = factors.e.cols, channel = PacketMap{shape_.output}.channel_numbers();
  const bool of_squares = &plan == &squares_;
  parallel_for(out.cols, [&](Index o) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      T* to = out.column_data(o);
      for (const auto& [p, q] : plan.e())
        for (Index packet = 0; packet < packets; ++packet, to += packet_size) {
          const T* const from = factors.e.column_data(packet) + o * channel;
          const T *a = from + p * packet_size, *b = from + q * packet_size,
                  *w = weights + packet * packet_size;
          const T times = p == q ? T(1) : T(2);
          if (of_squares)
            for (Index lane = 0; lane < packet_size; ++lane) to[lane] = times * w[lane] * a[lane] * b[lane];
          else
            for (Index lane = 0; lane < packet_size; ++lane) to[lane] = w[lane] * a[lane];
        }
    });
  });
}

/// Interleaves the products of all taps; a tap that meets no input has 0. Where terms of a sum of squares
/// cancel, rounding may leave less than 0, hence the least value.
template <class T>
void FactorSums<T>::write(ConstMatrixView<T> products, T least, Index filter, Index filters, T* out) const {
  const Index taps = shape_.taps(), channels = shape_.channels();
  parallel_blocks(filters, task_grain(shape_.fan_in()), [&](Index first, Index count) noexcept {
    for (Index f = first; f < first + count; ++f) {
      T* const to = out + (filter + f) * shape_.fan_in();
      for (Index tap = 0; tap < taps; ++tap) {
        const Index number = live_number_[at(tap)];
        const T* const from = products.column_data(std::max<Index>(0, number) * filters_together + f);
        for (Index c = 0; c < channels; ++c)  // NaN stays what it is
          to[c * taps + tap] = number < 0 ? T(0) : from[c] < least ? least : from[c];
      }
    }
  });
}

template <class T>
void FactorSums<T>::add_up(const PatchFactors<T>& factors, const FactorPlan& plan, const PatchSums<T>& to,
                           Scratch& scratch) const {
  const Index lanes = factors.e.cols * packet_size, channels = shape_.channels(), filters = shape_.filters();
  const Scratch::Frame frame(scratch);
  const auto in = scratch.matrix<T>(channels, lanes * std::ssize(plan.in())),
             e = scratch.matrix<T>(lanes * std::ssize(plan.e()), filters),
             products = scratch.matrix<T>(channels, filters_together * live_taps_);
  const bool are_positive =
      &plan == &squares_ && std::all_of(to.weights, to.weights + lanes, [](T w) { return w >= 0; });
  const T least = are_positive ? T(0) : -std::numeric_limits<T>::infinity();
  pack_inputs(factors, plan, in);
  pack_sensitivities(factors, plan, to.weights, e);
  for (Index first = 0; first < filters; first += filters_together) {
    const Index count = std::min(filters_together, filters - first);
    Index before = -1;
    for (const auto& run : plan.runs()) {
      gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(in).columns(run.in * lanes, run.count * lanes),
           ConstMatrixView<T>(e).block(run.e * lanes, first, run.count * lanes, count),
           T(run.tap == before ? 1 : 0),
           products.columns(live_number_[at(run.tap)] * filters_together, count));
      before = run.tap;
    }
    write(products, least, first, count, to.out);
  }
}

template class FactorSums<float>;
template class FactorSums<double>;

}  // namespace bdl
