#include "search/search.hpp"

#include <algorithm>

#include "base/callback_message.hpp"
#include "search/proposal.hpp"

namespace bdl {
namespace {

/// A failure of these is the caller's business, not a property of the options.
bool ends_search(Status status) {
  return status == Status::ERROR_OUT_OF_MEMORY || status == Status::ERROR_INTERNAL;
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

template <class T>
void Search<T>::check_rows(Index rows) const {
  if (validation_.folds > rows)
    fail(Status::ERROR_INVALID_ARGUMENT, "x has %lld rows, fewer than the search's %lld folds",
         static_cast<long long>(rows), static_cast<long long>(validation_.folds));
  if (rows_ > 0 && rows != rows_)
    fail(Status::ERROR_SHAPE, "x has %lld rows, those of the search's earlier trials %lld",
         static_cast<long long>(rows), static_cast<long long>(rows_));
}

/// Scores the trial, or gives it a message; false if it was stopped. Values that were tried before have the
/// same score again.
template <class T>
bool Search<T>::evaluate(DataSet& data, const Folds& folds, Trial& trial) {
  const auto same = std::ranges::find(trials_, trial.point, &Trial::point);
  if (same != trials_.end()) {
    trial = *same;
    return true;
  }
  trial.values = space_.values(trial.point);
  Options options = prototype_->options();
  space_.set(trial.values, options);
  try {
    const auto score = cross_validate(*prototype_, options, space_.has_prior_option(), {data, folds},
                                      validation_, stop_requested);
    if (!score) return false;
    trial.score = score->mean;
    trial.standard_error = score->standard_error;
  } catch (const Error& error) {
    if (ends_search(error.status())) throw;
    trial.message = error.what();
  }
  return true;
}

template <class T>
Status Search<T>::run(const Array& x, const Array& y, Index at_random, Index by_improvement,
                      const Progress& progress) {
  if (space_.size() == 0) fail(Status::ERROR_UNSUPPORTED, "no option has a range to search");
  ArrayData data = checked_data(*prototype_->model(), x, y);
  check_rows(x.rows);
  const std::uint64_t seed = validation_.spec.seed;
  const Folds folds(x.rows, validation_.folds, seed);
  for (Index k = 0; k < at_random + by_improvement; ++k) {
    const auto number = static_cast<Index>(trials_.size());
    Trial trial;
    trial.point = k < at_random ? random_point(space_, seed, number) : promising_point(space_, trials_, seed);
    const bool completed = evaluate(data, folds, trial);
    if (completed) {
      trials_.push_back(std::move(trial));
      rows_ = x.rows;
    }
    forget_callback_message();
    const std::int32_t answer = completed && progress.function ? progress.function(progress.context) : 0;
    const bool requested = stop_requested.exchange(false);
    if (answer < 0)
      fail(Status::ERROR_CALLBACK, "the progress callback returned %d%s", answer, callback_message());
    if (!completed || ((answer > 0 || requested) && k + 1 < at_random + by_improvement))
      return Status::STOPPED;
  }
  return Status::OK;
}

template class Search<float>;
template class Search<double>;

}  // namespace bdl
