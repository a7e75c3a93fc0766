// The values that are stored beside a golden checkpoint, as the program that writes them and the test that
// loads them compute it. Files that were written once are compared with it for ever: data and quantities do
// not change.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bdl/bdl.h"

namespace checkpoints {

inline constexpr std::int64_t rows = 24, predicted_rows = 3;

struct Table {
  std::int64_t cols = 0;
  std::vector<double> values;  // row by row
  bdl_matrix first(std::int64_t count) const { return bdl_f64(values.data(), count, cols); }
  bdl_matrix all() const { return first(rows); }
};

/// Quarters from -1.5 to 1.5.
inline double input(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * (2 * j + 3) + 5 * j) % 13 - 6) / 4;
}

inline double target(bdl_likelihood likelihood, std::int64_t i, std::int64_t j) {
  const double f =
      (j == 0 ? 1 : -0.5) * (input(i, 0) - input(i, 1) / 2) + static_cast<double>(i * 5 % 7 - 3) / 8;
  switch (likelihood) {
    case BDL_BERNOULLI:
      return f > 0 ? 1 : 0;
    case BDL_CATEGORICAL:
      return f > 0.5 ? 2 : f > -0.5 ? 1 : 0;
    case BDL_POISSON:
      return std::floor(std::abs(2 * f));
    default:
      return f;
  }
}

inline Table inputs_for(const bdl_model* model) {
  Table x{bdl_model_inputs(model), {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) x.values.push_back(input(i, j));
  return x;
}

inline Table targets_for(const bdl_model* model) {
  Table y{bdl_model_targets(model), {}};
  const auto likelihood = static_cast<bdl_likelihood>(bdl_model_likelihood(model));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < y.cols; ++j) y.values.push_back(target(likelihood, i, j));
  return y;
}

/// A user's own model of two inputs and three parameters, for predictions: f = a x_1 + b x_2 + c.
inline std::int32_t user_outputs(void*, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  const auto at = [](const bdl_matrix& m, std::int64_t i, std::int64_t j) {
    return static_cast<const double*>(m.data)[i * m.row_stride + j * m.col_stride];
  };
  for (std::int64_t i = 0; i < inputs.rows; ++i)
    static_cast<double*>(outputs.data)[i * outputs.row_stride] = at(parameters, 0, 0) * at(inputs, i, 0) +
                                                                 at(parameters, 0, 1) * at(inputs, i, 1) +
                                                                 at(parameters, 0, 2);
  return 0;
}

inline bdl_status create_user_model(bdl_model** model) {
  const bdl_model_callbacks callbacks{sizeof callbacks, user_outputs, nullptr, nullptr, nullptr};
  return bdl_model_create_user(BDL_F64, 2, 1, 3, BDL_GAUSSIAN, &callbacks, model);
}

struct Quantity {
  std::string key;
  std::vector<double> numbers;
};

using Quantities = std::vector<Quantity>;

/// Mean and both variances; left out where the model or the posterior does not offer the method.
inline void add_predictions(Quantities& all, const char* key, bdl_predict_method method,
                            const bdl_model* model, const bdl_posterior* q) {
  const Table x = inputs_for(model);
  const std::int64_t outputs = bdl_model_outputs(model),
                     columns = bdl_model_likelihood(model) == BDL_HETEROSCEDASTIC ? outputs / 2 : outputs,
                     size = predicted_rows * columns;
  std::vector<double> numbers(static_cast<std::size_t>(3 * size));
  const auto part = [&](std::int64_t k) {
    return bdl_f64_out(numbers.data() + k * size, predicted_rows, columns);
  };
  if (bdl_predict(model, q, x.first(predicted_rows), method, 10, 3, part(0), part(1), part(2)) == BDL_OK)
    all.push_back({key, numbers});
}

inline void add_posterior(Quantities& all, const char* prefix, const bdl_posterior* q) {
  const std::int64_t dimension = bdl_posterior_dimension(q);
  std::vector<double> mean(static_cast<std::size_t>(dimension)), variance = mean;
  if (bdl_posterior_mean(q, bdl_f64_out(mean.data(), 1, dimension)) == BDL_OK)
    all.push_back({std::string(prefix) + "mean", mean});
  if (bdl_posterior_marginal_variance(q, bdl_f64_out(variance.data(), 1, dimension)) == BDL_OK)
    all.push_back({std::string(prefix) + "variance", variance});
}

inline Quantities quantities_of(const bdl_model* model, const bdl_posterior* q) {
  Quantities all;
  add_posterior(all, "", q);
  add_predictions(all, "plug-in", BDL_PLUG_IN, model, q);
  add_predictions(all, "monte-carlo", BDL_MONTE_CARLO, model, q);
  add_predictions(all, "linearized", BDL_LINEARIZED, model, q);
  return all;
}

/// Finishes an interrupted fit, or observes the second half of the data.
inline bdl_status go_on(const bdl_model* model, bdl_optimizer* optimizer) {
  const Table x = inputs_for(model), y = targets_for(model);
  std::int32_t is_stream = 0;
  (void)bdl_method_describe(bdl_optimizer_method(optimizer), nullptr, &is_stream, nullptr, nullptr, nullptr,
                            nullptr);
  if (!is_stream) return bdl_optimizer_fit(optimizer, x.all(), y.all(), 0, nullptr, nullptr);
  const std::int64_t half = rows / 2;
  return bdl_optimizer_observe(optimizer, bdl_f64(x.values.data() + half * x.cols, half, x.cols),
                               bdl_f64(y.values.data() + half * y.cols, half, y.cols), bdl_none_out());
}

/// With an optimizer: where it is, and the posterior after it has gone on.
inline void add_course(Quantities& all, const bdl_model* model, const bdl_posterior* q,
                       bdl_optimizer* optimizer) {
  std::int64_t step = 0, planned = 0;
  (void)bdl_optimizer_progress(optimizer, &step, &planned, nullptr);
  all.push_back({"steps", {static_cast<double>(step), static_cast<double>(planned)}});
  if (go_on(model, optimizer) == BDL_OK) add_posterior(all, "later-", q);
}

}  // namespace checkpoints
