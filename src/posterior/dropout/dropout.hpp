// Dropout as a posterior (Gal and Ghahramani 2016): theta is the mean with the weights of units masked at
// random. A unit feeds a weight matrix; its column there is multiplied by 0 with the probability `rate` and
// by 1 / (1 - rate) else, so that E[theta] is the mean. The units of a convolution are its input's channels,
// whose column is that of all taps. A mask serves all examples of a pass. There is no density over theta.
#pragma once

#include "model/model.hpp"
#include "network/graph.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
class DropoutPosterior final : public Posterior<T> {
 public:
  explicit DropoutPosterior(DropoutLayout layout, PointLayout points = {});

  const DropoutLayout& layout() const { return layout_; }
  /// Masked units: all inputs of all weight matrices, all channels that convolutions read.
  Index units() const { return units_; }
  /// Column s (units x S): the masks that the stream key.sample + s makes draws of theta with.
  void draw_masks(StreamKey key, MatrixView<T> masks) const;
  /// to = from with each weight times its unit's mask, theta for the mean; the same for its gradient, since
  /// dtheta / dmean is diagonal. In place if they are the same.
  void apply(ConstSpan<T> mask, const T* from, T* to) const;
  /// precision_i E[theta_i^2] / mean_i^2: what a Gaussian prior of those precisions asks of the mean.
  void weigh_prior(ConstSpan<T> precision, std::span<T> out) const;

  Family family() const override { return Family::dropout; }
  Index rank() const override { return 0; }
  std::unique_ptr<Posterior<T>> clone() const override;
  void assign(const Posterior<T>& other) override;
  void swap(Posterior<T>& other) override;
  void tensors(const TensorVisitor<T>& visit) override { this->visit_mean(visit); }
  void color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>, Scratch& scratch) const override;
  void variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const override;
  void marginal_variance(std::span<T> out, Scratch& scratch) const override;
  /// Sigma is block diagonal, of rank 1 per unit.
  void solve(MatrixView<T> x, Scratch& scratch) const override;
  /// Sets nothing: the variance is that of the rates.
  void set_isotropic(double) override {}

  // These have no meaning here, and fail with ERROR_UNSUPPORTED.
  void set_diagonal(ConstSpan<T>, std::optional<std::uint64_t>) override;
  double update(const PosteriorStep<T>&, Scratch&) override;
  void drift(const Posterior<T>&, const Drift<T>&, Scratch&) override;
  void precision_diagonal(std::span<T>) const override;
  void multiply_precision(ConstSpan<T>, std::span<T>, Scratch&) const override;
  double quadratic(ConstSpan<T>, Scratch&) const override;
  double log_det_covariance() const override;
  double trace_precision(const Posterior<T>&, Scratch&) const override;

 protected:
  PosteriorKind family_kind() const override { return {Family::dropout, this->dimension_, 0, {}, layout_}; }

 private:
  struct Layer {
    DropoutLayout::Layer shape;
    Index offset;
    double rate, mask_variance;  // rate / (1 - rate)
    T threshold, kept;           // normals below the threshold drop their unit; others count 1 / (1 - rate)
  };
  /// visit(k): weight k of the layer, of those that unit i feeds.
  template <class Visit>
  static void for_each_weight(const Layer& layer, Index i, Visit&& visit);
  double unit_product(const Layer& layer, Index i, const T* x) const;
  void color_layer(const Layer& layer, const T* centre, T* theta) const;
  DropoutLayout layout_;
  std::vector<Layer> layers_;
  Index units_ = 0;
};

/// Returns q as what it is, or null for other families.
template <class T>
const DropoutPosterior<T>* find_dropout(const Posterior<T>& q) {
  return q.family() == Family::dropout ? &static_cast<const DropoutPosterior<T>&>(q) : nullptr;
}

/// Fails with ERROR_UNSUPPORTED for other families.
template <class T>
const DropoutPosterior<T>& as_dropout(const Posterior<T>& q);

/// Returns all layers with weights.
template <class T>
std::vector<DropoutLayout::Layer> layers_with_masks(const Graph<T>& graph);

/// Fails with ERROR_SHAPE if q is one of dropout for another network.
template <class T>
void check_masks_fit(const Model<T>& model, const Posterior<T>& q);

/// Fails with ERROR_UNSUPPORTED, naming what is asked for, if q is one of dropout.
template <class T>
void check_gaussian(const Posterior<T>& q, const char* what);

}  // namespace bdl
