// A posterior's step as the options want it, before the loss, the rates and the prior are known.
#pragma once

#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool is_stream,
                            const StreamKey& random);

}  // namespace bdl
