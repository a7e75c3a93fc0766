#include "curvature/linear_hessian.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"

namespace bdl {

/// Returns the number of pairs c >= k of outputs for which F(c, k) may differ from 0.
template <class T>
Index LinearHessian<T>::pairs() const {
  const Index outputs = model_.outputs();
  return model_.likelihood.has_coupled_outputs() ? outputs * (outputs + 1) / 2 : outputs;
}

template <class T>
void LinearHessian<T>::reserve(Index examples) {
  inputs_.reserve(model_.inputs() * examples);
  scaled_.reserve(model_.inputs() * examples);
  weights_.reserve(pairs() * examples);
  terms_.reserve(model_.outputs());
  outputs_.reserve(model_.outputs() * examples);
}

/// Writes to column p the sum over the samples of F(c, k) of each example, for pair number p.
template <class T>
void LinearHessian<T>::fill_weights(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                                    MatrixView<double> weights) {
  const Likelihood& likelihood = model_.likelihood;
  const bool coupled = likelihood.has_coupled_outputs();
  const auto f = outputs_.matrix(model_.outputs(), x.cols);
  std::fill_n(weights.data, weights.size(), 0.0);
  for (Index s = 0; s < thetas.cols; ++s) {
    model_.forward(thetas.column(s), x, f, scratch_);
    check_outputs_finite<T>(f);
    for (Index i = 0; i < x.cols; ++i) {
      likelihood.hessian_terms(f.column_data(i), y.column_data(i), terms_.data());
      const double weight = likelihood.weight(y.column_data(i));
      Index pair = 0;
      for (Index c = 0; c < f.rows; ++c)
        for (Index k = coupled ? 0 : c; k <= c; ++k)
          weights(i, pair++) += weight * likelihood.hessian_entry(terms_.data(), c, k);
    }
  }
}

template <class T>
void LinearHessian<T>::add_biases(Index c, Index k, ConstSpan<double> w, double scale,
                                  MatrixView<double> out) const {
  const DenseShape& layer = model_.graph()->dense().front();
  const Index row_c = layer.bias_offset + c, row_k = layer.bias_offset + k;
  for (Index i = 0; i < x_.cols; ++i) {
    const double weight = scale * w[static_cast<std::size_t>(i)];
    out(row_c, row_k) += weight;
    for (Index j = 0; j < layer.inputs; ++j) {
      out(row_c, k * layer.inputs + j) += weight * x_(j, i);
      if (c != k) out(row_k, c * layer.inputs + j) += weight * x_(j, i);
    }
  }
}

/// Adds X diag(w) X^T to the rows of output c and the columns of output k.
template <class T>
void LinearHessian<T>::add_pair(Index c, Index k, ConstSpan<double> w, double scale, MatrixView<double> out) {
  const Index inputs = x_.rows;
  const auto scaled = scaled_.matrix(inputs, x_.cols);
  const bool has_root = c == k && std::ranges::all_of(w, [](double weight) { return weight >= 0; });
  for (Index i = 0; i < x_.cols; ++i) {
    const double weight = w[static_cast<std::size_t>(i)], factor = has_root ? std::sqrt(weight) : weight;
    for (Index j = 0; j < inputs; ++j) scaled(j, i) = factor * x_(j, i);
  }
  const auto block = out.block(c * inputs, k * inputs, inputs, inputs);
  if (has_root)
    syrk(Op::none, scale, scaled, 1.0, block);
  else
    gemm(Op::none, Op::transpose, scale, scaled, x_, 1.0, block);
}

template <class T>
void LinearHessian<T>::add(ConstMatrixView<T> thetas, ConstMatrixView<T> x, ConstMatrixView<T> y,
                           double scale, MatrixView<double> out) {
  reserve(x.cols);
  const ConstMatrixView<T> features = model_.graph()->features(x);
  const auto inputs = inputs_.matrix(features.rows, x.cols), weights = weights_.matrix(x.cols, pairs());
  for (Index i = 0; i < x.cols; ++i) std::ranges::copy(features.column(i), inputs.column_data(i));
  x_ = inputs;
  fill_weights(thetas, x, y, weights);
  const bool coupled = model_.likelihood.has_coupled_outputs();
  Index pair = 0;
  for (Index c = 0; c < model_.outputs(); ++c)
    for (Index k = coupled ? 0 : c; k <= c; ++k, ++pair) {
      add_pair(c, k, weights.column(pair), scale, out);
      if (model_.graph()->dense().front().has_bias()) add_biases(c, k, weights.column(pair), scale, out);
    }
}

template class LinearHessian<float>;
template class LinearHessian<double>;

}  // namespace bdl
