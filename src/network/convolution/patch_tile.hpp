// Tiles of filters x inputs of a convolution's weights: the 16 lanes of a packet are 16 examples, so a tile
// of vectors in registers holds the gradients of 16 single examples. Sums, squares and blocks of gradients
// are read off there (patch_products.cpp, example_sums.cpp). A tile's inputs are channels at one tap or,
// without padding, channels at any taps.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/simd.hpp"
#include "network/convolution/convolution.hpp"

namespace bdl {

/// The outputs that a tap meets and their inputs: how many rows and columns, where they begin in a channel,
/// and the steps between rows and columns.
struct PatchWindow {
  Index rows, columns, e, in, e_row, in_row, in_column;
  Index positions() const { return rows * columns; }
};

/// The data that all tasks read. Only inputs that meet the same outputs make tiles: without padding
/// (is_flat), all taps of all channels do.
template <class T>
struct PatchTiles {
  const ConvShape& shape;
  PatchFactors<T> factors;
  Index in_channel = PacketMap{shape.input}.channel_numbers();
  Index e_channel = PacketMap{shape.output}.channel_numbers();
  bool is_flat = shape.pad == 0;

  PatchTiles(const ConvShape& of, const PatchFactors<T>& with) : shape(of), factors(with) {}
  Index taps() const { return is_flat ? 1 : shape.taps(); }
  Index inputs_of(Index channels) const { return is_flat ? channels * shape.taps() : channels; }
  PatchWindow window(Index tap) const {
    const Index a = is_flat ? 0 : tap / shape.kernel, b = is_flat ? 0 : tap % shape.kernel;
    const Range rows = shape.output_rows(a), columns = shape.output_columns(b);
    return {rows.size(),
            columns.size(),
            (rows.first * shape.output.columns + columns.first) * packet_size,
            shape.input_of(rows.first, columns.first, a, b) * packet_size,
            shape.output.columns * packet_size,
            shape.stride * shape.input.columns * packet_size,
            shape.stride * packet_size};
  }
  /// Returns where input i stands, from the first channel of its group on.
  Index input_offset(Index i) const {
    if (!is_flat) return i * in_channel;
    const Index tap = i % shape.taps();
    return i / shape.taps() * in_channel +
           (tap / shape.kernel * shape.input.columns + tap % shape.kernel) * packet_size;
  }
  /// Returns the number, among a filter's weights, of that of input i by the tap.
  Index parameter(Index i, Index tap) const { return is_flat ? i : i * shape.taps() + tap; }
};

template <class T>
using Packet = typename VectorOf<T, packet_size* static_cast<int>(sizeof(T))>::type;
/// The numbers of a tile, with 16 lanes each.
template <class T>
using LaneRows = T (*)[packet_size];

/// The terms of a sum over positions: products; products times a weight; squares of both factors times a
/// weight.
enum class PatchSum { gradients, weighted, weighted_squares };

/// Sums over positions for filters x inputs, in registers: the gradients of 16 examples, or sums over
/// examples.
template <class T, int bytes, int filters, int inputs>
class PatchTile {
 public:
  using Vector = typename VectorOf<T, bytes>::type;
  static constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));

  BDL_ALWAYS_INLINE PatchTile(const PatchTiles<T>& products, Index group, Index first_filter,
                              Index first_input)
      : p_(products), e_((group * products.shape.filters() + first_filter) * products.e_channel) {
    const Index in = group * products.shape.channels() * products.in_channel;
    for (int i = 0; i < inputs; ++i) offsets_[i] = in + p_.input_offset(first_input + i);
  }

  /// Calls visit(number, first lane, vector) for the gradients of one packet.
  template <class Visit>
  BDL_ALWAYS_INLINE void gradients(const PatchWindow& window, Index packet, Visit&& visit) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector sum[filters][inputs] = {};
      add_packet<PatchSum::gradients, 0, inputs>(window, packet, lane, Vector{}, sum);
#pragma GCC unroll 8
      for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
        for (int i = 0; i < inputs; ++i) visit(f * inputs + i, lane, sum[f][i]);
    }
  }

  /// out = sum over packets of weight times product, or of weight times the squares of both factors, lane by
  /// lane.
  template <PatchSum kind>
  BDL_ALWAYS_INLINE void sum(const PatchWindow& window, const T* weights, LaneRows<T> out) const {
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

  /// out = sum over packets of weight times the gradient's square, lane by lane. Registers have room for half
  /// of the tile.
  BDL_ALWAYS_INLINE void sum_squares(const PatchWindow& window, const T* weights, LaneRows<T> out) const {
    constexpr int half = (inputs + 1) / 2;
    sum_squares_of<0, half>(window, weights, out);
    if constexpr (inputs > half) sum_squares_of<half, inputs>(window, weights, out);
  }

  /// out += sum over the tile of v times the gradient's square, for the examples of one packet.
  BDL_ALWAYS_INLINE void add_weighted_squares(const PatchWindow& window, Index packet,
                                              const T (&v)[filters][inputs], T* out) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector g[filters][inputs] = {}, sum[filters] = {};
      add_packet<PatchSum::gradients, 0, inputs>(window, packet, lane, Vector{}, g);
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
  BDL_ALWAYS_INLINE void sum_squares_of(const PatchWindow& window, const T* weights, LaneRows<T> out) const {
    for (Index lane = 0; lane < packet_size; lane += lanes) {
      Vector sum[filters][end - first] = {};
      for (Index packet = 0; packet < p_.factors.e.cols; ++packet) {
        Vector weight, g[filters][end - first] = {};
        __builtin_memcpy(&weight, weights + packet * packet_size + lane, bytes);
        add_packet<PatchSum::gradients, first, end>(window, packet, lane, weight, g);
#pragma GCC unroll 8
        for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
          for (int i = 0; i < end - first; ++i) sum[f][i] += weight * g[f][i] * g[f][i];
      }
      store<first, end>(sum, lane, out);
    }
  }

  template <int first, int end>
  static BDL_ALWAYS_INLINE void store(const Vector (&sum)[filters][end - first], Index lane,
                                      LaneRows<T> out) {
#pragma GCC unroll 8
    for (int f = 0; f < filters; ++f)
#pragma GCC unroll 6
      for (int i = first; i < end; ++i)
        __builtin_memcpy(out[f * inputs + i] + lane, &sum[f][i - first], bytes);
  }

  template <PatchSum kind, int first, int end>
  BDL_ALWAYS_INLINE void add_packet(const PatchWindow& window, Index packet, Index lane, const Vector& weight,
                                    Vector (&sum)[filters][end - first]) const {
    const T* e_row = p_.factors.e.column_data(packet) + e_ + window.e + lane;
    const T* in_row = p_.factors.in.column_data(packet % p_.factors.in.cols) + window.in + lane;
    for (Index y = 0; y < window.rows; ++y, e_row += window.e_row, in_row += window.in_row) {
      const T *e = e_row, *in = in_row;
      for (Index x = 0; x < window.columns; ++x, e += packet_size, in += window.in_column)
        add_position<kind, first, end>(e, in, weight, sum);
    }
  }

  /// Loads the kind of factors of which there are fewer into registers first.
  template <PatchSum kind, int first, int end>
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

  template <PatchSum kind>
  static BDL_ALWAYS_INLINE void load_sensitivity(const T* from, const Vector& weight, Vector& value) {
    __builtin_memcpy(&value, from, bytes);
    if constexpr (kind == PatchSum::weighted) value *= weight;
    if constexpr (kind == PatchSum::weighted_squares) value *= value * weight;
  }
  template <PatchSum kind>
  static BDL_ALWAYS_INLINE void load_input(const T* from, Vector& value) {
    __builtin_memcpy(&value, from, bytes);
    if constexpr (kind == PatchSum::weighted_squares) value *= value;
  }

  const PatchTiles<T>& p_;
  Index e_, offsets_[inputs];
};

/// A cover of all filters and inputs by tiles: 24 vectors of sums fill the registers of AVX-512, 12 those of
/// others.
class PatchTiling {
 public:
  PatchTiling(Index filters, Index inputs) : most_inputs_(widest_simd() == Simd::avx512 ? 6 : 3) {
    if (most_inputs_ == 6 && inputs <= 3) most_filters_ = 8;
    for (Index f = 0; f < filters; f += next_filters(filters - f)) ++filter_tiles_;
    for (Index i = 0; i < inputs; i += next_inputs(inputs - i)) ++input_tiles_;
  }
  Index filter_tiles() const { return filter_tiles_; }
  Index input_tiles() const { return input_tiles_; }
  int next_filters(Index left) const { return left >= most_filters_ ? most_filters_ : left >= 4 ? 4 : 1; }
  int next_inputs(Index left) const { return left >= most_inputs_ ? most_inputs_ : left >= 3 ? 3 : 1; }
  /// Tiles are as large as possible, but for the last ones.
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
using TileNumber = std::integral_constant<int, value>;

/// Calls visit(filters, inputs) with the sizes of a tile as integral constants.
template <int bytes, class Visit>
BDL_ALWAYS_INLINE void with_tile(int tile_filters, int tile_inputs, Visit&& visit) {
  const auto of = [&](auto filters) BDL_INLINE_LAMBDA {
    if constexpr (bytes == 64 && filters() <= 4)
      if (tile_inputs == 6) return visit(filters, TileNumber<6>{});
    if (tile_inputs == 3) return visit(filters, TileNumber<3>{});
    visit(filters, TileNumber<1>{});
  };
  if constexpr (bytes == 64)
    if (tile_filters == 8) return of(TileNumber<8>{});
  if (tile_filters == 4) return of(TileNumber<4>{});
  of(TileNumber<1>{});
}

}  // namespace bdl
