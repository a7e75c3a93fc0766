// The course of a search: batches of trials are proposed, trained, and kept one after the other.
#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "base/callback.hpp"
#include "base/interrupt.hpp"
#include "parallel/crew.hpp"
#include "parallel/parallel.hpp"
#include "search/proposal.hpp"
#include "search/search.hpp"

namespace bdl {

/// Callbacks of a caller's model run on the thread of the call.
template <class T>
Index Search<T>::workers() const {
  if (!prototype_->model()->graph()) return 1;
  if (workers_ > 0) return workers_;
  const Index threads = prototype_->options().threads;
  return threads > 0 ? threads : thread_count();
}

/// Trials at random: with some folds for each worker, or as many as give all ranks the same number of folds.
/// Nothing else depends on how many they are.
template <class T>
Index Search<T>::random_together() const {
  const Index ranks = team_.size();
  const Index enough =
      team_.is_alone() ? 1 + 8 * workers() / validation_.folds : ranks / std::gcd(ranks, validation_.folds);
  return std::max(parallel_trials_, enough);
}

/// From how many scores the next trial is proposed: those before the first of its batch, which goes on with
/// the trials before it unless they are as many as a batch has.
template <class T>
Index Search<T>::known_to_next() const {
  const auto number = static_cast<Index>(trials_.size());
  if (number == 0) return 0;
  const Index known = trials_.back().known;
  return known >= 0 && number - known < parallel_trials_ ? known : number;
}

template <class T>
Index Search<T>::batch_size(const Run& run) const {
  if (run.at_random > 0) return std::min(run.at_random, random_together());
  const Index taken = static_cast<Index>(trials_.size()) - known_to_next();
  return std::min(run.by_improvement, parallel_trials_ - taken);
}

/// Rank 0 chooses the points; the others have room for them.
template <class T>
std::vector<Trial> Search<T>::propose(Index count, bool at_random) const {
  const std::uint64_t seed = validation_.spec.seed;
  const auto number = static_cast<Index>(trials_.size());
  const Index known = at_random ? number : known_to_next();
  const auto scored = trials().first(static_cast<std::size_t>(known));
  std::vector<Trial> pending(trials_.begin() + known, trials_.end()), out;
  for (Index k = 0; k < count; ++k) {
    Trial trial;
    if (team_.rank() != 0)
      trial.point.resize(static_cast<std::size_t>(space_.size()));
    else
      trial.point =
          at_random ? random_point(space_, seed, number + k) : promising_point(space_, scored, pending, seed);
    trial.known = at_random ? -1 : known;
    pending.push_back(trial);
    out.push_back(std::move(trial));
  }
  return out;
}

template <class T>
void Search<T>::take_batch(const FoldedData& data, Run& run) {
  const Index count = batch_size(run);
  std::vector<Trial> trials;
  std::optional<Batch<T>> batch;
  team_.attempt([&] {
    const std::size_t size = trials_.size() + static_cast<std::size_t>(count);
    if (size > trials_.capacity()) trials_.reserve(std::max(size, 2 * trials_.capacity()));
    trials = propose(count, run.at_random > 0);
  });
  exchange_.share_points(team_, trials, count, space_.size());
  team_.attempt([&] {
    const Index parts = count * validation_.folds / team_.size();
    const TrialSetting<T> setting{*prototype_, space_, validation_, std::min(workers(), parts) > 1};
    batch.emplace(setting, data, std::move(trials), trials_);
  });
  if (team_.is_alone())
    train_here(*batch, run);
  else
    train_by_ranks(batch ? &*batch : nullptr, count * validation_.folds, run);
  if (!batch->is_empty()) run.is_stopped = true;
}

/// The first trial of the batch becomes the last of the search, for which there is room. Rank 0 reports
/// progress, and all do what it is told.
template <class T>
void Search<T>::keep_next(Batch<T>& batch, Run& run) {
  trials_.push_back(batch.take_next());
  rows_ = run.rows;
  --(run.at_random > 0 ? run.at_random : run.by_improvement);
  bool stops = false;
  team_.attempt([&] {
    const bool reports = run.progress.function && team_.rank() == 0;
    const std::int32_t answer = reports ? run.progress.function(run.progress.context) : 0;
    if (answer < 0) fail_callback("progress", answer, "");
    set_callback_message(nullptr);
    stops = answer > 0 || stop_requested;
  });
  run.is_stopped = team_.vote(stops) && run.missing() > 0;
}

/// Trials are kept as soon as they and those before them are done, while others are still in training.
template <class T>
void Search<T>::train_here(Batch<T>& batch, Run& run) {
  std::exception_ptr failure;
  const auto keep = [&] {
    try {
      if (!failure && interrupted()) stop_requested = true;
      for (; !failure && !run.is_stopped && batch.has_next(); keep_next(batch, run)) batch.finish_next();
    } catch (const abi::__forced_unwind&) {  // a thread that ends in the callback
      stop_requested = true;
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure || run.is_stopped) stop_requested = true;
  };
  share_tasks(
      batch.parts(), workers(), [&](Index part) { batch.train(part, stop_requested); }, keep);
  keep();
  if (failure) std::rethrow_exception(failure);
}

/// `batch` is null on a rank that has failed.
template <class T>
void Search<T>::train_by_ranks(Batch<T>* batch, Index parts, Run& run) {
  const Index rank = team_.rank(), ranks = team_.size(), own = TrialExchange::parts_of(rank, ranks, parts);
  const auto part_of = [&](Index i) { return TrialExchange::part_of(rank, ranks, i); };
  team_.attempt([&] {
    std::exception_ptr failure;
    const auto ask = [&]() noexcept {
      try {
        if (!failure && interrupted()) stop_requested = true;
      } catch (...) {  // of the interrupt
        failure = std::current_exception();
        stop_requested = true;
      }
    };
    share_tasks(
        own, workers(), [&](Index i) { batch->train(part_of(i), stop_requested); }, ask);
    if (failure) std::rethrow_exception(failure);
    for (Index i = 0; i < own; ++i) batch->check(part_of(i));
  });
  exchange_.share_results(team_, parts, [&](Index p) { return batch ? &batch->result(p) : nullptr; });
  team_.attempt([&] {
    batch->end_training();
    batch->finish_all();
  });
  team_.vote();
  while (!run.is_stopped && batch->has_next()) keep_next(*batch, run);
}

template Index Search<float>::random_together() const;
template Index Search<double>::random_together() const;
template void Search<float>::take_batch(const FoldedData&, Run&);
template void Search<double>::take_batch(const FoldedData&, Run&);

}  // namespace bdl
