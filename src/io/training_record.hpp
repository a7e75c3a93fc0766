// Where training is, in a checkpoint: its state, and what steps keep from one to the next.
#pragma once

#include "inference/optimizer.hpp"
#include "io/record.hpp"

namespace bdl {

/// Most that a file may say was counted: steps, examples.
inline constexpr Index most_counted = INT64_C(1) << 52;

template <class T>
void write_training(RecordWriter& record, const Optimizer<T>& optimizer);
/// Into an optimizer that has its options. Fails with ERROR_FORMAT, or as the optimizer does.
template <class T>
void read_training(const RecordReader& record, Optimizer<T>& optimizer);

}  // namespace bdl
