// Where W starts: at random, since at 0 it would stay (docs/mathematics/noise.md, "Where training starts").
#pragma once

#include <vector>

#include "network/shape.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

struct LowRankStart {
  std::uint64_t seed;
  double size;   ///< standard deviation of V times sqrt(K), in units of that of the layer's weights
  double scale;  ///< a of W = sqrt(a) V; 0: 1 / K
};

/// Writes W of q's members, which counts after factorize().
template <class T>
void draw_low_rank(const std::vector<ParameterBlock>& blocks, ConstSpan<T> mean, const LowRankStart& start,
                   Posterior<T>& q);

}  // namespace bdl
