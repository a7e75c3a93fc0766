#include "search/cross_validation.hpp"

#include <cmath>
#include <cstdio>
#include <new>
#include <numeric>
#include <stdexcept>

#include "predict/predict.hpp"
#include "train/fit.hpp"

namespace bdl {
namespace {

std::int32_t is_stopped(void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load(std::memory_order_relaxed);
}

/// Returns the mean log density of examples, by their weights, in the caller's units, computed in chunks of
/// predictions' size.
template <class T>
double mean_log_density(const Optimizer<T>& optimizer, DataSet& test, const PredictSpec& spec) {
  const Index together = std::min(test.rows(), ChunkLimits().examples);
  Buffer<double> x(together * test.inputs()), y(together * test.targets());
  std::vector<double> densities(static_cast<std::size_t>(test.rows()));
  double weights = 0;
  for (Index first = 0; first < test.rows(); first += together) {
    const Index rows = std::min(together, test.rows() - first);
    const auto inputs = x.matrix(test.inputs(), rows), targets = y.matrix(test.targets(), rows);
    test.fetch({first, rows}, {}, inputs, targets);
    for (Index i = 0; i < rows; ++i) weights += optimizer.model()->likelihood.weight(targets.column_data(i));
    predict_log_density(Query<T>{*optimizer.model(), *optimizer.posterior(), as_array<double>(inputs), spec},
                        as_array<double>(targets), bdl_f64_out(densities.data() + first, rows, 1));
  }
  return weights > 0 ? std::accumulate(densities.begin(), densities.end(), 0.0) / weights : 0;
}

template <class T>
FoldResult trained_fold(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                        const FoldedData& data, Index fold, const Validation& validation,
                        std::atomic<bool>& stop) {
  Subset train(data.all, data.folds.train(fold)), test(data.all, data.folds.test(fold));
  const double fraction = static_cast<double>(train.rows()) / static_cast<double>(data.all.rows());
  const double data_size = std::max(1.0, std::round(fraction * static_cast<double>(prototype.data_size())));
  const auto optimizer = blank_copy(prototype, static_cast<Index>(data_size));
  Options each_step = options;
  each_step.progress_every = 1;
  optimizer->set_options(each_step, reset_prior);
  if (fit(*optimizer, train, validation.epochs, {is_stopped, &stop}) == Status::STOPPED) return {};
  return {Status::OK, mean_log_density(*optimizer, test, validation.spec)};
}

/// Called in an exception handler: returns the failure.
FoldResult failure() noexcept {
  FoldResult result;
  const auto say = [&](Status status, const char* words) {
    result.status = status;
    std::snprintf(result.message, sizeof result.message, "%s", words);
  };
  try {
    throw;
  } catch (const Error& error) {
    say(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    say(Status::ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    say(Status::ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    say(Status::ERROR_INTERNAL, error.what());
  } catch (...) {
    say(Status::ERROR_INTERNAL, "unknown exception");
  }
  return result;
}

}  // namespace

template <class T>
std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>& optimizer, Index data_size) {
  std::shared_ptr<Posterior<T>> posterior = optimizer.posterior()->clone();
  posterior->reset();
  auto copy =
      std::make_unique<Optimizer<T>>(optimizer.model()->clone(), posterior, optimizer.method(), data_size);
  copy->set_options(optimizer.options());
  if (optimizer.normals().given())
    copy->set_normals(optimizer.normals());
  else if (optimizer.prior().is_fixed())
    copy->prior().fix(optimizer.prior());
  return copy;
}

template <class T>
FoldResult validate_fold(const Optimizer<T>& prototype, const Options& options, bool reset_prior,
                         const FoldedData& data, Index fold, const Validation& validation,
                         std::atomic<bool>& stop) noexcept {
  FoldResult result;
  try {
    if (!stop) result = trained_fold(prototype, options, reset_prior, data, fold, validation, stop);
  } catch (...) {
    result = failure();
  }
  // Only the calling thread is asked for interrupts, so it stops the other folds too.
  if (result.status == Status::STOPPED) stop = true;
  return result;
}

#define BDL_INSTANTIATE(T)                                                                               \
  template std::unique_ptr<Optimizer<T>> blank_copy(const Optimizer<T>&, Index);                         \
  template FoldResult validate_fold(const Optimizer<T>&, const Options&, bool, const FoldedData&, Index, \
                                    const Validation&, std::atomic<bool>&) noexcept;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
