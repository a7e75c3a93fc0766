// Undoes the preparations of a call whose first step fails, so that nothing has changed.
#pragma once

#include <optional>

#include "train/optimizer.hpp"

namespace bdl {

/// Restores scales and limits that start_units() changed, unless keep() is called.
template <class T>
class UndoUnits {
 public:
  explicit UndoUnits(Model<T>& model) : model_(&model), limit_(model.likelihood.limit()) {
    if (!model.standardization.has_constant()) return;
    standardization_ = model.standardization;
    likelihood_ = model.likelihood;
  }
  UndoUnits(const UndoUnits&) = delete;
  UndoUnits& operator=(const UndoUnits&) = delete;
  ~UndoUnits() {
    if (!model_) return;
    if (likelihood_) model_->likelihood = std::move(*likelihood_);
    if (standardization_) model_->standardization = std::move(*standardization_);
    model_->likelihood.set_limit(limit_);
  }
  void keep() { model_ = nullptr; }

 private:
  Model<T>* model_;
  double limit_;
  std::optional<Standardization> standardization_;
  std::optional<Likelihood> likelihood_;
};

/// Restores everything that the preparation of a first step has changed, unless the step was taken.
template <class T>
class Undo {
 public:
  explicit Undo(Optimizer<T>& optimizer)
      : optimizer_(&optimizer), state_(optimizer.state), blank_(optimizer.posterior()->is_blank()) {
    if (!optimizer.model()) return;
    units_.emplace(*optimizer.model());
    const Likelihood& likelihood = optimizer.model()->likelihood;
    if (blank_ || !likelihood.noise_is_set() || !likelihood.log_precision_is_free() ||
        optimizer.method().kind == MethodKind::exact)
      likelihood_ = likelihood;
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (!optimizer_) return;
    optimizer_->state = state_;
    if (likelihood_) optimizer_->model()->likelihood = std::move(*likelihood_);
    if (blank_) optimizer_->forget_start();
  }
  void keep() {
    optimizer_ = nullptr;
    if (units_) units_->keep();
  }

 private:
  std::optional<UndoUnits<T>> units_;  // restored last
  Optimizer<T>* optimizer_;
  TrainingState state_;
  bool blank_;
  std::optional<Likelihood> likelihood_;
};

}  // namespace bdl
