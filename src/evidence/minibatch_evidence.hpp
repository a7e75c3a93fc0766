// The evidence of a training step with the sums that the rest of training reads: how well the outputs fit
// (train/watch.hpp), and what prior and noise precisions are learned from (train/scales.hpp).
// ranks/sharded_evidence.hpp derives from this class where a minibatch is seen in shards, perhaps by several
// processes.
#pragma once

#include "evidence/evidence.hpp"
#include "methods/step_kind.hpp"
#include "prior/prior.hpp"

namespace bdl {

/// How much density outputs lose against the best ones for their targets: at posterior samples, and outputs
/// 0.
struct Misfits {
  double outputs = 0, zeros = 0;
  double columns = 0;  ///< outputs that were summed: examples times samples; 0: expectations, which have none
  Index examples = 0;
};

/// What a step learns besides the posterior, and from what.
struct LearnedScales {
  bool prior = false, noise = false, degrees = false;
  bool at_samples = false;  ///< by samples that the estimate itself does not make
  bool is_due = false;      ///< false: later, in memory that each step takes already
  bool any() const { return is_due && (prior || noise); }
};

template <class T>
struct StepEvidence {
  Evidence<T> evidence;
  Misfits misfits;
  std::span<double> prior_squares;   ///< mean squares of each prior group
  std::span<double> squared_errors;  ///< summed, of each target
  double degrees_slope = 0,
         degrees_count = 0;  ///< by which Student-t noise learns: a sum over so many numbers
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
  /// The same at given samples.
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
