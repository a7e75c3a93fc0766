#include "network/convolution/patch_products.hpp"

#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Taps whose sums a task holds at a time.
constexpr Index most_taps = 10;
/// Below so many positions, sums stay in registers from packet to packet; squares below fewer.
constexpr Index few_positions = 24, very_few_positions = 8;

/// The outputs that meet an input by a tap, and those inputs: where they begin, in numbers, and how they go
/// on.
struct Window {
  Index rows, columns, e, in, e_row, in_row, in_column;
  Index positions() const { return rows * columns; }
};

/// What all tasks share. Inputs that meet the same outputs make tiles: the channels of one tap or, without
/// padding, those of all.
template <class T>
struct Products {
  const ConvShape& shape;
  PatchFactors<T> factors;
  Index in_channel = PacketMap{shape.input}.channel_numbers();
  Index e_channel = PacketMap{shape.output}.channel_numbers();
  bool is_flat = shape.pad == 0;

  Products(const ConvShape& of, const PatchFactors<T>& with) : shape(of), factors(with) {}
  Index taps() const { return is_flat ? 1 : shape.taps(); }
  Index inputs_of(Index channels) const { return is_flat ? channels * shape.taps() : channels; }
  Window window(Index tap) const {
    const Index a = is_flat ? 0 : tap / shape.kernel, b = is_flat ? 0 : tap % shape.kernel;
    const Range rows = shape.output_rows(a), columns = shape.output_columns(b);
    const Index row = rows.first * shape.stride - shape.pad + a,
                column = columns.first * shape.stride - shape.pad + b;
    return {rows.size(),
            columns.size(),
            (rows.first * shape.output.columns + columns.first) * packet_size,
            (row * shape.input.columns + column) * packet_size,
            shape.output.columns * packet_size,
            shape.stride * shape.input.columns * packet_size,
            shape.stride * packet_size};
  }
  /// Of input i from the group's first channel on.
  Index input_offset(Index i) const {
    if (!is_flat) return i * in_channel;
    const Index tap = i % shape.taps();
    return i / shape.taps() * in_channel +
           (tap / shape.kernel * shape.input.columns + tap % shape.kernel) * packet_size;
  }
  /// Of a filter's weights, that of input i by the tap.
  Index parameter(Index i, Index tap) const { return is_flat ? i : i * shape.taps() + tap; }
};

template <class T>
using Packet = typename VectorOf<T, packet_size* static_cast<int>(sizeof(T))>::type;
/// A tile's numbers, 16 lanes each.
template <class T>
using Rows = T (*)[packet_size];

/// What becomes of the products of a position.
enum class Sum { gradients, weighted, weighted_squares };

/// filters x inputs sums over positions, in registers: the gradients of 16 examples, or sums over examples.
template <class T, int bytes, int filters, int inputs>
class Tile {
 public:
  using Vector = typename VectorOf<T, bytes>::type;
  static constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));

  BDL_ALWAYS_INLINE Tile(const Products<T>& products, Index group, Index first_filter, Index first_input)
      : p_(products), e_((group * products.shape.filters() + first_filter) * products.e_channel) {
    const Index in = group * products.shape.channels() * products.in_channel;
    for (int i = 0; i < inputs; ++i) offsets_[i] = in + p_.input_offset(first_input + i);
  }

  /// The gradients of one packet: visit(number, first lane, vector).
  template <class Visit>
  BDL_ALWAYS_INLINE void gradients(const Window& window, Index packet, Visit&& visit) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector sum[filters][inputs] = {};
      add_packet<Sum::gradients, 0, inputs>(window, packet, lane, Vector{}, sum);
#pragma GCC unroll 8
      for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
        for (int i = 0; i < inputs; ++i) visit(f * inputs + i, lane, sum[f][i]);
    }
  }

  /// out = sum over all examples of weight times product, or of weight times the squares of both factors,
  /// lane by lane.
  template <Sum kind>
  BDL_ALWAYS_INLINE void sum(const Window& window, const T* weights, Rows<T> out) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector sum[filters][inputs] = {};
      for (Index packet = 0; packet < p_.factors.e.cols; ++packet) {
        Vector weight;
        __builtin_memcpy(&weight, weights + packet * packet_size + lane, bytes);
        add_packet<kind, 0, inputs>(window, packet, lane, weight, sum);
      }
      store<0, inputs>(sum, lane, out);
    }
  }

  /// out = sum over all examples of weight times the gradient's square; there is room for half of the tile.
  BDL_ALWAYS_INLINE void sum_squares(const Window& window, const T* weights, Rows<T> out) const {
    constexpr int half = (inputs + 1) / 2;
    sum_squares_of<0, half>(window, weights, out);
    if constexpr (inputs > half) sum_squares_of<half, inputs>(window, weights, out);
  }

  /// out += sum over the tile of v times the gradient's square, of one packet.
  BDL_ALWAYS_INLINE void add_weighted_squares(const Window& window, Index packet,
                                              const T (&v)[filters][inputs], T* out) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector g[filters][inputs] = {}, sum[filters] = {};
      add_packet<Sum::gradients, 0, inputs>(window, packet, lane, Vector{}, g);
#pragma GCC unroll 6
      for (int i = 0; i < inputs; ++i)
#pragma GCC unroll 8
        for (int f = 0; f < filters; ++f) sum[f] += v[f][i] * g[f][i] * g[f][i];
#pragma GCC unroll 8
      for (int f = 1; f < filters; ++f) sum[0] += sum[f];
      Vector old;
      __builtin_memcpy(&old, out + lane, bytes);
      old += sum[0];
      __builtin_memcpy(out + lane, &old, bytes);
    }
  }

 private:
  template <int first, int end>
  BDL_ALWAYS_INLINE void sum_squares_of(const Window& window, const T* weights, Rows<T> out) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector sum[filters][end - first] = {};
      for (Index packet = 0; packet < p_.factors.e.cols; ++packet) {
        Vector weight, g[filters][end - first] = {};
        __builtin_memcpy(&weight, weights + packet * packet_size + lane, bytes);
        add_packet<Sum::gradients, first, end>(window, packet, lane, weight, g);
#pragma GCC unroll 8
        for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
          for (int i = 0; i < end - first; ++i) sum[f][i] += weight * g[f][i] * g[f][i];
      }
      store<first, end>(sum, lane, out);
    }
  }

  template <int first, int end>
  static BDL_ALWAYS_INLINE void store(const Vector (&sum)[filters][end - first], Index lane, Rows<T> out) {
#pragma GCC unroll 8
    for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
      for (int i = first; i < end; ++i)
        __builtin_memcpy(out[f * inputs + i] + lane, &sum[f][i - first], bytes);
  }

  template <Sum kind, int first, int end>
  BDL_ALWAYS_INLINE void add_packet(const Window& window, Index packet, Index lane, const Vector& weight,
                                    Vector (&sum)[filters][end - first]) const {
    const T* e_row = p_.factors.e.column_data(packet) + e_ + window.e + lane;
    const T* in_row = p_.factors.in.column_data(packet % p_.factors.in.cols) + window.in + lane;
    for (Index y = 0; y < window.rows; ++y, e_row += window.e_row, in_row += window.in_row) {
      const T *e = e_row, *in = in_row;
      for (Index x = 0; x < window.columns; ++x, e += packet_size, in += window.in_column)
        add_position<kind, first, end>(e, in, weight, sum);
    }
  }

  /// The factors of which there are fewer wait in registers for the others.
  template <Sum kind, int first, int end>
  BDL_ALWAYS_INLINE void add_position(const T* e, const T* in, const Vector& weight,
                                      Vector (&sum)[filters][end - first]) const {
    if constexpr (filters <= 4) {
      Vector s[filters];
#pragma GCC unroll 4
      for (int f = 0; f < filters; ++f) load_sensitivity<kind>(e + f * p_.e_channel, weight, s[f]);
#pragma GCC unroll 6
      for (int i = first; i < end; ++i) {
        Vector a;
        load_input<kind>(in + offsets_[i], a);
#pragma GCC unroll 4
        for (int f = 0; f < filters; ++f) sum[f][i - first] += s[f] * a;
      }
    } else {
      Vector a[end - first];
#pragma GCC unroll 6
      for (int i = first; i < end; ++i) load_input<kind>(in + offsets_[i], a[i - first]);
#pragma GCC unroll 8
      for (int f = 0; f < filters; ++f) {
        Vector s;
        load_sensitivity<kind>(e + f * p_.e_channel, weight, s);
#pragma GCC unroll 6
        for (int i = 0; i < end - first; ++i) sum[f][i] += s * a[i];
      }
    }
  }

  template <Sum kind>
  static BDL_ALWAYS_INLINE void load_sensitivity(const T* from, const Vector& weight, Vector& value) {
    __builtin_memcpy(&value, from, bytes);
    if constexpr (kind == Sum::weighted) value *= weight;
    if constexpr (kind == Sum::weighted_squares) value *= value * weight;
  }
  template <Sum kind>
  static BDL_ALWAYS_INLINE void load_input(const T* from, Vector& value) {
    __builtin_memcpy(&value, from, bytes);
    if constexpr (kind == Sum::weighted_squares) value *= value;
  }

  const Products<T>& p_;
  Index e_, offsets_[inputs];
};

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
  BDL_ALWAYS_INLINE TileSums(const Products<T>& products, const PatchSums<T>& sums,
                             const PatchSums<T>& squares, Index group, Index filter, Index input)
      : p_(products),
        sums_(sums),
        squares_(squares),
        tile_(products, group, filter, input),
        filter_(group * products.shape.filters() + filter),
        input_(input) {}

  /// Of `count` taps from `tap` on.
  BDL_ALWAYS_INLINE void run(Index tap, const Window* windows, Index count) {
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
  using TileOf = Tile<T, bytes, filters, inputs>;
  static constexpr int size = filters * inputs, padded = (size + 15) / 16 * 16;

  BDL_ALWAYS_INLINE bool is_by_packets(const Window& window) const {
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
    const Window& window = windows_[t];
    if (window.positions() == 0) return;
    if (sums_.out) tile_.template sum<Sum::weighted>(window, sums_.weights, sum_[t]);
    if (squares_.out && window.positions() == 1)
      tile_.template sum<Sum::weighted_squares>(window, squares_.weights, square_[t]);
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

  const Products<T>& p_;
  const PatchSums<T>&sums_, &squares_;
  TileOf tile_;
  Index filter_, input_;
  const Window* windows_ = nullptr;
  alignas(64) T sum_[most_taps][padded][packet_size];
  alignas(64) T square_[most_taps][padded][packet_size];
  T sum_values_[size][most_taps], square_values_[size][most_taps];
};

/// Sizes of tiles: 24 vectors of sums fill the registers of AVX-512, 12 those of others.
class Tiling {
 public:
  Tiling(Index filters, Index inputs) : most_inputs_(widest_simd() == Simd::avx512 ? 6 : 3) {
    if (most_inputs_ == 6 && inputs <= 3) most_filters_ = 8;
    for (Index f = 0; f < filters; f += next_filters(filters - f)) ++filter_tiles_;
    for (Index i = 0; i < inputs; i += next_inputs(inputs - i)) ++input_tiles_;
  }
  Index filter_tiles() const { return filter_tiles_; }
  Index input_tiles() const { return input_tiles_; }
  int next_filters(Index left) const { return left >= most_filters_ ? most_filters_ : left >= 4 ? 4 : 1; }
  int next_inputs(Index left) const { return left >= most_inputs_ ? most_inputs_ : left >= 3 ? 3 : 1; }
  /// All tiles before the last ones are as large as can be.
  Index first_filter(Index tile, Index filters) const {
    Index first = std::min(tile, filters / most_filters_) * most_filters_;
    for (Index t = first / most_filters_; t < tile; ++t) first += next_filters(filters - first);
    return first;
  }
  Index first_input(Index tile, Index inputs) const {
    Index first = std::min(tile, inputs / most_inputs_) * most_inputs_;
    for (Index t = first / most_inputs_; t < tile; ++t) first += next_inputs(inputs - first);
    return first;
  }

 private:
  int most_inputs_, most_filters_ = 4;
  Index filter_tiles_ = 0, input_tiles_ = 0;
};

template <int value>
using Number = std::integral_constant<int, value>;

/// visit(filters, inputs), integral constants.
template <int bytes, class Visit>
BDL_ALWAYS_INLINE void with_tile(int tile_filters, int tile_inputs, Visit&& visit) {
  const auto of = [&](auto filters) BDL_INLINE_LAMBDA {
    if constexpr (bytes == 64 && filters() <= 4)
      if (tile_inputs == 6) return visit(filters, Number<6>{});
    if (tile_inputs == 3) return visit(filters, Number<3>{});
    visit(filters, Number<1>{});
  };
  if constexpr (bytes == 64)
    if (tile_filters == 8) return of(Number<8>{});
  if (tile_filters == 4) return of(Number<4>{});
  of(Number<1>{});
}

/// What a task does: one tile of filters by some tiles of inputs.
struct Task {
  Index group, filter, filters;
  Range input_tiles;
};

template <int bytes, class T>
BDL_ALWAYS_INLINE void run_task(const Products<T>& products, const Tiling& tiling, const Task& task,
                                const PatchSums<T>& sums, const PatchSums<T>& squares) {
  const Index inputs = products.inputs_of(products.shape.channels());
  for (Index tap = 0; tap < products.taps(); tap += most_taps) {
    const Index count = std::min(products.taps() - tap, most_taps);
    Window windows[most_taps];
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
Index tiles_together(const Products<T>& products) {
  const Index of_tile = products.shape.valid_products() * products.factors.e.cols;  // 24 times that
  return std::max<Index>(1, (1 << 12) / std::max<Index>(1, of_tile));
}

}  // namespace

template <class T>
void patch_sums(const ConvShape& shape, const PatchFactors<T>& factors, const PatchSums<T>& sums,
                const PatchSums<T>& squares) {
  const Products<T> products(shape, factors);
  const Tiling tiling(shape.filters(), products.inputs_of(shape.channels()));
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

namespace {

/// Where the gradients of a block's tile go.
template <class T>
struct BlockOut {
  MatrixView<T> out;
  Index packets, examples;  ///< of a section of E

  BDL_ALWAYS_INLINE Index first_row(Index packet) const {
    return packet / packets * examples + packet % packets * packet_size;
  }
  BDL_ALWAYS_INLINE Index rows(Index packet) const {
    return std::min(packet_size, examples - packet % packets * packet_size);
  }
};

template <class T, int bytes, int filters, int inputs>
BDL_ALWAYS_INLINE void write_tile(const Products<T>& products, const Tile<T, bytes, filters, inputs>& tile,
                                  Index tap, const BlockOut<T>& to, Index first, Index of_filter) {
  using Vector = typename VectorOf<T, bytes>::type;
  constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  const Window window = products.window(tap);
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
void patch_block(const ConvShape& shape, const PatchFactors<T>& factors, const PatchBlock& block,
                 Index packets, Index examples, MatrixView<T> out) {
  const Products<T> products(shape, factors);
  const Index filters = block.filters.size(), inputs = products.inputs_of(block.channels.size()),
              before = products.inputs_of(block.channels.first),
              of_filter = block.channels.size() * shape.taps();
  const Tiling tiling(filters, inputs);
  const BlockOut<T> to{out, packets, examples};
  parallel_for(tiling.filter_tiles() * tiling.input_tiles(), [&](Index task) noexcept {
    const Index filter = tiling.first_filter(task / tiling.input_tiles(), filters),
                input = tiling.first_input(task % tiling.input_tiles(), inputs),
                all_filter = block.filters.first + filter;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      with_tile<width()>(tiling.next_filters(filters - filter), tiling.next_inputs(inputs - input),
                         [&](auto f, auto i) BDL_INLINE_LAMBDA {
                           const Tile<T, width(), f(), i()> tile(products, all_filter / shape.filters(),
                                                                 all_filter % shape.filters(),
                                                                 before + input);
                           for (Index tap = 0; tap < products.taps(); ++tap)
                             write_tile(products, tile, tap, to,
                                        filter * of_filter + products.parameter(input, tap), of_filter);
                         });
    });
  });
}

namespace {

/// The weighted squares of one packet: those of a tile of filters are added up in T, these in double.
template <int bytes, class T>
BDL_ALWAYS_INLINE void add_packet_squares(const Products<T>& products, const Tiling& tiling, const T* v,
                                          Index packet, double* out) {
  const ConvShape& shape = products.shape;
  const Index inputs = products.inputs_of(shape.channels());
  for (Index filter = 0; filter < shape.output.channels;) {
    const Index group = filter / shape.filters(), in_group = filter % shape.filters();
    const int filters = tiling.next_filters(shape.filters() - in_group);
    T sums[packet_size] = {};
    for (Index tap = 0; tap < products.taps(); ++tap) {
      const Window window = products.window(tap);
      if (window.positions() == 0) continue;
      for (Index input = 0; input < inputs;) {
        const int count = tiling.next_inputs(inputs - input);
        with_tile<bytes>(filters, count, [&](auto f, auto i) BDL_INLINE_LAMBDA {
          const Tile<T, bytes, f(), i()> tile(products, group, in_group, input);
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

}  // namespace

template <class T>
void patch_squares(const ConvShape& shape, const PatchFactors<T>& factors, const T* v, double* out) {
  const Products<T> products(shape, factors);
  const Tiling tiling(shape.filters(), products.inputs_of(shape.channels()));
  parallel_for(factors.e.cols, [&](Index packet) noexcept {
    double* const of_packet = out + packet * packet_size;
    std::fill_n(of_packet, packet_size, 0.0);
    with_simd([&](auto width)
                  BDL_INLINE_LAMBDA { add_packet_squares<width()>(products, tiling, v, packet, of_packet); });
  });
}

template void patch_squares(const ConvShape&, const PatchFactors<float>&, const float*, double*);
template void patch_squares(const ConvShape&, const PatchFactors<double>&, const double*, double*);
template void patch_sums(const ConvShape&, const PatchFactors<float>&, const PatchSums<float>&,
                         const PatchSums<float>&);
template void patch_sums(const ConvShape&, const PatchFactors<double>&, const PatchSums<double>&,
                         const PatchSums<double>&);

template void patch_block(const ConvShape&, const PatchFactors<float>&, const PatchBlock&, Index, Index,
                          MatrixView<float>);
template void patch_block(const ConvShape&, const PatchFactors<double>&, const PatchBlock&, Index, Index,
                          MatrixView<double>);

}  // namespace bdl
