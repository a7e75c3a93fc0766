// Properties that several rules share (docs/mathematics/streams.md, "The four rules").
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// True for rules whose loss has the KL divergence to the prior: blr and bbb.
inline bool has_kl(Rule rule) {
  return rule == Rule::blr || rule == Rule::bbb;
}

inline Descent descent_of(Rule rule) {
  return rule == Rule::bong || rule == Rule::blr ? Descent::natural : Descent::plain;
}

inline ProjectionOptions projection_options(const Options& options) {
  return {options.eigen_method, options.eigen_passes, options.eigen_oversampling};
}

}  // namespace bdl
