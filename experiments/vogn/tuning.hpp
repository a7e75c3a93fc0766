// Trials of each method on the last rows of the training data, which they do not see.
#ifndef VOGN_TUNING_HPP
#define VOGN_TUNING_HPP

#include "settings.hpp"
#include "training.hpp"

namespace vogn {

/// Fills tuning.csv with what is missing of a method's trials.
void tune(const Course& course, const Method& method, const support::Images& images,
          const Settings& settings);

/// The trial with the best likelihood, as far as tuning.csv knows; else the first. An ensemble's is adam's.
Trial chosen(const std::string& network, const Method& method, const Settings& settings);

}  // namespace vogn

#endif
