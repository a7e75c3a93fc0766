#include "inference/exact_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "linalg/parallel.hpp"
#include "linalg/woodbury.hpp"
#include "model/expected_loss.hpp"

namespace bdl {
namespace {

/// Elements of x_i and Sigma x_i held at a time: they should stay in the cache.
constexpr Index together = Index{1} << 17;

template <class T>
const Network<T>& single_index(const Model<T>& model) {
  if (!model.is_single_index() || model.likelihood.kind() == BDL_CATEGORICAL)
    fail(Status::ERROR_UNSUPPORTED,
         "exact expectations (curvature \"exact-hess\") need a network with one layer and one output, "
         "Bernoulli, Gaussian or Poisson");
  return dynamic_cast<const Network<T>&>(model);
}

}  // namespace

template <class T>
ExactEstimator<T>::ExactEstimator(const Model<T>& model) : network_(single_index(model)), outputs_(model) {}

template <class T>
Index ExactEstimator<T>::examples_together(Index examples) const {
  return std::clamp<Index>(together / (2 * network_.parameters()), 1, examples);
}

template <class T>
Estimate<T> ExactEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                        double weight) {
  const Index examples = x.cols, chunk = examples_together(examples);
  check_row_count(static_cast<double>(examples));
  outputs_.reserve(q, chunk);
  for (Buffer<T>* buffer : {&c_, &w_, &ones_}) buffer->reserve(examples);
  losses_.reserve(examples);
  for (Index first = 0; first < examples; first += chunk) {
    const auto part = x.columns(first, std::min(chunk, examples - first));
    outputs_.compute(q, part, first);
    integrate(y, first, part.cols, weight);
  }
  std::ranges::fill(ones_.first(examples), T(1));
  rows_.assign_single(network_, x, std::as_const(ones_).matrix(1, examples));
  const double* losses = losses_.data();
  return {&rows_, c_.first(examples), w_.first(examples), -std::accumulate(losses, losses + examples, 0.0)};
}

/// Of the examples for which outputs_ holds q(f).
template <class T>
void ExactEstimator<T>::integrate(ConstMatrixView<T> y, Index first, Index count, double weight) {
  constexpr Index grain = 16;  // some microseconds each
  parallel_blocks(count, grain, [&](Index begin, Index size) noexcept {
    for (Index i = begin; i < begin + size; ++i) {
      const ExpectedLoss expected =
          expected_loss(network_.likelihood, outputs_.mean()(0, i), outputs_.covariance(i)(0, 0),
                        static_cast<double>(y(0, first + i)));
      losses_.data()[first + i] = expected.loss;
      c_.data()[first + i] = static_cast<T>(weight * expected.slope);
      w_.data()[first + i] = static_cast<T>(weight * expected.curvature);
    }
  });
  for (Index i = first; i < first + count; ++i)
    if (!std::isfinite(losses_.data()[i]) || !std::isfinite(c_.data()[i]) || !std::isfinite(w_.data()[i]))
      fail(Status::ERROR_DIVERGED, "the expected log likelihood of example %lld is not finite",
           static_cast<long long>(i));
}

template <class T>
Index ExactEstimator<T>::bytes(const Posterior<T>& q, Index examples) const {
  const Index t = sizeof(T), f64 = sizeof(double), chunk = examples_together(examples);
  const Index scratch = q.family() == Family::low_rank
                            ? Woodbury<T>::scratch_bytes(q.dimension(), q.rank(), chunk)
                            : 2 * f64 * q.dimension();
  return FactoredRows<T>::bytes(network_.layers(), examples, 1) + examples * (3 * t + f64) +
         chunk * (t * (2 * q.dimension() + 1) + 2 * f64) + network_.tape_bytes(chunk, 1, 1) + scratch;
}

template class ExactEstimator<float>;
template class ExactEstimator<double>;

}  // namespace bdl
