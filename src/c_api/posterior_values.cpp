// The numbers of a posterior: set with a function for each family, or read and set by name in every family.
#include <algorithm>
#include <cstring>
#include <utility>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/families.hpp"
#include "posterior/full/full.hpp"
#include "posterior/full/full_moment.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

/// Fails unless the array is the mean of a posterior of this dimension.
template <class T>
void check_mean(const Array& mean, Index dimension) {
  check_shape(mean, 1, dimension, "mean");
  check_finite<T>(mean, "mean");
}

/// Replaces q by a finished successor, so that q is unchanged if building the successor fails.
template <class T>
void replace(Posterior<T>& q, Posterior<T>& successor, const Array& mean) {
  if (!q.point_parameters().is_empty()) {
    successor.adopt(q.point_parameters());
    std::ranges::copy(q.statistics(), successor.statistics().begin());
    isolate_point_parameters(successor);
  }
  gather(mean, 0, MatrixView<T>(successor.mean().data(), q.dimension(), 1));
  successor.set_blank(false);
  q.swap(successor);
}

/// Reads a factor U and a diagonal d, and calls set(U, d) on the successor.
template <class T, class Set>
void set_factored(Posterior<T>& q, Posterior<T>& successor, const Array& mean, const Array& low_rank,
                  const Array& diagonal, Set&& set) {
  const Index dimension = q.dimension(), rank = successor.rank();
  check_mean<T>(mean, dimension);
  check_shape(diagonal, 1, dimension, "diagonal");
  check_positive<T>(diagonal, "diagonal");
  const bool has_columns = given_columns(low_rank, rank);
  Buffer<T> u(has_columns ? dimension * rank : 0);
  if (has_columns) {
    check_shape(low_rank, dimension, rank, "low_rank");
    check_finite<T>(low_rank, "low_rank");
    gather(transposed(low_rank), 0, u.matrix(dimension, rank));
  }
  set(std::as_const(u).matrix(dimension, has_columns ? rank : 0), gathered<T>(diagonal).first(dimension));
  replace(q, successor, mean);
}

template <class T>
void set_low_rank(Posterior<T>& q, const Array& mean, const Array& low_rank, const Array& diagonal) {
  LowRankPosterior<T> successor(q.dimension(), as_low_rank(q).rank());
  set_factored(q, successor, mean, low_rank, diagonal,
               [&](ConstMatrixView<T> u, ConstSpan<T> d) { successor.set_precision(u, d); });
}

template <class T>
void set_low_rank_moment(Posterior<T>& q, const Array& mean, const Array& low_rank, const Array& diagonal) {
  LowRankMomentPosterior<T> successor(q.dimension(), as_low_rank_moment(q).rank());
  set_factored(q, successor, mean, low_rank, diagonal,
               [&](ConstMatrixView<T> w, ConstSpan<T> s) { successor.set_covariance(w, s); });
}

/// Returns the array's values; fails unless it is dimension x dimension, finite and symmetric up to rounding.
Buffer<double> gathered_symmetric(const Array& array, Index dimension, const char* name) {
  check_shape(array, dimension, dimension, name);
  check_finite(array, name);
  check_symmetric(array, name);
  return gathered<double>(array);
}

template <class T>
void set_full(Posterior<T>& q, const Array& mean, const Array& precision) {
  const Index dimension = as_full(q).dimension();
  check_mean<T>(mean, dimension);
  const Buffer<double> matrix = gathered_symmetric(precision, dimension, "precision");
  FullPosterior<T> successor(dimension);
  successor.set_precision(matrix.matrix(dimension, dimension));
  replace<T>(q, successor, mean);
}

template <class T>
void set_full_moment(Posterior<T>& q, const Array& mean, const Array& covariance) {
  const Index dimension = as_full_moment(q).dimension();
  check_mean<T>(mean, dimension);
  const Buffer<double> matrix = gathered_symmetric(covariance, dimension, "covariance");
  FullMomentPosterior<T> successor(dimension);
  successor.set_covariance(matrix.matrix(dimension, dimension));
  replace<T>(q, successor, mean);
}

template <class T>
void set_diagonal_moment(Posterior<T>& q, const Array& mean, const Array& variance) {
  const Index dimension = as_diagonal_moment(q).dimension();
  check_mean<T>(mean, dimension);
  check_shape(variance, 1, dimension, "variance");
  check_positive<T>(variance, "variance");
  DiagonalMomentPosterior<T> successor(dimension);
  successor.set_variance(gathered<T>(variance).first(dimension));
  replace<T>(q, successor, mean);
}

template <class T>
void set_dropout(Posterior<T>& q, const Array& mean) {
  const DropoutLayout& layout = as_dropout(q).layout();
  check_mean<T>(mean, q.dimension());
  DropoutPosterior<T> successor(layout, q.point_parameters());
  replace<T>(q, successor, mean);
}

template <class T>
PosteriorTensor<const T> tensor_at(const Posterior<T>& q, Index index) {
  const auto tensors = tensors_of(q);
  check_range(index, 0, std::ssize(tensors) - 1, "index");
  return tensors[static_cast<std::size_t>(index)];
}

/// Names and matrices that the caller passed.
struct Given {
  const char* const* names;
  const Array* values;
  Index count;
};

/// Fails unless each name is a tensor of the posterior, and given only once.
template <class T>
void check_names(const Posterior<T>& q, const Given& given) {
  const auto tensors = tensors_of(q);
  for (Index k = 0; k < given.count; ++k) {
    not_null(given.names[k], "a name");
    const auto is_same = [&](const char* name) { return std::strcmp(name, given.names[k]) == 0; };
    if (std::ranges::none_of(tensors, [&](const auto& tensor) { return is_same(tensor.name); }))
      fail(Status::ERROR_INVALID_ARGUMENT, "names has \"%.60s\", which a %s posterior does not have",
           given.names[k], family_word(q.family()));
    if (std::any_of(given.names, given.names + k, is_same))
      fail(Status::ERROR_INVALID_ARGUMENT, "names has \"%.60s\" twice", given.names[k]);
  }
}

template <class T>
void set_given_tensors(Posterior<T>& q, const Given& given) {
  check_names<T>(q, given);
  set_tensors<T>(q, [&](const PosteriorTensor<T>& tensor) {
    for (Index k = 0; k < given.count; ++k) {
      if (std::strcmp(tensor.name, given.names[k]) != 0) continue;
      if (tensor.rows() * tensor.cols() == 0) return true;  // U of rank 0
      check_shape(given.values[k], tensor.rows(), tensor.cols(), tensor.name);
      tensor.with([&]<class S>(MatrixView<S> to) {
        check_finite<S>(given.values[k], tensor.name);
        gather(transposed(given.values[k]), 0, to);
      });
      return true;
    }
    return false;
  });
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_posterior_set_low_rank(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix low_rank,
                                      bdl_matrix diagonal) {
  return guard(__func__, posterior, "posterior", [&](auto& q) { set_low_rank(q, mean, low_rank, diagonal); });
}

bdl_status bdl_posterior_set_low_rank_moment(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix low_rank,
                                             bdl_matrix diagonal) {
  return guard(__func__, posterior, "posterior",
               [&](auto& q) { set_low_rank_moment(q, mean, low_rank, diagonal); });
}

bdl_status bdl_posterior_set_full(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix precision) {
  return interruptible_guard(__func__, posterior, "posterior",
                             [&](auto& q) { set_full(q, mean, precision); });
}

bdl_status bdl_posterior_set_full_moment(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix covariance) {
  return interruptible_guard(__func__, posterior, "posterior",
                             [&](auto& q) { set_full_moment(q, mean, covariance); });
}

bdl_status bdl_posterior_set_diagonal_moment(bdl_posterior* posterior, bdl_matrix mean, bdl_matrix variance) {
  return guard(__func__, posterior, "posterior", [&](auto& q) { set_diagonal_moment(q, mean, variance); });
}

bdl_status bdl_posterior_set_dropout(bdl_posterior* posterior, bdl_matrix mean) {
  return guard(__func__, posterior, "posterior", [&](auto& q) { set_dropout(q, mean); });
}

int64_t bdl_posterior_tensor_count(const bdl_posterior* posterior) {
  if (!posterior) return 0;
  return std::visit([](const auto& q) { return q->tensor_count(); }, posterior->object);
}

bdl_status bdl_posterior_tensor_describe(const bdl_posterior* posterior, int64_t index, const char** name,
                                         int64_t* rows, int64_t* cols, int32_t* dtype) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    const PosteriorTensor<const T> tensor = tensor_at<T>(q, index);
    if (name) *name = tensor.name;
    if (rows) *rows = tensor.rows();
    if (cols) *cols = tensor.cols();
    if (dtype) *dtype = tensor.is_wide() || sizeof(T) == sizeof(double) ? BDL_F64 : BDL_F32;
  });
}

bdl_status bdl_posterior_get_tensor(const bdl_posterior* posterior, int64_t index, bdl_matrix_out values) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    const PosteriorTensor<const T> tensor = tensor_at<T>(q, index);
    if (tensor.rows() * tensor.cols() == 0 && values.rows * values.cols == 0) return;  // U of rank 0
    check_output(values, tensor.rows(), tensor.cols(), "values");
    tensor.with([&]<class S>(MatrixView<S> from) {
      write_result<std::remove_const_t<S>>(from, transposed(values), tensor.name);
    });
  });
}

bdl_status bdl_posterior_set_tensors(bdl_posterior* posterior, const char* const* names,
                                     const bdl_matrix* tensors, int64_t tensor_count) {
  return interruptible_guard(__func__, posterior, "posterior", [&](auto& q) {
    not_null(names, "names");
    not_null(tensors, "tensors");
    check_range(tensor_count, 1, INT32_MAX, "tensor_count");
    set_given_tensors(q, {names, tensors, tensor_count});
  });
}
