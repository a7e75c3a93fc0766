// p(y | f) for the likelihoods of spec/core.md section 4: densities, and the seeds that back-propagation
// turns into gradient and curvature rows.
#pragma once

#include <vector>

#include "base/array.hpp"
#include "bdl/model.h"

namespace bdl {

/// Where the noise precision comes from: nobody yet, an optimizer, or the caller.
enum class NoiseOrigin { none = 0, training = 1, caller = 2 };

class Likelihood {
 public:
  Likelihood(bdl_likelihood kind, Index outputs);

  bdl_likelihood kind() const { return kind_; }
  Index outputs() const { return outputs_; }
  /// Columns of y.
  Index targets() const { return kind_ == BDL_CATEGORICAL ? 1 : outputs_; }

  /// Gaussian noise precision: one value, or one per output.
  ConstSpan<double> noise_precision() const { return noise_precision_; }
  void set_noise_precision(ConstSpan<double> values, NoiseOrigin origin = NoiseOrigin::caller);
  /// As training moves it: what the caller has set stays the caller's.
  void learn_noise_precision(ConstSpan<double> values);
  /// Back to 1 and none, unless the caller has set it.
  void forget_learned_noise();
  NoiseOrigin noise_origin() const { return noise_origin_; }
  /// False: training may choose the start.
  bool noise_is_set() const { return noise_origin_ != NoiseOrigin::none; }
  double noise_precision(Index output) const {
    return noise_precision_[noise_precision_.size() == 1 ? 0 : static_cast<std::size_t>(output)];
  }

  /// Fails with ERROR_SHAPE, ERROR_NOT_FINITE or ERROR_LABEL (naming the row) unless y fits.
  void check_targets(const Array& y, Index rows, const char* name) const;

  /// log p(y | f), constants included.
  template <class T>
  double log_density(const T* f, const T* y) const;

  /// Mean of y (C values; the class probabilities if categorical) and its variance given f.
  template <class T>
  void moments(const T* f, double* mean, double* variance) const;

  /// Gradient of -log p(y | f) with respect to f.
  template <class T>
  void gradient(const T* f, const T* y, T* seed) const;

  /// Column k < C of a square root A of the Hessian, A A^T = -d^2 log p / df^2, and the coefficient z_k with
  /// A z = gradient: the gradient is a combination of the curvature rows.
  template <class T>
  void hessian_root(const T* f, const T* y, Index k, T* seed, double* coefficient) const;

 private:
  bdl_likelihood kind_;
  Index outputs_;
  std::vector<double> noise_precision_{1.0};
  NoiseOrigin noise_origin_ = NoiseOrigin::none;
};

}  // namespace bdl
