#include "support/class_scores.hpp"

#include "support/handles.hpp"

namespace support {

ClassScores score_classes(const bdl_model* model, const bdl_posterior* posterior, const Images& test,
                          int64_t draws, int64_t bins) {
  const int64_t n = test.count();
  std::vector<double> probabilities(static_cast<std::size_t>(n * 10)),
      log_density(static_cast<std::size_t>(n));
  const bdl_predict_method by = draws > 0 ? BDL_MONTE_CARLO : BDL_PLUG_IN;
  check(bdl_predict_classes(model, posterior, test.x(0, n), by, draws, 1,
                            bdl_f64_out(probabilities.data(), n, 10), bdl_none_out(), bdl_none_out()));
  check(bdl_predict_log_density(model, posterior, test.x(0, n), test.y(0, n), by, draws, 1,
                                bdl_f64_out(log_density.data(), n, 1)));
  double accuracy = 0, log_likelihood = 0, calibration = 0;
  const bdl_matrix p = bdl_f64(probabilities.data(), n, 10);
  check(bdl_metric_accuracy(p, test.y(0, n), &accuracy));
  check(bdl_metric_ece(p, test.y(0, n), bins, &calibration));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density.data(), n, 1), &log_likelihood, nullptr));
  return {100 * (1 - accuracy), log_likelihood, calibration};
}

}  // namespace support
