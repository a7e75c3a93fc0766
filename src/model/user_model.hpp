// A model that the caller defines by two callbacks.
#pragma once

#include "base/callback.hpp"
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
  std::unique_ptr<Model<T>> clone() const override { return std::make_unique<UserModel>(*this); }

  bool has_gradients() const { return callbacks_.gradients != nullptr; }
  /// Sets the function that is called with user_data when the last clone is destroyed.
  void set_destroy(void (*destroy)(void*)) { data_->destroy = destroy; }
  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics = {}) const override;
  /// Computes column i of rows (D x M) = sum_c seeds(c, i) df_c(x_i) / dtheta.
  void gradient_rows(ConstSpan<T> theta, ConstMatrixView<T> x, ConstMatrixView<T> seeds,
                     MatrixView<T> rows) const override;

 private:
  struct UserData {
    void* pointer;
    void (*destroy)(void*) = nullptr;
    explicit UserData(void* data) : pointer(data) {}
    UserData(const UserData&) = delete;
    UserData& operator=(const UserData&) = delete;
    ~UserData() { destroy_user_data(destroy, pointer); }
  };
  ConstMatrixView<T> features_of(ConstMatrixView<T> x) const {
    return x.block(0, 0, this->features(), x.cols);
  }
  UserCallbacks callbacks_;
  std::shared_ptr<UserData> data_;
};

}  // namespace bdl
