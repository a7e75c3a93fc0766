#include "inference/batch/point_steps.hpp"

#include <algorithm>

namespace bdl {

template <class T>
void PointSteps<T>::reserve(Index points) {
  if (steps_ == 0) now_.reserve(points);
  next_.reserve(points);
  squares_.reserve(points);
}

template <class T>
void PointSteps<T>::slope(const PointLayout& points, const Settings& settings, std::span<T> m) {
  const double rate = steps_ > 0 ? settings.rate : 1;
  Index k = 0;
  for (const auto& [offset, size] : points.ranges)
    for (Index j = offset; j < offset + size; ++j, ++k) {
      const double square = static_cast<double>(squares_.data()[k]) / settings.data_size,
                   before = steps_ > 0 ? static_cast<double>(now_.data()[k]) : 0;
      next_.data()[k] = static_cast<T>((1 - rate) * before + rate * square);
      const double length = settings.data_size * (static_cast<double>(next_.data()[k]) + settings.damping);
      T& slope = m[static_cast<std::size_t>(j)];
      slope = static_cast<T>(static_cast<double>(slope) / length);
    }
}

template <class T>
void PointSteps<T>::commit() noexcept {
  now_.swap(next_);
  ++steps_;
}

template <class T>
void PointSteps<T>::restore(ConstSpan<T> average) {
  reserve(std::ssize(average));
  std::ranges::copy(average, now_.data());
  steps_ = average.empty() ? 0 : 1;
}

template class PointSteps<float>;
template class PointSteps<double>;

}  // namespace bdl
