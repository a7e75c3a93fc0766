#include "posterior/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "posterior/point_parameters.hpp"
#include "posterior/posterior.hpp"

namespace bdl {
namespace {

template <class T>
void check_finite(const PosteriorTensor<T>& tensor) {
  tensor.with([&](const auto& view) {
    for (Index j = 0; j < view.cols; ++j)
      for (Index i = 0; i < view.rows; ++i)
        if (!std::isfinite(view(i, j)))
          fail(Status::ERROR_NOT_FINITE, "tensor %s is not finite at row %lld, column %lld (counting from 0)",
               tensor.name, static_cast<long long>(i), static_cast<long long>(j));
  });
}

template <class T>
void check_sign(const PosteriorTensor<T>& tensor) {
  const bool may_vanish = tensor.role == TensorRole::variance;
  tensor.with([&](const auto& view) {
    for (Index j = 0; j < view.cols; ++j)
      for (Index i = 0; i < view.rows; ++i)
        if (!(view(i, j) > 0 || (may_vanish && view(i, j) == 0)))
          fail(Status::ERROR_INVALID_ARGUMENT,
               "tensor %s is %g at row %lld, column %lld (counting from 0), expected %s 0", tensor.name,
               static_cast<double>(view(i, j)), static_cast<long long>(i), static_cast<long long>(j),
               may_vanish ? ">=" : ">");
  });
}

/// Up to rounding, in single precision too; the lower triangle then counts.
template <class T>
void check_symmetric(const PosteriorTensor<T>& tensor) {
  const MatrixView<double> a = tensor.wide;
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = j + 1; i < a.rows; ++i)
      if (std::abs(a(i, j) - a(j, i)) > 1e-5 * std::sqrt(std::abs(a(i, i))) * std::sqrt(std::abs(a(j, j))))
        fail(Status::ERROR_INVALID_ARGUMENT,
             "tensor %s is not symmetric at row %lld, column %lld (counting from 0)", tensor.name,
             static_cast<long long>(i), static_cast<long long>(j));
  mirror_lower(a);
}

template <class T>
void find_factor(const PosteriorTensor<T>& matrix, const PosteriorTensor<T>& factor) {
  const MatrixView<double> a = matrix.wide, c = factor.wide;
  for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column_data(j) + j, a.rows - j, c.column_data(j) + j);
  if (!cholesky(c)) fail(Status::ERROR_INVALID_ARGUMENT, "tensor %s is not positive definite", matrix.name);
}

template <class From, class To>
void convert(ConstMatrixView<From> from, MatrixView<To> to, const char* name) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i) {
      if (!(std::abs(from(i, j)) <= static_cast<double>(std::numeric_limits<To>::max())))
        fail(Status::ERROR_DIVERGED, "tensor %s has a number of %g, which does not fit in 32 bits", name,
             static_cast<double>(from(i, j)));
      to(i, j) = static_cast<To>(from(i, j));
    }
}

}  // namespace

template <class T>
void check_role(const PosteriorTensor<T>& tensor) {
  if (tensor.role != TensorRole::factor) check_finite(tensor);
  if (tensor.role == TensorRole::positive || tensor.role == TensorRole::variance) check_sign(tensor);
  if (tensor.role == TensorRole::matrix) check_symmetric(tensor);
}

/// The visitor sees constant views only.
template <class T>
void Posterior<T>::read_tensors(const TensorVisitor<const T>& visit) const {
  complete();
  const_cast<Posterior*>(this)->tensors([&](const PosteriorTensor<T>& tensor) {
    visit({tensor.name, tensor.role, tensor.is_vector, tensor.values, tensor.wide, tensor.first});
  });
}

template <class T>
Index Posterior<T>::tensor_count() const {
  Index count = 0;
  const_cast<Posterior*>(this)->tensors([&](const PosteriorTensor<T>&) { ++count; });
  return count;
}

template <class T>
std::vector<PosteriorTensor<const T>> tensors_of(const Posterior<T>& q) {
  std::vector<PosteriorTensor<const T>> tensors;
  q.read_tensors([&](const PosteriorTensor<const T>& tensor) { tensors.push_back(tensor); });
  return tensors;
}

template <class T>
Index tensor_bytes(const Posterior<T>& q) {
  Index sum = 0;
  const_cast<Posterior<T>&>(q).tensors([&](const PosteriorTensor<T>& tensor) {
    tensor.with([&](const auto& view) { sum += view.size() * static_cast<Index>(sizeof(*view.data)); });
  });
  return sum;
}

template <class T>
void write_tensors(Posterior<T>& q, const TensorSource<T>& source) {
  bool any = false;
  std::optional<PosteriorTensor<T>> new_matrix;  // whose factor is the next tensor
  q.complete();
  q.tensors([&](const PosteriorTensor<T>& tensor) {
    const bool is_given = source(tensor);
    if (is_given) check_role(tensor);
    if (tensor.role == TensorRole::factor && !is_given && new_matrix) find_factor(*new_matrix, tensor);
    new_matrix.reset();
    if (is_given && tensor.role == TensorRole::matrix) new_matrix = tensor;
    any = any || (is_given && tensor.role != TensorRole::mean);
  });
  if (any) q.accept_tensors();
  const bool has_covariance = any || q.has_covariance();
  q.set_blank(false);
  q.set_has_covariance(has_covariance);
}

template <class T>
void set_tensors(Posterior<T>& q, const TensorSource<T>& source) {
  const auto successor = q.clone();
  write_tensors<T>(*successor, [&](const PosteriorTensor<T>& tensor) {
    const bool is_given = source(tensor);
    if (is_given) isolate_point_parameters(tensor, q.point_parameters());
    return is_given;
  });
  q.swap(*successor);
}

template <class From, class To>
void convert_tensors(const Posterior<From>& from, Posterior<To>& to) {
  const auto tensors = tensors_of(from);
  std::size_t next = 0;
  write_tensors<To>(to, [&](const PosteriorTensor<To>& tensor) {
    const PosteriorTensor<const From>& given = tensors.at(next++);
    given.with([&]<class A>(MatrixView<A> values) {
      tensor.with(
          [&]<class B>(MatrixView<B> out) { convert<std::remove_const_t<A>, B>(values, out, tensor.name); });
    });
    return true;
  });
}

#define BDL_INSTANTIATE(T)                                                        \
  template void Posterior<T>::read_tensors(const TensorVisitor<const T>&) const;  \
  template Index Posterior<T>::tensor_count() const;                              \
  template std::vector<PosteriorTensor<const T>> tensors_of(const Posterior<T>&); \
  template Index tensor_bytes(const Posterior<T>&);                               \
  template void check_role(const PosteriorTensor<T>&);                            \
  template void write_tensors(Posterior<T>&, const TensorSource<T>&);             \
  template void set_tensors(Posterior<T>&, const TensorSource<T>&);               \
  template void convert_tensors(const Posterior<T>&, Posterior<float>&);          \
  template void convert_tensors(const Posterior<T>&, Posterior<double>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
