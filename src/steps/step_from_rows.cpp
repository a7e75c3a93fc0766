#include "steps/step_from_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "prior/prior.hpp"

namespace bdl {

template <class T>
void natural_gradient_step(Posterior<T>& q, DenseRows<T>& rows, double scale, double learning_rate,
                           double curvature_rate, ConstSpan<T> prior_precision) {
  if (!q.point_parameters().is_empty())
    fail(Status::ERROR_UNSUPPORTED, "rows do not tell how the posterior's point parameters are to move");
  const Index dimension = q.dimension(), count = rows.count();
  Buffer<T> weights(count), slope(dimension);
  const auto w = weights.first(count), m = slope.first(dimension);
  std::ranges::fill(w, static_cast<T>(scale));
  rows.sum(w, m);
  auto prior = Prior<T>::fixed(prior_precision);
  Scratch scratch;
  prior.add_slope(std::as_const(q).mean(), m, scratch);
  PosteriorStep<T> step{q};
  step.m = m;
  step.curvature = {&rows, w, {}, {}};
  step.mean_rate = learning_rate;
  step.curvature_rate = curvature_rate;
  prior.enter(step);
  step.indefinite = Indefinite::error;  // nobody would hear of it
  step.projection.method = dimension < q.rank() + count ? EigenMethod::outer : EigenMethod::gram;
  const auto next = q.clone();
  next->update(step, scratch);
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
