// Blocks of gradients, written out.
#include "network/convolution/patch_tile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
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
                all_filter = block.filters.first + filter;
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      with_tile<width()>(tiling.next_filters(filters - filter), tiling.next_inputs(inputs - input),
                         [&](auto f, auto i) BDL_INLINE_LAMBDA {
                           const PatchTile<T, width(), f(), i()> tile(products, all_filter / shape.filters(),
                                                                      all_filter % shape.filters(),
                                                                      before + input);
                           for (Index tap = 0; tap < products.taps(); ++tap)
                             write_tile(products, tile, tap, to,
                                        filter * of_filter + products.parameter(input, tap), of_filter);
                         });
    });
  });
}

template void patch_block(const ConvShape&, const PatchFactors<float>&, const PatchBlock&, Index, Index,
                          MatrixView<float>);
template void patch_block(const ConvShape&, const PatchFactors<double>&, const PatchBlock&, Index, Index,
                          MatrixView<double>);

}  // namespace bdl
