// Eigenpairs of diag(d) + rho z z^T, rho > 0. Eigenvalues are the roots of
//   f(x) = 1 / rho + sum_j z_j^2 / (d_j - x),
// one between each two poles and one above the last. Each is kept as its distance from the nearer pole, so
// that all d_j - x are accurate; vectors are those of the weights of which the computed roots are exact, and
// so are orthogonal to rounding (Gu and Eisenstat 1995). Roots fill the lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/blas/lanes.hpp"

namespace bdl {

/// Root i is bases[i] + shifts[i], unit vector i weights[t] scales[i] / ((poles[t] - bases[i]) - shifts[i]).
struct Secular {
  Index size = 0;
  double rho = 0, total = 0;      // total: sum of z^2
  const double* poles = nullptr;  // ascending, all apart
  double *weights = nullptr, *bases = nullptr, *shifts = nullptr, *scales = nullptr;
};

/// f's parts at one point for each lane: of poles up to the root's own and above it.
struct SecularSums {
  alignas(64) double low[lane_count], high[lane_count], low_slope[lane_count],
      high_slope[lane_count], error[lane_count];
};

/// The sums of poles from .. end - 1 (or, downwards, end - 1 .. from) that are on this side of the lanes'
/// roots.
template <int W, bool up, bool all>
BDL_ALWAYS_INLINE void add_terms(const Secular& s, Index from, Index end, const double* roots,
                                 const double* bases, const double* shifts, SecularSums& out) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int parts = lane_count / W;
  double *const sums = up ? out.low : out.high, *const slopes = up ? out.low_slope : out.high_slope;
  Vector base[parts], shift[parts], root[parts], sum[parts], slope[parts], error[parts];
  const Vector zero = {};
  for (int u = 0; u < parts; ++u) {
    base[u] = vector_at<W>(bases + u * W), shift[u] = vector_at<W>(shifts + u * W);
    root[u] = vector_at<W>(roots + u * W), sum[u] = vector_at<W>(sums + u * W);
    slope[u] = vector_at<W>(slopes + u * W), error[u] = vector_at<W>(out.error + u * W);
  }
  for (Index step = from; step < end; ++step) {
    const Index j = up ? step : end - 1 - (step - from);
    const double z = s.weights[j], pole = s.poles[j];
    const Vector here = zero + static_cast<double>(j);
    for (int u = 0; u < parts; ++u) {
      Vector ratio = z / ((pole - base[u]) - shift[u]);
      if constexpr (!all && up) ratio = here <= root[u] ? ratio : zero;
      if constexpr (!all && !up) ratio = here > root[u] ? ratio : zero;
      sum[u] += z * ratio;
      slope[u] += ratio * ratio;
      error[u] += up ? -sum[u] : sum[u];
    }
  }
  for (int u = 0; u < parts; ++u) {
    vector_at<W>(sums + u * W) = sum[u], vector_at<W>(slopes + u * W) = slope[u];
    vector_at<W>(out.error + u * W) = error[u];
  }
}

template <int W>
BDL_ALWAYS_INLINE void evaluate(const Secular& s, Index first, const double* roots, const double* bases,
                                const double* shifts, SecularSums& out) {
  const Index end = std::min(first + lane_count, s.size);
  out = {};
  add_terms<W, true, true>(s, 0, first, roots, bases, shifts, out);
  add_terms<W, true, false>(s, first, end, roots, bases, shifts, out);
  add_terms<W, false, true>(s, end, s.size, roots, bases, shifts, out);
  add_terms<W, false, false>(s, first, end, roots, bases, shifts, out);
}

/// The search for one root: its distance from pole `near` is between low and high, which have one sign.
struct RootSearch {
  Index root, near, other;   // of the two poles that the interpolation keeps
  double low, high, before;  // before: |f| at the last point
  int slow;                  // steps in a row that gained little
  bool last, done;
};

/// The point of the first evaluation: the middle of where the root is.
inline double start_search(const Secular& s, Index root, RootSearch& r) {
  r = {root, root, root + 1, 0, 0, 0, 0, root + 1 == s.size, false};
  return r.last ? s.rho * s.total / 2 : (s.poles[root + 1] - s.poles[root]) / 2;
}

inline double between(double low, double high) {
  const double ratio = low / high;
  return ratio > 0.25 && ratio < 4 ? (low + high) / 2 : std::copysign(std::sqrt(low / high) * high, high);
}

/// The distance to go on from, by what f is in the middle: the root of an equation with the two poles only.
inline double choose_pole(const Secular& s, double f, double middle, RootSearch& r, double& base) {
  constexpr double rounding = 1e-14;
  if (r.last) r.other = r.root - 1;
  const double gap = std::abs(s.poles[r.other] - s.poles[r.near]);
  const bool above = r.last || f < 0;  // the pole is the upper one of two
  const double own = s.weights[r.near] * s.weights[r.near], next = s.weights[r.other] * s.weights[r.other];
  const double rest = r.last ? f + own / middle + next / (gap + middle) : f + own / middle - next / middle;
  if (above && !r.last) std::swap(r.near, r.other);
  base = s.poles[r.near];
  const double weight = s.weights[r.near] * s.weights[r.near];
  const double least = weight / (1 / s.rho + (r.last ? 0 : 2 * s.total / gap)) / 2;
  double linear = rest * gap + (above ? -1 : 1) * (own + next), constant = weight * gap, guess = 0;
  if (above) {
    const double root = std::sqrt(std::abs(linear * linear + 4 * constant * rest));
    if (r.last)
      guess = linear < 0 ? (root - linear) / (2 * rest) : 2 * constant / (linear + root);
    else
      guess = linear < 0 ? 2 * constant / (linear - root) : -(linear + root) / (2 * rest);
  } else {
    const double root = std::sqrt(std::abs(linear * linear - 4 * constant * rest));
    guess = linear > 0 ? 2 * constant / (linear + root) : (linear - root) / (2 * rest);
  }
  const double most = r.last ? 2 * middle * (1 + rounding) : middle;
  r.low = r.last || !above ? std::min(least, most / 2) : -most;
  r.high = r.last || !above ? most : -std::min(least, most / 2);
  if (r.last) (f < 0 ? r.low : r.high) = middle;
  r.before = std::numeric_limits<double>::infinity();
  return guess > r.low && guess < r.high ? guess : between(r.low, r.high);
}

/// The next distance: the root of the interpolation c + s / (d_near - x) + t / (d_other - x) with f's value
/// and slope and the near pole's weight, or those of the poles on either side (Li 1993); where neither helps,
/// between the bounds.
inline double next_distance(const Secular& s, double f, double low_slope, double high_slope, double base,
                            double now, RootSearch& r) {
  constexpr double little = 0.1;
  (f < 0 ? r.low : r.high) = now;
  r.slow = std::abs(f) > little * r.before ? r.slow + 1 : 0;
  r.before = std::abs(f);
  const double near = -now, other = (s.poles[r.other] - base) - now, slope = low_slope + high_slope;
  double next = 0;
  if (r.slow < 2 + !r.last) {
    const double ratio = s.weights[r.near] / near;
    const bool below = r.near == r.root;
    const double c = r.slow < 2
                         ? f - other * slope - (near - other) * ratio * ratio
                         : f - (below ? near : other) * low_slope - (below ? other : near) * high_slope;
    const double a = (near + other) * f - near * other * slope, b = near * other * f;
    const double root = std::sqrt(std::abs(a * a - 4 * b * c));
    double step = r.last ? (a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root))
                         : (a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root));
    if (!(f * step < 0)) step = -f / slope;
    next = now + step;
  } else {
    r.slow = 0;
  }
  if (!(next > r.low && next < r.high)) next = between(r.low, r.high);
  return next;
}

inline double secular_value(const Secular& s, const SecularSums& sums, Index lane) {
  return 1 / s.rho + sums.low[lane] + sums.high[lane];
}

/// Whether f is 0 up to its own rounding there.
inline bool is_root(const Secular& s, const SecularSums& sums, Index lane, double shift) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double bound = 2 / s.rho + 8 * (sums.high[lane] - sums.low[lane]) + sums.error[lane] +
                       std::abs(shift) * (sums.low_slope[lane] + sums.high_slope[lane]);
  return std::abs(secular_value(s, sums, lane)) <= epsilon * bound;
}

/// Roots first, ..., first + lane_count - 1 (those below size); false if one was not found.
template <int W>
BDL_ALWAYS_INLINE bool find_roots(const Secular& s, Index first) {
  constexpr int most_steps = 200;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  alignas(64) double roots[lane_count], bases[lane_count], shifts[lane_count];
  RootSearch searches[lane_count];
  SecularSums sums;
  const Index count = std::min(lane_count, s.size - first);
  for (Index l = 0; l < lane_count; ++l) {
    const Index root = first + std::min(l, count - 1);
    roots[l] = static_cast<double>(root);
    bases[l] = s.poles[root];
    shifts[l] = start_search(s, root, searches[l]);
  }
  if (s.size == 1) {
    s.bases[0] = s.poles[0], s.shifts[0] = s.rho * s.total;
    return true;
  }
  evaluate<W>(s, first, roots, bases, shifts, sums);
  for (Index l = 0; l < lane_count; ++l)
    shifts[l] = choose_pole(s, secular_value(s, sums, l), shifts[l], searches[l], bases[l]);
  Index open = count;
  for (int step = 0; step < most_steps && open > 0; ++step) {
    evaluate<W>(s, first, roots, bases, shifts, sums);
    for (Index l = 0; l < count; ++l) {
      RootSearch& r = searches[l];
      if (r.done) continue;
      const double now = shifts[l];
      r.done = is_root(s, sums, l, now);
      if (!r.done) {
        shifts[l] = next_distance(s, secular_value(s, sums, l), sums.low_slope[l], sums.high_slope[l],
                                  bases[l], now, r);
        r.done = shifts[l] == now || r.high - r.low <= 2 * epsilon * std::abs(now);
      }
      open -= r.done;
    }
  }
  std::copy_n(bases, count, s.bases + first);
  std::copy_n(shifts, count, s.shifts + first);
  return open == 0;
}

/// The weights first, ... of which the roots found are exact, with z's signs:
///   z_j^2 = prod_i (x_i - d_j) / prod_(i != j) (d_i - d_j), up to a factor.
template <int W>
BDL_ALWAYS_INLINE void find_weights(const Secular& s, Index first, double* out) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int parts = lane_count / W;
  alignas(64) double poles[lane_count], at[lane_count], products[lane_count];
  const Index count = std::min(lane_count, s.size - first);
  for (Index l = 0; l < lane_count; ++l) {
    const Index j = first + std::min(l, count - 1);
    poles[l] = s.poles[j], at[l] = static_cast<double>(j);
  }
  Vector pole[parts], index[parts], product[parts];
  const Vector zero = {}, one = zero + 1.0;
  for (int u = 0; u < parts; ++u)
    pole[u] = vector_at<W>(poles + u * W), index[u] = vector_at<W>(at + u * W), product[u] = one;
  for (Index i = 0; i < s.size; ++i) {
    const double base = s.bases[i], shift = s.shifts[i], other = s.poles[i];
    const Vector here = zero + static_cast<double>(i);
    for (int u = 0; u < parts; ++u)
      product[u] *= ((pole[u] - base) - shift) / (index[u] == here ? one : pole[u] - other);
  }
  for (int u = 0; u < parts; ++u) vector_at<W>(products + u * W) = product[u];
  for (Index l = 0; l < count; ++l)
    out[first + l] = std::copysign(__builtin_sqrt(std::abs(products[l])), s.weights[first + l]);
}

/// The scales of vectors first, ..., and their inner products with the two rows, a[i] = row_a^T (vector i).
template <int W>
BDL_ALWAYS_INLINE void find_scales(const Secular& s, Index first, const double* row_a, const double* row_b,
                                   double* a, double* b) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int parts = lane_count / W;
  alignas(64) double bases[lane_count], shifts[lane_count], sums[3][lane_count];
  const Index count = std::min(lane_count, s.size - first);
  for (Index l = 0; l < lane_count; ++l) {
    const Index i = first + std::min(l, count - 1);
    bases[l] = s.bases[i], shifts[l] = s.shifts[i];
  }
  Vector base[parts], shift[parts], square[parts] = {}, sum_a[parts] = {}, sum_b[parts] = {};
  for (int u = 0; u < parts; ++u)
    base[u] = vector_at<W>(bases + u * W), shift[u] = vector_at<W>(shifts + u * W);
  for (Index t = 0; t < s.size; ++t)
    for (int u = 0; u < parts; ++u) {
      const Vector x = s.weights[t] / ((s.poles[t] - base[u]) - shift[u]);
      square[u] += x * x;
      sum_a[u] += x * row_a[t];
      sum_b[u] += x * row_b[t];
    }
  for (int u = 0; u < parts; ++u) {
    vector_at<W>(sums[0] + u * W) = square[u], vector_at<W>(sums[1] + u * W) = sum_a[u];
    vector_at<W>(sums[2] + u * W) = sum_b[u];
  }
  for (Index l = 0; l < count; ++l) {
    const double scale = 1 / __builtin_sqrt(sums[0][l]);
    s.scales[first + l] = scale;
    a[first + l] = scale * sums[1][l];
    b[first + l] = scale * sums[2][l];
  }
}

/// Elements from .. from + count - 1 of vector i; `out` has room for whole vectors of lanes.
template <int W>
BDL_ALWAYS_INLINE void write_vector(const Secular& s, Index i, Index from, Index count, double* out) {
  using Vector = typename Lanes<W>::Vector;
  const double base = s.bases[i], shift = s.shifts[i], scale = s.scales[i];
  Index t = 0;
  for (; t + W <= count; t += W) {
    Vector pole, weight;
    __builtin_memcpy(&pole, s.poles + from + t, sizeof pole);
    __builtin_memcpy(&weight, s.weights + from + t, sizeof weight);
    weight = weight * scale / ((pole - base) - shift);
    __builtin_memcpy(out + t, &weight, sizeof weight);
  }
  for (; t < count; ++t) out[t] = s.weights[from + t] * scale / ((s.poles[from + t] - base) - shift);
}

}  // namespace bdl
