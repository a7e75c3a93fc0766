#include "metrics/ranking.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace

Ranking::Ranking(std::vector<double> positive, std::vector<double> negative)
    : positives_(static_cast<double>(positive.size())), negatives_(static_cast<double>(negative.size())) {
  sort_descending(positive);
  sort_descending(negative);
  LoopTurns turn;
  std::size_t i = 0, j = 0;
  while (i < positive.size() || j < negative.size()) {
    turn();
    const bool is_positive = j == negative.size() || (i < positive.size() && positive[i] >= negative[j]);
    const double threshold = is_positive ? positive[i] : negative[j];
    for (; i < positive.size() && positive[i] >= threshold; ++i) turn();
    for (; j < negative.size() && negative[j] >= threshold; ++j) turn();
    steps_.push_back({threshold, static_cast<double>(i), static_cast<double>(j)});
  }
}

/// Trapezoids, which are the pairs in order and half of the ties: exact up to 2^52 pairs.
double Ranking::auroc() const {
  double area = 0, positives = 0, negatives = 0;
  LoopTurns turn;
  for (const Step& step : steps_) {
    turn();
    area += (step.negatives - negatives) * (step.positives + positives) / 2;
    positives = step.positives;
    negatives = step.negatives;
  }
  return area / positives_ / negatives_;
}

double Ranking::average_precision() const {
  double sum = 0, positives = 0;
  LoopTurns turn;
  for (const Step& step : steps_) {
    turn();
    sum += (step.positives - positives) * step.positives / (step.positives + step.negatives);
    positives = step.positives;
  }
  return sum / positives_;
}

Ranking::Operation Ranking::false_positive_rate(double tpr) const {
  LoopTurns turn;
  const auto reaches = [&](const Step& step) {
    turn();
    return step.positives / positives_ >= tpr;
  };
  const Step& step = *std::ranges::find_if(steps_, reaches);  // the last step has all
  return {step.negatives / negatives_, step.threshold};
}

double Ranking::detection_error() const {
  double least = 0.5;  // of the threshold above all scores
  LoopTurns turn;
  for (const Step& step : steps_) {
    turn();
    least = std::min(least, (1 - step.positives / positives_ + step.negatives / negatives_) / 2);
  }
  return least;
}

void Ranking::curve(MatrixView<double> points) const {
  points(0, 0) = points(1, 0) = 0;
  points(2, 0) = std::numeric_limits<double>::infinity();
  Index k = 1;
  LoopTurns turn;
  for (const Step& step : steps_)
    for (; static_cast<double>(k) <= step.positives + step.negatives; ++k) {
      turn();
      points(0, k) = step.negatives / negatives_;
      points(1, k) = step.positives / positives_;
      points(2, k) = step.threshold;
    }
}

std::vector<double> scores_of(const Array& scores, const char* name) {
  check_numbers(scores, -1, 1, name);
  std::vector<double> values(static_cast<std::size_t>(scores.rows));
  LoopTurns turn;
  for (Index i = 0; i < scores.rows; ++i) {
    turn();
    values[static_cast<std::size_t>(i)] = element(scores, i, 0);
  }
  return values;
}

}  // namespace bdl
