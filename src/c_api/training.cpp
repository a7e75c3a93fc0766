#include "base/interrupt.hpp"
#include "bdl/dataset.h"
#include "c_api/convert.hpp"
#include "c_api/guard.hpp"
#include "c_api/handles.hpp"
#include "model/checked_data.hpp"
#include "predict/predict.hpp"
#include "train/fit.hpp"
#include "train/start.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Calls visit(optimizer) for a call that trains; fails if there is no model.
template <class Visit>
void with_model(bdl_optimizer* optimizer, Visit&& visit) {
  with_training(optimizer, [&](auto& o) {
    model_of(o);
    visit(o);
  });
}

/// Rows of a data set whose expectations are computed together.
constexpr Index rows_of_chunk = 1024;

/// Returns E_q[sum over the n examples of log p].
template <class T>
double sum_over(const Optimizer<T>& optimizer, const Array& x, const Array& y, const PredictSpec& spec) {
  return expected_log_likelihood<T>({model_of(optimizer), *optimizer.posterior(), x, spec}, y);
}

template <class T>
double sum_over(const Optimizer<T>& optimizer, DataSet& all, const PredictSpec& spec) {
  CheckedData data(model_of(optimizer), all);
  const Index most = std::min(rows_of_chunk, data.rows());
  Buffer<double> x(most * data.inputs()), y(most * data.targets());
  double sum = 0;
  for (Index first = 0; first < data.rows(); first += most) {
    if (first > 0) check_interrupt();
    const Index count = std::min(most, data.rows() - first);
    const auto inputs = x.matrix(data.inputs(), count), targets = y.matrix(data.targets(), count);
    data.fetch({first, count}, {}, inputs, targets);
    sum += sum_over(optimizer, as_array<double>(inputs), as_array<double>(targets), spec);
  }
  return sum;
}

PredictSpec spec_of(Index samples, std::uint64_t seed) {
  return {samples == 0 ? BDL_QUADRATURE : BDL_MONTE_CARLO, samples, seed};
}

/// Writes both terms of the ELBO; the sum over n examples is scaled to N.
template <class T>
void write_elbo(const Optimizer<T>& optimizer, double sum, Index examples, double* expected_log_likelihood,
                double* kl) {
  const double scaled = sum * static_cast<double>(optimizer.data_size()) / static_cast<double>(examples),
               likelihood = checked_result(scaled, "expected_log_likelihood"),
               divergence = kl ? checked_result(kl_from_prior(optimizer), "kl") : 0;
  if (expected_log_likelihood) *expected_log_likelihood = likelihood;
  if (kl) *kl = divergence;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_initialize(bdl_optimizer* optimizer) {
  return guard(__func__, [&] { with_training(optimizer, [](auto& o) { initialize(o); }); });
}

bdl_status bdl_optimizer_step(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y) {
  return guard(__func__, [&] { with_model(optimizer, [&](auto& o) { step(o, x, y); }); });
}

bdl_status bdl_optimizer_step_rows(bdl_optimizer* optimizer, bdl_matrix rows) {
  return guard(__func__, [&] { with_training(optimizer, [&](auto& o) { step_rows(o, rows); }); });
}

bdl_status bdl_optimizer_fit(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t epochs,
                             bdl_progress_fn progress, void* user_data) {
  return guard(__func__, [&] {
    Status status = Status::OK;
    with_model(optimizer, [&](auto& o) {
      o.team.check_before([&] { check_range(epochs, 0, INT32_MAX, "epochs"); });
      CallerProgress<bdl_optimizer> caller{progress, user_data, optimizer};
      status = fit(o, x, y, epochs, caller.progress());
    });
    return static_cast<bdl_status>(status);
  });
}

bdl_status bdl_optimizer_laplace(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y) {
  return guard(__func__, [&] { with_model(optimizer, [&](auto& o) { laplace(o, x, y); }); });
}

bdl_status bdl_optimizer_start_noise(bdl_optimizer* optimizer, bdl_matrix y) {
  return guard(__func__, [&] {
    with_model(optimizer, [&](auto& o) {
      if (o.model()->offsets() > 0)
        fail(Status::ERROR_UNSUPPORTED,
             "the rows have offsets, which stand in x: use bdl_optimizer_start_noise_dataset()");
      o.model()->likelihood.check_targets(y, y.rows, "y", true);
      ArrayData targets({}, y);
      start_noises(o, targets);
    });
  });
}

void bdl_optimizer_request_stop(bdl_optimizer* optimizer) {
  if (optimizer) std::visit([](const auto& o) { o->stop_requested.store(true); }, optimizer->object);
}

bdl_status bdl_optimizer_progress(const bdl_optimizer* optimizer, int64_t* step, int64_t* planned,
                                  double* epoch) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    if (step) *step = o.state.step;
    if (planned) *planned = o.state.plan.end;
    const double part =
        o.state.batch == 0 ? 0 : static_cast<double>(o.state.batch) / static_cast<double>(o.state.batches);
    if (epoch) *epoch = static_cast<double>(o.state.epoch) + part;
  });
}

bdl_status bdl_optimizer_running_elbo(const bdl_optimizer* optimizer, double* expected_log_likelihood,
                                      double* kl) {
  return guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    const Standardization& standardization = model_of(o).standardization;
    if (o.state.running_steps == 0) fail(Status::ERROR_UNSUPPORTED, "no step has been taken yet");
    const double divergence = kl ? checked_result(kl_from_prior(o), "kl") : 0;
    const double likelihood = o.state.running_log_likelihood - o.data_weight() * standardization.log_scale();
    if (expected_log_likelihood)
      *expected_log_likelihood = checked_result(likelihood, "expected_log_likelihood");
    if (kl) *kl = divergence;
  });
}

bdl_status bdl_optimizer_fit_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t epochs,
                                     bdl_progress_fn progress, void* user_data) {
  return guard(__func__, [&] {
    Status status = Status::OK;
    with_model(optimizer, [&](auto& o) {
      o.team.check_before([&] {
        not_null(dataset, "dataset");
        check_range(epochs, 0, INT32_MAX, "epochs");
      });
      CallerProgress<bdl_optimizer> caller{progress, user_data, optimizer};
      with_rows(dataset, [&](DataSet& rows) { status = fit(o, rows, epochs, caller.progress()); });
    });
    return static_cast<bdl_status>(status);
  });
}

bdl_status bdl_optimizer_start_noise_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset) {
  return guard(__func__, [&] {
    with_model(optimizer, [&](auto& o) {
      with_rows(dataset, [&](DataSet& rows) {
        CheckedData checked(*o.model(), rows);
        start_noises(o, checked);
      });
    });
  });
}

bdl_status bdl_optimizer_laplace_dataset(bdl_optimizer* optimizer, bdl_dataset* dataset) {
  return guard(__func__, [&] {
    with_model(optimizer, [&](auto& o) {
      o.team.check_before([&] { not_null(dataset, "dataset"); });
      with_rows(dataset, [&](DataSet& rows) { laplace(o, rows); });
    });
  });
}

bdl_status bdl_optimizer_elbo(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t samples,
                              uint64_t seed, double* expected_log_likelihood, double* kl) {
  return interruptible_guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    const double sum = sum_over(o, x, y, spec_of(samples, seed));
    write_elbo(o, sum, x.rows, expected_log_likelihood, kl);
  });
}

bdl_status bdl_optimizer_elbo_dataset(const bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t samples,
                                      uint64_t seed, double* expected_log_likelihood, double* kl) {
  return interruptible_guard(__func__, optimizer, "optimizer", [&](const auto& o) {
    with_rows(dataset, [&](DataSet& rows) {
      const double sum = sum_over(o, rows, spec_of(samples, seed));
      write_elbo(o, sum, rows.rows(), expected_log_likelihood, kl);
    });
  });
}
