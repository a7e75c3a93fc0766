#include "c_api/guard.hpp"
#include "c_api/handles.hpp"
#include "predict/predict.hpp"

namespace bdl {
namespace {

/// E_q[sum over N examples of log p], estimated from the n given.
template <class T>
double scaled_log_likelihood(const Optimizer<T>& optimizer, const Array& x, const Array& y,
                             const PredictSpec& spec) {
  if (!optimizer.model()) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
  const double sum = expected_log_likelihood<T>({*optimizer.model(), *optimizer.posterior(), x, spec}, y);
  return sum * static_cast<double>(optimizer.data_size()) / static_cast<double>(x.rows);
}

}  // namespace
}  // namespace bdl

bdl_status bdl_optimizer_elbo(const bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t samples,
                              uint64_t seed, double* expected_log_likelihood, double* kl) {
  return bdl::interruptible_guard("bdl_optimizer_elbo", [&] {
    bdl::with(optimizer, "optimizer", [&](const auto& o) {
      const bdl_predict_method method = samples == 0 ? BDL_QUADRATURE : BDL_MONTE_CARLO;
      const double likelihood = bdl::checked_result(
          bdl::scaled_log_likelihood(o, x, y, {method, samples, seed}), "expected_log_likelihood");
      const double divergence = kl ? bdl::checked_result(o.kl(), "kl") : 0;
      if (expected_log_likelihood) *expected_log_likelihood = likelihood;
      if (kl) *kl = divergence;
    });
  });
}
