#include "base/interrupt.hpp"
#include "c_api/dataset_handle.hpp"
#include "c_api/guard.hpp"
#include "c_api/handles.hpp"
#include "model/checked_data.hpp"
#include "predict/predict.hpp"

namespace bdl {
namespace {

/// Rows of a data set whose expectations are computed together.
constexpr Index rows_of_part = 1024;

/// E_q[sum over the n examples of log p].
template <class T>
double sum_over(const Optimizer<T>& optimizer, const Array& x, const Array& y, const PredictSpec& spec) {
  return expected_log_likelihood<T>({model_of(optimizer), *optimizer.posterior(), x, spec}, y);
}

template <class T>
double sum_over(const Optimizer<T>& optimizer, DataSet& all, const PredictSpec& spec) {
  CheckedData data(model_of(optimizer), all);
  const Index most = std::min(rows_of_part, data.rows());
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

/// The ELBO's parts from the sum over n examples, which count as N.
template <class T>
void write_elbo(const Optimizer<T>& optimizer, double sum, Index examples, double* expected_log_likelihood,
                double* kl) {
  const double scaled = sum * static_cast<double>(optimizer.data_size()) / static_cast<double>(examples),
               likelihood = checked_result(scaled, "expected_log_likelihood"),
               divergence = kl ? checked_result(optimizer.kl(), "kl") : 0;
  if (expected_log_likelihood) *expected_log_likelihood = likelihood;
  if (kl) *kl = divergence;
}

}  // namespace
}  // namespace bdl

bdl_status bdl_optimizer_elbo(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t samples,
                              uint64_t seed, double* expected_log_likelihood, double* kl) {
  return bdl::interruptible_guard("bdl_optimizer_elbo", [&] {
    bdl::with(optimizer, "optimizer", [&](const auto& o) {
      const double sum = bdl::sum_over(o, x, y, bdl::spec_of(samples, seed));
      bdl::write_elbo(o, sum, x.rows, expected_log_likelihood, kl);
    });
  });
}

bdl_status bdl_optimizer_elbo_dataset(const bdl_optimizer* optimizer, bdl_dataset* dataset, int64_t samples,
                                      uint64_t seed, double* expected_log_likelihood, double* kl) {
  return bdl::interruptible_guard("bdl_optimizer_elbo_dataset", [&] {
    bdl::with(optimizer, "optimizer", [&](const auto& o) {
      bdl::with_rows(dataset, [&](bdl::DataSet& rows) {
        const double sum = bdl::sum_over(o, rows, bdl::spec_of(samples, seed));
        bdl::write_elbo(o, sum, rows.rows(), expected_log_likelihood, kl);
      });
    });
  });
}
