// Optimizers on streams: observations and the passage of time.
#include "base/error.hpp"
#include "inference/batch/freed_log_precision.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void Optimizer<T>::observe(Index examples, std::span<double> scores) {
  check_gaussian(*posterior_, "place in a stream");
  if (rule() == Rule::map)
    fail(Status::ERROR_UNSUPPORTED,
         "rule \"map\" has no uncertainty to weigh an observation with: use rule \"bong\", or "
         "bdl_optimizer_fit()");
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  FreedLogPrecision freed(model_->likelihood);
  freed.free();
  const ConstMatrixView<T> x = x_to_fill(examples), y = y_to_fill(examples);
  Posterior<T>& prior = filter_.predict(*posterior_, state.is_ahead ? 0 : 1, options_);
  const PrequentialSums sums =
      prequential_->score(prior, x, y, static_cast<ScoreKind>(options_.score), scores);
  Index shortened = state.shortened_steps;
  const auto kept = caller_draws_;
  Posterior<T>& next = filter_.update(prior, x, y, options_, *evidence_, draws(), state.step, shortened);
  const bool held_back =
      options_.guard > 0 &&
      stream_guard_->hold_back(prior, x, y, evidence_->points(options_, examples), next, filter_.scratch());
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
  check_gaussian(*posterior_, "place in a stream");
  const ThreadLimit threads(options_.threads);
  if (posterior_->is_blank()) initialize();
  Posterior<T>& later = filter_.predict(*posterior_, steps, options_);
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
