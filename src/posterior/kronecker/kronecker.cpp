#include "posterior/kronecker/kronecker.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Limit beyond which written eigenvectors are not orthogonal.
constexpr double most_skew = 1e-4;

template <class T>
void set_identity(MatrixView<T> a) {
  std::fill_n(a.data, a.size(), T(0));
  for (Index i = 0; i < a.rows; ++i) a(i, i) = 1;
}

/// Fails with ERROR_INVALID_ARGUMENT unless U^T U is I.
template <class T>
void check_orthogonal(ConstMatrixView<T> u, const char* name) {
  Buffer<T> buffer(u.size());
  const MatrixView<T> product = buffer.matrix(u.cols, u.cols);
  syrk(Op::transpose, T(1), u, T(0), product);
  for (Index j = 0; j < u.cols; ++j)
    for (Index i = j; i < u.cols; ++i)
      if (!(std::abs(static_cast<double>(product(i, j)) - (i == j ? 1 : 0)) <= most_skew))
        fail(Status::ERROR_INVALID_ARGUMENT, "%s are not orthogonal: columns %lld and %lld (counting from 0)",
             name, static_cast<long long>(j), static_cast<long long>(i));
}

template <class T>
void square(ConstMatrixView<T> from, MatrixView<T> to) {
  const T* const in = from.data;
  T* const out = to.data;
  for_each_index(from.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] = in[i] * in[i]; });
}

}  // namespace

template <class T>
const KroneckerPosterior<T>& as_kronecker(const Posterior<T>& q) {
  const auto* const kronecker = dynamic_cast<const KroneckerPosterior<T>*>(&q);
  if (!kronecker) fail(Status::ERROR_UNSUPPORTED, "the posterior is not a Kronecker-factored block");
  return *kronecker;
}

template <class T>
KroneckerPosterior<T>::KroneckerPosterior(const MatrixShape& shape)
    : Posterior<T>(shape.parameters()),
      shape_(shape),
      output_vectors_(shape.outputs * shape.outputs),
      input_vectors_(shape.columns() * shape.columns()),
      precision_(shape.parameters()) {
  set_isotropic(1);
}

template <class T>
PosteriorKind KroneckerPosterior<T>::family_kind() const {
  PosteriorKind kind{Family::kronecker, this->dimension_, 0, {this->dimension_}, {}};
  kind.matrices.push_back(shape_);
  return kind;
}

template <class T>
void KroneckerPosterior<T>::finish() {
  double sum = 0;
  for (const T value : precision_.first(this->dimension_)) {
    if (!(value > 0 && std::isfinite(value))) fail_not_positive("precision");
    sum += std::log(static_cast<double>(value));
  }
  log_det_ = -sum;
}

template <class T>
void KroneckerPosterior<T>::copy_vectors(const KroneckerPosterior& from) {
  std::copy_n(from.output_vectors_.data(), outputs() * outputs(), output_vectors_.data());
  std::copy_n(from.input_vectors_.data(), columns() * columns(), input_vectors_.data());
}

template <class T>
void KroneckerPosterior<T>::set_precision(const KroneckerPosterior& other, T added) {
  copy_vectors(other);
  std::transform(other.precision_.data(), other.precision_.data() + this->dimension_, precision_.data(),
                 [=](T value) { return value + added; });
  finish();
}

template <class T>
std::unique_ptr<Posterior<T>> KroneckerPosterior<T>::clone() const {
  auto copy = std::make_unique<KroneckerPosterior>(shape_);
  copy->assign(*this);
  return copy;
}

template <class T>
void KroneckerPosterior<T>::assign(const Posterior<T>& other) {
  const KroneckerPosterior& that = as_kronecker(other);
  this->copy_base(that);
  copy_vectors(that);
  std::copy_n(that.precision_.data(), this->dimension_, precision_.data());
  log_det_ = that.log_det_;
}

template <class T>
void KroneckerPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<KroneckerPosterior&>(other);
  this->swap_base(that);
  output_vectors_.swap(that.output_vectors_);
  input_vectors_.swap(that.input_vectors_);
  precision_.swap(that.precision_);
  std::swap(log_det_, that.log_det_);
}

template <class T>
void KroneckerPosterior<T>::tensors(const TensorVisitor<T>& visit) {
  this->visit_mean(visit);
  visit(matrix_tensor<T>("output_vectors", output_vectors()));
  visit(matrix_tensor<T>("input_vectors", input_vectors()));
  visit({"precision", TensorRole::positive, false, precision(), {}});
}

template <class T>
void KroneckerPosterior<T>::accept_tensors() {
  check_orthogonal<T>(std::as_const(*this).output_vectors(), "output_vectors");
  check_orthogonal<T>(std::as_const(*this).input_vectors(), "input_vectors");
  finish();
}

template <class T>
void KroneckerPosterior<T>::set_isotropic(double precision) {
  set_identity(output_vectors());
  set_identity(input_vectors());
  std::fill_n(precision_.data(), this->dimension_, static_cast<T>(precision));
  log_det_ = -static_cast<double>(this->dimension_) * std::log(precision);
}

template <class T>
void KroneckerPosterior<T>::set_diagonal(ConstSpan<T> precision, std::optional<std::uint64_t>) {
  set_identity(output_vectors());
  set_identity(input_vectors());
  gather_matrix(shape_, precision.data(), this->precision());
  finish();
}

template <class T>
void KroneckerPosterior<T>::drift(const Posterior<T>& from, const Drift<T>& drift, Scratch&) {
  if (!drift.noise.empty())
    fail(Status::ERROR_UNSUPPORTED, "a Kronecker-factored posterior takes no noise in time");
  assign(from);
  const T transition = static_cast<T>(drift.transition);
  for (T& value : this->mean()) value *= transition;
  const T factor = static_cast<T>(1 / drift.inflation);
  for (T& value : precision_.first(this->dimension_)) value *= factor;
  finish();
}

/// Returns Y = Uo^T X Ug, taken from the scratch.
template <class T>
MatrixView<T> KroneckerPosterior<T>::rotate(ConstSpan<T> x, Scratch& scratch) const {
  const auto y = scratch.matrix<T>(columns(), outputs());
  const Scratch::Frame frame(scratch);
  const auto half = scratch.matrix<T>(columns(), outputs());
  gather_matrix(shape_, x.data(), y);
  gemm(Op::transpose, Op::none, T(1), input_vectors(), ConstMatrixView<T>(y), T(0), half);
  gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(half), output_vectors(), T(0), y);
  return y;
}

/// out = mean + Uo Y Ug^T; Y is overwritten.
template <class T>
void KroneckerPosterior<T>::rotate_back(ConstSpan<T> mean, MatrixView<T> y, std::span<T> out,
                                        Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto half = scratch.matrix<T>(columns(), outputs());
  gemm(Op::none, Op::none, T(1), input_vectors(), ConstMatrixView<T>(y), T(0), half);
  gemm(Op::none, Op::transpose, T(1), ConstMatrixView<T>(half), output_vectors(), T(0), y);
  scatter_matrix(shape_, ConstMatrixView<T>(y), out.data());
  for (std::size_t i = 0; i < mean.size(); ++i) out[i] += mean[i];
}

/// to = mean + U change(Lambda, U^T from), number by number.
template <class T>
template <class Change>
void KroneckerPosterior<T>::change_rotated(ConstSpan<T> mean, ConstSpan<T> from, std::span<T> to,
                                           Scratch& scratch, Change&& change) const {
  const Scratch::Frame frame(scratch);
  const MatrixView<T> rotated = rotate(from, scratch);
  T* const y = rotated.data;
  const T* const lambda = precision_.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { y[i] = change(lambda[i], y[i]); });
  rotate_back(mean, rotated, to, scratch);
}

template <class T>
void KroneckerPosterior<T>::solve(MatrixView<T> x, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  for (Index k = 0; k < x.cols; ++k)
    change_rotated({}, x.column(k), x.column(k), scratch, [](T lambda, T y) { return y / lambda; });
}

template <class T>
void KroneckerPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>,
                                  Scratch& scratch) const {
  for (Index k = 0; k < eps.cols; ++k)
    change_rotated(mean, eps.column(k), eps.column(k), scratch,
                   [](T lambda, T y) { return y / std::sqrt(lambda); });
}

template <class T>
void KroneckerPosterior<T>::multiply_precision(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const {
  change_rotated({}, x, out, scratch, [](T lambda, T y) { return lambda * y; });
}

template <class T>
void KroneckerPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch& scratch) const {
  const StageTimer timer(Stage::solve);
  for (Index k = 0; k < x.cols; ++k) {
    const Scratch::Frame frame(scratch);
    const T* const y = rotate(x.column(k), scratch).data;
    double sum = 0;
    for (Index i = 0; i < this->dimension_; ++i)
      sum +=
          static_cast<double>(y[i]) * static_cast<double>(y[i]) / static_cast<double>(precision_.data()[i]);
    out[static_cast<std::size_t>(k)] = sum;
  }
}

template <class T>
double KroneckerPosterior<T>::quadratic(ConstSpan<T> x, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const T* const y = rotate(x, scratch).data;
  double sum = 0;
  for (Index i = 0; i < this->dimension_; ++i)
    sum += static_cast<double>(y[i]) * static_cast<double>(y[i]) * static_cast<double>(precision_.data()[i]);
  return sum;
}

/// The diagonal of U diag(number(Lambda)) U^T: (Uo o Uo) number(Lambda^T) (Ug o Ug)^T.
template <class T>
template <class Number>
void KroneckerPosterior<T>::write_marginals(std::span<T> out, Scratch& scratch, Number&& number) const {
  const Scratch::Frame frame(scratch);
  const Index q = columns(), o = outputs(), size = this->dimension_;
  const auto numbers = scratch.matrix<T>(q, o), half = scratch.matrix<T>(q, o),
             result = scratch.matrix<T>(q, o), squared_inputs = scratch.matrix<T>(q, q),
             squared_outputs = scratch.matrix<T>(o, o);
  square(input_vectors(), squared_inputs);
  square(output_vectors(), squared_outputs);
  std::transform(precision_.data(), precision_.data() + size, numbers.data, number);
  gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(squared_inputs), ConstMatrixView<T>(numbers), T(0), half);
  gemm(Op::none, Op::transpose, T(1), ConstMatrixView<T>(half), ConstMatrixView<T>(squared_outputs), T(0),
       result);
  scatter_matrix(shape_, ConstMatrixView<T>(result), out.data());
}

template <class T>
void KroneckerPosterior<T>::marginal_variance(std::span<T> out, Scratch& scratch) const {
  write_marginals(out, scratch, [](T lambda) { return 1 / lambda; });
}

template <class T>
void KroneckerPosterior<T>::precision_diagonal(std::span<T> out) const {
  Scratch scratch;
  write_marginals(out, scratch, [](T lambda) { return lambda; });
}

template <class T>
void KroneckerPosterior<T>::diagonal_in_basis(ConstSpan<T> diagonal, MatrixView<T> out,
                                              Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index q = columns(), o = outputs();
  const auto inputs = scratch.matrix<T>(q, q), outputs = scratch.matrix<T>(o, o),
             numbers = scratch.matrix<T>(q, o), half = scratch.matrix<T>(q, o);
  square(input_vectors(), inputs);
  square(output_vectors(), outputs);
  gather_matrix(shape_, diagonal.data(), numbers);
  gemm(Op::transpose, Op::none, T(1), ConstMatrixView<T>(inputs), ConstMatrixView<T>(numbers), T(0), half);
  gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(half), ConstMatrixView<T>(outputs), T(0), out);
}

/// A = Uo^T Uo' and B = Ug^T Ug' of the other one give (A o A) Lambda'^T (B o B)^T.
template <class T>
void KroneckerPosterior<T>::diagonal_in_basis(const KroneckerPosterior& other, MatrixView<T> out,
                                              Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index q = columns(), o = outputs();
  const auto inputs = scratch.matrix<T>(q, q), outputs = scratch.matrix<T>(o, o),
             half = scratch.matrix<T>(q, o);
  gemm(Op::transpose, Op::none, T(1), input_vectors(), other.input_vectors(), T(0), inputs);
  gemm(Op::transpose, Op::none, T(1), output_vectors(), other.output_vectors(), T(0), outputs);
  square(ConstMatrixView<T>(inputs), inputs);
  square(ConstMatrixView<T>(outputs), outputs);
  gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(inputs), other.precision(), T(0), half);
  gemm(Op::none, Op::transpose, T(1), ConstMatrixView<T>(half), ConstMatrixView<T>(outputs), T(0), out);
}

/// Computed in the basis where this precision, or q's covariance, is diagonal; else column by column.
template <class T>
double KroneckerPosterior<T>::trace_precision(const Posterior<T>& q, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index size = this->dimension_;
  const auto numbers = scratch.take<T>(size), column = scratch.take<T>(size);
  const auto sum_products = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      sum += static_cast<double>(numbers[i]) * static_cast<double>(column[i]);
    return sum;
  };
  if (q.is_diagonal()) {
    q.marginal_variance(numbers, scratch);
    precision_diagonal(column);
    return sum_products();
  }
  if (const auto* const same = dynamic_cast<const KroneckerPosterior*>(&q); same && same->shape_ == shape_) {
    same->diagonal_in_basis(*this, {numbers.data(), columns(), outputs()}, scratch);  // of this, in q's basis
    std::transform(same->precision_.data(), same->precision_.data() + size, column.begin(),
                   [](T lambda) { return 1 / lambda; });
    return sum_products();
  }
  double trace = 0;
  for (std::size_t j = 0; j < column.size(); ++j) {
    std::ranges::fill(column, T(0));
    column[j] = 1;
    q.solve({column.data(), size, 1}, scratch);
    multiply_precision(column, numbers, scratch);
    trace += static_cast<double>(numbers[j]);
  }
  return trace;
}

template <class T>
double KroneckerPosterior<T>::update(const PosteriorStep<T>&, Scratch&) {
  fail(Status::ERROR_UNSUPPORTED, "a Kronecker-factored posterior has no steps by curvature rows");
}

#define BDL_INSTANTIATE(T)              \
  template class KroneckerPosterior<T>; \
  template const KroneckerPosterior<T>& as_kronecker(const Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
