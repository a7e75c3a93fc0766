#include "inference/methods/method.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"
#include "inference/batch/first_order.hpp"
#include "inference/evidence.hpp"
#include "inference/methods/rule.hpp"

namespace bdl {
namespace {

void set(Options& options, Rule rule, EstimateKind kind) {
  options.rule = static_cast<std::int32_t>(rule);
  options.curvature = static_cast<std::int32_t>(kind);
}

/// Online: one step length for everything, no momentum, no schedule.
template <Rule rule, EstimateKind kind>
void online(Options& options, const MethodContext& context) {
  set(options, rule, kind);
  options.learning_rate = rule == Rule::bong ? 1 : rule == Rule::blr ? 0.5 : 0.01;
  options.iterations = rule == Rule::blr ? 4 : rule == Rule::bbb ? 10 : 1;
  options.momentum = 0;
  options.learn_prior = options.learn_noise = 0;
  // N(0, 1) weights would give hidden units inputs, and outputs, of the root of their number.
  const PriorScaling scaling = context.has_hidden ? PriorScaling::fan_in : PriorScaling::unit;
  options.prior_scaling = static_cast<std::int32_t>(scaling);
  // Classes are learned sooner from outputs that differ already; numbers from outputs near 0
  // (docs/streams.md).
  const bool classes = context.likelihood == BDL_BERNOULLI || context.likelihood == BDL_CATEGORICAL;
  if (context.has_hidden && classes) options.initialization = BDL_INIT_HE - 1;
}

bool is_classifier(const MethodContext& context) {
  return context.has_hidden && (context.likelihood == BDL_BERNOULLI || context.likelihood == BDL_CATEGORICAL);
}

/// Classifiers start with long steps, lose their initial precision just by the end of the plan, and keep
/// their prior: the one that the ELBO would choose costs accuracy (docs/defaults.md).
template <EstimateKind kind>
void batch(Options& options, const MethodContext& context) {
  set(options, Rule::blr, kind);
  options.mean_update = static_cast<std::int32_t>(MeanUpdateOption::projected);
  if (!is_classifier(context)) {
    // Weights that no example moves go to their prior: N(0, 1) ones, layer after layer, would drown the
    // outputs of samples.
    if (context.is_deep) options.prior_scaling = static_cast<std::int32_t>(PriorScaling::fan_in);
    return;
  }
  options.learning_rate = 0.05;
  options.start_share = 0.01;
  options.minibatches = 20;
  options.learn_prior = 0;
}

/// Empirical Fisher rows grow with the residuals, so steps are short where a regression does not fit yet.
void slang(Options& options, const MethodContext& context) {
  batch<EstimateKind::mc_ef>(options, context);
  if (context.has_hidden && context.likelihood == BDL_GAUSSIAN) options.learning_rate = 0.1;
}

/// Of the ELBO for the prior and the noise that are given.
void optimum(Options& options, const MethodContext& context) {
  batch<EstimateKind::exact_hess>(options, context);
  options.learn_prior = options.learn_noise = 0;
}

/// By gradients alone, as neural networks are trained. The mode has no scales: its covariance stays a point.
template <Rule rule, EstimateKind kind>
void first_order(Options& options, const MethodContext&) {
  set(options, rule, kind);
  options.descent = static_cast<std::int32_t>(DescentOption::adam);
  options.learning_rate = 0.01;
  if (rule != Rule::map) return;
  options.initial_precision = 1e12;
  options.learn_prior = 0;
}

void moving_average(Options& options, const MethodContext& context) {
  batch<EstimateKind::mc_ef>(options, context);
  options.low_rank_update = static_cast<std::int32_t>(LowRankUpdate::moving_average);
}

void laplace(Options& options, const MethodContext& context) {
  first_order<Rule::map, EstimateKind::lin_ef>(options, context);
  options.laplace = 1;
}

template <EstimateKind kind>
void one_sample(Options& options, const MethodContext& context) {
  batch<kind>(options, context);
  options.samples = 1;
  options.momentum = 0;
}

constexpr Method all_methods[] = {
    {"slang", Suits::any, false, false, slang},                            // Mishkin et al. 2018
    {"slang-ggn", Suits::any, false, false, batch<EstimateKind::mc_ggn>},  // the same step with mc-ggn rows
    {"slang-lin-hess", Suits::any, false, false, batch<EstimateKind::lin_hess>},  // without samples
    {"slang-lin-ef", Suits::any, false, false, batch<EstimateKind::lin_ef>},
    {"slang-online-eig", Suits::low_rank, false, false, moving_average},
    {"von", Suits::diagonal, false, false, one_sample<EstimateKind::mc_hess>},  // Khan et al. 2018
    {"vogn", Suits::diagonal, false, false, one_sample<EstimateKind::mc_ef>},
    {"von-full", Suits::full, false, false,
     one_sample<EstimateKind::mc_hess>},  // the same with all covariances
    {"vogn-full", Suits::full, false, false, one_sample<EstimateKind::mc_ef>},
    {"slang-exact-hess", Suits::any, false, false, batch<EstimateKind::exact_hess>},
    {"exact-full", Suits::full, false, true, optimum},
    {"exact-diagonal", Suits::diagonal, false, true, optimum},
    {"exact-low-rank", Suits::low_rank, false, true, optimum},
    {"bbb", Suits::diagonal, false, false,
     first_order<Rule::bbb, EstimateKind::mc_reparam>},  // Blundell et al. 2015
    {"map", Suits::any, false, false, first_order<Rule::map, EstimateKind::lin_ef>, Forecast::plug_in},
    {"mc-dropout", Suits::dropout, false, false,
     first_order<Rule::map, EstimateKind::mc_reparam>},                             // Gal and Ghahramani 2016
    {"laplace", Suits::any, false, false, laplace, Forecast::linearized},           // MacKay 1992
    {"bong", Suits::any, true, false, online<Rule::bong, EstimateKind::lin_hess>},  // Jones et al. 2024
    {"blr", Suits::any, true, false, online<Rule::blr, EstimateKind::lin_hess>},
    {"bog", Suits::any, true, false, online<Rule::bog, EstimateKind::lin_hess>},
    {"online-bbb", Suits::any, true, false, online<Rule::bbb, EstimateKind::lin_hess>},
    {"rvga", Suits::full, true, false,
     online<Rule::bong, EstimateKind::mc_hess>},  // Lambert et al. 2021, explicit
    {"cm-ekf", Suits::full, true, false,
     online<Rule::bong, EstimateKind::lin_hess>},  // Tronarp 2018, Ollivier 2018
    {"ekf", Suits::full, true, false, online<Rule::bong, EstimateKind::lin_hess>},  // the same
    {"vd-ekf", Suits::diagonal, true, false,
     online<Rule::bong, EstimateKind::lin_hess>},                                         // Chang et al. 2022
    {"lo-fi", Suits::low_rank, true, false, online<Rule::bong, EstimateKind::lin_hess>},  // Chang et al. 2023
};

bool is_full(Family family) {
  return family == Family::full || family == Family::layerwise_full;
}

bool suits(Suits wanted, Family family, Index rank) {
  switch (wanted) {
    case Suits::full:
      return is_full(family);
    case Suits::diagonal:
      return family == Family::low_rank && rank == 0;
    case Suits::low_rank:
      return family == Family::low_rank && rank > 0;
    case Suits::dropout:
      return family == Family::dropout;
    default:
      return family != Family::dropout;
  }
}

constexpr const char* family_phrases[] = {"a Gaussian", "a full-covariance", "a diagonal (rank 0)",
                                          "a low-rank (rank >= 1)", "a dropout"};
constexpr const char* family_words[] = {"any", "full", "diagonal", "low_rank", "dropout"};

/// Moment parameters have no filter of their own name.
const char* stream_method(Family family, Index rank) {
  if (is_full(family)) return "ekf";
  if (family != Family::low_rank) return "bong";
  return rank > 0 ? "lo-fi" : "vd-ekf";
}

}  // namespace

std::span<const Method> method_table() {
  return all_methods;
}

const Method& find_method(const char* name) {
  std::string names;
  for (const Method& method : all_methods) {
    if (std::strcmp(method.name, name) == 0) return method;
    names += names.empty() ? "\"" : ", \"";
    names += method.name + std::string("\"");
  }
  fail(Status::ERROR_INVALID_ARGUMENT, "method is \"%.60s\", expected one of %s", name, names.c_str());
}

void check_suits(const Method& method, Family family, Index rank) {
  if (!suits(method.suits, family, rank))
    fail(Status::ERROR_UNSUPPORTED, "method \"%s\" is for %s posterior", method.name,
         family_phrases[static_cast<int>(method.suits)]);
}

const char* family_word(const Method& method) {
  return family_words[static_cast<int>(method.suits)];
}

const Method& suggested_method(bdl_likelihood likelihood, Family family, Index rank, bool is_stream) {
  if (is_stream) {
    if (family == Family::dropout)
      fail(Status::ERROR_UNSUPPORTED, "no method for streams learns a dropout posterior");
    return find_method(stream_method(family, rank));
  }
  if (family == Family::dropout) return find_method("mc-dropout");
  const bool has_classes = likelihood == BDL_BERNOULLI || likelihood == BDL_CATEGORICAL;
  return find_method(has_classes ? "slang" : "slang-ggn");
}

void check_has_steps(const Method& method) {
  if (method.is_exact)
    fail(
        Status::ERROR_UNSUPPORTED,
        "method \"%s\" takes no single steps: bdl_optimizer_fit() runs it on all data until it has converged",
        method.name);
}

}  // namespace bdl
