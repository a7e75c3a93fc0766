// Optimizers on streams: observations and the passage of time.
#include <cmath>

#include "base/interrupt.hpp"
#include "inference/batch/freed_log_precision.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void Optimizer<T>::observe(Index examples, std::span<double> scores, double largest_score) {
  check_use(Use::stream);
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  FreedLogPrecision freed(model_->likelihood);
  freed.free();
  const ConstMatrixView<T> x = x_to_fill(examples), y = y_to_fill(examples);
  reserve(Use::stream, {examples, examples, examples});
  Interruptible work;
  Posterior<T>& prior = work_.filter.predict(*posterior_, state.is_ahead ? 0 : 1, options_);
  const PrequentialSums sums = work_.prequential->score(prior, x, y, options_.score, scores);
  for (const double score : scores)
    if (options_.score != ScoreKind::none && !(std::abs(score) <= largest_score))
      fail(Status::ERROR_DIVERGED, "the log density of an observation would be %g", score);
  // After the scores, which are predictions. Scales of constants are settled before the rows are filled.
  if (!model_->standardization.has_constant()) start_units(y);
  Index shortened = state.shortened_steps;
  const auto kept = caller_draws_;
  Posterior<T>& next =
      work_.filter.update(prior, x, y, options_, *work_.evidence, draws(), state.step, shortened);
  const bool held_back = options_.guard > 0 && work_.stream_guard->hold_back(
                                                   prior, x, y, work_.evidence->points(options_, examples),
                                                   next, work_.filter.scratch());
  work.end();
  posterior_->swap(next);
  freed.keep();
  forget_good_state();
  state.shortened_steps = shortened;
  state.guarded_steps += held_back ? 1 : 0;
  state.is_ahead = false;
  state.start_weight = 0;
  state.prequential += sums;
  ++state.step;
}

template <class T>
void Optimizer<T>::forecast(Index steps) {
  check_use(Use::stream);
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  Posterior<T>& later = work_.filter.predict(*posterior_, steps, options_);
  if (&later != posterior_.get()) posterior_->swap(later);
  state.is_ahead = true;
}

template <class T>
void Optimizer<T>::skip() {
  if (!state.is_ahead) forecast(1);
  state.is_ahead = false;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace bdl
