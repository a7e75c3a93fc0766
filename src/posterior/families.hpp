// The table of families: their words, how a posterior of each is created, and conversions between them.
#pragma once

#include <memory>
#include <span>

#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/full/full_moment.hpp"

namespace bdl {

/// Returns "low_rank", "full" ... in the order of Family, which begins with 1.
std::span<const char* const> family_words();
inline const char* family_word(Family family) {
  return family_words()[static_cast<std::size_t>(family) - 1];
}

/// Returns N(0, I), blank.
template <class T>
std::unique_ptr<Posterior<T>> create_posterior(const PosteriorKind& kind);

/// Returns q in the other arithmetic, or in its own.
template <class To, class From>
std::unique_ptr<Posterior<To>> converted(const Posterior<From>& q) {
  auto out = create_posterior<To>(q.kind());
  convert_tensors(q, *out);
  return out;
}

/// Returns the same Gaussian with a dense Sigma, exactly but for rounding.
template <class T>
std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>& q);

/// Returns independent parameters with the same means and variances, the diagonal p with the smallest KL(q ||
/// p).
template <class T>
std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>& q);

}  // namespace bdl
