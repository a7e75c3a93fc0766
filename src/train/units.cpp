// Units learned from the targets before a step: initial noise, the scale of a target that was constant when
// the model was standardised, and limits of rates and of input-dependent noise
// (docs/theory/likelihoods.md, "Limits").
#include "train/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/interrupt.hpp"
#include "data/moments.hpp"
#include "data/robust.hpp"
#include "data/row_blocks.hpp"
#include "likelihood/shape.hpp"
#include "model/noise_units.hpp"
#include "ranks/shard_sums.hpp"
#include "train/stream/scale_learning.hpp"

namespace bdl {
namespace {

constexpr double most_counts = 10;           // largest rate, in units of 1 + the largest count
constexpr double most_noise_variance = 100;  // largest noise variance, in units of the targets' variance
constexpr double most_scales = 3;            // largest root mean square of a target that stays constant
constexpr Index block_rows = 256;            // number of rows that are read at a time

/// Adds an example to `out`: largest counts or sums of squares of each target, then numbers of values.
template <class T>
void add_example(const Likelihood& likelihood, ConstSpan<T> y, std::span<double> out) {
  const auto targets = at(likelihood.targets());
  const double weight = likelihood.weight(y.data());
  for (std::size_t c = 0; c < targets && weight > 0; ++c) {
    const auto value = static_cast<double>(y[c]);
    if (std::isnan(value)) continue;
    out[c] = likelihood.kind() == BDL_POISSON ? std::max(out[c], value) : out[c] + weight * value * value;
    out[targets + c] += weight;
  }
}

template <class T>
void add_examples(const Likelihood& likelihood, ConstMatrixView<T> y, const ShardRange& columns,
                  std::span<double> out) {
  for (Index i = columns.first; i < columns.end; ++i) add_example<T>(likelihood, y.column(i), out);
}

/// Adds rows of a data set.
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
    const double count = sums[targets.scale.size() + c], square = count > 0 ? sums[c] / count : 0;
    if (!model.standardization.is_constant(static_cast<Index>(c)) || !(square > most_scales * most_scales))
      continue;
    targets.scale[c] = std::clamp(targets.scale[c] * std::sqrt(square), smallest_scale, largest_scale);
    settles = true;
  }
  if (!settles) return false;
  Standardization settled(model.standardization.input_moments(), std::move(targets));
  if (model.likelihood.noise_origin() == NoiseOrigin::caller)
    set_standardization(model, std::move(settled));
  else {
    settled.set_offsets(model.features(), model.offsets());
    model.standardization = std::move(settled);
  }
  return true;
}

/// Limits the noise variance of heteroscedastic models with standardised targets.
template <class T>
void limit_noise(Model<T>& model) {
  if (model.likelihood.kind() == BDL_HETEROSCEDASTIC && model.standardization.has_targets())
    model.likelihood.set_limit(std::log(most_noise_variance));
}
// Initial noise precision times Var(y). A network fits before its noise is learned if it starts optimistic;
// without hidden units the empirical Fisher of such a start would hold the mean back
// (docs/theory/training.md).
constexpr double optimistic = 100, neutral = 1;

double noise_precision(double factor, double variance) {
  return std::clamp(factor / variance, 1e-30, 1e30);
}

double variance_of(double variance, double square) {
  return variance > 0 ? variance : square > 0 ? square : 1;
}

std::vector<RunningMoments> target_moments(DataSet& data, const Standardization& units,
                                           const RowExtras& extras) {
  return moments_of(data, units, {false, true, 1, extras}).targets;
}

/// Calls visit(targets, weight) for rows first .. end - 1.
template <class Visit>
void for_targets_of(RowBlockReader& reader, const ShardRange& rows, Visit visit) {
  for (Index first = rows.first; first < rows.end; first += reader.most()) {
    if (first > rows.first) check_interrupt();
    const RowBlock block = reader.read(first, std::min(reader.most(), rows.end - first));
    for (Index i = 0; i < block.y.cols; ++i)
      visit(ConstSpan<double>(block.y.column(i)), block.weights[at(i)]);
  }
}

/// True if rates are limited. Linear models have no limit: their log rate is linear in x by definition.
template <class T>
bool limits_rates(const Optimizer<T>& optimizer) {
  return optimizer.model() && optimizer.model()->likelihood.kind() == BDL_POISSON &&
         optimizer.context().has_hidden;
}

/// True if start_units() has to read the targets. With offsets, targets say nothing of what is constant.
template <class T>
bool asks_targets(const Optimizer<T>& optimizer) {
  return limits_rates(optimizer) || (optimizer.model() && optimizer.model()->offsets() == 0 &&
                                     optimizer.model()->standardization.has_constant());
}

/// Sets limits or scales from sums over all examples. Returns true if scales changed.
template <class T>
bool use_sums(Optimizer<T>& optimizer, ConstSpan<double> sums) {
  Likelihood& likelihood = optimizer.model()->likelihood;
  if (!limits_rates(optimizer)) {
    const bool settles = settle_scales(*optimizer.model(), sums);
    if (settles) optimizer.settle_prior();
    if (settles) optimizer.watch.forget();  // the last good state has noise in units of the old scales
    return settles;
  }
  double largest = 0;
  for (const double count : sums.first(at(likelihood.targets()))) largest = std::max(largest, count);
  const double limit = std::log(most_counts * (1 + largest));
  if (!std::isfinite(likelihood.limit()) || limit > likelihood.limit()) likelihood.set_limit(limit);
  return false;
}

/// Calls add(shard, numbers) for each shard of this rank, and sets limits or scales from the sums over all
/// shards. Returns true if scales changed.
template <class T, class Add>
bool learn_units(Optimizer<T>& optimizer, Add add) {
  limit_noise(*optimizer.model());
  optimizer.settle_prior();
  if (!asks_targets(optimizer)) return false;
  const ConstSpan<double> sums = sum_over_shards(optimizer.team, optimizer.memory.shard_numbers,
                                                 std::max<Index>(1, optimizer.state.shards),
                                                 2 * optimizer.model()->likelihood.targets(), add);
  bool settles = false;
  optimizer.team.attempt([&] { settles = use_sums(optimizer, sums); });
  return settles;
}

/// Returns the noise precision from which learning starts, or which stays if noise is not learned, in units
/// of 1 / Var(y); 0 if the model's is kept.
template <class T>
double first_noise_factor(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  if (options.initial_noise_precision > 0) return options.initial_noise_precision;
  if (!options.learn_noise) return optimizer.method().kind == MethodKind::stream ? neutral : 0;
  return optimizer.context().has_hidden && optimizer.method().kind != MethodKind::stream ? optimistic
                                                                                         : neutral;
}

template <class T>
bool may_start_noise(const Optimizer<T>& optimizer) {
  const Likelihood& likelihood = optimizer.model()->likelihood;
  return likelihood.has_noise_precision() && !likelihood.noise_is_set() && first_noise_factor(optimizer) != 0;
}

/// Returns the variance of the targets over all shards, by two passes, the first of them for the means.
template <class T>
double variance_over_shards(Optimizer<T>& optimizer, DataSet& data) {
  const Standardization& units = optimizer.model()->standardization;
  const Index targets = optimizer.model()->likelihood.targets(), shards = optimizer.state.shards;
  RowBlockReader reader(data, units, optimizer.model()->extras(), false, true);
  const auto sum = [&](Index numbers, auto&& add) {
    return sum_over_shards(optimizer.team, optimizer.memory.shard_numbers, shards, numbers,
                           [&](Index shard, std::span<double> out) {
                             for_targets_of(reader, part_of(shard, shards, data.rows()),
                                            [&](ConstSpan<double> y, double weight) { add(y, weight, out); });
                           });
  };
  std::vector<double> means(at(targets));
  const auto add_values = [&](ConstSpan<double> y, double weight, std::span<double> out) {
    for (std::size_t c = 0; c < y.size(); ++c) out[c] += weight * y[c];
    out[y.size()] += weight;
  };
  const auto add_squares = [&](ConstSpan<double> y, double weight, std::span<double> out) {
    for (std::size_t c = 0; c < y.size(); ++c) {
      if (units.is_constant(static_cast<Index>(c))) continue;  // it varies only by rounding
      out[c] += weight * std::pow(y[c] - means[c], 2);
      out[means.size() + c] += weight * std::pow(y[c], 2);
    }
  };
  const ConstSpan<double> totals = sum(2 * targets, add_values);
  const double rows = totals[at(targets)];
  std::ranges::transform(totals.first(at(targets)), means.begin(),
                         [&](double total) { return total / rows; });
  const ConstSpan<double> squares = sum(2 * targets, add_squares);
  const double values = rows * static_cast<double>(targets);
  const auto half = squares.begin() + targets;
  return variance_of(std::accumulate(squares.begin(), half, 0.0) / values,
                     std::accumulate(half, squares.end(), 0.0) / values);
}

/// Returns the sum of the rows' weights; their number if they have none.
double sum_of_weights(DataSet& data, const RowExtras& extras) {
  if (!extras.has_weight) return static_cast<double>(data.rows());
  const Standardization as_given;  // which the reader refers to
  RowBlockReader reader(data, as_given, extras, false, false);
  double sum = 0;
  for (Index first = 0; first < data.rows(); first += reader.most()) {
    if (first > 0) check_interrupt();
    const ConstSpan<double> weights =
        reader.read(first, std::min(reader.most(), data.rows() - first)).weights;
    sum = std::accumulate(weights.begin(), weights.end(), sum);
  }
  return sum;
}

/// True if the likelihood is for targets with outliers.
template <class T>
bool has_outliers(const Optimizer<T>& optimizer) {
  return optimizer.model()->likelihood.kind() == BDL_STUDENT_T;
}

/// Returns the mean over the shards of the robust variances of their targets.
template <class T>
double robust_variance(Optimizer<T>& optimizer, DataSet& data) {
  const Index shards = std::max<Index>(1, optimizer.state.shards);
  const auto add = [&](Index shard, std::span<double> out) {
    const ShardRange part = part_of(shard, shards, data.rows());
    RowRange rows(data, part.first, part.count());
    const Model<T>& model = *optimizer.model();
    const double weight = sum_of_weights(rows, model.extras());
    if (weight == 0) return;
    const auto variances = robust_variances(rows, model.standardization, model.extras());
    out[0] += weight * std::accumulate(variances.begin(), variances.end(), 0.0);
    out[1] += weight;
  };
  const ConstSpan<double> sums =
      sum_over_shards(optimizer.team, optimizer.memory.shard_numbers, shards, 2, add);
  return sums[0] / (sums[1] * static_cast<double>(optimizer.model()->likelihood.targets()));
}

}  // namespace

double target_variance(DataSet& data, const Standardization& units, const RowExtras& extras) {
  double variance = 0, square = 0;
  const std::vector<RunningMoments> moments = target_moments(data, units, extras);
  Index c = 0;
  for (const RunningMoments& of : moments) {
    if (units.is_constant(c++)) continue;  // it varies only by rounding
    const double rows = extras.has_weight ? of.count : static_cast<double>(data.rows()),
                 values = rows * static_cast<double>(moments.size());
    variance += of.square / values;
    square += of.square_about_zero() / values;
  }
  return variance_of(variance, square);
}

std::vector<double> target_variances(DataSet& data, const Standardization& units, const RowExtras& extras) {
  std::vector<double> variances;
  for (const RunningMoments& of : target_moments(data, units, extras)) {
    const double count = of.count > 0 ? of.count : 1;
    if (units.is_constant(static_cast<Index>(variances.size())))
      variances.push_back(1);
    else
      variances.push_back(variance_of(of.square / count, of.square_about_zero() / count));
  }
  return variances;
}

std::vector<double> robust_variances(DataSet& data, const Standardization& units, const RowExtras& extras) {
  const ColumnMoments robust = robust_moments_of_targets(data, units, extras);
  std::vector<double> variances;
  for (const double scale : robust.scale) variances.push_back(scale * scale);
  if (std::ranges::find(variances, 0.0) == variances.end() && !units.has_constant()) return variances;
  const std::vector<double> usual = target_variances(data, units, extras);
  for (std::size_t c = 0; c < variances.size(); ++c)
    if (variances[c] == 0 || units.is_constant(static_cast<Index>(c))) variances[c] = usual[c];
  return variances;
}

template <class T>
double variance_of_targets(Optimizer<T>& optimizer, DataSet& data) {
  if (has_outliers(optimizer)) return robust_variance(optimizer, data);
  return optimizer.state.shards > 1
             ? variance_over_shards(optimizer, data)
             : target_variance(data, optimizer.model()->standardization, optimizer.model()->extras());
}

template <class T>
void start_weights(Optimizer<T>& optimizer, DataSet& data, Index shards) {
  if (!optimizer.model()->likelihood.is_weighted()) return;
  const ConstSpan<double> sums = sum_over_shards(
      optimizer.team, optimizer.memory.shard_numbers, shards, 1, [&](Index shard, std::span<double> out) {
        const ShardRange part = part_of(shard, shards, data.rows());
        RowRange rows(data, part.first, part.count());
        out[0] += sum_of_weights(rows, optimizer.model()->extras());
      });
  optimizer.team.attempt([&] {
    if (!(sums[0] > 0))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the weights of all rows, in the last column of y, are 0: expected a positive weight");
    optimizer.state.row_weight = sums[0] / static_cast<double>(data.rows());
  });
}

template <class T>
void start_noise(Optimizer<T>& optimizer, DataSet& data) {
  if (!may_start_noise(optimizer)) return;
  const double variance = optimizer.team.telling([&] { return variance_of_targets(optimizer, data); });
  const double precision = noise_precision(first_noise_factor(optimizer), variance);
  optimizer.model()->likelihood.learn_noise_precision({&precision, 1});
}

namespace {

/// Sets the biases of the last layer, where a fresh network for log means has one for each output.
template <class T>
void start_intercepts(Optimizer<T>& optimizer, double mean) {
  const TargetKind targets = optimizer.model()->likelihood.target_kind();
  if (targets == TargetKind::level || !optimizer.context().has_hidden || !optimizer.state.is_fresh ||
      !(mean > 0) || (optimizer.prior().posterior() && !optimizer.prior().has_normals()) ||
      optimizer.model()->offsets() > 0)
    return;
  const ParameterBlock& last = optimizer.blocks().back();
  if (!last.is_bias || last.is_point || last.size() != optimizer.model()->outputs()) return;
  const std::span<T> parameters = optimizer.posterior()->mean();
  std::fill_n(parameters.begin() + last.offset, last.size(), static_cast<T>(std::log(mean)));
}

}  // namespace

template <class T>
void start_shape(Optimizer<T>& optimizer, DataSet& data) {
  Likelihood& likelihood = optimizer.model()->likelihood;
  if (!has_shape(likelihood.kind()) || likelihood.shape_origin() != NoiseOrigin::none) return;
  const Index shards = std::max<Index>(1, optimizer.state.shards);
  // Offsets are those of a log mean or of a latent variable, so targets are taken as they are.
  RowBlockReader reader(data, optimizer.model()->standardization, {0, likelihood.is_weighted()}, false, true);
  const auto add = [&](Index shard, std::span<double> out) {
    for_targets_of(reader, part_of(shard, shards, data.rows()), [&](ConstSpan<double> y, double weight) {
      add_target<double>(likelihood, y, weight, out);
    });
  };
  const ConstSpan<double> sums = sum_over_shards(optimizer.team, optimizer.memory.shard_numbers, shards,
                                                 target_sum_count(likelihood), add);
  likelihood.learn_shape(first_shape(likelihood, sums));
  if (likelihood.target_kind() != TargetKind::level) start_intercepts(optimizer, sums[1] / sums[0]);
}

template <class T>
void start_noises(Optimizer<T>& optimizer, DataSet& data) {
  if (!may_start_noise(optimizer) || learns_scales(optimizer)) return;
  const Standardization& units = optimizer.model()->standardization;
  const RowExtras extras = optimizer.model()->extras();
  std::vector<double> precision;
  for (const double variance : has_outliers(optimizer) ? robust_variances(data, units, extras)
                                                       : target_variances(data, units, extras))
    precision.push_back(noise_precision(first_noise_factor(optimizer), variance));
  const bool is_provisional = units.has_constant();  // the noise changes once that target has a scale
  optimizer.model()->likelihood.set_noise_precision(
      precision, is_provisional ? NoiseOrigin::training : NoiseOrigin::targets);
}

template <class T>
bool start_units(Optimizer<T>& optimizer, DataSet& data) {
  const Index shards = std::max<Index>(1, optimizer.state.shards);
  return learn_units(optimizer, [&](Index shard, std::span<double> out) {
    const Model<T>& model = *optimizer.model();
    add_rows(model.likelihood, data, model.standardization, part_of(shard, shards, data.rows()), out);
  });
}

template <class T>
bool start_units(Optimizer<T>& optimizer, const StepExamples& examples) {
  const Index first =
      shards_of(optimizer.team.rank(), optimizer.team.size(), std::max<Index>(1, optimizer.state.shards))
          .first;
  return learn_units(optimizer, [&](Index shard, std::span<double> out) {
    add_examples<T>(optimizer.model()->likelihood, optimizer.batch_y(examples.here()),
                    examples.shards[at(shard - first)], out);
  });
}

template <class T>
bool start_units(Optimizer<T>& optimizer, ConstMatrixView<T> y) {
  limit_noise(*optimizer.model());
  if (!asks_targets(optimizer)) return false;
  const Scratch::Frame frame(optimizer.memory.scratch);
  const auto sums = optimizer.memory.scratch.template take<double>(2 * y.rows);
  std::ranges::fill(sums, 0.0);
  add_examples<T>(optimizer.model()->likelihood, y, {0, y.cols}, sums);
  return use_sums(optimizer, sums);
}

#define BDL_INSTANTIATE(T)                                       \
  template double variance_of_targets(Optimizer<T>&, DataSet&);  \
  template void start_weights(Optimizer<T>&, DataSet&, Index);   \
  template void start_noise(Optimizer<T>&, DataSet&);            \
  template void start_shape(Optimizer<T>&, DataSet&);            \
  template void start_noises(Optimizer<T>&, DataSet&);           \
  template bool start_units(Optimizer<T>&, DataSet&);            \
  template bool start_units(Optimizer<T>&, const StepExamples&); \
  template bool start_units(Optimizer<T>&, ConstMatrixView<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
