#include "train/stream/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "model/checked_data.hpp"
#include "parallel/parallel.hpp"
#include "train/start.hpp"
#include "train/step.hpp"
#include "train/stream/scale_learning.hpp"
#include "train/undo.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// A row of a larger weight is not learned from so often, but once with the rest of its weight.
constexpr int most_repeats = 1000;

/// Reads the targets of the rows from `first` on to y, and writes the numbers of those rows that count and
/// have a target, or all targets if outputs are observed together.
template <class T>
void find_observed(DataSet& data, const Model<T>& model, bool together, Index first, MatrixView<T> y,
                   std::vector<Index>& rows) {
  data.fetch({first, y.cols}, model.standardization, MatrixView<T>(), y);
  rows.clear();
  const Index targets = model.likelihood.targets();
  for (Index i = 0; i < y.cols; ++i) {
    if (model.likelihood.weight(y.column_data(i)) == 0) continue;
    const Index observed =
        std::ranges::count_if(y.column(i).first(at(targets)), [](T value) { return !std::isnan(value); });
    if (observed == targets || (observed > 0 && !together)) rows.push_back(first + i);
  }
}

}  // namespace

template <class T>
void move_time(Optimizer<T>& optimizer, Index steps) {
  optimizer.check_use(Use::stream);
  const ThreadLimit threads(optimizer.options().threads);
  Posterior<T>& q = *optimizer.posterior();
  if (q.is_blank()) initialize(optimizer);
  Posterior<T>& later = optimizer.filter.predict(q, steps, optimizer.options(), optimizer.memory.scratch);
  if (&later != &q) q.swap(later);
  optimizer.state.is_ahead = true;
}

template <class T>
void pass_time(Optimizer<T>& optimizer) {
  if (!optimizer.state.is_ahead) move_time(optimizer, 1);
  optimizer.state.is_ahead = false;
}

namespace {

/// Prepares the noise after the observation, from the residuals of its predictions, with targets less their
/// offsets.
template <class T>
void learn_noise(Optimizer<T>& optimizer, ConstMatrixView<T> y, ScoreKind predicted) {
  const Model<T>& model = *optimizer.model();
  const Likelihood& likelihood = model.likelihood;
  const ConstMatrixView<T> x = optimizer.batch_x(y.cols);
  const Prequential<T>& of = *optimizer.memory.prequential;
  optimizer.noise.begin(likelihood);
  for (Index i = 0; i < y.cols; ++i)
    for (Index c = 0; c < likelihood.targets(); ++c) {
      const double offset = model.offsets() > 0 ? static_cast<double>(x(model.features() + c, i)) : 0;
      const auto add = [&](double weight) {
        optimizer.noise.add(likelihood, optimizer.options(), c, static_cast<double>(y(c, i)) - offset,
                            of.mean(i, c) - offset, of.variance(i, c, predicted), weight);
      };
      double weight = likelihood.weight(y.column_data(i));
      for (int k = 0; k < most_repeats && weight >= 1; ++k, --weight) add(1);  // as if the row came so often
      if (weight > 0) add(weight);
    }
}

}  // namespace

template <class T>
void observe_block(Optimizer<T>& optimizer, Index examples, std::span<double> scores, double largest_score) {
  optimizer.check_use(Use::stream);
  const Options& options = optimizer.options();
  const ThreadLimit threads(options.threads);
  Posterior<T>& q = *optimizer.posterior();
  Model<T>& model = *optimizer.model();
  StepMemory<T>& memory = optimizer.memory;
  TrainingState& state = optimizer.state;
  if (q.is_blank()) initialize(optimizer);
  LogPrecisionInStep freed(model.likelihood);
  freed.free();
  const Minibatch<T> observation{
      optimizer.batch_x(examples), optimizer.batch_y(examples), 1, {state.step, 0}};
  Interruptible work;
  Posterior<T>& prior = optimizer.filter.predict(q, state.is_ahead ? 0 : 1, options, memory.scratch);
  const bool learns_noise = ResidualNoise::is_learned(model.likelihood, options);
  const ScoreKind predicted =
      learns_noise && options.score == ScoreKind::none ? ScoreKind::plug_in : options.score;
  memory.prequential->predict(prior, observation.x, predicted);
  const PrequentialSums sums = memory.prequential->score(observation.y, options.score, scores);
  for (const double score : scores)
    if (options.score != ScoreKind::none && !(std::abs(score) <= largest_score))
      fail(Status::ERROR_DIVERGED, "the log density of an observation would be %g", score);
  // Limits change after the scores, which are predictions. observe() has settled scales of constants
  // before.
  if (!model.standardization.has_constant()) start_units(optimizer, observation.y);
  if (learns_noise) learn_noise<T>(optimizer, observation.y, predicted);
  const auto kept_draws = optimizer.caller_draws();  // kept alive, as the callback may replace them
  std::optional<ResidualNoise::Given> given;
  if (learns_noise) given.emplace(optimizer.noise, model.likelihood);
  const auto [next, shortened, held] = optimizer.filter.update(
      model, prior, observation, options, memory.evidence->estimator(), optimizer.draws(), memory.scratch);
  given.reset();
  work.end();
  q.swap(next);
  freed.keep();
  if (learns_noise) optimizer.noise.commit(model.likelihood);
  optimizer.watch.forget();
  state.shortened_steps += shortened ? 1 : 0;
  state.guarded_steps += held ? 1 : 0;
  state.is_ahead = false;
  state.start_weight = 0;
  state.prequential += sums;
  ++state.step;
}

namespace {

/// Observes rows, option "block" of them at a time, after each of which it calls used(numbers of rows, their
/// scores). Fails with ERROR_DIVERGED if a score is larger than the largest.
template <class T, class Used>
void observe_blocks(Optimizer<T>& optimizer, DataSet& data, double largest_score, Used used) {
  const Model<T>& model = *optimizer.model();
  const Index rows = data.rows(), option = optimizer.options().block,
              block = option > 0 ? std::min(option, rows) : rows;
  Buffer<double> scores(block);
  std::vector<Index> observed;
  observed.reserve(at(block));
  // Exact Hessians and correlated noise need all outputs of a row.
  const bool together =
      model.likelihood.noise_covariance().given() || optimizer.options().curvature == EstimateKind::mc_hess;
  for (Index first = 0; first < rows; first += block) {
    UndoUnits units(*optimizer.model());
    const Index here = std::min(block, rows - first);
    const auto find = [&] { find_observed(data, model, together, first, optimizer.batch_y(here), observed); };
    find();
    if (model.standardization.has_constant() && start_units<T>(optimizer, optimizer.batch_y(here))) find();
    const auto count = static_cast<Index>(observed.size());
    if (count == 0) {
      pass_time(optimizer);
    } else {
      data.fetch(ConstSpan<Index>(observed), model.standardization, optimizer.batch_x(count),
                 optimizer.batch_y(count));
      observe_block(optimizer, count, scores.first(count), largest_score);
    }
    units.keep();
    used(ConstSpan<Index>(observed), ConstSpan<double>(scores.first(count)));
    if (first + block < rows) check_interrupt();
  }
}

/// Chooses scales for these rows if the stream learns them. Returns false if they are not settled yet.
template <class T>
bool settle_scales(Optimizer<T>& optimizer, ArrayData& data, const Array& x,
                   std::optional<UndoScales<T>>& undo) {
  if (learns_scales(optimizer)) {
    undo.emplace(optimizer);
    return learn_scales(optimizer, data);
  }
  if (has_late_values(optimizer, x)) {
    undo.emplace(optimizer);
    scale_late_columns(optimizer, x);
  }
  return true;
}

}  // namespace

template <class T>
void observe_rows(Optimizer<T>& optimizer, DataSet& data) {
  observe_blocks(optimizer, data, std::numeric_limits<double>::max(),
                 [](ConstSpan<Index>, ConstSpan<double>) {});
}

template <class T>
void observe(Optimizer<T>& optimizer, const Array& x, const Array& y, const OutArray& log_density) {
  optimizer.check_use(Use::stream);
  ArrayData data = checked_data(*optimizer.model(), x, y, Missing::allowed);
  if (given(log_density)) check_output(log_density, x.rows, 1, "log_density");
  Buffer<double> scores(x.rows);
  std::fill_n(scores.data(), x.rows, std::numeric_limits<double>::quiet_NaN());
  const double largest = given(log_density) && log_density.dtype == BDL_F32
                             ? double{std::numeric_limits<float>::max()}
                             : std::numeric_limits<double>::max();
  Undo undo(optimizer);
  std::optional<UndoScales<T>> undo_scales;
  const bool is_settled = settle_scales(optimizer, data, x, undo_scales);
  if (optimizer.posterior()->is_blank()) initialize(optimizer);
  observe_blocks(optimizer, data, largest, [&](ConstSpan<Index> rows, ConstSpan<double> of_rows) {
    undo.keep();
    if (undo_scales && is_settled) undo_scales->keep();
    for (std::size_t k = 0; k < rows.size(); ++k) scores.data()[rows[k]] = of_rows[k];
  });
  if (!is_settled) {
    optimizer.stream_scales.add(data);
    undo_scales->keep();
  }
  if (given(log_density)) scatter<double>({scores.data(), 1, x.rows}, log_density);
}

template <class T>
void forecast(Optimizer<T>& optimizer, Index steps) {
  optimizer.check_use(Use::stream);
  Undo undo(optimizer);
  const bool notes_time = learns_scales(optimizer);
  move_time(optimizer, steps);
  undo.keep();
  if (!notes_time) return;
  optimizer.stream_scales.open();
  optimizer.stream_scales.move_time(steps);
}

#define BDL_INSTANTIATE(T)                                                           \
  template void observe(Optimizer<T>&, const Array&, const Array&, const OutArray&); \
  template void observe_rows(Optimizer<T>&, DataSet&);                               \
  template void forecast(Optimizer<T>&, Index);                                      \
  template void observe_block(Optimizer<T>&, Index, std::span<double>, double);      \
  template void move_time(Optimizer<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
