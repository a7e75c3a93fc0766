#include "inference/prequential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/linearized_density.hpp"

namespace bdl {
namespace {

/// Of Gaussian outputs of which some targets are missing, what belongs to the others; false if none is missing.
template <class T>
Index keep_observed(ConstMatrixView<double> covariance, const T* y, double* mean, double* kept, T* targets) {
  Index count = 0;
  for (Index j = 0; j < covariance.cols; ++j) {
    if (std::isnan(y[j])) continue;
    mean[count] = mean[j];
    targets[count] = y[j];
    Index row = 0;
    for (Index i = 0; i < covariance.rows; ++i)
      if (!std::isnan(y[i])) kept[count * covariance.rows + row++] = covariance(i, j);
    ++count;
  }
  return count;
}

}  // namespace

PrequentialSums& PrequentialSums::operator+=(const PrequentialSums& other) {
  examples += other.examples;
  targets += other.targets;
  log_density += other.log_density;
  squared_error += other.squared_error;
  return *this;
}

}  // namespace bdl
