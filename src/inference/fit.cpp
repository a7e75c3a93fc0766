#include "inference/fit.hpp"

#include "inference/laplace.hpp"
#include "inference/minibatch.hpp"
#include "inference/undo.hpp"

namespace bdl {
namespace {

/// Forgets the caller's rows when the call returns.
template <class T>
class Release {
 public:
  explicit Release(DenseRows<T>& rows) : rows_(rows) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() { rows_.release(); }

 private:
  DenseRows<T>& rows_;
};

/// Begins a course of `epochs` at a fresh epoch, or checks that an interrupted one can go on.
template <class T>
void begin_course(Optimizer<T>& optimizer, Index epochs, Index examples, Index batches) {
  TrainingState& state = optimizer.state;
  if (epochs == 0) {
    if (state.epoch >= state.fit_end_epoch)
      fail(Status::ERROR_INVALID_ARGUMENT, "epochs is 0, but there is no interrupted fit to finish");
    if (state.batches != batches || state.examples != examples)
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the interrupted fit has %lld examples in %lld minibatches an epoch, these data %lld in %lld",
           static_cast<long long>(state.examples), static_cast<long long>(state.batches),
           static_cast<long long>(examples), static_cast<long long>(batches));
    return;
  }
  if (optimizer.posterior()->is_blank()) optimizer.initialize();
  if (state.batch > 0) ++state.epoch;
  state.batch = 0;
  state.examples = examples;
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
  std::int32_t answer = 0;
  if (progress.function && progress_due(optimizer)) answer = progress.function(progress.context);
  const bool requested = optimizer.stop_requested.exchange(false);
  if (answer < 0) fail(Status::ERROR_CALLBACK, "the progress callback returned %d", answer);
  return answer > 0 || requested;
}

/// The next minibatch's step.
template <class T>
void advance(Optimizer<T>& optimizer, const Array& x, const Array& y, Minibatches& minibatches) {
  TrainingState& state = optimizer.state;
  const auto examples = minibatches.batch(state.epoch, state.batch);
  const auto count = static_cast<Index>(examples.size());
  gather(x, examples, optimizer.x_to_fill(count));
  gather(y, examples, optimizer.y_to_fill(count));
  optimizer.step(count);
  if (++state.batch < state.batches) return;
  state.batch = 0;
  ++state.epoch;
}

}  // namespace

template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y) {
  check_shape(x, -1, model.inputs(), "x");
  model.likelihood.check_targets(y, x.rows, "y");
  check_finite<T>(x, "x");
  check_finite<T>(y, "y");
}

template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress) {
  check_data(*optimizer.model(), x, y);
  Minibatches minibatches(optimizer.options(), x.rows);
  if (minibatches.size() > optimizer.data_size())
    fail(Status::ERROR_INVALID_ARGUMENT, "a minibatch has %lld examples, more than the data set's %lld",
         static_cast<long long>(minibatches.size()), static_cast<long long>(optimizer.data_size()));
  Undo undo(optimizer);
  begin_course(optimizer, epochs, x.rows, minibatches.batches());
  optimizer.start_noise(y);
  const TrainingState& state = optimizer.state;
  while (state.epoch < state.fit_end_epoch) {
    advance(optimizer, x, y, minibatches);
    undo.keep();
    if (should_stop(optimizer, progress) && state.epoch < state.fit_end_epoch) return Status::STOPPED;
  }
  if (optimizer.options().laplace) take_laplace(optimizer, x, y);
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
  Undo undo(optimizer);
  if (optimizer.posterior()->is_blank()) optimizer.initialize();
  optimizer.start_noise(y);
  optimizer.step(x.rows);
  undo.keep();
}

template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  check_data(*optimizer.model(), x, y);
  take_laplace(optimizer, x, y);
}

template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows) {
  check_shape(rows, -1, optimizer.posterior()->dimension(), "rows");
  check_finite<T>(rows, "rows");
  take_rows(rows, optimizer.rows());
  const Release release(optimizer.rows());
  Undo undo(optimizer);
  optimizer.step_rows();
  undo.keep();
}

#define BDL_INSTANTIATE(T)                                                                \
  template void check_data(const Model<T>&, const Array&, const Array&);                  \
  template Status fit(Optimizer<T>&, const Array&, const Array&, Index, const Progress&); \
  template void step(Optimizer<T>&, const Array&, const Array&);                          \
  template void laplace(Optimizer<T>&, const Array&, const Array&);                       \
  template void step_rows(Optimizer<T>&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
