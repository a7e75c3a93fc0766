// Every call that creates a handle, and the handles' owners.
#pragma once

#include <memory>

#include "bits/problem.hpp"

namespace bits {

struct Free {
  void operator()(bdl_model* handle) const { bdl_model_free(handle); }
  void operator()(bdl_posterior* handle) const { bdl_posterior_free(handle); }
  void operator()(bdl_optimizer* handle) const { bdl_optimizer_free(handle); }
};
using Model = std::unique_ptr<bdl_model, Free>;
using Posterior = std::unique_ptr<bdl_posterior, Free>;
using Optimizer = std::unique_ptr<bdl_optimizer, Free>;

/// BDL_OK, or the status of the call that refused; what was created before it stays.
struct Learner {
  Model model;
  Posterior posterior;
  Optimizer optimizer;
  bdl_status create(const Problem& problem, const Family& family, bdl_dtype dtype, const char* method);
};

}  // namespace bits
