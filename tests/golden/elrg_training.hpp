// Trains a problem of "elrg-golden-1" by the library.
#pragma once

#include "golden.hpp"

namespace golden {

/// The largest error.
double replay_training(const Json& problem);

}  // namespace golden
