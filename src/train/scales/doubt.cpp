#include "train/scales/doubt.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace bdl {
namespace {

constexpr int steps = 5;                  // of the search
constexpr double time_to_doubt = 2 / 3.;  // of the course: some signals are seen late

/// Returns the log likelihood of the frequencies of the labels, per example. A share of successes counts for
/// both labels.
template <class T>
double log_likelihood_of_frequencies(const Likelihood& likelihood, ConstMatrixView<T> y) {
  double sum = 0;
  for (Index c = 0; c < likelihood.targets(); ++c) {
    std::map<T, double> counts;
    double all = 0;
    for (Index i = 0; i < y.cols; ++i) {
      if (std::isnan(y(c, i))) continue;
      const T label = std::ceil(y(c, i));
      const double weight = likelihood.weight(y.column_data(i)), rest = static_cast<double>(label - y(c, i));
      counts[label] += weight * (1 - rest);
      counts[0] += weight * rest;
      all += weight;
    }
    for (const auto& [label, count] : counts)
      if (count > 0) sum += count * std::log(count / all);
  }
  for (Index i = 0; i < y.cols; ++i) sum += likelihood.log_orders(y.column_data(i));
  return sum / static_cast<double>(y.cols);
}

}  // namespace

template <class T>
bool may_doubt(const Optimizer<T>& optimizer) {
  const MethodContext& context = optimizer.context();
  return optimizer.method().kind == MethodKind::batch && optimizer.options().learn_prior == learn_in_doubt &&
         context.is_network && context.has_classes() && context.without_separate_examples.empty() &&
         !optimizer.prior().is_fixed() && !optimizer.prior().has_normals() &&
         optimizer.posterior()->is_gaussian();
}

template <class T>
Doubt<T>::Doubt(Optimizer<T>& optimizer, DataSet& data, Index shards)
    : optimizer_(optimizer),
      sample_(optimizer, data, shards),
      evidence_(optimizer, sample_),
      of_frequencies_(log_likelihood_of_frequencies(optimizer.model()->likelihood, sample_.y())) {}

template <class T>
void Doubt<T>::look() {
  TrainingState& state = optimizer_.state;
  if (state.step != step_at(state.plan, std::max(optimizer_.options().learn_from, time_to_doubt))) return;
  evidence_.compute();
  evidence_.begin_afresh();
  evidence_.search({true, false, false}, steps);
  state.is_in_doubt = evidence_.value() < of_frequencies_ * static_cast<double>(sample_.data_rows());
}

#define BDL_INSTANTIATE(T)                      \
  template bool may_doubt(const Optimizer<T>&); \
  template class Doubt<T>;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
