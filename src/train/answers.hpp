// Whether a trained network's answers depend on what it is asked.
#pragma once

#include "data/data_set.hpp"
#include "train/optimizer.hpp"

namespace bdl {

/// Answers that vary less are the same for every row: standard deviations of the targets, or probability.
inline constexpr double least_spread = 0.01;

/// Returns the largest standard deviation, over up to 100 evenly spaced rows, of a class's probability, of a
/// mean in standard deviations of its target (with Student-t noise robust ones), or of a log noise precision:
/// at the posterior's mean, and if the method's predictions average over draws and these vary less than
/// least_spread, on average over draws. Infinity for models without hidden units, for fewer than ten rows,
/// and where the targets do not vary.
template <class T>
double spread_of_answers(const Optimizer<T>& optimizer, DataSet& data);

/// Returns advice if the spread is less than least_spread, else "".
template <class T>
const char* answers_advice(const Optimizer<T>& optimizer, double spread);

}  // namespace bdl
