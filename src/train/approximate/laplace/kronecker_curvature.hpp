// The curvature of each layer as N Gamma (x) Omega, in the basis of the factors' eigenvectors
// (docs/theory/kronecker.md, "Laplace"), for the Kronecker-factored family.
#pragma once

#include "posterior/blocks/blocks.hpp"
#include "posterior/kronecker/joint_basis.hpp"
#include "ranks/tree_sums.hpp"
#include "train/approximate/laplace/curvature.hpp"

namespace bdl {

template <class T>
class DataChunks;

template <class T>
class KroneckerCurvature final : public LaplaceCurvature<T> {
 public:
  KroneckerCurvature(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior, const CurvatureForm& form,
                     const SharedData& shared);

  void sums(const GroupedPrecisions& prior, double s, bool by_groups, EvidenceSums& out) const override;
  /// The precisions of a layer must be equal: else the sums depend on eigenvectors that are not unique where
  /// eigenvalues repeat.
  void check_groups(const GroupedPrecisions& prior) const override;
  void write(const Prior<T>& prior, double s, Posterior<T>& q) const override;

 private:
  /// Holds what one pass over the data needs.
  struct Pass {
    const Model<T>& model;
    const CurvatureForm& form;
    const SharedData& shared;
  };
  template <class Fill>
  ConstSpan<double> add_shards(const Pass& pass, Index numbers, Fill&& fill);
  void find_factors(const Pass& pass);
  void set_products(std::size_t k, const KroneckerPosterior<T>* prior);
  std::vector<double> find_vectors(ConstMatrixView<double> factor, MatrixView<T> vectors);
  void correct(const Pass& pass);
  template <class Visit>
  void for_matrices(Visit&& visit) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      if (shapes_[k].is_matrix()) visit(k);
  }
  const KroneckerPosterior<T>& member(std::size_t k) const {
    return as_kronecker(std::as_const(*h_).member(static_cast<Index>(k)));
  }
  KroneckerPosterior<T>& member(std::size_t k) {
    return dynamic_cast<KroneckerPosterior<T>&>(h_->member(static_cast<Index>(k)));
  }
  Index first(std::size_t k) const { return h_->offset(static_cast<Index>(k)); }

  std::unique_ptr<Posterior<T>> held_;  // its precisions are H along the pairs, which may be 0
  BlocksPosterior<T>* h_;
  std::vector<MatrixShape> shapes_;
  TreeSums<double> sums_;
  KroneckerFactors factors_;
  Scratch scratch_, of_posterior_;  // of the constructor
  FactorEigen eigen_;
  JointBasis<T> joint_;
};

}  // namespace bdl
