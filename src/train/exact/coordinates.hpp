// Coordinates of a family of posteriors around one of them, in which the Fisher information is near the
// identity, so that gradient searches converge fast.
#pragma once

#include "train/exact/exact_elbo.hpp"

namespace bdl {

class Coordinates {
 public:
  virtual ~Coordinates() = default;
  virtual Index size() const = 0;
  /// Makes the present posterior the origin.
  virtual void center() = 0;
  /// Sets the posterior to the point scale * z. Fails with ERROR_DIVERGED if that point is no posterior.
  virtual void place(ConstSpan<double> z, double scale) = 0;
  /// Returns the ELBO at the last point placed; writes the loss's derivatives by the coordinates.
  virtual ExactElbo::Value differentiate(std::span<double> gradient) = 0;
};

}  // namespace bdl
