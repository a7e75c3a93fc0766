// The evidence of a linear Gaussian model in the space of its n rows (docs/theory/scales.md, "By the
// evidence"). With prior precisions lambda_g of groups g and Gram matrices K_g of the rows' parts,
//
//   A = I + sum_g K_g / lambda_g,    log det (H + Lambda_0) - log det Lambda_0 = log det A,
//   gamma_g = tr(A^-1 K_g) / lambda_g    effective parameters of group g,
//   1 - (A^-1)_rr                        those that row r determines (its leverage).
#pragma once

#include <vector>

#include "base/view.hpp"

namespace bdl {

class GramEvidence {
 public:
  /// Begins anew with n rows, all of whose Gram matrices are 0. A has about 24 n^2 bytes, and a group 8 n^2.
  void begin(Index rows, Index groups);
  Index rows() const { return rows_; }
  /// Adds `scale` times the lower triangle of B^T B to the Gram matrix of a group, with row r of B multiplied
  /// by factors_r.
  void add(Index group, double scale, ConstMatrixView<double> gram, ConstSpan<double> factors);

  /// Finds A for these prior precisions, with row r multiplied by factors_r. False if a number is not finite.
  [[nodiscard]] bool evaluate(ConstSpan<double> precisions, ConstSpan<double> factors);
  /// Returns how many parameters every first, second, ... row determines alone, n - tr A^-1, or NaN if that
  /// is not finite. Only evaluate() means something afterwards.
  double determined(ConstSpan<double> precisions, ConstSpan<double> factors, Index every);
  double log_det() const { return log_det_; }
  double effective_parameters(Index group) const { return effective_[at(group)]; }
  double leverage(Index row) const { return 1 - inverse_.matrix(rows_, rows_)(row, row); }
  /// Returns the log density of values z given the others, summed over rows, under the model that was
  /// evaluated last: z ~ N(0, A), in units of the noise. A row may stand for several. Destroys z.
  double left_out_log_density(std::span<double> z, ConstSpan<double> times) const;
  /// Returns |P u|^2 for a u of the group of which B u is known, on the rows as they were added: P projects
  /// softly to what the rows determine, P = (H + lambda)^-1 H with H and lambda of the group alone.
  double determined_square(Index group, double precision, ConstSpan<double> factors, ConstSpan<double> bu);

 private:
  void form(ConstSpan<double> precisions, ConstSpan<double> factors, Index every, double rounding);
  bool factorize(ConstSpan<double> precisions, ConstSpan<double> factors, Index every);
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index rows_of(Index every) const { return (rows_ + every - 1) / every; }
  MatrixView<double> gram(Index group) { return grams_[at(group)].matrix(rows_, rows_); }
  ConstMatrixView<double> gram(Index group) const { return grams_[at(group)].matrix(rows_, rows_); }

  Index rows_ = 0;
  std::vector<Buffer<double>> grams_;  // lower triangles
  Buffer<double> lower_, inverse_;
  std::vector<double> effective_;
  double log_det_ = 0;
};

}  // namespace bdl
