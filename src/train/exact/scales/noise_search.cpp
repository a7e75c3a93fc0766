#include "train/exact/scales/noise_search.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {

NoiseSearch::NoiseSearch(const LearnedFit& fit, double most)
    : fit_(fit),
      most_(std::log(most)),
      roots_(fit.likelihood.noise_precision().size()),
      logs_(roots_.size()),
      best_(roots_.size()) {}

SearchEnd NoiseSearch::run(const Iterated& iterated) {
  if (fit_.is_continued) {
    find_best();
    set(best_);
  }
  for (;;) {
    const SearchEnd end = fit_.find_posterior(iterated);
    if (end != SearchEnd::converged) return end;
    find_best();
    const double error = largest_residual();
    std::vector<double> next(roots_.size());
    for (std::size_t c = 0; c < next.size(); ++c)
      next[c] = std::min(roots_[c].next(logs_[c], best_[c] - logs_[c]), most_);
    if (error <= fit_.options.tolerance) return end;
    // fit_exactly() then measures the distance
    if (std::ranges::all_of(roots_, [](const NoiseRoot& root) { return root.is_settled(); }))
      return SearchEnd::stuck;
    set(next);
  }
}

double NoiseSearch::distance() {
  find_best();
  double largest = 0;
  for (std::size_t c = 0; c < roots_.size(); ++c)
    largest = std::max(largest, std::abs(roots_[c].next(logs_[c], best_[c] - logs_[c]) - logs_[c]));
  return std::sqrt(fit_.rows / 2) * largest;
}

/// Finds the logs of the present noise precisions, and of those that suit the posterior best.
void NoiseSearch::find_best() {
  fit_.elbo.best_noise_precision(fit_.elbo.evaluate(fit_.q), best_);
  for (std::size_t c = 0; c < logs_.size(); ++c) {
    logs_[c] = std::log(fit_.likelihood.noise_precision(static_cast<Index>(c)));
    best_[c] = std::min(std::log(best_[c]), most_);
  }
}

double NoiseSearch::largest_residual() const {
  double largest = 0;
  for (std::size_t c = 0; c < logs_.size(); ++c) largest = std::max(largest, std::abs(best_[c] - logs_[c]));
  return largest;
}

void NoiseSearch::set(ConstSpan<double> logs) {
  std::vector<double> precision(logs.size());
  std::ranges::transform(logs, precision.begin(), [](double t) { return std::exp(t); });
  Likelihood next = fit_.likelihood;
  next.learn_noise_precision(precision);
  fit_.set(std::move(next));
}

}  // namespace bdl
