#include "methods.hpp"

#include "support/table.hpp"

namespace vogn {
namespace {

std::array<Trial, trials_each> decays(const std::string& options) {
  return {{{options, 1e-4}, {options, 1e-3}, {options, 1e-2}}};
}

std::array<Trial, trials_each> rates(const char* first, const char* second, const char* third,
                                     double decay = 1e-4) {
  const std::string rate = "learning_rate=";
  return {{{rate + first, decay}, {rate + second, decay}, {rate + third, decay}}};
}

/// Found by some fifty trainings of LeNet-5 and AlexNet, judged on the rows that trials hold out.
constexpr const char* vogn_recipe =
    "start_share=0 initial_curvature=1 learning_rate=0.002 kl_weight=0.3 damping=0.004 damping_in=both";

const Method methods[] = {
    {"adam", "map", Family::diagonal, 0, BDL_PLUG_IN, "", decays("learning_rate=1e-3")},
    {"sgd", "sgd", Family::diagonal, 0, BDL_PLUG_IN, "", rates("0.1", "0.03", "0.01")},
    {"dropout",
     "mc-dropout",
     Family::dropout,
     0,
     BDL_MONTE_CARLO,
     "samples=1",
     {{{"learning_rate=1e-3", 1e-4, 0.05},
       {"learning_rate=1e-3", 1e-4, 0.1},
       {"learning_rate=1e-3", 1e-4, 0.2}}}},
    {"bbb", "mf-vi", Family::low_rank_moment, 0, BDL_MONTE_CARLO, "noise_estimator=local",
     decays("learning_rate=1e-3")},
    {"elrg K=2", "elrg", Family::low_rank_moment, 2, BDL_MONTE_CARLO, "noise_estimator=local",
     decays("learning_rate=1e-3")},
    {"ogn", "ogn", Family::diagonal, 0, BDL_MONTE_CARLO, "", decays("")},
    {"vogn", "vogn", Family::diagonal, 0, BDL_MONTE_CARLO, "", decays("")},
    {"vogn recipe", "vogn", Family::diagonal, 0, BDL_MONTE_CARLO, "", decays(vogn_recipe)},
    {"ivon", "ivon", Family::diagonal, 0, BDL_MONTE_CARLO, "", rates("0.005", "0.01", "0.02")},
    {"kfac-laplace", "laplace", Family::kronecker, 0, BDL_LINEARIZED, "",
     decays("learning_rate=1e-3 evidence=none")},
    {"noisy-kfac", "noisy-kfac", Family::kronecker, 0, BDL_MONTE_CARLO,
     "samples=1 fisher=sampled factor_interval=5 eigen_interval=20", rates("0.003", "0.01", "0.03")},
    {"slang L=4", "slang", Family::low_rank, 4, BDL_MONTE_CARLO, "start_share=0 samples=1",
     rates("0.02", "0.05", "0.1")},
    {"ensemble", "map", Family::diagonal, 0, BDL_PLUG_IN, "", decays("learning_rate=1e-3"), 5},
};

}  // namespace

std::span<const Method> all_methods() {
  return methods;
}

const Method& find_method(const std::string& label) {
  for (const Method& method : methods)
    if (label == method.label) return method;
  support::stop("unknown method " + label);
}

Trial vogn_trial(const std::string& options, double decay) {
  const std::string published =
      "momentum_form=heavy_ball damping=1e-3 curvature_rate=0.05 start_share=0 initial_curvature=0 "
      "kl_start=0.1 kl_weight=1 kl_warmup=0.15 ";
  return {published + options, decay};
}

}  // namespace vogn
