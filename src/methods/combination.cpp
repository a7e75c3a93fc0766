#include "methods/combination.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "data/augmentation.hpp"
#include "methods/rule.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace bdl {
namespace {

bool descends_newton(const Combination& c) {
  return c.options.descent == DescentOption::vogn || c.options.descent == DescentOption::ivon;
}

bool descends_kronecker(const Combination& c) {
  return c.options.descent == DescentOption::kfac;
}

void check_family(const Combination& c) {
  const Families family = family_of(c.family, c.rank);
  if (!contains(c.method.families, family))
    fail(Status::ERROR_UNSUPPORTED, "method \"%s\" is for posteriors of family %s, this one's is %s",
         c.method.name, words_of(c.method.families), words_of(family));
}

/// Fails if options augment inputs that are no images, or that training reads only once or whole.
void check_augmentation(const Combination& c, Use use) {
  if (!augments(c.options)) return;
  const bool pads = c.options.augment_pad > 0;
  const char* const name = pads ? "augment_pad" : "augment_flip";
  const auto value = static_cast<long long>(pads ? c.options.augment_pad : c.options.augment_flip);
  const Shape& input = c.model.input;
  const auto refuse = [&](const char* why) {
    fail(Status::ERROR_UNSUPPORTED, "option \"%s\" is %lld, but %s", name, value, why);
  };
  if (!c.model.is_network || !input.is_image())
    refuse(
        "the model has no images as inputs: only networks have, that begin with \"input CHANNELS ROWS "
        "COLUMNS\"");
  if (c.method.is_exact) refuse("methods \"exact-*\" see all data as they are, in every iteration");
  if (use == Use::stream) refuse("a stream shows each example once, as it is");
  if (value >= std::min(input.rows, input.columns) && pads)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"%s\" is %lld, expected less than the rows and columns of the images, %lld x %lld", name,
         value, static_cast<long long>(input.rows), static_cast<long long>(input.columns));
}

/// Fails unless methods exact-* find the optimum: for a fixed prior, in models with exact expectations.
void check_exact(const Combination& c) {
  const char* const refused = c.options.learn_prior ? "learn_prior" : c.options.laplace ? "laplace" : nullptr;
  if (refused)
    fail(Status::ERROR_UNSUPPORTED,
         "option \"%s\" is 1, but method \"%s\" maximises the ELBO of a fixed prior", refused, c.method.name);
  if (!c.model.is_exact)
    fail(Status::ERROR_UNSUPPORTED,
         "method \"%s\" needs a network with one layer and one output, Bernoulli, Gaussian or Poisson",
         c.method.name);
}

void check_has_steps(const Combination& c) {
  if (c.method.is_exact)
    fail(Status::ERROR_UNSUPPORTED,
         "method \"%s\" takes no single steps: fit it, on all data until it has converged", c.method.name);
}

/// Fails unless the model has the derivatives and expectations that the estimate needs.
void check_model(const Combination& c) {
  if (!c.model.has_gradients)
    fail(Status::ERROR_UNSUPPORTED, "the user model was created without a gradients callback");
  if (c.options.curvature == EstimateKind::exact_hess && !c.model.is_exact)
    fail(Status::ERROR_UNSUPPORTED,
         "exact expectations (curvature \"exact-hess\") need a network with one layer and one output, "
         "Bernoulli, Gaussian or Poisson");
  if (c.options.curvature == EstimateKind::mc_hess && !c.model.is_network)
    fail(Status::ERROR_UNSUPPORTED,
         "a user model has no second derivatives: its Hessian is not known (curvature \"mc-hess\")");
}

/// Fails unless the network's layers support the estimate.
void check_layers(const Combination& c, Use use) {
  const EstimateKind kind = c.options.curvature;
  const auto need = [&](const std::string& without, const char* what) {
    if (!without.empty())
      fail(Status::ERROR_UNSUPPORTED, "method \"%s\" needs %s, which the network's %s has not", c.method.name,
           what, without.c_str());
  };
  if (kind == EstimateKind::mc_hess) need(c.model.without_second_derivatives, "exact second derivatives");
  const bool at_mean = kind == EstimateKind::lin_hess || kind == EstimateKind::lin_ef;
  const bool of_its_own = c.options.rule == Rule::map || descends_newton(c) ||
                          descends_kronecker(c);  // true: layers may draw noise or normalise
  if (use == Use::stream || (at_mean && !of_its_own) || kind == EstimateKind::exact_hess)
    need(c.model.without_one_function, "the same outputs whenever it is asked for them");
  // If layers couple examples, rows depend on all of them, and no sum of rows is one example's gradient.
  if (use != Use::stream && (kind == EstimateKind::mc_ggn || kind == EstimateKind::lin_hess))
    need(c.model.without_separate_examples,
         "outputs of an example that depend on no other one (curvature \"mc-ggn\" and \"lin-hess\")");
}

/// Fails unless posteriors of this family can use the gradient and curvature of the estimate.
void check_estimate(const Combination& c) {
  const EstimateKind kind = c.options.curvature;
  const bool pathwise = kind == EstimateKind::mc_reparam, exact_hessian = kind == EstimateKind::mc_hess;
  if (c.family == Family::dropout) {
    if (!pathwise)
      fail(Status::ERROR_UNSUPPORTED, "a dropout posterior has gradients by curvature \"mc-reparam\" only");
    return;
  }
  if (is_low_rank_moment(c.family)) return;
  if (pathwise && !c.is_diagonal())
    fail(Status::ERROR_UNSUPPORTED,
         "curvature \"mc-reparam\" is for diagonal posteriors, of rank 0, or diagonal-moment ones, and for "
         "low-rank-moment ones");
  if (exact_hessian && c.is_low_rank())
    fail(Status::ERROR_UNSUPPORTED,
         "curvature \"mc-hess\" does not give the factor that a low-rank posterior needs");
  const bool takes_rows = c.family == Family::low_rank && c.rank == 0 &&
                          c.options.mean_update == MeanUpdateOption::unprojected &&
                          descent_of(c.options.rule) == Descent::natural;
  if (takes_rows && (pathwise || exact_hessian))
    fail(Status::ERROR_UNSUPPORTED,
         "mean_update \"unprojected\" takes curvature rows, which curvature \"%s\" does not give",
         pathwise ? "mc-reparam" : "mc-hess");
}

/// Fails unless steps are natural and change a precision of full rank. The second order G S^-1 G has no low
/// rank, and in a step of the covariance that is too long, it would let the covariance grow.
void check_improved(const Combination& c) {
  const auto refuse = [](const char* why) {
    fail(Status::ERROR_UNSUPPORTED,
         "option \"indefinite\" is \"improved\", but %s: use \"shorten\" or \"error\"", why);
  };
  if (c.is_low_rank()) refuse("the second order of a step has no low rank");
  if (c.family == Family::full_moment || c.family == Family::diagonal_moment)
    refuse("the posterior's steps change its covariance, which one that is too long would let grow");
  if (c.options.rule == Rule::bog || c.options.rule == Rule::bbb)
    refuse("that is for natural gradients, of rules \"bong\" and \"blr\"");
}

/// Fails unless a low-rank-moment posterior has such steps: by gradients through noise, or of the mean
/// only.
void check_low_rank_moment(const Combination& c, Use use) {
  const Options& options = c.options;
  const bool pathwise = options.curvature == EstimateKind::mc_reparam;
  if (use == Use::stream || use == Use::rows)
    fail(Status::ERROR_UNSUPPORTED,
         "a low-rank-moment posterior is learned from a network's data set: fit it, or take steps on "
         "minibatches");
  if (options.rule != Rule::map && !(options.rule == Rule::bbb && pathwise))
    fail(Status::ERROR_UNSUPPORTED,
         "a low-rank-moment posterior has steps by rule \"bbb\" with curvature \"mc-reparam\", and by rule "
         "\"map\"");
  if (options.rule == Rule::map && pathwise)
    fail(Status::ERROR_UNSUPPORTED, "rule \"map\" has no noise: curvature is \"mc-reparam\"");
  if (!c.model.is_network)
    fail(Status::ERROR_UNSUPPORTED,
         "a low-rank-moment posterior is learned of networks: a user model is none");
  if (pathwise && options.antithetic && options.samples % 2 == 1)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"samples\" is %lld, expected an even number: option \"antithetic\" is 1",
         static_cast<long long>(options.samples));
}

/// Fails unless the posterior can hold the Gaussian that SWAG fits to snapshots of its mean.
void check_swag(const Combination& c) {
  if (c.options.rule != Rule::map || c.family != Family::low_rank_moment)
    fail(Status::ERROR_UNSUPPORTED,
         "option \"swag\" is 1, but SWAG is for rule \"map\" and low-rank-moment posteriors that are not "
         "layerwise");
  if (c.rank < 2)
    fail(Status::ERROR_UNSUPPORTED,
         "SWAG divides by the rank less 1: the posterior's is %lld, expected 2 or more",
         static_cast<long long>(c.rank));
}

/// Fails unless a Kronecker-factored posterior has such steps: by descent kfac, or of its mean alone
/// (before Laplace's approximation).
void check_kronecker(const Combination& c, Use use) {
  const Options& options = c.options;
  if (use == Use::stream || use == Use::rows)
    fail(Status::ERROR_UNSUPPORTED,
         "a Kronecker-factored posterior is learned from a network's data set: fit it, or take steps on "
         "minibatches");
  if (options.rule != Rule::map && !descends_kronecker(c))
    fail(Status::ERROR_UNSUPPORTED,
         "a Kronecker-factored posterior has steps by rule \"map\", and by rule \"blr\" with descent "
         "\"kfac\"");
}

/// Fails unless the KL weight is above 0 in all steps, which divide by it: the temperature of their noise.
void check_temperature(const Options& options, const char* descent) {
  const double least =
      options.kl_warmup > 0 ? std::min(options.kl_start, options.kl_weight) : options.kl_weight;
  if (!(least > 0))
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"%s\" is 0, expected more: with descent \"%s\" it is the temperature that the noise has",
         options.kl_weight > 0 ? "kl_start" : "kl_weight", descent);
}

/// Fails unless the other options and the posterior suit descent kfac.
void check_kfac(const Combination& c) {
  const Options& options = c.options;
  if (options.rule != Rule::blr || c.family != Family::kronecker)
    fail(Status::ERROR_UNSUPPORTED, "descent \"kfac\" is for Kronecker-factored posteriors and rule \"blr\"");
  if (options.curvature != EstimateKind::mc_ef && options.curvature != EstimateKind::lin_ef)
    fail(Status::ERROR_UNSUPPORTED,
         "descent \"kfac\" sees gradients at samples or at the mean: curvature \"mc-ef\" or \"lin-ef\"; "
         "option "
         "\"fisher\" says what its factors are made of");
  check_temperature(options, "kfac");
}

/// Fails if the KL weight is not 1 in steps that do not use it.
void check_tempering(const Combination& c) {
  const Options& options = c.options;
  const bool weighs = options.rule == Rule::map || descends_newton(c) || descends_kronecker(c) ||
                      (options.rule == Rule::bbb && (c.is_diagonal() || is_low_rank_moment(c.family)));
  if ((options.kl_weight != 1 || options.kl_warmup != 0) && (!weighs || c.family == Family::dropout))
    fail(Status::ERROR_UNSUPPORTED,
         "options \"kl_weight\" and \"kl_warmup\" are for rule \"map\", for rule \"bbb\" with diagonal and "
         "low-rank-moment posteriors, and for descents \"vogn\", \"ivon\" and \"kfac\"");
}

/// Fails unless the other options and the posterior suit descents vogn and ivon.
void check_newton(const Combination& c) {
  const Options& options = c.options;
  const bool is_vogn = options.descent == DescentOption::vogn;
  const char* const name = is_vogn ? "vogn" : "ivon";
  const auto refuse = [&](const char* why) {
    fail(Status::ERROR_UNSUPPORTED, "descent \"%s\" %s", name, why);
  };
  if (options.rule != Rule::blr || !c.is_diagonal())
    refuse("is for diagonal posteriors, of rank 0 or diagonal-moment ones, and rule \"blr\"");
  if (options.mean_update == MeanUpdateOption::unprojected) refuse("has no mean_update \"unprojected\"");
  if (options.curvature == EstimateKind::exact_hess) refuse("has no use for curvature \"exact-hess\"");
  const bool is_indefinite =
      options.curvature == EstimateKind::mc_hess || options.curvature == EstimateKind::mc_reparam;
  if (is_vogn && is_indefinite)
    refuse("needs curvature that is never negative: \"mc-hess\" and \"mc-reparam\" are for \"ivon\"");
  if (!is_vogn && options.initial_curvature == 0 && options.initial_precision == 0)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"initial_curvature\" is 0, expected more: descent \"ivon\" draws by it in its first step");
  check_temperature(options, name);
}

/// Fails unless rule and family have steps in batches. Rules bong and bog have no fixed prior in their loss,
/// so data that are read again would count again.
void check_batch(const Combination& c, bool ends_with_laplace) {
  const Rule rule = c.options.rule;
  if (rule == Rule::bong || rule == Rule::bog)
    fail(Status::ERROR_UNSUPPORTED,
         "rule \"%s\" has no prior to hold on to in batches: use rule \"blr\" or \"bbb\", or "
         "let it observe a stream",
         rule == Rule::bong ? "bong" : "bog");
  if (rule != Rule::map && c.family == Family::dropout)
    fail(Status::ERROR_UNSUPPORTED, "a dropout posterior has no steps but by rule \"map\"");
  if (rule == Rule::bbb && c.options.descent == DescentOption::adam && !c.is_diagonal() &&
      !is_low_rank_moment(c.family))
    fail(Status::ERROR_UNSUPPORTED,
         "descent \"adam\" with rule \"bbb\" is for diagonal posteriors: use \"sgd\" for others");
  if (ends_with_laplace && c.options.laplace) check_laplace_family(c.family);
}

void check_stream(const Combination& c) {
  if (c.family == Family::dropout)
    fail(
        Status::ERROR_UNSUPPORTED,
        "a dropout posterior has no place in a stream: it is a distribution of masks, not a density over the "
        "parameters");
  if (c.options.rule == Rule::map)
    fail(Status::ERROR_UNSUPPORTED,
         "rule \"map\" has no uncertainty to weigh an observation with: use rule \"bong\", or "
         "fit a data set");
  if (c.options.rule == Rule::blr && c.options.learning_rate > 1)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "option \"learning_rate\" is %g, expected at most 1 for rule \"blr\" on streams",
         c.options.learning_rate);
  if (c.is_low_rank() && c.options.low_rank_update == LowRankUpdate::moving_average &&
      descent_of(c.options.rule) == Descent::natural)
    fail(Status::ERROR_UNSUPPORTED, "option low_rank_update \"moving_average\" is for batches");
}

}  // namespace

Use intended_use(const Combination& c) {
  if (c.method.is_exact) return Use::fit;
  const bool streams = c.options.rule == Rule::bong || c.options.rule == Rule::bog;
  if (c.method.is_online || (streams && c.model.has_model)) return Use::stream;
  return c.model.has_model && c.model.has_gradients ? Use::fit : Use::rows;
}

void check_combination(const Combination& c, Use use) {
  check_family(c);
  check_augmentation(c, use);
  if (c.method.is_exact && use != Use::fit) return check_has_steps(c);
  if (c.method.is_exact) return check_exact(c);
  check_tempering(c);
  if (c.options.indefinite == Indefinite::improved) check_improved(c);
  if (descends_newton(c) && use != Use::stream) check_newton(c);
  if (descends_kronecker(c)) check_kfac(c);
  if (c.options.sample_groups > 1 && !(descends_newton(c) && use != Use::stream))
    fail(Status::ERROR_UNSUPPORTED,
         "option \"sample_groups\" is %lld, but only descents \"vogn\" and \"ivon\" have them",
         static_cast<long long>(c.options.sample_groups));
  if (is_low_rank_moment(c.family)) check_low_rank_moment(c, use);
  if (c.family == Family::kronecker) check_kronecker(c, use);
  if (c.options.swag) check_swag(c);
  if (use == Use::rows) {
    if (c.family == Family::dropout)
      fail(Status::ERROR_UNSUPPORTED,
           "a dropout posterior has no steps on rows: it would have to know their masks");
    if (!c.model.without_separate_examples.empty())
      fail(Status::ERROR_UNSUPPORTED,
           "steps on rows know nothing of the point parameters and running statistics of the network's %s",
           c.model.without_separate_examples.c_str());
    return check_batch(c, false);
  }
  if (use == Use::stream)
    check_stream(c);
  else
    check_batch(c, use == Use::fit);
  if (c.model.has_model) {
    check_model(c);
    check_layers(c, use);
  }
  check_estimate(c);
}

void check_sums(const Combination& c) {
  if (intended_use(c) == Use::stream)
    fail(Status::ERROR_UNSUPPORTED,
         "method \"%s\" does not work on shards of the data: a stream's observations depend on each other",
         c.method.name);
}

void check_together(Use use) {
  if (use == Use::stream || use == Use::rows)
    fail(Status::ERROR_UNSUPPORTED,
         "the optimizer has a communicator, but %s: set its communicator to none first",
         use == Use::stream ? "streams are learned alone" : "steps on rows are taken alone");
}

void check_laplace_family(Family family) {
  if (!contains(Families::laplaces, family_of(family, 0)))
    fail(Status::ERROR_UNSUPPORTED,
         "Laplace's approximation is for low-rank, diagonal (rank 0), full, layerwise-full and "
         "Kronecker-factored posteriors");
}

}  // namespace bdl
