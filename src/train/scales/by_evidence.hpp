// Learning the scales of a regression by the evidence (docs/theory/scales.md, "By the evidence"). A fit
// begins with optimistic noise, so that the mean fits before its errors are explained by noise; deep networks
// with a few times the precision that the evidence has found so far. It looks at the evidence 11 times. When
// the evidence has fallen, when the mean can follow every row, or at the fraction learn_from of the course,
// optimism ends: each further look sets prior and noise. If the evidence was never that of a constant, and
// rows left out are predicted worse than by it, training begins anew with the noise of a constant.
#pragma once

#include <vector>

#include "train/scales/linearized_evidence.hpp"

namespace bdl {

/// True if fits of this optimizer learn their scales by the evidence.
template <class T>
bool learns_by_evidence(const Optimizer<T>& optimizer);

/// Returns the scales that the options let it learn.
template <class T>
MovedScales learned_scales_of(const Optimizer<T>& optimizer);

/// The looks of one fit.
template <class T>
class LooksAtEvidence {
 public:
  /// Reads a sample of the data, and holds the memory of all looks. All ranks call it within Team::attempt.
  LooksAtEvidence(Optimizer<T>& optimizer, DataSet& data, Index shards);
  /// Sets the first noise of a deep network. Called before the first step.
  void start();
  /// Looks after a step, if a look is due.
  void look();
  LinearizedEvidence<T>& evidence() { return evidence_; }

 private:
  /// Says what the data seem to tell of the targets.
  enum class Signal { seen, unclear, absent };

  double fraction() const;
  void compute();
  bool follows_every_row();
  Signal signal(bool falls);
  bool optimism_follows_evidence() const;
  void set_optimistic_noise();
  void begin_anew();

  Optimizer<T>& optimizer_;
  DataSet& data_;
  EvidenceSample<T> sample_;
  LinearizedEvidence<T> evidence_;
  std::vector<double> optimistic_;  // noise precisions
};

}  // namespace bdl
