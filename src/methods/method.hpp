// Methods and presets, which the user names, and what goes with what.
//
// A method (methods.def) is no algorithm but a row of a table: a name, the posteriors it is for, and a
// function that sets the options in which it differs from options.def. Those functions are in method.cpp.
// They may look at the model; MethodContext holds all that this folder asks of one. The steps, in steps/,
// read options only. A preset (presets.def) is a method with the options of a publication.
//
// Read in this order:
//   method.hpp                   methods, presets, and sets of posteriors' families
//   combination.hpp, needs.def   which methods, options, models and posteriors go together, and the messages
//                                if they do not
//   readers.hpp, readers.def     which options a combination reads
//   step_kind.hpp                which step of steps/ the options mean
//   schedule.hpp                 rates, momentum and temperature of step t, from the options
//   suggestion.hpp               the method, family, rank and options to use if the user names none
//
// A new method is a row of methods.def; if its defaults are new, also a function in method.cpp. A new family
// is a bit of Families and a row of needs.def.
#pragma once

#include <string>

#include "model/model.hpp"
#include "options/options.hpp"
#include "posterior/posterior.hpp"

namespace bdl {

/// Properties of a model on which methods' defaults, and what goes together, depend.
struct MethodContext {
  bool has_model = false;                    ///< without one there are steps on the caller's rows only
  bool is_network = false;                   ///< false for a custom model
  bool has_gradients = true;                 ///< a custom model may lack them
  bool has_hidden = false;                   ///< a network with hidden units
  bool is_deep = false;                      ///< hidden units in two layers or more
  bool has_rectifiers = false;               ///< activations that let through half of their inputs, like ReLU
  bool is_linear = false;                    ///< a generalised linear model
  bool has_matrices = false;                 ///< each layer's weights are one matrix
  bool has_dense_inputs = false;             ///< a network whose first layer is dense
  bool has_maps = false;                     ///< a network with convolutions or pools
  bool has_points = false;                   ///< a network with parameters that have no posterior
  Shape input{};                             ///< shape of a network's inputs
  bool is_exact = false;                     ///< its expectations are one-dimensional integrals
  bool has_optimum = false;                  ///< the methods exact-* find its posterior
  std::string without_second_derivatives{};  ///< the first layer that has none; empty: all have
  std::string without_one_function{};        ///< the first layer that draws masks or noise, or normalises
  std::string without_separate_examples{};   ///< the first layer that normalises by the minibatch
  bdl_likelihood likelihood = BDL_GAUSSIAN;
  Index data_size = 1;

  bool has_classes() const { return bdl::has_classes(likelihood); }
  /// True if the likelihood has numbers of the density that training may learn.
  bool has_shape() const { return has_model && bdl::has_shape(likelihood); }
  /// True if the likelihood has a noise precision.
  bool has_noise() const { return has_model && has_noise_precision(likelihood); }
};

/// Returns the context of a model; null stands for none.
template <class T>
MethodContext context_of(const Model<T>* model, Index data_size);

/// Sets of posteriors. The bit of a family is its number, except that bit 0 is for low-rank posteriors of
/// rank 1 or more and bit 1 for those of rank 0, which are diagonal.
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
  diagonals = diagonal | diagonal_moment,
  moments = full_moment | diagonal_moment,  ///< parametrised by the covariance
  low_rank_moments = low_rank_moment | layerwise_low_rank_moment,
  precisions = low_rank | diagonal | dense,  ///< parametrised by the precision
  laplaces = precisions | kronecker,         ///< those that Laplace's approximation gives
  gaussian = precisions | moments            ///< those with natural-gradient steps
};

/// Returns the set of the one family that a posterior is of.
Families family_of(Family family, Index rank);
inline bool contains(Families set, Families family) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(family)) != 0;
}
/// Returns the words of a set, such as "low_rank | diagonal", as a static text.
const char* words_of(Families set);
/// Returns the family of a word. Fails with ERROR_INVALID_ARGUMENT listing the words.
Families find_family(const char* word);

/// Ways in which methods learn: by steps on minibatches; from one observation after the other, beginning with
/// the prior; or by iterations over all data to the optimum.
enum class MethodKind { batch, stream, exact };

/// Predictions that suit a model after training by a method. A mode has no draws. Laplace's Gaussian, and
/// those of methods that see the network at the mean only, are posteriors of the linearised model: at their
/// draws the network itself is far from what it is at the mean.
enum class Forecast { monte_carlo, plug_in, linearized };

/// Whether a method is one to take. A baseline of a paper is there for comparisons: by default it does not
/// pass the bar of experiments/results/scorecard.md, and nothing sends users to it. Its numbers are whole
/// percents.
struct Standing {
  bool is_baseline;
  int held, least_held;  ///< targets inside 95 % intervals of regressions: on average, and on the worst set
};

struct Method {
  const char* name;
  Families families;
  Index usual_rank;  ///< the one that suits it best, of posteriors that have a rank
  MethodKind kind;
  void (*set_defaults)(Options& options, const MethodContext& context);
  Forecast forecast;
  Standing standing;
  const char *doc, *source;
};

/// Returns what to tell users before their first fit by a baseline: what it is for, and a condition of the
/// bar that it misses. Baselines whose intervals pass are worse than a constant on some sets (table of
/// reasons in the scorecard). Of other methods it is "".
std::string caution_of(const Method& method);

/// True if fits with these options learn the scales of such a model by the evidence of the linearised network
/// (train/scales/by_evidence.hpp), unless prior or noise are fixed.
bool learns_by_evidence(const Options& options, const MethodContext& model);

constexpr int learn_in_doubt = 2;  ///< value of option learn_prior

std::span<const Method> method_table();

/// Fails with ERROR_INVALID_ARGUMENT listing the names.
const Method& find_method(const char* name);

/// Published settings: a method, the options in which they differ from its defaults, and the number of
/// epochs.
struct Preset {
  const char *name, *method, *options;
  Index epochs;
  const char* doc;
};

std::span<const Preset> preset_table();

/// Fails with ERROR_INVALID_ARGUMENT listing the names.
const Preset& find_preset(const char* name);

}  // namespace bdl
