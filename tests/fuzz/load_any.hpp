// What must hold for any bytes that are loaded as a checkpoint.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bdl/bdl.h"

namespace fuzz {

struct Parts {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    bdl_optimizer_free(optimizer);
    bdl_posterior_free(posterior);
    bdl_model_free(model);
  }
};

/// BDL_ERROR_INVALID_ARGUMENT: a user's own model, whose callbacks no file has.
inline bool is_expected(bdl_status status) {
  return status == BDL_OK || status == BDL_ERROR_FORMAT || status == BDL_ERROR_INVALID_ARGUMENT ||
         status == BDL_ERROR_OUT_OF_MEMORY;
}

inline std::string saved(const Parts& parts) {
  std::int64_t size = 0;
  if (bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, nullptr, 0, &size) != BDL_OK) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  return bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, bytes.data(), size, &size) == BDL_OK
             ? bytes
             : std::string();
}

/// What has loaded predicts, or says why not; its values may be absurd, and a posterior need not have the
/// points of the model that stands beside it.
inline bool predicts(const Parts& parts) {
  const std::int64_t inputs = bdl_model_inputs(parts.model), outputs = bdl_model_outputs(parts.model);
  if (!parts.model || !parts.posterior || inputs > 1000 || outputs > 1000) return true;
  const std::vector<double> x(static_cast<std::size_t>(inputs), 0.5);
  std::vector<double> mean(static_cast<std::size_t>(outputs));
  const std::int64_t columns =
      bdl_model_likelihood(parts.model) == BDL_HETEROSCEDASTIC ? outputs / 2 : outputs;
  const bdl_status status =
      bdl_predict(parts.model, parts.posterior, bdl_f64(x.data(), 1, inputs), BDL_MONTE_CARLO, 2, 1,
                  bdl_f64_out(mean.data(), 1, columns), bdl_none_out(), bdl_none_out());
  return status == BDL_OK || status == BDL_ERROR_DIVERGED || status == BDL_ERROR_SHAPE ||
         status == BDL_ERROR_OUT_OF_MEMORY;
}

/// Saved and loaded again, they are the same.
inline bool survives(const Parts& parts) {
  const std::string once = saved(parts);
  Parts again;
  return !once.empty() &&
         bdl_load_bytes(once.data(), static_cast<std::int64_t>(once.size()), nullptr,
                        parts.model ? &again.model : nullptr, parts.posterior ? &again.posterior : nullptr,
                        parts.optimizer ? &again.optimizer : nullptr) == BDL_OK &&
         saved(again) == once;
}

/// Whether the bytes load whole, or in part, or are refused as they should be.
inline bool load_is_right(const void* bytes, std::int64_t size) {
  for (const bool with_optimizer : {true, false}) {
    Parts parts;
    const bdl_status status = bdl_load_bytes(bytes, size, nullptr, &parts.model, &parts.posterior,
                                             with_optimizer ? &parts.optimizer : nullptr);
    if (!is_expected(status)) return false;
    if (status == BDL_OK) return predicts(parts) && survives(parts);
  }
  return true;
}

}  // namespace fuzz
