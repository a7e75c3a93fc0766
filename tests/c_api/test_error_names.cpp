// bdl_last_error() names the function that was called, for every function that can fail.
#include <string>
#include <type_traits>

#include "c_api_test.h"

namespace {

/// NULL, no matrix, -1: what every function refuses.
template <class T>
T absent() {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(-1);
  else
    return T{};
}

template <class... Arguments>
void expect_name(const char* name, bdl_status (*function)(Arguments...)) {
  const bdl_status status = function(absent<Arguments>()...);
  const std::string message = bdl_last_error();
  const bool refused = status == BDL_ERROR_INVALID_ARGUMENT || status == BDL_ERROR_SHAPE;
  if (!refused || !message.starts_with(std::string(name) + ": "))
    fail_msg("%s gave %s: %s", name, bdl_status_name(status), message.c_str());
}

void messages_begin_with_the_function(void**) {
  int count = 0;
#define NAMED(function) expect_name(#function, function), ++count;
#include "fallible.def"
#undef NAMED
  assert_true(count > 80);
}

}  // namespace

int test_error_names() {
  const CMUnitTest tests[] = {cmocka_unit_test(messages_begin_with_the_function)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
