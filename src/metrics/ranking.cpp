#include "metrics/ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/loop_turns.hpp"
#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

void sort_descending(std::vector<double>& values) {
  LoopTurns turn;
  std::ranges::sort(values, [&](double a, double b) {
    turn();
    return a > b;
  });
}

/// Of descending values, descending as well.
std::vector<double> negated(const std::vector<double>& values) {
  std::vector<double> opposite;
  opposite.reserve(values.size());
  LoopTurns turn;
  for (std::size_t i = values.size(); i > 0; --i, turn()) opposite.push_back(-values[i - 1]);
  return opposite;
}

}  // namespace

Ranking::Ranking(std::vector<double> positive, std::vector<double> negative)
    : positive_(std::move(positive)),
      negative_(std::move(negative)),
      positives_(static_cast<double>(positive_.size())),
      negatives_(static_cast<double>(negative_.size())) {
  sort_descending(positive_);
  sort_descending(negative_);
}

Ranking Ranking::opposite() const {
  return {negated(negative_), negated(positive_)};
}

template <class Visit>
void Ranking::visit_steps(Visit&& visit) const {
  LoopTurns turn;
  std::size_t i = 0, j = 0;
  bool goes_on = true;
  while (goes_on && (i < positive_.size() || j < negative_.size())) {
    turn();
    const bool is_positive = j == negative_.size() || (i < positive_.size() && positive_[i] >= negative_[j]);
    const double threshold = is_positive ? positive_[i] : negative_[j];
    for (; i < positive_.size() && positive_[i] >= threshold; ++i) turn();
    for (; j < negative_.size() && negative_[j] >= threshold; ++j) turn();
    goes_on = visit(Step{threshold, static_cast<double>(i), static_cast<double>(j)});
  }
}

/// Trapezoids, which are the pairs in order and half of the ties: exact up to 2^52 pairs.
double Ranking::auroc() const {
  double area = 0, positives = 0, negatives = 0;
  visit_steps([&](const Step& step) {
    area += (step.negatives - negatives) * (step.positives + positives) / 2;
    positives = step.positives;
    negatives = step.negatives;
    return true;
  });
  return area / positives_ / negatives_;
}

double Ranking::average_precision() const {
  double sum = 0, positives = 0;
  visit_steps([&](const Step& step) {
    sum += (step.positives - positives) * step.positives / (step.positives + step.negatives);
    positives = step.positives;
    return true;
  });
  return sum / positives_;
}

Ranking::Operation Ranking::false_positive_rate(double tpr) const {
  Operation found{};
  visit_steps([&](const Step& step) {
    found = {step.negatives / negatives_, step.threshold};
    return !(step.positives / positives_ >= tpr);  // the last step has all
  });
  return found;
}

double Ranking::detection_error() const {
  double least = 0.5;  // of the threshold above all scores
  visit_steps([&](const Step& step) {
    least = std::min(least, (1 - step.positives / positives_ + step.negatives / negatives_) / 2);
    return true;
  });
  return least;
}

void Ranking::curve(MatrixView<double> points) const {
  points(0, 0) = points(1, 0) = 0;
  points(2, 0) = std::numeric_limits<double>::infinity();
  Index k = 1;
  LoopTurns turn;
  visit_steps([&](const Step& step) {
    for (; static_cast<double>(k) <= step.positives + step.negatives; ++k) {
      turn();
      points(0, k) = step.negatives / negatives_;
      points(1, k) = step.positives / positives_;
      points(2, k) = step.threshold;
    }
    return true;
  });
}

std::vector<double> scores_of(const Array& scores, const char* name) {
  check_numbers(scores, -1, 1, name);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(scores.rows));
  LoopTurns turn;
  for (Index i = 0; i < scores.rows; ++i) {
    turn();
    values.push_back(element(scores, i, 0));
  }
  return values;
}

}  // namespace bdl
