#include "posterior/kronecker/joint_basis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"

namespace bdl {
namespace {

double trace(ConstMatrixView<double> a) {
  double sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += a(i, i);
  return sum;
}

/// out += U diag(values) U^T; work has room for U.
template <class T>
void add_outer(ConstMatrixView<T> u, const double* values, MatrixView<double> work, MatrixView<double> out) {
  for (Index j = 0; j < u.cols; ++j) {
    const double root = std::sqrt(values[j]);
    for (Index i = 0; i < u.rows; ++i) work(i, j) = root * static_cast<double>(u(i, j));
  }
  syrk(Op::none, 1.0, ConstMatrixView<double>(work), 1.0, out);
}

}  // namespace

template <class T>
void JointBasis<T>::compute(ConstMatrixView<double> omega, ConstMatrixView<double> gamma,
                            const KroneckerPosterior<T>& prior, double weight, KroneckerPosterior<T>& to,
                            Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  columns_ = omega.rows;
  outputs_ = gamma.rows;
  double *const by_input = scratch.take<double>(columns_ + outputs_).data(), *const by_output =
                                                                                 by_input + columns_;
  std::fill_n(by_input, columns_ + outputs_, 0.0);
  const ConstMatrixView<T> lambda = prior.precision();
  for (Index o = 0; o < outputs_; ++o)
    for (Index j = 0; j < columns_; ++j) {
      const double value = static_cast<double>(lambda(j, o));
      by_input[j] += value;
      by_output[o] += value;
    }
  std::transform(by_input, by_input + columns_ + outputs_, by_input,
                 [=](double sum) { return weight * sum; });
  find(omega, trace(gamma), {prior.input_vectors(), by_input}, to.input_vectors(),
       input_values_.first(columns_).data(), scratch);
  find(gamma, trace(omega), {prior.output_vectors(), by_output}, to.output_vectors(),
       output_values_.first(outputs_).data(), scratch);
}

template <class T>
void JointBasis<T>::find(ConstMatrixView<double> factor, double scale, const PartialTrace& prior,
                         MatrixView<T> vectors, double* values, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const Index size = factor.rows;
  const auto sum = scratch.matrix<double>(size, size), work = scratch.matrix<double>(size, size);
  std::transform(factor.data, factor.data + factor.size(), sum.data,
                 [=](double value) { return scale * value; });
  add_outer(prior.vectors, prior.values, work, sum);
  eigen_.compute(sum, scratch);
  std::copy_n(eigen_.vectors().data, vectors.size(), vectors.data);
  std::copy_n(factor.data, factor.size(), work.data);
  mirror_lower(work);
  gemm(Op::none, Op::none, 1.0, ConstMatrixView<double>(work), eigen_.vectors(), 0.0, sum);
  for (Index j = 0; j < size; ++j) {
    const double* const column = sum.column_data(j);
    values[j] =
        std::max(0.0, std::inner_product(column, column + size, eigen_.vectors().column_data(j), 0.0));
  }
}

template class JointBasis<float>;
template class JointBasis<double>;

}  // namespace bdl
