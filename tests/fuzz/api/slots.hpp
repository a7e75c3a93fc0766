// The handles of a sequence, with what the library would save of each.
#pragma once

#include <array>
#include <string>

#include "bdl/bdl.h"

namespace fuzz {

/// Sizes of a model, which the calls on what was made for it need too.
struct Shape {
  std::int64_t inputs = 1, outputs = 1, targets = 1, parameters = 1;
  std::int32_t dtype = BDL_F64, likelihood = BDL_GAUSSIAN;
};

inline Shape shape_of(const bdl_model* model) {
  return {bdl_model_inputs(model),     bdl_model_outputs(model), bdl_model_targets(model),
          bdl_model_parameters(model), bdl_model_dtype(model),   bdl_model_likelihood(model)};
}

template <class Handle>
struct Slot {
  Handle* handle = nullptr;
  Shape shape;
  std::string saved;     ///< what bdl_save_bytes() gives, where that is known
  bool known = false;    ///< whether `saved` is up to date
  bool touched = false;  ///< by the call in progress
  bool asked = false;    ///< whether its getters were, since it was last changed
};

inline void free_handle(bdl_model* handle) {
  bdl_model_free(handle);
}
inline void free_handle(bdl_posterior* handle) {
  bdl_posterior_free(handle);
}
inline void free_handle(bdl_optimizer* handle) {
  bdl_optimizer_free(handle);
}
inline void free_handle(bdl_predictor* handle) {
  bdl_predictor_free(handle);
}
inline void free_handle(bdl_search* handle) {
  bdl_search_free(handle);
}

inline void free_handle(bdl_dataset* handle) {
  bdl_dataset_free(handle);
}

inline bdl_status save(bdl_model* m, void* to, std::int64_t room, std::int64_t* size) {
  return bdl_save_bytes(m, nullptr, nullptr, to, room, size);
}
inline bdl_status save(bdl_posterior* q, void* to, std::int64_t room, std::int64_t* size) {
  return bdl_save_bytes(nullptr, q, nullptr, to, room, size);
}
inline bdl_status save(bdl_optimizer* o, void* to, std::int64_t room, std::int64_t* size) {
  return bdl_save_bytes(nullptr, nullptr, o, to, room, size);
}

/// Returns the bytes that a handle saves to; if it cannot be saved, the status.
template <class Handle>
std::string saved(Handle* handle) {
  std::int64_t size = 0;
  bdl_status status = save(handle, nullptr, 0, &size);
  std::string bytes(static_cast<std::size_t>(status == BDL_OK ? size : 0), '\0');
  if (status == BDL_OK) status = save(handle, bytes.data(), size, &size);
  return status == BDL_OK ? bytes : bdl_status_name(status);
}
/// Predictors, data sets and searches have no file; of a data set, its sizes, and of a search, the trials.
inline std::string saved(bdl_predictor*) {
  return "";
}
inline std::string saved(bdl_dataset* d) {
  return std::to_string(bdl_dataset_rows(d)) + " " + std::to_string(bdl_dataset_inputs(d)) + " " +
         std::to_string(bdl_dataset_targets(d));
}
inline std::string saved(bdl_search* s) {
  return std::to_string(bdl_search_trial_count(s));
}

template <class Handle, std::size_t count>
class Slots {
 public:
  ~Slots() { clear(); }
  void clear() {
    for (auto& slot : slots_) {
      free_handle(slot.handle);
      slot = {};
    }
  }
  Slot<Handle>& operator[](std::int64_t i) { return slots_[static_cast<std::size_t>(i) % count]; }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }
  /// An empty one, or `victim`, whose handle is freed.
  Slot<Handle>& room(std::int64_t victim) {
    for (auto& slot : slots_)
      if (!slot.handle) return slot;
    Slot<Handle>& slot = (*this)[victim];
    free_handle(slot.handle);
    return slot = {};
  }

 private:
  std::array<Slot<Handle>, count> slots_;
};

}  // namespace fuzz
