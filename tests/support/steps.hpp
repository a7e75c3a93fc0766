// Single steps without an optimizer: the prior, the averages and the memory that they take.
#pragma once

#include "steps/averages.hpp"

namespace bdl::testing {

template <class T>
struct StepRig {
  Options options;
  Prior<T> prior;
  Averages<T> averages;
  Scratch scratch;

  StepRig(ConstSpan<T> prior_precision, const Options& chosen)
      : options(chosen), prior(Prior<T>::fixed(prior_precision)), averages(std::ssize(prior_precision)) {}

  /// Computes the t-th step from q into `next`, and keeps its averages.
  void step(StepKind kind, const Posterior<T>& q, const StepRates& rates, double data_size, Index t,
            const Evidence<T>& evidence, Posterior<T>& next, bool is_fresh = false) {
    const Scratch::Frame frame(scratch);
    const StepInput<T> in{q, prior, nullptr, options, rates, data_size, t, is_fresh, scratch};
    take_step(kind, in, evidence, averages, &next);
    averages.commit(kind, false);
  }
};

}  // namespace bdl::testing
