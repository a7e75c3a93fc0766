// Steps and the training loop on the caller's arrays.
#pragma once

#include "base/array.hpp"
#include "inference/batch/course.hpp"

namespace bdl {

/// Fails unless x and y are data for the model: shapes, finite values, valid targets.
template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y);

/// Trains; OK or STOPPED. epochs = 0 finishes an interrupted fit.
template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress);

/// One step on the caller's minibatch.
template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// Laplace's approximation at the mean, from these data.
template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// One step from the caller's gradient rows.
template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows);

}  // namespace bdl
