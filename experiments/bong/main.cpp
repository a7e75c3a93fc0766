// The experiments of Jones, Chang and Murphy (2024), "Bayesian Online Natural Gradient", and two streams that
// drift. run.sh runs all of it.
#include <cstdlib>

#include "experiments.hpp"
#include "support/table.hpp"

int main(int argc, char** argv) {
  bong::Settings settings;
  const std::string command = argc > 1 ? argv[1] : "";
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--data")
      settings.data = value;
    else if (flag == "--results")
      settings.results = value;
    else if (flag == "--threads")
      settings.threads = std::atoi(value.c_str());
    else if (flag == "--quick")
      settings.quick = value == "yes";
    else
      support::stop("no flag " + flag);
  }
  if (command == "tune")
    bong::tune(settings);
  else if (command == "stream")
    bong::stream(settings);
  else if (command == "sensitivity")
    bong::sensitivity(settings);
  else if (command == "cost")
    bong::cost(settings);
  else if (command == "drift")
    bong::drift(settings);
  else
    support::stop("expected tune, stream, sensitivity, cost or drift");
  return 0;
}
