// What the targets say about units before a step: the scale of a target that was constant when the model was
// standardised, and how large rates, or noise that depends on x, can be (docs/mathematics/likelihoods.md,
// "Limits").
#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "inference/optimizer.hpp"
#include "model/noise_units.hpp"

namespace bdl {
namespace {

constexpr double most_counts = 10;           // largest rate, times 1 + the largest count
constexpr double most_noise_variance = 100;  // in units of the targets'
constexpr double most_scales = 3;            // largest root mean square of a constant
constexpr Index block_rows = 256;            // read at a time

/// Adds an example: the largest count, or the sum of squares, of each target; then the number of values.
template <class T>
void add_example(const Likelihood& likelihood, ConstSpan<T> y, std::span<double> out) {
  for (std::size_t c = 0; c < y.size(); ++c) {
    const auto value = static_cast<double>(y[c]);
    if (std::isnan(value)) continue;
    out[c] = likelihood.kind() == BDL_POISSON ? std::max(out[c], value) : out[c] + value * value;
    ++out[y.size() + c];
  }
}

template <class T>
void add_examples(const Likelihood& likelihood, ConstMatrixView<T> y, const ShardRange& columns,
                  std::span<double> out) {
  for (Index i = columns.first; i < columns.end; ++i) add_example<T>(likelihood, y.column(i), out);
}

/// add_examples() for rows of a data set.
void add_rows(const Likelihood& likelihood, DataSet& data, const Standardization& units,
              const ShardRange& rows, std::span<double> out) {
  Buffer<double> block(data.targets() * std::min(block_rows, rows.count()));
  for (Index first = rows.first; first < rows.end; first += block_rows) {
    if (first > rows.first) check_interrupt();
    const Index count = std::min(block_rows, rows.end - first);
    const auto y = block.matrix(data.targets(), count);
    data.fetch({first, count}, units, MatrixView<double>(), y);
    add_examples<double>(likelihood, y, {0, count}, out);
  }
}

/// Gives targets that turned out not to be constant their root mean square deviation as scale. Noise set by
/// the caller keeps its value in the caller's units.
template <class T>
bool settle_scales(Model<T>& model, ConstSpan<double> sums) {
  ColumnMoments targets = model.standardization.target_moments();
  bool settles = false;
  for (std::size_t c = 0; c < targets.scale.size(); ++c) {
    const double square = sums[c] / std::max(1.0, sums[targets.scale.size() + c]);
    if (!model.standardization.is_constant(static_cast<Index>(c)) || !(square > most_scales * most_scales))
      continue;
    targets.scale[c] = std::clamp(targets.scale[c] * std::sqrt(square), smallest_scale, largest_scale);
    settles = true;
  }
  if (!settles) return false;
  Standardization settled(model.standardization.input_moments(), std::move(targets));
  if (model.likelihood.noise_origin() == NoiseOrigin::caller)
    set_standardization(model, std::move(settled));
  else
    model.standardization = std::move(settled);
  return true;
}

/// Limits the noise variance of heteroscedastic models with standardised targets.
template <class T>
void limit_noise(Model<T>& model) {
  if (model.likelihood.kind() == BDL_HETEROSCEDASTIC && model.standardization.has_targets())
    model.likelihood.set_limit(std::log(most_noise_variance));
}

}  // namespace

/// Rates of a linear model are what they are: its log rate is linear in x by definition.
template <class T>
bool Optimizer<T>::limits_rates() const {
  return model_ && model_->likelihood.kind() == BDL_POISSON && context_.has_hidden;
}

template <class T>
bool Optimizer<T>::asks_targets() const {
  return limits_rates() || (model_ && model_->standardization.has_constant());
}

template <class T>
bool Optimizer<T>::take_units(ConstSpan<double> sums) {
  Likelihood& likelihood = model_->likelihood;
  if (!limits_rates()) {
    const bool settles = settle_scales(*model_, sums);
    if (settles) forget_good_state();  // its noise is in units of the scales before
    return settles;
  }
  double largest = 0;
  for (const double count : sums.first(static_cast<std::size_t>(likelihood.targets())))
    largest = std::max(largest, count);
  const double limit = std::log(most_counts * (1 + largest));
  if (!std::isfinite(likelihood.limit()) || limit > likelihood.limit()) likelihood.set_limit(limit);
  return false;
}

/// add(shard, numbers) for each shard of this rank, or for the only one.
template <class T>
template <class Add>
bool Optimizer<T>::learn_units(Add add) {
  limit_noise(*model_);
  if (!asks_targets()) return false;
  const auto add_all = [&](Index shard, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    add(shard, out);
  };
  if (is_sharded()) {
    team_.attempt(
        [&] { work_.noise_sums.add_own([&](Index v, const auto& out) { add_all(v, out.numbers); }); });
    work_.noise_sums.finish(team_);
    bool settles = false;
    team_.attempt([&] { settles = take_units(work_.noise_sums.numbers()); });
    return settles;
  }
  add_all(0, unit_sums_);
  return take_units(unit_sums_);
}

template <class T>
bool Optimizer<T>::start_units(DataSet& data) {
  return learn_units([&](Index shard, std::span<double> out) {
    add_rows(model_->likelihood, data, model_->standardization,
             part_of(shard, std::max<Index>(1, state.shards), data.rows()), out);
  });
}

template <class T>
bool Optimizer<T>::start_units(const StepExamples& examples) {
  return learn_units([&](Index shard, std::span<double> out) {
    const Index first = is_sharded() ? own_shards().first : shard;
    add_examples<T>(model_->likelihood, y_to_fill(examples.here()),
                    examples.shards[static_cast<std::size_t>(shard - first)], out);
  });
}

/// Streams have no shards.
template <class T>
bool Optimizer<T>::start_units(ConstMatrixView<T> y) {
  limit_noise(*model_);
  if (!asks_targets()) return false;
  std::ranges::fill(unit_sums_, 0.0);
  add_examples<T>(model_->likelihood, y, {0, y.cols}, unit_sums_);
  return take_units(unit_sums_);
}

#define BDL_INSTANTIATE(T)                                      \
  template bool Optimizer<T>::limits_rates() const;             \
  template bool Optimizer<T>::asks_targets() const;             \
  template bool Optimizer<T>::take_units(ConstSpan<double>);    \
  template bool Optimizer<T>::start_units(DataSet&);            \
  template bool Optimizer<T>::start_units(const StepExamples&); \
  template bool Optimizer<T>::start_units(ConstMatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
