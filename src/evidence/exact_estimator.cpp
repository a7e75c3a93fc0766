#include "evidence/exact_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "likelihood/expected_loss.hpp"
#include "linalg/tall/woodbury.hpp"
#include "parallel/parallel.hpp"
#include "posterior/full/dense_step.hpp"

namespace bdl {
template <class T>
const DenseShape& exact_layer(const Model<T>& model) {
  if (!model.has_exact_expectations())
    fail(Status::ERROR_UNSUPPORTED,
         "exact expectations (curvature \"exact-hess\") need a network with one layer and one output, not "
         "categorical, heteroscedastic or Student t");
  return model.graph()->dense().front();
}

template <class T>
ExactEstimator<T>::ExactEstimator(const Model<T>& model)
    : model_(model), layer_(exact_layer(model)), rows_(*model.graph()) {}

template <class T>
Index ExactEstimator<T>::examples_together(Index examples) const {
  return std::clamp<Index>(exact_numbers_together / model_.parameters(), 1, examples);
}

template <class T>
Estimate<T> ExactEstimator<T>::estimate(const Posterior<T>& q, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                        double weight, Index first, ExampleLoss loss) {
  const Index examples = x.cols;
  check_row_count(static_cast<double>(examples));
  for (Buffer<T>* buffer : {&c_, &w_}) buffer->reserve(examples);
  losses_.reserve(examples);
  if (loss == ExampleLoss::at_mean) {
    find_means(q, x);
    variances_.reserve(examples);
    std::fill_n(variances_.data(), examples, 0.0);
  } else {
    find_outputs(q, x);
  }
  integrate(y, weight, first, loss);
  const double* losses = losses_.data();
  return estimate_of(x, -std::accumulate(losses, losses + examples, 0.0));
}

template <class T>
void ExactEstimator<T>::find_outputs(const Posterior<T>& q, ConstMatrixView<T> x) {
  find_means(q, x);
  find_variances(q, x);
}

template <class T>
void ExactEstimator<T>::find_means(const Posterior<T>& q, ConstMatrixView<T> x) {
  model_.forward(q.mean(), x, f_.matrix(1, x.cols), scratch_);
  check_outputs_finite<T>(std::as_const(f_).matrix(1, x.cols));
}

/// Returns the estimate that consists of the rows x_i, and of c and w as integrate() has written them.
template <class T>
Estimate<T> ExactEstimator<T>::estimate_of(ConstMatrixView<T> x, double expected_log_likelihood) {
  std::ranges::fill(ones_.first(x.cols), T(1));
  rows_.assign_single(model_.graph()->features(x), std::as_const(ones_).matrix(1, x.cols));
  return {&rows_, c_.first(x.cols), w_.first(x.cols), expected_log_likelihood, true};
}

/// Writes x_i^T Sigma x_i, where x_i is laid out like theta and has a 1 at the place of the bias.
template <class T>
void ExactEstimator<T>::find_variances(const Posterior<T>& q, ConstMatrixView<T> x) {
  const Index most = examples_together(x.cols);
  variances_.reserve(x.cols);
  for (Index first = 0; first < x.cols; first += most) {
    const auto rows = inputs_.matrix(q.dimension(), std::min(most, x.cols - first));
    for (Index i = 0; i < rows.cols; ++i) {
      std::copy_n(x.column_data(first + i), layer_.inputs, rows.column_data(i) + layer_.weight_offset);
      if (layer_.bias_offset >= 0) rows(layer_.bias_offset, i) = 1;
    }
    q.variances(rows, {variances_.data() + first, static_cast<std::size_t>(rows.cols)}, posterior_scratch_);
  }
}

template <class T>
void ExactEstimator<T>::integrate(ConstMatrixView<T> y, double weight, Index first, ExampleLoss loss) {
  constexpr Index grain = 16;  // a task of some microseconds
  const auto expectations = [&](double m, double v, double target) {
    if (loss == ExampleLoss::quadratic) return expected_quadratic_loss(model_.likelihood, m, v, target);
    return loss == ExampleLoss::of_many ? expected_loss_of_many(model_.likelihood, m, v, target)
                                        : expected_loss(model_.likelihood, m, v, target);
  };
  parallel_blocks(y.cols, grain, [&](Index begin, Index count) noexcept {
    for (Index i = begin; i < begin + count; ++i) {
      const auto m = static_cast<double>(f_.data()[i]), target = static_cast<double>(y(0, i));
      const double v = variances_.data()[i];
      const T* const row = y.column_data(i);
      const double times = model_.likelihood.weight(row);
      const ExpectedLoss expected = times > 0 ? expectations(m, v, target) : ExpectedLoss{};
      losses_.data()[i] = times * expected.loss - model_.likelihood.log_orders(row);
      c_.data()[i] = static_cast<T>(weight * times * expected.slope);
      w_.data()[i] = static_cast<T>(weight * times * expected.curvature);
    }
  });
  for (Index i = 0; i < y.cols; ++i)
    if (!std::isfinite(losses_.data()[i]) || !std::isfinite(c_.data()[i]) || !std::isfinite(w_.data()[i]))
      fail(Status::ERROR_DIVERGED,
           "the expected log likelihood of example %lld (counting from 0) is not finite",
           static_cast<long long>(first + i));
}

template class ExactEstimator<float>;
template class ExactEstimator<double>;
template const DenseShape& exact_layer(const Model<float>&);
template const DenseShape& exact_layer(const Model<double>&);

}  // namespace bdl
