// From when on a heteroscedastic model's log noise precisions count.
#pragma once

#include "likelihood/likelihood.hpp"

namespace bdl {

/// Log precisions that are held no longer, but only if the step is taken.
class FreedLogPrecision {
 public:
  explicit FreedLogPrecision(Likelihood& likelihood) : likelihood_(likelihood) {}
  FreedLogPrecision(const FreedLogPrecision&) = delete;
  FreedLogPrecision& operator=(const FreedLogPrecision&) = delete;
  ~FreedLogPrecision() {
    if (new_ && !kept_) likelihood_.free_log_precision(false);
  }
  void free() {
    new_ = !likelihood_.log_precision_is_free();
    likelihood_.free_log_precision(true);
  }
  void keep() { kept_ = true; }
  bool is_new() const { return new_; }

 private:
  Likelihood& likelihood_;
  bool new_ = false, kept_ = false;
};

}  // namespace bdl
