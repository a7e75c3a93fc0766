// Checks any bytes that are loaded as a checkpoint.
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

inline bdl_status save(const Parts& parts, std::string& bytes) {
  std::int64_t size = 0;
  const bdl_status status = bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, nullptr, 0, &size);
  bytes.assign(static_cast<std::size_t>(size), '\0');
  return status != BDL_OK
             ? status
             : bdl_save_bytes(parts.model, parts.posterior, parts.optimizer, bytes.data(), size, &size);
}

/// Empty where that fails.
inline std::string saved(const Parts& parts) {
  std::string bytes;
  return save(parts, bytes) == BDL_OK ? bytes : std::string();
}

/// The loaded parts predict, or say why not; their values may be absurd, and a posterior need not have the
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
         status == BDL_ERROR_NOT_FINITE ||  // scales of inputs that no number survives
         status == BDL_ERROR_OUT_OF_MEMORY;
}

/// Saved and loaded again, they are the same.
inline bool survives(const Parts& parts) {
  std::string once, twice;
  const bdl_status status = save(parts, once);
  Parts again;
  return status == BDL_OK &&
         bdl_load_bytes(once.data(), static_cast<std::int64_t>(once.size()), nullptr,
                        parts.model ? &again.model : nullptr, parts.posterior ? &again.posterior : nullptr,
                        parts.optimizer ? &again.optimizer : nullptr) == BDL_OK &&
         save(again, twice) == BDL_OK && twice == once;
}

/// Options that cost time, back to what a fuzzer can wait for; a smaller value is refused only where options
/// do not go together, as those of a file need not.
inline bool tamed(bdl_optimizer* optimizer) {
  static constexpr struct {
    const char* name;
    std::int64_t most, instead;
  } limits[] = {{"samples", 6, 2}, {"sample_groups", 3, 1}, {"iterations", 3, 1},
                {"probes", 6, 2},  {"eigen_passes", 3, 2},  {"eigen_oversampling", 9, 8},
                {"threads", 2, 1}, {"augment_pad", 3, 0},   {"tied_rank", 4, 2}};
  for (const auto& limit : limits) {
    std::int64_t value = 0;
    if (bdl_optimizer_get_int(optimizer, limit.name, &value) != BDL_OK) return false;
    if (value > limit.most && bdl_optimizer_set_int(optimizer, limit.name, limit.instead) != BDL_OK)
      return false;
  }
  return true;
}

/// The loaded parts learn an example or say why not, but not by a defect of the library.
inline bool learns(const Parts& parts) {
  const std::int64_t inputs = bdl_model_inputs(parts.model), targets = bdl_model_targets(parts.model);
  if (!parts.optimizer || !parts.model || inputs > 100 || targets > 100 ||
      bdl_model_parameters(parts.model) > 500)
    return true;
  if (!tamed(parts.optimizer)) return true;
  const std::vector<double> x(static_cast<std::size_t>(inputs), 0.5), y(static_cast<std::size_t>(targets), 1);
  const bdl_matrix in = bdl_f64(x.data(), 1, inputs), out = bdl_f64(y.data(), 1, targets);
  const char* message = nullptr;
  double density = 0;
  const bdl_status statuses[] = {bdl_optimizer_diagnose(parts.optimizer, nullptr, nullptr, &message),
                                 bdl_optimizer_step(parts.optimizer, in, out),
                                 bdl_optimizer_observe(parts.optimizer, in, out, bdl_f64_out(&density, 1, 1)),
                                 bdl_optimizer_diagnose(parts.optimizer, nullptr, nullptr, &message)};
  for (const bdl_status status : statuses)
    if (status == BDL_ERROR_INTERNAL || status < BDL_OK || status > BDL_STOPPED) return false;
  return message || statuses[3] != BDL_OK;
}

/// Whether the bytes load whole, or in part, or are refused as they should be.
inline bool load_is_right(const void* bytes, std::int64_t size) {
  for (const bool with_optimizer : {true, false}) {
    Parts parts;
    const bdl_status status = bdl_load_bytes(bytes, size, nullptr, &parts.model, &parts.posterior,
                                             with_optimizer ? &parts.optimizer : nullptr);
    if (!is_expected(status)) return false;
    if (status == BDL_OK) return predicts(parts) && survives(parts) && learns(parts) && survives(parts);
  }
  return true;
}

}  // namespace fuzz
