// The one place where code branches by likelihood: with_formulas() hands the struct of formulas that the
// table likelihoods.def names to a function.
#pragma once

#include "likelihood/kinds/bernoulli.hpp"
#include "likelihood/kinds/categorical.hpp"
#include "likelihood/kinds/cloglog.hpp"
#include "likelihood/kinds/gamma.hpp"
#include "likelihood/kinds/gaussian.hpp"
#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/kinds/negative_binomial.hpp"
#include "likelihood/kinds/ordinal.hpp"
#include "likelihood/kinds/poisson.hpp"
#include "likelihood/kinds/probit.hpp"
#include "likelihood/kinds/student_t.hpp"

namespace bdl {

/// Returns act(formulas of the likelihood).
template <class Act>
decltype(auto) with_formulas(const Likelihood& likelihood, Act&& act) {
  switch (likelihood.kind()) {
#define BDL_LIKELIHOOD(name, formulas, word, targets, integrals) \
  case BDL_##name:                                               \
    return act(formulas{});
#include "likelihood/likelihoods.def"
#undef BDL_LIKELIHOOD
    case BDL_LIKELIHOOD_FORCE_INT32:
      break;
  }
  return act(Gaussian{});  // no likelihood has another kind
}

}  // namespace bdl
