#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "linalg/dense/cholesky.hpp"
#include "train/approximate/laplace/laplace_evidence.hpp"

namespace bdl {
namespace {

constexpr Index most_steps_of_newton = 100;
constexpr double longest_step = 3;       // in any logarithm
constexpr double largest_log = 69.0775;  // precisions stay within 1e-30 to 1e30
constexpr double least_gain = 1e-13;     // of a step, of the evidence: it is the last one

/// Newton's method for the logarithms x of the groups' precisions and, last, of the noise factor, within a
/// box around the start.
template <class T>
class NewtonSearch {
 public:
  NewtonSearch(const LaplaceCurvature<T>& curvature, const EvidenceData& data, GroupedPrecisions prior,
               double noise_factor, const EvidenceSearch& search)
      : curvature_(curvature), data_(data), prior_(std::move(prior)) {
    for (const double value : prior_.values) x_.push_back(std::log(value));
    x_.push_back(std::log(noise_factor));
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const bool moves =
          i + 1 < x_.size() ? search.prior && static_cast<Index>(i) != prior_.given : search.noise;
      low_.push_back(moves ? std::max(-largest_log, x_[i] - search.furthest) : x_[i]);
      high_.push_back(moves ? std::min(largest_log, x_[i] + search.furthest) : x_[i]);
    }
    if (!search.noise_within_targets || !(data.fit.variance > 0)) return;
    double variance = 0;  // of the noise at factor 1, over the targets
    for (const double precision : data.noise)
      variance += 1 / (precision * static_cast<double>(data.noise.size()));
    const double least = std::log(variance / data.fit.variance);
    low_.back() = std::min(std::max(low_.back(), least), high_.back());
    x_.back() = std::max(x_.back(), low_.back());
  }

  EvidenceOptimum run() {
    now_ = at_point(x_);
    Index steps = 0;
    for (bool goes_on = true; goes_on && steps < most_steps_of_newton; ++steps) {
      check_interrupt();
      find_free();
      if (free_.empty()) break;
      goes_on = take_step();
    }
    EvidenceOptimum optimum{now_, {}, std::exp(x_.back()), steps};
    for (std::size_t g = 0; g + 1 < x_.size(); ++g) optimum.groups.push_back(std::exp(x_[g]));
    return optimum;
  }

 private:
  LogEvidence at_point(const std::vector<double>& x) {
    for (std::size_t g = 0; g < prior_.values.size(); ++g) prior_.values[g] = std::exp(x[g]);
    return log_evidence(curvature_, data_, prior_, std::exp(x.back()), true);
  }

  double second(std::size_t i, std::size_t j) const { return now_.second[i * x_.size() + j]; }

  /// Lists the logarithms that the search may move now: not those whose group has no data (its effective
  /// parameters are 0) or no weight, and not those that would leave the box.
  void find_free() {
    free_.clear();
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double slope = now_.slope[i];
      const bool leaves = (x_[i] >= high_[i] && slope >= 0) || (x_[i] <= low_[i] && slope <= 0);
      if (!leaves && (i + 1 == x_.size() || (now_.effective[i] > 0 && now_.weights[i] > 0)))
        free_.push_back(i);
    }
  }

  /// Returns the direction (-second)^-1 slope of the free logarithms, and adds to the diagonal where rounding
  /// has made the matrix indefinite.
  std::vector<double> direction() const {
    const auto size = static_cast<Index>(free_.size());
    std::vector<double> step(free_.size());
    Buffer<double> matrix(size * size);
    double largest = 0;
    for (const std::size_t i : free_) largest = std::max(largest, -second(i, i));
    for (double added = 0;; added = added == 0 ? 1e-14 * largest : 100 * added) {
      const MatrixView<double> a = matrix.matrix(size, size);
      for (Index j = 0; j < size; ++j)
        for (Index i = 0; i < size; ++i) a(i, j) = -second(free_[at(i)], free_[at(j)]) + (i == j ? added : 0);
      for (std::size_t k = 0; k < step.size(); ++k) step[k] = now_.slope[free_[k]];
      if (cholesky(a)) {
        cholesky_solve(a, {step.data(), size, 1});
        return step;
      }
      if (added > 1e10 * largest || !(largest > 0)) return step;  // the slope itself
    }
  }

  /// Moves along the direction, halved while the evidence falls; false if that was the last step.
  bool take_step() {
    const std::vector<double> step = direction();
    double length = 0, gain = 0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      length = std::max(length, std::abs(step[k]));
      gain += now_.slope[free_[k]] * step[k] / 2;
    }
    if (!(length > 0)) return false;
    double factor = std::min(1.0, longest_step / length);
    constexpr int most_halvings = 40;
    const double rounding = 1e-13 * std::max(1.0, std::abs(now_.value));
    for (int k = 0; k < most_halvings; ++k, factor /= 2) {
      std::vector<double> next = x_;
      for (std::size_t i = 0; i < free_.size(); ++i) {
        double& value = next[free_[i]];
        value = std::clamp(value + factor * step[i], low_[free_[i]], high_[free_[i]]);
      }
      LogEvidence there = at_point(next);
      if (!(there.value >= now_.value - rounding)) continue;
      x_ = std::move(next);
      now_ = std::move(there);
      return gain > least_gain * std::max(1.0, std::abs(now_.value));
    }
    return false;
  }

  const LaplaceCurvature<T>& curvature_;
  const EvidenceData& data_;
  GroupedPrecisions prior_;
  std::vector<double> x_, low_, high_;
  std::vector<std::size_t> free_;
  LogEvidence now_;
};

}  // namespace

template <class T>
EvidenceOptimum maximize_evidence(const LaplaceCurvature<T>& curvature, const EvidenceData& data,
                                  GroupedPrecisions prior, double noise_factor,
                                  const EvidenceSearch& search) {
  curvature.check_groups(prior);
  return NewtonSearch<T>(curvature, data, std::move(prior), noise_factor, search).run();
}

template EvidenceOptimum maximize_evidence(const LaplaceCurvature<float>&, const EvidenceData&,
                                           GroupedPrecisions, double, const EvidenceSearch&);
template EvidenceOptimum maximize_evidence(const LaplaceCurvature<double>&, const EvidenceData&,
                                           GroupedPrecisions, double, const EvidenceSearch&);

}  // namespace bdl
