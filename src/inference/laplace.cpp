#include "inference/laplace.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "curvature/data_rows.hpp"
#include "inference/kronecker_laplace.hpp"
#include "inference/methods/rule.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

// The range finder starts from nothing, not from the factor of the step before.
constexpr Index cold_passes = 12;

}  // namespace

template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples) {
  const Posterior<T>& q = *optimizer.posterior();
  check_laplace_family(q.family());
  const EigenMethod method = projection_options(optimizer.options()).method;
  if (q.family() == Family::low_rank && q.rank() > 0 && method == EigenMethod::gram &&
      !DataRows<T>::has_gram(*optimizer.model(), examples))
    fail(Status::ERROR_UNSUPPORTED,
         "%lld examples are too many for the Gram matrix that option \"eigen_method\" asks of Laplace's "
         "approximation",
         static_cast<long long>(examples));
}

/// One natural step of rate 1 from the prior: Sigma^-1 = 0 Lambda_0 + H + Lambda_0, projected to the family.
template <class T>
std::unique_ptr<Posterior<T>> laplace_by_rows(Optimizer<T>& optimizer, DataSet& data, double weight) {
  const Posterior<T>& q = *optimizer.posterior();
  const Options& options = optimizer.options();
  DataRows<T> rows(*optimizer.model(), q.mean(), data, weight, q.statistics());
  const auto prior = q.clone();
  auto next = q.clone();
  prior->set_diagonal(optimizer.prior().precision(), {});
  Buffer<T> zeros(q.dimension());
  std::fill_n(zeros.data(), q.dimension(), T(0));
  PosteriorStep<T> step{*prior};
  step.m = zeros.first(q.dimension());
  step.mean_rate = 0;
  step.curvature = {&rows, rows.weights(), {}, {}};
  optimizer.prior().enter(step);
  step.projection = projection_options(options);
  step.projection.passes = std::max(step.projection.passes, cold_passes);
  step.random = {static_cast<std::uint64_t>(options.seed), Stream::range_finder,
                 static_cast<std::uint64_t>(optimizer.state.step), 0};
  UpdateWorkspace<T> workspace;
  next->take(step, workspace);
  return next;
}

template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data) {
  check_laplace(optimizer, data.rows());
  Posterior<T>& q = *optimizer.posterior();
  const ThreadLimit threads(optimizer.options().threads);
  const double weight = static_cast<double>(optimizer.data_size()) / static_cast<double>(data.rows());
  Interruptible work;
  const auto next = q.family() == Family::kronecker ? kronecker_laplace(optimizer, data, weight)
                                                    : laplace_by_rows(optimizer, data, weight);
  work.end();
  next->set_blank(false);
  q.swap(*next);
  optimizer.forget_good_state();
}

template void check_laplace(const Optimizer<float>&, Index);
template void check_laplace(const Optimizer<double>&, Index);
template void take_laplace(Optimizer<float>&, DataSet&);
template void take_laplace(Optimizer<double>&, DataSet&);

}  // namespace bdl
