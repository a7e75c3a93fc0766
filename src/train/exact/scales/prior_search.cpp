#include "train/exact/scales/prior_search.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "network/graph.hpp"
#include "optimize/minimize.hpp"

namespace bdl {
namespace {

constexpr double largest_log = 30;     // of scales, in absolute value
constexpr double close_enough = 1e-7;  // standard deviations of the log scales
constexpr Index evidence_pairs = 20;

}  // namespace

template <class T>
PriorSearch<T>::PriorSearch(Optimizer<T>& optimizer, ExactElbo& elbo, Posterior<double>& q, bool learns_noise,
                            double most_noise_precision)
    : optimizer_(optimizer), elbo_(elbo), q_(q), most_(std::log(most_noise_precision)) {
  if (learns_noise) noises_ = optimizer.model()->likelihood.noise_precision().size();
  if (optimizer.prior().is_fixed()) return;
  prior_ = optimizer.prior().grouped();
  const DenseShape& layer = optimizer.model()->graph()->dense().front();
  sizes_.assign(prior_.values.size(), 0);
  std::vector<bool> has_weights(prior_.values.size());
  for (std::size_t j = 0; j < prior_.group.size(); ++j) {
    if (prior_.group[j] < 0) continue;
    const auto group = static_cast<std::size_t>(prior_.group[j]);
    sizes_[group] += 1;
    if (!layer.has_bias() || static_cast<Index>(j) < layer.bias_offset) has_weights[group] = true;
  }
  for (std::size_t g = 0; g < has_weights.size(); ++g)
    if (has_weights[g] && static_cast<Index>(g) != prior_.given) learned_.push_back(g);
}

template <class T>
void PriorSearch<T>::read(std::span<double> logs) const {
  const Likelihood& likelihood = optimizer_.model()->likelihood;
  for (std::size_t k = 0; k < learned_.size(); ++k)
    logs[k] = std::log(optimizer_.prior().groups()[learned_[k]]);
  for (std::size_t c = 0; c < noises_; ++c)
    logs[learned_.size() + c] = std::min(most_, std::log(likelihood.noise_precision(static_cast<Index>(c))));
}

template <class T>
void PriorSearch<T>::write(ConstSpan<double> logs) {
  for (std::size_t k = 0; k < learned_.size(); ++k) prior_.values[learned_[k]] = std::exp(logs[k]);
  if (!learned_.empty()) {
    optimizer_.prior().set_groups(prior_.values);
    elbo_.prior() = optimizer_.prior().widened(q_.kind());
  }
  if (noises_ == 0) return;
  std::vector<double> precision(noises_);
  for (std::size_t c = 0; c < noises_; ++c) precision[c] = std::exp(logs[learned_.size() + c]);
  elbo_.set_noise_precision(precision);
  optimizer_.model()->likelihood.learn_noise_precision(precision);
}

/// Writes the derivatives of the loss at the posterior that was evaluated last.
template <class T>
void PriorSearch<T>::differentiate(const ExactElbo::Value& value, std::span<double> gradient) {
  const auto variances = variances_.first(q_.dimension());
  q_.marginal_variance(variances, scratch_);
  std::vector<double> squares(sizes_.size()), best(noises_);
  for (std::size_t j = 0; j < prior_.group.size(); ++j)
    if (prior_.group[j] >= 0) {
      const double mean = std::as_const(q_).mean()[j];
      squares[static_cast<std::size_t>(prior_.group[j])] += prior_.at(j) * (mean * mean + variances[j]);
    }
  for (std::size_t k = 0; k < learned_.size(); ++k)
    gradient[k] = (squares[learned_[k]] - sizes_[learned_[k]]) / 2;
  if (noises_ == 0) return;
  elbo_.best_noise_precision(value, best);
  const Likelihood& likelihood = optimizer_.model()->likelihood;
  for (std::size_t c = 0; c < noises_; ++c) {
    const auto noise = static_cast<Index>(c);
    gradient[learned_.size() + c] =
        elbo_.targets_of(noise) / 2 * (likelihood.noise_precision(noise) / best[c] - 1);
  }
}

/// Returns the largest derivative in units of its own size for one standard deviation: sqrt(D_g / 2) or
/// sqrt(N_c / 2).
template <class T>
double PriorSearch<T>::measure(ConstSpan<double> gradient) const {
  double largest = 0;
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    const double count =
        k < learned_.size() ? sizes_[learned_[k]] : elbo_.targets_of(static_cast<Index>(k - learned_.size()));
    largest = std::max(largest, std::abs(gradient[k]) / std::sqrt(count / 2));
  }
  return largest;
}

template <class T>
double PriorSearch<T>::evaluate(ConstSpan<double> logs, std::span<double> gradient,
                                const InnerSearch& inner) {
  for (std::size_t k = 0; k < logs.size(); ++k)
    if (!(std::abs(logs[k]) <= largest_log) || (k >= learned_.size() && logs[k] > most_)) return HUGE_VAL;
  write(logs);
  try {
    const SearchEnd end = inner([](const auto&, const auto&) { return false; });
    has_failed_ = end != SearchEnd::converged;
    value_ = elbo_.evaluate(q_);
    differentiate(value_, gradient);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED || !has_value_) throw;
    return HUGE_VAL;
  }
  has_value_ = true;
  return value_.loss();
}

template <class T>
SearchEnd PriorSearch<T>::run(const InnerSearch& inner, const Iterated& iterated) {
  std::vector<double> logs(size());
  read(logs);
  std::vector<double> kept = logs;  // those of the posterior that iterated() was given last
  try {
    return run(logs, inner, [&](const auto& q, const auto& value) {
      read(kept);
      return iterated(q, value);
    });
  } catch (...) {
    write(kept);
    throw;
  }
}

template <class T>
SearchEnd PriorSearch<T>::run(std::span<double> logs, const InnerSearch& inner, const Iterated& iterated) {
  bool stopped = false;
  const auto report = [&](ConstSpan<double>, ConstSpan<double> gradient) {
    distance_ = measure(gradient);
    stopped = iterated(q_, value_);
    return stopped || has_failed_ || distance_ <= close_enough;
  };
  std::vector<double> gradient(logs.size());
  const auto at = [&](ConstSpan<double> x, std::span<double> out) { return evaluate(x, out, inner); };
  minimize({at, report, evidence_pairs}, logs);
  if (stopped) return SearchEnd::stopped;
  // The last evaluation may have been a step too far.
  if (!std::isfinite(evaluate(logs, gradient, inner))) return SearchEnd::stuck;
  distance_ = measure(gradient);
  if (iterated(q_, value_)) return SearchEnd::stopped;
  return has_failed_ ? SearchEnd::stuck : end_of_search(distance_);
}

template class PriorSearch<float>;
template class PriorSearch<double>;

}  // namespace bdl
