// The table of methods: a name, the family of posteriors it is for, and the options in which it differs from
// the defaults.
#pragma once

#include "bdl/model.h"
#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

enum class Suits { any, full, diagonal, low_rank, dropout };  // any: Gaussian

/// What a method's defaults may depend on.
struct MethodContext {
  bool has_hidden = false;  ///< the model is a network with hidden units
  bool is_deep = false;     ///< in two layers or more
  bdl_likelihood likelihood = BDL_GAUSSIAN;
  Index data_size = 1;
};

/// How predictions from what a method has learned are best made. The mode is a point, of which draws say
/// nothing; Laplace's Gaussian is one of the linearised model, and its draws are far from the mode in the
/// network itself.
enum class Forecast { monte_carlo, plug_in, linearized };

struct Method {
  const char* name;
  Suits suits;
  bool is_online;  ///< meant for observe: an untouched posterior starts as the prior
  bool is_exact;   ///< fit iterates over all data to the optimum; there are no steps
  void (*set_defaults)(Options& options, const MethodContext& context);
  Forecast forecast = Forecast::monte_carlo;
};

std::span<const Method> method_table();

/// Fails with ERROR_INVALID_ARGUMENT listing the names.
const Method& find_method(const char* name);

/// "any", "full", "diagonal", "low_rank" or "dropout": the posteriors that a method is for.
const char* family_word(const Method& method);

/// The method to take where the caller has no wish. Fails with ERROR_UNSUPPORTED for a stream's dropout.
const Method& suggested_method(bdl_likelihood likelihood, Family family, Index rank, bool is_stream);

/// Fails with ERROR_UNSUPPORTED unless the method is for posteriors of this family and rank.
void check_suits(const Method& method, Family family, Index rank);

/// Fails with ERROR_UNSUPPORTED for exact methods.
void check_has_steps(const Method& method);

}  // namespace bdl
