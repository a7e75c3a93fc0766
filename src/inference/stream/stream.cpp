#include "inference/stream/stream.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "inference/undo.hpp"

namespace bdl {
namespace {

/// Rows first, first + 1, ... of a block that have a target (all of them, where outputs are observed
/// together).
void find_observed(const Array& y, bool together, Index first, Index count, std::vector<Index>& rows) {
  rows.clear();
  for (Index i = first; i < first + count; ++i) {
    Index observed = 0;
    for (Index j = 0; j < y.cols; ++j) observed += std::isnan(element(y, i, j)) ? 0 : 1;
    if (observed == y.cols || (observed > 0 && !together)) rows.push_back(i);
  }
}

/// What is finite in double may be infinity in T.
template <class T>
void check_finite_or_missing(const Array& y, const ColumnScales& scales) {
  for (Index i = 0; i < y.rows; ++i)
    for (Index j = 0; j < y.cols; ++j)
      if (std::isinf(static_cast<T>(scales.apply(j, element(y, i, j)))))
        fail(Status::ERROR_NOT_FINITE,
             "y is %g at row %lld, column %lld (counting from 0): not finite in this precision",
             element(y, i, j), static_cast<long long>(i), static_cast<long long>(j));
}

}  // namespace

template <class T>
void observe(Optimizer<T>& optimizer, const Array& x, const Array& y, const OutArray& log_density) {
  optimizer.check_use(Use::stream);
  const Model<T>& model = *optimizer.model();
  check_shape(x, -1, model.inputs(), "x");
  model.likelihood.check_targets(y, x.rows, "y", true);
  check_finite<T>(x, "x", model.standardization.inputs());
  check_finite_or_missing<T>(y, model.standardization.targets());
  if (given(log_density)) check_output(log_density, x.rows, 1, "log_density");
  const Index block = optimizer.options().block > 0 ? std::min(optimizer.options().block, x.rows) : x.rows;
  Buffer<double> all(x.rows), scores(block);
  std::fill_n(all.data(), x.rows, std::numeric_limits<double>::quiet_NaN());
  std::vector<Index> rows;
  rows.reserve(static_cast<std::size_t>(block));
  // Exact Hessians and correlated noise see the outputs of a row together.
  const bool together =
      model.likelihood.noise_covariance().given() || optimizer.options().curvature == EstimateKind::mc_hess;
  Undo undo(optimizer);
  for (Index first = 0; first < x.rows; first += block) {
    find_observed(y, together, first, std::min(block, x.rows - first), rows);
    const auto count = static_cast<Index>(rows.size());
    if (count == 0) {
      optimizer.skip();
    } else {
      gather_inputs(model, x, rows, optimizer.x_to_fill(count));
      gather_targets(model, y, rows, optimizer.y_to_fill(count));
      optimizer.observe(count, scores.first(count));
    }
    undo.keep();
    for (std::size_t k = 0; k < rows.size(); ++k) all.data()[rows[k]] = scores.data()[k];
    if (first + block < x.rows) check_interrupt();
  }
  if (given(log_density)) scatter<double>({all.data(), 1, x.rows}, log_density);
}

template <class T>
void forecast(Optimizer<T>& optimizer, Index steps) {
  optimizer.check_use(Use::stream);
  Undo undo(optimizer);
  optimizer.forecast(steps);
  undo.keep();
}

#define BDL_INSTANTIATE(T)                                                           \
  template void observe(Optimizer<T>&, const Array&, const Array&, const OutArray&); \
  template void forecast(Optimizer<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
