// Predictions for examples whose outputs, or the variance of these, exceed the model's type, as inputs of
// 1e308 may make them: they are infinite, or say that nothing is known. Other examples are not affected.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "predict/mixture.hpp"
#include "predict/mixture_quantile.hpp"

namespace bdl::overflow {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
bool is_finite(std::span<T> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// Returns the mean of output c: NaN if it contains infinities of both signs, or NaN.
inline double mean(const Mixture& mixture, Index c) {
  double sum = 0;
  for (Index k = 0; k < mixture.components(); ++k) sum += mixture.weight(k) * mixture.f(c, k);
  return sum;
}

/// True if outputs are log means.
inline bool has_log_means(const Likelihood& likelihood) {
  return likelihood.target_kind() == TargetKind::count || likelihood.target_kind() == TargetKind::positive;
}

/// Returns E[y] if the mean of the output is `value`.
inline double expected(const Likelihood& likelihood, double value) {
  if (has_log_means(likelihood)) return value == -infinity ? 0 : infinity;
  return std::isnan(value) ? infinity : value;
}

/// Returns the quantile of an output if only its mean is known.
inline double quantile(const Likelihood& likelihood, double value, Tail tail) {
  const double least = has_log_means(likelihood) ? 0 : -infinity;
  return std::isinf(value) ? std::max(value, least) : tail.upper ? infinity : least;
}

/// Gives every class the same probability.
inline void fill_classes(const Likelihood& likelihood, std::span<double> probabilities) {
  for (std::size_t c = 0; c < probabilities.size(); ++c)
    probabilities[c] =
        likelihood.target_kind() == TargetKind::label   ? 0.5
        : likelihood.target_kind() == TargetKind::level ? 1 / static_cast<double>(probabilities.size())
        : likelihood.has_class(static_cast<Index>(c))   ? 1 / static_cast<double>(likelihood.class_count())
                                                        : 0;
}

}  // namespace bdl::overflow
