// The evidence of a training step together with the sums that the rest of training reads: how well the
// outputs fit (train/watch.hpp), and statistics from which prior and noise precisions are learned
// (train/scales.hpp). If the data have several shards, ranks/sharded_evidence.hpp calls this class once for
// each shard of a minibatch, perhaps in several processes.
#pragma once

#include "evidence/evidence.hpp"
#include "methods/step_kind.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// Sums of the log density that outputs lose against the best outputs for their targets.
struct Misfits {
  double outputs = 0;   ///< of outputs at posterior samples
  double zeros = 0;     ///< of outputs 0, or the offsets
  double columns = 0;   ///< examples times samples, in the first sum; 0 for integrals, which have no outputs
  double examples = 0;  ///< examples in the second sum; with weights, their sum
};

/// Scales that a step learns besides the posterior.
struct LearnedScales {
  bool prior = false, noise = false, degrees = false, shape = false;
  bool at_samples = false;  ///< true if they need samples that the estimate does not draw
  bool is_due = false;      ///< false if learning starts in a later step
  bool any() const { return is_due && (prior || noise || degrees || shape); }
};

template <class T>
struct StepEvidence {
  Evidence<T> evidence;
  Misfits misfits;
  double examples = 0;               ///< number of examples; with weights, their sum
  std::span<double> prior_squares;   ///< mean square of the parameters, for each prior group
  std::span<double> squared_errors;  ///< sum over the examples, for each target
  double degrees_slope = 0;          ///< slope by 1 / nu of Student-t noise, summed
  double degrees_count = 0;          ///< number of summands of degrees_slope
  std::span<double> shape_sums;      ///< gradient and information by the shape (likelihood/shape.hpp)
};

template <class T>
struct EvidenceRequest {
  const Posterior<T>& q;
  const Prior<T>& prior;
  const Options& options;
  StepKind kind;
  LearnedScales learned;
  DrawSource<T>& draws;
  Scratch& scratch;
};

template <class T>
class MinibatchEvidence {
 public:
  /// The model must outlive it.
  explicit MinibatchEvidence(const Model<T>& model) : model_(model), estimator_(model) {}
  StepEvidence<T> estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch);
  /// Estimates the evidence at given samples, without sample groups.
  StepEvidence<T> estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                           const Samples<T>& samples);
  EvidenceEstimator<T>& estimator() { return estimator_; }
  const Model<T>& model() const { return model_; }

 private:
  StepEvidence<T> with_sums(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                            const Evidence<T>& evidence);
  Misfits misfits(ConstMatrixView<T> f, const Minibatch<T>& batch, Scratch& scratch) const;
  void sum_scales(const EvidenceRequest<T>& request, const Minibatch<T>& batch, Evidence<T> evidence,
                  StepEvidence<T>& out);

  void rehearse_samples(const EvidenceRequest<T>& request, Index examples);

  const Model<T>& model_;
  EvidenceEstimator<T> estimator_;
  Index rehearsed_ = 0;  // largest number of examples so far
};

}  // namespace bdl
