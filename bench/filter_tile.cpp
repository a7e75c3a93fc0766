#include "filter_tile.hpp"

#include "base/simd.hpp"

namespace bench {

using bdl::Index;
using bdl::packet_size;
using bdl::PacketMap;

namespace {

constexpr Index filters_together = 16;

/// sums(channel, 16 filters) of `columns` channels of a tap.
template <int bytes, int columns>
BDL_ALWAYS_INLINE void add_tile(const float* e, const float* in, Index channel, const bdl::ConvShape& shape,
                                Index tap, float* sums) {
  using Vector = typename bdl::VectorOf<float, bytes>::type;
  constexpr Index lanes = bytes / 4;
  const bdl::Range rows = shape.output_rows(tap / shape.kernel),
                   across = shape.output_columns(tap % shape.kernel);
  for (Index filter = 0; filter < filters_together; filter += lanes) {
    Vector sum[columns] = {};
    for (Index y = rows.first; y < rows.end; ++y)
      for (Index x = across.first; x < across.end; ++x) {
        const Index row = y * shape.stride + tap / shape.kernel - shape.pad,
                    column = x * shape.stride + tap % shape.kernel - shape.pad;
        const float* d = e + (y * shape.output.columns + x) * packet_size * filters_together + filter;
        const float* a = in + (row * shape.input.columns + column) * packet_size;
        for (Index example = 0; example < packet_size; ++example, d += filters_together) {
          Vector of_filters;
          __builtin_memcpy(&of_filters, d, bytes);
#pragma GCC unroll 12
          for (int c = 0; c < columns; ++c) sum[c] += of_filters * a[c * channel + example];
        }
      }
#pragma GCC unroll 12
    for (int c = 0; c < columns; ++c) {
      Vector old;
      __builtin_memcpy(&old, sums + c * filters_together + filter, bytes);
      old += sum[c];
      __builtin_memcpy(sums + c * filters_together + filter, &old, bytes);
    }
  }
}

}  // namespace

FilterTiles::FilterTiles(const bdl::ConvShape& shape)
    : shape_(shape),
      transposed_(static_cast<std::size_t>(shape.positions() * packet_size * filters_together)),
      sums_(static_cast<std::size_t>(shape.fan_in() * filters_together)) {}

void FilterTiles::transpose(const float* e, Index filter) {
  const Index channel = PacketMap{shape_.output}.channel_numbers();
  for (Index f = 0; f < filters_together; ++f)
    for (Index i = 0; i < shape_.positions() * packet_size; ++i)
      transposed_[static_cast<std::size_t>(i * filters_together + f)] =
          filter + f < shape_.output.channels ? e[(filter + f) * channel + i] : 0;
}

template <int bytes>
BDL_ALWAYS_INLINE void FilterTiles::add_tap(const float* in, Index tap, float* out) const {
  constexpr int most = bytes == 64 ? 12 : 6;
  const Index channel = PacketMap{shape_.input}.channel_numbers();
  Index c = 0;
  for (; c + most <= shape_.channels(); c += most)
    add_tile<bytes, most>(transposed_.data(), in + c * channel, channel, shape_, tap,
                          out + c * filters_together);
  for (; c < shape_.channels(); ++c)
    add_tile<bytes, 1>(transposed_.data(), in + c * channel, channel, shape_, tap,
                       out + c * filters_together);
}

void FilterTiles::sum(const bdl::PatchFactors<float>& factors, float* out) {
  for (Index filter = 0; filter < shape_.output.channels; filter += filters_together) {
    std::ranges::fill(sums_, 0.0F);
    for (Index packet = 0; packet < factors.e.cols; ++packet) {
      transpose(factors.e.column_data(packet), filter);
      for (Index tap = 0; tap < shape_.taps(); ++tap)
        bdl::with_simd([&](auto width) BDL_INLINE_LAMBDA {
          add_tap<width()>(factors.in.column_data(packet), tap,
                           sums_.data() + tap * shape_.channels() * filters_together);
        });
    }
    for (Index f = filter; f < std::min(filter + filters_together, shape_.output.channels); ++f)
      for (Index c = 0; c < shape_.channels(); ++c)
        for (Index tap = 0; tap < shape_.taps(); ++tap)
          out[f * shape_.fan_in() + c * shape_.taps() + tap] =
              sums_[static_cast<std::size_t>((tap * shape_.channels() + c) * filters_together + f - filter)];
  }
}

}  // namespace bench
