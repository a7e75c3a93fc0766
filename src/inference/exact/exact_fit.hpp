// Training by the methods exact-*: iterations over all data, each an epoch, to the optimum of the ELBO.
#pragma once

#include "inference/batch/course.hpp"

namespace bdl {

/// fit() for them: at most `epochs` iterations from the present posterior, fewer where the optimum is
/// reached. x and y are valid data.
template <class T>
Status fit_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress);

/// What it holds beside model, posterior and optimizer while it searches.
template <class T>
Index exact_fit_bytes(const Optimizer<T>& optimizer);

}  // namespace bdl
