// The numbers of a posterior as named tensors: how checkpoints, the C functions and conversions between the
// two arithmetics read, write and compare them, whatever the family.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "base/view.hpp"

namespace bdl {

template <class T>
class Posterior;

enum class TensorRole {
  mean,       ///< any finite numbers, from which nothing follows
  free,       ///< any finite numbers
  positive,   ///< finite and positive ones
  matrix,     ///< symmetric and positive definite, both triangles held
  statistic,  ///< any finite numbers, of channels and not of parameters
  variance,   ///< finite numbers of channels, 0 or more
  factor      ///< lower Cholesky factor of the matrix visited just before, with its rounding
};

/// S is const where the tensor is only to be read. What describes the family's matrices is in T, what must be
/// exact in double.
template <class S>
struct PosteriorTensor {
  using Wide = std::conditional_t<std::is_const_v<S>, const double, double>;
  const char* name = nullptr;  ///< lives as long as the posterior
  TensorRole role = TensorRole::free;
  bool is_vector = false;  ///< 1 x n
  MatrixView<S> values{};  ///< one of the two is there
  MatrixView<Wide> wide{};
  Index first = 0;  ///< parameter that its rows (of a vector: its numbers) begin with

  bool is_wide() const { return values.ld == 0; }
  Index rows() const { return is_wide() ? wide.rows : values.rows; }
  Index cols() const { return is_wide() ? wide.cols : values.cols; }
  /// Returns use(view) for the view of the numbers.
  template <class Use>
  decltype(auto) with(Use&& use) const {
    return is_wide() ? use(wide) : use(values);
  }
};

template <class S>
using TensorVisitor = std::function<void(const PosteriorTensor<S>&)>;

/// Fills a tensor of the new numbers, or leaves it and returns false if they have none of that name.
template <class T>
using TensorSource = std::function<bool(const PosteriorTensor<T>&)>;

template <class S>
PosteriorTensor<S> vector_tensor(const char* name, TensorRole role, std::span<S> values) {
  return {name, role, true, {values.data(), 1, static_cast<Index>(values.size()), 1}, {}};
}
template <class S>
PosteriorTensor<S> matrix_tensor(const char* name, MatrixView<S> values) {
  return {name, TensorRole::free, false, values, {}};
}
template <class S>
PosteriorTensor<S> square_tensor(const char* name, TensorRole role, MatrixView<double> values) {
  return {name, role, false, {}, values};
}

/// Returns all tensors, in the order of tensors().
template <class T>
std::vector<PosteriorTensor<const T>> tensors_of(const Posterior<T>& q);

/// Returns the bytes of all tensors: of what a posterior holds all but small matrices, such as L x L ones.
template <class T>
Index tensor_bytes(const Posterior<T>& q);

/// Fails with ERROR_NOT_FINITE or ERROR_INVALID_ARGUMENT unless the numbers fit the tensor's role.
template <class T>
void check_role(const PosteriorTensor<T>& tensor);

/// The source's tensors become q's; those it does not have stay, but a factor is found anew where its matrix
/// is given without it. Fails with ERROR_NOT_FINITE or ERROR_INVALID_ARGUMENT, naming the tensor, unless they
/// make a posterior; q is then not to be used any more.
template <class T>
void write_tensors(Posterior<T>& q, const TensorSource<T>& source);

/// Writes as write_tensors() does, but all or nothing; point parameters keep their numbers but the mean.
template <class T>
void set_tensors(Posterior<T>& q, const TensorSource<T>& source);

/// `to`, of the same kind as `from`, becomes what that is in its own arithmetic, mean and all. Fails with
/// ERROR_DIVERGED where a number does not fit.
template <class From, class To>
void convert_tensors(const Posterior<From>& from, Posterior<To>& to);

}  // namespace bdl
