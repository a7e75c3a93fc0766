#include "inference/natural_gradient_step.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace bdl {

template <class T>
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision) {
  const Index dimension = q.dimension(), count = rows.count();
  Buffer<T> weights(count), step(dimension);
  const auto w = weights.first(count), direction = step.first(dimension);
  std::ranges::fill(w, static_cast<T>(scale));
  rows.sum(w, direction);
  std::ranges::fill(w, static_cast<T>(scale * curvature_rate));
  ProjectionOptions exact;
  exact.method = dimension < q.rank() + count ? EigenMethod::outer : EigenMethod::gram;
  UpdateWorkspace<T> workspace;
  const auto next = q.clone();
  next->update(q, {&rows, w, curvature_rate, prior_precision, exact, {}}, workspace);
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += prior_precision[i] * q.mean()[i];
  next->solve({direction.data(), dimension, 1}, workspace.scratch);
  for (std::size_t i = 0; i < direction.size(); ++i)
    next->mean()[i] -= static_cast<T>(learning_rate) * direction[i];
  if (!std::ranges::all_of(next->mean(), [](T value) { return std::isfinite(value); }))
    fail(Status::ERROR_DIVERGED, "the mean is not finite after the step");
  next->set_blank(false);
  q.swap(*next);
}

template void natural_gradient_step(Posterior<float>&, DenseRows<float>&, double, double, double,
                                    ConstSpan<float>);
template void natural_gradient_step(Posterior<double>&, DenseRows<double>&, double, double, double,
                                    ConstSpan<double>);

}  // namespace bdl
