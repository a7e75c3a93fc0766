// The table of methods (methods.def): a name, the posteriors it is for, and the options in which it differs
// from the defaults.
#pragma once

#include "methods/context.hpp"
#include "options/options.hpp"

namespace bdl {

/// Sets of posteriors: the bits of families are their numbers, but low-rank ones have rank 1 or more, and 0
/// is diagonal.
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
  precisions = low_rank | diagonal | dense,              ///< parametrised by the precision
  laplaces = precisions | kronecker,                     ///< that Laplace's approximation gives
  gaussian = precisions | full_moment | diagonal_moment  ///< with natural-gradient steps
};

/// The one family that a posterior is of.
Families family_of(Family family, Index rank);
inline bool contains(Families set, Families family) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(family)) != 0;
}
/// "low_rank | diagonal": the words of a set, the one to take without a wish first; static.
const char* words_of(Families set);
/// The family of a word. Fails with ERROR_INVALID_ARGUMENT listing the words.
Families find_family(const char* word);

/// In steps on minibatches; from one observation after the other, an untouched posterior starting as the
/// prior; or by iterations over all data to the optimum.
enum class MethodKind { batch, stream, exact };

/// How predictions from what a method has learned are best made. The mode is a point, of which draws say
/// nothing; Laplace's Gaussian is one of the linearised model, and its draws are far from the mode in the
/// network itself.
enum class Forecast { monte_carlo, plug_in, linearized };

struct Method {
  const char* name;
  Families families;
  bool is_online, is_exact;  // by MethodKind
  void (*set_defaults)(Options& options, const MethodContext& context);
  Forecast forecast;
  const char *doc, *source;
};

std::span<const Method> method_table();

/// Of the posterior that suits it best, of those that have one.
Index usual_rank(const Method& method);

/// Fails with ERROR_INVALID_ARGUMENT listing the names.
const Method& find_method(const char* name);

}  // namespace bdl
