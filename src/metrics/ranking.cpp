#include "metrics/ranking.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"

namespace bdl {

Ranking::Ranking(std::vector<double> positive, std::vector<double> negative)
    : positives_(static_cast<double>(positive.size())), negatives_(static_cast<double>(negative.size())) {
  std::ranges::sort(positive, std::greater());
  std::ranges::sort(negative, std::greater());
  std::size_t i = 0, j = 0;
  while (i < positive.size() || j < negative.size()) {
    const bool is_positive = j == negative.size() || (i < positive.size() && positive[i] >= negative[j]);
    const double threshold = is_positive ? positive[i] : negative[j];
    while (i < positive.size() && positive[i] >= threshold) ++i;
    while (j < negative.size() && negative[j] >= threshold) ++j;
    steps_.push_back({threshold, static_cast<double>(i), static_cast<double>(j)});
  }
}

/// Trapezoids, which are the pairs in order and half of the ties: exact up to 2^52 pairs.
double Ranking::auroc() const {
  double area = 0, positives = 0, negatives = 0;
  for (const Step& step : steps_) {
    area += (step.negatives - negatives) * (step.positives + positives) / 2;
    positives = step.positives;
    negatives = step.negatives;
  }
  return area / positives_ / negatives_;
}

double Ranking::average_precision() const {
  double sum = 0, positives = 0;
  for (const Step& step : steps_) {
    sum += (step.positives - positives) * step.positives / (step.positives + step.negatives);
    positives = step.positives;
  }
  return sum / positives_;
}

Ranking::Operation Ranking::false_positive_rate(double tpr) const {
  const auto reaches = [&](const Step& step) { return step.positives / positives_ >= tpr; };
  const Step& step = *std::ranges::find_if(steps_, reaches);  // the last step has all
  return {step.negatives / negatives_, step.threshold};
}

double Ranking::detection_error() const {
  double least = 0.5;  // of the threshold above all scores
  for (const Step& step : steps_)
    least = std::min(least, (1 - step.positives / positives_ + step.negatives / negatives_) / 2);
  return least;
}

void Ranking::curve(MatrixView<double> points) const {
  points(0, 0) = points(1, 0) = 0;
  points(2, 0) = std::numeric_limits<double>::infinity();
  Index k = 1;
  for (const Step& step : steps_)
    for (; static_cast<double>(k) <= step.positives + step.negatives; ++k) {
      points(0, k) = step.negatives / negatives_;
      points(1, k) = step.positives / positives_;
      points(2, k) = step.threshold;
    }
}

std::vector<double> scores_of(const Array& scores, const char* name) {
  check_numbers(scores, -1, 1, name);
  std::vector<double> values(static_cast<std::size_t>(scores.rows));
  for (Index i = 0; i < scores.rows; ++i) values[static_cast<std::size_t>(i)] = element(scores, i, 0);
  return values;
}

}  // namespace bdl
