#include "score.hpp"

#include <algorithm>
#include <cmath>

namespace mnist {
namespace {

using support::check;

struct Predictions {
  std::vector<float> probabilities;
  std::vector<double> entropies;
};

Predictions predict(const Handles& handles, bdl_matrix x, int samples) {
  std::vector<float> probabilities(static_cast<std::size_t>(x.rows * classes)),
      entropy(static_cast<std::size_t>(x.rows));
  check(bdl_predict_classes(handles.model.get(), handles.q.get(), x, BDL_MONTE_CARLO, samples, 1,
                            bdl_f32_out(probabilities.data(), x.rows, classes),
                            bdl_f32_out(entropy.data(), x.rows, 1), bdl_none_out()));
  return {std::move(probabilities), {entropy.begin(), entropy.end()}};
}

}  // namespace

Score score_of(const Handles& handles, bdl_matrix x, bdl_matrix y, int samples) {
  Predictions predicted = predict(handles, x, samples);
  const bdl_matrix p = bdl_f32(predicted.probabilities.data(), x.rows, classes);
  Score score;
  check(bdl_metric_accuracy(p, y, &score.error));
  score.error = 1 - score.error;
  check(bdl_metric_ece(p, y, 15, &score.ece));
  const auto* label = static_cast<const int32_t*>(y.data);
  for (int64_t i = 0; i < x.rows; ++i) {
    const auto at = static_cast<std::size_t>(i * classes + label[i]);
    score.nll -= std::log(std::max(predicted.probabilities[at], 1e-30F)) / static_cast<double>(x.rows);
  }
  score.entropies = std::move(predicted.entropies);
  return score;
}

std::vector<double> entropies(const Handles& handles, bdl_matrix x, int samples) {
  return predict(handles, x, samples).entropies;
}

double auroc(const std::vector<double>& digits, const std::vector<double>& strange) {
  std::vector<double> sorted = digits;
  std::sort(sorted.begin(), sorted.end());
  double pairs = 0;  // in which the strange image has more; ties count half
  for (const double entropy : strange) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), entropy);
    pairs += static_cast<double>((first - sorted.begin()) + (last - sorted.begin())) / 2;
  }
  return pairs / (static_cast<double>(digits.size()) * static_cast<double>(strange.size()));
}

double learned_share(const Handles& handles) {
  const int64_t parameters = bdl_posterior_dimension(handles.q.get());
  const int64_t rank = bdl_posterior_rank(handles.q.get());
  std::vector<double> u(static_cast<std::size_t>(parameters * rank)),
      precision(static_cast<std::size_t>(parameters));
  check(bdl_posterior_get_low_rank(handles.q.get(),
                                   rank > 0 ? bdl_f64_out(u.data(), parameters, rank) : bdl_none_out(),
                                   bdl_f64_out(precision.data(), 1, parameters)));
  for (std::size_t k = 0; k < u.size(); ++k) precision[k / static_cast<std::size_t>(rank)] += u[k] * u[k];
  const double least = *std::min_element(precision.begin(), precision.end());
  const auto learned = std::count_if(precision.begin(), precision.end(),
                                     [least](double value) { return value > 1.5 * least; });
  return static_cast<double>(learned) / static_cast<double>(parameters);
}

}  // namespace mnist
