// One set of option values that was tried.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/view.hpp"

namespace bdl {

struct Trial {
  std::vector<double> point, values;  ///< of a Space; the point is snapped
  double score = std::numeric_limits<double>::quiet_NaN(), standard_error = score;
  std::string message;  ///< why there is no score
  Index known = -1;     ///< how many trials' scores it was proposed from; of one at random -1

  bool has_score() const { return message.empty(); }
};

}  // namespace bdl
