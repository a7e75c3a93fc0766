// The other way to sum gradients of a convolution's weights, to compare with: filters along the vector. The
// sensitivities of a packet are transposed, to (position, example, 16 filters); a tile is 16 filters by 12
// channels of a tap, and sums over positions and examples. Squares of single examples' gradients would have
// to leave the registers.
#pragma once

#include <vector>

#include "network/convolution/convolution.hpp"

namespace bench {

class FilterTiles {
 public:
  explicit FilterTiles(const bdl::ConvShape& shape);
  /// out = sum over all examples, as patch_sums() with weights 1.
  void sum(const bdl::PatchFactors<float>& factors, float* out);

 private:
  void transpose(const float* e, bdl::Index filter);
  template <int bytes>
  void add_tap(const float* in, bdl::Index tap, float* out) const;
  const bdl::ConvShape shape_;
  std::vector<float> transposed_, sums_;
};

}  // namespace bench
