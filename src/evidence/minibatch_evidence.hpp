// The evidence of a training step together with the sums that the rest of training reads: how well the
// outputs fit (train/watch.hpp), and statistics from which prior and noise precisions are learned
// (train/scales.hpp). ranks/sharded_evidence.hpp estimates the shards of a minibatch by this class, perhaps
// in several processes.
#pragma once

#include "evidence/evidence.hpp"
#include "methods/step_kind.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// Log density that outputs lose against the best outputs for their targets: once for outputs at posterior
/// samples, once for outputs 0.
struct Misfits {
  double outputs = 0, zeros = 0;
  double columns =
      0;  ///< outputs in the sums (examples times samples); 0: expectations, which have no outputs
  Index examples = 0;
};

/// Scales that a step learns besides the posterior.
struct LearnedScales {
  bool prior = false, noise = false, degrees = false;
  bool at_samples = false;  ///< from samples that the estimate itself does not draw
  bool is_due = false;      ///< false: a later step learns, in memory that each step takes
  bool any() const { return is_due && (prior || noise); }
};

template <class T>
struct StepEvidence {
  Evidence<T> evidence;
  Misfits misfits;
  std::span<double> prior_squares;   ///< mean squares of each prior group
  std::span<double> squared_errors;  ///< summed, of each target
  double degrees_slope = 0,
         degrees_count =
             0;  ///< the slope by which Student-t noise is learned, and the count of numbers in it
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
  /// Estimates the evidence at given samples.
  StepEvidence<T> estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                           const Samples<T>& samples);
  EvidenceEstimator<T>& estimator() { return estimator_; }
  const Model<T>& model() const { return model_; }

 private:
  StepEvidence<T> with_sums(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                            const Evidence<T>& evidence);
  Misfits misfits(ConstMatrixView<T> f, ConstMatrixView<T> y, Scratch& scratch) const;
  void sum_scales(const EvidenceRequest<T>& request, const Minibatch<T>& batch, Evidence<T> evidence,
                  StepEvidence<T>& out);

  void rehearse_samples(const EvidenceRequest<T>& request, Index examples);

  const Model<T>& model_;
  EvidenceEstimator<T> estimator_;
  Index rehearsed_ = 0;  // examples
};

}  // namespace bdl
