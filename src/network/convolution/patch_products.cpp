// Products that read single examples' gradients off tiles in registers: sums, sums of squares, weighted
// squares, and blocks of gradients that are written out.
#include "network/convolution/patch_tile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of taps whose sums a task holds at a time.
constexpr Index most_taps = 10;
/// Numbers of positions below which sums, and squares, stay in registers from packet to packet.
constexpr Index few_positions = 24, very_few_positions = 8;

/// These add numbers at a distance, those of a before those of b: 16 vectors become one vector of their sums.
template <class Vector>
BDL_ALWAYS_INLINE void fold_half(const Vector& a, const Vector& b, Vector& out) {
  out = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
template <class Vector>
BDL_ALWAYS_INLINE void fold_quarter(const Vector& a, const Vector& b, Vector& out) {
  out = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
        __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
template <class Vector>
BDL_ALWAYS_INLINE void fold_eighth(const Vector& a, const Vector& b, Vector& out) {
  out = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
        __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
}
template <class Vector>
BDL_ALWAYS_INLINE void fold_pairs(const Vector& a, const Vector& b, Vector& out) {
  out = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

/// out_j = sum over the lanes of row j, for 16 rows.
template <class T>
BDL_ALWAYS_INLINE void sum_lanes(const T (*rows)[packet_size], T* out) {
  Packet<T> v[packet_size], half[8], quarter[4], eighth[2], sums;
  __builtin_memcpy(v, rows, sizeof v);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) fold_half(v[2 * j], v[2 * j + 1], half[j]);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) fold_quarter(half[2 * j], half[2 * j + 1], quarter[j]);
  fold_eighth(quarter[0], quarter[1], eighth[0]);
  fold_eighth(quarter[2], quarter[3], eighth[1]);
  fold_pairs(eighth[0], eighth[1], sums);
  __builtin_memcpy(out, &sums, sizeof sums);
}

/// The sums of one tile over all rows.
template <class T, int bytes, int filters, int inputs>
class TileSums {
 public:
  BDL_ALWAYS_INLINE TileSums(const PatchTiles<T>& products, const PatchSums<T>& sums,
                             const PatchSums<T>& squares, Index group, Index filter, Index input)
      : p_(products),
        sums_(sums),
        squares_(squares),
        tile_(products, group, filter, input),
        filter_(group * products.shape.filters() + filter),
        input_(input) {}

  /// Adds up and writes the sums by `count` taps from `tap` on.
  BDL_ALWAYS_INLINE void run(Index tap, const PatchWindow* windows, Index count) {
    windows_ = windows;
    for (Index t = 0; t < count; ++t)
      if (is_by_packets(windows_[t])) clear(t);
    add_packets(count);
    for (Index t = 0; t < count; ++t) {
      if (!is_by_packets(windows_[t])) add_all(t);
      if (sums_.out) reduce(sum_[t], t, sum_values_);
      if (squares_.out) reduce(square_[t], t, square_values_);
    }
    if (sums_.out) write(sum_values_, tap, count, sums_.out);
    if (squares_.out) write(square_values_, tap, count, squares_.out);
  }

 private:
  using TileOf = PatchTile<T, bytes, filters, inputs>;
  static constexpr int size = filters * inputs, padded = (size + 15) / 16 * 16;

  BDL_ALWAYS_INLINE bool is_by_packets(const PatchWindow& window) const {
    return window.positions() >= (squares_.out ? very_few_positions : few_positions);
  }
  BDL_ALWAYS_INLINE void clear(Index t) {
    __builtin_memset(sum_[t], 0, sizeof sum_[t]);
    if (squares_.out) __builtin_memset(square_[t], 0, sizeof square_[t]);
  }

  /// Taps with many positions go packet by packet, all of them while it is in the cache.
  BDL_ALWAYS_INLINE void add_packets(Index count) {
    for (Index packet = 0; packet < p_.factors.e.cols; ++packet)
      for (Index t = 0; t < count; ++t)
        if (is_by_packets(windows_[t])) add_packet(packet, t);
  }

  BDL_ALWAYS_INLINE void add_packet(Index packet, Index t) {
    using Vector = typename TileOf::Vector;
    const T *c = sums_.weights + packet * packet_size, *w = squares_.weights + packet * packet_size;
    tile_.gradients(windows_[t], packet, [&](int j, Index lane, const Vector& g) BDL_INLINE_LAMBDA {
      if (sums_.out) add(c + lane, g, sum_[t][j] + lane);
      if (squares_.out) add(w + lane, g * g, square_[t][j] + lane);
    });
  }
  template <class Vector>
  static BDL_ALWAYS_INLINE void add(const T* weights, const Vector& values, T* to) {
    Vector weight, sum;
    __builtin_memcpy(&weight, weights, sizeof weight);
    __builtin_memcpy(&sum, to, sizeof sum);
    sum += weight * values;
    __builtin_memcpy(to, &sum, sizeof sum);
  }

  BDL_ALWAYS_INLINE void add_all(Index t) {
    const PatchWindow& window = windows_[t];
    if (window.positions() == 0) return;
    if (sums_.out) tile_.template sum<PatchSum::weighted>(window, sums_.weights, sum_[t]);
    if (squares_.out && window.positions() == 1)
      tile_.template sum<PatchSum::weighted_squares>(window, squares_.weights, square_[t]);
    else if (squares_.out)
      tile_.sum_squares(window, squares_.weights, square_[t]);
  }

  /// Sums over the lanes, into the column of tap t.
  BDL_ALWAYS_INLINE void reduce(const T (*rows)[packet_size], Index t, T (*out)[most_taps]) const {
    T values[padded] = {};
    if (windows_[t].positions() > 0)
      for (int j = 0; j < padded; j += 16) sum_lanes(rows + j, values + j);
#pragma GCC unroll 24
    for (int j = 0; j < size; ++j) out[j][t] = values[j];
  }
  BDL_ALWAYS_INLINE void write(const T (*values)[most_taps], Index tap, Index count, T* out) const {
    for (int f = 0; f < filters; ++f)
      for (int i = 0; i < inputs; ++i) {
        T* to = out + (filter_ + f) * p_.shape.fan_in() + p_.parameter(input_ + i, tap);
        for (Index t = 0; t < count; ++t) to[t] = values[f * inputs + i][t];
      }
  }

  const PatchTiles<T>& p_;
  const PatchSums<T>&sums_, &squares_;
  TileOf tile_;
  Index filter_, input_;
  const PatchWindow* windows_ = nullptr;
  alignas(64) T sum_[most_taps][padded][packet_size];
  alignas(64) T square_[most_taps][padded][packet_size];
  T sum_values_[size][most_taps], square_values_[size][most_taps];
};

/// A task: one tile of filters by some tiles of inputs.
struct Task {
  Index group, filter, filters;
  Range input_tiles;
};

template <int bytes, class T>
BDL_ALWAYS_INLINE void run_task(const PatchTiles<T>& products, const PatchTiling& tiling, const Task& task,
                                const PatchSums<T>& sums, const PatchSums<T>& squares) {
  const Index inputs = products.inputs_of(products.shape.channels());
  for (Index tap = 0; tap < products.taps(); tap += most_taps) {
    const Index count = std::min(products.taps() - tap, most_taps);
    PatchWindow windows[most_taps];
    for (Index t = 0; t < count; ++t) windows[t] = products.window(tap + t);
    Index input = tiling.first_input(task.input_tiles.first, inputs);
    for (Index tile = task.input_tiles.first; tile < task.input_tiles.end; ++tile) {
      const int next = tiling.next_inputs(inputs - input);
      with_tile<bytes>(static_cast<int>(task.filters), next, [&](auto f, auto i) BDL_INLINE_LAMBDA {
        TileSums<T, bytes, f(), i()>(products, sums, squares, task.group, task.filter, input)
            .run(tap, windows, count);
      });
      input += next;
    }
  }
}

/// Number of tiles of inputs whose products are worth a task.
template <class T>
Index tiles_together(const PatchTiles<T>& products) {
  const Index of_tile = products.shape.valid_products() * products.factors.e.cols;  // 24 times that
  return std::max<Index>(1, (1 << 12) / std::max<Index>(1, of_tile));
}

/// Adds the weighted squares of one packet. Those of a tile of filters are added up in T, tiles in double.
template <int bytes, class T>
BDL_ALWAYS_INLINE void add_packet_squares(const PatchTiles<T>& products, const PatchTiling& tiling,
                                          const T* v, Index packet, double* out) {
  const ConvShape& shape = products.shape;
  const Index inputs = products.inputs_of(shape.channels());
  for (Index filter = 0; filter < shape.output.channels;) {
    const Index group = filter / shape.filters(), in_group = filter % shape.filters();
    const int filters = tiling.next_filters(shape.filters() - in_group);
    T sums[packet_size] = {};
    for (Index tap = 0; tap < products.taps(); ++tap) {
      const PatchWindow window = products.window(tap);
      if (window.positions() == 0) continue;
      for (Index input = 0; input < inputs;) {
        const int count = tiling.next_inputs(inputs - input);
        with_tile<bytes>(filters, count, [&](auto f, auto i) BDL_INLINE_LAMBDA {
          const PatchTile<T, bytes, f(), i()> tile(products, group, in_group, input);
          T of_tile[f()][i()];
          for (int a = 0; a < f(); ++a)
            for (int b = 0; b < i(); ++b)
              of_tile[a][b] = v[(filter + a) * shape.fan_in() + products.parameter(input + b, tap)];
          tile.add_weighted_squares(window, packet, of_tile, sums);
        });
        input += count;
      }
    }
    for (Index lane = 0; lane < packet_size; ++lane) out[lane] += static_cast<double>(sums[lane]);
    filter += filters;
  }
}

/// The places that the gradients of a block are written to.
template <class T>
struct BlockOut {
  MatrixView<T> out;
  Index packets, examples;  ///< numbers in a section of E

  BDL_ALWAYS_INLINE Index first_row(Index packet) const {
    return packet / packets * examples + packet % packets * packet_size;
  }
  BDL_ALWAYS_INLINE Index rows(Index packet) const {
    return std::min(packet_size, examples - packet % packets * packet_size);
  }
};

template <class T, int bytes, int filters, int inputs>
BDL_ALWAYS_INLINE void write_tile(const PatchTiles<T>& products,
                                  const PatchTile<T, bytes, filters, inputs>& tile, Index tap,
                                  const BlockOut<T>& to, Index first, Index of_filter) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  const PatchWindow window = products.window(tap);
  const Index step = products.parameter(1, 0);
  for (Index packet = 0; packet < products.factors.e.cols; ++packet) {
    const Index row = to.first_row(packet), rows = to.rows(packet);
    tile.gradients(window, packet, [&](int j, Index lane, const Vector& g) BDL_INLINE_LAMBDA {
      T* const out = to.out.column_data(first + j / inputs * of_filter + j % inputs * step) + row + lane;
      if (lane + lanes <= rows)
        __builtin_memcpy(out, &g, bytes);
      else
        for (Index r = 0; lane + r < rows; ++r) out[r] = g[r];
    });
  }
}

}  // namespace

template <class T>
void patch_sums(const ConvShape& shape, const PatchFactors<T>& factors, const PatchSums<T>& sums,
                const PatchSums<T>& squares) {
  const PatchTiles<T> products(shape, factors);
  const PatchTiling tiling(shape.filters(), products.inputs_of(shape.channels()));
  const Index together = tiles_together(products), ranges = (tiling.input_tiles() + together - 1) / together;
  parallel_for(shape.groups * tiling.filter_tiles() * ranges, [&](Index i) noexcept {
    const Index filter = tiling.first_filter(i / ranges % tiling.filter_tiles(), shape.filters()),
                first = i % ranges * together;
    const Task task{i / ranges / tiling.filter_tiles(),
                    filter,
                    tiling.next_filters(shape.filters() - filter),
                    {first, std::min(tiling.input_tiles(), first + together)}};
    with_simd([&](auto width)
                  BDL_INLINE_LAMBDA { run_task<width()>(products, tiling, task, sums, squares); });
  });
}

template <class T>
void patch_squares(const ConvShape& shape, const PatchFactors<T>& factors, const T* v, double* out) {
  const PatchTiles<T> products(shape, factors);
  const PatchTiling tiling(shape.filters(), products.inputs_of(shape.channels()));
  parallel_for(factors.e.cols, [&](Index packet) noexcept {
    double* const of_packet = out + packet * packet_size;
    std::fill_n(of_packet, packet_size, 0.0);
    with_simd([&](auto width)
                  BDL_INLINE_LAMBDA { add_packet_squares<width()>(products, tiling, v, packet, of_packet); });
  });
}

template <class T>
void patch_block(const ConvShape& shape, const PatchFactors<T>& factors, const PatchBlock& block,
                 Index packets, Index examples, MatrixView<T> out) {
  const PatchTiles<T> products(shape, factors);
  const Index filters = block.filters.size(), inputs = products.inputs_of(block.channels.size()),
              before = products.inputs_of(block.channels.first),
              of_filter = block.channels.size() * shape.taps();
  const PatchTiling tiling(filters, inputs);
  const BlockOut<T> to{out, packets, examples};
  parallel_for(tiling.filter_tiles() * tiling.input_tiles(), [&](Index task) noexcept {
    const Index filter = tiling.first_filter(task / tiling.input_tiles(), filters),
                input = tiling.first_input(task % tiling.input_tiles(), inputs),
                all_filter = block.filters.first + filter, group = all_filter / shape.filters(),
                in_group = all_filter % shape.filters();
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      const auto write = [&](auto f, auto i) BDL_INLINE_LAMBDA {
        const PatchTile<T, width(), f(), i()> tile(products, group, in_group, before + input);
        for (Index tap = 0; tap < products.taps(); ++tap)
          write_tile(products, tile, tap, to, filter * of_filter + products.parameter(input, tap), of_filter);
      };
      with_tile<width()>(tiling.next_filters(filters - filter), tiling.next_inputs(inputs - input), write);
    });
  });
}

#define BDL_INSTANTIATE(T)                                                                             \
  template void patch_sums(const ConvShape&, const PatchFactors<T>&, const PatchSums<T>&,              \
                           const PatchSums<T>&);                                                       \
  template void patch_squares(const ConvShape&, const PatchFactors<T>&, const T*, double*);            \
  template void patch_block(const ConvShape&, const PatchFactors<T>&, const PatchBlock&, Index, Index, \
                            MatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
