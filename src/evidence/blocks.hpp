// The blocks of a low-rank-moment posterior, as a noisy network reads them (network/noise/noisy_network.hpp).
#pragma once

#include "network/noise/noisy_network.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

/// Returns the number of blocks with a covariance of their own: 1, or one per layer.
template <class T>
Index block_count(const Posterior<T>& q) {
  Index count = 0;
  for_each_low_rank_moment(q, [&](const auto&, Index) { ++count; });
  return count;
}

/// Returns the low rank, which is the same for all blocks.
template <class T>
Index moment_rank(const Posterior<T>& q) {
  Index rank = 0;
  for_each_low_rank_moment(q, [&](const auto& member, Index) { rank = member.rank(); });
  return rank;
}

template <class T>
bool are_equal(ConstSpan<T> values) {
  int others = 0;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (const T value : values) others |= value == values[0] ? 0 : 1;
  });
  return others == 0;
}

/// Writes the blocks of q to `out`. If may_be_common, blocks whose s are all equal are marked, since products
/// with them are cheaper.
template <class T>
void find_blocks(const Posterior<T>& q, bool may_be_common, std::vector<BlockPosterior<T>>& out) {
  out.clear();
  for_each_low_rank_moment(q, [&](const LowRankMomentPosterior<T>& member, Index offset) {
    const ConstSpan<T> s = member.s();
    const bool common = may_be_common && are_equal(s);
    out.push_back({offset, member.dimension(), member.w(), s.data(), common});
  });
}

}  // namespace bdl
