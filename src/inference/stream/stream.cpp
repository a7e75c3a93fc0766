#include "inference/stream/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "inference/undo.hpp"
#include "model/checked_data.hpp"

namespace bdl {
namespace {

/// Those of `count` rows from `first` on that have a target (all of them, where outputs are observed
/// together).
template <class T>
void find_observed(DataSet& data, const Standardization& units, bool together, Index first, MatrixView<T> y,
                   std::vector<Index>& rows) {
  data.fetch({first, y.cols}, units, MatrixView<T>(), y);
  rows.clear();
  for (Index i = 0; i < y.cols; ++i) {
    const Index observed = std::ranges::count_if(y.column(i), [](T value) { return !std::isnan(value); });
    if (observed == y.rows || (observed > 0 && !together)) rows.push_back(first + i);
  }
}

}  // namespace

template <class T>
void observe(Optimizer<T>& optimizer, const Array& x, const Array& y, const OutArray& log_density) {
  optimizer.check_use(Use::stream);
  const Model<T>& model = *optimizer.model();
  ArrayData data = checked_data(model, x, y, Missing::allowed);
  if (given(log_density)) check_output(log_density, x.rows, 1, "log_density");
  const Index block = optimizer.options().block > 0 ? std::min(optimizer.options().block, x.rows) : x.rows;
  Buffer<double> all(x.rows), scores(block);
  std::fill_n(all.data(), x.rows, std::numeric_limits<double>::quiet_NaN());
  std::vector<Index> rows;
  rows.reserve(static_cast<std::size_t>(block));
  // Exact Hessians and correlated noise see the outputs of a row together.
  const bool together =
      model.likelihood.noise_covariance().given() || optimizer.options().curvature == EstimateKind::mc_hess;
  const double largest = given(log_density) && log_density.dtype == BDL_F32
                             ? double{std::numeric_limits<float>::max()}
                             : std::numeric_limits<double>::max();
  Undo undo(optimizer);
  if (optimizer.posterior()->is_blank()) optimizer.initialize();
  for (Index first = 0; first < x.rows; first += block) {
    UndoUnits units(*optimizer.model());
    const auto find = [&] {
      find_observed(data, model.standardization, together, first,
                    optimizer.y_to_fill(std::min(block, x.rows - first)), rows);
    };
    find();
    if (model.standardization.has_constant() &&
        optimizer.start_units(optimizer.y_to_fill(std::min(block, x.rows - first))))
      find();
    const auto count = static_cast<Index>(rows.size());
    if (count == 0) {
      optimizer.skip();
    } else {
      optimizer.fill(data, ConstSpan<Index>(rows));
      optimizer.observe(count, scores.first(count), largest);
    }
    undo.keep();
    units.keep();
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
