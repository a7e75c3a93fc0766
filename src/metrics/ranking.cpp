#include "metrics/ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "metrics/classification.hpp"
#include "metrics/metrics.hpp"

namespace bdl {
namespace {

/// Sorts blocks and merges them, so that the interrupt is asked in between.
void sort_descending(std::vector<double>& values) {
  constexpr std::size_t block = std::size_t{1} << 18;
  const auto at = [&](std::size_t i) {
    return values.begin() + static_cast<std::ptrdiff_t>(std::min(i, values.size()));
  };
  for (std::size_t first = 0; first < values.size(); first += block) {
    check_loop();
    std::sort(at(first), at(first + block), std::greater<>());
  }
  for (std::size_t width = block; width < values.size(); width *= 2)
    for (std::size_t first = 0; first < values.size(); first += 2 * width) {
      check_loop();
      std::inplace_merge(at(first), at(first + width), at(first + 2 * width), std::greater<>());
    }
}

/// Returns the negated values in reverse order, so that they descend again.
std::vector<double> negated(const std::vector<double>& values) {
  std::vector<double> opposite(values.rbegin(), values.rend());
  for (double& value : opposite) value = -value;
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
  std::size_t i = 0, j = 0;
  bool goes_on = true;
  check_loop();
  while (goes_on && (i < positive_.size() || j < negative_.size())) {
    const bool is_positive = j == negative_.size() || (i < positive_.size() && positive_[i] >= negative_[j]);
    const double threshold = is_positive ? positive_[i] : negative_[j];
    for (; i < positive_.size() && positive_[i] >= threshold;) ++i;
    for (; j < negative_.size() && negative_[j] >= threshold;) ++j;
    goes_on = visit(Step{threshold, static_cast<double>(i), static_cast<double>(j)});
  }
}

/// Sums trapezoids: pairs in order, plus half of the ties. Exact up to 2^52 pairs.
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
    return !(step.positives / positives_ >= tpr);  // the last step reaches 1
  });
  return found;
}

double Ranking::detection_error() const {
  double least = 0.5;  // error at a threshold above all scores
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
  visit_steps([&](const Step& step) {
    for (; static_cast<double>(k) <= step.positives + step.negatives; ++k) {
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
  in_chunks(scores.rows, 1, [&](Index i) { values.push_back(element(scores, i, 0)); });
  return values;
}

namespace {

double certainty(const ClassProbabilities& p, Index i, bdl_score score) {
  return score == BDL_SCORE_CONFIDENCE ? p.confidence(i) : -p.entropy(i);
}

std::vector<double> certainties(const ClassProbabilities& p, bdl_score score) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(p.examples()));
  in_chunks(p.examples(), p.classes(), [&](Index i) { values.push_back(certainty(p, i, score)); });
  return values;
}

double mean_entropy(const ClassProbabilities& p) {
  double sum = 0;
  in_chunks(p.examples(), p.classes(), [&](Index i) { sum += p.entropy(i); });
  return sum / static_cast<double>(p.examples());
}

}  // namespace

double auroc_of_correct(const Array& probabilities, const Array& y, bdl_score score) {
  const Classification data(probabilities, y);
  std::vector<double> right, wrong;  // each may hold all, so growing copies nothing
  right.reserve(static_cast<std::size_t>(data.examples()));
  wrong.reserve(static_cast<std::size_t>(data.examples()));
  in_chunks(data.examples(), data.probabilities.classes(), [&](Index i) {
    (data.is_right(i) ? right : wrong).push_back(certainty(data.probabilities, i, score));
  });
  if (right.empty() || wrong.empty())
    fail(Status::ERROR_INVALID_ARGUMENT,
         "probabilities predicts %s of the labels y, expected some and not all",
         right.empty() ? "none" : "all");
  return Ranking(std::move(right), std::move(wrong)).auroc();
}

bdl_ood_report detect_outside(const Array& inside, const Array& outside, bdl_score score) {
  const ClassProbabilities in(inside, "inside");
  check_shape(outside, -1, inside.cols, "outside");
  const ClassProbabilities out(outside, "outside");
  const Ranking ranking(certainties(in, score), certainties(out, score));
  const Ranking::Operation at95 = ranking.false_positive_rate(0.95);
  bdl_ood_report report{};
  report.auroc = ranking.auroc();
  report.aupr = ranking.average_precision();
  report.aupr_out = ranking.opposite().average_precision();
  report.fpr95 = at95.rate;
  report.threshold = at95.threshold;
  report.detection_error = ranking.detection_error();
  report.entropy_inside = mean_entropy(in);
  report.entropy_outside = mean_entropy(out);
  return report;
}

}  // namespace bdl
