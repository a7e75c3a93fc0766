// How well class probabilities hold.
#ifndef VOGN_SCORES_HPP
#define VOGN_SCORES_HPP

#include <string>
#include <vector>

#include "training.hpp"

namespace vogn {

struct Scores {
  double accuracy, nll, ece, auroc;  ///< accuracy in per cent; auroc: right against wrong, nan if all are one
};

/// Probabilities below 1e-12 count as that.
Scores score(const std::vector<double>& probabilities, const Part& part, int64_t classes);

/// Numbers for a bootstrap over images, each after a space: log probabilities of the labels, and
/// confidences, negative where the class is wrong.
struct PerImage {
  std::string log_probabilities, confidences;
};
PerImage of_each_image(const std::vector<double>& probabilities, const Part& part, int64_t classes);

}  // namespace vogn

#endif
