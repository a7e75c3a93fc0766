// "vogn-golden-1", its sets of probabilities: every score of classification and out-of-distribution
// detection, by the C functions.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "vogn_problem.hpp"

namespace golden {
namespace {

class MetricSet {
 public:
  explicit MetricSet(const Json& set)
      : set_(set),
        classes_(std::ssize(set.at("probabilities").at(0))),
        inside_(flatten(set.at("probabilities"))),
        outside_(flatten(set.at("out"))),
        labels_(set.at("labels").get<Vector>()) {}

  double largest_error() {
    compare_classification();
    compare_entropies();
    compare_ranks();
    compare_detection();
    return worst_;
  }

 private:
  bdl_matrix rows_of(const Vector& p) const { return bdl_f64(p.data(), std::ssize(p) / classes_, classes_); }
  bdl_matrix y() const { return bdl_f64(labels_.data(), std::ssize(labels_), 1); }

  void compare(const char* name, const Vector& got, const Json& expected) {
    const double error = golden::error(got, flatten_all(expected));
    if (!(error <= tolerance)) std::printf("    metric %s: %.3g\n", name, error);
    worst_ = std::max(worst_, error);
  }
  void compare(const char* name, const std::function<bdl_status(double*)>& metric) {
    double got = 0;
    check(metric(&got));
    compare(name, {got}, set_.at(name));
  }

  void compare_classification() {
    const bdl_matrix p = rows_of(inside_);
    compare("accuracy", [&](double* got) { return bdl_metric_accuracy(p, y(), got); });
    compare("nll", [&](double* got) { return bdl_metric_nll(p, y(), got); });
    compare("brier", [&](double* got) { return bdl_metric_brier(p, y(), got); });
    compare("auroc_correct",
            [&](double* got) { return bdl_metric_auroc_correct(p, y(), BDL_SCORE_CONFIDENCE, got); });
    for (const auto& item : set_.at("ece").items()) {
      double got = 0;
      check(bdl_metric_ece(p, y(), std::stoll(item.key()), &got));
      compare("ece", {got}, item.value());
    }
    constexpr int bins = 20;
    Vector curve(3 * bins), used;
    check(bdl_metric_calibration_curve(p, y(), bdl_f64_out(curve.data(), bins, 3)));
    for (std::size_t bin = 0; bin < bins; ++bin)
      if (curve[3 * bin] > 0)
        used.insert(used.end(),
                    {static_cast<double>(bin + 1), curve[3 * bin], curve[3 * bin + 1], curve[3 * bin + 2]});
    compare("curve", used, set_.at("curve"));
  }

  double mean_entropy(const Vector& p) const {
    Vector entropy(static_cast<std::size_t>(rows_of(p).rows));
    check(bdl_metric_entropy(rows_of(p), bdl_f64_out(entropy.data(), std::ssize(entropy), 1)));
    double sum = 0;
    for (const double value : entropy) sum += value;
    return sum / static_cast<double>(entropy.size());
  }

  void compare_entropies() {
    const auto histogram = [&](const char* name, const Vector& p) {
      Vector counts(set_.at(name).size());
      check(bdl_metric_entropy_histogram(rows_of(p), bdl_f64_out(counts.data(), std::ssize(counts), 1)));
      compare(name, counts, set_.at(name));
    };
    compare("entropy_in", {mean_entropy(inside_)}, set_.at("entropy_in"));
    compare("entropy_out", {mean_entropy(outside_)}, set_.at("entropy_out"));
    histogram("histogram_in", inside_);
    histogram("histogram_out", outside_);
  }

  Vector confidences(const Vector& p, double sign) const {
    Vector largest;
    for (auto row = p.begin(); row != p.end(); row += classes_)
      largest.push_back(sign * *std::max_element(row, row + classes_));
    return largest;
  }

  void compare_ranks() {
    const Vector in = confidences(inside_, 1), out = confidences(outside_, 1),
                 in_negated = confidences(inside_, -1), out_negated = confidences(outside_, -1);
    const auto column = [](const Vector& v) { return bdl_f64(v.data(), std::ssize(v), 1); };
    double threshold = 0;
    compare("auroc", [&](double* got) { return bdl_metric_auroc(column(in), column(out), got); });
    compare("aupr", [&](double* got) { return bdl_metric_aupr(column(in), column(out), got); });
    compare("aupr_out",
            [&](double* got) { return bdl_metric_aupr(column(out_negated), column(in_negated), got); });
    compare("fpr95",
            [&](double* got) { return bdl_metric_fpr(column(in), column(out), 0.95, got, &threshold); });
    compare("threshold", {threshold}, set_.at("threshold"));
    compare("detection_error",
            [&](double* got) { return bdl_metric_detection_error(column(in), column(out), got); });
  }

  void compare_detection() {
    bdl_ood_report report{}, by_entropy{};
    report.struct_size = by_entropy.struct_size = sizeof report;
    check(bdl_metric_ood(rows_of(inside_), rows_of(outside_), BDL_SCORE_CONFIDENCE, &report));
    check(bdl_metric_ood(rows_of(inside_), rows_of(outside_), BDL_SCORE_ENTROPY, &by_entropy));
    compare("auroc", {report.auroc}, set_.at("auroc"));
    compare("aupr", {report.aupr}, set_.at("aupr"));
    compare("aupr_out", {report.aupr_out}, set_.at("aupr_out"));
    compare("fpr95", {report.fpr95}, set_.at("fpr95"));
    compare("threshold", {report.threshold}, set_.at("threshold"));
    compare("detection_error", {report.detection_error}, set_.at("detection_error"));
    compare("entropy_in", {report.entropy_inside}, set_.at("entropy_in"));
    compare("entropy_out", {report.entropy_outside}, set_.at("entropy_out"));
    compare("auroc_entropy", {by_entropy.auroc}, set_.at("auroc_entropy"));
  }

  const Json& set_;
  std::int64_t classes_;
  Vector inside_, outside_, labels_;
  double worst_ = 0;
};

}  // namespace

double compare_vogn_metrics(const Json& file) {
  double worst = 0;
  for (const Json& set : file.at("metrics")) worst = std::max(worst, MetricSet(set).largest_error());
  return worst;
}

}  // namespace golden
