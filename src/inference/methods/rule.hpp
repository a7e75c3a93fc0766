// The rules: two losses, two descents (docs/mathematics/streams.md, "The four rules"), and the posterior's
// mode.
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

enum class Rule { bong = 0, blr = 1, bog = 2, bbb = 3, map = 4 };  // words of option "rule"

/// blr, bbb: the loss has the KL divergence to the prior.
inline bool has_kl(Rule rule) {
  return rule == Rule::blr || rule == Rule::bbb;
}

inline Descent descent_of(Rule rule) {
  return rule == Rule::bong || rule == Rule::blr ? Descent::natural : Descent::plain;
}

inline ProjectionOptions projection_options(const Options& options) {
  return {static_cast<EigenMethod>(options.eigen_method), options.eigen_passes, options.eigen_oversampling};
}

}  // namespace bdl
