// Training on the caller's data, which are checked here: single steps and the loop over epochs.
#pragma once

#include "model/checked_data.hpp"
#include "train/course.hpp"

namespace bdl {

/// Trains; returns OK or STOPPED. epochs = 0 finishes an interrupted fit. Rows of data sets are checked when
/// they are read.
template <class T>
Status fit(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress);
template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress);

/// Takes one step on the caller's minibatch.
template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// Computes Laplace's approximation at the mean from these data.
template <class T>
void laplace(Optimizer<T>& optimizer, DataSet& data);
template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// Takes one step from the caller's gradient rows.
template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows);

}  // namespace bdl
