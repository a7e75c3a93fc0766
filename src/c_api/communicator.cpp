#include "bdl/communicator.h"

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "train/sharding.hpp"

using namespace bdl;

bdl_status bdl_communicator_create(int32_t rank, int32_t size, bdl_all_gather_fn all_gather,
                                   bdl_exchange_fn exchange, void* user_data,
                                   void (*destroy)(void* user_data), bdl_communicator** communicator) {
  return guard(__func__, [&] {
    check_range(size, 1, Communicator::most_ranks, "size");
    check_range(rank, 0, size - 1, "rank");
    not_null(all_gather, "all_gather");
    not_null(exchange, "exchange");
    not_null(communicator, "communicator");
    auto handle = std::make_unique<bdl_communicator>();
    handle->object =
        std::make_shared<Communicator>(rank, size, Communicator::Callbacks{all_gather, exchange, user_data});
    handle->object->set_destroy(destroy);  // nothing after this line can fail
    *communicator = handle.release();
  });
}

void bdl_communicator_free(bdl_communicator* communicator) {
  free_handle(communicator);
}

bdl_status bdl_communicator_size(const bdl_communicator* communicator, int32_t* rank, int32_t* size) {
  return guard(__func__, [&] {
    not_null(communicator, "communicator");
    if (rank) *rank = static_cast<int32_t>(communicator->object->rank());
    if (size) *size = static_cast<int32_t>(communicator->object->size());
  });
}

bdl_status bdl_communicator_statistics(const bdl_communicator* communicator, int64_t* calls, int64_t* sent,
                                       int64_t* received, double* seconds) {
  return guard(__func__, [&] {
    not_null(communicator, "communicator");
    const CommunicatorStatistics& statistics = communicator->object->statistics();
    if (calls) *calls = statistics.calls;
    if (sent) *sent = statistics.sent;
    if (received) *received = statistics.received;
    if (seconds) *seconds = statistics.seconds;
  });
}

bdl_status bdl_report_error(bdl_status status, const char* function, const char* message) {
  return guard(function ? function : __func__, [&] {
    check_enum(status, BDL_ERROR_INVALID_ARGUMENT, BDL_ERROR_COMMUNICATION, "status");
    not_null(function, "function");
    not_null(message, "message");
    fail(static_cast<Status>(enum_number(status)), "%s", message);
  });
}

bdl_status bdl_optimizer_set_communicator(bdl_optimizer* optimizer, bdl_communicator* communicator) {
  return guard(__func__, optimizer, "optimizer", [&](auto& o) {
    set_communicator(o, communicator ? communicator->object : nullptr);
    optimizer->communicator = communicator ? communicator->claim : nullptr;
  });
}
