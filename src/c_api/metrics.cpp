#include "bdl/metrics.h"

#include "c_api/guard.hpp"
#include "metrics/metrics.hpp"

using bdl::guard;
using bdl::not_null;

bdl_status bdl_metric_rmse(bdl_matrix mean, bdl_matrix y, double* rmse) {
  return guard("bdl_metric_rmse", [&] {
    not_null(rmse, "rmse");
    *rmse = bdl::rmse(mean, y);
  });
}

bdl_status bdl_metric_log_predictive_density(bdl_matrix log_density, double* mean, double* standard_error) {
  return guard("bdl_metric_log_predictive_density", [&] {
    not_null(mean, "mean");
    const auto estimate = bdl::mean_log_predictive_density(log_density);
    *mean = estimate.mean;
    if (standard_error) *standard_error = estimate.standard_error;
  });
}

bdl_status bdl_metric_accuracy(bdl_matrix probabilities, bdl_matrix y, double* accuracy) {
  return guard("bdl_metric_accuracy", [&] {
    not_null(accuracy, "accuracy");
    *accuracy = bdl::accuracy(probabilities, y);
  });
}

bdl_status bdl_metric_brier(bdl_matrix probabilities, bdl_matrix y, double* brier) {
  return guard("bdl_metric_brier", [&] {
    not_null(brier, "brier");
    *brier = bdl::brier_score(probabilities, y);
  });
}

bdl_status bdl_metric_ece(bdl_matrix probabilities, bdl_matrix y, int64_t bins, double* ece) {
  return guard("bdl_metric_ece", [&] {
    not_null(ece, "ece");
    *ece = bdl::expected_calibration_error(probabilities, y, bins);
  });
}

bdl_status bdl_metric_coverage(bdl_matrix lower, bdl_matrix upper, bdl_matrix y, double* coverage) {
  return guard("bdl_metric_coverage", [&] {
    not_null(coverage, "coverage");
    *coverage = bdl::coverage(lower, upper, y);
  });
}

bdl_status bdl_metric_crps(bdl_matrix draws, bdl_matrix y, double* crps) {
  return guard("bdl_metric_crps", [&] {
    not_null(crps, "crps");
    *crps = bdl::crps(draws, y);
  });
}
