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
Index UpdatedFactor<T>::bytes(const ProjectionSize& size, const ProjectionOptions& options) {
  const Index n = size.cols - size.rank, t = sizeof(T);
  const EigenMethod method = choose_method(size, options);
  if (method == EigenMethod::outer) return t * n + TallScratch::bytes(size.rows, size.rank, 0);
  const Index columns = method == EigenMethod::randomized ? size.rank + options.oversampling : size.rank;
  const Index small =
      method == EigenMethod::gram ? 0 : static_cast<Index>(sizeof(double)) * size.rank * columns;
  return t * n * (1 + columns + (method == EigenMethod::gram ? size.rank : 0)) + t * size.rank * columns +
         small + TallScratch::bytes(size.rows, size.rank, columns);
}

template <class T>
void UpdatedFactor<T>::gram(MatrixView<double> out) {
  const StageTimer timer(Stage::gram);
  const Index rank = u_.cols, n = rows_.count();
  tall_gram<T>(u_, {}, out.block(0, 0, rank, rank), workspace_.scratch.tall);
  workspace_.projected.reserve(rank * n);
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
  workspace_.scratch.small.reserve(rank * q.cols);
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
  const Index columns = std::max(w.cols, rank);  // not less when the numerical rank is
  workspace_.mixing.reserve((rank + n) * columns);
  const auto top = workspace_.mixing.matrix(rank, w.cols);
  const MatrixView<T> scaled(workspace_.mixing.data() + rank * columns, n, w.cols);
  const T keep = static_cast<T>(keep_);
  for (Index j = 0; j < w.cols; ++j) {
    for (Index i = 0; i < rank; ++i) top(i, j) = keep * w(i, j);
    for (Index r = 0; r < n; ++r) scaled(r, j) = root_w_[static_cast<std::size_t>(r)] * w(rank + r, j);
  }
  rows_.combine(scaled, out);
  tall_combine<T>(u_, top, true, out, workspace_.scratch.tall);
}

template class UpdatedFactor<float>;
template class UpdatedFactor<double>;

}  // namespace bdl
