// Best rank-L approximation U U^T of A A^T for a tall factor A that is known through its products only
// (docs/mathematics/natural-gradients.md, "The low-rank step and its projection").
#pragma once

#include "base/function_ref.hpp"
#include "linalg/dense/lower_products.hpp"
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

  /// Of a factor whose columns are spread over ranks: scratch for passes over tall matrices, which ranks
  /// share; null for others. Then cols() and project() are of the columns here, combine() is the sum over
  /// all, and there is no gram().
  virtual TallScratch* spread() { return nullptr; }
  /// visit(first, count) of the columns that products are made of at a time, in order.
  virtual void for_each_group(FunctionRef<void(Index first, Index count)> visit) const { visit(0, cols()); }
  /// Lower triangle of P P^T over all columns, for one column of P a column of A.
  virtual void products(ConstMatrixView<T> p, MatrixView<double> out) {
    clear_lower(out);
    add_lower_products(p, out);
  }
};

struct ProjectionOptions {
  EigenMethod method = EigenMethod::automatic;
  Index passes = 2;        ///< multiplications with A A^T of the randomized method
  Index oversampling = 8;  ///< columns it carries beyond L
  bool spread = false;     ///< the factor's columns are spread over ranks
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

/// Flops of that method: those that ranks share, and those that each of them does alone.
struct ProjectionCost {
  double shared = 0, alone = 0;
};
ProjectionCost projection_cost(const ProjectionSize& size, const ProjectionOptions& options);

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
  void by_range(Factor<T>& factor, const ProjectionSize& size, const ProjectionOptions& options,
                MatrixView<T> u);
  Index orthonormalize(Factor<T>& factor, Index rows, Index columns, bool is_last);
  Index decompose_small(Factor<T>& factor, ConstMatrixView<T> b, Index columns, Index count);

  // spread_basis.cpp
  void reserve_spread(Index columns);
  Index orthonormalize_spread(Index rows, Index columns, int rounds, TallScratch& scratch);
  Index whiten(MatrixView<double> gram, double floor);

  TopEigen eigen_;
  Buffer<double> matrix_, lengths_;
  Buffer<T> weights_, basis_, image_, projected_, mixing_;
  Orthonormalizer<T> orthonormalizer_;
};

}  // namespace bdl
