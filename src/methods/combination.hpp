// Checks which methods, options, models and posteriors can be combined. All such rules are here; they are
// applied when an optimizer is created, when options are set, and before each use.
#pragma once

#include "methods/method.hpp"

namespace bdl {

/// Uses of an optimizer: fit() over epochs, single steps on minibatches, observations of a stream, or steps
/// on the caller's rows.
enum class Use { fit, step, stream, rows };

struct Combination {
  const Options& options;
  const Method& method;
  const MethodContext& model;
  Family family;
  Index rank;

  bool is_diagonal() const {
    return family == Family::diagonal_moment || (family == Family::low_rank && rank == 0);
  }
  bool is_low_rank() const { return family == Family::low_rank && rank > 0; }
};

/// Returns the use that an optimizer of this combination is meant for: fit() for batch methods, unless
/// options set a rule for streams; the caller's rows if there is no model with gradients.
Use intended_use(const Combination& c);

/// Fails, naming what cannot be combined, unless the combination supports this use: with ERROR_UNSUPPORTED,
/// or ERROR_INVALID_ARGUMENT for the value of an option. Training never fails later for such a reason.
void check_combination(const Combination& c, Use use);

/// Fails with ERROR_UNSUPPORTED, saying why, unless steps can work on shards of a minibatch.
void check_sums(const Combination& c);

/// Fails with ERROR_UNSUPPORTED unless several ranks can do this together.
void check_together(Use use);

/// Fails with ERROR_UNSUPPORTED unless Laplace's approximation gives a posterior of this family.
void check_laplace_family(Family family);

}  // namespace bdl
