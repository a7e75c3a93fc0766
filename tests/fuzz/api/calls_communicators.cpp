// Communicators of one rank, whose callbacks hand its own message back; each lives for one call, or as long
// as the optimizer that has it.
#include <cstring>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

std::int32_t gather(void*, const void* send, std::int64_t size, void* receive, const std::int64_t*) {
  std::memcpy(receive, send, static_cast<std::size_t>(size));
  return 0;
}

std::int32_t exchange(void*, std::int32_t, const void*, std::int64_t, void*, std::int64_t) {
  return 1;  // there is nobody else
}

bdl_communicator* alone() {
  bdl_communicator* made = nullptr;
  return bdl_communicator_create(0, 1, gather, exchange, nullptr, nullptr, &made) == BDL_OK ? made : nullptr;
}

}  // namespace

BDL_CALLS(bdl_communicator_create) {
  bdl_communicator_free(s.creates<bdl_communicator>(
      bdl_communicator_create,
      With{static_cast<std::int32_t>(s.index(2)), static_cast<std::int32_t>(s.size(2)),
           s.faulty() ? static_cast<bdl_all_gather_fn>(nullptr) : gather,
           static_cast<bdl_exchange_fn>(exchange), static_cast<void*>(nullptr),
           static_cast<void (*)(void*)>(nullptr)}));
}

BDL_CALLS(bdl_communicator_free) {
  s.does(bdl_communicator_free, With{alone()});
}

BDL_CALLS(bdl_communicator_size) {
  bdl_communicator* const made = alone();
  s.reads(bdl_communicator_size, With{s.faulty() ? nullptr : static_cast<const bdl_communicator*>(made),
                                      s.small_integer(), s.small_integer()});
  bdl_communicator_free(made);
}

BDL_CALLS(bdl_communicator_statistics) {
  bdl_communicator* const made = alone();
  s.reads(bdl_communicator_statistics,
          With{s.faulty() ? nullptr : static_cast<const bdl_communicator*>(made), s.integer(), s.integer(),
               s.integer(), static_cast<double*>(nullptr)});
  bdl_communicator_free(made);
}

BDL_CALLS(bdl_optimizer_set_communicator) {
  bdl_communicator* const made = s.bytes.below(3) ? alone() : nullptr;
  s.changes(bdl_optimizer_set_communicator, With{s.optimizer().handle, made});
  bdl_communicator_free(made);
}

}  // namespace fuzz
