// The opaque handles: each holds its object in one of the two arithmetics.
#pragma once

#include <memory>
#include <variant>

#include "bdl/bdl.h"
#include "inference/optimizer.hpp"
#include "model/model.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/kronecker/kronecker.hpp"

template <class Base32, class Base64>
using Either = std::variant<std::shared_ptr<Base32>, std::shared_ptr<Base64>>;

struct bdl_model {
  Either<bdl::Model<float>, bdl::Model<double>> object;
};

struct bdl_posterior {
  Either<bdl::Posterior<float>, bdl::Posterior<double>> object;
};

struct bdl_optimizer {
  Either<bdl::Optimizer<float>, bdl::Optimizer<double>> object;
};

struct bdl_communicator {
  std::shared_ptr<bdl::Communicator> object;
};

namespace bdl {

/// visit(object) in its arithmetic; fails if the handle is NULL.
template <class Handle, class Visit>
decltype(auto) with(Handle* handle, const char* name, Visit&& visit) {
  if (!handle) fail(Status::ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  return std::visit([&](auto& pointer) -> decltype(auto) { return visit(*pointer); }, handle->object);
}

inline const char* dtype_name(std::size_t variant_index) {
  return variant_index == 0 ? "f32" : "f64";
}

/// The bdl_dtype of a handle's arithmetic.
template <class Handle>
std::int32_t handle_dtype(const Handle& handle) {
  return handle.object.index() == 0 ? BDL_F32 : BDL_F64;
}

/// visit(model, posterior), which must agree in arithmetic and number of parameters.
template <class Model, class Posterior, class Visit>
void with_both(Model* model, Posterior* posterior, Visit&& visit) {
  with(model, "model", [&](auto& m) {
    with(posterior, "posterior", [&](auto& q) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(m)>::Scalar,
                                   typename std::remove_cvref_t<decltype(q)>::Scalar>) {
        if (m.parameters() != q.dimension())
          fail(Status::ERROR_SHAPE, "posterior has %lld parameters, the model %lld",
               static_cast<long long>(q.dimension()), static_cast<long long>(m.parameters()));
        check_masks_fit(m, q);
        check_matrices_fit(m, q);
        visit(m, q);
      } else {
        fail(Status::ERROR_SHAPE, "posterior is %s, the model %s", dtype_name(posterior->object.index()),
             dtype_name(model->object.index()));
      }
    });
  });
}

}  // namespace bdl
