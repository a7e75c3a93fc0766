// What noisy networks need to know of low-rank-moment posteriors.
#pragma once

#include "network/noise/noisy_network.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {

template <class T>
Index block_count(const Posterior<T>& q) {
  Index count = 0;
  for_each_low_rank_moment(q, [&](const auto&, Index) { ++count; });
  return count;
}

/// That all members have.
template <class T>
Index moment_rank(const Posterior<T>& q) {
  Index rank = 0;
  for_each_low_rank_moment(q, [&](const auto& member, Index) { rank = member.rank(); });
  return rank;
}

/// Where all s of a block are one number, products with them are cheaper: to be looked for?
template <class T>
void find_blocks(const Posterior<T>& q, bool may_be_common, std::vector<BlockBelief<T>>& out) {
  out.clear();
  for_each_low_rank_moment(q, [&](const LowRankMomentPosterior<T>& member, Index offset) {
    const ConstSpan<T> s = member.s();
    const bool common = may_be_common && std::ranges::all_of(s, [&](T value) { return value == s[0]; });
    out.push_back({offset, member.dimension(), member.w(), s.data(), common});
  });
}

}  // namespace bdl
