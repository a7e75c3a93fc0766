#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {

BDL_CALLS(bdl_status_name) {
  s.asks(bdl_status_name, With{static_cast<bdl_status>(s.bytes.next())});
}

BDL_CALLS(bdl_last_error) {
  const char* text = bdl_last_error();  // that of an earlier sequence, if there was no failure yet
  if (std::strlen(text) >= 512) s.broken("a long message");
  s.reads([] { return BDL_OK; }, With{});
}

BDL_CALLS(bdl_version) {
  s.asks(bdl_version, With{});
}

BDL_CALLS(bdl_build_info) {
  s.asks(bdl_build_info, With{});
}

BDL_CALLS(bdl_check_version) {
  const auto near = [&](std::int32_t number) { return number + static_cast<std::int32_t>(s.index(2)); };
  s.reads(bdl_check_version, With{near(BDL_VERSION_MAJOR), near(BDL_VERSION_MINOR), near(BDL_VERSION_PATCH)});
}

BDL_CALLS(bdl_set_callback_message) {
  s.does(bdl_set_callback_message, With{s.bytes.below(2) ? "why" : static_cast<const char*>(nullptr)});
  bdl_set_callback_message(nullptr);
}

BDL_CALLS(bdl_interrupted) {
  s.reads([] { return static_cast<void>(bdl_interrupted()), BDL_OK; }, With{});
}

BDL_CALLS(bdl_report_error) {
  s.reads(bdl_report_error,
          With{BDL_ERROR_FILE, "bdl_report_error", s.bytes.below(2) ? "no luck" : "a failure"});
}

BDL_CALLS(bdl_set_interrupt) {
  const auto count = [](void* user_data) -> int32_t {
    ++static_cast<Session::Callbacks*>(user_data)->asked;
    return 0;
  };
  s.does(bdl_set_interrupt, With{static_cast<bdl_interrupt_fn>(s.bytes.below(2) ? +count : nullptr),
                                 static_cast<void*>(&s.callbacks)});
}

}  // namespace fuzz
