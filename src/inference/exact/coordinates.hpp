// Coordinates of the posteriors of one family around one of them, in which its Fisher information is near the
// identity, as gradient searches like it.
#pragma once

#include "inference/exact/exact_elbo.hpp"

namespace bdl {

class Coordinates {
 public:
  virtual ~Coordinates() = default;
  virtual Index size() const = 0;
  /// The posterior, as it is now, is where all coordinates are 0.
  virtual void center() = 0;
  /// The posterior becomes the point with coordinates scale z. Fails with ERROR_DIVERGED if it is none.
  virtual void place(ConstSpan<double> z, double scale) = 0;
  /// The ELBO at the last point placed, and the derivatives of the loss by the coordinates.
  virtual ExactElbo::Value differentiate(std::span<double> gradient) = 0;
};

}  // namespace bdl
