// Convolutions in which every example has other weights, which variational inference draws. The weights
// are never all there: those of a few filters and one packet are formed, used for all positions, and
// forgotten.
#include "base/simd.hpp"
#include "network/convolution/convolution.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of products of an output whose weights are formed at a time: those of four outputs stay in the
/// first-level cache.
template <class T>
constexpr Index chunk_products = 320 / static_cast<Index>(sizeof(T));

/// A convolution, or its derivative by the inputs: maps that are sums of weighted maps.
template <class T>
struct Sweep {
  const ConvShape& shape;
  bool is_back;
  Shape from_shape, to_shape;  // have the channels of one group
  const ExampleNumbers<T>& weights;
  Index map_step, channel_step, group_step;  // numbers of parameters
  ConstMatrixView<T> from;
  MatrixView<T> to;
  bool adds;

  Index from_channel() const { return PacketMap{from_shape}.channel_numbers(); }
  Index to_channel() const { return PacketMap{to_shape}.channel_numbers(); }
  Lines lines(Index line, Index from_size) const {
    const Range taps{0, shape.kernel};
    return is_back ? shape.lines_back(line, from_size, taps) : shape.lines_forward(line, from_size, taps);
  }
  bool has_bias() const { return !is_back && shape.has_bias(); }
};

/// Lines of the result that come from as many lines by the same taps: `size` of them, from line `first` on, a
/// `step` apart. The lines that they come from are a `from_step` apart.
struct LineClass {
  Lines lines;
  Index first, size, step, from_step;
};

/// Some products of an output: some channels by all taps, or some taps of one channel.
struct Chunk {
  Range channels, taps;
  Index products() const { return channels.size() * taps.size(); }
};

/// The start of a run of products, among the inputs and among the formed weights.
struct Run {
  Index from, weights;
};
/// Runs of `length` products, whose inputs and weights are a step from each other.
struct Runs {
  ConstSpan<Run> all;
  Index length, from_step, weight_step;
};

/// The inputs and outputs of the positions of a tile, for one vector of examples.
template <class T, int positions>
struct Places {
  const T* from[positions];
  T* to[positions];
};

/// to(f, p) = start(f) + sum over runs, or to(f, p) += that sum if `start` is null, for maps f and positions
/// p, all of which stay in registers.
template <int bytes, int maps, int positions, class T>
BDL_ALWAYS_INLINE void tile(const Runs& runs, const T* weights, Index map_stride, const T* start,
                            Index to_channel, const Places<T, positions>& places) {
  using Vector = typename VectorOf<T, bytes>::type;
  Vector sum[maps][positions];
#pragma GCC unroll 4
  for (int f = 0; f < maps; ++f)
#pragma GCC unroll 6
    for (int p = 0; p < positions; ++p)
      __builtin_memcpy(&sum[f][p], start ? start + f * packet_size : places.to[p] + f * to_channel, bytes);
  for (const Run& run : runs.all) {
    const T* w = weights + run.weights;
    Index from = run.from;
    for (Index i = 0; i < runs.length; ++i, from += runs.from_step, w += runs.weight_step) {
      Vector value[positions];
#pragma GCC unroll 6
      for (int p = 0; p < positions; ++p) __builtin_memcpy(&value[p], places.from[p] + from, bytes);
#pragma GCC unroll 4
      for (int f = 0; f < maps; ++f) {
        Vector weight;
        __builtin_memcpy(&weight, w + f * map_stride, bytes);
#pragma GCC unroll 6
        for (int p = 0; p < positions; ++p) sum[f][p] += weight * value[p];
      }
    }
  }
#pragma GCC unroll 4
  for (int f = 0; f < maps; ++f)
#pragma GCC unroll 6
    for (int p = 0; p < positions; ++p) __builtin_memcpy(places.to[p] + f * to_channel, &sum[f][p], bytes);
}

/// A task: some maps of a group for one packet.
struct Task {
  Index packet, group, first_map;
};

template <class T, int bytes, int maps>
class MapSweep {
 public:
  BDL_ALWAYS_INLINE MapSweep(const Sweep<T>& sweep, const Task& task)
      : s_(sweep),
        task_(task),
        from_(sweep.from.column_data(task.packet % sweep.from.cols) +
              task.group * sweep.from_shape.channels * sweep.from_channel()),
        to_(sweep.to.column_data(task.packet) +
            (task.group * sweep.to_shape.channels + task.first_map) * sweep.to_channel()) {}

  BDL_ALWAYS_INLINE void run() {
    const Index all_taps = s_.shape.taps(), channels = s_.from_shape.channels;
    const Index taps = std::min(all_taps, chunk_products<T>), together = chunk_products<T> / taps;
    form_start();
    starts_ = !s_.adds;
    for (Index channel = 0; channel < channels; channel += together)
      for (Index tap = 0; tap < all_taps; tap += taps) {
        chunk_ = {{channel, std::min(channels, channel + together)}, {tap, std::min(all_taps, tap + taps)}};
        by_taps_ = taps == all_taps && chunk_.channels.size() < s_.shape.kernel;
        form_weights();
        sweep_rows();
        starts_ = false;
      }
  }

 private:
  BDL_ALWAYS_INLINE void form_start() {
    if (s_.has_bias())
      s_.weights.form(task_.packet, s_.shape.weights() + task_.group * s_.to_shape.channels + task_.first_map,
                      maps, start_);
    else
      std::fill_n(start_, maps * packet_size, T(0));
  }

  /// The weights of a map follow each other in theta or, backward, those of a channel.
  BDL_ALWAYS_INLINE void form_weights() {
    const Index first = task_.group * s_.group_step + task_.first_map * s_.map_step +
                        chunk_.channels.first * s_.channel_step + chunk_.taps.first,
                taps = chunk_.taps.size();
    if (s_.is_back && taps == s_.shape.taps()) {
      map_stride_ = taps * packet_size;
      channel_stride_ = maps * map_stride_;
      for (Index c = 0; c < chunk_.channels.size(); ++c)
        s_.weights.form(task_.packet, first + c * s_.channel_step, maps * taps,
                        weights_ + c * channel_stride_);
    } else {
      map_stride_ = chunk_.products() * packet_size;
      channel_stride_ = taps * packet_size;
      for (Index f = 0; f < maps; ++f)
        s_.weights.form(task_.packet, first + f * s_.map_step, chunk_.products(), weights_ + f * map_stride_);
    }
  }

  /// Calls visit(class) for the classes of all lines. Forward, the lines of a class follow each other;
  /// backward, they are a stride of the convolution apart.
  template <class Visit>
  BDL_ALWAYS_INLINE void for_each_class(Index lines, Index from_size, Visit&& visit) const {
    const Index step = s_.is_back ? s_.shape.stride : 1, from_step = s_.is_back ? 1 : s_.shape.stride;
    for (Index phase = 0; phase < std::min(step, lines); ++phase)
      for (Index line = phase; line < lines;) {
        LineClass of{s_.lines(line, from_size), line, 0, step, from_step};
        for (; line < lines && is_of(of, s_.lines(line, from_size)); line += step) ++of.size;
        visit(of);
      }
  }
  static BDL_ALWAYS_INLINE bool is_of(const LineClass& of, const Lines& lines) {
    return lines.count == of.lines.count && lines.tap == of.lines.tap;
  }

  BDL_ALWAYS_INLINE void sweep_rows() {
    for_each_class(s_.to_shape.rows, s_.from_shape.rows, [&](const LineClass& rows) BDL_INLINE_LAMBDA {
      for_each_class(s_.to_shape.columns, s_.from_shape.columns,
                     [&](const LineClass& columns)
                         BDL_INLINE_LAMBDA { sweep_class(rows, columns, find_runs(rows, columns)); });
    });
  }

  BDL_ALWAYS_INLINE Runs find_runs(const LineClass& rows, const LineClass& columns) {
    const Lines &r = rows.lines, &c = columns.lines;
    Index count = 0;
    const auto add = [&](Index row, Index column, Index channel) BDL_INLINE_LAMBDA {
      const Index tap = (r.tap + row * r.tap_step) * s_.shape.kernel + c.tap + column * c.tap_step;
      if (tap >= chunk_.taps.first && tap < chunk_.taps.end)
        runs_[count++] = {channel * s_.from_channel() + (row * s_.from_shape.columns + column) * packet_size,
                          channel * channel_stride_ + (tap - chunk_.taps.first) * packet_size};
    };
    if (by_taps_)
      for (Index channel = 0; channel < chunk_.channels.size() && c.count > 0; ++channel)
        for (Index row = 0; row < r.count; ++row) add(row, 0, channel);
    else
      for (Index row = 0; row < r.count; ++row)
        for (Index column = 0; column < c.count; ++column) add(row, column, 0);
    const ConstSpan<Run> all(runs_, static_cast<std::size_t>(count));
    if (by_taps_) return {all, c.count, packet_size, c.tap_step * packet_size};
    return {all, chunk_.channels.size(), s_.from_channel(), channel_stride_};
  }

  /// Goes through all positions of these rows and columns, as many at a time as registers hold.
  BDL_ALWAYS_INLINE void sweep_class(const LineClass& rows, const LineClass& columns, const Runs& runs) {
    Index row = 0, column = 0, left = rows.size * columns.size;
    const auto next = [&](auto count) BDL_INLINE_LAMBDA {
      for (; left >= count(); left -= count()) {
        Places<T, count()> places;
        for (int p = 0; p < count(); ++p) {
          place(rows, columns, row, column, places.from[p], places.to[p]);
          if (++column == columns.size) column = 0, ++row;
        }
        sweep_lanes(runs, places);
      }
    };
    if constexpr (bytes == 64) {
      next(std::integral_constant<int, 6>{});
      next(std::integral_constant<int, 4>{});
    } else {
      next(std::integral_constant<int, 3>{});
    }
    next(std::integral_constant<int, 2>{});
    next(std::integral_constant<int, 1>{});
  }
  BDL_ALWAYS_INLINE void place(const LineClass& rows, const LineClass& columns, Index row, Index column,
                               const T*& from, T*& to) const {
    const Index from_row = rows.lines.from + row * rows.from_step,
                from_column = columns.lines.from + column * columns.from_step,
                to_row = rows.first + row * rows.step, to_column = columns.first + column * columns.step;
    from = from_ + chunk_.channels.first * s_.from_channel() +
           (from_row * s_.from_shape.columns + from_column) * packet_size;
    to = to_ + (to_row * s_.to_shape.columns + to_column) * packet_size;
  }

  template <int positions>
  BDL_ALWAYS_INLINE void sweep_lanes(const Runs& runs, Places<T, positions>& places) const {
    constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      tile<bytes, maps, positions>(runs, weights_ + lane, map_stride_, starts_ ? start_ + lane : nullptr,
                                   s_.to_channel(), places);
      for (int p = 0; p < positions; ++p) places.from[p] += lanes, places.to[p] += lanes;
    }
  }

  const Sweep<T>& s_;
  const Task& task_;
  const T* from_;
  T* to_;
  Chunk chunk_{};
  bool by_taps_ = false, starts_ = false;
  Index map_stride_ = 0, channel_stride_ = 0;
  Run runs_[chunk_products<T>];
  alignas(64) T start_[maps * packet_size];
  alignas(64) T weights_[maps * chunk_products<T> * packet_size];
};

/// Returns the number of maps of the next tile if so many are left.
int tile_maps(Index left) {
  return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

template <class T, int bytes>
BDL_ALWAYS_INLINE void run_task(const Sweep<T>& sweep, const Task& task) {
  switch (tile_maps(sweep.to_shape.channels - task.first_map)) {
    case 4:
      return MapSweep<T, bytes, 4>(sweep, task).run();
    case 2:
      return MapSweep<T, bytes, 2>(sweep, task).run();
    default:
      return MapSweep<T, bytes, 1>(sweep, task).run();
  }
}

/// The tasks of a packet follow each other, so that its maps stay in the cache.
template <class T>
void run(const Sweep<T>& sweep) {
  const Index maps = sweep.to_shape.channels, whole = maps / 4, tiles = whole + (maps % 4 + 1) / 2;
  parallel_for(sweep.to.cols * sweep.shape.groups * tiles, [&](Index i) noexcept {
    const Index tile = i % tiles, first = tile <= whole ? 4 * tile : 4 * whole + 2;
    const Task task{i / tiles / sweep.shape.groups, i / tiles % sweep.shape.groups, first};
    with_simd([&](auto width) BDL_INLINE_LAMBDA { run_task<T, width()>(sweep, task); });
  });
}

}  // namespace

template <class T>
void convolve_by_example(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> in,
                         MatrixView<T> out) {
  run(Sweep<T>{shape, false, of_group(shape.input, shape.groups), of_group(shape.output, shape.groups),
               weights, shape.fan_in(), shape.taps(), shape.filters() * shape.fan_in(), in, out, false});
  clear_gaps(PacketMap{shape.output}, out);
}

template <class T>
void convolve_back_by_example(const ConvShape& shape, const ExampleNumbers<T>& weights, ConstMatrixView<T> e,
                              bool add, MatrixView<T> to) {
  run(Sweep<T>{shape, true, of_group(shape.output, shape.groups), of_group(shape.input, shape.groups),
               weights, shape.taps(), shape.fan_in(), shape.filters() * shape.fan_in(), e, to, add});
  if (!add) clear_gaps(PacketMap{shape.input}, to);
}

template void convolve_by_example(const ConvShape&, const ExampleNumbers<float>&, ConstMatrixView<float>,
                                  MatrixView<float>);
template void convolve_by_example(const ConvShape&, const ExampleNumbers<double>&, ConstMatrixView<double>,
                                  MatrixView<double>);
template void convolve_back_by_example(const ConvShape&, const ExampleNumbers<float>&, ConstMatrixView<float>,
                                       bool, MatrixView<float>);
template void convolve_back_by_example(const ConvShape&, const ExampleNumbers<double>&,
                                       ConstMatrixView<double>, bool, MatrixView<double>);

}  // namespace bdl
