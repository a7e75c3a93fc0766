// Tomczak et al. (2020): tables 2 to 4, and figures 1 to 3.
// A run goes on where it was stopped: its checkpoint stands beside the results.
#include "experiments.hpp"
#include "support/arguments.hpp"

int main(int argc, char** argv) {
  const support::Arguments arguments(argc, argv,
                                     "elrg EXPERIMENT --results DIR [--data DIR] [--epochs N] [--every N] "
                                     "[--seed N] [--only LABEL] [--quick]");
  const bool is_quick = arguments.has("--quick");
  const auto text = [&](const char* option) {
    return arguments.has(option) ? arguments.text(option) : std::string();
  };
  const elrg::Settings settings{text("--data"),
                                arguments.text("--results"),
                                text("--only"),
                                is_quick ? 1 : arguments.number("--epochs", 0),
                                is_quick ? 1 : arguments.number("--every", 10),
                                arguments.number("--seed", 1),
                                is_quick};
  if (arguments.task() == "figure1")
    elrg::toy(settings);
  else if (arguments.task() == "estimators-compare")
    elrg::compare_estimators(settings);
  else
    elrg::train(elrg::find_experiment(arguments.task()), settings);
}
