// The basis of a curvature Gamma (x) Omega and a Kronecker-factored prior's precision together: eigenvectors
// of their sum's partial traces, over outputs and over inputs (docs/theory/kronecker.md, "Laplace").
// Along those of the curvature alone, most of what the prior knows would be averaged away.
#pragma once

#include "posterior/kronecker/factors.hpp"
#include "posterior/kronecker/kronecker.hpp"

namespace bdl {

template <class T>
class JointBasis {
 public:
  /// Writes the vectors of Gamma (x) Omega + weight times the prior's precision to `to`; only lower triangles
  /// of the factors are read.
  void compute(ConstMatrixView<double> omega, ConstMatrixView<double> gamma,
               const KroneckerPosterior<T>& prior, double weight, KroneckerPosterior<T>& to,
               Scratch& scratch);
  /// The diagonals of Omega and Gamma along them, none below 0. They live until the next call.
  ConstSpan<double> input_values() const { return input_values_.first(columns_); }
  ConstSpan<double> output_values() const { return output_values_.first(outputs_); }

 private:
  /// The prior's partial trace: vectors diag(values) vectors^T.
  struct PartialTrace {
    ConstMatrixView<T> vectors;
    const double* values;
  };
  void find(ConstMatrixView<double> factor, double scale, const PartialTrace& prior, MatrixView<T> vectors,
            double* values, Scratch& scratch);
  Index columns_ = 0, outputs_ = 0;
  FactorEigen eigen_;
  Buffer<double> input_values_, output_values_;
};

}  // namespace bdl
