#include "io/checkpoint.hpp"

#include <algorithm>

#include "c_api/guard.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

/// Returns the object of a handle in arithmetic T, or null for a null handle.
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
SavedParts<T> checked_parts(const bdl_model* model, const bdl_posterior* posterior,
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
  return {m.get(), q.get(), o.get()};
}

template <class Handle>
bool is_f64(const Handle* handle) {
  return handle && handle->object.index() == 1;
}

template <class Handle>
InUse optional_use_of(Handle* handle, const char* name) {
  if (handle) return use_of(*handle, name);
  return InUse(nullptr, {});
}

/// Calls act(parts) in the arithmetic of the handles; fails if all are null.
template <class Act>
void with_parts(const bdl_model* model, const bdl_posterior* posterior, const bdl_optimizer* optimizer,
                Act&& act) {
  if (!model && !posterior && !optimizer)
    fail(Status::ERROR_INVALID_ARGUMENT, "model, posterior and optimizer are all NULL");
  const InUse model_use = optional_use_of(model, "model"),
              posterior_use = optional_use_of(posterior, "posterior"),
              optimizer_use = optional_use_of(optimizer, "optimizer");
  if (is_f64(model) || is_f64(posterior) || is_f64(optimizer))
    act(checked_parts<double>(model, posterior, optimizer));
  else
    act(checked_parts<float>(model, posterior, optimizer));
}

/// Returns a new handle for the object if the caller wants one.
template <class Handle, class Object>
std::unique_ptr<Handle> wanted(Handle** out, const std::shared_ptr<Object>& object, const char* name) {
  if (!out) return nullptr;
  if (!object) fail(Status::ERROR_FORMAT, "the file contains no %s", name);
  auto handle = std::make_unique<Handle>();
  handle->object = object;
  return handle;
}

/// Returns the handle's claim, or a new one if the caller did not ask for that handle.
template <class Handle>
SharedClaim claim_of(const std::unique_ptr<Handle>& handle) {
  return handle ? handle->claim : std::make_shared<Claim>();
}

/// Fails if others read rows for the custom model, in another form than the file's model does.
template <class T>
void check_rows_of(const std::shared_ptr<Model<T>>& user_model, bool is_shared, const Noise& noise) {
  if (!is_shared || (user_model->likelihood.is_weighted() == noise.is_weighted &&
                     (user_model->offsets() > 0) == noise.has_offsets))
    return;
  fail(Status::ERROR_UNSUPPORTED,
       "an optimizer has user_model, and rows of the file's model %s weights and %s offsets: load the file "
       "into a new model",
       noise.is_weighted ? "have" : "have no", noise.has_offsets ? "have" : "no");
}

template <class T>
void load(const TensorArchive& archive, bdl_model* user_model, bdl_model** model, bdl_posterior** posterior,
          bdl_optimizer** optimizer) {
  const InUse use = optional_use_of(user_model, "user_model");
  const std::shared_ptr<Model<T>> custom = object_of<T>(user_model, "user_model");
  const bool is_shared = custom && custom.use_count() > 2;  // the handle, and this
  Checkpoint<T> parts = load_checkpoint<T>(archive, custom);
  if (parts.model) check_rows_of(custom, is_shared, parts.noise);
  auto m = wanted(model, parts.model, "model");
  auto q = wanted(posterior, parts.posterior, "posterior");
  auto o = wanted(optimizer, parts.optimizer, "optimizer");
  if (m && user_model) m->claim = user_model->claim;
  if (o) o->posterior = claim_of(q);
  if (o) o->model = user_model ? user_model->claim : claim_of(m);
  // A custom model changes last, as a failed load must leave it untouched.
  if (parts.noise.covariance.given())
    parts.model->likelihood.set_noise_covariance(std::move(parts.noise.covariance), parts.noise.origin);
  else if (parts.model)
    parts.model->likelihood.set_noise_precision(parts.noise.precision, parts.noise.origin);
  if (parts.model) parts.model->likelihood.set_noise_degrees(parts.noise.precision_degrees);
  if (parts.model) {
    parts.model->names = std::move(parts.names);
    parts.model->likelihood.free_log_precision(parts.noise.log_precision_is_free);
    parts.model->likelihood.set_limit(parts.noise.limit);
    parts.model->likelihood.set_weighted(parts.noise.is_weighted);
    parts.model->set_offsets(parts.noise.has_offsets);
    parts.model->likelihood.set_degrees_of_freedom(parts.noise.first_degrees);
    parts.model->likelihood.learn_degrees_of_freedom(parts.noise.degrees);
    if (!parts.noise.shape.empty())
      parts.model->likelihood.set_shape(parts.noise.shape, parts.noise.shape_origin);
    if (parts.noise.classes.empty())
      parts.model->likelihood.set_all_classes();
    else
      parts.model->likelihood.set_classes(parts.noise.classes);
  }
  if (model) *model = m.release();
  if (posterior) *posterior = q.release();
  if (optimizer) *optimizer = o.release();
}

void load(const TensorArchive& archive, bdl_model* user_model, bdl_model** model, bdl_posterior** posterior,
          bdl_optimizer** optimizer) {
  if (checkpoint_is_double(archive.metadata()))
    load<double>(archive, user_model, model, posterior, optimizer);
  else
    load<float>(archive, user_model, model, posterior, optimizer);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_save(const char* path, const bdl_model* model, const bdl_posterior* posterior,
                    const bdl_optimizer* optimizer) {
  return interruptible_guard(__func__, [&] {
    not_null(path, "path");
    with_parts(model, posterior, optimizer, [&](const auto& parts) { save_checkpoint(path, parts); });
  });
}

bdl_status bdl_save_bytes(const bdl_model* model, const bdl_posterior* posterior,
                          const bdl_optimizer* optimizer, void* buffer, int64_t capacity, int64_t* size) {
  return interruptible_guard(__func__, [&] {
    not_null(size, "size");
    if (!buffer && capacity != 0)
      fail(Status::ERROR_INVALID_ARGUMENT, "buffer is NULL, but capacity is %lld",
           static_cast<long long>(capacity));
    with_parts(model, posterior, optimizer, [&](const auto& parts) {
      const std::vector<std::byte> bytes = serialize_checkpoint(parts);
      const auto needed = static_cast<int64_t>(bytes.size());
      if (buffer && capacity < needed)
        fail(Status::ERROR_SHAPE, "capacity is %lld bytes, expected at least %lld",
             static_cast<long long>(capacity), static_cast<long long>(needed));
      if (buffer) std::ranges::copy(bytes, static_cast<std::byte*>(buffer));
      *size = needed;
    });
  });
}

bdl_status bdl_load(const char* path, bdl_model* user_model, bdl_model** model, bdl_posterior** posterior,
                    bdl_optimizer** optimizer) {
  return interruptible_guard(__func__, [&] {
    not_null(path, "path");
    load(read_checkpoint(path), user_model, model, posterior, optimizer);
  });
}

bdl_status bdl_load_bytes(const void* bytes, int64_t size, bdl_model* user_model, bdl_model** model,
                          bdl_posterior** posterior, bdl_optimizer** optimizer) {
  return interruptible_guard(__func__, [&] {
    not_null(bytes, "bytes");
    if (size < 0)
      fail(Status::ERROR_INVALID_ARGUMENT, "size is %lld, expected at least 0", static_cast<long long>(size));
    const auto* const first = static_cast<const std::byte*>(bytes);
    std::vector<std::byte> copy(first, first + size);
    load(parse_archive(std::move(copy)), user_model, model, posterior, optimizer);
  });
}

bdl_status bdl_checkpoint_parts(const char* path, int32_t* model, int32_t* user_model, int32_t* posterior,
                                int32_t* optimizer) {
  return guard(__func__, [&] {
    not_null(path, "path");
    const CheckpointContents contents = checkpoint_contents(path);
    if (model) *model = contents.model;
    if (user_model) *user_model = contents.user_model;
    if (posterior) *posterior = contents.posterior;
    if (optimizer) *optimizer = contents.optimizer;
  });
}
