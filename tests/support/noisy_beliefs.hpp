// Low-rank-moment posteriors, one for each layer: set at random, and as dense matrices.
#pragma once

#include "posterior/low_rank_moment/members.hpp"
#include "support/noisy_networks.hpp"
#include "support/posteriors.hpp"

namespace bdl::testing {

/// visit(member, first parameter, its number).
template <class T, class Visit>
void for_each_block(Posterior<T>& q, Visit&& visit) {
  std::size_t number = 0;
  for_each_low_rank_moment(
      q, [&](LowRankMomentPosterior<T>& member, Index offset) { visit(member, offset, number++); });
}

/// Random mean, W and s.
template <class T>
void set_belief(Posterior<T>& q, double low_rank, double sigma, std::uint64_t seed) {
  Random random(seed);
  for (T& value : q.mean()) value = static_cast<T>(0.5 * random.normal());
  for_each_block(q, [&](LowRankMomentPosterior<T>& member, Index, std::size_t) {
    for (Index k = 0; k < member.rank(); ++k)
      for (T& value : member.w().column(k)) value = static_cast<T>(low_rank * random.normal());
    for (T& value : member.s()) value = static_cast<T>(sigma * sigma * (0.5 + random.uniform()));
    Scratch scratch;
    member.factorize(scratch);
  });
  q.set_blank(false);
}

inline Dense covariance_of(Posterior<double>& q) {
  Dense out(q.dimension(), q.dimension());
  for_each_block(q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
    const Dense w = dense_of(member.w()), low_rank = w * transposed(w);
    for (Index i = 0; i < w.rows; ++i)
      for (Index j = 0; j < w.rows; ++j)
        out(offset + i, offset + j) = low_rank(i, j) + (i == j ? member.s()[at(i)] : 0);
  });
  return out;
}

/// KL(N(m, Sigma) || N(m0, P^-1)).
inline double kl_of(const Dense& mean, const Dense& sigma, const Dense& mean0, const Dense& precision) {
  const Dense distance = mean - mean0;
  return 0.5 * (trace(precision * sigma) + dot(distance, precision * distance) -
                static_cast<double>(mean.rows) - log_det(sigma) - log_det(precision));
}

}  // namespace bdl::testing
