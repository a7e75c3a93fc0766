// The largest eigenpairs of a symmetric tridiagonal matrix whose eigenvalues there are not too close: Sturm
// counts isolate them, Rayleigh quotient iterations with twisted factorisations (Dhillon and Parlett 2004)
// converge cubically from there. Shifts, and later eigenvalues, fill the lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/eigen/lanes.hpp"

namespace bdl {

/// T scaled to |T| <= about 1; squares are those of `beside`, kept above zero.
struct TridiagonalPairs {
  Index size = 0, count = 0;
  const double *diagonal = nullptr, *beside = nullptr, *squares = nullptr;
  double *low = nullptr, *high = nullptr;  // count + 1, descending eigenvalues
  double* values = nullptr;                // lane_padded(count)
  double* vectors = nullptr;               // groups of lane_count side by side, size x lane_count each
  double* pivots = nullptr;                // 2 size lane_count
};

inline constexpr int shift_count = 32;

/// Counts the eigenvalues below each shift (Sturm; a zero pivot gives infinities that count right).
template <int W>
BDL_ALWAYS_INLINE void count_below(const TridiagonalPairs& t, const double* shifts, Index* below) {
  using Vector = typename Lanes<W>::Vector;
  using Bits = typename Lanes<W>::Bits;
  constexpr int vectors = shift_count / W;
  Vector shift[vectors], pivot[vectors];
  Bits negative[vectors] = {};
  for (int u = 0; u < vectors; ++u) {
    shift[u] = vector_at<W>(shifts + u * W);
    pivot[u] = t.diagonal[0] - shift[u];
    negative[u] += reinterpret_cast<Bits>(pivot[u]) >> 63;
  }
  for (Index i = 1; i < t.size; ++i)
    for (int u = 0; u < vectors; ++u) {
      pivot[u] = t.diagonal[i] - shift[u] - t.squares[i - 1] / pivot[u];
      negative[u] += reinterpret_cast<Bits>(pivot[u]) >> 63;
    }
  for (int u = 0; u < vectors; ++u)
    for (int l = 0; l < W; ++l) below[u * W + l] = static_cast<Index>(negative[u][l]);
}

/// Sets every interval to Gershgorin's.
inline void enclose(const TridiagonalPairs& t, Index wanted) {
  double low = std::numeric_limits<double>::infinity(), high = -low, last = 0;
  for (Index i = 0; i < t.size; ++i) {
    const double next = i + 1 < t.size ? std::abs(t.beside[i]) : 0, radius = last + next;
    low = std::min(low, t.diagonal[i] - radius);
    high = std::max(high, t.diagonal[i] + radius);
    last = next;
  }
  const double margin = 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high));
  std::fill_n(t.low, wanted, low - margin);
  std::fill_n(t.high, wanted, high + margin);
}

/// True if interval k is narrow enough: Rayleigh quotient iteration from its midpoint cannot go elsewhere.
/// Eigenvalues closer than `closest` are left to others: their vectors would not be orthogonal.
inline bool isolated(const TridiagonalPairs& t, Index k, Index wanted) {
  constexpr double safety = 1024, closest = 1e-9;
  const double gap = std::max(closest, safety * (t.high[k] - t.low[k]));
  return (k == 0 || gap <= t.low[k - 1] - t.high[k]) && (k + 1 == wanted || gap <= t.low[k] - t.high[k + 1]);
}

template <int W>
BDL_ALWAYS_INLINE void divide(const TridiagonalPairs& t, const Index* listed, int size, int each) {
  alignas(64) double shifts[shift_count];
  Index below[shift_count];
  std::fill_n(shifts, shift_count, t.high[0]);
  for (int s = 0; s < size; ++s) {
    const double low = t.low[listed[s]], step = (t.high[listed[s]] - low) / (each + 1);
    for (int p = 0; p < each; ++p) shifts[s * each + p] = low + (p + 1) * step;
  }
  count_below<W>(t, shifts, below);
  for (int s = 0; s < size; ++s)
    for (int p = s * each; p < (s + 1) * each; ++p) {
      const Index k = listed[s];
      if (below[p] >= t.size - k)
        t.high[k] = std::min(t.high[k], shifts[p]);
      else
        t.low[k] = std::max(t.low[k], shifts[p]);
    }
}

/// Divides all intervals, which are the same at first: every shift serves them all.
template <int W>
BDL_ALWAYS_INLINE void divide_all(const TridiagonalPairs& t, Index wanted) {
  alignas(64) double shifts[shift_count];
  Index below[shift_count];
  const double low = t.low[0], step = (t.high[0] - low) / (shift_count + 1);
  for (int p = 0; p < shift_count; ++p) shifts[p] = low + (p + 1) * step;
  count_below<W>(t, shifts, below);
  for (Index k = 0; k < wanted; ++k)
    for (int p = 0; p < shift_count; ++p) {
      if (below[p] >= t.size - k) {
        t.high[k] = shifts[p];
        break;
      }
      t.low[k] = shifts[p];
    }
}

/// Divides the intervals of the `wanted` largest eigenvalues until all are isolated; false if two are too
/// close.
template <int W>
BDL_ALWAYS_INLINE bool isolate(const TridiagonalPairs& t, Index wanted) {
  constexpr int most_sweeps = 40;  // bisections to below what is closest
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    Index open = 0;
    for (Index k = 0; k < wanted; ++k) open += !isolated(t, k, wanted);
    if (open == 0) return true;
    const int each = static_cast<int>(std::max<Index>(1, shift_count / open));
    Index listed[shift_count];
    int size = 0;
    for (Index k = 0; k < wanted; ++k) {
      if (!isolated(t, k, wanted)) listed[size++] = k;
      if ((size + 1) * each > shift_count || (k + 1 == wanted && size > 0)) {
        divide<W>(t, listed, size, each);
        size = 0;
      }
    }
  }
  return false;
}

/// Writes pivots of T - value I from the first row down and from the last one up.
template <int W>
BDL_ALWAYS_INLINE void find_pivots(const TridiagonalPairs& t, const double* value) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int vectors = lane_count / W;
  constexpr Index stride = lane_count;
  constexpr double tiny = 1e-140;  // keeps pivots away from zero
  const Index n = t.size;
  double *down = t.pivots, *up = t.pivots + n * stride;
  Vector shift[vectors], a[vectors], b[vectors];
  for (int u = 0; u < vectors; ++u) {
    shift[u] = vector_at<W>(value + u * W);
    a[u] = t.diagonal[0] - shift[u];
    b[u] = t.diagonal[n - 1] - shift[u];
    a[u] += tiny;
    b[u] += tiny;
    vector_at<W>(down + u * W) = a[u];
    vector_at<W>(up + (n - 1) * stride + u * W) = b[u];
  }
  for (Index i = 1; i < n; ++i)
    for (int u = 0; u < vectors; ++u) {
      a[u] = t.diagonal[i] - shift[u] - t.squares[i - 1] / a[u];
      b[u] = t.diagonal[n - 1 - i] - shift[u] - t.squares[n - 1 - i] / b[u];
      a[u] += tiny;
      b[u] += tiny;
      vector_at<W>(down + i * stride + u * W) = a[u];
      vector_at<W>(up + (n - 1 - i) * stride + u * W) = b[u];
    }
}

/// Makes one step for lane_count eigenvalues: z of the factorisation twisted where it is nearest to singular,
/// the corrected Rayleigh quotient, and the residual's square |T z - shift z|^2 / |z|^2 at the old one.
template <int W>
BDL_ALWAYS_INLINE void rayleigh_step(const TridiagonalPairs& t, double* value, double* z, double* residual) {
  using Vector = typename Lanes<W>::Vector;
  constexpr int vectors = lane_count / W;
  constexpr Index stride = lane_count;
  const Index n = t.size;
  double *down = t.pivots, *up = t.pivots + n * stride;
  const Vector zero = {};
  find_pivots<W>(t, value);
  for (int u = 0; u < vectors; ++u) {
    const Vector shift = vector_at<W>(value + u * W);
    Vector least = zero + std::numeric_limits<double>::infinity(), gamma = zero, twist = zero;
    for (Index i = 0; i < n; ++i) {
      const Vector g = vector_at<W>(down + i * stride + u * W) + vector_at<W>(up + i * stride + u * W) -
                       (t.diagonal[i] - shift);
      const Vector size = g < zero ? -g : g, here = zero + static_cast<double>(i);
      twist = size < least ? here : twist;
      gamma = size < least ? g : gamma;
      least = size < least ? size : least;
    }
    // z is 1 at the twist and solves the rows above and below it.
    Vector last = zero, norm = zero;
    for (Index i = n - 1; i >= 0; --i) {
      const Vector here = zero + static_cast<double>(i);
      const double e = i + 1 < n ? t.beside[i] : 0;
      const Vector next = last * (-e / vector_at<W>(down + i * stride + u * W));
      last = here == twist ? zero + 1.0 : (here < twist ? next : zero);
      vector_at<W>(z + i * stride + u * W) = last;
      norm += last * last;
    }
    last = zero;
    for (Index i = 0; i < n; ++i) {
      const Vector here = zero + static_cast<double>(i);
      const double e = i > 0 ? t.beside[i - 1] : 0;
      const Vector next = last * (-e / vector_at<W>(up + i * stride + u * W));
      last = here == twist ? zero + 1.0 : (here > twist ? next : zero);
      Vector& out = vector_at<W>(z + i * stride + u * W);
      out = here > twist ? last : out;
      norm += here > twist ? last * last : zero;
    }
    vector_at<W>(value + u * W) = shift + gamma / norm;
    const Vector overflow = zero + std::numeric_limits<double>::infinity(), most = zero + 1e200;
    vector_at<W>(residual + u * W) = norm < most ? gamma * gamma / norm : overflow;
    for (int l = 0; l < W; ++l) {
      double& scale = up[u * W + l];
      scale = 1 / __builtin_sqrt(norm[l]);
    }
    const Vector scale = vector_at<W>(up + u * W);
    for (Index i = 0; i < n; ++i) vector_at<W>(z + i * stride + u * W) *= scale;
  }
}

/// Finds the eigenpairs of isolated eigenvalues first, ..., first + lane_count - 1 (those below count); false
/// if an iteration did not stay in its interval or did not converge.
template <int W>
BDL_ALWAYS_INLINE bool iterate_pairs(const TridiagonalPairs& t, Index first) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  constexpr int most_steps = 8;
  alignas(64) double residual[lane_count];
  const Index last = std::min(first + lane_count, t.count);
  double *value = t.values + first, *z = t.vectors + first * t.size;
  for (Index l = 0; l < lane_count; ++l) {
    const Index k = std::min(first + l, last - 1);
    value[l] = (t.low[k] + t.high[k]) / 2;
  }
  for (int step = 0; step < most_steps; ++step) {
    rayleigh_step<W>(t, value, z, residual);
    bool done = true, inside = true;
    for (Index k = first; k < last; ++k) {
      done = done && residual[k - first] <= 16 * epsilon * epsilon;
      inside =
          inside && value[k - first] >= t.low[k] - 4 * epsilon && value[k - first] <= t.high[k] + 4 * epsilon;
    }
    if (done) return inside;
  }
  return false;
}

/// Finds all wanted pairs; false if some eigenvalues are too close for this method.
template <int W>
BDL_ALWAYS_INLINE bool largest_pairs(const TridiagonalPairs& t) {
  const Index wanted = std::min(t.count + 1, t.size);
  enclose(t, wanted);
  divide_all<W>(t, wanted);
  if (!isolate<W>(t, wanted)) return false;
  for (Index first = 0; first < t.count; first += lane_count) {
    if (!iterate_pairs<W>(t, first)) return false;
  }
  return true;
}

}  // namespace bdl
