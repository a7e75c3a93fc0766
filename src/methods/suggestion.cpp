#include "methods/suggestion.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "likelihood/class_integrals.hpp"

namespace bdl {
namespace {

// Exact methods keep a copy of the data in double. A full covariance of more parameters is affordable in
// their few iterations over all data than in thousands of steps.
constexpr Index most_copied_numbers = Index{1} << 25, most_full_parameters = 1000,
                most_stepped_parameters = 200;

// Linear models have no hidden units, through which a few columns say something about many parameters.
constexpr Index linear_rank = 10, most_row_columns = 1000;

/// Families parametrised by their moments have no filter with a name; "bong" is for them.
const char* stream_method(Families family) {
  switch (family) {
    case Families::full:
    case Families::layerwise_full:
      return "ekf";
    case Families::low_rank:
      return "lo-fi";
    case Families::diagonal:
      return "vd-ekf";
    default:
      return "bong";
  }
}

/// True for models of fewer examples than parameters: the precision of their posterior is that of the prior
/// and one column for each example, which is far smaller than a full covariance.
bool has_rank_of_rows(const MethodContext& model, const TrainingWish& wish) {
  return model.is_exact && !wish.in_blocks && wish.examples < wish.parameters &&
         wish.examples <= most_row_columns && wish.examples <= most_copied_numbers / wish.parameters;
}

/// True if exact methods suit the likelihood. They integrate over few classes. For more they expand
/// the likelihood at the mean, which overstates the variance wherever the data hold classes apart, as they do
/// if they have few rows for each parameter.
bool suits_exact(const MethodContext& model, const TrainingWish& wish) {
  constexpr Index fewest_rows = 10;  // for each parameter
  const bool has_many_classes =
      model.has_classes() && wish.parameters > ClassIntegrals::most_integrated * (wish.inputs + 1);
  return model.has_optimum && (!has_many_classes || wish.examples >= fewest_rows * wish.parameters);
}

/// True if least squares would leave no residuals: the scale of the prior then decides on the fit, so it is
/// learned.
bool learns_prior(const MethodContext& model, const Method& method, const TrainingWish& wish) {
  return model.is_linear && method.kind == MethodKind::exact && wish.examples <= wish.inputs + 1;
}

/// Returns the method for a generalised linear model: in blocks a filter, with a full covariance if it can
/// have one, as then nothing is lost; else an exact method if it can be used and costs little.
const Method& linear_method(const MethodContext& model, const TrainingWish& wish) {
  if (wish.has_family && wish.family == Families::dropout) return find_method("mc-dropout");
  if (wish.has_family && contains(Families::low_rank_moments, wish.family)) return find_method("elrg-d");
  if (wish.in_blocks) {
    const bool is_small = wish.parameters <= most_full_parameters;
    return suggested_method(model,
                            wish.has_family ? wish.family
                            : is_small      ? Families::full
                                            : Families::low_rank,
                            true);
  }
  if (!suits_exact(model, wish)) return find_method("slang-ggn");
  const bool is_small =
      wish.parameters <= most_full_parameters && wish.examples <= most_copied_numbers / wish.inputs;
  const bool full = !wish.has_family || contains(Families::dense, wish.family);
  if (!wish.has_family && has_rank_of_rows(model, wish)) return find_method("exact-low-rank");
  return find_method(is_small && full ? "exact-full" : model.is_exact ? "slang-exact-hess" : "slang-ggn");
}

const Method& method_for(const MethodContext& model, const TrainingWish& wish) {
  if (wish.method) return *wish.method;
  if (model.is_linear) return linear_method(model, wish);
  const Families family = wish.has_family ? wish.family : Families::low_rank;
  return suggested_method(model, family, wish.in_blocks && family != Families::dropout);
}

/// Returns the first of the method's families; for linear models a full covariance if it costs little; for
/// networks Kronecker factors if the method gives them, since a few columns would overstate the variance.
Families family_for(const MethodContext& model, const TrainingWish& wish, const Method& method) {
  if (wish.has_family) return wish.family;
  const Index most = method.kind == MethodKind::stream ? most_full_parameters : most_stepped_parameters;
  if (model.is_linear && wish.parameters <= most && contains(method.families, Families::full))
    return Families::full;
  if (model.has_hidden && model.has_matrices && contains(method.families, Families::kronecker))
    return Families::kronecker;
  if (contains(method.families, Families::layerwise_low_rank_moment))
    return Families::layerwise_low_rank_moment;
  const auto set = static_cast<unsigned>(method.families);
  return static_cast<Families>(set & (0U - set));
}

/// Returns options that suit the model. Linear models have a standard normal prior of the standardised
/// coefficients and almost none of intercepts; they start at 0, since a filter would keep a random start
/// wherever the data say nothing. Streams learn the scales of models that have none. Convolutions have few
/// inputs a filter: draws by an initial precision that suits wide layers would be nothing but noise. VOGN and
/// IVON start with a higher precision anyway.
const char* options_for(const MethodContext& model, const Method& method, const TrainingWish& wish) {
  Options options;
  method.set_defaults(options, model);
  if (model.has_maps && options.descent == DescentOption::vogn) return "initialization=he";
  if (model.has_maps && options.descent == DescentOption::ivon) return "initialization=he learning_rate=0.02";
  if (method.kind == MethodKind::stream)
    return model.is_linear ? "bias_prior_precision=1e-4 initialization=zero stream_scales=learned"
                           : "stream_scales=learned";
  if (model.has_maps) return "initialization=he start_share=0";
  if (learns_prior(model, method, wish)) return "bias_prior_precision=1e-4 learn_prior=1 learn_noise=1";
  return model.is_linear ? "bias_prior_precision=1e-4 learn_prior=0 learn_noise=1" : "";
}

constexpr EstimatorDefault all_defaults[] = {
    {"hidden", 50, "Units of a network's hidden layer."},
    {"epochs", static_cast<double>(usual_epochs), "Passes over the data."},
    {"samples", 500, "Draws of the posterior that predictions average over."},
    {"image_epochs", 40, "Passes over the data where they are images."},
    {"image_samples", 50, "Draws that predictions of images average over."},
    {"input_rate", 0, "Rate at which a dropout posterior drops inputs."},
    {"hidden_rate", 0.1, "Rate at which it drops hidden units."},
    {"seed", 1, "Seed of training, and of the draws of predictions."},
    {"novelty_rows", 500, "Training rows at most whose leverages a fit keeps."},
    {"novelty_stream_rows", 100, "Rows of a stream, the last ones, whose leverages it keeps."},
    {"novelty_numbers", 1 << 23, "Parameters times squared outputs up to which it keeps them by itself."},
};

}  // namespace

const Method& suggested_method(const MethodContext& model, Families family, bool is_stream) {
  if (is_stream) {
    if (family == Families::dropout || family == Families::kronecker ||
        contains(Families::low_rank_moments, family))
      fail(Status::ERROR_UNSUPPORTED, "no method for streams learns a %s posterior", words_of(family));
    return find_method(stream_method(family));
  }
  if (family == Families::dropout) return find_method("mc-dropout");
  if (contains(Families::low_rank_moments, family)) return find_method("elrg-d");
  if (family == Families::kronecker) return find_method("laplace");
  // The empirical Fisher is too rough for counts, whose residuals may be any size, and for numbers of images.
  const bool suits_fisher = model.has_classes() || (model.has_hidden && model.has_noise() && !model.has_maps);
  return find_method(suits_fisher ? "slang" : "slang-ggn");
}

Training suggested_training(const MethodContext& model, const TrainingWish& wish) {
  const Method& method = method_for(model, wish);
  const Families family = family_for(model, wish, method);
  const bool has_rank = family == Families::low_rank || contains(Families::low_rank_moments, family);
  const bool of_rows = method.kind == MethodKind::exact && has_rank_of_rows(model, wish);
  const Index rank = !(model.is_linear && family == Families::low_rank) ? method.usual_rank
                     : of_rows                                          ? wish.examples
                                                                        : linear_rank;
  return {&method, family, has_rank ? std::min(rank, wish.parameters) : 0, options_for(model, method, wish)};
}

bdl_predict_method suggested_prediction(const MethodContext& model, const Method& method) {
  if (model.is_linear && !contains(method.families, Families::dropout)) {
    if (model.likelihood == BDL_GAUSSIAN) return BDL_LINEARIZED;
    if (model.is_exact) return BDL_QUADRATURE;
    // It is its own linearisation. The probit approximation would take the wide prior of the intercepts,
    // which classes have in common, for doubt about them.
    if (method.forecast == Forecast::linearized) return BDL_MONTE_CARLO;
  }
  Options options;
  method.set_defaults(options, model);
  const bool is_refined = method.kind == MethodKind::batch && learns_by_evidence(options, model);
  if (is_refined) return BDL_LINEARIZED;  // the refined posterior is that of the linearised network
  constexpr bdl_predict_method predictions[] = {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED};
  return predictions[static_cast<int>(method.forecast)];
}

std::span<const EstimatorDefault> estimator_defaults() {
  return all_defaults;
}

}  // namespace bdl
