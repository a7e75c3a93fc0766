#include "metrics/detection.hpp"

#include <vector>

#include "base/loop_turns.hpp"
#include "metrics/classification.hpp"
#include "metrics/ranking.hpp"

namespace bdl {
namespace {

double certainty(const ClassProbabilities& p, Index i, bdl_score score) {
  return score == BDL_SCORE_CONFIDENCE ? p.confidence(i) : -p.entropy(i);
}

std::vector<double> certainties(const ClassProbabilities& p, bdl_score score) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(p.examples()));
  LoopTurns turn;
  for (Index i = 0; i < p.examples(); ++i) {
    turn(p.classes());
    values.push_back(certainty(p, i, score));
  }
  return values;
}

double mean_entropy(const ClassProbabilities& p) {
  double sum = 0;
  LoopTurns turn;
  for (Index i = 0; i < p.examples(); ++i) {
    turn(p.classes());
    sum += p.entropy(i);
  }
  return sum / static_cast<double>(p.examples());
}

}  // namespace

double auroc_of_correct(const Array& probabilities, const Array& y, bdl_score score) {
  const Classification data(probabilities, y);
  std::vector<double> right, wrong;  // together as long as either may be: no copies as they grow
  right.reserve(static_cast<std::size_t>(data.examples()));
  wrong.reserve(static_cast<std::size_t>(data.examples()));
  LoopTurns turn;
  for (Index i = 0; i < data.examples(); ++i) {
    turn(data.probabilities.classes());
    (data.is_right(i) ? right : wrong).push_back(certainty(data.probabilities, i, score));
  }
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
