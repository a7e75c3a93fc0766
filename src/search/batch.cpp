#include "search/batch.hpp"

#include <algorithm>
#include <cmath>

namespace bdl {

template <class T>
Batch<T>::Batch(const TrialSetting<T>& setting, const FoldedData& data, std::vector<Trial> trials,
                ConstSpan<Trial> before)
    : setting_(setting),
      data_(data),
      trials_(std::move(trials)),
      results_(trials_.size() * static_cast<std::size_t>(setting.validation.folds)),
      sources_(std::make_unique<Source[]>(trials_.size())) {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    Trial& trial = trials_[i];
    trial.values = setting_.space.values(trial.point);
    const auto same = std::ranges::find(before, trial.point, &Trial::point);
    const auto first = std::ranges::find(trials_, trial.point, &Trial::point) - trials_.begin();
    sources_[i].trial = same == before.end() ? first : -1;
    sources_[i].left = first == static_cast<Index>(i) ? setting.validation.folds : 0;
    if (same == before.end()) continue;
    trial.score = same->score;
    trial.standard_error = same->standard_error;
    trial.message = same->message;
  }
}

template <class T>
void Batch<T>::train(Index task, std::atomic<bool>& stop) noexcept {
  const Index folds = setting_.validation.folds, trial = task / folds;
  Source& source = sources_[static_cast<std::size_t>(trial)];
  if (source.trial != trial) return;
  Options options = setting_.prototype.options();
  setting_.space.set(trials_[static_cast<std::size_t>(trial)].values, options);
  if (setting_.one_thread_each) options.threads = 1;
  result(task) = validate_fold(setting_.prototype, options, setting_.space.has_prior_option(), data_,
                               task % folds, setting_.validation, stop);
  source.left.fetch_sub(1, std::memory_order_release);
}

template <class T>
void Batch<T>::end_training() noexcept {
  for (std::size_t i = 0; i < trials_.size(); ++i) sources_[i].left = 0;
}

template <class T>
ConstSpan<FoldResult> Batch<T>::results_of(Index trial) const {
  const auto folds = static_cast<std::size_t>(setting_.validation.folds);
  return ConstSpan<FoldResult>(results_).subspan(static_cast<std::size_t>(trial) * folds, folds);
}

template <class T>
bool Batch<T>::is_ready(std::size_t trial) const {
  if (trial == trials_.size()) return false;
  const Index source = sources_[trial].trial;
  if (source < 0) return true;
  if (sources_[static_cast<std::size_t>(source)].left.load(std::memory_order_acquire) > 0) return false;
  return std::ranges::none_of(results_of(source),
                              [](const FoldResult& r) { return r.status == Status::STOPPED; });
}

template <class T>
void Batch<T>::check(Index task) const {
  const FoldResult& result = results_[static_cast<std::size_t>(task)];
  const Index folds = setting_.validation.folds;
  if (result.status == Status::ERROR_OUT_OF_MEMORY || result.status == Status::ERROR_INTERNAL)
    fail(result.status, "fold %lld of %lld: %s", static_cast<long long>(task % folds + 1),
         static_cast<long long>(folds), result.message);
}

/// The message of a trial is that of its first fold that has failed.
template <class T>
void Batch<T>::finish(std::size_t number) {
  const Index source = sources_[number].trial;
  if (source < 0) return;
  Trial& trial = trials_[number];
  const auto results = results_of(source);
  const auto folds = static_cast<double>(results.size());
  double mean = 0, square = 0;
  for (std::size_t k = 0; k < results.size(); ++k) {
    check(source * std::ssize(results) + static_cast<Index>(k));
    mean += results[k].score / folds;
    if (results[k].status == Status::OK) continue;
    trial.message =
        "fold " + std::to_string(k + 1) + " of " + std::to_string(results.size()) + ": " + results[k].message;
    return;
  }
  for (const FoldResult& r : results) square += (r.score - mean) * (r.score - mean);
  trial.score = mean;
  trial.standard_error = std::sqrt(square / (folds - 1) / folds);
}

template <class T>
void Batch<T>::finish_all() {
  for (std::size_t i = next_; is_ready(i); ++i) finish(i);
}

template class Batch<float>;
template class Batch<double>;

}  // namespace bdl
