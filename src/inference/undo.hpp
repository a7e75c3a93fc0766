// Nothing has happened if the first step of a call fails.
#pragma once

#include <optional>

#include "inference/optimizer.hpp"

namespace bdl {

/// Puts everything back that preparing a first step has changed, unless the step was taken.
template <class T>
class Undo {
 public:
  explicit Undo(Optimizer<T>& optimizer)
      : optimizer_(&optimizer), state_(optimizer.state), blank_(optimizer.posterior()->is_blank()) {
    if (!optimizer.model()) return;
    const Likelihood& likelihood = optimizer.model()->likelihood;
    if (blank_ || !likelihood.noise_is_set() || !likelihood.log_precision_is_free()) likelihood_ = likelihood;
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (!optimizer_) return;
    optimizer_->state = state_;
    if (likelihood_) optimizer_->model()->likelihood = std::move(*likelihood_);
    if (blank_) optimizer_->forget_start();
  }
  void keep() { optimizer_ = nullptr; }

 private:
  Optimizer<T>* optimizer_;
  TrainingState state_;
  bool blank_;
  std::optional<Likelihood> likelihood_;
};

}  // namespace bdl
