// Filters: one step of a stream, the passage of time and then one observation
// (docs/mathematics/streams.md). With the posterior before it as prior N(mu_0, Sigma_0), and l the
// observation's expected negative log likelihood, the rules of Jones et al. 2024 (Table 1) are, with
// gradient g and Hessian H of l (evidence.hpp; "lin-hess" is the linearised H of their section 4):
//
//   bong   natural gradient of l, once, rate 1:        Sigma^-1 = Sigma_0^-1 + H,  mu = mu_0 - Sigma g
//   blr    natural gradient of l + KL, several times
//   bog    plain gradient of l by the posterior's parameters, once
//   bbb    plain gradient of l + KL, several times
//
// Every family maps (g, H) to its own parameters by Posterior::update(). A step never changes the posterior
// that it is given: the caller replaces it by the result once this is complete.
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
  double iterate(const Posterior<T>& prior, const Posterior<T>& from, const Evidence<T>& evidence,
                 const Options& options, const StreamKey& random, Scratch& scratch, Posterior<T>& to);
  bool is_noisy(const Options& options) const;
  bool is_static(const Options& options) const;
  Posterior<T>& spare(const Posterior<T>& like, const Posterior<T>* a, const Posterior<T>* b);
  std::unique_ptr<Posterior<T>> spares_[3];
  Index fixed_ = 0;
  Buffer<T> fixed_noise_;
};

}  // namespace bdl
