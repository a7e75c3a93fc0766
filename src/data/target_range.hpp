// Between which numbers the targets of a data set lie, in one pass.
#pragma once

#include "data/data_set.hpp"

namespace bdl {

struct TargetRange {
  std::vector<double> smallest, largest;  ///< of each column
};

/// Fails if some are not finite. The caller can interrupt it.
TargetRange target_range(DataSet& data);

}  // namespace bdl
