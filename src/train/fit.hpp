// Training on the caller's data, which are checked here: single steps and the loop over epochs.
#pragma once

#include "model/checked_data.hpp"
#include "train/course.hpp"

namespace bdl {

/// Trains for so many epochs, or finishes an interrupted fit (epochs = 0); returns OK or STOPPED. Rows of
/// data sets are checked when they are read, arrays before training.
template <class T>
Status fit(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress);
template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress);

/// Takes one step on the caller's minibatch.
template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// Replaces the posterior by Laplace's approximation around its mean, from these data.
template <class T>
void laplace(Optimizer<T>& optimizer, DataSet& data);
template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y);

/// Takes one step from the caller's gradient rows (R x D).
template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows);

}  // namespace bdl
