// Best rank-L approximation U U^T of A A^T for a tall factor A that is known through its products only
// (docs/mathematics/natural-gradients.md, "The low-rank step and its projection").
#pragma once

#include "linalg/eigen/top_eigen.hpp"
#include "linalg/tall/orthonormal.hpp"
#include "linalg/tall/tall.hpp"
#include "options/choices.hpp"

namespace bdl {

/// A factor A (D x m) that is never formed.
template <class T>
class Factor {
 public:
  virtual ~Factor() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  /// Lower triangle of A^T A (m x m).
  virtual void gram(MatrixView<double> out) = 0;
  /// Lower triangle of A A^T (D x D).
  virtual void outer(MatrixView<double> out) = 0;
  /// Q^T A (k x m).
  virtual void project(ConstMatrixView<T> q, MatrixView<T> out) = 0;
  /// A W (D x k).
  virtual void combine(ConstMatrixView<T> w, MatrixView<T> out) = 0;
};

struct ProjectionOptions {
  EigenMethod method = EigenMethod::automatic;
  Index passes = 2;        ///< multiplications with A A^T of the randomized method
  Index oversampling = 8;  ///< columns it carries beyond L
};

/// Sizes the cost model needs; product_flops: of one column of project() or combine().
struct ProjectionSize {
  Index rows = 0, cols = 0, rank = 0;
  double gram_flops = 0, product_flops = 0;
};

/// Columns of the randomized method's basis.
Index basis_columns(const ProjectionSize& size, const ProjectionOptions& options);

/// The method `options.method` means for this size.
EigenMethod choose_method(const ProjectionSize& size, const ProjectionOptions& options);

template <class T>
class LowRankProjection {
 public:
  void reserve(const ProjectionSize& size, const ProjectionOptions& options);
  /// Where the randomized method starts: D x (L + oversampling), to be filled before apply() with the current
  /// U (A changes by O(beta) per step, so few passes suffice) and random directions.
  MatrixView<T> start(const ProjectionSize& size, const ProjectionOptions& options);
  /// U = Q_L Lambda_L^1/2 of A A^T (D x L), columns zero where A's rank is smaller.
  void apply(Factor<T>& factor, const ProjectionSize& size, const ProjectionOptions& options,
             MatrixView<T> u);

 private:
  void by_gram(Factor<T>& factor, MatrixView<T> u);
  void by_outer(Factor<T>& factor, MatrixView<T> u);
  void by_range(Factor<T>& factor, Index columns, Index passes, MatrixView<T> u);
  Index decompose_small(ConstMatrixView<T> b, Index count);

  TopEigen eigen_;
  Buffer<double> matrix_;
  Buffer<T> weights_, basis_, image_, projected_, mixing_;
  Orthonormalizer<T> orthonormalizer_;
};

}  // namespace bdl
