// Tells which methods, options, models and posteriors go together, when an optimizer is created, when options
// are set, and before each use. Nothing that depends on them alone is refused later. The knowledge is a
// table, needs.def, after the families of each method (methods.def).
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

  /// True if the posterior is of one of these families.
  bool is(Families set) const { return contains(set, family_of(family, rank)); }
};

/// Returns the use that an optimizer of this combination is for: fit() by methods for batches, unless their
/// rule has become one for streams; the caller's rows, if there is no model that has gradients.
Use intended_use(const Combination& c);

/// Fails, saying what does not go with what, unless the combination can be used so: with ERROR_UNSUPPORTED,
/// or ERROR_INVALID_ARGUMENT if it is the value of an option.
void check_combination(const Combination& c, Use use);

/// Fails with ERROR_UNSUPPORTED unless a minibatch may be divided into shards, on one rank or on several.
void check_sums(const Combination& c);

/// Fails with ERROR_UNSUPPORTED unless several ranks can use an optimizer so.
void check_together(Use use);

/// Fails with ERROR_UNSUPPORTED unless Laplace's approximation gives a posterior of this family.
void check_laplace_family(Family family);

}  // namespace bdl
