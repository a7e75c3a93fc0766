// A fit in which numbers of the likelihood are learned beside the posterior: what the searches over them
// read and change.
#pragma once

#include "train/exact/posterior_search.hpp"

namespace bdl {

struct LearnedFit {
  ExactElbo& elbo;
  Posterior<double>& q;
  Likelihood& likelihood;  ///< of the optimizer's model
  Team& team;
  const Options& options;
  double rows;         ///< sum of the weights
  bool has_intercept;  ///< of the model
  bool is_continued;   ///< True if an earlier fit may have ended before these numbers suited its posterior.

  SearchEnd find_posterior(const Iterated& iterated) const {
    return search_posterior(elbo, q, options, iterated);
  }
  /// Sets the likelihood of the ELBO, and of the model on all ranks or none.
  void set(Likelihood next) const {
    elbo.set_likelihood(next);
    team.vote();
    likelihood = std::move(next);
  }
};

}  // namespace bdl
