#include "posterior/linearized_outputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of parameters up to which an example is the work of one thread.
constexpr Index most_short_rows = 4096;

/// Returns a^T b in double.
template <class T>
BDL_ALWAYS_INLINE double dot_in_double(const T* a, const T* b, Index count) {
  constexpr Index lanes = 16;
  double sums[lanes] = {}, sum = 0;
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane)
      sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
  for (; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double each : sums) sum += each;
  return sum;
}

/// Makes S symmetric with a diagonal >= 0, as it is but for the rounding of Sigma X.
void symmetrize(MatrixView<double> s) {
  mirror_lower(s);
  for (Index c = 0; c < s.cols; ++c)
    if (s(c, c) < 0) s(c, c) = 0;
}

}  // namespace

template <class T>
void LinearizedOutputs<T>::compute(const Posterior<T>& q, ConstMatrixView<T> x) {
  const Index outputs = model_.outputs(), count = outputs * x.cols;
  examples_ = x.cols;
  const Scratch::Frame frame(scratch_);
  const auto f = scratch_.matrix<T>(outputs, x.cols), rows = scratch_.matrix<T>(q.dimension(), count),
             solved = scratch_.matrix<T>(q.dimension(), count);
  jacobian_.compute(q.mean(), x, f, rows, q.statistics());
  std::copy_n(rows.data, rows.size(), solved.data);
  q.solve(solved, scratch_);
  std::transform(f.data, f.data + count, mean_.first(count).data(),
                 [](T value) { return static_cast<double>(value); });
  multiply(rows, solved, covariances_.first(count * outputs).data());
}

/// Writes J_i (Sigma J_i^T); the rows of one example are M columns apart.
template <class T>
void LinearizedOutputs<T>::multiply(ConstMatrixView<T> rows, ConstMatrixView<T> solved, double* covariances) {
  const Index outputs = model_.outputs(), dimension = rows.rows, distance = dimension * examples_;
  const auto rows_of = [&](ConstMatrixView<T> all, Index i) {
    return ConstMatrixView<T>(all.data + i * dimension, dimension, outputs, distance);
  };
  const auto block = [&](Index i) {
    return MatrixView<double>(covariances + i * outputs * outputs, outputs, outputs);
  };
  if (dimension > most_short_rows) {
    for (Index i = 0; i < examples_; ++i)
      tall_project<T>(rows_of(rows, i), rows_of(solved, i), {}, Divide::by_d, block(i), scratch_);
  } else {
    parallel_blocks(examples_, task_grain(dimension * outputs * outputs),
                    [&](Index begin, Index count) noexcept {
                      with_simd([&](auto) BDL_INLINE_LAMBDA {
                        for (Index i = begin; i < begin + count; ++i)
                          for (Index c = 0; c < outputs; ++c)
                            for (Index b = c; b < outputs; ++b)
                              block(i)(b, c) = dot_in_double(rows_of(rows, i).column_data(b),
                                                             rows_of(solved, i).column_data(c), dimension);
                      });
                    });
  }
  for (Index i = 0; i < examples_; ++i) symmetrize(block(i));
}

template <class T>
void LinearizedOutputs<T>::check() const {
  const Index outputs = model_.outputs();
  for (Index i = 0; i < examples_; ++i) {
    if (!std::ranges::all_of(mean().column(i), [](double value) { return std::isfinite(value); }))
      fail(Status::ERROR_DIVERGED, "the model's output for example %lld (counting from 0) is not finite",
           static_cast<long long>(i));
    const double* s = covariance(i).data;
    if (!std::all_of(s, s + outputs * outputs, [](double value) { return std::isfinite(value); }))
      fail(Status::ERROR_DIVERGED,
           "the variance of the model's output for example %lld (counting from 0) is not finite",
           static_cast<long long>(i));
  }
}

template class LinearizedOutputs<float>;
template class LinearizedOutputs<double>;

}  // namespace bdl
