#include "train/stream/scale_learning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "likelihood/shape.hpp"
#include "model/data_units.hpp"
#include "model/noise_units.hpp"
#include "train/start.hpp"
#include "train/stream/stream.hpp"

namespace bdl {
namespace {

/// Largest share of the mean that is taken as its rounding.
constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

bool vary(const std::vector<RunningMoments>& targets) {
  return std::ranges::all_of(targets, [](const RunningMoments& of) {
    return of.count >= static_cast<double>(enough_rows) && !is_constant(of);
  });
}

/// Returns moments of targets that are not settled: of one that does not vary yet, its size is the best
/// guess.
ColumnMoments provisional(const std::vector<RunningMoments>& moments) {
  ColumnMoments targets = column_moments(moments, 1);
  for (std::size_t c = 0; c < moments.size(); ++c)
    if (is_constant(moments[c]) && targets.mean[c] != 0)
      targets.scale[c] = std::clamp(std::abs(targets.mean[c]), smallest_scale, largest_scale);
  return targets;
}

std::vector<LateColumn> constant_columns(const std::vector<RunningMoments>& inputs) {
  std::vector<LateColumn> late;
  for (std::size_t c = 0; c < inputs.size(); ++c)
    if (is_constant(inputs[c])) late.push_back({static_cast<Index>(c)});
  return late;
}

/// Sets the noise of each target to the deviation of all, or what option "initial_noise_precision" says.
template <class T>
void begin_noise(Optimizer<T>& optimizer) {
  Likelihood& likelihood = optimizer.model()->likelihood;
  if (!likelihood.has_noise_precision() || likelihood.noise_is_set()) return;
  const double option = optimizer.options().initial_noise_precision;
  const std::vector<double> precision(static_cast<std::size_t>(likelihood.targets()),
                                      option > 0 ? option : 1);
  likelihood.learn_noise_precision(precision);
}

}  // namespace

template <class T>
bool learns_scales(const Optimizer<T>& optimizer) {
  if (optimizer.stream_scales.is_open()) return true;
  const Model<T>* const model = optimizer.model().get();
  return optimizer.options().stream_scales == ScalesOfStream::learned && model && model->graph() &&
         optimizer.posterior()->is_blank() && !model->standardization.given();
}

namespace {

/// Chooses the first shape of the density by the rows kept and these.
template <class T>
void begin_shape(Optimizer<T>& optimizer, DataSet& data) {
  Likelihood& likelihood = optimizer.model()->likelihood;
  if (!has_shape(likelihood.kind()) || likelihood.shape_origin() == NoiseOrigin::caller) return;
  const StreamScales& kept = optimizer.stream_scales;
  std::vector<double> sums(at(target_sum_count(likelihood)));
  const auto add = [&](ConstMatrixView<double> y) {
    for (Index i = 0; i < y.cols; ++i) {
      const ConstSpan<double> row = y.column(i);
      add_target<double>(likelihood, row.first(at(likelihood.targets())), likelihood.weight(row.data()),
                         sums);
    }
  };
  add(kept.y(likelihood.columns()));
  Buffer<double> values(data.targets() * data.rows());
  const auto y = values.matrix(data.targets(), data.rows());
  data.fetch({0, data.rows()}, {}, MatrixView<double>(), y);
  add(y);
  likelihood.set_shape(first_shape(likelihood, sums), NoiseOrigin::targets);
}

/// Sets the scales of the rows kept and these. Returns true if they are settled.
template <class T>
bool choose_scales(Optimizer<T>& optimizer, DataSet& data) {
  Model<T>& model = *optimizer.model();
  StreamScales& kept = optimizer.stream_scales;
  const bool has_scale = model.likelihood.has_noise_precision();
  const Index together = inputs_together(model), rows = kept.rows() + data.rows();
  const MomentsSpec spec{true, has_scale, together, model.extras()};
  ArrayData former(as_array(kept.x(model.inputs())), as_array(kept.y(model.likelihood.columns())));
  const DataMoments moments = moments_of(data, {}, spec, moments_of(former, {}, spec));
  const bool is_settled =
      rows >= most_first_rows || (rows >= enough_rows && (!has_scale || vary(moments.targets)));
  ColumnMoments targets = is_settled ? moments_of_targets(moments.targets) : provisional(moments.targets);
  set_standardization(
      model, Standardization(checked_moments(column_moments(moments.inputs, together), "x"),
                             has_scale ? checked_moments(std::move(targets), "y") : ColumnMoments()));
  if (is_settled && together == 1) kept.late = constant_columns(moments.inputs);
  return is_settled;
}

/// Begins the filter anew: from the prior, it observes the rows that are kept.
template <class T>
void begin_again(Optimizer<T>& optimizer) {
  StreamScales kept = std::exchange(optimizer.stream_scales, {});
  initialize(optimizer);
  begin_noise(optimizer);
  const Index inputs = optimizer.model()->inputs(), targets = optimizer.model()->likelihood.columns();
  Index first = 0;
  for (const FirstBlock& block : kept.blocks()) {
    if (block.moved >= 0) move_time(optimizer, block.moved);
    const auto part = [&](ConstMatrixView<double> all) {
      return as_array(ConstMatrixView<double>(all.column_data(first), all.rows, block.rows));
    };
    ArrayData rows(part(kept.x(inputs)), part(kept.y(targets)));
    observe_rows(optimizer, rows);
    first += block.rows;
  }
  if (kept.moved() >= 0) move_time(optimizer, kept.moved());
  optimizer.stream_scales = std::move(kept);
}

}  // namespace

template <class T>
bool learn_scales(Optimizer<T>& optimizer, DataSet& data) {
  optimizer.stream_scales.open();
  const bool is_settled = choose_scales(optimizer, data);
  begin_shape(optimizer, data);
  begin_again(optimizer);
  if (is_settled) optimizer.stream_scales.close();
  return is_settled;
}

namespace {

/// Values of a column that differ from its mean: their number, and the root mean square of their deviations.
struct LateValues {
  Index count = 0;
  double deviation = 0;
};

LateValues late_values(Index column, const ColumnMoments& inputs, const Array& x) {
  const double mean = inputs.mean[at(column)];
  LateValues found;
  for (Index i = 0; i < x.rows; ++i) {
    const double deviation = element(x, i, column) - mean;
    if (std::abs(deviation) <= rounding * std::abs(mean)) continue;
    ++found.count;
    found.deviation = std::hypot(found.deviation, deviation);
  }
  if (found.count > 0) found.deviation /= std::sqrt(static_cast<double>(found.count));
  return found;
}

}  // namespace

template <class T>
bool has_late_values(const Optimizer<T>& optimizer, const Array& x) {
  return std::ranges::any_of(optimizer.stream_scales.late, [&](const LateColumn& of) {
    return late_values(of.column, optimizer.model()->standardization.input_moments(), x).count > 0;
  });
}

template <class T>
void scale_late_columns(Optimizer<T>& optimizer, const Array& x) {
  Standardization& units = optimizer.model()->standardization;
  ColumnMoments inputs = units.input_moments();
  std::vector<LateColumn>& late = optimizer.stream_scales.late;
  for (LateColumn& of : late) {
    const LateValues found = late_values(of.column, inputs, x);
    if (found.count == 0) continue;
    double& scale = inputs.scale[at(of.column)];
    scale = std::clamp(of.values == 0 ? found.deviation : std::max(scale, found.deviation), smallest_scale,
                       largest_scale);
    of.values += found.count;
  }
  std::erase_if(late, [](const LateColumn& of) { return of.values >= enough_rows; });
  units = Standardization(std::move(inputs), units.target_moments());
  units.set_offsets(optimizer.model()->features(), optimizer.model()->offsets());
}

template <class T>
UndoScales<T>::UndoScales(Optimizer<T>& optimizer)
    : optimizer_(&optimizer),
      was_blank_(optimizer.posterior()->is_blank()),
      posterior_(was_blank_ ? nullptr : optimizer.posterior()->clone()),
      state_(optimizer.state),
      standardization_(optimizer.model()->standardization),
      likelihood_(optimizer.model()->likelihood),
      noise_(optimizer.noise),
      scales_(optimizer.stream_scales) {}

template <class T>
UndoScales<T>::~UndoScales() {
  if (!optimizer_) return;
  if (was_blank_)
    optimizer_->forget_start();
  else
    optimizer_->posterior()->swap(*posterior_);
  optimizer_->state = state_;
  optimizer_->model()->standardization = std::move(standardization_);
  optimizer_->model()->likelihood = std::move(likelihood_);
  optimizer_->noise = std::move(noise_);
  optimizer_->stream_scales = std::move(scales_);
}

#define BDL_INSTANTIATE(T)                                          \
  template bool learns_scales(const Optimizer<T>&);                 \
  template bool learn_scales(Optimizer<T>&, DataSet&);              \
  template bool has_late_values(const Optimizer<T>&, const Array&); \
  template void scale_late_columns(Optimizer<T>&, const Array&);    \
  template class UndoScales<T>;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
