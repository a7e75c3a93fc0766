// Estimates of the Hessian of the negative log likelihood over posterior samples, exact for each sample
// (mc-hess, docs/theory/curvature.md, "Exact Hessians"): it may be indefinite.
#pragma once

#include "curvature/hessian_products.hpp"
#include "curvature/linear_hessian.hpp"

namespace bdl {

enum class HessianForm { dense = 0, diagonal = 1, probes = 2, products = 3 };

/// Estimates sum_s sum_i -d^2 log p(y_i | f(x_i; theta_s)) / dtheta^2, for thetas (D x S), x (inputs x M)
/// and y (targets x M), times N / (M S). Large batches are divided. Nothing is allocated once reserved.
template <class T>
class HessianEstimator {
 public:
  /// Fails with ERROR_UNSUPPORTED for a custom model, which gives first derivatives only.
  explicit HessianEstimator(const Model<T>& model);

  void reserve(Index examples, HessianForm form);

  /// Writes the lower triangle of scale times the sum (D x D). O(S M D^2) for networks, by products with
  /// unit vectors; at most O(M D^2) for generalised linear models (LinearHessian).
  void dense(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, double scale,
             MatrixView<double> out);
  /// Writes the exact diagonal. O(S M D U), where U is the number of hidden units; O(S M D) without any.
  void diagonal(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, double scale,
                std::span<T> out);
  /// Writes the diagonal as the mean of z_n ∘ H z_n over the columns of probes (D x P), the same for all
  /// samples (Hutchinson). Unbiased if they have independent elements of mean 0 and variance 1; exact where
  /// H is diagonal and they are signs. O(S M D P): diagonal() costs less unless U is larger than P.
  void diagonal_by_probes(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, double scale,
                          ConstMatrixView<T> probes, std::span<T> out);
  /// Writes the product of scale times the sum with V (D x K).
  void products(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, double scale,
                ConstMatrixView<T> v, MatrixView<T> out);

  static constexpr Index most_examples = 1024;  ///< largest number of examples of a pass
  /// Returns how many directions are multiplied at a time: enough for large products, few enough for the
  /// cache.
  static Index directions(const Graph<T>& graph, Index examples);

 private:
  bool is_linear() const { return graph_.is_linear(); }
  template <class Visit>
  void visit_parts(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y, Visit visit);
  template <class Visit>
  void visit_products(ConstMatrixView<T> v, Visit visit);
  void write_sums(std::span<T> out) const;

  const Graph<T>& graph_;
  HessianProducts<T> products_;
  LinearHessian<T> linear_;
  Index reserved_examples_ = 0, together_ = 0;  // together_: number of directions at a time
  Buffer<T> units_, images_;
  Buffer<double> sums_;
};

}  // namespace bdl
