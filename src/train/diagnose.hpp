// Advice about training that has not worked.
#pragma once

#include "train/optimizer.hpp"

namespace bdl {

struct Diagnosis {
  double mean_shift;       ///< root mean square of (mu - mu_0) sqrt(diag(Sigma^-1))
  double precision_shift;  ///< root mean square of log(diag(Sigma^-1) / diag(Sigma_0^-1))
  const char* message;     ///< static: one sentence, or "" if nothing is wrong
};

template <class T>
Diagnosis diagnose(const Optimizer<T>& optimizer);

}  // namespace bdl
