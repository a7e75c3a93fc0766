// Steps of point parameters by natural gradients: down the gradient over its own mean square. For these there
// is no prior and no covariance that would give the step its length (docs/networks.md, "Point parameters").
#pragma once

#include "posterior/posterior.hpp"

namespace bdl {

/// Moving average s of mean squared gradients, per example.
template <class T>
class PointSteps {
 public:
  struct Settings {
    double rate, data_size, damping;
  };
  void reserve(Index points);
  /// Where the sums of w_r b_r^2 are to be written, for slope().
  std::span<T> squares(Index points) { return squares_.first(points); }
  /// m_j /= N (s_j + damping), with the s that has squares() / N in it.
  void slope(const PointLayout& points, const Settings& settings, std::span<T> m);
  /// The average becomes that of the last step.
  void commit() noexcept;
  /// The next step begins a new one.
  void forget() noexcept { steps_ = 0; }
  /// Empty: none has begun.
  ConstSpan<T> average(Index points) const { return steps_ > 0 ? now_.first(points) : ConstSpan<T>(); }
  void restore(ConstSpan<T> average);

 private:
  Buffer<T> now_, next_, squares_;
  Index steps_ = 0;
};

}  // namespace bdl
