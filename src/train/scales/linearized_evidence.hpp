// The log marginal likelihood of the network linearised at a mean, as a function of the prior precisions of
// layers and of the noise (MacKay 1992; Immer et al. 2021), and its maximum by MacKay's updates
// (docs/theory/scales.md, "By the evidence").
#pragma once

#include <memory>
#include <vector>

#include "curvature/estimator.hpp"
#include "network/outer_rows.hpp"
#include "train/scales/evidence_rows.hpp"
#include "train/scales/target_noise.hpp"

namespace bdl {

/// Scales that the search may move.
struct MovedScales {
  bool prior = true, noise = true;
  bool noise_outputs = true;  ///< the prior of the parameters that give log noise precisions only
};

template <class T>
class LinearizedEvidence {
 public:
  /// Computes as compute() does, so that later calls need no more memory. The sample must outlive it.
  LinearizedEvidence(const Optimizer<T>& optimizer, const EvidenceSample<T>& sample);
  /// Computes outputs and curvature at the mean of the optimizer's posterior. The search begins at the
  /// present scales.
  void compute();

  /// Begins at a guess of the prior, and at the noise of the errors at the mean.
  void begin_afresh();
  /// Supposes noise that is so many times as precise as that of a constant.
  void suppose_noise(double times);
  /// Takes so many steps lambda_g = gamma_g / |theta_g|^2, tau = (N - gamma) / sum of squared errors.
  void search(const MovedScales& moved, int steps);
  /// As search(), with the squares of what the data determine of theta in place of |theta_g|^2: parameters
  /// that training has not yet brought to 0 would else count as signal.
  void search_determined(const MovedScales& moved, int steps);

  /// Returns the evidence at the present scales, scaled to all data.
  double value();
  /// Returns the log density of each target given the others, summed: the linearised model's at the present
  /// scales, scaled to all data. Its optimum counts, not the mean at which it is linearised.
  double left_out();
  /// True if left_out() means something: the noise is Gaussian, and the same for all rows.
  bool knows_left_out() const;
  /// Returns the precisions of the prior's groups.
  ConstSpan<double> prior() const { return prior_.values; }
  TargetNoise<T>& noise() { return noise_; }
  /// Returns the number of targets with noise.
  std::size_t targets() const { return noise_.targets(); }
  /// Returns how many parameters the rows of means determine, at the present scales.
  double effective_parameters();
  /// Returns the factor on the deviations of the posterior's draws with which outputs vary as they do under
  /// the linearised model, on average over the rows; at most 1. Diagonal and low-rank posteriors leave out
  /// correlations, by which outputs would vary less.
  double draw_scale();

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  void hold_parts();
  void add_layers(const Estimate<T>& estimate);
  void add_layer(std::size_t part, Index parameter, ConstMatrixView<double> gram);
  bool has_inputs_apart(const OuterRows<T>& rows, Index offset) const;
  void add_inputs(const OuterRows<T>& rows, Index offset);
  void add_variances(const Estimate<T>& estimate);
  void compute_errors();
  void compute_squares();
  double weight() const;
  void evaluate();
  void find_determined();
  void move(const MovedScales& moved, ConstSpan<double> squares);
  /// Returns the parts whose outputs are free.
  std::span<EvidenceRows> parts();

  const Optimizer<T>& optimizer_;
  const EvidenceSample<T>& sample_;
  TargetNoise<T> noise_;
  std::unique_ptr<Estimator<T>> estimator_;
  std::vector<EvidenceRows> parts_;  // means, log noise precisions
  GroupedPrecisions prior_;
  std::vector<bool> gives_means_;  // by groups; false if they give log noise precisions only
  std::vector<double> sizes_, squares_, determined_squares_;  // of groups
  std::vector<double> determined_, drawn_;        // effective parameters by targets: of the model, of draws
  std::vector<double> times_;                     // how often the rows of the first part count
  std::vector<double> row_factors_, errors_, z_;  // errors of means, by rows of the first part; memory
  double value_ = 0;
  bool is_evaluated_ = false;  // at the present scales
  Scratch scratch_;
  Buffer<double> gram_, gram_of_outputs_, variances_;
  Buffer<T> products_, written_, outputs_;
};

}  // namespace bdl
