// The scales that are learned with a step: precisions of the prior's groups and of the noise.
#include <cmath>

#include "inference/methods/rule.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// Not from the mode, whose mean square says nothing of the prior.
template <class T>
bool Optimizer<T>::learns_prior() const {
  return options_.learn_prior && !prior_.is_fixed() && rule() != Rule::map;
}

template <class T>
bool Optimizer<T>::learns_noise() const {
  return options_.learn_noise && model_->likelihood.has_noise_precision();
}

/// Do they need samples that the estimate of gradient and curvature does not make?
template <class T>
bool Optimizer<T>::samples_for_scales() const {
  const EstimateKind kind = options_.curvature;
  return (learns_prior() || learns_noise()) && !is_sampled(kind) && !is_noisy() &&
         !(rule() == Rule::map && is_linearized(kind));
}

template <class T>
bool Optimizer<T>::learns_scales(Index epoch_steps) const {
  return is_due(options_.learn_from, epoch_steps) && (learns_prior() || learns_noise());
}

/// Once the scale fits.
template <class T>
bool Optimizer<T>::learns_degrees(Index epoch_steps) const {
  return learns_noise() && options_.learn_degrees_of_freedom && model_->likelihood.kind() == BDL_STUDENT_T &&
         is_due(options_.heteroscedastic_from, epoch_steps);
}

/// What scales are learned from, over the examples x and y.
template <class T>
void Optimizer<T>::sum_scales(ConstMatrixView<T> x, ConstMatrixView<T> y, Index epoch_steps) {
  if (!learns_scales(epoch_steps)) return;
  if (samples_for_scales())
    work_.evidence->sample(*posterior_, x, options_, draws(), {state.step, 0}, work_.scratch);
  sum_errors(y, epoch_steps);
  degrees_slope_ /= static_cast<double>(work_.evidence->outputs().cols * y.rows);
  scales_.prior_squares.resize(learns_prior() ? prior_.groups().size() : 0);
  if (learns_prior())
    prior_.mean_squares(is_noisy() ? moments() : work_.evidence->thetas(), scales_.prior_squares);
}

/// At the last outputs.
template <class T>
void Optimizer<T>::sum_errors(ConstMatrixView<T> y, Index epoch_steps) {
  if (!learns_noise()) return;
  scales_.squared_errors.resize(static_cast<std::size_t>(y.rows));
  sum_squared_errors<T>(model_->likelihood, work_.evidence->outputs(), y, scales_.squared_errors);
  if (learns_degrees(epoch_steps))
    degrees_slope_ = degrees_slope<T>(model_->likelihood, work_.evidence->outputs(), y);
}

template <class T>
void Optimizer<T>::learn_scales(Index examples, Index epoch_steps) {
  scales_.prior.clear();
  scales_.noise.clear();
  scales_.degrees = 0;
  if (!learns_scales(epoch_steps)) return;
  const Index first = state.learning_step ? state.learning_step : state.step + 1;
  const double weight = scale_weight(options_.scale_rate, state.step + 2 - first);
  if (learns_prior()) learn_prior<T>(prior_, weight, scales_);
  if (learns_noise()) learn_noise(model_->likelihood, examples, weight, scales_);
  if (learns_degrees(epoch_steps)) learn_degrees(model_->likelihood, degrees_slope_, weight, scales_);
  state.learning_step = first;
}

/// Two columns with the mean square that draws have: no draw of the whole network was made.
template <class T>
ConstMatrixView<T> Optimizer<T>::moments() {
  const Posterior<T>& q = *posterior_;
  const Index dimension = q.dimension();
  const auto columns = work_.moments.matrix(dimension, 2);
  q.marginal_variance(columns.column(1), work_.scratch);
  const T *const mean = q.mean().data(), two = 2;
  T *const of_mean = columns.column_data(0), *const deviation = columns.column_data(1);
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA {
    of_mean[i] = std::sqrt(two) * mean[i];
    deviation[i] = std::sqrt(two * deviation[i]);
  });
  return columns;
}

#define BDL_INSTANTIATE(T)                                                               \
  template bool Optimizer<T>::learns_prior() const;                                      \
  template bool Optimizer<T>::learns_noise() const;                                      \
  template bool Optimizer<T>::samples_for_scales() const;                                \
  template bool Optimizer<T>::learns_scales(Index) const;                                \
  template bool Optimizer<T>::learns_degrees(Index) const;                               \
  template void Optimizer<T>::sum_scales(ConstMatrixView<T>, ConstMatrixView<T>, Index); \
  template void Optimizer<T>::sum_errors(ConstMatrixView<T>, Index);                     \
  template void Optimizer<T>::learn_scales(Index, Index);                                \
  template ConstMatrixView<T> Optimizer<T>::moments();
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
