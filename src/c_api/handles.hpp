// The opaque handles: each holds its object in one of the two arithmetics, and what a call that writes to it
// claims.
#pragma once

#include <memory>
#include <variant>

#include "bdl/bdl.h"
#include "c_api/in_use.hpp"
#include "inference/optimizer.hpp"
#include "model/model.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/kronecker/kronecker.hpp"

template <class Base32, class Base64>
using Either = std::variant<std::shared_ptr<Base32>, std::shared_ptr<Base64>>;

namespace bdl {

/// Handles of one object share it.
using SharedClaim = std::shared_ptr<Claim>;

}  // namespace bdl

struct bdl_model {
  Either<bdl::Model<float>, bdl::Model<double>> object;
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

struct bdl_posterior {
  Either<bdl::Posterior<float>, bdl::Posterior<double>> object;
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

struct bdl_communicator {
  std::shared_ptr<bdl::Communicator> object;
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

struct bdl_optimizer {
  Either<bdl::Optimizer<float>, bdl::Optimizer<double>> object;
  bdl::SharedClaim posterior{}, model{},
      communicator{};  // those of the others' handles; null where there is none
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

namespace bdl {

template <class Object>
const void* address_of(const Object& object) {
  return std::visit([](const auto& pointer) -> const void* { return pointer.get(); }, object);
}

/// What a call uses that reads the handle, if it is const, or else writes to it.
template <class Handle>
InUse use_of(Handle& handle, const char* name) {
  return {&handle, {{name, address_of(handle.object), !std::is_const_v<Handle>, handle.claim.get()}}};
}

template <class Handle>
requires std::is_same_v<std::remove_const_t<Handle>, bdl_optimizer> InUse use_of(Handle& handle,
                                                                                 const char* name) {
  return std::visit(
      [&](const auto& o) -> InUse {
        return {&handle,
                {{name, o.get(), !std::is_const_v<Handle>, handle.claim.get()},
                 {"the optimizer's posterior", o->posterior().get()},
                 {"the optimizer's model", o->model().get()}}};
      },
      handle.object);
}

/// The same of a call that trains, and so writes to the posterior, and to the noise of the model.
inline InUse training_use_of(bdl_optimizer& handle) {
  return std::visit(
      [&](const auto& o) -> InUse {
        return {&handle,
                {{"optimizer", o.get(), true, handle.claim.get()},
                 {"the optimizer's posterior", o->posterior().get(), true, handle.posterior.get()},
                 {"the optimizer's model", o->model().get(), true, handle.model.get()},
                 {"the optimizer's communicator", o->team().communicator().get(), true,
                  handle.communicator.get()}}};
      },
      handle.object);
}

template <class Handle, class Visit>
decltype(auto) visit_object(Handle& handle, Visit&& visit) {
  return std::visit([&](auto& pointer) -> decltype(auto) { return visit(*pointer); }, handle.object);
}

/// visit(object) in its arithmetic; fails if the handle is NULL, or in use so that the object cannot be.
template <class Handle, class Visit>
decltype(auto) with(Handle* handle, const char* name, Visit&& visit) {
  if (!handle) fail(Status::ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  const InUse use = use_of(*handle, name);
  return visit_object(*handle, visit);
}

/// The same for a call that trains.
template <class Visit>
void with_training(bdl_optimizer* optimizer, Visit&& visit) {
  if (!optimizer) fail(Status::ERROR_INVALID_ARGUMENT, "optimizer is NULL");
  const InUse use = training_use_of(*optimizer);
  visit_object(*optimizer, visit);
}

inline const char* dtype_name(std::size_t variant_index) {
  return variant_index == 0 ? "f32" : "f64";
}

/// The bdl_dtype of a handle's arithmetic.
template <class Handle>
std::int32_t handle_dtype(const Handle& handle) {
  return handle.object.index() == 0 ? BDL_F32 : BDL_F64;
}

template <class T>
const Model<T>& model_of(const Optimizer<T>& optimizer) {
  if (!optimizer.model()) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
  return *optimizer.model();
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
