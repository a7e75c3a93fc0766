#include "c_api/in_use.hpp"

#include "base/error.hpp"

namespace bdl {
namespace {

thread_local constinit InUse* innermost = nullptr;

}  // namespace

InUse::InUse(const void* handle, std::initializer_list<UsedObject> objects)
    : handle_(handle), innermost_(innermost), outer_(innermost_) {
  for (const UsedObject& object : objects) {
    if (!object.object) continue;
    if (const char* const user = object.is_written ? claim(object) : nullptr) {
      release();
      fail(Status::ERROR_INVALID_ARGUMENT, "%s is in use by %s", object.name, user);
    }
    objects_[count_++] = {object.object, object.is_written ? object.claim : nullptr};
  }
  if (outer_) outer_->inner_ = this;
  innermost_ = this;
}

InUse::~InUse() {
  release();
  (inner_ ? inner_->outer_ : innermost_) = outer_;
  if (outer_) outer_->inner_ = inner_;
  if (free_ && !will_free(handle_, free_)) free_(handle_);
}

bool InUse::uses(const void* object) const noexcept {
  for (std::size_t k = 0; k < count_; ++k)
    if (objects_[k].object == object) return true;
  return false;
}

/// Claims the object and returns null, or returns who uses it and what to do.
const char* InUse::claim(const UsedObject& object) const noexcept {
  for (const InUse* use = outer_; use; use = use->outer_)
    if (use->uses(object.object))
      return "the call in progress, whose callbacks may only read it: change it after that call returns";
  if (object.claim && !object.claim->acquire())
    return "a call of another thread that changes it: wait until that call has returned";
  return nullptr;
}

void InUse::release() noexcept {
  for (std::size_t k = 0; k < count_; ++k)
    if (objects_[k].claim) objects_[k].claim->release();
}

bool InUse::will_free(const void* handle, void (*free)(const void* handle)) noexcept {
  InUse* use = innermost;
  while (use && use->handle_ != handle) use = use->outer_;
  if (!handle || !use) return false;
  use->free_ = free;
  return true;
}

}  // namespace bdl
