#include "search/search.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"

namespace bdl {
namespace {

/// Whoever asks for a stop later means another run.
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

/// Without ranges there is one set of values, and nothing to choose from.
template <class T>
void Search<T>::check_space(const Run& run) const {
  const Index trials = std::ssize(trials_) + run.at_random;
  if (space_.size() == 0 && (trials > 1 || run.by_improvement > 0))
    fail(Status::ERROR_UNSUPPORTED, "no option has a range to search, so there is one trial only, at random");
}

template <class T>
void Search<T>::check_rows(Index rows) const {
  if (validation_.folds > rows)
    fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, fewer than the search's %lld folds",
         static_cast<long long>(rows), static_cast<long long>(validation_.folds));
  if (rows_ > 0 && rows != rows_)
    fail(Status::ERROR_SHAPE, "x has %lld rows, those of the search's earlier trials %lld",
         static_cast<long long>(rows), static_cast<long long>(rows_));
}

/// Ranks that train folds for each other have everything in common.
template <class T>
void Search<T>::agree(DataSet& data, const Run& run) {
  if (team_.is_alone()) return;
  std::vector<std::uint32_t> hashes;
  Agreement mine;
  std::array<Having, 6> having{};
  team_.attempt([&] {
    hashes.resize(option_table().size());
    mine = prototype_->agreement(static_cast<std::uint8_t>(Call::search), run.rows, validation_.epochs, 0,
                                 true, hashes);
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
    if (!team_.is_alone()) exchange_.reserve(team_.size(), most, space_.size(), most * validation_.folds);
  });
  agree(data, run);
  const Reset reset(stop_requested);
  while (run.missing() > 0 && !run.is_stopped) take_batch({data, *folds}, run);
  return run.is_stopped ? Status::STOPPED : Status::OK;
}

template class Search<float>;
template class Search<double>;

}  // namespace bdl
