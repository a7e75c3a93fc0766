#include "posterior/diagonal/diagonal_step.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/error.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

struct Parameter {
  double mean, value;  // value: precision or variance
};

/// Derivatives of the loss at one parameter: m and 2 M.
struct Slope {
  double m, twice_m;
};

/// Returns p + g + g^2 / (2 p) for the step g = next - p: p / 2 or more.
BDL_ALWAYS_INLINE double to_second_order(double p, double next) {
  return next + (next - p) * (next - p) / (2 * p);
}

/// Returns one line of the table of steps (docs/theory/natural-gradients.md, "The step of
/// each family").
template <DiagonalParameter kind, Descent descent, bool improved>
BDL_ALWAYS_INLINE Parameter moved(const Parameter& q, const Slope& slope, double a, double b) {
  constexpr bool natural = descent == Descent::natural;
  if constexpr (kind == DiagonalParameter::variance) {
    const double v = q.value;
    if constexpr (natural) return {q.mean - a * v * slope.m, v - b * v * v * slope.twice_m};
    return {q.mean - a * slope.m, v - b / 2 * slope.twice_m};
  } else {
    const double p = q.value, v = 1 / p;
    if constexpr (natural) {
      const double whole = p + b * slope.twice_m, next = improved ? to_second_order(p, whole) : whole;
      return {q.mean - a * slope.m / next, next};
    }
    const double next = p + 4 * b * v * slope.m * q.mean + 2 * b * v * v * slope.twice_m;
    return {(p * q.mean - a * v * slope.m) / next, next};
  }
}

/// Writes the new means and parameters; returns the smallest fraction of a former one that a whole step would
/// keep.
template <DiagonalParameter kind, Descent descent, bool improved = false, class T>
double move(const DiagonalStep<T>& step, std::span<T> mean, std::span<T> next) {
  const auto size = static_cast<Index>(mean.size());
  const bool has_kl = !step.prior_precision.empty();
  std::atomic<double> smallest = 1;
  parallel_blocks(size, 1 << 12, [&](Index first, Index count) noexcept {
    double least = 1;
    for (Index i = first; i < first + count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Parameter old{static_cast<double>(step.mean[k]), static_cast<double>(step.old[k])};
      const double precision = kind == DiagonalParameter::variance ? 1 / old.value : old.value;
      const double kl = has_kl ? static_cast<double>(step.prior_precision[k]) - precision : 0;
      const Slope slope{step.m.empty() ? 0 : static_cast<double>(step.m[k]),
                        static_cast<double>(step.h[k]) + kl};
      Parameter to = moved<kind, descent, improved>(old, slope, step.mean_rate, step.curvature_rate);
      if (const double kept = to.value / old.value; !(kept > least_kept)) {
        const double fraction = (1 - shortened_to) / (1 - kept);
        const bool stays =
            kind == DiagonalParameter::variance && descent == Descent::plain && old.value < least_variance<T>;
        to = stays ? Parameter{old.mean - step.mean_rate * slope.m, old.value}
                   : moved<kind, descent, improved>(old, slope, fraction * step.mean_rate,
                                                    fraction * step.curvature_rate);
        if (!(kept >= least) && !std::isnan(least)) least = kept;
      }
      mean[k] = static_cast<T>(to.mean);
      next[k] = static_cast<T>(to.value);
    }
    for (double all = smallest.load();
         !(least >= all) && !std::isnan(all) && !smallest.compare_exchange_weak(all, least);) {
    }
  });
  return smallest.load();
}

}  // namespace

template <class T>
double update_diagonal_by(const DiagonalStep<T>& step, bool shorten, std::span<T> mean, std::span<T> next) {
  using enum DiagonalParameter;
  using enum Descent;
  const bool is_natural = step.descent == natural;
  const double kept = step.parameter == variance ? is_natural ? move<variance, natural>(step, mean, next)
                                                              : move<variance, plain>(step, mean, next)
                      : !is_natural ? move<precision, plain>(step, mean, next)
                      : step.improved            ? move<precision, natural, true>(step, mean, next)
                                                 : move<precision, natural>(step, mean, next);
  return shortened(kept, shorten);
}

template <class T>
void curvature_diagonal(const Curvature<T>& curvature, std::span<T> h) {
  if (curvature.rows)
    curvature.rows->sum_squares(curvature.w, h);
  else if (!curvature.diagonal.empty())
    std::ranges::copy(curvature.diagonal, h.begin());
  else
    fail(Status::ERROR_UNSUPPORTED, "a diagonal posterior takes curvature rows or a diagonal, not a matrix");
}

#define BDL_INSTANTIATE(T)                                                                      \
  template double update_diagonal_by(const DiagonalStep<T>&, bool, std::span<T>, std::span<T>); \
  template void curvature_diagonal(const Curvature<T>&, std::span<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
