// How good predictions of digits are, and what the posterior has learned.
#ifndef SLANG_MNIST_SCORE_HPP
#define SLANG_MNIST_SCORE_HPP

#include <vector>

#include "digits.hpp"
#include "support/handles.hpp"

namespace mnist {

struct Handles {
  support::Model model;
  support::Posterior q;
  support::Optimizer optimizer;
};

struct Score {
  double error = 0, nll = 0, ece = 0;  ///< error as a fraction
  std::vector<double> entropies;       ///< of each example's predictive distribution
};

/// Scores the mean of the softmax over posterior draws.
Score score_of(const Handles& handles, bdl_matrix x, bdl_matrix y, int samples);

std::vector<double> entropies(const Handles& handles, bdl_matrix x, int samples);

/// The probability that a strange image has more entropy than a digit: the area under the ROC curve.
double auroc(const std::vector<double>& digits, const std::vector<double>& strange);

/// Share of the parameters whose precision is more than half above the smallest one, which is that of the
/// weights of pixels that are black in every image: what the start and the prior leave without data.
double learned_share(const Handles& handles);

}  // namespace mnist

#endif
