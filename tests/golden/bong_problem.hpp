// A problem of "bong-golden-1": its model, prior and data as handles and matrices, and its draws.
#pragma once

#include <memory>

#include "golden.hpp"
#include "support/dense.hpp"

namespace golden {

using bdl::testing::Dense;

template <class Handle>
using Owned = std::unique_ptr<Handle, void (*)(Handle*)>;

Dense dense(const Json& rows);
bdl_matrix view(const Dense& a);
bdl_matrix_out view_out(Dense& a);

/// "rule-estimator-family|variant": mc-hess and lin-ef contain a hyphen of their own.
struct Algorithm {
  std::string rule, estimator, family, variant;
  explicit Algorithm(const std::string& key);
  bool is(const char* name) const { return variant == name; }
  bool has_jitter() const { return variant.starts_with("jitter"); }
};

Owned<bdl_model> make_model(const Json& problem);
Owned<bdl_posterior> make_posterior(const Json& problem, const Algorithm& algorithm);
/// One-hot targets as class numbers.
Dense targets(const Json& problem, const Json& rows);

Dense mean_of(const bdl_posterior* q);
Dense covariance_of(const bdl_posterior* q);
Vector variance_of(const bdl_posterior* q);
struct LowRank {
  Dense w;
  Vector ups;
  explicit LowRank(const bdl_posterior* q);
};

/// theta = mu + Sigma^1/2 z by the root that the file's conventions name for the family.
Vector draw(const bdl_posterior* q, const std::string& family, const Vector& z);

}  // namespace golden
