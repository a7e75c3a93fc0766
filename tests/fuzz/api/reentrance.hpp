// Calls that callbacks make on the optimizer in use: those that would change it are refused, those that read
// it are not, and if it is freed it lives until the call ends.
#pragma once

#include <string>

#include "fuzz/api/session.hpp"

namespace fuzz {

/// The k-th of a few calls that would change it.
inline bdl_status change_in_use(bdl_optimizer* o, int k) {
  static const double numbers[64] = {0.5, 0.25, 0.125};
  const bdl_matrix one = bdl_f64(numbers, 1, 1), rows = bdl_f64(numbers, 7, 2);
  switch (k % 16) {
    case 0:
      return bdl_optimizer_set_text(o, "minibatch=3 shards=2");
    case 1:
      return bdl_optimizer_fit(o, rows, rows, 1, nullptr, nullptr);
    case 2:
      return bdl_optimizer_step(o, rows, rows);
    case 3:
      return bdl_optimizer_initialize(o);
    case 4:
      return bdl_optimizer_observe(o, rows, rows, bdl_none_out());
    case 5:
      return bdl_optimizer_forecast(o, 1);
    case 6:
      return bdl_optimizer_step_rows(o, rows);
    case 7:
      return bdl_optimizer_laplace(o, rows, rows);
    case 8:
      return bdl_optimizer_set_prior(o, one);
    case 9:
      return bdl_optimizer_set_draws(o, nullptr, nullptr, nullptr);
    case 10:
      return bdl_optimizer_set_communicator(o, nullptr);
    case 11:
      return bdl_optimizer_set_process_noise(o, one);
    case 12:
      return bdl_optimizer_start_noise(o, one);
    case 13:
      return bdl_optimizer_set_choice(o, "rule", "bbb");
    case 14:
      return bdl_optimizer_set_int(o, "samples", 3);
    default:
      return bdl_optimizer_set_double(o, "learning_rate", 0.5);
  }
}

inline void interfere(Session::Callbacks& callbacks) {
  bdl_optimizer* const o = callbacks.in_use;
  if (!o) return;
  const int k = callbacks.interfered++;
  const bdl_status status = change_in_use(o, k);
  if (status != BDL_ERROR_INVALID_ARGUMENT ||
      !std::strstr(bdl_last_error(), "in use by the call in progress"))
    callbacks.session->broken("call " + std::to_string(k % 16) +
                              " of a callback on what is in use: " + bdl_status_name(status));
  std::int64_t size = 0, step = 0;
  double a = 0, b = 0;
  const char* text = nullptr;
  if (k % 3 == 0) bdl_save_bytes(nullptr, nullptr, o, nullptr, 0, &size);
  if (k % 3 == 1) bdl_optimizer_diagnose(o, &a, &b, &text);
  if (k % 3 == 2) bdl_optimizer_running_elbo(o, &a, &b);
  bdl_optimizer_progress(o, &step, nullptr, &a);
}

/// The caller's functions interfere with calls on the optimizer for as long as it lives.
class Interfering {
 public:
  Interfering(Session& session, bdl_optimizer* optimizer) : callbacks_(session.callbacks) {
    callbacks_.session = &session;
    callbacks_.in_use = session.bytes.below(4) == 3 ? optimizer : nullptr;
    callbacks_.interfered = static_cast<int>(session.bytes.below(16));
  }
  ~Interfering() { callbacks_.in_use = nullptr; }
  Interfering(const Interfering&) = delete;
  Interfering& operator=(const Interfering&) = delete;

 private:
  Session::Callbacks& callbacks_;
};

/// Perhaps the optimizer in use is freed: then it is no longer one of the sequence's.
inline void free_in_use(Session::Callbacks& callbacks) {
  if (!callbacks.in_use || callbacks.interfered % 8 != 7) return;
  for (auto& slot : callbacks.session->optimizers)
    if (slot.handle == callbacks.in_use) slot = {};
  bdl_optimizer_free(callbacks.in_use);
}

}  // namespace fuzz
