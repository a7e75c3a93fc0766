// One set of option values that was tried.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace bdl {

struct Trial {
  std::vector<double> point, values;  ///< of a Space; the point is snapped
  double score = std::numeric_limits<double>::quiet_NaN(), standard_error = score;
  std::string message;  ///< why there is no score

  bool has_score() const { return message.empty(); }
};

}  // namespace bdl
