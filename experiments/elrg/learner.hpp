// One method's model, posterior and optimizer: new, or as a checkpoint has them.
#ifndef ELRG_LEARNER_HPP
#define ELRG_LEARNER_HPP

#include "experiments.hpp"
#include "support/handles.hpp"
#include "support/images.hpp"

namespace elrg {

struct Learner {
  support::Model model;
  support::Posterior posterior;
  support::Optimizer optimizer;
};

Learner begin(const Experiment& experiment, const Method& method, const support::Images& train, int64_t seed);

Learner resume(const std::string& path);

/// Where the checkpoint of a run is.
std::string checkpoint(const Settings& settings, const Experiment& experiment, const Method& method);

}  // namespace elrg

#endif
