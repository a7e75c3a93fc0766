// What back-propagation needs of a forward pass of M examples under S parameter vectors: columns are
// sample * M + example. The data's own wire is X itself, shared by all samples.
#pragma once

#include <vector>

#include "network/statistics.hpp"

namespace bdl {

template <class T>
struct Tape {
  Index examples = 0, samples = 0;
  bool keeps_curvatures = false;
  ConstMatrixView<T> x;
  Statistics statistics;                   // that the forward pass was given
  std::vector<Buffer<T>> values;           // by place
  std::vector<Buffer<T>> sensitivities;    // by place, for K seeds per column: (k S + s) M + i
  std::vector<Buffer<T>> slopes;           // by node, where layers keep any
  std::vector<Buffer<T>> curvatures;       // second derivatives by node, if it keeps them
  std::vector<Buffer<double>> of_samples;  // by node, where layers keep numbers of a sample
};

}  // namespace bdl
