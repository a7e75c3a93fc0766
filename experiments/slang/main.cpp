// The experiments of Mishkin et al. (2018), "SLANG". run.sh runs all of them.
#include <cstdlib>

#include "experiments.hpp"
#include "support/table.hpp"

namespace {

constexpr struct {
  const char* name;
  void (*run)(const slang::Settings&);
} experiments[] = {
    {"table1", slang::table1}, {"metrics", slang::metrics}, {"convergence", slang::convergence},
    {"curve", slang::curve},   {"figures", slang::figures},
};

}  // namespace

int main(int argc, char** argv) {
  slang::Settings settings;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--data")
      settings.data = value;
    else if (flag == "--results")
      settings.results = value;
    else if (flag == "--only")
      settings.only = value;
    else if (flag == "--threads")
      settings.threads = std::atoi(value.c_str());
    else if (flag == "--quick")
      settings.quick = value == "yes";
    else
      support::stop("no flag " + flag);
  }
  std::string names;
  for (const auto& experiment : experiments) {
    if (argc > 1 && argv[1] == std::string(experiment.name)) return experiment.run(settings), 0;
    names += std::string(names.empty() ? "" : ", ") + experiment.name;
  }
  support::stop("expected one of " + names);
}
