// The log marginal likelihood of the network linearised at a mean, as a function of the prior precisions of
// layers and of the noise (MacKay 1992; Immer et al. 2021), and its maximum by MacKay's updates
// (docs/mathematics/scales.md, "By the evidence").
#pragma once

#include <vector>

#include "curvature/estimator.hpp"
#include "train/scales/gram_evidence.hpp"
#include "train/scales/sample.hpp"

namespace bdl {

/// Scales that the search may move.
struct MovedScales {
  bool prior = true, noise = true;
  bool noise_outputs = true;  ///< the prior of the parameters that give log noise precisions only
};

template <class T>
class LinearizedEvidence {
 public:
  /// Computes outputs and curvature at the mean of the optimizer's posterior. The search begins at the
  /// present scales.
  LinearizedEvidence(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample);

  /// Begins at a guess of the prior, and at the noise of the errors at the mean.
  void begin_afresh();
  /// Takes so many steps lambda_g = gamma_g / |theta_g|^2, tau = (N - gamma) / sum of squared errors.
  void search(const MovedScales& moved, int steps);
  /// As search(), with the squares of what the data determine of theta in place of |theta_g|^2: parameters
  /// that training has not yet brought to 0 would else count as signal.
  void search_determined(const MovedScales& moved, int steps);

  /// Returns the evidence at the present scales, scaled to all data.
  double value();
  /// Returns the log likelihood of a constant, with its best noise.
  double of_constant() const;
  /// Returns the precisions of the prior's groups, and of the noise as the likelihood holds it.
  const std::vector<double>& prior() const { return prior_.values; }
  std::vector<double> noise() const;
  /// Returns the noise precisions of a constant.
  std::vector<double> noise_of_constant() const;
  double effective_parameters() const;
  /// Returns the factor on the deviations of the posterior's draws with which outputs vary as they do under
  /// the linearised model, on average over the rows; at most 1. Diagonal and low-rank posteriors leave out
  /// correlations, by which outputs would vary less.
  double draw_scale();

 private:
  /// Rows of one kind of outputs: means, or log noise precisions.
  struct Part {
    GramEvidence gram;
    std::vector<double> factors;                // on rows, for the present noise
    std::vector<std::vector<double>> products;  // of the rows with the parameters of each group
    Index first = 0;                            // number of the first row
  };
  struct Target {
    double values = 0, errors = 0, sum = 0,
           squares = 0;     // of all data; squared errors as the noise sees them
    double drawn = 0;       // effective parameters of the posterior's draws
    double log_change = 0;  // of the noise precision, from that of the rows
    double variance() const;
  };

  void add_errors(const EvidenceSample<T>& sample);
  void add_rows(const EvidenceSample<T>& sample);
  void add_layers(const Estimate<T>& estimate, const BlockedRows<T>& rows, double weight);
  void add_variances(const Estimate<T>& estimate, double weight);
  void evaluate();
  std::vector<double> squares() const;
  std::vector<double> determined_squares();
  void move(const MovedScales& moved, const std::vector<double>& squares);
  void move_noise();
  double leverage_of(std::size_t target) const;

  const Optimizer<T>& optimizer_;
  const Likelihood& likelihood_;
  std::vector<Part> parts_;
  std::vector<Target> targets_;
  GroupedPrecisions prior_;
  std::vector<bool> gives_means_;  // false for groups that give log noise precisions only
  Index curved_ = 0;
  double log_likelihood_ = 0, value_ = 0;
};

}  // namespace bdl
