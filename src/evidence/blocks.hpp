// Properties of low-rank-moment posteriors that noisy networks need.
#pragma once

#include "network/noise/noisy_network.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

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

/// True if products may be simplified for blocks in which all s are equal; such blocks are cheaper.
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
