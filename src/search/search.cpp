#include "search/search.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>

#include "base/callback.hpp"
#include "base/hash.hpp"
#include "base/interrupt.hpp"
#include "parallel/crew.hpp"
#include "parallel/parallel.hpp"
#include "search/proposal.hpp"
#include "train/sharding.hpp"

namespace bdl {
namespace {

/// Clears the flag at the end: a later request to stop is meant for another run.
class Reset {
 public:
  explicit Reset(std::atomic<bool>& flag) : flag_(flag) {}
  ~Reset() { flag_ = false; }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

 private:
  std::atomic<bool>& flag_;
};

std::uint64_t hash_trials(ConstSpan<Trial> trials) {
  Hash hash;
  for (const Trial& trial : trials) {
    hash.add(ConstSpan<double>(trial.point));
    hash.add(trial.score);
    hash.add(std::string_view(trial.message));
    hash.add(static_cast<std::uint64_t>(trial.known));
  }
  return hash.value();
}

}  // namespace

template <class T>
Search<T>::Search(const Optimizer<T>& prototype, const Validation& validation)
    : prototype_(blank_copy(prototype, prototype.data_size())), validation_(validation) {}

template <class T>
Space& Search<T>::space_to_change() {
  if (!trials_.empty())
    fail(Status::ERROR_INVALID_ARGUMENT, "ranges can only be added before the first trial");
  return space_;
}

template <class T>
void Search<T>::set_parallel_trials(Index trials) {
  if (!trials_.empty())
    fail(Status::ERROR_INVALID_ARGUMENT, "parallel_trials can only be set before the first trial");
  parallel_trials_ = trials;
}

template <class T>
Index Search<T>::best() const {
  const auto found = std::ranges::max_element(trials_, [](const Trial& a, const Trial& b) {
    return !a.has_score() ? b.has_score() : b.score > a.score;
  });
  if (found == trials_.end()) fail(Status::ERROR_UNSUPPORTED, "there are no trials yet");
  if (!found->has_score())
    fail(Status::ERROR_UNSUPPORTED, "no trial has a score; the first failed with \"%s\"",
         trials_.front().message.c_str());
  return found - trials_.begin();
}

/// Fails if more than one trial is wanted but no option has a range.
template <class T>
void Search<T>::check_space(const Run& run) const {
  const Index trials = std::ssize(trials_) + run.at_random;
  if (space_.size() == 0 && (trials > 1 || run.by_improvement > 0))
    fail(Status::ERROR_UNSUPPORTED,
         "no option has a range, so there is only one trial, at random: add a range of values to search");
}

template <class T>
void Search<T>::check_rows(Index rows) const {
  if (validation_.folds > rows)
    fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, fewer than the search's %lld folds",
         static_cast<long long>(rows), static_cast<long long>(validation_.folds));
  if (rows_ > 0 && rows != rows_)
    fail(Status::ERROR_SHAPE, "x has %lld rows, expected %lld as in the search's earlier trials",
         static_cast<long long>(rows), static_cast<long long>(rows_));
}

/// Fails unless all ranks have equal arguments and states, as they train folds for each other.
template <class T>
void Search<T>::agree(DataSet& data, const Run& run) {
  if (team_.is_alone()) return;
  std::vector<std::uint32_t> hashes;
  Agreement mine;
  std::array<Having, 6> having{};
  team_.attempt([&] {
    hashes.resize(option_table().size());
    mine = agreement(*prototype_, Call::search, run.rows, validation_.epochs, 0, true, hashes);
    Hash validation, runs, ranges, parallel;
    validation.add_all({validation_.folds, validation_.spec.method, validation_.spec.samples});
    validation.add(validation_.spec.seed);
    runs.add_all({run.at_random, run.by_improvement});
    space_.add_to(ranges);
    parallel.add_all({parallel_trials_});
    having = {{{"folds, method, samples or seed of the search", validation.value()},
               {"the ranges of the search", ranges.value()},
               {"parallel_trials", parallel.value()},
               {"the trials so far", hash_trials(trials_)},
               {"random_trials or bayesian_trials", runs.value()},
               {"the numbers in x or y", hash_rows(data)}}};
  });
  team_.agree(mine, hashes, [](Index i) { return option_table()[static_cast<std::size_t>(i)].name; });
  team_.agree_on(having);
}

/// A caller's model allows one worker only: its callbacks run on the thread of the call.
template <class T>
Index Search<T>::workers() const {
  if (!prototype_->model()->graph()) return 1;
  if (workers_ > 0) return workers_;
  const Index threads = prototype_->options().threads;
  return threads > 0 ? threads : thread_count();
}

/// Returns how many random trials make a batch: enough for some folds for each worker, or for equally many on
/// each rank. Results do not depend on it.
template <class T>
Index Search<T>::random_together() const {
  const Index ranks = team_.size();
  const Index enough =
      team_.is_alone() ? 1 + 8 * workers() / validation_.folds : ranks / std::gcd(ranks, validation_.folds);
  return std::max(parallel_trials_, enough);
}

/// Returns from how many scores the next trial is proposed: those before its batch. A batch that an earlier
/// run has begun is completed first.
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

/// Rank 0 chooses the points; the other ranks only have memory for them.
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
void Search<T>::run_batch(const FoldedData& data, Run& run) {
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
    const Index tasks = count * validation_.folds / team_.size();
    const TrialSetting<T> setting{*prototype_, space_, validation_, std::min(workers(), tasks) > 1};
    batch.emplace(setting, data, std::move(trials), trials_);
  });
  if (team_.is_alone())
    train_here(*batch, run);
  else
    train_by_ranks(batch ? &*batch : nullptr, count * validation_.folds, run);
  if (!batch->is_empty()) run.is_stopped = true;
}

/// Moves the first trial of the batch to the end of the search, where memory is reserved. Rank 0 reports
/// progress, and all ranks follow its answer.
template <class T>
void Search<T>::keep_next(Batch<T>& batch, Run& run) {
  trials_.push_back(batch.remove_next());
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

/// Keeps trials as soon as they and those before them are done, while others are still in training.
template <class T>
void Search<T>::train_here(Batch<T>& batch, Run& run) {
  std::exception_ptr failure;
  const auto keep = [&] {
    try {
      if (!failure && interrupted()) stop_requested = true;
      for (; !failure && !run.is_stopped && batch.has_next(); keep_next(batch, run)) batch.finish_next();
    } catch (const abi::__forced_unwind&) {  // the thread ends in the callback
      stop_requested = true;
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure || run.is_stopped) stop_requested = true;
  };
  share_tasks(
      batch.tasks(), workers(), [&](Index task) { batch.train(task, stop_requested); }, keep);
  keep();
  if (failure) std::rethrow_exception(failure);
}

/// Trains this rank's tasks and exchanges results. `batch` is null on a rank that has failed.
template <class T>
void Search<T>::train_by_ranks(Batch<T>* batch, Index tasks, Run& run) {
  const Index rank = team_.rank(), ranks = team_.size(), own = TrialExchange::tasks_of(rank, ranks, tasks);
  const auto task_of = [&](Index i) { return TrialExchange::task_of(rank, ranks, i); };
  team_.attempt([&] {
    std::exception_ptr failure;
    const auto ask = [&]() noexcept {
      try {
        if (!failure && interrupted()) stop_requested = true;
      } catch (...) {  // thrown by the interrupt callback
        failure = std::current_exception();
        stop_requested = true;
      }
    };
    share_tasks(
        own, workers(), [&](Index i) { batch->train(task_of(i), stop_requested); }, ask);
    if (failure) std::rethrow_exception(failure);
    for (Index i = 0; i < own; ++i) batch->check(task_of(i));
  });
  exchange_.share_results(team_, tasks, [&](Index p) { return batch ? &batch->result(p) : nullptr; });
  team_.attempt([&] {
    batch->end_training();
    batch->finish_all();
  });
  team_.vote();
  while (!run.is_stopped && batch->has_next()) keep_next(*batch, run);
}

template <class T>
Status Search<T>::run(const Array& x, const Array& y, Index at_random, Index by_improvement,
                      const Progress& progress) {
  ArrayData data(x, y);
  std::optional<Folds> folds;
  Run run{x.rows, at_random, by_improvement, progress};
  team_.begin();
  team_.attempt([&] {
    check_space(run);
    check_data(*prototype_->model(), x, y);
    check_rows(x.rows);
    folds.emplace(x.rows, validation_.folds, validation_.spec.seed);
    const Index most = std::max(random_together(), parallel_trials_);
    if (!team_.is_alone()) exchange_.allocate(team_.size(), most, space_.size(), most * validation_.folds);
  });
  agree(data, run);
  const Reset reset(stop_requested);
  while (run.missing() > 0 && !run.is_stopped) run_batch({data, *folds}, run);
  return run.is_stopped ? Status::STOPPED : Status::OK;
}

template class Search<float>;
template class Search<double>;

}  // namespace bdl
