// Moving averages that go on from step to step, and are saved with the optimizer: of gradients (momentum),
// and of their squares (Adam) or of the curvature (VOGN, IVON, K-FAC). A step writes the next averages
// beside the present ones. Averages::commit() makes them the present ones, and ends those of other kinds of
// steps.
#pragma once

#include <algorithm>
#include <cmath>

#include "parallel/parallel.hpp"
#include "steps/kfac.hpp"
#include "steps/step.hpp"
#include "steps/tied_scales.hpp"

namespace bdl {

inline bool is_adam(const Options& options) {
  return options.descent == DescentOption::adam;
}

/// Momentum of natural gradients: m <- keep m + add g (docs/theory/natural-gradients.md, "Rates and
/// momentum").
template <class T>
class Momentum {
 public:
  explicit Momentum(Index dimension) : now_(dimension), size_(dimension) { clear(); }
  /// Writes and returns the next average.
  ConstSpan<T> next(const MomentumTerms& terms, ConstSpan<T> gradient);
  /// Number of gradients in the average.
  Index steps() const { return steps_; }
  ConstSpan<T> values() const { return now_.first(size_); }
  void restore(ConstSpan<T> values, Index steps);
  void commit() noexcept {
    now_.swap(next_);
    ++steps_;
  }
  void forget() noexcept { steps_ = 0; }
  void clear();

 private:
  Buffer<T> now_, next_;
  Index size_, steps_ = 0;
};

/// Mean squared gradients s of point parameters, per example. They give these parameters their step length,
/// since there is no covariance to do so (docs/reference/networks.md, "Point parameters").
template <class T>
class PointSquares {
 public:
  /// Divides the slope m of each point parameter by N (s + damping); s includes this step's squares / N.
  void divide(const PointLayout& points, ConstSpan<T> squares, double rate, double data_size, double damping,
              std::span<T> m);
  /// Returns the average; empty if none has begun.
  ConstSpan<T> average(Index points) const { return steps_ > 0 ? now_.first(points) : ConstSpan<T>(); }
  void restore(ConstSpan<T> average);
  void commit() noexcept {
    now_.swap(next_);
    ++steps_;
  }
  void forget() noexcept { steps_ = 0; }

 private:
  Buffer<T> now_, next_;
  Index steps_ = 0;
};

/// `first` averages the gradient by the mean, followed by that by the posterior's other learned parameters;
/// `second` averages the squares of these gradients, or curvatures.
template <class T>
struct Moments {
  Buffer<T> first, second;
  Index size = 0;  ///< D, 2 D, or the number of learned values of a low-rank-moment posterior
  DescentOption kind = DescentOption::sgd;
  Index steps = 0;  ///< number of gradients in the averages; if 0, the other members have no meaning
  bool has_second() const { return kind != DescentOption::sgd; }
};

/// Averages and constants of one step of SGD with momentum or of Adam (Kingma and Ba 2015, algorithm 1).
template <class T>
struct AdamTerms {
  const T *first, *second;  ///< averages before the step; null if they begin with it
  T *next_first, *next_second;
  T length, keep, add, keep_squares, add_squares, unbias_squares, epsilon;

  /// Writes the next averages of parameter i and returns how far it moves against its gradient g.
  template <bool adam>
  BDL_ALWAYS_INLINE T shift(Index i, T g) const {
    const T m = keep * (first ? first[i] : T(0)) + add * g;
    next_first[i] = m;
    if constexpr (!adam) return length * m;
    const T v = keep_squares * (second ? second[i] : T(0)) + add_squares * g * g;
    next_second[i] = v;
    return length * m / (std::sqrt(unbias_squares * v) + epsilon);
  }

  /// Writes to[i] = from[i] minus the shift of parameter number + i, whose gradient is gradient(i). Results
  /// go through small local arrays: without them, compilers assume overlaps and do not vectorise.
  template <bool adam, class Gradient>
  BDL_ALWAYS_INLINE void move(Index number, Index count, const T* from, T* to,
                              const Gradient& gradient) const {
    constexpr Index most = 256;
    T m[most], v[most], moved[most];
    for (Index begin = 0; begin < count; begin += most) {
      const Index some = std::min(most, count - begin);
      first ? move_some<adam, true>(number + begin, begin, some, from, gradient, m, v, moved)
            : move_some<adam, false>(number + begin, begin, some, from, gradient, m, v, moved);
      std::copy_n(m, some, next_first + number + begin);
      if constexpr (adam) std::copy_n(v, some, next_second + number + begin);
      std::copy_n(moved, some, to + begin);
    }
  }

 private:
  template <bool adam, bool goes_on, class Gradient>
  BDL_ALWAYS_INLINE void move_some(Index number, Index begin, Index count, const T* from,
                                   const Gradient& gradient, T* m, T* v, T* moved) const {
    for (Index i = 0; i < count; ++i) {
      const T g = gradient(begin + i);
      m[i] = keep * (goes_on ? first[number + i] : T(0)) + add * g;
      T shift = length * m[i];
      if constexpr (adam) {
        v[i] = keep_squares * (goes_on ? second[number + i] : T(0)) + add_squares * g * g;
        shift /= std::sqrt(unbias_squares * v[i]) + epsilon;
      }
      moved[i] = from[begin + i] - shift;
    }
  }
};

/// Moving averages of first-order steps, VOGN and IVON: the present ones and the next ones.
template <class T>
class MovingAverages {
 public:
  /// Begins a step that moves `size` numbers at this rate. The averages go on if the last step had the same
  /// kind and size.
  AdamTerms<T> begin(Index size, double rate, const Options& options);
  /// Number of gradients in the averages after the step that has begun.
  Index next_steps() const { return next_.steps; }
  /// Fails with ERROR_DIVERGED, naming the parameter, unless these values are finite and at least `lowest`,
  /// and the next averages are finite: an overflowed square would stop its parameter for ever.
  void check(const char* what, ConstSpan<T> values, T lowest, Index number) const;
  const Moments<T>& now() const { return now_; }
  void restore(Moments<T>&& moments) { now_ = std::move(moments); }
  void commit() noexcept { std::swap(now_, next_); }
  void forget() noexcept { now_.steps = 0; }

 private:
  Moments<T> now_, next_;
};

/// Everything that steps keep from one to the next; each kind of step uses some of it.
template <class T>
struct Averages {
  explicit Averages(Index dimension) : momentum(dimension) {}
  Momentum<T> momentum;           ///< of natural-gradient steps
  PointSquares<T> point_squares;  ///< of natural-gradient steps
  MovingAverages<T> moments;      ///< of first-order steps, VOGN and IVON
  KfacAverages<T> kfac;
  TiedScales<T> tied;  ///< the standard deviations that option diagonal_part "tied" learns
  Buffer<T> mean;      ///< the next mean of StepKind::mean

  /// Makes the averages of a step of this kind the present ones, and ends those of other kinds.
  void commit(StepKind kind, bool has_points) noexcept;
  /// Ends all averages: the next step begins new ones.
  void forget() noexcept;
};

}  // namespace bdl
