#include "linalg/dense/positive_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace bdl {
namespace {

/// False if a diagonal number is infinite or subnormal.
bool has_normal_diagonal(ConstMatrixView<double> a) {
  for (Index i = 0; i < a.rows; ++i)
    if (!std::isnormal(a(i, i))) return false;
  return true;
}

/// True if A x = C C^T x to about 1e-6 for one x, whose numbers are 1 or -1 in units of the roots of A's
/// diagonal: O(D^2), where C C^T would take O(D^3).
bool is_product(ConstMatrixView<double> a, ConstMatrixView<double> c) {
  constexpr double most = 1e-6;  // of each number of A, in the same units
  const Index size = a.rows;
  Buffer<double> numbers(2 * size);
  double *const x = numbers.data(), *const difference = x + size;
  for (Index i = 0; i < size; ++i) {
    const bool is_odd = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u >> 63 != 0;
    x[i] = (is_odd ? -1 : 1) / std::sqrt(a(i, i));
  }
  std::fill_n(difference, size, 0.0);
  for (Index k = 0; k < size; ++k) {
    const double *const of_c = c.column_data(k), *const of_a = a.column_data(k);
    const double y = std::inner_product(of_c + k, of_c + size, x + k, 0.0);
    for (Index i = 0; i < size; ++i) difference[i] += of_c[i] * y - of_a[i] * x[k];
  }
  const double root = std::sqrt(static_cast<double>(size));  // as sums of signs grow
  for (Index i = 0; i < size; ++i)
    if (!(std::abs(difference[i]) <= most * root * std::sqrt(a(i, i)))) return false;
  return true;
}

}  // namespace

PositiveMatrix::PositiveMatrix(Index size) : size_(size), matrix_(size * size), lower_(size * size) {
  static_cast<void>(set_isotropic(1));
}

bool PositiveMatrix::factorize() {
  if (!find_factor()) return false;
  mirror_lower(matrix());
  return true;
}

bool PositiveMatrix::find_factor() {
  const ConstMatrixView<double> a = std::as_const(*this).matrix();
  for (Index j = 0; j < size_; ++j) std::copy_n(a.column_data(j) + j, size_ - j, lower().column_data(j) + j);
  if (!cholesky(lower())) return false;
  log_det_ = log_det_from_cholesky(lower());
  return std::isfinite(log_det_);
}

bool PositiveMatrix::accept_factor() {
  mirror_lower(matrix());
  log_det_ = log_det_from_cholesky(lower());
  return std::isfinite(log_det_);
}

bool PositiveMatrix::has_lengths_of_factor() const {
  constexpr Index together = 64;  // rows, column by column
  constexpr double most = 1e-11;
  for (Index first = 0; first < size_; first += together) {
    const Index last = std::min(first + together, size_);
    std::array<double, together> sums{};
    for (Index k = 0; k < last; ++k)
      for (Index i = std::max(first, k); i < last; ++i) sums[i - first] += lower()(i, k) * lower()(i, k);
    for (Index i = first; i < last; ++i)
      if (!(std::abs(sums[i - first] - matrix()(i, i)) <= most * sums[i - first])) return false;
  }
  return true;
}

void PositiveMatrix::follow_factor() {
  if (has_lengths_of_factor()) return;
  syrk(Op::none, 1.0, lower(), 0.0, matrix());
  mirror_lower(matrix());
}

bool PositiveMatrix::accept_kept_factor() {
  for (Index j = 0; j < size_; ++j) std::fill_n(lower().column_data(j), j, 0.0);
  for (Index i = 0; i < size_; ++i)
    if (!(lower()(i, i) > 0 && matrix()(i, i) > 0)) return false;
  mirror_lower(matrix());
  return is_product(matrix(), lower()) && accept_factor();
}

void PositiveMatrix::copy(const PositiveMatrix& other) {
  const double *from = other.matrix_.data(), *from_lower = other.lower_.data();
  double *to = matrix_.data(), *to_lower = lower_.data();
  for_each_index(size_ * size_, [=](Index i) BDL_INLINE_LAMBDA {
    to[i] = from[i];
    to_lower[i] = from_lower[i];
  });
  log_det_ = other.log_det_;
}

void PositiveMatrix::swap(PositiveMatrix& other) noexcept {
  std::swap(size_, other.size_);
  matrix_.swap(other.matrix_);
  lower_.swap(other.lower_);
  std::swap(log_det_, other.log_det_);
}

bool PositiveMatrix::set_isotropic(double factor) {
  std::fill_n(matrix_.data(), size_ * size_, 0.0);
  std::fill_n(lower_.data(), size_ * size_, 0.0);
  const double root = std::sqrt(factor);
  for (Index i = 0; i < size_; ++i) {
    matrix()(i, i) = factor;
    lower()(i, i) = root;
  }
  log_det_ = log_det_from_cholesky(lower());  // identical to what the factor of a file gives
  return std::isfinite(log_det_);
}

bool PositiveMatrix::set_multiple(const PositiveMatrix& other, double factor) {
  const double root = std::sqrt(factor);
  std::transform(other.matrix_.data(), other.matrix_.data() + size_ * size_, matrix_.data(),
                 [=](double value) { return factor * value; });
  std::transform(other.lower_.data(), other.lower_.data() + size_ * size_, lower_.data(),
                 [=](double value) { return root * value; });
  log_det_ = log_det_from_cholesky(lower());
  return std::isfinite(log_det_) && has_normal_diagonal(matrix()) && has_normal_diagonal(lower());
}

void PositiveMatrix::multiply(const double* x, double* y) const {
  gemm(Op::none, Op::none, 1.0, matrix(), {x, size_, 1}, 0.0, {y, size_, 1});
}

void PositiveMatrix::solve(double* x) const {
  cholesky_solve(lower(), {x, size_, 1});
}

double PositiveMatrix::quadratic(const double* x) const {
  double sum = 0;
  for (Index j = 0; j < size_; ++j) {
    double dot = 0;
    for (Index i = 0; i < size_; ++i) dot += matrix()(i, j) * x[i];
    sum += dot * x[j];
  }
  return sum;
}

double PositiveMatrix::inverse_quadratic(double* x) const {
  solve_lower_left(Op::none, lower(), {x, size_, 1});
  double sum = 0;
  for (Index i = 0; i < size_; ++i) sum += x[i] * x[i];
  return sum;
}

/// A^-1 = C^-T C^-1, and columns of C^-1 are zero above the diagonal; a few of them at a time.
template <class T>
void PositiveMatrix::inverse_diagonal(std::span<T> out, Scratch& scratch) const {
  constexpr Index columns_together = 32;
  for (Index first = 0; first < size_; first += columns_together) {
    const Scratch::Frame frame(scratch);
    const Index count = std::min(columns_together, size_ - first), left = size_ - first;
    const auto columns = scratch.matrix<double>(left, count);
    std::fill_n(columns.data, columns.size(), 0.0);
    for (Index k = 0; k < count; ++k) columns(k, k) = 1;
    solve_lower_left(Op::none, lower().block(first, first, left, left), columns);
    for (Index k = 0; k < count; ++k) {
      double sum = 0;
      for (const double value : columns.column(k)) sum += value * value;
      out[static_cast<std::size_t>(first + k)] = static_cast<T>(sum);
    }
  }
}

template void PositiveMatrix::inverse_diagonal(std::span<float>, Scratch&) const;
template void PositiveMatrix::inverse_diagonal(std::span<double>, Scratch&) const;

double largest_eigenvalue(ConstMatrixView<double> a, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  double value = 0;
  return largest_eigenpairs(a, &value, scratch.matrix<double>(a.rows, 1), scratch)
             ? value
             : std::numeric_limits<double>::quiet_NaN();
}

double smallest_relative_eigenvalue(ConstMatrixView<double> lower, MatrixView<double> b, Scratch& scratch) {
  solve_lower_left(Op::none, lower, b);
  solve_lower_right(Op::transpose, lower, b);
  for (Index j = 0; j < b.cols; ++j)
    for (double& value : b.column(j)) value = -value;
  return -largest_eigenvalue(b, scratch);
}

}  // namespace bdl
