// The opaque handles: each holds its object in one of two arithmetics, and the claim that a call which writes
// to the object must have.
#pragma once

#include <memory>
#include <variant>

#include "base/callback.hpp"
#include "bdl/bdl.h"
#include "c_api/guard.hpp"
#include "c_api/in_use.hpp"
#include "data/data_set.hpp"
#include "model/model.hpp"
#include "posterior/dropout/dropout.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "train/course.hpp"
#include "train/optimizer.hpp"

template <class Base32, class Base64>
using Either = std::variant<std::shared_ptr<Base32>, std::shared_ptr<Base64>>;

namespace bdl {

/// Shared by all handles of one object.
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

struct bdl_dataset {
  std::unique_ptr<bdl::DataSet> rows;
};

struct bdl_communicator {
  std::shared_ptr<bdl::Communicator> object;
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

struct bdl_optimizer {
  Either<bdl::Optimizer<float>, bdl::Optimizer<double>> object;
  bdl::SharedClaim posterior{}, model{}, communicator{};  // claims of these handles, or null
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

namespace bdl {

template <class Object>
const void* address_of(const Object& object) {
  return std::visit([](const auto& pointer) -> const void* { return pointer.get(); }, object);
}

/// Records that a call reads the handle's object, or writes to it if the handle is not const.
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

/// Records a call that trains: it also writes to the posterior, and to the noise of the model.
inline InUse training_use_of(bdl_optimizer& handle) {
  return std::visit(
      [&](const auto& o) -> InUse {
        return {&handle,
                {{"optimizer", o.get(), true, handle.claim.get()},
                 {"the optimizer's posterior", o->posterior().get(), true, handle.posterior.get()},
                 {"the optimizer's model", o->model().get(), true, handle.model.get()},
                 {"the optimizer's communicator", o->team.communicator().get(), true,
                  handle.communicator.get()}}};
      },
      handle.object);
}

template <class Handle, class Visit>
decltype(auto) visit_object(Handle& handle, Visit&& visit) {
  return std::visit([&](auto& pointer) -> decltype(auto) { return visit(*pointer); }, handle.object);
}

/// Calls visit(object) in the object's arithmetic. Fails if the handle is NULL, or if the use conflicts with
/// a call in progress.
template <class Handle, class Visit>
decltype(auto) with(Handle* handle, const char* name, Visit&& visit) {
  if (!handle) fail(Status::ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  const InUse use = use_of(*handle, name);
  return visit_object(*handle, visit);
}

/// An entry point that only visits one object: guard() around with().
template <class Handle, class Visit>
bdl_status guard(const char* function, Handle* handle, const char* name, Visit&& visit) {
  return guard(function, [&] { with(handle, name, visit); });
}
template <class Handle, class Visit>
bdl_status interruptible_guard(const char* function, Handle* handle, const char* name, Visit&& visit) {
  return interruptible_guard(function, [&] { with(handle, name, visit); });
}

/// As with(), for a call that trains.
template <class Visit>
void with_training(bdl_optimizer* optimizer, Visit&& visit) {
  if (!optimizer) fail(Status::ERROR_INVALID_ARGUMENT, "optimizer is NULL");
  const InUse use = training_use_of(*optimizer);
  visit_object(*optimizer, visit);
}

inline const char* dtype_name(std::size_t variant_index) {
  return variant_index == 0 ? "f32" : "f64";
}

/// Returns the bdl_dtype of a handle's arithmetic.
template <class Handle>
std::int32_t handle_dtype(const Handle& handle) {
  return handle.object.index() == 0 ? BDL_F32 : BDL_F64;
}

template <class T>
const Model<T>& model_of(const Optimizer<T>& optimizer) {
  if (!optimizer.model()) fail(Status::ERROR_UNSUPPORTED, "the optimizer was created without a model");
  return *optimizer.model();
}

/// Calls visit(model, posterior); fails unless they agree in arithmetic and number of parameters.
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

/// Fails if training has found the mean only: numbers of the start are no answer.
template <class T>
void check_has_covariance(const Posterior<T>& q) {
  if (q.has_covariance()) return;
  fail(Status::ERROR_UNSUPPORTED,
       "training has found a mode, which has no covariance: take method \"laplace\", or call "
       "bdl_optimizer_laplace()");
}

/// Calls visit(rows); fails if the handle is NULL. Callbacks of the call may only read the data set.
template <class Visit>
decltype(auto) with_rows(bdl_dataset* dataset, Visit&& visit) {
  if (!dataset) fail(Status::ERROR_INVALID_ARGUMENT, "dataset is NULL");
  const InUse use(dataset, {{"dataset", dataset->rows.get()}});
  return visit(*dataset->rows);
}

/// A caller's progress callback, with the handle that it receives.
template <class Handle>
struct CallerProgress {
  std::int32_t (*function)(void* user_data, const Handle* handle);  ///< may be NULL
  void* user_data;
  const Handle* handle;

  Progress progress() { return {function ? call : nullptr, this}; }

 private:
  static std::int32_t call(void* context) {
    const auto& caller = *static_cast<const CallerProgress*>(context);
    return answer_of("progress", [&] { return caller.function(caller.user_data, caller.handle); });
  }
};

}  // namespace bdl
