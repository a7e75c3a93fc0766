#include "train/exact/scales/covariance_search.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense/cholesky.hpp"

namespace bdl {
namespace {

constexpr Index most_outputs = 32;    // an example's Hessian has their square
constexpr double least_pivot = 1e-6;  // of the correlations of residuals

/// False if a residual is a combination of others, but for a small part of its variance.
bool are_independent(MatrixView<double> products) {
  std::vector<double> scale;
  for (Index c = 0; c < products.rows; ++c) scale.push_back(std::sqrt(products(c, c)));
  for (Index c = 0; c < products.rows; ++c)
    for (Index b = c; b < products.rows; ++b) {
      products(b, c) /= scale[static_cast<std::size_t>(b)] * scale[static_cast<std::size_t>(c)];
      if (!std::isfinite(products(b, c))) return false;
    }
  if (!cholesky(products)) return false;
  for (Index c = 0; c < products.rows; ++c)
    if (products(c, c) * products(c, c) < least_pivot) return false;
  return true;
}

}  // namespace

bool CovarianceSearch::has_enough_data() const {
  const Index outputs = fit_.likelihood.outputs();
  if (outputs < 2 || outputs > most_outputs) return false;
  const std::vector<double> degrees = fit_.elbo.noise_degrees(false);
  if (std::ranges::min(degrees) < 2 * static_cast<double>(outputs)) return false;
  Buffer<double> products;
  fit_.elbo.write_residual_products(products.matrix(outputs, outputs));
  return are_independent(products.matrix(outputs, outputs));
}

SearchEnd CovarianceSearch::run(const Iterated& iterated) {
  constexpr int most_rounds = 1000, patience = 4;
  constexpr std::size_t most_points = 6;
  if (!fit_.likelihood.noise_covariance().given()) start();
  AcceleratedSteps steps(most_points);
  double least = HUGE_VAL;
  int waiting = 0;
  for (int round = 0; round < most_rounds && waiting < patience; ++round) {
    const SearchEnd end = fit_.find_posterior(iterated);
    if (end != SearchEnd::converged) return end;
    const double change = find_step();
    is_singular_ = !is_best_regular();
    if (is_singular_) return SearchEnd::stuck;
    if (change <= fit_.options.tolerance) return end;
    waiting = change <= least / 2 ? 0 : waiting + 1;
    least = std::min(least, change);
    Likelihood next = fit_.likelihood;
    next.learn_noise_covariance(this->next(steps));
    fit_.set(std::move(next));
  }
  return SearchEnd::stuck;
}

double CovarianceSearch::distance() {
  return std::sqrt(fit_.rows / 2) * find_step();
}

void CovarianceSearch::start() {
  const Index outputs = fit_.likelihood.outputs();
  Buffer<double> memory;
  const auto independent = memory.matrix(outputs, outputs);
  std::fill_n(independent.data, independent.size(), 0.0);
  for (Index c = 0; c < outputs; ++c) independent(c, c) = fit_.likelihood.noise_variance(c);
  Likelihood next = fit_.likelihood;
  next.learn_noise_covariance(NoiseCovariance(independent));
  fit_.set(std::move(next));
}

/// Finds the R that suits q best. Returns the largest change, relative to the outputs' deviations.
double CovarianceSearch::find_step() {
  const ConstMatrixView<double> now = fit_.likelihood.noise_covariance().covariance();
  const auto best = best_.matrix(now.rows, now.cols);
  fit_.elbo.evaluate(fit_.q);
  fit_.elbo.best_noise_covariance(best);
  double largest = 0;
  for (Index c = 0; c < now.cols; ++c)
    for (Index b = c; b < now.rows; ++b)
      largest = std::max(largest, std::abs(best(b, c) - now(b, c)) / std::sqrt(now(b, b) * now(c, c)));
  return largest;
}

bool CovarianceSearch::is_best_regular() const {
  const Index outputs = fit_.likelihood.outputs();
  Buffer<double> memory;
  const auto best = memory.matrix(outputs, outputs);
  std::copy_n(best_.data(), best.size(), best.data);
  return are_independent(best);
}

/// Returns R after an accelerated step, or after the plain one if that has no positive definite R.
NoiseCovariance CovarianceSearch::next(AcceleratedSteps& steps) const {
  const ConstMatrixView<double> now = fit_.likelihood.noise_covariance().covariance();
  const ConstMatrixView<double> best(best_.data(), now.rows, now.cols);
  std::vector<double> values, change, scales;
  for (Index c = 0; c < now.cols; ++c)
    for (Index b = c; b < now.rows; ++b) {
      values.push_back(now(b, c));
      change.push_back(best(b, c) - now(b, c));
      scales.push_back(1 / std::sqrt(now(b, b) * now(c, c)));
    }
  const std::vector<double> found = steps.next(values, change, scales);
  Buffer<double> memory, factor;
  const auto matrix = memory.matrix(now.rows, now.cols), root = factor.matrix(now.rows, now.cols);
  for (Index c = 0, k = 0; c < now.cols; ++c)
    for (Index b = c; b < now.rows; ++b, ++k)
      matrix(b, c) = matrix(c, b) = found[static_cast<std::size_t>(k)];
  std::copy_n(matrix.data, matrix.size(), root.data);
  bool is_regular = cholesky(root);
  for (Index c = 0; is_regular && c < now.cols; ++c)
    is_regular = root(c, c) * root(c, c) > least_pivot / 2 * matrix(c, c);
  if (is_regular) return NoiseCovariance(matrix);
  steps.forget();
  return NoiseCovariance(best);
}

}  // namespace bdl
