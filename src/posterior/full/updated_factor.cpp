#include "posterior/full/updated_factor.hpp"

#include <algorithm>
#include <cmath>

#include "base/profile.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
UpdatedFactor<T>::UpdatedFactor(ConstMatrixView<T> u, double keep, Rows<T>& rows, ConstSpan<T> w,
                                UpdateWorkspace<T>& workspace)
    : u_(u), keep_(std::sqrt(keep)), rows_(rows), w_(w), workspace_(workspace) {
  const Index n = rows_.count();
  workspace.root_weights.reserve(n);
  std::ranges::transform(w_, workspace.root_weights.data(), [](T value) { return std::sqrt(value); });
  root_w_ = workspace.root_weights.first(n);
}

template <class T>
ProjectionSize UpdatedFactor<T>::size(Index dimension, Index rank, const RowsCost& cost) {
  const double u_flops = 2 * static_cast<double>(dimension) * static_cast<double>(rank);
  return {dimension, rank + cost.count, rank, cost.gram_flops, cost.product_flops + u_flops};
}

template <class T>
void UpdatedFactor<T>::reserve(const ProjectionSize& size, Index rank, const RowsCost& rows,
                               const ProjectionOptions& options, UpdateWorkspace<T>& workspace) {
  const Index n = rows.count, columns = basis_columns(size, options);
  workspace.root_weights.reserve(n);
  switch (choose_method(size, options)) {
    case EigenMethod::gram:
      reserve_gram(size.rows, rank, n, workspace);
      reserve_combine(size.rows, rank, n, std::min(size.rank, size.cols), workspace);
      break;
    case EigenMethod::outer:
      break;
    default:
      reserve_project(size.rows, rank, columns, workspace);
      reserve_combine(size.rows, rank, n, columns, workspace);
  }
}

template <class T>
RowsUse UpdatedFactor<T>::use_of_rows(const ProjectionSize& size, const ProjectionOptions& options) {
  switch (choose_method(size, options)) {
    case EigenMethod::gram:
      return {true, std::min(size.rank, size.cols), 0};
    case EigenMethod::outer:
      return {false, 0, size.rows};
    default:
      return {false, basis_columns(size, options), 0};
  }
}

template <class T>
void UpdatedFactor<T>::reserve_gram(Index dimension, Index rank, Index n, UpdateWorkspace<T>& workspace) {
  workspace.scratch.tall.reserve(dimension, rank, 0);
  workspace.projected.reserve(rank * n);
}

template <class T>
void UpdatedFactor<T>::reserve_project(Index dimension, Index rank, Index columns,
                                       UpdateWorkspace<T>& workspace) {
  workspace.scratch.small.reserve(rank * columns);
  workspace.scratch.tall.reserve(dimension, columns, rank);
}

/// Not less for fewer columns than U has, when the numerical rank is smaller.
template <class T>
void UpdatedFactor<T>::reserve_combine(Index dimension, Index rank, Index n, Index columns,
                                       UpdateWorkspace<T>& workspace) {
  workspace.mixing.reserve((rank + n) * std::max(columns, rank));
  workspace.scratch.tall.reserve(dimension, rank, columns);
}

template <class T>
void UpdatedFactor<T>::gram(MatrixView<double> out) {
  const StageTimer timer(Stage::gram);
  const Index rank = u_.cols, n = rows_.count();
  reserve_gram(u_.rows, rank, n, workspace_);
  tall_gram<T>(u_, {}, out.block(0, 0, rank, rank), workspace_.scratch.tall);
  const auto projected = workspace_.projected.matrix(rank, n);
  rows_.project(u_, projected);
  rows_.gram(out.block(rank, rank, n, n));
  for (Index j = 0; j < rank; ++j) {
    for (Index i = j; i < rank; ++i) out(i, j) *= keep_ * keep_;
    for (Index r = 0; r < n; ++r)
      out(rank + r, j) = keep_ * static_cast<double>(root_w_[static_cast<std::size_t>(r)]) *
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
      out(i, j) = keep_ * keep_ * sum;
    }
  rows_.add_outer(w_, out);
}

template <class T>
void UpdatedFactor<T>::project(ConstMatrixView<T> q, MatrixView<T> out) {
  const StageTimer timer(Stage::project);
  const Index rank = u_.cols;
  reserve_project(u_.rows, rank, q.cols, workspace_);
  const auto product = workspace_.scratch.small.matrix(q.cols, rank);
  tall_project<T>(q, u_, {}, Divide::by_d, product, workspace_.scratch.tall);
  for (Index j = 0; j < rank; ++j)
    for (Index i = 0; i < q.cols; ++i) out(i, j) = static_cast<T>(keep_ * product(i, j));
  const auto rest = out.columns(rank, rows_.count());
  rows_.project(q, rest);
  for (Index r = 0; r < rest.cols; ++r)
    for (T& value : rest.column(r)) value *= root_w_[static_cast<std::size_t>(r)];
}

template <class T>
void UpdatedFactor<T>::combine(ConstMatrixView<T> w, MatrixView<T> out) {
  const StageTimer timer(Stage::combine);
  const Index rank = u_.cols, n = rows_.count();
  reserve_combine(u_.rows, rank, n, w.cols, workspace_);
  const auto top = workspace_.mixing.matrix(rank, w.cols);
  const MatrixView<T> scaled(workspace_.mixing.data() + top.size(), n, w.cols);
  const T keep = static_cast<T>(keep_);
  for (Index j = 0; j < w.cols; ++j) {
    for (Index i = 0; i < rank; ++i) top(i, j) = keep * w(i, j);
    for (Index r = 0; r < n; ++r) scaled(r, j) = root_w_[static_cast<std::size_t>(r)] * w(rank + r, j);
  }
  rows_.combine_then(scaled, out, [&](Index first, Index count) {
    tall_combine<T>(u_.block(first, 0, count, rank), top, true, out.block(first, 0, count, out.cols),
                    workspace_.scratch.tall);
  });
}

template class UpdatedFactor<float>;
template class UpdatedFactor<double>;

}  // namespace bdl
