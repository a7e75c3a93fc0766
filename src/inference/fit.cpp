#include "inference/fit.hpp"

#include "inference/minibatch.hpp"

namespace bdl {
namespace {

/// Begins a course of `epochs` at a fresh epoch, or checks that an interrupted one can go on.
template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index batches) {
  TrainingState& state = optimizer.state;
  if (epochs == 0) {
    if (state.epoch >= state.fit_end_epoch)
      fail(Status::ERROR_INVALID_ARGUMENT, "epochs is 0, but there is no interrupted fit to finish");
    if (state.batches != batches)
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the interrupted fit has %lld minibatches an epoch, these data give %lld",
           static_cast<long long>(state.batches), static_cast<long long>(batches));
    return;
  }
  if (optimizer.posterior()->is_blank()) optimizer.initialize();
  if (state.batch > 0) ++state.epoch;
  state.batch = 0;
  state.batches = batches;
  state.fit_end_epoch = state.epoch + epochs;
  if (optimizer.options().total_steps == 0) state.plan = {state.step, state.step + epochs * batches};
}

template <class T>
bool progress_due(const Optimizer<T>& optimizer) {
  const Index every = optimizer.options().progress_every;
  return every > 0 ? optimizer.state.step % every == 0 : optimizer.state.batch == 0;
}

/// True if training is to stop after the step just done.
template <class T>
bool should_stop(Optimizer<T>& optimizer, const Progress& progress) {
  if (progress.function && progress_due(optimizer)) {
    const std::int32_t answer = progress.function(progress.context);
    if (answer < 0) fail(Status::ERROR_CALLBACK, "the progress callback returned %d", answer);
    if (answer > 0) return true;
  }
  return optimizer.stop_requested.exchange(false);
}

}  // namespace

template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y) {
  check_shape(x, -1, model.inputs(), "x");
  model.likelihood.check_targets(y, x.rows, "y");
  check_finite(x, "x");
}

template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress) {
  check_data(*optimizer.model(), x, y);
  Minibatches minibatches(optimizer.options(), x.rows);
  begin_course(optimizer, epochs, minibatches.batches());
  optimizer.start_noise(y);
  TrainingState& state = optimizer.state;
  while (state.epoch < state.fit_end_epoch) {
    const auto examples = minibatches.batch(state.epoch, state.batch);
    const auto count = static_cast<Index>(examples.size());
    gather(x, examples, optimizer.x_to_fill(count));
    gather(y, examples, optimizer.y_to_fill(count));
    optimizer.step(count);
    if (++state.batch == state.batches) {
      state.batch = 0;
      ++state.epoch;
    }
    if (should_stop(optimizer, progress)) return Status::STOPPED;
  }
  return Status::OK;
}

template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  check_data(*optimizer.model(), x, y);
  if (x.rows > optimizer.data_size())
    fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, more than the data set's %lld",
         static_cast<long long>(x.rows), static_cast<long long>(optimizer.data_size()));
  gather(x, 0, optimizer.x_to_fill(x.rows));
  gather(y, 0, optimizer.y_to_fill(x.rows));
  optimizer.start_noise(y);
  optimizer.step(x.rows);
}

#define BDL_INSTANTIATE(T)                                                                \
  template void check_data(const Model<T>&, const Array&, const Array&);                  \
  template Status fit(Optimizer<T>&, const Array&, const Array&, Index, const Progress&); \
  template void step(Optimizer<T>&, const Array&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
