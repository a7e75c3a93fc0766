// Filters: steps of a stream. bong.cpp has the rules of the BONG paper and what they do. A step never changes
// the posterior that it is given: the caller replaces it by the result once this is complete.
#pragma once

#include "evidence/evidence.hpp"
#include "methods/schedule.hpp"

namespace bdl {

/// Steps of a stream; results stand in spare posteriors, which the filter reuses.
template <class T>
class Filter {
 public:
  /// Fixes the process noise Q = diag(noise) of each parameter, in place of option "process_noise".
  void set_process_noise(ConstSpan<T> noise);
  ConstSpan<T> process_noise() const { return fixed_noise_.first(fixed_); }

  /// Returns the posterior after `steps` units of time; q itself if nothing drifts.
  Posterior<T>& predict(Posterior<T>& q, Index steps, const Options& options, Scratch& scratch);

  struct Result {
    Posterior<T>& posterior;
    bool shortened;  ///< true if a step had to be shortened to stay positive definite
    bool held;       ///< true if the line search held the mean back (guard.hpp)
  };
  /// Returns the posterior after this observation, with `prior` as the posterior before it.
  Result update(const Model<T>& model, const Posterior<T>& prior, const Minibatch<T>& observation,
                const Options& options, EvidenceEstimator<T>& estimator, DrawSource<T>& draws,
                Scratch& scratch);

 private:
  double inner_step(const Posterior<T>& prior, const Posterior<T>& from, const Evidence<T>& evidence,
                    const Options& options, const StreamKey& random, Scratch& scratch, Posterior<T>& to);
  bool is_noisy(const Options& options) const;
  bool is_static(const Options& options) const;
  Posterior<T>& spare(const Posterior<T>& like, const Posterior<T>* a, const Posterior<T>* b);
  std::unique_ptr<Posterior<T>> spares_[3];
  Index fixed_ = 0;
  Buffer<T> fixed_noise_;
};

}  // namespace bdl
