// Coefficients of generalised linear models in the caller's units, as documented for
// bdl_model_coefficients().
#pragma once

#include "model/model.hpp"

namespace bdl {

/// The affine map from parameters to coefficients. The network computes f_c = a_c + s_c (sum_j w_cj (x_j -
/// m_j) / d_j + b_c), so slopes are s_c w_cj / d_j and the intercept is a_c + s_c (b_c - sum_j w_cj m_j /
/// d_j). With a base class the base's coefficients are subtracted from those of the others.
class CoefficientMap {
 public:
  /// Fails with ERROR_UNSUPPORTED unless the model is one dense layer, and, with a base class (>= 0), unless
  /// its likelihood is categorical.
  template <class T>
  CoefficientMap(const Model<T>& model, Index base);

  Index count() const { return terms() * (outputs_ - (base_ >= 0)); }
  /// Computes the coefficients of one parameter vector; without constants, those of a difference of two.
  void apply(ConstSpan<double> parameters, std::span<double> coefficients, bool constants = true) const;

 private:
  Index terms() const { return inputs_ + has_bias_; }
  Index outputs_, inputs_, base_;
  bool has_bias_;
  const Standardization& units_;
};

/// Returns the number of coefficients, or 0 where the map does not exist.
template <class T>
Index coefficient_count(const Model<T>& model, Index base);

}  // namespace bdl
