// The table of methods (methods.def): a name, the posteriors it is for, and the options in which it differs
// from the defaults.
#pragma once

#include "methods/context.hpp"
#include "options/options.hpp"

namespace bdl {

/// Sets of families, as bits. A family's number is that of its bit, except that low-rank posteriors have
/// bit 0 (rank 1 or more) or bit 1 (rank 0: diagonal).
enum class Families : unsigned {
  low_rank = 1 << 0,
  diagonal = 1 << 1,
  full = 1 << 2,
  full_moment = 1 << 3,
  diagonal_moment = 1 << 4,
  dropout = 1 << 5,
  layerwise_full = 1 << 6,
  low_rank_moment = 1 << 7,
  layerwise_low_rank_moment = 1 << 8,
  kronecker = 1 << 9,
  dense = full | layerwise_full,
  low_rank_moments = low_rank_moment | layerwise_low_rank_moment,
  precisions = low_rank | diagonal | dense,              ///< families parametrised by the precision
  laplaces = precisions | kronecker,                     ///< families for Laplace's approximation
  gaussian = precisions | full_moment | diagonal_moment  ///< families with natural-gradient steps
};

/// Returns the family of a posterior as a set of one.
Families family_of(Family family, Index rank);
inline bool contains(Families set, Families family) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(family)) != 0;
}
/// Returns the words of a set as a static string, such as "low_rank | diagonal", the default family first.
const char* words_of(Families set);
/// Returns the family that the word names. Fails with ERROR_INVALID_ARGUMENT, listing the words.
Families find_family(const char* word);

/// Ways in which methods learn: by steps on minibatches; from one observation after the other, where a
/// blank posterior starts as the prior; or by iterations over all data to the optimum.
enum class MethodKind { batch, stream, exact };

/// Best kinds of predictions with the posterior of a method. A mode is a point, so draws add nothing;
/// Laplace's Gaussian belongs to the linearised model: at its draws the network itself fits badly.
enum class Forecast { monte_carlo, plug_in, linearized };

struct Method {
  const char* name;
  Families families;
  bool is_online, is_exact;  // true for MethodKind stream, exact
  void (*set_defaults)(Options& options, const MethodContext& context);
  Forecast forecast;
  const char *doc, *source;
};

std::span<const Method> method_table();

/// Returns the default rank of the method's posteriors; 0 if none of them has a rank.
Index usual_rank(const Method& method);

/// Returns the method of this name. Fails with ERROR_INVALID_ARGUMENT, listing the names.
const Method& find_method(const char* name);

}  // namespace bdl
