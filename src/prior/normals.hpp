// Normal priors that a caller gives, one for each parameter or one for each coefficient of a generalised
// linear model in the caller's units of x and y, and what they are for the parameters of standardised data.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace bdl {

/// Locations and scales as given, in numbers that files hold: a scale of 0 is a flat prior, and -1 leaves the
/// prior as the options say.
struct NormalPrior {
  static constexpr double flat = 0, left = -1;
  std::vector<double> location, scale;
  bool of_coefficients = false;  ///< in the order of bdl_model_coefficients(); else of parameters

  bool given() const { return !scale.empty(); }
  bool is_left(std::size_t k) const { return scale[k] < 0; }
  bool is_flat(std::size_t k) const { return scale[k] == flat; }
};

/// The same for parameters. An intercept where the inputs are 0 is b - sum_j w_j m_j / d_j for inputs with
/// means m and scales d: its precision joins these parameters, and is a column of U.
struct ParameterNormals {
  std::vector<double> precision;  ///< of D; 0 where the options say
  std::vector<double> mean;
  std::vector<double> u;  ///< D x K
  Index columns = 0;      ///< K; U U^T is added to the diagonal of precisions

  explicit ParameterNormals(Index dimension);
  Index dimension() const { return static_cast<Index>(mean.size()); }
  /// Adds a column of zeros to U and returns it.
  double* add_column();
  bool given(Index j) const { return precision[static_cast<std::size_t>(j)] > 0; }
};

/// Converts a prior of parameters, or of coefficients with the present units of the model. Fails with
/// ERROR_UNSUPPORTED if the model has no such coefficients.
template <class T>
ParameterNormals parameter_normals(const NormalPrior& given, const Model<T>* model);

/// Returns the number of coefficients of a generalised linear model. Fails with ERROR_UNSUPPORTED for others.
template <class T>
Index checked_coefficient_count(const Model<T>* model);

/// Writes the prior of each coefficient in the caller's units: as given, else by the precision of its
/// parameter. The intercept is then that of centred inputs. Flat priors have infinite scales.
template <class T>
void read_prior_of_coefficients(const NormalPrior& given, const Model<T>& model, ConstSpan<double> precision,
                                std::span<double> location, std::span<double> scale);

}  // namespace bdl
