// Runs the groups of tests that a program is linked from: each source file test_TOPIC defines one, as
// `int test_TOPIC()`, which returns the number of failures.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <span>

namespace bdl::testing {

struct Group {
  const char* name;
  int (*run)();
};

/// In a process of its own: what a group leaves behind, the last error for one, is not seen by the next.
inline bool passes_alone(const Group& group) {
  const pid_t child = fork();
  if (child == 0) _exit(group.run() == 0 ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// usage: PROGRAM [GROUP]: the group that is named, or all, one after the other.
inline int run_groups(std::span<const Group> groups, int argc, char** argv) {
  if (argc > 1) {
    for (const Group& group : groups)
      if (!std::strcmp(group.name, argv[1])) return group.run();
    std::fprintf(stderr, "no group %s\n", argv[1]);
    return 2;
  }
  int failed = 0;
  for (const Group& group : groups)
    if (!passes_alone(group)) ++failed, std::fprintf(stderr, "FAILED: %s\n", group.name);
  return failed;
}

}  // namespace bdl::testing
