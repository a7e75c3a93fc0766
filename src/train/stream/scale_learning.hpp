// Scales of inputs and targets that a stream learns from its first rows (option "stream_scales").
//
// A block of enough rows, whose targets vary, has the scales in it. Rows before that are kept, and each call
// of observe begins the filter anew: from the prior, in units of all rows so far, it observes them all. So
// the posterior is always that of a filter that has known these scales, and it has learned from every row. An
// input that is constant among the first rows has scale 1, and effects that nothing has taught. When it
// varies, it gets the deviation of its first values as scale, which later ones can raise.
#pragma once

#include <memory>

#include "train/optimizer.hpp"

namespace bdl {

/// Numbers of rows that scales need, and of those that are kept at most.
inline constexpr Index enough_rows = 20, most_first_rows = 100;

/// True if the stream has yet to learn scales, or to begin.
template <class T>
bool learns_scales(const Optimizer<T>& optimizer);

/// Chooses scales by these rows and those kept, begins the filter anew and lets it observe the latter, at the
/// time of the former. Returns true if the scales are settled: then the rows are not kept any more.
template <class T>
bool learn_scales(Optimizer<T>& optimizer, DataSet& data);

/// True if an input that has been constant varies in these rows.
template <class T>
bool has_late_values(const Optimizer<T>& optimizer, const Array& x);
/// Gives such inputs a scale.
template <class T>
void scale_late_columns(Optimizer<T>& optimizer, const Array& x);

/// Restores scales, and what is meant in their units, unless keep() is called.
template <class T>
class UndoScales {
 public:
  explicit UndoScales(Optimizer<T>& optimizer);
  UndoScales(const UndoScales&) = delete;
  UndoScales& operator=(const UndoScales&) = delete;
  ~UndoScales();
  void keep() { optimizer_ = nullptr; }

 private:
  Optimizer<T>* optimizer_;
  bool was_blank_;
  std::unique_ptr<Posterior<T>> posterior_;  // null if blank
  TrainingState state_;
  Standardization standardization_;
  Likelihood likelihood_;
  ResidualNoise noise_;
  StreamScales scales_;
};

}  // namespace bdl
