#include "train/fit.hpp"

#include <optional>

#include "base/interrupt.hpp"
#include "data/augmentation.hpp"
#include "network/graph.hpp"
#include "ranks/strata.hpp"
#include "train/approximate/laplace.hpp"
#include "train/approximate/refine.hpp"
#include "train/approximate/swag.hpp"
#include "train/exact/exact_fit.hpp"
#include "train/scales/by_evidence.hpp"
#include "train/scales/doubt.hpp"
#include "train/sharding.hpp"
#include "train/start.hpp"
#include "train/step.hpp"
#include "train/undo.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Makes DenseRows forget the caller's rows when the call returns.
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

/// Takes a step and returns true if a rank asks to stop. If training has diverged, restores the last good
/// state, where there is one behind a bad stretch. From there training continues at half the rate, without
/// this minibatch, if `may_retry` and the optimizer allow it; else the divergence is reported.
template <class T>
bool step_or_go_back(Optimizer<T>& optimizer, const StepExamples& examples, Undo<T>& undo, bool may_retry) {
  try {
    return train_step(optimizer, examples, may_retry);
  } catch (const Error& error) {
    if (error.status() != Status::ERROR_DIVERGED) throw;
    const bool retries = may_retry && may_go_on(optimizer);
    if (!optimizer.watch.go_back(optimizer)) throw;
    undo.keep();
    if (!retries)
      fail(Status::ERROR_DIVERGED, "%s; the posterior is in its last good state again", error.what());
    optimizer.team.begin();
    return false;
  }
}

/// Source of minibatches: the data, or augmented images if the options ask for them.
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

/// Writes the examples with these numbers to the memory that the step reads.
template <class T>
void fill_batch(Optimizer<T>& optimizer, DataSet& data, const RowNumbers& examples) {
  data.fetch(examples, optimizer.model()->standardization, optimizer.batch_x(examples.count()),
             optimizer.batch_y(examples.count()));
}

/// Takes the step of the next minibatch. Returns true if some rank asks to stop and may do so.
template <class T>
bool advance(Optimizer<T>& optimizer, MinibatchData<T>& data, Strata& strata, Undo<T>& undo) {
  TrainingState& state = optimizer.state;
  optimizer.team.attempt([&] {
    const Interruptible work;  // shuffling an epoch's millions of rows takes a while
    fill_batch(optimizer, data.of_epoch(state.epoch), strata.rows(state.epoch, state.batch));
  });
  const bool asked = step_or_go_back(optimizer, strata.examples(), undo, true);
  optimizer.team.attempt([&] {
    if (optimizer.options().swag) take_snapshot(optimizer);
  });
  ++state.batch;
  return asked;
}

/// Ends an epoch after its last minibatch. If Laplace's approximation, SWAG or the refinement fails,
/// another fit with epochs = 0 retries only that.
template <class T>
void end_epoch(Optimizer<T>& optimizer, DataSet& data, Strata& strata,
               std::optional<LooksAtEvidence<T>>& looks) {
  TrainingState& state = optimizer.state;
  const bool is_last = state.epoch + 1 == state.fit_end_epoch;
  Team& team = optimizer.team;
  if (optimizer.options().swag && is_last) team.telling([&] { take_swag(optimizer, data, strata); });
  if (optimizer.options().laplace && is_last)
    team.telling([&] { take_laplace(optimizer, data, state.shards, true); });
  else if (evidence_is_due(optimizer))
    team.telling([&] { learn_by_evidence(optimizer, data, state.shards); });
  if (looks && refines(optimizer) && is_last)
    team.telling([&] { take_refinement(optimizer, data, looks->evidence(), state.shards); });
  agree(optimizer, Call::epoch, data.rows(), state.fit_end_epoch, state.shards);
  state.batch = 0;
  ++state.epoch;
}

/// Checks the rows of the local shards in the caller's arrays: all rows if this is the only rank.
template <class T>
void check_own_rows(const Optimizer<T>& optimizer, const Array& x, const Array& y) {
  const Team& team = optimizer.team;
  if (team.size() == 1) return check_data(*optimizer.model(), x, y);
  check_shape(x, -1, optimizer.model()->inputs(), "x");
  check_shape(y, x.rows, -1, "y");
  const Index shards = planned_shards(optimizer);
  const ShardRange own = shards_of(team.rank(), team.size(), shards);
  const Index first = part_of(own.first, shards, x.rows).first,
              count = part_of(own.end - 1, shards, x.rows).end - first;
  try {
    check_data(*optimizer.model(), rows_of(x, first, count), rows_of(y, first, count));
  } catch (const Error& error) {
    fail(error.status(), "%s (row 0 being row %lld of all, counting from 0)", error.what(),
         static_cast<long long>(first));
  }
}

template <class T>
void check_is_whole(const Optimizer<T>& optimizer, Index rows) {
  if (rows != optimizer.data_size())
    fail(Status::ERROR_INVALID_ARGUMENT,
         "x has %lld rows, but method \"%s\" takes the whole data set of %lld", static_cast<long long>(rows),
         optimizer.method().name, static_cast<long long>(optimizer.data_size()));
}

/// Holds the memory of the looks of a fit: all ranks have it, or none trains.
template <class Look, class T>
void hold(std::optional<Look>& look, Optimizer<T>& optimizer, DataSet& data, Index shards) {
  optimizer.team.attempt([&] { look.emplace(optimizer, data, shards); });
  optimizer.team.vote();
}

template <class T>
Status train_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress,
                     Index shards) {
  const auto agree_again = [&] {
    agree(optimizer, Call::epoch, data.rows(), optimizer.state.fit_end_epoch, shards);
  };
  return optimizer.team.telling([&] {
    return fit_exactly(optimizer, data, epochs, {shards, agree_again, progress});
  });
}

template <class T>
Status train(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress) {
  Team& team = optimizer.team;
  const Index shards = planned_shards(optimizer);
  std::optional<Strata> strata;
  std::optional<MinibatchData<T>> seen;
  team.attempt([&] {
    optimizer.check_use(Use::fit);
    check_shards(optimizer);
    if (optimizer.method().kind == MethodKind::exact) return check_is_whole(optimizer, data.rows());
    if (optimizer.options().laplace) check_laplace(optimizer, data.rows());
    strata.emplace(optimizer.options(), data.rows(), shards, shards_of(team.rank(), team.size(), shards),
                   data.blocks);
    if (strata->size() > optimizer.data_size())
      fail(Status::ERROR_INVALID_ARGUMENT, "a minibatch has %lld examples, more than the data set's %lld",
           static_cast<long long>(strata->size()), static_cast<long long>(optimizer.data_size()));
    strata->tell(data);
    seen.emplace(optimizer, data);
  });
  agree(optimizer, Call::fit, data.rows(), epochs, shards, data.blocks);
  if (optimizer.method().kind == MethodKind::exact)
    return train_exactly(optimizer, data, epochs, progress, shards);
  std::optional<Undo<T>> undo;
  team.attempt([&] {
    {
      const Interruptible work;  // interrupts are safe: nothing has begun
      undo.emplace(optimizer);
      check_loop();
    }
  });
  start_weights(optimizer, data, shards);
  team.attempt([&] {
    begin_course(optimizer, epochs, data.rows(), strata->batches(), shards);
    if (optimizer.options().swag) {
      check_swag(optimizer);
      optimizer.snapshots.hold(optimizer.posterior()->dimension(), optimizer.posterior()->rank());
    }
  });
  team.vote();
  start_units(optimizer, data);
  start_noise(optimizer, data);
  start_shape(optimizer, data);
  TrainingState& state = optimizer.state;
  std::optional<LooksAtEvidence<T>> looks;
  state.by_evidence = learns_by_evidence(optimizer);
  if (state.by_evidence) hold(looks, optimizer, data, shards);
  if (looks) team.telling([&] { looks->start(); });
  std::optional<Doubt<T>> doubt;
  if (may_doubt(optimizer)) hold(doubt, optimizer, data, shards);
  while (state.epoch < state.fit_end_epoch) {
    bool asked = false;
    const bool steps = state.batch < state.batches;
    if (steps) asked = advance(optimizer, *seen, *strata, *undo);
    undo->keep();
    if (steps && looks) team.telling([&] { looks->look(); });
    if (steps && doubt) team.telling([&] { doubt->look(); });
    if (state.batch == state.batches) end_epoch(optimizer, data, *strata, looks);
    if (should_stop(optimizer, progress, asked) && state.epoch < state.fit_end_epoch) return Status::STOPPED;
  }
  state.by_evidence = false;
  return Status::OK;
}

/// Replaces the posterior by Laplace's approximation. prepare() fails if this rank cannot take part.
template <class T, class Prepare>
void approximate(Optimizer<T>& optimizer, DataSet& data, Prepare&& prepare) {
  Team& team = optimizer.team;
  const Index shards = planned_shards(optimizer);
  team.attempt([&] {
    prepare();
    check_laplace(optimizer, data.rows());
    if (optimizer.posterior()->is_blank())
      fail(Status::ERROR_UNSUPPORTED,
           "the posterior is blank: there is no mean yet to approximate the posterior around");
  });
  agree(optimizer, Call::laplace, data.rows(), 0, shards);
  const double row_weight = optimizer.state.row_weight;
  try {
    start_weights(optimizer, data, shards);
    team.attempt([&] { optimizer.settle_prior(); });
    team.telling([&] { take_laplace(optimizer, data, shards, false); });
  } catch (...) {
    optimizer.state.row_weight = row_weight;
    throw;
  }
}

}  // namespace

template <class T>
Status fit(Optimizer<T>& optimizer, const Array& x, const Array& y, Index epochs, const Progress& progress) {
  optimizer.team.begin();
  optimizer.team.attempt([&] {
    optimizer.check_use(Use::fit);
    check_shards(optimizer);
    check_own_rows(optimizer, x, y);
  });
  ArrayData data(x, y);
  return train(optimizer, data, epochs, progress);
}

template <class T>
Status fit(Optimizer<T>& optimizer, DataSet& data, Index epochs, const Progress& progress) {
  std::optional<CheckedData> checked;
  optimizer.team.begin();
  optimizer.team.attempt([&] { checked.emplace(*optimizer.model(), data); });
  DataSet& all = checked ? *checked : data;  // a rank that has failed knows only the size
  return train(optimizer, all, epochs, progress);
}

template <class T>
void step(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  Team& team = optimizer.team;
  const Index shards = planned_shards(optimizer);
  std::optional<CallerStrata> strata;
  ArrayData data(x, y);
  team.begin();
  team.attempt([&] {
    optimizer.check_use(Use::step);
    check_shards(optimizer);
    check_same_shards(optimizer, shards);
    check_own_rows(optimizer, x, y);
    if (x.rows > optimizer.data_size())
      fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, more than the data set's %lld",
           static_cast<long long>(x.rows), static_cast<long long>(optimizer.data_size()));
    strata.emplace(x.rows, shards, shards_of(team.rank(), team.size(), shards));
    fill_batch(optimizer, data, {strata->first(), strata->examples().here()});
  });
  agree(optimizer, Call::step, x.rows, 0, shards);
  std::optional<Undo<T>> undo;
  team.attempt([&] { undo.emplace(optimizer); });
  if (optimizer.posterior()->is_blank()) start_weights(optimizer, data, shards);
  team.attempt([&] {
    if (optimizer.posterior()->is_blank()) initialize(optimizer);
  });
  team.vote();
  optimizer.state.shards = shards;
  optimizer.state.by_evidence = false;
  if (start_units(optimizer, strata->examples()))
    team.attempt([&] { fill_batch(optimizer, data, {strata->first(), strata->examples().here()}); });
  start_noise(optimizer, data);
  start_shape(optimizer, data);
  step_or_go_back(optimizer, strata->examples(), *undo, false);
  undo->keep();
}

template <class T>
void laplace(Optimizer<T>& optimizer, const Array& x, const Array& y) {
  ArrayData data(x, y);
  optimizer.team.begin();
  approximate(optimizer, data, [&] {
    if (optimizer.team.size() > 1) check_shards(optimizer);
    check_own_rows(optimizer, x, y);
  });
}

template <class T>
void laplace(Optimizer<T>& optimizer, DataSet& data) {
  std::optional<CheckedData> checked;
  optimizer.team.begin();
  optimizer.team.attempt([&] { checked.emplace(*optimizer.model(), data); });
  DataSet& all = checked ? *checked : data;
  approximate(optimizer, all, [&] {
    if (optimizer.team.size() > 1) check_shards(optimizer);
  });
}

template <class T>
void step_rows(Optimizer<T>& optimizer, const Array& rows) {
  optimizer.check_use(Use::rows);
  check_shape(rows, -1, optimizer.posterior()->dimension(), "rows");
  check_finite<T>(rows, "rows");
  take_rows(rows, optimizer.memory.rows);
  const Release release(optimizer.memory.rows);
  Undo undo(optimizer);
  step_on_rows(optimizer);
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
