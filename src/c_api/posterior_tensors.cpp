// All numbers of a posterior by name, for every family.
#include <cstring>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "posterior/families.hpp"

namespace bdl {
namespace {

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
