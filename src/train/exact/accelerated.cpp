#include "train/exact/accelerated.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {
namespace {

constexpr std::size_t most_changes = 10;
constexpr int accelerated_patience = 60;  // steps without one half as long as the shortest before them
constexpr double least_share = 1.0 / 64, most_growth = 4;

FullPosterior<double>* whole(Posterior<double>& q) {
  if (auto* const full = dynamic_cast<FullPosterior<double>*>(&q)) return full;
  auto* const parts = dynamic_cast<BlocksPosterior<double>*>(&q);
  return parts && parts->block_count() == 1 ? whole(parts->member(0)) : nullptr;
}

double weighted_product(ConstSpan<double> a, ConstSpan<double> b, ConstSpan<double> scales) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i] * scales[i] * scales[i];
  return sum;
}

}  // namespace

bool has_whole_covariance(const Posterior<double>& q) {
  return whole(const_cast<Posterior<double>&>(q)) != nullptr;
}

Accelerated::Accelerated(ExactElbo& elbo, Posterior<double>& q)
    : elbo_(elbo), q_(q), full_(*whole(q)), natural_(elbo, q, {}) {}

Accelerated::Point Accelerated::point(const FullPosterior<double>& at) const {
  Point x(at.mean().begin(), at.mean().end());
  for (Index j = 0; j < size(); ++j)
    for (Index i = j; i < size(); ++i) x.push_back(at.precision()(i, j));
  return x;
}

/// Returns what makes the elements of x comparable: sqrt(P_ii) for the mean, 1 / sqrt(P_ii P_jj) for the
/// precision.
Accelerated::Point Accelerated::scales(const Point& x) const {
  Point out(x.size());
  std::vector<double> roots;
  std::size_t k = static_cast<std::size_t>(size());
  for (Index j = 0; j < size(); ++j) {
    roots.push_back(std::sqrt(x[k]));
    k += static_cast<std::size_t>(size() - j);
  }
  k = 0;
  for (const double root : roots) out[k++] = root;
  for (std::size_t j = 0; j < roots.size(); ++j)
    for (std::size_t i = j; i < roots.size(); ++i) out[k++] = 1 / (roots[i] * roots[j]);
  return out;
}

/// False if x is no posterior, or one whose ELBO is not finite; q is then anything.
bool Accelerated::move_to(const Point& x) {
  Buffer<double> square(size() * size());
  const MatrixView<double> precision = square.matrix(size(), size());
  const double* from = x.data() + size();
  for (Index j = 0; j < size(); ++j)
    for (Index i = j; i < size(); ++i) precision(i, j) = precision(j, i) = *from++;
  try {
    full_.set_precision(precision);
    std::copy_n(x.begin(), size(), q_.mean().begin());
    value_ = elbo_.evaluate(q_);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_INVALID_ARGUMENT && error.status() != Status::ERROR_DIVERGED) throw;
    return false;
  }
  return true;
}

/// Writes the whole natural-gradient step from q = x, which was evaluated last.
bool Accelerated::find_step(const Point& x, Point& step) {
  try {
    natural_.take(1);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    return false;
  }
  step = point(*whole(natural_.next()));
  for (std::size_t i = 0; i < x.size(); ++i) step[i] -= x[i];
  return true;
}

void Accelerated::remember(const Point& x, const Point& step) {
  if (!last_x_.empty()) {
    Change change{x, step};
    for (std::size_t i = 0; i < x.size(); ++i) {
      change.of_x[i] -= last_x_[i];
      change.of_step[i] -= last_step_[i];
    }
    changes_.push_back(std::move(change));
    if (changes_.size() > most_changes) changes_.pop_front();
  }
  last_x_ = x;
  last_step_ = step;
}

/// Returns x + b s - sum_k g_k (dx_k + b ds_k), with the g that make s - sum_k g_k ds_k shortest.
Accelerated::Point Accelerated::combined(const Point& x, const Point& step) const {
  Point out = x;
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += part_ * step[i];
  const Index count = std::ssize(changes_);
  if (count == 0) return out;
  const Point weights = scales(x);
  std::vector<double> square(changes_.size() * changes_.size()), g(changes_.size());
  const MatrixView<double> gram(square.data(), count, count), solution(g.data(), count, 1);
  for (Index k = 0; k < count; ++k) {
    const Point& of_step = changes_[static_cast<std::size_t>(k)].of_step;
    solution(k, 0) = weighted_product(of_step, step, weights);
    for (Index l = k; l < count; ++l)
      gram(l, k) = weighted_product(of_step, changes_[static_cast<std::size_t>(l)].of_step, weights);
  }
  double trace = 0;
  for (Index k = 0; k < count; ++k) trace += gram(k, k);
  for (Index k = 0; k < count; ++k) gram(k, k) += 1e-14 * trace;
  if (!cholesky(gram)) return out;
  cholesky_solve(gram, solution);
  for (std::size_t k = 0; k < changes_.size(); ++k)
    for (std::size_t i = 0; i < x.size(); ++i)
      out[i] -= g[k] * (changes_[k].of_x[i] + part_ * changes_[k].of_step[i]);
  return out;
}

/// Goes on from x without what it has learned, by half the fraction of steps. False if that is too small, or
/// if there is no step.
bool Accelerated::restart(const Point& x, Point& step) {
  changes_.clear();
  last_x_.clear();
  part_ /= 2;
  return part_ >= least_share && move_to(x) && find_step(x, step);
}

SearchEnd Accelerated::run(double tolerance, const Iterated& iterated) {
  Point x = point(full_), step, best = x;
  value_ = elbo_.evaluate(q_);
  if (!find_step(x, step)) return SearchEnd::stuck;
  double shortest = HUGE_VAL;
  for (int waiting = 0; waiting < accelerated_patience;) {
    const double length = natural_.length(1);
    if (length <= tolerance) return SearchEnd::converged;
    waiting = length <= shortest / 2 ? 0 : waiting + 1;
    if (length < shortest) {
      shortest = length;
      best = x;
    }
    if (length > most_growth * shortest) {
      if (!restart(x = best, step)) break;
    }
    remember(x, step);
    Point next = combined(x, step), next_step;
    if (!move_to(next) || !find_step(next, next_step)) {  // the combination is too long
      if (!restart(x, step)) break;
      continue;
    }
    x = std::move(next);
    step = std::move(next_step);
    if (iterated(q_, value_)) return SearchEnd::stopped;
  }
  if (!move_to(best)) return SearchEnd::stuck;
  return iterated(q_, value_) ? SearchEnd::stopped : end_of_search(shortest);
}

}  // namespace bdl
