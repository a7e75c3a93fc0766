#include "prior/normals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "model/coefficients.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

/// Precision of flat priors, in standardised units: it changes nothing that data determine.
constexpr double flat_precision = 1e-12;
/// Flat priors beside an intercept's column have this fraction of its squares, for each of 64 slopes: the
/// whole matrix has to be positive definite despite rounding.
constexpr double flat_beside_intercept = 1e-13;
/// The part of an intercept's precision that is left on the diagonal, which has to be positive.
constexpr double on_diagonal = 1e-12;
constexpr double least_precision = 1e-30, most_precision = 1e30;  // precisions, which a float holds

double precision_of(double scale) {
  return scale == NormalPrior::flat ? flat_precision
                                    : std::clamp(1 / (scale * scale), least_precision, most_precision);
}

/// Numbers of the coefficients of one output: the intercept, if there is one, then the slopes.
struct CoefficientLayout {
  template <class T>
  explicit CoefficientLayout(const Model<T>& model)
      : outputs(model.outputs()),
        features(model.features()),
        has_bias(model.graph()->dense().front().has_bias()) {}
  Index outputs, features;
  bool has_bias;
  Index count() const { return outputs * (features + has_bias); }
  std::size_t intercept(Index c) const { return static_cast<std::size_t>(c * (features + has_bias)); }
  std::size_t slope(Index c, Index j) const { return intercept(c) + static_cast<std::size_t>(has_bias + j); }
  std::size_t weight(Index c, Index j) const { return static_cast<std::size_t>(c * features + j); }
  std::size_t bias(Index c) const { return static_cast<std::size_t>(outputs * features + c); }
};

/// OutputUnits of one output: f = a + s (sum_j w_j (x_j - m_j) / d_j + b).
class OutputUnits {
 public:
  OutputUnits(const Standardization& units, Index c)
      : in_(units.inputs()), shift(units.to_caller(c, 0)), scale(units.target_scale(c)) {}
  double input_scale(Index j) const { return in_.given() ? in_.scale[static_cast<std::size_t>(j)] : 1; }
  /// Returns m_j / d_j.
  double center(Index j) const {
    return in_.given() ? in_.mean[static_cast<std::size_t>(j)] / input_scale(j) : 0;
  }

 private:
  ColumnScales in_;

 public:
  const double shift, scale;
};

/// Converts the given coefficients of one output.
class OutputNormals {
 public:
  OutputNormals(const NormalPrior& given, const CoefficientLayout& layout, const OutputUnits& units, Index c,
                ParameterNormals& out)
      : given_(given), layout_(layout), units_(units), c_(c), out_(out) {}

  void write() {
    for (Index j = 0; j < layout_.features; ++j) write_slope(j);
    if (layout_.has_bias && !given_.is_left(layout_.intercept(c_))) write_intercept();
  }

 private:
  void write_slope(Index j) {
    const std::size_t k = layout_.slope(c_, j), at = layout_.weight(c_, j);
    if (given_.is_left(k)) return;
    const double to_parameter = units_.input_scale(j) / units_.scale;
    out_.precision[at] = precision_of(given_.scale[k] * to_parameter);
    out_.mean[at] = given_.location[k] * to_parameter;
  }

  void write_intercept() {
    const std::size_t k = layout_.intercept(c_), bias = layout_.bias(c_);
    const double lambda = precision_of(given_.scale[k] / units_.scale);
    double mean = (given_.location[k] - units_.shift) / units_.scale, squares = 0;
    for (Index j = 0; j < layout_.features; ++j) {
      mean += out_.mean[layout_.weight(c_, j)] * units_.center(j);
      squares += std::pow(units_.center(j), 2);
    }
    out_.mean[bias] = mean;
    out_.precision[bias] = lambda;
    if (squares > 0 && !given_.is_flat(k)) join(bias, lambda, squares);
  }

  /// Joins bias and weights by lambda (1, -m / d) (1, -m / d)^T.
  void join(std::size_t bias, double lambda, double squares) {
    out_.precision[bias] = std::max(least_precision, on_diagonal * lambda);
    const double part = flat_beside_intercept * std::max(1.0, static_cast<double>(layout_.features) / 64);
    double* const u = out_.add_column();
    u[bias] = std::sqrt(lambda - out_.precision[bias]);
    for (Index j = 0; j < layout_.features; ++j) {
      const std::size_t at = layout_.weight(c_, j);
      u[at] = -lambda / u[bias] * units_.center(j);
      if (given_.is_flat(layout_.slope(c_, j)))
        out_.precision[at] = std::max(flat_precision, part * lambda * squares);
    }
  }

  const NormalPrior& given_;
  const CoefficientLayout& layout_;
  const OutputUnits& units_;
  Index c_;
  ParameterNormals& out_;
};

}  // namespace

ParameterNormals::ParameterNormals(Index dimension)
    : precision(static_cast<std::size_t>(dimension)), mean(static_cast<std::size_t>(dimension)) {}

double* ParameterNormals::add_column() {
  u.resize(u.size() + mean.size());
  ++columns;
  return u.data() + (u.size() - mean.size());
}

template <class T>
Index checked_coefficient_count(const Model<T>* model) {
  if (!model) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
  return CoefficientMap(*model, -1).count();
}

template <class T>
ParameterNormals parameter_normals(const NormalPrior& given, const Model<T>* model) {
  if (given.of_coefficients) {
    checked_coefficient_count(model);
    const CoefficientLayout layout(*model);
    ParameterNormals out(model->parameters());
    for (Index c = 0; c < layout.outputs; ++c)
      OutputNormals(given, layout, OutputUnits(model->standardization, c), c, out).write();
    return out;
  }
  ParameterNormals out(static_cast<Index>(given.scale.size()));
  for (std::size_t j = 0; j < given.scale.size(); ++j) {
    if (given.is_left(j)) continue;
    out.precision[j] = precision_of(given.scale[j]);
    out.mean[j] = given.location[j];
  }
  return out;
}

template <class T>
void read_prior_of_coefficients(const NormalPrior& given, const Model<T>& model, ConstSpan<double> precision,
                                std::span<double> location, std::span<double> scale) {
  checked_coefficient_count(&model);
  const CoefficientLayout layout(model);
  const auto scale_at = [&](std::size_t k) { return given.is_flat(k) ? HUGE_VAL : given.scale[k]; };
  const auto set = [&](std::size_t k, std::size_t parameter, double shift, double unit) {
    if (given.of_coefficients && !given.is_left(k)) {
      location[k] = given.location[k];
      scale[k] = scale_at(k);
      return;
    }
    const bool by_parameter = !given.of_coefficients && given.given() && !given.is_left(parameter);
    location[k] = shift + unit * (by_parameter ? given.location[parameter] : 0);
    scale[k] = unit * (by_parameter ? scale_at(parameter) : 1 / std::sqrt(precision[parameter]));
  };
  for (Index c = 0; c < layout.outputs; ++c) {
    const OutputUnits units(model.standardization, c);
    if (layout.has_bias) set(layout.intercept(c), layout.bias(c), units.shift, units.scale);
    for (Index j = 0; j < layout.features; ++j)
      set(layout.slope(c, j), layout.weight(c, j), 0, units.scale / units.input_scale(j));
  }
}

#define BDL_INSTANTIATE(T)                                                                         \
  template Index checked_coefficient_count(const Model<T>*);                                       \
  template ParameterNormals parameter_normals(const NormalPrior&, const Model<T>*);                \
  template void read_prior_of_coefficients(const NormalPrior&, const Model<T>&, ConstSpan<double>, \
                                           std::span<double>, std::span<double>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
