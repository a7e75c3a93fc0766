// Steps that keep a dense covariance itself, as a Kalman filter does, in O(D^2) a row: what the families with
// full covariance take after process noise (docs/theory/streams.md, "Full covariances under noise").
#pragma once

#include "posterior/full/dense_step.hpp"

namespace bdl {

/// Rows X of a curvature against a covariance: Sigma' = Sigma - W W^T.
struct CovarianceRows {
  ConstMatrixView<double> x;     ///< D x n
  MatrixView<double> w;          ///< D x n: Sigma X R^-T
  ConstMatrixView<double> root;  ///< R, lower triangular; without columns it is I
};

/// Rows X of a step and its m, with Sigma X and Sigma m.
struct CovarianceProducts {
  CovarianceRows rows;
  MatrixView<double> m, sigma_m;  ///< D x 1
};
/// Returns them, taken from the scratch.
template <class T>
CovarianceProducts covariance_products(ConstMatrixView<double> sigma, const PosteriorStep<T>& step,
                                       Scratch& scratch);

/// Finds, from W = Sigma X, the R R^T = I + X^T Sigma X and W = Sigma X R^-T of a natural step of the
/// precision; R is taken from the scratch. False unless they are finite.
[[nodiscard]] bool find_gain(CovarianceRows& rows, Scratch& scratch);

/// next = sigma - W W^T, exactly symmetric, with its rounding made up for: the diagonal grows by a bound of
/// it, so that next is positive definite however many such steps there are. False unless its diagonal is
/// finite and positive.
[[nodiscard]] bool subtract_rows(ConstMatrixView<double> sigma, const CovarianceRows& rows,
                                 MatrixView<double> next, Scratch& scratch);

/// next = inflation sigma + diag(noise); an empty noise is 0. False unless its diagonal is finite and
/// positive.
template <class T>
[[nodiscard]] bool inflate_covariance(ConstMatrixView<double> sigma, double inflation, ConstSpan<T> noise,
                                      MatrixView<double> next);

}  // namespace bdl
