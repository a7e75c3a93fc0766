#include "model/user_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/callback.hpp"

namespace bdl {
namespace {

/// Fills an output with NaN, so that elements that the callback does not write are noticed.
template <class T>
void poison(MatrixView<T> a) {
  for (Index j = 0; j < a.cols; ++j) std::ranges::fill(a.column(j), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
Array as_row(ConstSpan<T> theta) {
  return as_array(ConstMatrixView<T>(theta.data(), static_cast<Index>(theta.size()), 1));
}

}  // namespace

template <class T>
UserModel<T>::UserModel(Index inputs, Index parameters, Likelihood density, const UserCallbacks& callbacks)
    : Model<T>(inputs, std::move(density)),
      callbacks_(callbacks),
      data_(std::make_shared<UserData>(callbacks.user_data)) {
  this->parameters_ = parameters;
  this->blocks_.push_back({"parameters", 0, parameters, 1, 0, false});
}

template <class T>
void UserModel<T>::forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch&,
                           ConstSpan<double>) const {
  poison(f);
  check_callback("model's outputs", [&] {
    return callbacks_.outputs(callbacks_.user_data, as_row(theta), as_array(features_of(x)), as_output(f));
  });
  for (Index j = 0; j < x.cols; ++j)
    for (Index c = 0; c < x.rows - this->features(); ++c) f(c, j) += x(this->features() + c, j);
}

template <class T>
void UserModel<T>::gradient_rows(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> seeds,
                                 MatrixView<T> rows) const {
  if (!callbacks_.gradients)
    fail(Status::ERROR_UNSUPPORTED, "the custom model was created without a gradients callback");
  poison(rows);
  check_callback("model's gradients", [&] {
    return callbacks_.gradients(callbacks_.user_data, as_row(theta), as_array(features_of(x)),
                                as_array(seeds), as_output(rows));
  });
  for (Index j = 0; j < rows.cols; ++j)
    for (T value : rows.column(j))
      if (!std::isfinite(value))
        fail(Status::ERROR_DIVERGED,
             "the model's gradients callback wrote a non-finite row for example %lld (counting from 0)",
             static_cast<long long>(j));
}

template class UserModel<float>;
template class UserModel<double>;

}  // namespace bdl
