#include "curvature/jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void JacobianRows<T>::reserve(Index examples) {
  if (!model_.graph()) seeds_.reserve(model_.outputs() * model_.outputs() * examples);
}

/// Fills columns c M .. c M + M - 1 with the unit vector e_c.
template <class T>
void JacobianRows<T>::fill_seeds(MatrixView<T> seeds) const {
  const Index examples = seeds.cols / seeds.rows;
  std::fill_n(seeds.data, seeds.size(), T(0));
  for (Index r = 0; r < seeds.cols; ++r) seeds(r / examples, r) = 1;
}

template <class T>
void JacobianRows<T>::network_rows(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f,
                                   MatrixView<T> rows, ConstSpan<double> statistics) {
  const Index outputs = model_.outputs();
  const Graph<T>& graph = *model_.graph();
  const ConstMatrixView<T> thetas(theta.data(), model_.parameters(), 1);
  graph.forward(thetas, x, tape_, f, nullptr, {statistics, {}});
  fill_seeds(graph.seeds(tape_, outputs * x.cols));
  graph.backward(thetas, tape_, outputs);
  rows_->assign(tape_, outputs);
  parallel_blocks(rows.cols, task_grain(rows.rows), [&](Index first, Index count) noexcept {
    for (Index r = first; r < first + count; ++r) rows_->write_row(r, 0, rows.column(r));
  });
}

template <class T>
void JacobianRows<T>::compute(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, MatrixView<T> rows,
                              ConstSpan<double> statistics) {
  reserve(x.cols);
  if (model_.graph()) return network_rows(theta, x, f, rows, statistics);
  const auto seeds = seeds_.matrix(model_.outputs(), model_.outputs() * x.cols);
  model_.forward(theta, x, f, scratch_);
  fill_seeds(seeds);
  for (Index first = 0; first < rows.cols; first += x.cols)
    model_.gradient_rows(theta, x, seeds.columns(first, x.cols), rows.columns(first, x.cols));
}

template <class T>
void write_jacobian(const Model<T>& model, ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> out) {
  const Index outputs = model.outputs();
  JacobianRows<T> jacobian(model);
  Buffer<T> f(outputs * x.cols);
  for (Index i = 0; i < x.cols; ++i)
    jacobian.compute(theta, x.columns(i, 1), f.matrix(outputs, x.cols).columns(i, 1),
                     out.columns(i * outputs, outputs));
  check_outputs_finite<T>(f.matrix(outputs, x.cols));
  for (Index j = 0; j < out.cols; ++j)
    for (const T value : out.column(j))
      if (!std::isfinite(value))
        fail(Status::ERROR_DIVERGED,
             "the Jacobian of output %lld for example %lld (counting from 0) is not finite",
             static_cast<long long>(j % outputs), static_cast<long long>(j / outputs));
}

#define BDL_INSTANTIATE(T)        \
  template class JacobianRows<T>; \
  template void write_jacobian(const Model<T>&, ConstSpan<T>, ConstMatrixView<T>, MatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
