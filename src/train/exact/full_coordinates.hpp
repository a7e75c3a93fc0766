// Coordinates of posteriors with full covariance, or with one in each of their blocks. With the precision
// L L^T of the center,
//   mu = mu_0 + L^-T e,   Sigma = C C^T with C = L^-T W^T,
//   W lower triangular with W_ii = exp(E_ii) and W_ij = E_ij.
// The loss is convex in (e, W) where the likelihood is log-concave (Challis, Barber 2013); the logarithms let
// standard deviations grow by factors.
#pragma once

#include "posterior/full/full.hpp"
#include "train/exact/coordinates.hpp"

namespace bdl {

class FullCoordinates final : public Coordinates {
 public:
  /// Both arguments must outlive it.
  FullCoordinates(ExactElbo& elbo, Posterior<double>& q);
  Index size() const override { return size_; }
  void center() override;
  void place(ConstSpan<double> z, double scale) override;
  ExactElbo::Value differentiate(std::span<double> gradient) override;
  /// Returns the number of coordinates of posteriors like q.
  static Index count(const Posterior<double>& q);

 private:
  struct Block {
    FullPosterior<double>* q;
    Index offset;
  };
  template <class Visit>
  void for_each_lower(Visit&& visit) const;
  MatrixView<double> square(Buffer<double>& buffer) { return buffer.matrix(dimension_, dimension_); }
  ExactElbo& elbo_;
  Posterior<double>& q_;
  Index dimension_, size_;
  std::vector<Block> blocks_;
  struct Memory {
    Buffer<double> mean, shift, root, spread, w, first, second;
    void reserve(Index dimension);
  } memory_;
};

}  // namespace bdl
