// Communicators of one rank, whose callbacks hand its own message back, or fail after a while; each lives for
// one call, or as long as the optimizer that has it.
#include <cstring>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// The user data of the callbacks.
struct Rank {
  Session::Callbacks* session;
  int until_failure;  ///< negative: never
};

void leave(void* user_data) {
  Rank* const rank = static_cast<Rank*>(user_data);
  --rank->session->owned;
  delete rank;
}

Rank* join(Session& s) {
  return new Rank{&s.callbacks, s.bytes.below(3) == 0 ? static_cast<int>(s.bytes.below(12)) : -1};
}

std::int32_t gather(void* user_data, const void* send, std::int64_t size, void* receive,
                    const std::int64_t*) {
  int& left = static_cast<Rank*>(user_data)->until_failure;
  if (left >= 0 && left-- == 0) return 1;
  std::memcpy(receive, send, static_cast<std::size_t>(size));
  return 0;
}

std::int32_t exchange(void*, std::int32_t, const void*, std::int64_t, void*, std::int64_t) {
  return 1;  // there is nobody else
}

/// The user_data is the communicator's, if there is one.
bdl_communicator* owning(bdl_communicator* made, Rank* rank) {
  if (made)
    ++rank->session->owned;
  else
    delete rank;
  return made;
}

bdl_communicator* alone(Session& s) {
  bdl_communicator* made = nullptr;
  Rank* const rank = join(s);
  if (bdl_communicator_create(0, 1, gather, exchange, rank, leave, &made) != BDL_OK) made = nullptr;
  return owning(made, rank);
}

}  // namespace

BDL_CALLS(bdl_communicator_create) {
  Rank* const rank = join(s);
  bdl_communicator_free(
      owning(s.creates<bdl_communicator>(
                 bdl_communicator_create,
                 With{static_cast<std::int32_t>(s.index(2)), static_cast<std::int32_t>(s.size(2)),
                      s.faulty() ? static_cast<bdl_all_gather_fn>(nullptr) : gather,
                      static_cast<bdl_exchange_fn>(exchange), static_cast<void*>(rank), leave}),
             rank));
}

BDL_CALLS(bdl_communicator_free) {
  s.does(bdl_communicator_free, With{alone(s)});
}

BDL_CALLS(bdl_communicator_size) {
  bdl_communicator* const made = alone(s);
  s.reads(bdl_communicator_size, With{s.faulty() ? nullptr : static_cast<const bdl_communicator*>(made),
                                      s.small_integer(), s.small_integer()});
  bdl_communicator_free(made);
}

BDL_CALLS(bdl_communicator_statistics) {
  bdl_communicator* const made = alone(s);
  s.reads(bdl_communicator_statistics,
          With{s.faulty() ? nullptr : static_cast<const bdl_communicator*>(made), s.integer(), s.integer(),
               s.integer(), static_cast<double*>(nullptr)});
  bdl_communicator_free(made);
}

BDL_CALLS(bdl_optimizer_set_communicator) {
  bdl_communicator* const made = s.bytes.below(3) ? alone(s) : nullptr;
  s.changes(bdl_optimizer_set_communicator, With{s.optimizer().handle, made});
  bdl_communicator_free(made);
}

BDL_CALLS(bdl_search_set_communicator) {
  bdl_communicator* const made = s.bytes.below(3) ? alone(s) : nullptr;
  s.changes(bdl_search_set_communicator, With{s.search().handle, made});
  bdl_communicator_free(made);
}

}  // namespace fuzz
