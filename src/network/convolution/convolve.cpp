// Convolutions forward, and backward to the inputs: both are sweeps over positions that add up weighted maps.
#include "base/simd.hpp"
#include "network/convolution/convolution.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of products whose weights, packed for a tile of maps, stay in the first-level cache.
constexpr Index chunk_products = 256;
/// Number of channels from which the innermost loop runs over channels, not over the taps of a row.
constexpr Index few_channels = 4;
/// Number of positions of packets that make packing weights worth it.
constexpr Index task_positions = 128;

/// The start of a run of products, among the inputs and among the packed weights. The inputs of a run are a
/// step of the sweep from each other, its weights follow each other.
struct Run {
  Index from, weights;
};

/// A convolution, or its derivative by the inputs: maps that are sums of weighted maps.
template <class T>
struct Sweep {
  const ConvShape& shape;
  bool is_back;
  Shape from_shape, to_shape;  // have the channels of one group
  const T* weights;            // tap t has weights[map map_step + channel channel_step + t]
  Index map_step, channel_step, group_step;
  const T* bias;
  ConstMatrixView<T> from;
  MatrixView<T> to;
  bool adds;

  Index from_channel() const { return PacketMap{from_shape}.channel_numbers(); }
  Index to_channel() const { return PacketMap{to_shape}.channel_numbers(); }
  /// Returns the range of the taps that meet any input, in one direction.
  Range taps(Index in, Index out) const {
    Range range{0, 0};
    for (Index tap = shape.kernel; tap-- > 0;)
      if (shape.outputs_of(tap, in, out).size() > 0) range = {tap, range.size() > 0 ? range.end : tap + 1};
    return range;
  }
  Lines lines(Index line, Index from_size, const Range& taps) const {
    return is_back ? shape.lines_back(line, from_size, taps) : shape.lines_forward(line, from_size, taps);
  }
};

/// The channels and taps whose products are added to all positions before the next ones.
struct Chunk {
  Range channels, taps;
};

/// to(f) = start(f) + sum over runs, or to(f) += that sum if `start` is null, for `maps` maps f and `vectors`
/// vectors of examples, all of which stay in registers.
template <int bytes, int vectors, int maps, class T>
BDL_ALWAYS_INLINE void tile(ConstSpan<Run> runs, Index length, Index step, const T* from, Index from_second,
                            const T* weights, const T* start, T* to, Index to_second, Index to_channel) {
  using Vector = typename VectorOf<T, bytes>::type;
  Vector sum[maps][vectors];
#pragma GCC unroll 12
  for (int f = 0; f < maps; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      if (start)
        sum[f][v] = Vector{} + start[f];
      else
        __builtin_memcpy(&sum[f][v], to + f * to_channel + v * to_second, bytes);
    }
  for (const Run& run : runs) {
    const T *x = from + run.from, *w = weights + run.weights;
    for (Index i = 0; i < length; ++i, x += step, w += maps) {
      Vector value[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) __builtin_memcpy(&value[v], x + v * from_second, bytes);
#pragma GCC unroll 12
      for (int f = 0; f < maps; ++f)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sum[f][v] += value[v] * w[f];
    }
  }
#pragma GCC unroll 12
  for (int f = 0; f < maps; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      __builtin_memcpy(to + f * to_channel + v * to_second, &sum[f][v], bytes);
}

/// A task: the maps of one tile for some packets.
template <class T>
struct Task {
  Index group, first_map;  // first_map counts within the group
  Range packets;
};

template <class T, int bytes, int maps>
class TileSweep {
 public:
  BDL_ALWAYS_INLINE TileSweep(const Sweep<T>& sweep, const Task<T>& task)
      : s_(sweep),
        task_(task),
        rows_(sweep.taps(sweep.shape.input.rows, sweep.shape.output.rows)),
        columns_(sweep.taps(sweep.shape.input.columns, sweep.shape.output.columns)) {}

  BDL_ALWAYS_INLINE void run() {
    const Index all_taps = rows_.size() * columns_.size(), channels = s_.from_shape.channels;
    by_taps_ = !s_.is_back && channels < few_channels && columns_.size() > 1 &&
               all_taps * channels <= 2 * chunk_products;
    const Index taps = by_taps_ ? all_taps : std::min(all_taps, chunk_products);
    const Index together =
        by_taps_ ? channels : std::max<Index>(1, chunk_products / std::max<Index>(1, taps));
    bool is_first = true;
    for (Index tap = 0; tap < std::max<Index>(1, all_taps); tap += std::max<Index>(1, taps))
      for (Index channel = 0; channel < channels; channel += together) {
        chunk_ = {{channel, std::min(channels, channel + together)}, {tap, std::min(all_taps, tap + taps)}};
        pack();
        starts_ = is_first && !s_.adds;
        sweep_packets();
        is_first = false;
      }
  }

 private:
  BDL_ALWAYS_INLINE void pack() {
    const Index kernel = s_.shape.kernel, channels = chunk_.channels.size(), taps = chunk_.taps.size();
    const T* from = s_.weights + task_.group * s_.group_step + task_.first_map * s_.map_step +
                    chunk_.channels.first * s_.channel_step;
    for (Index t = 0; t < taps; ++t) {
      const Index tap = chunk_.taps.first + t, row = rows_.first + tap / columns_.size(),
                  column = columns_.first + tap % columns_.size();
      const T* of_tap = from + row * kernel + column;
      for (Index c = 0; c < channels; ++c) {
        T* to = packed_ + (by_taps_ ? c * taps + t : t * channels + c) * maps;
#pragma GCC unroll 12
        for (int f = 0; f < maps; ++f) to[f] = of_tap[f * s_.map_step + c * s_.channel_step];
      }
    }
    for (int f = 0; f < maps; ++f)
      start_[f] = s_.bias ? s_.bias[task_.group * s_.to_shape.channels + task_.first_map + f] : T(0);
  }

  /// Goes through pairs of vectors: two packets, or pieces of one packet if vectors are narrower.
  BDL_ALWAYS_INLINE void sweep_packets() {
    constexpr Index lanes = bytes / static_cast<Index>(sizeof(T)), per_packet = packet_size / lanes;
    const Index end = task_.packets.end * per_packet;
    const auto offset = [](Index vector, Index packet) BDL_INLINE_LAMBDA {
      return vector / per_packet * packet + vector % per_packet * lanes;
    };
    for (Index v = task_.packets.first * per_packet; v < end; v += 2) {
      const T* from = s_.from.data + task_.group * s_.from_shape.channels * s_.from_channel() +
                      chunk_.channels.first * s_.from_channel() + offset(v, s_.from.ld);
      T* to = s_.to.data + (task_.group * s_.to_shape.channels + task_.first_map) * s_.to_channel() +
              offset(v, s_.to.ld);
      const Index from_second = offset(v + 1, s_.from.ld) - offset(v, s_.from.ld),
                  to_second = offset(v + 1, s_.to.ld) - offset(v, s_.to.ld);
      if (v + 1 < end)
        sweep_positions<2>(from, from_second, to, to_second);
      else
        sweep_positions<1>(from, 0, to, 0);
    }
  }

  template <int vectors>
  BDL_ALWAYS_INLINE void sweep_positions(const T* from, Index from_second, T* to, Index to_second) {
    const Index from_channel = s_.from_channel(), to_channel = s_.to_channel();
    for (Index y = 0; y < s_.to_shape.rows; ++y) {
      const Lines rows = s_.lines(y, s_.from_shape.rows, rows_);
      for (Index x = 0; x < s_.to_shape.columns; ++x) {
        const Lines columns = s_.lines(x, s_.from_shape.columns, columns_);
        const Index length = by_taps_ ? columns.count : chunk_.channels.size();
        const ConstSpan<Run> runs(runs_, static_cast<std::size_t>(find_runs(rows, columns)));
        tile<bytes, vectors, maps>(runs, length, by_taps_ ? packet_size : from_channel, from, from_second,
                                   packed_, starts_ ? start_ : nullptr,
                                   to + (y * s_.to_shape.columns + x) * packet_size, to_second, to_channel);
      }
    }
  }

  BDL_ALWAYS_INLINE Index find_runs(const Lines& rows, const Lines& columns) {
    Index count = 0;
    const Index taps = chunk_.taps.size(), channels = chunk_.channels.size();
    if (by_taps_) {
      if (columns.count <= 0) return 0;
      for (Index c = 0; c < channels; ++c)
        for (Index r = 0; r < rows.count; ++r) {
          const Index tap = (rows.tap + r - rows_.first) * columns_.size() + columns.tap - columns_.first;
          runs_[count++] = {c * s_.from_channel() + position(rows.from + r, columns.from),
                            (c * taps + tap) * maps};
        }
      return count;
    }
    for (Index r = 0; r < rows.count; ++r)
      for (Index c = 0; c < columns.count; ++c) {
        const Index tap = (rows.tap + r * rows.tap_step - rows_.first) * columns_.size() + columns.tap +
                          c * columns.tap_step - columns_.first - chunk_.taps.first;
        if (tap >= 0 && tap < taps)
          runs_[count++] = {position(rows.from + r, columns.from + c), tap * channels * maps};
      }
    return count;
  }
  BDL_ALWAYS_INLINE Index position(Index row, Index column) const {
    return (row * s_.from_shape.columns + column) * packet_size;
  }

  const Sweep<T>& s_;
  const Task<T>& task_;
  Range rows_, columns_;
  Chunk chunk_{};
  bool by_taps_ = false, starts_ = false;
  Run runs_[2 * chunk_products];
  T start_[maps];
  T packed_[2 * chunk_products * maps];
};

template <class T, int bytes>
BDL_ALWAYS_INLINE void run_task(const Sweep<T>& sweep, const Task<T>& task, Index maps) {
  if constexpr (bytes == 64)
    if (maps == 12) return TileSweep<T, bytes, 12>(sweep, task).run();
  switch (maps) {
    case 6:
      return TileSweep<T, bytes, 6>(sweep, task).run();
    case 4:
      return TileSweep<T, bytes, 4>(sweep, task).run();
    case 2:
      return TileSweep<T, bytes, 2>(sweep, task).run();
    default:
      return TileSweep<T, bytes, 1>(sweep, task).run();
  }
}

/// Returns the number of maps of the next tile if so many are left.
int tile_maps(Index left) {
  if (left >= 12 && widest_simd() == Simd::avx512) return 12;
  return left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

template <class T>
void run(const Sweep<T>& sweep) {
  Index tiles = 0;
  for (Index map = 0; map < sweep.to_shape.channels; map += tile_maps(sweep.to_shape.channels - map)) ++tiles;
  const Index positions = std::max<Index>(1, sweep.to_shape.rows * sweep.to_shape.columns);
  const Index together = (task_positions / positions + 2) / 2 * 2;  // packets
  const Index ranges = (sweep.to.cols + together - 1) / together;
  parallel_for(sweep.shape.groups * tiles * ranges, [&](Index i) noexcept {
    Index map = 0;
    for (Index t = 0; t < i / ranges % tiles; ++t) map += tile_maps(sweep.to_shape.channels - map);
    const Index first = i % ranges * together;
    const Task<T> task{i / ranges / tiles, map, {first, std::min(sweep.to.cols, first + together)}};
    const int maps = tile_maps(sweep.to_shape.channels - map);
    with_simd([&](auto width) BDL_INLINE_LAMBDA { run_task<T, width()>(sweep, task, maps); });
  });
}

}  // namespace

template <class T>
void convolve(const ConvShape& shape, const T* weights, const T* bias, ConstMatrixView<T> in,
              MatrixView<T> out) {
  run(Sweep<T>{shape, false, of_group(shape.input, shape.groups), of_group(shape.output, shape.groups),
               weights, shape.fan_in(), shape.taps(), shape.filters() * shape.fan_in(), bias, in, out,
               false});
  clear_gaps(PacketMap{shape.output}, out);
}

template <class T>
void convolve_back(const ConvShape& shape, const T* weights, ConstMatrixView<T> e, bool add,
                   MatrixView<T> to) {
  run(Sweep<T>{shape, true, of_group(shape.output, shape.groups), of_group(shape.input, shape.groups),
               weights, shape.taps(), shape.fan_in(), shape.filters() * shape.fan_in(), nullptr, e, to, add});
  if (!add) clear_gaps(PacketMap{shape.input}, to);
}

template void convolve(const ConvShape&, const float*, const float*, ConstMatrixView<float>,
                       MatrixView<float>);
template void convolve(const ConvShape&, const double*, const double*, ConstMatrixView<double>,
                       MatrixView<double>);
template void convolve_back(const ConvShape&, const float*, ConstMatrixView<float>, bool, MatrixView<float>);
template void convolve_back(const ConvShape&, const double*, ConstMatrixView<double>, bool,
                            MatrixView<double>);

}  // namespace bdl
