// Curvatures that are kept as U U^T + diag(r), for the low-rank and, with rank 0, the diagonal family.
#pragma once

#include "train/approximate/laplace/curvature.hpp"

namespace bdl {

template <class T>
class LowRankCurvature final : public LaplaceCurvature<T> {
 public:
  LowRankCurvature(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior, const CurvatureForm& form,
                   const SharedData& shared);

  void sums(const GroupedPrecisions& prior, double s, bool by_groups, EvidenceSums& out) const override;
  void write(const Prior<T>& prior, double s, Posterior<T>& q) const override;

 private:
  void find_diagonal(const Model<T>& model, const Posterior<T>& q, const CurvatureForm& form,
                     const SharedData& shared);
  void find_columns(const Posterior<T>& q, Prior<T>& prior, Rows<T>& rows, ConstSpan<T> weights,
                    const CurvatureForm& form);

  ConstMatrixView<T> u() const { return u_.matrix(size_, rank_); }
  ConstSpan<T> r() const { return r_.first(size_); }

  Index size_, rank_;
  Buffer<T> u_, r_;
};

}  // namespace bdl
