#include "fuzz/api/calls.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fuzz {
namespace {

constexpr Call calls[] = {
#define BDL_CALL(name) {#name, call_##name},
#include "fuzz/api/calls.def"
#undef BDL_CALL
};
static_assert(sizeof calls / sizeof *calls <= most_calls);

}  // namespace

std::size_t call_count() {
  return sizeof calls / sizeof *calls;
}

const Call& call_at(std::size_t index) {
  return calls[index];
}

std::size_t index_of(const char* name) {
  std::size_t i = 0;
  while (i < call_count() && std::strcmp(calls[i].name, name) != 0) ++i;
  return i;
}

void print_coverage() {
  std::size_t called = 0, succeeded = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < call_count(); ++i) {
    std::printf("%-48s %10" PRIu64 " calls, %10" PRIu64 " succeeded\n", calls[i].name, calls_made[i],
                calls_succeeded[i]);
    called += calls_made[i] > 0;
    succeeded += calls_succeeded[i] > 0;
    total += calls_made[i];
  }
  std::printf("%zu of %zu functions called, %zu with success, %" PRIu64 " calls\n", called, call_count(),
              succeeded, total);
}

}  // namespace fuzz
