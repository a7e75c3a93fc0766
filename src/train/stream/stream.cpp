#include "train/stream/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "model/checked_data.hpp"
#include "parallel/parallel.hpp"
#include "train/start.hpp"
#include "train/step.hpp"
#include "train/undo.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Reads the targets of the rows from `first` on to y, and writes the numbers of those rows that have a
/// target, or all targets if outputs are observed together.
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

/// Prepares the noise after the observation, from the residuals of its predictions.
template <class T>
void learn_noise(Optimizer<T>& optimizer, ConstMatrixView<T> y, ScoreKind predicted) {
  const Likelihood& likelihood = optimizer.model()->likelihood;
  const Prequential<T>& of = *optimizer.memory.prequential;
  optimizer.noise.begin(likelihood);
  for (Index i = 0; i < y.cols; ++i)
    for (Index c = 0; c < y.rows; ++c)
      optimizer.noise.add(likelihood, optimizer.options(), c, static_cast<double>(y(c, i)), of.mean(i, c),
                          of.variance(i, c, predicted));
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
  FreedLogPrecision freed(model.likelihood);
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
  const auto [next, shortened, held] = optimizer.filter.update(
      model, prior, observation, options, memory.evidence->estimator(), optimizer.draws(), memory.scratch);
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
  // Exact Hessians and correlated noise need all outputs of a row.
  const bool together =
      model.likelihood.noise_covariance().given() || optimizer.options().curvature == EstimateKind::mc_hess;
  const double largest = given(log_density) && log_density.dtype == BDL_F32
                             ? double{std::numeric_limits<float>::max()}
                             : std::numeric_limits<double>::max();
  Undo undo(optimizer);
  if (optimizer.posterior()->is_blank()) initialize(optimizer);
  for (Index first = 0; first < x.rows; first += block) {
    UndoUnits units(*optimizer.model());
    const auto find = [&] {
      find_observed(data, model.standardization, together, first,
                    optimizer.batch_y(std::min(block, x.rows - first)), rows);
    };
    find();
    if (model.standardization.has_constant() &&
        start_units<T>(optimizer, optimizer.batch_y(std::min(block, x.rows - first))))
      find();
    const auto count = static_cast<Index>(rows.size());
    if (count == 0) {
      pass_time(optimizer);
    } else {
      data.fetch(ConstSpan<Index>(rows), model.standardization, optimizer.batch_x(count),
                 optimizer.batch_y(count));
      observe_block(optimizer, count, scores.first(count), largest);
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
  move_time(optimizer, steps);
  undo.keep();
}

#define BDL_INSTANTIATE(T)                                                           \
  template void observe(Optimizer<T>&, const Array&, const Array&, const OutArray&); \
  template void forecast(Optimizer<T>&, Index);                                      \
  template void observe_block(Optimizer<T>&, Index, std::span<double>, double);      \
  template void move_time(Optimizer<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
