// A model of the caller's own, known through two callbacks.
#pragma once

#include "model/model.hpp"

namespace bdl {

struct UserCallbacks {
  bdl_outputs_fn outputs;
  bdl_gradients_fn gradients;
  void* user_data;
};

template <class T>
class UserModel final : public Model<T> {
 public:
  UserModel(Index inputs, Index parameters, Likelihood density, const UserCallbacks& callbacks);
  ~UserModel() override;
  UserModel(const UserModel&) = delete;
  UserModel& operator=(const UserModel&) = delete;

  /// Called with user_data at destruction.
  void set_destroy(void (*destroy)(void*)) { destroy_ = destroy; }
  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Buffer<T>& scratch) const override;
  /// Column i of rows (D x M) = sum_c seeds(c, i) df_c(x_i) / dtheta.
  void gradient_rows(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> seeds,
                     MatrixView<T> rows) const;

 private:
  UserCallbacks callbacks_;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace bdl
