// Best rank-L approximation U U^T of A A^T for a tall factor A that is known through its products only
// (docs/theory/natural-gradients.md, "The low-rank step and its projection").
#pragma once

#include "base/scratch.hpp"
#include "options/choices.hpp"
#include "rng/philox.hpp"

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

/// Sizes that the cost model needs; product_flops are those of one column of project() or combine().
struct ProjectionSize {
  Index rows = 0, cols = 0, rank = 0;
  double gram_flops = 0, product_flops = 0;
};

/// Returns the method to be used for this size, if options.method is automatic the cheapest one.
EigenMethod choose_method(const ProjectionSize& size, const ProjectionOptions& options);

/// The start of the randomized method: the columns of `near` that are not 0 (the factor before a step,
/// since A changes by O(beta) per step and few passes suffice), and normal numbers of the streams
/// random.sample + k.
template <class T>
struct ProjectionStart {
  ConstMatrixView<T> near{};
  StreamKey random{};
};

/// U = Q_L Lambda_L^1/2 of A A^T (D x L), with columns of zeros where A's rank is smaller.
template <class T>
void project_to_low_rank(Factor<T>& factor, const ProjectionSize& size, const ProjectionOptions& options,
                         const ProjectionStart<T>& start, MatrixView<T> u, Scratch& scratch);

/// Replaces the columns of Q (rows >= cols) by an orthonormal basis whose span contains theirs, by Gram and
/// Schmidt's projections, each done again until nothing is lost (Giraud et al. 2005): well defined for any
/// rank.
template <class T>
void orthonormalize(MatrixView<T> q, Scratch& scratch);

}  // namespace bdl
