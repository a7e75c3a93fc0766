#include "model/coefficients.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "network/graph.hpp"

namespace bdl {
namespace {

template <class T>
bool is_linear(const Model<T>& model) {
  return model.graph() && model.graph()->is_linear();
}

template <class T>
bool has_base(const Model<T>& model, Index base) {
  return base == -1 || (model.likelihood.kind() == BDL_CATEGORICAL && base >= 0 && base < model.outputs());
}

bool shifts(const Standardization& units) {
  const auto is_shift = [](double mean) { return mean != 0; };
  return std::ranges::any_of(units.inputs().mean, is_shift) ||
         std::ranges::any_of(units.targets().mean, is_shift);
}

}  // namespace

template <class T>
CoefficientMap::CoefficientMap(const Model<T>& model, Index base)
    : outputs_(model.outputs()), inputs_(model.features()), base_(base), units_(model.standardization) {
  if (!is_linear(model))
    fail(Status::ERROR_UNSUPPORTED, "the model is not one dense layer: only such models have coefficients");
  if (base >= 0 && model.likelihood.kind() != BDL_CATEGORICAL)
    fail(Status::ERROR_UNSUPPORTED, "base_class is %lld, but the likelihood is not categorical: expected -1",
         static_cast<long long>(base));
  if (!has_base(model, base))
    fail(Status::ERROR_INVALID_ARGUMENT, "base_class is %lld, expected -1 to %lld",
         static_cast<long long>(base), static_cast<long long>(model.outputs() - 1));
  has_bias_ = model.graph()->dense().front().has_bias();
  if (!has_bias_ && shifts(units_))
    fail(
        Status::ERROR_UNSUPPORTED,
        "the model has no bias, but its standardisation shifts x or y, which is an intercept: standardise by "
        "scales only");
}

/// Parameters are W row by row, then b.
void CoefficientMap::apply(ConstSpan<double> parameters, std::span<double> coefficients,
                           bool constants) const {
  const ColumnScales in = units_.inputs();
  const auto input_mean = [&](Index j) { return in.given() ? in.mean[static_cast<std::size_t>(j)] : 0; };
  const auto input_scale = [&](Index j) { return in.given() ? in.scale[static_cast<std::size_t>(j)] : 1; };
  const auto write = [&](Index c, double sign, double* out) {
    const double scale = sign * units_.target_scale(c);
    const double* w = parameters.data() + c * inputs_;
    double intercept = has_bias_ ? scale * parameters[static_cast<std::size_t>(outputs_ * inputs_ + c)] : 0;
    if (constants) intercept += sign * units_.to_caller(c, 0);
    for (Index j = 0; j < inputs_; ++j) {
      const double slope = scale * w[j] / input_scale(j);
      intercept -= slope * input_mean(j);
      out[j + has_bias_] += slope;
    }
    if (has_bias_) out[0] += intercept;
  };
  double* out = coefficients.data();
  std::fill_n(out, count(), 0.0);
  for (Index c = 0; c < outputs_; ++c) {
    if (c == base_) continue;
    write(c, 1, out);
    if (base_ >= 0) write(base_, -1, out);
    out += terms();
  }
}

template <class T>
Index coefficient_count(const Model<T>& model, Index base) {
  if (!is_linear(model) || !has_base(model, base)) return 0;
  return model.parameters() / model.outputs() * (model.outputs() - (base >= 0));
}

#define BDL_INSTANTIATE(T)                                         \
  template CoefficientMap::CoefficientMap(const Model<T>&, Index); \
  template Index coefficient_count(const Model<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
