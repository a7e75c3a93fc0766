// Online steps: the passage of time, then a rule's inner iterations on one observation
// (docs/mathematics/streams.md). The belief given is never changed: a finished successor replaces it, or
// nothing does.
#pragma once

#include "inference/evidence.hpp"
#include "inference/methods/rule.hpp"

namespace bdl {

template <class T>
class Filter {
 public:
  /// Fixes Q = diag(noise) parameter by parameter; option "process_noise" no longer matters.
  void set_process_noise(ConstSpan<T> noise);
  ConstSpan<T> process_noise() const { return fixed_noise_.first(fixed_); }

  /// The belief `steps` later, `q` itself if nothing drifts.
  Posterior<T>& predict(Posterior<T>& q, Index steps, const Options& options);
  /// The belief after the examples x, y (columns), seen from `prior`. Adds to `shortened` if a step was.
  Posterior<T>& update(const Posterior<T>& prior, ConstMatrixView<T> x, ConstMatrixView<T> y,
                       const Options& options, EvidenceEstimator<T>& evidence, DrawSource<T>& draws,
                       Index step, Index& shortened);
  PosteriorScratch<T>& scratch() { return workspace_.scratch; }
  /// What time does.
  struct Passage {
    bool changes, has_noise;
  };
  Passage passage(const Options& options) const { return {!is_static(options), is_noisy(options)}; }
  /// The first step of an observation, by rows of this cost, and those that leave the prior.
  StepSize step_size(const Posterior<T>& q, const RowsCost& cost, const Options& options, bool leaves) const;
  /// What they ask of rows.
  RowsUse use_of_rows(const Posterior<T>& q, const RowsCost& cost, const Options& options) const;
  /// Memory for observations of this cost, and for time that passes so.
  void reserve(const Posterior<T>& q, const RowsCost& cost, const Options& options, Passage time);

 private:
  double iterate(const Posterior<T>& prior, const Posterior<T>& from, const Evidence<T>& evidence,
                 const Options& options, const StreamKey& random, Posterior<T>& to);
  bool is_noisy(const Options& options) const;
  bool is_static(const Options& options) const;
  Posterior<T>& spare(const Posterior<T>& like, const Posterior<T>* a, const Posterior<T>* b);
  std::unique_ptr<Posterior<T>> beliefs_[3];
  Index fixed_ = 0;
  Buffer<T> fixed_noise_, noise_, slope_;
  UpdateWorkspace<T> workspace_;
};

/// Fails with ERROR_DIVERGED, naming the parameter and what has happened, unless the mean is finite.
template <class T>
void check_mean_finite(const Posterior<T>& q, const char* event, Index number);

/// A step from this belief as the options want it: all but what the loss and the rates bring.
template <class T>
PosteriorStep<T> begin_step(const Posterior<T>& from, const Options& options, bool online,
                            const StreamKey& random);

}  // namespace bdl
