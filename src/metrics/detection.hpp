// Whether a classifier knows what it does not know: certainty as a score.
#pragma once

#include "base/array.hpp"
#include "bdl/metrics.h"

namespace bdl {

/// AUROC of right predictions against wrong ones.
double auroc_of_correct(const Array& probabilities, const Array& y, bdl_score score);

/// All but the size.
bdl_ood_report detect_outside(const Array& inside, const Array& outside, bdl_score score);

}  // namespace bdl
