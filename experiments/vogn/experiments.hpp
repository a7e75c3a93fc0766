// The experiments, each of which adds to a table of its own what is missing there.
#ifndef VOGN_EXPERIMENTS_HPP
#define VOGN_EXPERIMENTS_HPP

#include "settings.hpp"

namespace vogn {

/// Every method on "lenet5", "alexnet" or "resnet18" and CIFAR-10: tuning.csv, on rows held out, then
/// networks.csv and predictions.csv.
void compare(const std::string& network, const Settings& settings);

/// VOGN by its temperature, prior and draws: effects.csv.
void show_effects(const Settings& settings);

/// Digits against clothes and classes held out: outside.csv, and entropies in histogram.csv.
void detect_outside(const Settings& settings);

/// Permuted MNIST, ten tasks after one another, of which none is seen again (Osawa et al. 2019, section 4.4):
/// continual.csv.
void learn_continually(const Settings& settings);

/// VOGN, IVON and MAP without tuning: defaults.csv.
void compare_defaults(const Settings& settings);

}  // namespace vogn

#endif
