// Outputs of a problem of "elrg-golden-1" under the file's noise.
#pragma once

#include "elrg_problem.hpp"

namespace golden {

struct ElrgOutputs {
  Vector outputs, preactivations;
};

/// One list of layers a sample; at the mean for points.
ElrgOutputs outputs_of(const ElrgProblem& problem, const Json& samples);

}  // namespace golden
