#include "io/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr std::uint64_t always_held = std::uint64_t{16} << 20;  // not worth a question
constexpr std::uint64_t unlimited = UINT64_MAX;

/// The first number in the text; unlimited: there is none ("max").
std::uint64_t first_number(const std::string& text) {
  std::uint64_t number = unlimited;
  const std::size_t digit = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + digit, text.data() + text.size(), number);
  return number;
}

/// What can be had without moving other processes' memory to disk, and the free room there.
std::uint64_t free_on_this_machine() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t available = unlimited, swap = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) available = first_number(line) * 1024;
    if (line.starts_with("SwapFree:")) swap = first_number(line) * 1024;
  }
  return available == unlimited ? unlimited : available + swap;
}

/// The least limit from this group up to the root: outer groups bind inner ones. What a container sees of its
/// group may be the root alone.
std::uint64_t least_limit(const std::string& root, std::string group, const char* file_name) {
  std::uint64_t least = unlimited;
  while (true) {
    std::ifstream file(root + group + "/" + file_name);
    std::string text;
    if (std::getline(file, text)) least = std::min(least, first_number(text));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

std::uint64_t limit_of_control_group() {
  std::ifstream file("/proc/self/cgroup");
  std::uint64_t least = unlimited;
  // Lines are "0::/group", or "4:memory:/group" of the first version.
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(":/");
    if (colon == std::string::npos) continue;
    const std::string group = line.substr(colon + 1);
    if (line.starts_with("0::"))
      least = std::min(least, least_limit("/sys/fs/cgroup", group, "memory.max"));
    else if (line.find("memory:/") != std::string::npos)
      least = std::min(least, least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

}  // namespace

void require_memory(std::uint64_t bytes) {
  if (bytes <= always_held) return;
  const std::uint64_t available = std::min(free_on_this_machine(), limit_of_control_group());
  if (bytes > available)
    fail(Status::ERROR_OUT_OF_MEMORY, "out of memory: %llu MiB are needed, %llu are available",
         static_cast<unsigned long long>(bytes >> 20), static_cast<unsigned long long>(available >> 20));
}

}  // namespace bdl
