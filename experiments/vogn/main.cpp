// Osawa et al. (2019): every method beside the others, effects of VOGN's settings, out-of-distribution
// detection, continual learning, defaults. A run that was stopped goes on with what is missing.
#include "experiments.hpp"
#include "support/arguments.hpp"

int main(int argc, char** argv) {
  const support::Arguments arguments(argc, argv,
                                     "vogn EXPERIMENT --results DIR [--data DIR] [--epochs N] [--seeds N] "
                                     "[--only LABEL] [--options TEXT] [--quick]");
  const bool is_quick = arguments.has("--quick");
  const auto text = [&](const char* option) {
    return arguments.has(option) ? arguments.text(option) : std::string();
  };
  const vogn::Settings settings{text("--data"),
                                arguments.text("--results"),
                                text("--only"),
                                text("--options"),
                                is_quick ? 1 : arguments.number("--epochs", 0),
                                is_quick ? 1 : arguments.number("--seeds", 1),
                                is_quick};
  if (arguments.task() == "continual")
    vogn::learn_continually(settings);
  else if (arguments.task() == "effects")
    vogn::show_effects(settings);
  else if (arguments.task() == "outside")
    vogn::detect_outside(settings);
  else if (arguments.task() == "defaults")
    vogn::compare_defaults(settings);
  else
    vogn::compare(arguments.task(), settings);
}
