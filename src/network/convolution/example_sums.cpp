// Sums of gradients that have a number for each example and parameter.
#include "network/convolution/patch_tile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of a filter's parameters whose numbers are formed at a time: those of four filters, with their
/// sums, are 64 KiB.
template <class T>
constexpr Index most_parameters = 512 / static_cast<Index>(sizeof(T));
constexpr int most_filters = 4, most_inputs = 6;
/// Number of tasks that a layer should have, as long as they have whole tiles to do.
constexpr Index least_tasks = 16;
/// Number of biases of a task.
constexpr Index biases_together = 16;

/// Some inputs of a filter, by all taps that tiles have or by some: parameters that follow each other.
struct Chunk {
  Range inputs, taps;
  Index parameters() const { return inputs.size() * taps.size(); }
};

/// Chunks that together with tiles of filters cover a layer's weights.
template <class T>
class Chunks {
 public:
  Chunks(const ConvShape& shape, Index inputs, Index taps)
      : all_inputs_(inputs), all_taps_(taps), taps_(std::min(taps, most_parameters<T>)) {
    const Index fit = std::max<Index>(1, most_parameters<T> / taps_);
    inputs_ = fit >= most_inputs ? fit / most_inputs * most_inputs : fit >= 3 ? 3 : fit;
    const Index tiles = shape.groups * ((shape.filters() + most_filters - 1) / most_filters);
    while (inputs_ > most_inputs && tiles * count() < least_tasks)
      inputs_ = inputs_ / 2 / most_inputs * most_inputs;
  }
  Index count() const { return of_inputs() * of_taps(); }
  Chunk operator[](Index i) const {
    const Index input = i / of_taps() * inputs_, tap = i % of_taps() * taps_;
    return {{input, std::min(all_inputs_, input + inputs_)}, {tap, std::min(all_taps_, tap + taps_)}};
  }

 private:
  Index of_inputs() const { return (all_inputs_ + inputs_ - 1) / inputs_; }
  Index of_taps() const { return (all_taps_ + taps_ - 1) / taps_; }
  Index all_inputs_, all_taps_, inputs_, taps_;
};

/// Returns the sum over the lanes, in an order that does not depend on the width of vectors.
template <class T>
BDL_ALWAYS_INLINE T sum_of_lanes(const T* lanes) {
  T half[packet_size / 2];
  for (Index i = 0; i < packet_size / 2; ++i) half[i] = lanes[i] + lanes[i + packet_size / 2];
  for (Index left = packet_size / 4; left > 0; left /= 2)
    for (Index i = 0; i < left; ++i) half[i] += half[i + left];
  return half[0];
}

/// The sums of `filters` filters by a chunk, over all packets.
template <class T, int bytes, int filters>
class ChunkSums {
 public:
  BDL_ALWAYS_INLINE ChunkSums(const PatchTiles<T>& products, const ExampleNumbers<T>& numbers, Index group,
                              Index filter, const Chunk& chunk)
      : p_(products), numbers_(numbers), group_(group), filter_(filter), chunk_(chunk) {}

  BDL_ALWAYS_INLINE void run(T* out) {
    std::fill_n(sum_, filters * chunk_.parameters() * packet_size, T(0));
    for (Index packet = 0; packet < p_.factors.e.cols; ++packet) {
      for (Index f = 0; f < filters; ++f)
        numbers_.form(packet, parameter(f), chunk_.parameters(), number_ + at(f, 0));
      add_packet(packet);
    }
    for (Index f = 0; f < filters; ++f)
      for (Index p = 0; p < chunk_.parameters(); ++p) out[parameter(f) + p] = sum_of_lanes(sum_ + at(f, p));
  }

 private:
  /// Returns the number, in the layer, of the first parameter of the chunk for filter f.
  BDL_ALWAYS_INLINE Index parameter(Index f) const {
    return (group_ * p_.shape.filters() + filter_ + f) * p_.shape.fan_in() +
           p_.parameter(chunk_.inputs.first, chunk_.taps.first);
  }
  BDL_ALWAYS_INLINE Index at(Index f, Index p) const { return (f * chunk_.parameters() + p) * packet_size; }

  BDL_ALWAYS_INLINE void add_packet(Index packet) {
    Index input = chunk_.inputs.first;
    const auto next = [&](auto inputs) BDL_INLINE_LAMBDA {
      for (; chunk_.inputs.end - input >= inputs(); input += inputs()) add_tile<inputs()>(packet, input);
    };
    if constexpr (bytes == 64) next(TileNumber<most_inputs>{});
    next(TileNumber<3>{});
    next(TileNumber<1>{});
  }

  template <int inputs>
  BDL_ALWAYS_INLINE void add_tile(Index packet, Index input) {
    using TileOf = PatchTile<T, bytes, filters, inputs>;
    using Vector = typename TileOf::Vector;
    const TileOf tile(p_, group_, filter_, input);
    for (Index tap = chunk_.taps.first; tap < chunk_.taps.end; ++tap) {
      const PatchWindow window = p_.window(tap);
      if (window.positions() == 0) continue;
      const Index first = (input - chunk_.inputs.first) * chunk_.taps.size() + tap - chunk_.taps.first;
      tile.gradients(window, packet, [&](int j, Index lane, const Vector& g) BDL_INLINE_LAMBDA {
        const Index to = at(j / inputs, first + j % inputs * chunk_.taps.size()) + lane;
        Vector number, sum;
        __builtin_memcpy(&number, number_ + to, bytes);
        __builtin_memcpy(&sum, sum_ + to, bytes);
        sum += number * g;
        __builtin_memcpy(sum_ + to, &sum, bytes);
      });
    }
  }

  const PatchTiles<T>& p_;
  const ExampleNumbers<T>& numbers_;
  Index group_, filter_;
  const Chunk& chunk_;
  alignas(64) T number_[filters * most_parameters<T> * packet_size];
  alignas(64) T sum_[filters * most_parameters<T> * packet_size];
};

template <class T, int bytes>
BDL_ALWAYS_INLINE void sum_filters(const PatchTiles<T>& products, const ExampleNumbers<T>& numbers,
                                   Index group, Index filter, const Chunk& chunk, T* out) {
  const Index end = std::min(products.shape.filters(), filter + most_filters);
  const auto next = [&](auto filters) BDL_INLINE_LAMBDA {
    for (; end - filter >= filters(); filter += filters())
      ChunkSums<T, bytes, filters()>(products, numbers, group, filter, chunk).run(out);
  };
  next(TileNumber<most_filters>{});
  next(TileNumber<2>{});
  next(TileNumber<1>{});
}

/// Sums for the biases of up to biases_together filters from `first` on.
template <class T>
BDL_ALWAYS_INLINE void sum_biases(const ConvShape& shape, const ExampleNumbers<T>& numbers,
                                  ConstMatrixView<T> e, Index first, T* out) {
  alignas(64) T number[biases_together * packet_size], sum[biases_together * packet_size] = {};
  const Index count = std::min(biases_together, shape.output.channels - first),
              channel = PacketMap{shape.output}.channel_numbers();
  for (Index packet = 0; packet < e.cols; ++packet) {
    numbers.form(packet, shape.weights() + first, count, number);
    for (Index o = 0; o < count; ++o) {
      const T* from = e.column_data(packet) + (first + o) * channel;
      T total[packet_size] = {};
      for (Index p = 0; p < shape.positions(); ++p)
        for (Index lane = 0; lane < packet_size; ++lane) total[lane] += from[p * packet_size + lane];
      for (Index lane = 0; lane < packet_size; ++lane)
        sum[o * packet_size + lane] += number[o * packet_size + lane] * total[lane];
    }
  }
  for (Index o = 0; o < count; ++o) out[shape.weights() + first + o] = sum_of_lanes(sum + o * packet_size);
}

}  // namespace

template <class T>
void sum_gradients_by_example(const ConvShape& shape, const ExampleNumbers<T>& numbers,
                              const PatchFactors<T>& factors, std::span<T> out) {
  const PatchTiles<T> products(shape, factors);
  const Chunks<T> chunks(shape, products.inputs_of(shape.channels()), products.taps());
  const Index tiles = (shape.filters() + most_filters - 1) / most_filters;
  parallel_for(shape.groups * tiles * chunks.count(), [&](Index i) noexcept {
    const Chunk chunk = chunks[i % chunks.count()];
    const Index group = i / chunks.count() / tiles, filter = i / chunks.count() % tiles * most_filters;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      sum_filters<T, width()>(products, numbers, group, filter, chunk, out.data());
    });
  });
  if (!shape.has_bias()) return;
  parallel_for((shape.output.channels + biases_together - 1) / biases_together, [&](Index i) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      sum_biases(shape, numbers, factors.e, i * biases_together, out.data());
    });
  });
}

template void sum_gradients_by_example(const ConvShape&, const ExampleNumbers<float>&,
                                       const PatchFactors<float>&, std::span<float>);
template void sum_gradients_by_example(const ConvShape&, const ExampleNumbers<double>&,
                                       const PatchFactors<double>&, std::span<double>);

}  // namespace bdl
