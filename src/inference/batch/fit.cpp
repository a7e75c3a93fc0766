#include "inference/batch/fit.hpp"

#include "data/augmentation.hpp"
#include "data/minibatch.hpp"
#include "inference/batch/swag.hpp"
#include "inference/exact/exact_fit.hpp"
#include "inference/laplace.hpp"
#include "inference/undo.hpp"
#include "network/graph.hpp"

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

/// A step. Where training has run away, everything is taken back to the last good state; `goes_on` if
/// training may go on from there, else the error tells.
template <class T>
void take_step(Optimizer<T>& optimizer, Index examples, Undo<T>& undo, bool goes_on) {
  try {
    optimizer.step(examples);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    goes_on = goes_on && optimizer.may_go_on();
    if (!optimizer.go_back()) throw;
    undo.keep();
    if (!goes_on)
      fail(Status::ERROR_DIVERGED, "%s; the posterior is in its last good state again", error.what());
  }
}

/// What minibatches are taken from, as the options have it: the images augmented, or the data themselves.
template <class T>
class MinibatchData {
 public:
  MinibatchData(const Optimizer<T>& optimizer, DataSet& data) : data_(data) {
    const Options& options = optimizer.options();
    if (!augments(options)) return;
    const Shape& input = optimizer.model()->graph()->input();
    const Augmentation how{.channels = input.channels,
                           .rows = input.rows,
                           .columns = input.columns,
                           .pad = options.augment_pad,
                           .flip = options.augment_flip == 1,
                           .fill = options.augment_fill};
    augmented_.emplace(data, how, static_cast<std::uint64_t>(options.seed));
  }
  DataSet& of_epoch(Index epoch) {
    if (!augmented_) return data_;
    augmented_->begin_epoch(epoch);
    return *augmented_;
  }

 private:
  DataSet& data_;
  std::optional<AugmentedData> augmented_;
};

/// The next minibatch's step.
template <class T>
void advance(Optimizer<T>& optimizer, MinibatchData<T>& data, Minibatches& minibatches, Undo<T>& undo) {
  TrainingState& state = optimizer.state;
  const auto examples = minibatches.batch(state.epoch, state.batch);
  const auto count = static_cast<Index>(examples.size());
  optimizer.fill(data.of_epoch(state.epoch), examples);
  take_step(optimizer, count, undo, true);
  if (optimizer.options().swag) take_snapshot(optimizer);
  ++state.batch;
}

/// After an epoch's last minibatch. Where Laplace's approximation or SWAG fails, it is what is left to do of
/// the fit.
template <class T>
void end_epoch(Optimizer<T>& optimizer, DataSet& data, Minibatches& minibatches) {
  TrainingState& state = optimizer.state;
  const bool is_last = state.epoch + 1 == state.fit_end_epoch;
  if (optimizer.options().laplace && is_last) take_laplace(optimizer, data);
  if (optimizer.options().swag && is_last) take_swag(optimizer, data, minibatches);
  state.batch = 0;
  ++state.epoch;
}

}  // namespace

template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress) {
  optimizer.check_use(Use::fit);
  ArrayData data = checked_data(*optimizer.model(), x, y);
  return fit(optimizer, data, epochs, progress);
}

template <class T>
Status fit(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress) {
  optimizer.check_use(Use::fit);
  if (optimizer.method().is_exact) return fit_exactly(optimizer, data, epochs, progress);
  if (optimizer.options().laplace) check_laplace(optimizer, data.rows());
  Minibatches minibatches(optimizer.options(), data.rows(), data.blocks);
  if (minibatches.size() > optimizer.data_size())
    fail(Status::ERROR_INVALID_ARGUMENT, "a minibatch has %lld examples, more than the data set's %lld",
         static_cast<long long>(minibatches.size()), static_cast<long long>(optimizer.data_size()));
  minibatches.tell(data);
  MinibatchData seen(optimizer, data);
  Undo undo(optimizer);
  begin_course(optimizer, epochs, data.rows(), minibatches.batches());
  if (optimizer.options().swag) check_swag(optimizer);
  optimizer.start_noise(data);
  const TrainingState& state = optimizer.state;
  while (state.epoch < state.fit_end_epoch) {
    if (state.batch < state.batches) advance(optimizer, seen, minibatches, undo);
    undo.keep();
    if (state.batch == state.batches) end_epoch(optimizer, data, minibatches);
    if (should_stop(optimizer, progress) && state.epoch < state.fit_end_epoch) return Status::STOPPED;
  }
  return Status::OK;
}

template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  optimizer.check_use(Use::step);
  ArrayData data = checked_data(*optimizer.model(), x, y);
  if (x.rows > optimizer.data_size())
    fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, more than the data set's %lld",
         static_cast<long long>(x.rows), static_cast<long long>(optimizer.data_size()));
  optimizer.fill(data, {0, x.rows});
  Undo undo(optimizer);
  if (optimizer.posterior()->is_blank()) optimizer.initialize();
  optimizer.start_noise(data);
  take_step(optimizer, x.rows, undo, false);
  undo.keep();
}

template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  ArrayData data = checked_data(*optimizer.model(), x, y);
  laplace(optimizer, data);
}

template <class T>
void laplace(Optimizer<T>& optimizer, DataSet& data) {
  check_laplace(optimizer, data.rows());
  if (optimizer.posterior()->is_blank())
    fail(Status::ERROR_UNSUPPORTED,
         "the posterior is blank: there is no mean yet to approximate the posterior around");
  take_laplace(optimizer, data);
}

template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows) {
  optimizer.check_use(Use::rows);
  check_shape(rows, -1, optimizer.posterior()->dimension(), "rows");
  check_finite<T>(rows, "rows");
  take_rows(rows, optimizer.rows());
  const Release release(optimizer.rows());
  Undo undo(optimizer);
  optimizer.step_rows();
  undo.keep();
}

#define BDL_INSTANTIATE(T)                                                                \
  template Status fit(Optimizer<T>&, DataSet&, Index, const Progress&);                   \
  template Status fit(Optimizer<T>&, const Array&, const Array&, Index, const Progress&); \
  template void step(Optimizer<T>&, const Array&, const Array&);                          \
  template void laplace(Optimizer<T>&, const Array&, const Array&);                       \
  template void laplace(Optimizer<T>&, DataSet&);                                         \
  template void step_rows(Optimizer<T>&, const Array&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
