// bdl_bench [CASE ...] [--quick] [--json FILE] [--profile] [--threads N]: libbdl against the limits of the
// machine it runs on, one line of key=value pairs for each measurement. Each runs in a process of its own, so
// that its peak memory is its own.
#include <bdl/bdl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "cases.hpp"
#include "machine.hpp"
#include "plan.hpp"
#include "session.hpp"

namespace {

struct Arguments {
  std::vector<std::string> cases;
  std::string json;
  bench::Settings settings{bench::default_threads(), false, false};
};

/// False if they make no sense.
bool parse(const std::vector<std::string>& words, Arguments& arguments) {
  const auto& names = bench::case_names();
  for (auto word = words.begin(); word != words.end(); ++word) {
    const bool has_value = word + 1 != words.end();
    if (*word == "--quick")
      arguments.settings.quick = true;
    else if (*word == "--profile")
      arguments.settings.profile = true;
    else if (*word == "--json" && has_value)
      arguments.json = *++word;
    else if (*word == "--threads" && has_value)
      arguments.settings.threads = std::strtoll((++word)->c_str(), nullptr, 10);
    else if (std::ranges::find(names, *word) != names.end())
      arguments.cases.push_back(*word);
    else
      return false;
  }
  if (arguments.cases.empty()) arguments.cases.assign(names.begin(), names.end() - 2);
  return arguments.settings.threads > 0;
}

int usage() {
  std::fprintf(stderr,
               "usage: bdl_bench [CASE ...] [--quick] [--json FILE] [--profile] [--threads N]\ncases:");
  for (const std::string& name : bench::case_names()) std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
  return 2;
}

/// One measurement, in the process started for it.
std::vector<bench::Record> measure(const bench::Record& parameters) {
  const std::string& name = parameters.text("case");
  if (name == "gemm") return {bench::gemm_peak(parameters)};
  if (name == "stream") return {bench::triad_bandwidth(parameters)};
  if (name == "sample") return bench::sample(parameters);
  if (name == "solve") return bench::solve(parameters);
  if (name == "predict") return bench::predict(parameters);
  if (name == "predictor") return bench::predictor(parameters);
  if (name == "online") return bench::online(parameters);
  if (name == "conv") return bench::conv(parameters);
  if (name == "noise") return bench::noise(parameters);
  if (name == "vogn") return bench::vogn(parameters);
  if (name == "kernels") return bench::kernels(parameters);
  if (name == "endurance") return bench::endurance(parameters);
  return parameters.has("shape") ? bench::slang(parameters) : bench::rows(parameters);
}

int run(const Arguments& arguments) {
  std::printf("%s\n", bdl_build_info());
  if (const char* core_type = std::getenv("OPENBLAS_CORETYPE"))
    std::printf("OPENBLAS_CORETYPE=%s\n", core_type);
  bench::Session session;
  int status = 0;
  for (const std::string& name : arguments.cases)
    for (const bench::Record& parameters : bench::plan(name, arguments.settings)) try {
        session.measure(parameters);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "bdl_bench: %s\n", error.what());
        status = 1;
      }
  if (!arguments.json.empty()) session.write_json(arguments.json);
  return status;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--child") {
    for (const bench::Record& record : measure(bench::Record(words[1])))
      std::printf("%s\n", record.line().c_str());
    return 0;
  }
  Arguments arguments;
  return parse(words, arguments) ? run(arguments) : usage();
} catch (const std::exception& error) {
  std::fprintf(stderr, "bdl_bench: %s\n", error.what());
  return 1;
}
