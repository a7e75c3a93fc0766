#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/table.hpp"

namespace vogn {
namespace {

constexpr int64_t bins = 20;  // of the published calibration error

struct Answer {
  double log_probability, confidence;
  bool is_right;
};

std::vector<Answer> answers(const std::vector<double>& probabilities, const Part& part, int64_t classes) {
  std::vector<Answer> found;
  for (int64_t i = 0; i < part.count; ++i) {
    const double* const row = &probabilities[static_cast<std::size_t>(i * classes)];
    const int64_t label = part.images.labels[static_cast<std::size_t>(part.first + i)];
    const double* const largest = std::max_element(row, row + classes);
    found.push_back({std::log(std::max(row[label], 1e-12)), *largest, largest - row == label});
  }
  return found;
}

}  // namespace

Scores score(const std::vector<double>& probabilities, const Part& part, int64_t classes) {
  const bdl_matrix p = bdl_f64(probabilities.data(), part.count, classes);
  double sum = 0, right = 0;
  for (const Answer& answer : answers(probabilities, part, classes)) {
    sum += answer.log_probability;
    right += answer.is_right ? 1 : 0;
  }
  const auto n = static_cast<double>(part.count);
  Scores scores{100 * right / n, -sum / n, 0, std::numeric_limits<double>::quiet_NaN()};
  support::check(bdl_metric_ece(p, part.y(), bins, &scores.ece));
  if (right > 0 && right < n)
    support::check(bdl_metric_auroc_correct(p, part.y(), BDL_SCORE_CONFIDENCE, &scores.auroc));
  return scores;
}

PerImage of_each_image(const std::vector<double>& probabilities, const Part& part, int64_t classes) {
  PerImage text;
  for (const Answer& answer : answers(probabilities, part, classes)) {
    text.log_probabilities += ' ' + support::number(answer.log_probability, 3);
    text.confidences += ' ' + support::number(answer.is_right ? answer.confidence : -answer.confidence, 3);
  }
  return text;
}

}  // namespace vogn
