// The low-rank-moment posteriors that a posterior consists of: itself, or its blocks.
#pragma once

#include "posterior/blocks/blocks.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace bdl {

inline bool is_low_rank_moment(Family family) {
  return family == Family::low_rank_moment || family == Family::layerwise_low_rank_moment;
}

/// Calls visit(member, first parameter) for each of them, if the posterior is of one of the two families.
template <class Q, class Visit>
void for_each_low_rank_moment(Q& q, Visit&& visit) {
  using T = typename Q::Scalar;
  constexpr bool is_const = std::is_const_v<Q>;
  using Member = std::conditional_t<is_const, const LowRankMomentPosterior<T>, LowRankMomentPosterior<T>>;
  using Blocks = std::conditional_t<is_const, const BlocksPosterior<T>, BlocksPosterior<T>>;
  if (q.family() == Family::low_rank_moment) return visit(static_cast<Member&>(q), Index{0});
  auto& blocks = static_cast<Blocks&>(q);
  for (Index k = 0; k < blocks.block_count(); ++k)
    visit(static_cast<Member&>(blocks.member(k)), blocks.offset(k));
}

/// Returns block number `block` of a posterior of one of the two families.
template <class T>
LowRankMomentPosterior<T>& low_rank_moment_block(Posterior<T>& q, Index block) {
  if (q.family() == Family::low_rank_moment) return static_cast<LowRankMomentPosterior<T>&>(q);
  return static_cast<LowRankMomentPosterior<T>&>(static_cast<BlocksPosterior<T>&>(q).member(block));
}

}  // namespace bdl
