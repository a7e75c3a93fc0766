#include "io/checkpoint.hpp"

#include "c_api/guard.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

/// The object of a handle in arithmetic T; null for a null handle.
template <class T, class Handle>
auto object_of(const Handle* handle, const char* name) {
  using Pointer = std::variant_alternative_t<std::is_same_v<T, double> ? 1 : 0, decltype(handle->object)>;
  if (!handle) return Pointer();
  const auto* object = std::get_if<Pointer>(&handle->object);
  if (!object)
    fail(Status::ERROR_SHAPE, "%s is %s, expected %s", name, dtype_name(handle->object.index()),
         std::is_same_v<T, double> ? "f64" : "f32");
  return *object;
}

template <class T>
void save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
          const bdl_optimizer* optimizer) {
  const auto m = object_of<T>(model, "model");
  const auto q = object_of<T>(posterior, "posterior");
  const auto o = object_of<T>(optimizer, "optimizer");
  if (o && m && m != o->model()) fail(Status::ERROR_INVALID_ARGUMENT, "model is not the optimizer's own");
  if (o && q && q != o->posterior())
    fail(Status::ERROR_INVALID_ARGUMENT, "posterior is not the optimizer's own");
  if (m && q && m->parameters() != q->dimension())
    fail(Status::ERROR_SHAPE, "posterior has %lld parameters, the model %lld",
         static_cast<long long>(q->dimension()), static_cast<long long>(m->parameters()));
  save_checkpoint<T>(path, m.get(), q.get(), o.get());
}

template <class Handle>
bool is_f64(const Handle* handle) {
  return handle && handle->object.index() == 1;
}

/// A new handle for a wanted part.
template <class Handle, class Object>
std::unique_ptr<Handle> wanted(Handle** out, const std::shared_ptr<Object>& object, const char* name) {
  if (!out) return nullptr;
  if (!object) fail(Status::ERROR_FORMAT, "the file has no %s", name);
  return std::unique_ptr<Handle>(new Handle{object});
}

template <class T>
void load(const TensorArchive& archive, const bdl_model* user_model, bdl_model** model,
          bdl_posterior** posterior, bdl_optimizer** optimizer) {
  Checkpoint<T> parts = load_checkpoint<T>(archive, object_of<T>(user_model, "user_model"));
  auto m = wanted(model, parts.model, "model");
  auto q = wanted(posterior, parts.posterior, "posterior");
  auto o = wanted(optimizer, parts.optimizer, "optimizer");
  // Last: a user's model is the caller's, and a failed load must not have touched it.
  if (parts.noise.covariance.given())
    parts.model->likelihood.set_noise_covariance(std::move(parts.noise.covariance));
  else if (parts.model)
    parts.model->likelihood.set_noise_precision(parts.noise.precision, parts.noise.origin);
  if (model) *model = m.release();
  if (posterior) *posterior = q.release();
  if (optimizer) *optimizer = o.release();
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
                    const bdl_optimizer* optimizer) {
  return guard("bdl_save", [&] {
    not_null(path, "path");
    if (!model && !posterior && !optimizer)
      fail(Status::ERROR_INVALID_ARGUMENT, "model, posterior and optimizer are all NULL");
    if (is_f64(model) || is_f64(posterior) || is_f64(optimizer))
      save<double>(path, model, posterior, optimizer);
    else
      save<float>(path, model, posterior, optimizer);
  });
}

bdl_status bdl_load(const char* path, bdl_model* user_model, bdl_model** model, bdl_posterior** posterior,
                    bdl_optimizer** optimizer) {
  return guard("bdl_load", [&] {
    not_null(path, "path");
    const TensorArchive archive = read_archive(path);
    if (checkpoint_is_double(archive))
      load<double>(archive, user_model, model, posterior, optimizer);
    else
      load<float>(archive, user_model, model, posterior, optimizer);
  });
}
