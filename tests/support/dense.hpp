// Slow and obvious linear algebra in double: what the fast code of the core is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "base/view.hpp"

namespace bdl::testing {

/// The loops that take the tests' time: sanitizers are for the library.
#define BDL_UNSANITIZED __attribute__((no_sanitize("address", "undefined", "thread")))

/// y += factor x.
BDL_UNSANITIZED inline void add_multiple(double factor, const double* x, double* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}

/// (x, y) <- (c x - s y, s x + c y), elements `stride` apart.
BDL_UNSANITIZED inline void rotate_vectors(double c, double s, double* x, double* y, Index count,
                                           Index stride) {
  for (Index i = 0; i < count * stride; i += stride) {
    const double first = x[i], second = y[i];
    x[i] = c * first - s * second;
    y[i] = s * first + c * second;
  }
}

/// A column-major matrix that owns its elements.
struct Dense {
  Index rows = 0, cols = 0;
  std::vector<double> values;

  Dense() = default;
  Dense(Index row_count, Index col_count, double value = 0)
      : rows(row_count), cols(col_count), values(static_cast<std::size_t>(row_count * col_count), value) {}
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  double* column(Index j) { return values.data() + j * rows; }
  const double* column(Index j) const { return values.data() + j * rows; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

template <class T>
Dense dense_of(MatrixView<T> view) {
  Dense out(view.rows, view.cols);
  for (Index j = 0; j < view.cols; ++j)
    for (Index i = 0; i < view.rows; ++i) out(i, j) = static_cast<double>(view(i, j));
  return out;
}

template <class Range>
Dense column_of(const Range& values) {
  Dense out(static_cast<Index>(values.size()), 1);
  std::transform(values.begin(), values.end(), out.values.begin(),
                 [](auto v) { return static_cast<double>(v); });
  return out;
}

/// Elements [0, 1) of splitmix64: the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  double uniform() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  Dense normal(Index rows, Index cols, double scale = 1) {
    Dense out(rows, cols);
    for (double& value : out.values) value = scale * normal();
    return out;
  }
  /// Values in [low, high).
  Dense uniform(Index rows, Index cols, double low, double high) {
    Dense out(rows, cols);
    for (double& value : out.values) value = low + (high - low) * uniform();
    return out;
  }

 private:
  std::uint64_t state_;
};

inline Dense identity(Index size) {
  Dense out(size, size);
  for (Index i = 0; i < size; ++i) out(i, i) = 1;
  return out;
}

inline Dense diagonal_matrix(const Dense& column) {
  Dense out(column.rows, column.rows);
  for (Index i = 0; i < column.rows; ++i) out(i, i) = column(i, 0);
  return out;
}

inline Dense diagonal_of(const Dense& a) {
  Dense out(a.rows, 1);
  for (Index i = 0; i < a.rows; ++i) out(i, 0) = a(i, i);
  return out;
}

inline Dense transposed(const Dense& a) {
  Dense out(a.cols, a.rows);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
  return out;
}

inline Dense operator*(const Dense& a, const Dense& b) {
  Dense out(a.rows, b.cols);
  for (Index j = 0; j < b.cols; ++j)
    for (Index k = 0; k < a.cols; ++k) add_multiple(b(k, j), a.column(k), out.column(j), a.rows);
  return out;
}

inline Dense operator*(double factor, Dense a) {
  for (double& value : a.values) value *= factor;
  return a;
}

inline Dense operator+(Dense a, const Dense& b) {
  add_multiple(1, b.values.data(), a.values.data(), static_cast<Index>(a.values.size()));
  return a;
}

inline Dense operator-(const Dense& a, const Dense& b) {
  return a + -1.0 * b;
}

inline double trace(const Dense& a) {
  double sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += a(i, i);
  return sum;
}

inline double dot(const Dense& a, const Dense& b) {
  return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0);
}

inline double max_abs(const Dense& a) {
  double top = 0;
  for (double value : a.values) top = std::max(top, std::abs(value));
  return top;
}

inline Dense columns_of(const Dense& a, Index first, Index count) {
  Dense out(a.rows, count);
  std::copy_n(a.values.begin() + first * a.rows, count * a.rows, out.values.begin());
  return out;
}

/// The columns of a, then those of b.
inline Dense beside(const Dense& a, const Dense& b) {
  Dense out(a.rows, a.cols + b.cols);
  std::copy(a.values.begin(), a.values.end(), out.values.begin());
  std::copy(b.values.begin(), b.values.end(), out.values.begin() + a.rows * a.cols);
  return out;
}

/// L with L L^T = A.
inline Dense cholesky_of(const Dense& a) {
  Dense lower = a;
  for (Index j = 0; j < a.rows; ++j) {
    double* const below = lower.column(j) + j;
    for (Index k = 0; k < j; ++k) add_multiple(-lower(j, k), lower.column(k) + j, below, a.rows - j);
    const double root = std::sqrt(*below);
    std::fill_n(lower.column(j), j, 0.0);
    std::transform(below, lower.column(j) + a.rows, below, [&](double value) { return value / root; });
  }
  return lower;
}

inline double log_det(const Dense& a) {
  const Dense lower = cholesky_of(a);
  double sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += 2 * std::log(lower(i, i));
  return sum;
}

/// Gauss-Jordan elimination with row pivots.
inline Dense inverse_of(const Dense& a) {
  const Index n = a.rows;
  Dense both = beside(a, identity(n));
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k; i < n; ++i)
      if (std::abs(both(i, k)) > std::abs(both(pivot, k))) pivot = i;
    Dense others = columns_of(both, k, 1);
    std::swap(others(k, 0), others(pivot, 0));
    const double head = others(k, 0);
    others(k, 0) = 0;
    for (Index j = k; j < both.cols; ++j) {
      std::swap(both(k, j), both(pivot, j));
      both(k, j) /= head;
      add_multiple(-both(k, j), others.column(0), both.column(j), n);
    }
  }
  return columns_of(both, n, n);
}

struct Eigen {
  std::vector<double> values;  // descending
  Dense vectors;
};

/// Eigenpairs of a symmetric matrix by cyclic Jacobi rotations.
inline Eigen eigen_of(Dense a) {
  const Index n = a.rows;
  Dense v = identity(n);
  const double nothing = 1e-18 * max_abs(a);
  for (int sweep = 0; sweep < 30; ++sweep)
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) {
        if (std::abs(a(p, q)) <= nothing) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        rotate_vectors(c, s, a.column(p), a.column(q), n, 1);
        rotate_vectors(c, s, a.values.data() + p, a.values.data() + q, n, n);
        rotate_vectors(c, s, v.column(p), v.column(q), n, 1);
      }
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index x, Index y) { return a(x, x) > a(y, y); });
  Eigen out{{}, Dense(n, 0)};
  for (Index k : order) {
    out.values.push_back(a(k, k));
    out.vectors = beside(out.vectors, columns_of(v, k, 1));
  }
  return out;
}

/// Q_L Lambda_L Q_L^T for the `rank` largest eigenvalues of a positive semi-definite A.
inline Dense top_part(const Dense& a, Index rank) {
  const Eigen eigen = eigen_of(a);
  Dense out(a.rows, a.rows);
  for (Index k = 0; k < std::min(rank, a.rows); ++k) {
    const Dense q = columns_of(eigen.vectors, k, 1);
    out = out + std::max(0.0, eigen.values[static_cast<std::size_t>(k)]) * (q * transposed(q));
  }
  return out;
}

}  // namespace bdl::testing
