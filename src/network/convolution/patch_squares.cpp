// Squares of gradients, weighted and added up over the parameters.
#include "network/convolution/patch_tile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// The weighted squares of one packet: those of a tile of filters are added up in T, these in double.
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

}  // namespace

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

template void patch_squares(const ConvShape&, const PatchFactors<float>&, const float*, double*);
template void patch_squares(const ConvShape&, const PatchFactors<double>&, const double*, double*);

}  // namespace bdl
