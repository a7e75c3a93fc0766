// A small optimizer of every method and family that go with a network, for tests that make something fail in
// training.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "c_api/c_api_test.h"
#include "fuzz/load_any.hpp"

namespace {

constexpr int64_t start_rows = 6, start_epochs = 2;
constexpr const char *linear_network = "input 2; dense 1",
                     *hidden_network = "input 2; dense 3; tanh; dense 2",
                     *image_network = "input 1 4 4; conv 2 3; batchnorm; relu; dense 2";
constexpr int start_families = 10;

struct StartData {
  std::vector<double> x, y;
  int64_t inputs;
  explicit StartData(const bdl_model* model) : inputs(bdl_model_inputs(model)) {
    for (int64_t i = 0; i < start_rows * inputs; ++i) x.push_back(std::sin(1.7 * static_cast<double>(i)));
    for (int64_t i = 0; i < start_rows; ++i) y.push_back(static_cast<double>(i % 2));
  }
  bdl_matrix inputs_of() const { return bdl_f64(x.data(), start_rows, inputs); }
  bdl_matrix targets() const { return bdl_f64(y.data(), start_rows, 1); }
};

inline bool create_posterior(int family, bdl_model* model, bdl_posterior** q) {
  const int64_t d = bdl_model_parameters(model);
  switch (family) {
    case 0:
      return bdl_posterior_create_low_rank(BDL_F64, d, 2, q) == BDL_OK;
    case 1:
      return bdl_posterior_create_low_rank(BDL_F64, d, 0, q) == BDL_OK;
    case 2:
      return bdl_posterior_create_full(BDL_F64, d, q) == BDL_OK;
    case 3:
      return bdl_posterior_create_full_moment(BDL_F64, d, q) == BDL_OK;
    case 4:
      return bdl_posterior_create_diagonal_moment(BDL_F64, d, q) == BDL_OK;
    case 5:
      return bdl_posterior_create_layerwise_full(model, q) == BDL_OK;
    case 6:
      return bdl_posterior_create_low_rank_moment(BDL_F64, d, 2, q) == BDL_OK;
    case 7:
      return bdl_posterior_create_layerwise_low_rank_moment(model, 2, q) == BDL_OK;
    case 8:
      return bdl_posterior_create_dropout(model, 0.1, 0.2, q) == BDL_OK;
    default:
      return bdl_posterior_create_kronecker(model, q) == BDL_OK;
  }
}

/// Blank handles, if the method is for such a model and posterior.
inline bool create_start(const char* method, const char* network, int family, fuzz::Parts& parts) {
  const bdl_likelihood likelihood = network == linear_network ? BDL_BERNOULLI : BDL_CATEGORICAL;
  OK(bdl_model_create_network(BDL_F64, network, likelihood, &parts.model));
  if (!create_posterior(family, parts.model, &parts.posterior)) return false;
  if (bdl_optimizer_create(parts.model, parts.posterior, method, start_rows, &parts.optimizer) != BDL_OK)
    return false;
  // Streams and methods exact-* have no minibatches, and refuse it.
  (void)bdl_optimizer_set_int(parts.optimizer, "minibatch", start_rows / 2);
  if (strcmp(method, "swag") == 0) OK(bdl_optimizer_set_text(parts.optimizer, "swag_every=1 swag_from=0"));
  return true;
}

inline void load_start(const std::string& bytes, fuzz::Parts& parts) {
  OK(bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), nullptr, &parts.model, &parts.posterior,
                    &parts.optimizer));
}

inline bool is_stream(const char* method) {
  int32_t stream = 0;
  OK(bdl_method_describe(method, nullptr, &stream, nullptr, nullptr, nullptr, nullptr));
  return stream != 0;
}

/// Trains to the end, from where the optimizer stands: the rest of a plan, or of the rows.
inline bdl_status train_on(bool stream, const StartData& data, bdl_optimizer* o) {
  int64_t step = 0, planned = 0;
  OK(bdl_optimizer_progress(o, &step, &planned, nullptr));
  if (!stream)
    return bdl_optimizer_fit(o, data.inputs_of(), data.targets(), planned > 0 ? 0 : start_epochs, nullptr,
                             nullptr);
  if (step >= start_rows) return BDL_OK;
  return bdl_optimizer_observe(o, bdl_f64(data.x.data() + step * data.inputs, start_rows - step, data.inputs),
                               bdl_f64(data.y.data() + step, start_rows - step, 1), bdl_none_out());
}

/// visit(method, what it starts from, as bytes).
template <class Visit>
int for_each_start(const char* network, Visit&& visit) {
  int combinations = 0;
  for (int64_t i = 0; i < bdl_method_count(); ++i)
    for (int family = 0; family < start_families; ++family) {
      std::string start;
      {
        fuzz::Parts parts;
        if (create_start(bdl_method_name(i), network, family, parts)) start = fuzz::saved(parts);
      }
      if (start.empty()) continue;
      visit(bdl_method_name(i), start);
      ++combinations;
    }
  return combinations;
}

}  // namespace
