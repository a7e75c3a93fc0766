// Osawa et al. (2019): continual learning. A run that was stopped goes on with the methods that are missing.
#include "continual.hpp"
#include "support/arguments.hpp"

int main(int argc, char** argv) {
  const support::Arguments arguments(argc, argv,
                                     "vogn EXPERIMENT --results DIR [--data DIR] [--epochs N] [--seeds N] "
                                     "[--only LABEL] [--options TEXT] [--quick]");
  const bool is_quick = arguments.has("--quick");
  const auto text = [&](const char* option) {
    return arguments.has(option) ? arguments.text(option) : std::string();
  };
  vogn::learn_continually({text("--data"), arguments.text("--results"), text("--only"), text("--options"),
                           is_quick ? 1 : arguments.number("--epochs", 0),
                           is_quick ? 1 : arguments.number("--seeds", 3), is_quick});
}
