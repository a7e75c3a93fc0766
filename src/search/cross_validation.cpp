#include "search/cross_validation.hpp"

#include <cmath>
#include <exception>
#include <numeric>

#include "inference/batch/fit.hpp"
#include "parallel/parallel.hpp"
#include "predict/predict.hpp"

namespace bdl {
namespace {

std::int32_t is_stopped(void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load(std::memory_order_relaxed);
}

template <class T>
struct Task {
  const Optimizer<T>& prototype;
  const Options& options;
  bool reset_prior;
  const FoldedData& data;
  const Validation& validation;
  std::atomic<bool>& stop;

  /// Mean log density of the rows left out; nothing if stopped.
  std::optional<double> score(Index fold) const {
    Subset train(data.all, data.folds.train(fold)), test(data.all, data.folds.test(fold));
    const double share = static_cast<double>(train.rows()) / static_cast<double>(data.all.rows());
    const double data_size = std::max(1.0, std::round(share * static_cast<double>(prototype.data_size())));
    const auto optimizer = blank_copy(prototype, static_cast<Index>(data_size));
    Options each_step = options;
    each_step.progress_every = 1;
    optimizer->set_options(each_step, reset_prior);
    if (fit(*optimizer, train, validation.epochs, {is_stopped, &stop}) == Status::STOPPED) return {};
    return mean_log_density(*optimizer, test);
  }

  /// Of examples in the caller's units, as many at a time as predictions take.
  double mean_log_density(const Optimizer<T>& optimizer, DataSet& test) const {
    const Index together = std::min(test.rows(), ChunkLimits().examples);
    Buffer<double> x(together * test.inputs()), y(together * test.targets());
    std::vector<double> densities(static_cast<std::size_t>(test.rows()));
    for (Index first = 0; first < test.rows(); first += together) {
      const Index rows = std::min(together, test.rows() - first);
      const auto inputs = x.matrix(test.inputs(), rows), targets = y.matrix(test.targets(), rows);
      test.fetch({first, rows}, {}, inputs, targets);
      predict_log_density(
          Query<T>{*optimizer.model(), *optimizer.posterior(), as_array<double>(inputs), validation.spec},
          as_array<double>(targets), bdl_f64_out(densities.data() + first, rows, 1));
    }
    return std::accumulate(densities.begin(), densities.end(), 0.0) / static_cast<double>(test.rows());
  }
};

struct Outcome {
  std::optional<double> score;
  std::exception_ptr error;
};

template <class T>
std::vector<Outcome> all_outcomes(const Task<T>& task) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(task.validation.folds));
  auto run = [&](Index fold) noexcept {
    Outcome& outcome = outcomes[static_cast<std::size_t>(fold)];
    try {
      outcome.score = task.score(fold);
    } catch (const Error& error) {
      if (error.status() != Status::STOPPED) outcome.error = std::current_exception();
    } catch (...) {
      outcome.error = std::current_exception();
    }
    // Only the calling thread knows that its caller interrupts it: the other folds end as well.
    if (!outcome.score && !outcome.error) task.stop.store(true);
  };
  // Callbacks of the caller's run on the thread of the call.
  const bool is_user_model = !task.prototype.model()->graph();
  const ThreadLimit threads(task.options.threads);
  if (!is_user_model)
    parallel_for(task.validation.folds, run);
  else
    for (Index fold = 0; fold < task.validation.folds; ++fold) run(fold);
  return outcomes;
}

void rethrow(const std::exception_ptr& error, std::size_t fold, std::size_t folds) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& failure) {
    fail(failure.status(), "fold %zu of %zu: %s", fold + 1, folds, failure.what());
  }
}

}  // namespace

template <class T>
std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>& optimizer, Index data_size) {
  std::shared_ptr<Posterior<T>> posterior = optimizer.posterior()->clone();
  posterior->reset();
  auto copy =
      std::make_unique<Optimizer<T>>(optimizer.model()->clone(), posterior, optimizer.method(), data_size);
  copy->set_options(optimizer.options());
  if (optimizer.prior().is_fixed()) copy->prior().fix(optimizer.prior());
  return copy;
}

template <class T>
std::optional<Score> cross_validate(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                                    const FoldedData& data, const Validation& validation,
                                    std::atomic<bool>& stop) {
  const auto outcomes = all_outcomes(Task<T>{prototype, options, reset_prior, data, validation, stop});
  const auto count = static_cast<double>(outcomes.size());
  double mean = 0, square = 0;
  for (const Outcome& outcome : outcomes)
    if (!outcome.error && !outcome.score) return {};
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (outcomes[k].error) rethrow(outcomes[k].error, k, outcomes.size());
    mean += *outcomes[k].score / count;
  }
  for (const Outcome& outcome : outcomes) square += (*outcome.score - mean) * (*outcome.score - mean);
  return Score{mean, std::sqrt(square / (count - 1) / count)};
}

#define BDL_INSTANTIATE(T)                                                                                   \
  template std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>&, Index);                             \
  template std::optional<Score> cross_validate(const Optimizer<T>&, const Options&, bool, const FoldedData&, \
                                               const Validation&, std::atomic<bool>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
