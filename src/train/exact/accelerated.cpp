#include "train/exact/accelerated.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "posterior/blocks/blocks.hpp"

namespace bdl {
namespace {

constexpr std::size_t most_points = 11;
constexpr int accelerated_patience = 60;  // steps without one half as long as the shortest before them
constexpr double least_share = 1.0 / 64, most_growth = 4;

}  // namespace

FullPosterior<double>* whole_covariance(Posterior<double>& q) {
  if (auto* const full = dynamic_cast<FullPosterior<double>*>(&q)) return full;
  auto* const parts = dynamic_cast<BlocksPosterior<double>*>(&q);
  return parts && parts->block_count() == 1 ? whole_covariance(parts->member(0)) : nullptr;
}

bool has_whole_covariance(const Posterior<double>& q) {
  return whole_covariance(const_cast<Posterior<double>&>(q)) != nullptr;
}

Accelerated::Accelerated(ExactElbo& elbo, Posterior<double>& q)
    : elbo_(elbo), q_(q), full_(*whole_covariance(q)), natural_(elbo, q, {}), steps_(most_points) {}

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
  step = point(*whole_covariance(natural_.next()));
  for (std::size_t i = 0; i < x.size(); ++i) step[i] -= x[i];
  return true;
}

/// Goes on from x without what it has learned, by half the fraction of steps. False if that is too small, or
/// if there is no step.
bool Accelerated::restart(const Point& x, Point& step) {
  steps_.forget();
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
    Point next = steps_.next(x, step, scales(x), part_), next_step;
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
