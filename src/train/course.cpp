#include "train/course.hpp"

#include "base/callback.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "train/sharding.hpp"
#include "train/start.hpp"

namespace bdl {
namespace {

template <class T>
bool progress_due(const Optimizer<T>& optimizer) {
  const Index every = optimizer.options().progress_every;
  return every > 0 ? optimizer.state.step % every == 0 : optimizer.state.batch == 0;
}

}  // namespace

template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index examples, Index batches, Index shards) {
  TrainingState& state = optimizer.state;
  if (epochs == 0) {
    if (state.epoch >= state.fit_end_epoch)
      fail(Status::ERROR_INVALID_ARGUMENT, "epochs is 0, but there is no interrupted fit to finish");
    if (state.batches != batches || state.examples != examples)
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the interrupted fit has %lld examples in %lld minibatches an epoch, these data %lld in %lld",
           static_cast<long long>(state.examples), static_cast<long long>(state.batches),
           static_cast<long long>(examples), static_cast<long long>(batches));
    check_same_shards(optimizer, shards);
    state.shards = shards;
    return;
  }
  const Index completed = optimizer.posterior()->is_blank() ? 0 : state.epoch + (state.batch > 0 ? 1 : 0);
  if (epochs > most_epochs - completed)
    fail(Status::ERROR_INVALID_ARGUMENT, "epochs is %lld after %lld epochs, expected at most 2^31 - 1 in all",
         static_cast<long long>(epochs), static_cast<long long>(completed));
  if (!are_countable(completed + epochs, batches) || state.step > most_steps - epochs * batches)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "epochs is %lld, each of %lld minibatches, after %lld epochs: expected at most 2^62 steps in all",
         static_cast<long long>(epochs), static_cast<long long>(batches), static_cast<long long>(completed));
  const bool is_blank = optimizer.posterior()->is_blank();
  if (is_blank) initialize(optimizer);
  state.may_begin_anew = is_blank;
  optimizer.watch.forget_older(state.watch);
  state.epoch = completed;
  state.batch = 0;
  state.examples = examples;
  state.shards = shards;
  state.batches = batches;
  state.fit_end_epoch = state.epoch + epochs;
  if (optimizer.options().total_steps > 0) return;
  state.plan = {state.step, state.step + epochs * batches};
  state.snapshots = 0;
}

template <class T>
void end_course(Optimizer<T>& optimizer) {
  TrainingState& state = optimizer.state;
  state.fit_end_epoch = state.epoch;
  if (optimizer.options().total_steps == 0) state.plan.end = state.step;
}

template <class T>
bool should_stop(Optimizer<T>& optimizer, const Progress& progress, bool asked) {
  Team& team = optimizer.team;
  const bool is_due = progress_due(optimizer);
  bool stops = asked;
  team.attempt([&] {
    std::int32_t answer = 0;
    if (progress.function && is_due && team.rank() == 0) answer = progress.function(progress.context);
    if (team.is_alone() || is_due) stops = optimizer.stop_requested.exchange(false) || stops;
    if (answer < 0) fail_callback("progress", answer, "");
    set_callback_message(nullptr);
    stops = stops || answer > 0 || (team.is_alone() && interrupted());
  });
  return is_due ? team.vote(stops) : stops;
}

#define BDL_INSTANTIATE(T)                                               \
  template void begin_course(Optimizer<T>&, Index, Index, Index, Index); \
  template void end_course(Optimizer<T>&);                               \
  template bool should_stop(Optimizer<T>&, const Progress&, bool);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
