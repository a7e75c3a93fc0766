// How well classes of images are predicted.
#ifndef SUPPORT_CLASS_SCORES_HPP
#define SUPPORT_CLASS_SCORES_HPP

#include "support/images.hpp"

namespace support {

struct ClassScores {
  double error;  ///< per cent
  double log_likelihood, calibration;
};

/// Scores predictions of ten classes by this number of draws, or at the mean if it is 0; the calibration
/// error has this number of bins.
ClassScores score_classes(const bdl_model* model, const bdl_posterior* posterior, const Images& test,
                          int64_t draws, int64_t bins);

}  // namespace support

#endif
