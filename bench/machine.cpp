#include "machine.hpp"

#include <bdl/bdl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2000-01-01"];
  std::strftime(text, sizeof text, "%F", &parts);
  return text;
}

}  // namespace

double peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int default_threads() {
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = std::getenv(name))
      if (const int threads = static_cast<int>(std::strtol(value, nullptr, 10)); threads > 0) return threads;
  return static_cast<int>(std::thread::hardware_concurrency());
}

nlohmann::ordered_json machine() {
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  return {{"processor", cpu_model()},
          {"processors", std::thread::hardware_concurrency()},
          {"build", bdl_build_info()},
          {"openblas_coretype", core_type ? core_type : ""},
          {"date", today()}};
}

}  // namespace bench
