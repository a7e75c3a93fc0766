// Curvatures that are kept as dense matrices, for the full and the layerwise-full family.
#pragma once

#include "ranks/tree_sums.hpp"
#include "train/approximate/laplace/curvature.hpp"

namespace bdl {

template <class T>
class DenseCurvature final : public LaplaceCurvature<T> {
 public:
  DenseCurvature(const Model<T>& model, const Posterior<T>& q, const CurvatureForm& form,
                 const SharedData& shared);

  void sums(const GroupedPrecisions& prior, double s, bool by_groups, EvidenceSums& out) const override;
  void write(const Prior<T>& prior, double s, Posterior<T>& q) const override;

 private:
  std::vector<IndexRange> blocks_;  // the parameters of each matrix
  TreeSums<double> sums_;           // the matrices, one after the other; lower triangles
};

}  // namespace bdl
