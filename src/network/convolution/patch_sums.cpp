// Sums of gradients and of their squares over all rows.
#include "network/convolution/patch_tile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Taps whose sums a task holds at a time.
constexpr Index most_taps = 10;
/// Below so many positions, sums stay in registers from packet to packet; squares below fewer.
constexpr Index few_positions = 24, very_few_positions = 8;

/// Numbers at a distance added up, those of a before those of b: 16 vectors become one of their sums.
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

  /// Of `count` taps from `tap` on.
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

  /// Of taps with many positions: packet by packet, all taps of it while it is at hand.
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

  /// Over the lanes: a column of each tap.
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

/// What a task does: one tile of filters by some tiles of inputs.
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

/// Tiles of inputs whose products are worth a task.
template <class T>
Index tiles_together(const PatchTiles<T>& products) {
  const Index of_tile = products.shape.valid_products() * products.factors.e.cols;  // 24 times that
  return std::max<Index>(1, (1 << 12) / std::max<Index>(1, of_tile));
}

}  // namespace

template <class T>
void patch_sums(const ConvShape& shape, const PatchFactors<T>& factors, const PatchSums<T>& sums,
                const PatchSums<T>& squares) {
  const PatchTiles<T> products(shape, factors);
  const PatchTiling tiling(shape.filters(), products.inputs_of(shape.channels()));
  const Index together = tiles_together(products), parts = (tiling.input_tiles() + together - 1) / together;
  parallel_for(shape.groups * tiling.filter_tiles() * parts, [&](Index i) noexcept {
    const Index filter = tiling.first_filter(i / parts % tiling.filter_tiles(), shape.filters()),
                first = i % parts * together;
    const Task task{i / parts / tiling.filter_tiles(),
                    filter,
                    tiling.next_filters(shape.filters() - filter),
                    {first, std::min(tiling.input_tiles(), first + together)}};
    with_simd([&](auto width)
                  BDL_INLINE_LAMBDA { run_task<width()>(products, tiling, task, sums, squares); });
  });
}

template void patch_sums(const ConvShape&, const PatchFactors<float>&, const PatchSums<float>&,
                         const PatchSums<float>&);
template void patch_sums(const ConvShape&, const PatchFactors<double>&, const PatchSums<double>&,
                         const PatchSums<double>&);

}  // namespace bdl
