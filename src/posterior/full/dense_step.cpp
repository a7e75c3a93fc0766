#include "posterior/full/dense_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace bdl {
namespace {

/// Takes the matrix of a step that has to be shortened, and for a moment what finds its eigenvalue: all steps
/// do, so that one that is shortened later on allocates nothing.
MatrixView<double> room_to_settle(Index size, Scratch& scratch) {
  const auto square = scratch.matrix<double>(size, size);
  const Scratch::Frame frame(scratch);
  scratch.take<double>(size + largest_eigenpairs_numbers(size, 1));
  return square;
}

double smallest_pivot(ConstMatrixView<double> next, ConstMatrixView<double> old) {
  double smallest = 1;
  for (Index i = 0; i < next.rows; ++i) {
    const double ratio = next(i, i) / old(i, i);
    smallest = std::min(smallest, ratio * ratio);
  }
  return smallest;
}

bool is_finite(ConstMatrixView<double> lower) {
  for (Index j = 0; j < lower.cols; ++j)
    for (const double value : lower.column(j).subspan(static_cast<std::size_t>(j)))
      if (!std::isfinite(value)) return false;
  return true;
}

/// Returns the fraction of the step to take where the whole leaves `kept`; rounding has the last word on
/// whether the whole is positive definite.
double fraction_of(double kept, bool positive, bool may_shorten) {
  if (!std::isfinite(kept)) fail_not_positive("covariance");
  return shortened(positive ? kept : std::min(kept, least_kept), may_shorten);
}

}  // namespace

double settle(PositiveMatrix& next, const PositiveMatrix& old, bool may_shorten, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index size = next.size();
  const auto square = room_to_settle(size, scratch);
  const bool positive = next.factorize();
  if (positive && smallest_pivot(next.lower(), old.lower()) > safe_pivot) return 1;
  if (!positive) {
    if (!is_finite(next.matrix())) fail_not_positive("covariance");
    mirror_lower(next.matrix());
  }
  std::copy_n(next.matrix().data, size * size, square.data);
  const double kept = smallest_relative_eigenvalue(old.lower(), square, scratch);
  const double fraction = fraction_of(kept, positive, may_shorten);
  if (fraction == 1) return 1;
  double* to = next.matrix().data;
  const double* from = old.matrix().data;
  for (Index i = 0; i < size * size; ++i) to[i] = from[i] + fraction * (to[i] - from[i]);
  if (!next.factorize()) fail_not_positive("covariance");
  return fraction;
}

/// G S^-1 G = W^T W with W = C^-1 G for S = C C^T.
void improve(PositiveMatrix& next, const PositiveMatrix& old, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index size = next.size();
  const auto w = scratch.matrix<double>(size, size);
  const auto to = next.matrix();
  const auto from = old.matrix();
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i) w(i, j) = to(i, j) - from(i, j);
  mirror_lower(w);
  solve_lower_left(Op::none, old.lower(), w);
  syrk(Op::transpose, 0.5, w, 1.0, to);
}

/// The factorisation takes as long as about D / 11 rotations of the whole factor (D = 50 to 1000).
bool suits_rotations(Index size, Index columns, FactorUpdate choice) {
  if (choice != FactorUpdate::automatic) return choice == FactorUpdate::rotate;
  return 12 * columns < size;
}

double settle_columns(PositiveMatrix& next, const PositiveMatrix& old, ConstMatrixView<double> z, Index added,
                      bool may_shorten, FactorUpdate choice, Scratch& scratch) {
  next.copy(old);
  syrk(Op::none, 1.0, z.block(0, 0, z.rows, added), 1.0, next.matrix());
  syrk(Op::none, -1.0, z.block(0, added, z.rows, z.cols - added), 1.0, next.matrix());
  if (!suits_rotations(z.rows, z.cols, choice)) return settle(next, old, may_shorten, scratch);
  {
    const Scratch::Frame frame(scratch);
    room_to_settle(z.rows, scratch);
  }
  {
    const Scratch::Frame frame(scratch);
    const auto copy = scratch.matrix<double>(z.rows, z.cols);
    for (Index k = 0; k < z.cols; ++k) std::ranges::copy(z.column(k), copy.column_data(k));
    if (update_cholesky(next.lower(), copy, added) && next.accept_factor() &&
        smallest_pivot(next.lower(), old.lower()) > safe_pivot) {
      if (added < z.cols) next.follow_factor();
      return 1;
    }
  }
  return settle(next, old, may_shorten, scratch);
}

double fraction_of_reduction(ConstMatrixView<double> gram, bool may_shorten, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index count = gram.cols;
  const auto rest = scratch.matrix<double>(count, count);
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i) rest(i, j) = (i == j ? 1 : 0) - gram(i, j);
  const bool positive = cholesky(rest);
  bool safe = positive;
  for (Index k = 0; k < count && safe; ++k) safe = rest(k, k) * rest(k, k) > safe_pivot;
  if (safe) return 1;
  if (!is_finite(gram)) fail_not_positive("covariance");
  return fraction_of(1 - largest_eigenvalue(gram, scratch), positive, may_shorten);
}

double settle_reduction(PositiveMatrix& next, const PositiveMatrix& old, MatrixView<double> z,
                        ConstMatrixView<double> v, bool may_shorten, FactorUpdate choice, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto gram = scratch.matrix<double>(z.cols, z.cols);
  syrk(Op::transpose, 1.0, v, 0.0, gram);
  const double fraction = fraction_of_reduction(gram, may_shorten, scratch);
  if (fraction < 1)
    for (Index k = 0; k < z.cols; ++k)
      for (double& value : z.column(k)) value *= std::sqrt(fraction);
  return fraction * settle_columns(next, old, z, 0, may_shorten, choice, scratch);
}

template <class T>
void check_curvature(const Curvature<T>& curvature) {
  if (!curvature.diagonal.empty())
    fail(Status::ERROR_UNSUPPORTED,
         "the curvature is a diagonal, expected a factor or a matrix for a posterior with full covariance");
}

template <class T>
void add_curvature(const Curvature<T>& curvature, double factor, MatrixView<double> out, Scratch& scratch) {
  if (!curvature.rows) {
    for (Index j = 0; j < out.cols; ++j)
      for (Index i = j; i < out.rows; ++i) out(i, j) += factor * curvature.matrix(i, j);
    return;
  }
  const Scratch::Frame frame(scratch);
  curvature.rows->add_outer(scaled_weights(curvature, factor, scratch), out);
}

template <class T>
MatrixView<double> dense_columns(const Curvature<T>& curvature, double factor, Index spare,
                                 Scratch& scratch) {
  const Index size = curvature.rows->dimension(), count = curvature.rows->count();
  const auto columns = scratch.matrix<double>(size, count + spare);
  const Scratch::Frame frame(scratch);
  const auto roots = scratch.matrix<T>(count, count), rows = scratch.matrix<T>(size, count);
  std::fill_n(roots.data, roots.size(), T(0));
  for (Index r = 0; r < count; ++r) roots(r, r) = 1;
  curvature.rows->combine(roots, rows);
  for (Index r = 0; r < count; ++r) {
    const double root = std::sqrt(factor * static_cast<double>(curvature.w[static_cast<std::size_t>(r)]));
    std::ranges::transform(rows.column(r), columns.column_data(r),
                           [=](T value) { return root * static_cast<double>(value); });
  }
  return columns;
}

template <class T>
void add_prior_diagonal(ConstSpan<T> prior_precision, double factor, MatrixView<double> out) {
  for (Index i = 0; i < out.rows; ++i)
    out(i, i) += factor * static_cast<double>(prior_precision[static_cast<std::size_t>(i)]);
}

template <class T>
double* in_double(ConstSpan<T> values, Scratch& scratch) {
  const auto out = scratch.take<double>(std::ssize(values));
  std::ranges::copy(values, out.begin());
  return out.data();
}

template <class T>
void check_mean(ConstSpan<T> mean) {
  if (!std::ranges::all_of(mean, [](T value) { return std::isfinite(value); }))
    fail(Status::ERROR_DIVERGED, "the mean is not finite after the step");
}

template <class T>
void move_mean(ConstSpan<T> from, double rate, const double* direction, std::span<T> mean) {
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i] = static_cast<T>(static_cast<double>(from[i]) - rate * direction[i]);
  check_mean<T>(mean);
}

template <class T>
void store_mean(const double* values, std::span<T> mean) {
  add_mean<T>({}, values, mean);
  check_mean<T>(mean);
}

template <class T>
void scale_mean(ConstSpan<T> from, double factor, std::span<T> mean) {
  std::ranges::transform(from, mean.begin(),
                         [=](T value) { return static_cast<T>(factor * static_cast<double>(value)); });
}

template <class T>
void add_mean(ConstSpan<T> mean, const double* values, std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>((mean.empty() ? 0 : static_cast<double>(mean[i])) + values[i]);
}

template <class T>
double trace_of_product(ConstMatrixView<double> p, const Posterior<T>& q, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto column = scratch.matrix<T>(p.rows, 1);
  double trace = 0;
  for (Index j = 0; j < p.cols; ++j) {
    std::ranges::fill(column.column(0), T(0));
    column(j, 0) = 1;
    q.solve(column, scratch);
    for (Index i = 0; i < p.rows; ++i) trace += p(i, j) * static_cast<double>(column(i, 0));
  }
  return trace;
}

template <class T>
Buffer<double> diagonal_matrix(ConstSpan<T> values, bool inverse) {
  const auto size = static_cast<Index>(values.size());
  Buffer<double> out(size * size);
  std::fill_n(out.data(), size * size, 0.0);
  for (Index i = 0; i < size; ++i) {
    const auto value = static_cast<double>(values[static_cast<std::size_t>(i)]);
    out.data()[i * (size + 1)] = inverse ? 1 / value : value;
  }
  return out;
}

#define BDL_INSTANTIATE(T)                                                                 \
  template void check_curvature(const Curvature<T>&);                                      \
  template void add_curvature(const Curvature<T>&, double, MatrixView<double>, Scratch&);  \
  template MatrixView<double> dense_columns(const Curvature<T>&, double, Index, Scratch&); \
  template void add_prior_diagonal(ConstSpan<T>, double, MatrixView<double>);              \
  template double* in_double(ConstSpan<T>, Scratch&);                                      \
  template void move_mean(ConstSpan<T>, double, const double*, std::span<T>);              \
  template void store_mean(const double*, std::span<T>);                                   \
  template void scale_mean(ConstSpan<T>, double, std::span<T>);                            \
  template Buffer<double> diagonal_matrix(ConstSpan<T>, bool);                             \
  template void add_mean(ConstSpan<T>, const double*, std::span<T>);                       \
  template double trace_of_product(ConstMatrixView<double>, const Posterior<T>&, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
