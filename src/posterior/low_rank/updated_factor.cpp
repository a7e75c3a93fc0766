#include "posterior/low_rank/updated_factor.hpp"

#include <algorithm>
#include <cmath>

#include "base/profile.hpp"
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
UpdatedFactor<T>::UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w,
                                Scratch& scratch)
    : u_(u),
      root_keep_(std::sqrt(keep)),
      rows_(rows),
      w_(w),
      root_w_(scratch.take<T>(rows.count())),
      scratch_(scratch) {
  std::ranges::transform(w_, root_w_.begin(), [](T value) { return std::sqrt(value); });
}

template <class T>
ProjectionSize UpdatedFactor<T>::size(Index rank) const {
  const RowsCost cost = rows_.cost();
  const double u_flops = 2 * static_cast<double>(u_.rows) * static_cast<double>(u_.cols);
  return {u_.rows, u_.cols + cost.count, rank, cost.gram_flops, cost.product_flops + u_flops};
}

template <class T>
void UpdatedFactor<T>::gram(MatrixView<double> out) {
  const StageTimer timer(Stage::gram);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols, n = rows_.count();
  tall_gram<T>(u_, {}, out.block(0, 0, rank, rank), scratch_);
  const auto projected = scratch_.matrix<T>(rank, n);
  rows_.project(u_, projected);
  rows_.gram(out.block(rank, rank, n, n));
  for (Index j = 0; j < rank; ++j) {
    for (Index i = j; i < rank; ++i) out(i, j) *= root_keep_ * root_keep_;
    for (Index r = 0; r < n; ++r)
      out(rank + r, j) = root_keep_ * static_cast<double>(root_w_[static_cast<std::size_t>(r)]) *
                         static_cast<double>(projected(j, r));
  }
  const T* roots = root_w_.data();
  parallel_blocks(n, task_grain(n), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index s = first; s < first + count; ++s) {
        double* column = out.column_data(rank + s) + rank;
        const double root = static_cast<double>(roots[s]);
        for (Index r = s; r < n; ++r) column[r] *= root * static_cast<double>(roots[r]);
      }
    });
  });
}

template <class T>
void UpdatedFactor<T>::outer(MatrixView<double> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = j; i < out.rows; ++i) {
      double sum = 0;
      for (Index k = 0; k < u_.cols; ++k)
        sum += static_cast<double>(u_(i, k)) * static_cast<double>(u_(j, k));
      out(i, j) = root_keep_ * root_keep_ * sum;
    }
  rows_.add_outer(w_, out);
}

template <class T>
void UpdatedFactor<T>::project(ConstMatrixView<T> q, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols;
  const auto product = scratch_.matrix<double>(q.cols, rank);
  tall_project<T>(q, u_, {}, Divide::by_d, product, scratch_);
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < q.cols; ++i) out(i, j) = static_cast<T>(root_keep_ * product(i, j));
  const auto rest = out.columns(rank, rows_.count());
  rows_.project(q, rest);
  for (Index r = 0; r < rest.cols; ++r)
    for (T& value : rest.column(r)) value *= root_w_[static_cast<std::size_t>(r)];
}

template <class T>
void UpdatedFactor<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  const StageTimer timer(Stage::combine);
  const Scratch::Frame frame(scratch_);
  const Index rank = u_.cols, n = rows_.count();
  const auto top = scratch_.matrix<T>(rank, w.cols), scaled = scratch_.matrix<T>(n, w.cols);
  const T keep = static_cast<T>(root_keep_);
  for (Index j = 0; j < w.cols; ++j) {
    for (Index i = 0; i < rank; ++i) top(i, j) = keep * w(i, j);
    for (Index r = 0; r < n; ++r) scaled(r, j) = root_w_[static_cast<std::size_t>(r)] * w(rank + r, j);
  }
  rows_.combine(scaled, out);
  tall_combine<T>(u_, top, true, out, scratch_);
}

template class UpdatedFactor<float>;
template class UpdatedFactor<double>;

}  // namespace bdl
