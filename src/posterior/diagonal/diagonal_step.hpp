// Steps of diagonal Gaussians, parameter by parameter (docs/theory/natural-gradients.md, "The step of
// each family").
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

/// The family's parameter beside the mean: 1 / variance (natural parameters) or the variance.
enum class DiagonalParameter { precision, variance };

template <class T>
struct DiagonalStep {
  DiagonalParameter parameter;
  Descent descent;
  double mean_rate, curvature_rate;
  ConstSpan<T> mean, old;        ///< of step.from
  ConstSpan<T> m, h;             ///< h: diagonal of H; empty m: the mean stays
  ConstSpan<T> prior_precision;  ///< diagonal of Lambda_0; empty: no KL
  bool improved = false;         ///< a natural step of the precision to second order, which keeps half of it
};

/// Writes the new mean and parameter; `next` may hold h. A parameter whose step would lose positive
/// definiteness is shortened by itself. Returns the smallest fraction taken.
template <class T>
double update_diagonal_by(const DiagonalStep<T>& step, bool shorten, std::span<T> mean, std::span<T> next);

/// h = diagonal of H, from rows or as given; fails with ERROR_UNSUPPORTED for a dense H.
template <class T>
void curvature_diagonal(const Curvature<T>& curvature, std::span<T> h);

}  // namespace bdl
