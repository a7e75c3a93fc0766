#include "bdl/metrics.h"

#include <utility>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/guard.hpp"
#include "metrics/metrics.hpp"
#include "metrics/ranking.hpp"

using bdl::checked_result;
using bdl::interruptible_guard;
using bdl::not_null;

namespace {

bdl::Ranking ranking_of(const bdl_matrix& positive, const bdl_matrix& negative) {
  auto first = bdl::scores_of(positive, "positive"), second = bdl::scores_of(negative, "negative");
  return {std::move(first), std::move(second)};
}

void check_score(const bdl_score& score) {
  bdl::check_enum(score, BDL_SCORE_CONFIDENCE, BDL_SCORE_ENTROPY, "score");
}

/// Fails unless the struct has the size of its first, and so far only, version.
void check_report(const bdl_ood_report* report) {
  not_null(report, "report");
  if (report->struct_size != sizeof *report)
    fail(bdl::Status::ERROR_INVALID_ARGUMENT,
         "report has struct_size %zu, expected sizeof(bdl_ood_report): %zu", report->struct_size,
         sizeof *report);
}

bdl_status estimate_elpd(const char* function, const bdl_matrix& log_likelihood,
                         const bdl_matrix_out& pointwise, bool by_leaving_out, double* elpd,
                         double* standard_error, double* effective_parameters) {
  return interruptible_guard(function, [&] {
    not_null(elpd, "elpd");
    bdl::check_apart({{"pointwise", pointwise}}, {{"log_likelihood", log_likelihood}});
    const bdl::PointwiseElpd rows(log_likelihood, pointwise, by_leaving_out);
    const bdl::Elpd sums = rows.sums();
    checked_result(sums.elpd, "elpd");
    checked_result(sums.effective_parameters, "effective_parameters");
    checked_result(sums.standard_error, "standard_error");
    rows.write();
    *elpd = sums.elpd;
    if (standard_error) *standard_error = sums.standard_error;
    if (effective_parameters) *effective_parameters = sums.effective_parameters;
  });
}

}  // namespace

bdl_status bdl_metric_rmse(bdl_matrix mean, bdl_matrix y, double* rmse) {
  return interruptible_guard(__func__, [&] {
    not_null(rmse, "rmse");
    *rmse = checked_result(bdl::rmse(mean, y), "rmse");
  });
}

bdl_status bdl_metric_log_predictive_density(bdl_matrix log_density, double* mean, double* standard_error) {
  return interruptible_guard(__func__, [&] {
    not_null(mean, "mean");
    const auto estimate = bdl::mean_log_predictive_density(log_density);
    const double error = standard_error ? checked_result(estimate.standard_error, "standard_error") : 0;
    *mean = checked_result(estimate.mean, "mean");
    if (standard_error) *standard_error = error;
  });
}

bdl_status bdl_metric_accuracy(bdl_matrix probabilities, bdl_matrix y, double* accuracy) {
  return interruptible_guard(__func__, [&] {
    not_null(accuracy, "accuracy");
    *accuracy = checked_result(bdl::accuracy(probabilities, y), "accuracy");
  });
}

bdl_status bdl_metric_brier(bdl_matrix probabilities, bdl_matrix y, double* brier) {
  return interruptible_guard(__func__, [&] {
    not_null(brier, "brier");
    *brier = checked_result(bdl::brier_score(probabilities, y), "brier");
  });
}

bdl_status bdl_metric_nll(bdl_matrix probabilities, bdl_matrix y, double* nll) {
  return interruptible_guard(__func__, [&] {
    not_null(nll, "nll");
    *nll = checked_result(bdl::negative_log_likelihood(probabilities, y), "nll");
  });
}

bdl_status bdl_metric_ece(bdl_matrix probabilities, bdl_matrix y, int64_t bins, double* ece) {
  return interruptible_guard(__func__, [&] {
    not_null(ece, "ece");
    *ece = checked_result(bdl::expected_calibration_error(probabilities, y, bins), "ece");
  });
}

bdl_status bdl_metric_calibration_curve(bdl_matrix probabilities, bdl_matrix y, bdl_matrix_out curve) {
  return interruptible_guard(__func__, [&] {
    bdl::check_apart({{"curve", curve}}, {{"probabilities", probabilities}, {"y", y}});
    bdl::calibration_curve(probabilities, y, curve);
  });
}

bdl_status bdl_metric_entropy(bdl_matrix probabilities, bdl_matrix_out entropy) {
  return interruptible_guard(__func__, [&] {
    bdl::check_apart({{"entropy", entropy}}, {{"probabilities", probabilities}});
    bdl::entropies(probabilities, entropy);
  });
}

bdl_status bdl_metric_entropy_histogram(bdl_matrix probabilities, bdl_matrix_out counts) {
  return interruptible_guard(__func__, [&] {
    bdl::check_apart({{"counts", counts}}, {{"probabilities", probabilities}});
    bdl::entropy_histogram(probabilities, counts);
  });
}

bdl_status bdl_metric_auroc(bdl_matrix positive, bdl_matrix negative, double* auroc) {
  return interruptible_guard(__func__, [&] {
    not_null(auroc, "auroc");
    *auroc = checked_result(ranking_of(positive, negative).auroc(), "auroc");
  });
}

bdl_status bdl_metric_aupr(bdl_matrix positive, bdl_matrix negative, double* aupr) {
  return interruptible_guard(__func__, [&] {
    not_null(aupr, "aupr");
    *aupr = checked_result(ranking_of(positive, negative).average_precision(), "aupr");
  });
}

bdl_status bdl_metric_fpr(bdl_matrix positive, bdl_matrix negative, double tpr, double* fpr,
                          double* threshold) {
  return interruptible_guard(__func__, [&] {
    not_null(fpr, "fpr");
    if (!(tpr > 0 && tpr <= 1))
      fail(bdl::Status::ERROR_INVALID_ARGUMENT, "tpr is %g, expected a number in (0, 1]", tpr);
    const auto found = ranking_of(positive, negative).false_positive_rate(tpr);
    *fpr = found.rate;
    if (threshold) *threshold = found.threshold;
  });
}

bdl_status bdl_metric_detection_error(bdl_matrix positive, bdl_matrix negative, double* error) {
  return interruptible_guard(__func__, [&] {
    not_null(error, "error");
    *error = checked_result(ranking_of(positive, negative).detection_error(), "error");
  });
}

bdl_status bdl_metric_roc_curve(bdl_matrix positive, bdl_matrix negative, bdl_matrix_out curve) {
  return interruptible_guard(__func__, [&] {
    const bdl::Ranking ranking = ranking_of(positive, negative);
    const bdl::Index points = positive.rows + negative.rows + 1;
    bdl::check_output(curve, points, 3, "curve");
    bdl::check_apart({{"curve", curve}}, {{"positive", positive}, {"negative", negative}});
    bdl::Buffer<double> memory(3 * points);
    ranking.curve(memory.matrix(3, points));
    // The first threshold is infinite, as documented.
    bdl::write_result<double>(memory.matrix(3, points), curve, "curve", bdl::NonFinite::documented);
  });
}

bdl_status bdl_metric_auroc_correct(bdl_matrix probabilities, bdl_matrix y, bdl_score score, double* auroc) {
  return interruptible_guard(__func__, [&] {
    not_null(auroc, "auroc");
    check_score(score);
    *auroc = checked_result(bdl::auroc_of_correct(probabilities, y, score), "auroc");
  });
}

bdl_status bdl_metric_ood(bdl_matrix inside, bdl_matrix outside, bdl_score score, bdl_ood_report* report) {
  return interruptible_guard(__func__, [&] {
    check_report(report);
    check_score(score);
    bdl_ood_report found = bdl::detect_outside(inside, outside, score);
    found.struct_size = report->struct_size;
    *report = found;
  });
}

bdl_status bdl_temperature_fit(bdl_matrix logits, bdl_matrix y, double* temperature) {
  return interruptible_guard(__func__, [&] {
    not_null(temperature, "temperature");
    *temperature = checked_result(bdl::fit_temperature(logits, y), "temperature");
  });
}

bdl_status bdl_temperature_apply(bdl_matrix logits, double temperature, bdl_matrix_out log_probabilities) {
  return interruptible_guard(__func__, [&] {
    bdl::check_apart({{"log_probabilities", log_probabilities}}, {{"logits", logits}});
    bdl::apply_temperature(logits, temperature, log_probabilities);
  });
}

bdl_status bdl_metric_coverage(bdl_matrix lower, bdl_matrix upper, bdl_matrix y, double* coverage) {
  return interruptible_guard(__func__, [&] {
    not_null(coverage, "coverage");
    *coverage = checked_result(bdl::coverage(lower, upper, y), "coverage");
  });
}

bdl_status bdl_metric_crps(bdl_matrix draws, bdl_matrix y, double* crps) {
  return interruptible_guard(__func__, [&] {
    not_null(crps, "crps");
    *crps = checked_result(bdl::crps(draws, y), "crps");
  });
}

bdl_status bdl_metric_waic(bdl_matrix log_likelihood, bdl_matrix_out pointwise, double* elpd,
                           double* standard_error, double* effective_parameters) {
  return estimate_elpd(__func__, log_likelihood, pointwise, false, elpd, standard_error,
                       effective_parameters);
}

bdl_status bdl_metric_loo(bdl_matrix log_likelihood, bdl_matrix_out pointwise, double* elpd,
                          double* standard_error, double* effective_parameters) {
  return estimate_elpd(__func__, log_likelihood, pointwise, true, elpd, standard_error, effective_parameters);
}
