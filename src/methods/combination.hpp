// Which methods, options, models and posteriors go together: the one place that knows, asked when an
// optimizer is created, when options are set, and before each use.
#pragma once

#include "methods/method.hpp"

namespace bdl {

/// fit() over epochs, single steps on minibatches, observations of a stream, or steps on the caller's rows.
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

/// What an optimizer of this combination is there for: fit() by methods for batches, unless their rule has
/// become one for streams; the caller's rows, if there is no model that has gradients.
Use intended_use(const Combination& c);

/// Fails, saying what does not go with what, unless the combination can be used so: with ERROR_UNSUPPORTED,
/// or ERROR_INVALID_ARGUMENT where it is the value of an option. Nothing is refused later for what it depends
/// on.
void check_combination(const Combination& c, Use use);

/// Fails with ERROR_UNSUPPORTED, saying why, unless shards of a minibatch may be seen apart, by several
/// ranks.
void check_sums(const Combination& c);

/// Fails with ERROR_UNSUPPORTED unless ranks may do this together.
void check_together(Use use);

/// Fails with ERROR_UNSUPPORTED unless Laplace's approximation gives a posterior of this family.
void check_laplace_family(Family family);

}  // namespace bdl
