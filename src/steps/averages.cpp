#include "steps/averages.hpp"

#include <limits>

namespace bdl {
namespace {

/// Returns the position of the first value that is not in [low, infinity), or the number of values if there
/// is none.
template <class T>
Index first_outside(ConstSpan<T> values, T low) {
  constexpr T high = std::numeric_limits<T>::max();
  int outside = 0;
  with_simd([&](auto) BDL_INLINE_LAMBDA {
    for (const T value : values) outside |= value >= low && value <= high ? 0 : 1;
  });
  if (outside == 0) return std::ssize(values);
  return std::ranges::find_if_not(values, [=](T value) { return value >= low && value <= high; }) -
         values.begin();
}

}  // namespace

template <class T>
ConstSpan<T> Momentum<T>::next(const MomentumTerms& terms, ConstSpan<T> gradient) {
  const auto out = next_.first(size_);
  const T *const old = now_.data(), *const from = gradient.data();
  T* const next = out.data();
  const T keep = static_cast<T>(steps_ > 0 ? terms.keep : 0), add = static_cast<T>(terms.add);
  for_each_index(size_, [=](Index i) BDL_INLINE_LAMBDA { next[i] = keep * old[i] + add * from[i]; });
  return out;
}

template <class T>
void Momentum<T>::restore(ConstSpan<T> values, Index steps) {
  std::ranges::copy(values, now_.data());
  steps_ = steps;
}

template <class T>
void Momentum<T>::clear() {
  std::fill_n(now_.data(), size_, T(0));
  steps_ = 0;
}

template <class T>
void PointSquares<T>::divide(const PointLayout& points, ConstSpan<T> squares, double rate, double data_size,
                             double damping, std::span<T> m) {
  const auto next = next_.first(std::ssize(squares));
  if (steps_ == 0) now_.reserve(std::ssize(squares));
  const double weight = steps_ > 0 ? rate : 1;
  std::size_t k = 0;
  for (const auto& [offset, size] : points.ranges)
    for (Index j = offset; j < offset + size; ++j, ++k) {
      const double square = static_cast<double>(squares[k]) / data_size,
                   before = steps_ > 0 ? static_cast<double>(now_.data()[k]) : 0;
      next[k] = static_cast<T>((1 - weight) * before + weight * square);
      const double length = data_size * (static_cast<double>(next[k]) + damping);
      m[at(j)] = static_cast<T>(static_cast<double>(m[at(j)]) / length);
    }
}

template <class T>
void PointSquares<T>::restore(ConstSpan<T> average) {
  std::ranges::copy(average, now_.first(std::ssize(average)).begin());
  steps_ = average.empty() ? 0 : 1;
}

template <class T>
AdamTerms<T> MovingAverages<T>::begin(Index size, double rate, const Options& options) {
  const bool goes_on = now_.steps > 0 && now_.size == size && now_.kind == options.descent;
  next_.size = size;
  next_.kind = options.descent;
  next_.steps = goes_on ? now_.steps + 1 : 1;
  for (Moments<T>* const moments : {&next_, &now_}) {
    if (moments == &now_ && now_.steps > 0) continue;  // the step may still be dropped
    moments->first.reserve(size);
    if (next_.has_second()) moments->second.reserve(size);
  }
  const auto t = static_cast<double>(next_.steps);
  const MomentumTerms momentum = momentum_terms(options, next_.steps);
  const double beta2 = options.adam_beta2;
  return {goes_on ? now_.first.data() : nullptr,
          goes_on ? now_.second.data() : nullptr,
          next_.first.data(),
          next_.second.data(),
          static_cast<T>(rate * momentum.bias_correction),
          static_cast<T>(momentum.keep),
          static_cast<T>(momentum.add),
          static_cast<T>(beta2),
          static_cast<T>(1 - beta2),
          static_cast<T>(1 / (1 - std::pow(beta2, t))),
          static_cast<T>(options.adam_epsilon)};
}

template <class T>
void MovingAverages<T>::check(const char* what, ConstSpan<T> values, T lowest, Index number) const {
  const auto check_range = [&](const char* of, ConstSpan<T> range, T low) {
    const Index bad = first_outside(range, low);
    if (bad < std::ssize(range))
      fail(Status::ERROR_DIVERGED, "the %s of parameter %lld (counting from 0) is not finite after step %lld",
           of, static_cast<long long>(bad % std::ssize(values)), static_cast<long long>(number));
  };
  check_range(what, values, lowest);
  check_range("gradient's average", next_.first.first(next_.size), std::numeric_limits<T>::lowest());
  const bool is_square = next_.kind == DescentOption::adam || next_.kind == DescentOption::vogn;
  if (next_.has_second())
    check_range(next_.kind == DescentOption::adam ? "squared gradient's average" : "curvature's average",
                next_.second.first(next_.size), is_square ? T(0) : std::numeric_limits<T>::lowest());
}

template <class T>
void Averages<T>::commit(StepKind kind, bool has_points) noexcept {
  kind == StepKind::kfac ? kfac.commit() : kfac.forget();
  const bool is_natural = kind == StepKind::natural_gradient;
  is_natural ? momentum.commit() : momentum.forget();
  is_natural&& has_points ? point_squares.commit() : point_squares.forget();
  if (is_natural || kind == StepKind::kfac) return moments.forget();
  moments.commit();
  tied.commit();
}

template <class T>
void Averages<T>::forget() noexcept {
  momentum.clear();
  point_squares.forget();
  moments.forget();
  kfac.forget();
}

template class Momentum<float>;
template class Momentum<double>;
template class PointSquares<float>;
template class PointSquares<double>;
template class MovingAverages<float>;
template class MovingAverages<double>;
template struct Averages<float>;
template struct Averages<double>;

}  // namespace bdl
