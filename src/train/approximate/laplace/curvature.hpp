// The curvature H of the log likelihood of a whole data set at one mean, in the form that a family of
// posteriors keeps of it. It is computed once; evidence and posterior for any prior follow from it, without
// the data:
//
//   dense_curvature.cpp      all of H (full), or its blocks (layerwise_full)
//   low_rank_curvature.cpp   U U^T of the largest eigenpairs and the diagonal that they leave; rank 0: the
//                            diagonal
//   kronecker_curvature.cpp  eigenvectors of a layer's factors, and H along their pairs
//
// The evidence needs K = (I + s B)^-1 with B = Lambda_0^-1/2 H Lambda_0^-1/2 for a diagonal Lambda_0: its
// determinant, its diagonal and its squares (docs/theory/evidence.md).
#pragma once

#include <memory>

#include "curvature/estimator.hpp"
#include "data/data_set.hpp"
#include "options/options.hpp"
#include "posterior/posterior.hpp"
#include "prior/prior.hpp"
#include "ranks/team.hpp"

namespace bdl {

/// How the curvature is made of the data.
struct CurvatureForm {
  FisherLabels fisher = FisherLabels::exact;
  KroneckerEigenvalues eigenvalues = KroneckerEigenvalues::products;
  ProjectionOptions projection;
  std::uint64_t seed = 1, step = 0;  ///< of labels that are drawn, and of the range finder
};

/// The data, and the ranks that share them: each reads the rows of its shards.
struct SharedData {
  DataSet& data;
  double size;  ///< N: the examples that the data count as
  Team& team;
  Index shards;
  double weight() const { return size / static_cast<double>(data.rows()); }
};

/// Sums over K of the parameters that are no points.
struct EvidenceSums {
  double log_det = 0;           ///< of I + s B
  double effective = 0;         ///< sum of 1 - K_jj
  std::vector<double> traces;   ///< sum of 1 - K_jj in each group
  std::vector<double> squares;  ///< sum of K_ij^2 over i in one group and j in the other
  double& square(Index g, Index h) {
    return squares[static_cast<std::size_t>(g) * traces.size() + static_cast<std::size_t>(h)];
  }
  /// Sets the sums over groups to 0.
  void clear(Index groups) {
    log_det = effective = 0;
    traces.assign(static_cast<std::size_t>(groups), 0);
    squares.assign(static_cast<std::size_t>(groups * groups), 0);
  }
};

template <class T>
class LaplaceCurvature {
 public:
  virtual ~LaplaceCurvature() = default;
  /// Computes the sums for s H; those over groups only if `by_groups`. Fails with ERROR_DIVERGED if s H plus
  /// the precisions is not positive definite.
  virtual void sums(const GroupedPrecisions& prior, double s, bool by_groups, EvidenceSums& out) const = 0;
  /// Fails with ERROR_UNSUPPORTED unless it has sums over these groups.
  virtual void check_groups(const GroupedPrecisions& /*prior*/) const {}
  /// Makes q, which has the mean, the posterior with the precision s H + Lambda_0.
  virtual void write(const Prior<T>& prior, double s, Posterior<T>& q) const = 0;
};

/// Computes the curvature at q's mean and running statistics in q's family. Of a prior that is a posterior,
/// low-rank families add the columns to H, and Kronecker-factored ones choose their basis by it. All ranks
/// call it within Team::telling. Fails with ERROR_DIVERGED if it is not finite.
template <class T>
std::unique_ptr<LaplaceCurvature<T>> make_curvature(const Model<T>& model, const Posterior<T>& q,
                                                    Prior<T>& prior, const CurvatureForm& form,
                                                    const SharedData& shared);

/// Returns the kind of the rows that option "fisher" means.
CurvatureKind curvature_kind(FisherLabels labels);
/// Returns the seeds of the rows of a family's curvature; labels that are drawn are those of the examples
/// from `first` on.
template <class T>
SeedSpec curvature_seeds(const CurvatureForm& form, const Posterior<T>& q, double weight, Index first);

/// Makes the precision of q, whose mean stays, `curvature` plus Lambda_0: a natural step of rate 1 from the
/// prior.
template <class T>
void step_from_prior(const Prior<T>& prior, const Curvature<T>& curvature, Posterior<T>& q);

}  // namespace bdl
