#include "c_api/in_use.hpp"

#include "base/error.hpp"

namespace bdl {
namespace {

thread_local constinit InUse* innermost = nullptr;

}  // namespace

InUse::InUse(const void* handle, std::initializer_list<UsedObject> objects)
    : handle_(handle), outer_(innermost) {
  try {
    for (const UsedObject& object : objects)
      if (object.object) take(object);
  } catch (...) {
    release();
    throw;
  }
  if (outer_) outer_->inner_ = this;
  innermost = this;
}

InUse::~InUse() {
  release();
  (inner_ ? inner_->outer_ : innermost) = outer_;
  if (outer_) outer_->inner_ = inner_;
  if (free_ && !will_free(handle_, free_)) free_(handle_);
}

void InUse::take(const UsedObject& object) {
  if (object.is_written) {
    for (const InUse* use = outer_; use; use = use->outer_)
      for (std::size_t k = 0; k < use->count_; ++k)
        if (use->objects_[k].object == object.object)
          fail(Status::ERROR_INVALID_ARGUMENT,
               "%s is in use by the call in progress, whose callbacks may read it, but not change it: change "
               "it "
               "when that call has returned",
               object.name);
    if (object.claim && !object.claim->take())
      fail(Status::ERROR_INVALID_ARGUMENT,
           "%s is in use by a call of another thread that changes it: wait until that call has returned",
           object.name);
  }
  objects_[count_++] = object;
}

void InUse::release() noexcept {
  for (std::size_t k = 0; k < count_; ++k)
    if (objects_[k].is_written && objects_[k].claim) objects_[k].claim->release();
}

bool InUse::will_free(const void* handle, void (*free)(const void* handle)) noexcept {
  InUse* use = innermost;
  while (use && use->handle_ != handle) use = use->outer_;
  if (!handle || !use) return false;
  use->free_ = free;
  return true;
}

}  // namespace bdl
