#include "methods/method.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "methods/rule.hpp"
#include "posterior/families.hpp"

namespace bdl {
namespace {

void set(Options& options, Rule rule, EstimateKind kind) {
  options.rule = rule;
  options.curvature = kind;
}

/// Sets the options of methods for streams: a constant step length, no momentum, and no learned scales.
template <Rule rule, EstimateKind kind>
void online(Options& options, const MethodContext& context) {
  set(options, rule, kind);
  options.learning_rate = rule == Rule::bong ? 1 : rule == Rule::blr ? 0.5 : 0.01;
  options.iterations = rule == Rule::blr ? 4 : rule == Rule::bbb ? 10 : 1;
  options.momentum = 0;
  options.learn_prior = options.learn_noise = 0;
  // With N(0, 1) weights, the inputs of units would be as large as the root of their number.
  const PriorScaling scaling = context.has_hidden ? PriorScaling::fan_in : PriorScaling::unit;
  options.prior_scaling = scaling;
  // Classifiers learn sooner if outputs differ at the start, regressions if they start near 0
  // (docs/streams.md).
  if (context.has_hidden && context.has_classes()) options.initialization = Initialization::he;
}

/// Sets the options of methods for batches. Classifiers start with long steps, lose their initial precision
/// by the end of the plan, and keep their prior, since a learned one costs accuracy (docs/defaults.md).
template <EstimateKind kind>
void batch(Options& options, const MethodContext& context) {
  set(options, Rule::blr, kind);
  options.mean_update = MeanUpdateOption::projected;
  if (!(context.has_hidden && context.has_classes())) {
    // Weights that no example moves go to their prior. With N(0, 1) in each of several layers, their noise
    // would drown the outputs at samples.
    if (context.is_deep) options.prior_scaling = PriorScaling::fan_in;
    return;
  }
  options.learning_rate = 0.05;
  options.start_share = 0.01;
  options.minibatches = 20;
  options.learn_prior = 0;
}

/// Sets the options of SLANG. Rows of the empirical Fisher grow with the residuals, so regressions that do
/// not fit yet have short steps, and can use a high rate.
void slang(Options& options, const MethodContext& context) {
  batch<EstimateKind::mc_ef>(options, context);
  if (context.has_hidden && context.likelihood == BDL_GAUSSIAN) options.learning_rate = 0.1;
}

/// Sets the options of methods that find the optimum of the ELBO for a given prior and given noise.
void optimum(Options& options, const MethodContext& context) {
  batch<EstimateKind::exact_hess>(options, context);
  options.learn_prior = options.learn_noise = 0;
}

/// Sets the options of steps by gradients alone, as neural networks are trained. The mode (rule map) has no
/// covariance, so it starts and stays almost a point, and its prior cannot be learned.
template <Rule rule, EstimateKind kind>
void first_order(Options& options, const MethodContext&) {
  set(options, rule, kind);
  options.descent = DescentOption::adam;
  options.learning_rate = 0.01;
  if (rule != Rule::map) return;
  options.initial_precision = 1e12;
  options.learn_prior = 0;
}

/// Sets the options of low-rank-moment methods. One draw is enough, since noise that each example draws for
/// itself averages out; a learned prior would collapse, and the network with it (docs/training.md).
template <DiagonalPart part>
void low_rank_vi(Options& options, const MethodContext&) {
  set(options, Rule::bbb, EstimateKind::mc_reparam);
  options.descent = DescentOption::adam;
  options.learning_rate = 0.001;
  options.samples = 1;
  options.diagonal_part = part;
  options.initial_precision = part == DiagonalPart::tied ? 1e4 : std::exp(10.0);
  options.learn_prior = 0;
}

void naive_low_rank_vi(Options& options, const MethodContext& context) {
  low_rank_vi<DiagonalPart::fixed>(options, context);
  options.noise_estimator = NoiseEstimator::shared;
  options.low_rank_scale = 1;
}

void moving_average(Options& options, const MethodContext& context) {
  batch<EstimateKind::mc_ef>(options, context);
  options.low_rank_update = LowRankUpdate::moving_average;
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

/// Sets the options of VOGN and IVON: those of batch(), with momentum that sums up and an initial
/// curvature. VOGN tempers classifiers (docs/training.md); regressions would have too narrow intervals.
template <DescentOption descent, EstimateKind kind>
void newton(Options& options, const MethodContext& context) {
  constexpr bool is_vogn = descent == DescentOption::vogn;
  batch<kind>(options, context);
  options.descent = descent;
  options.momentum_form = MomentumForm::heavy_ball;
  options.initial_curvature = 1;
  options.learning_rate = is_vogn ? 0.02 : 0.005;
  if (!context.has_hidden) return;
  if (context.has_classes()) {
    if (!is_vogn && !context.has_maps) options.initial_curvature = 0.3;
    if (!is_vogn) return;
    options.learning_rate = 0.002;
    options.initial_curvature = 0.1;
    options.kl_weight = context.has_maps ? 0.5 : 0.8;
    return;
  }
  options.learning_rate = is_vogn ? 0.01 : 0.003;
  options.curvature_rate = 0.005;
  options.damping = is_vogn ? 0.01 : 0.1;  // IVON's curvatures are noisy: with less, some courses diverge
  options.damping_in = is_vogn ? DampingIn::both : DampingIn::step;
  options.kl_start = 0.1;
  options.kl_warmup = 0.15;
  options.learn_prior = 0;
}

/// Sets the options of K-FAC. It starts with an isotropic curvature, since few minibatches do not inform
/// most directions, and with short steps (kl_clip). Damping does not enter the posterior's precision.
template <EstimateKind kind>
void kfac(Options& options, const MethodContext& context) {
  batch<kind>(options, context);
  options.descent = DescentOption::kfac;
  options.momentum_form = MomentumForm::heavy_ball;
  options.learning_rate = 0.01;
  options.curvature_rate = 0.05;
  options.initial_curvature = 1;
  options.damping = 1e-3;
  options.damping_in = DampingIn::step;
  options.eigen_interval = 10;
  options.kl_clip = 1e-3;
  options.start_share = 0;
  options.learn_prior = 0;
}

void sgd(Options& options, const MethodContext& context) {
  first_order<Rule::map, EstimateKind::lin_ef>(options, context);
  options.descent = DescentOption::sgd;
  options.momentum_form = MomentumForm::heavy_ball;
}

void swag(Options& options, const MethodContext& context) {
  sgd(options, context);
  options.swag = 1;
}

constexpr Method all_methods[] = {
#define BDL_METHOD(name, families, kind, defaults, forecast, doc, source) \
  {name,                                                                  \
   Families::families,                                                    \
   MethodKind::kind == MethodKind::stream,                                \
   MethodKind::kind == MethodKind::exact,                                 \
   defaults,                                                              \
   Forecast::forecast,                                                    \
   doc,                                                                   \
   source},
#include "methods/methods.def"
#undef BDL_METHOD
};

/// Returns the words of the families in the order of their bits: low rank, diagonal, the others by number.
std::vector<const char*> bit_words() {
  std::vector<const char*> words{"low_rank", "diagonal"};
  const auto others = family_words().subspan(1);
  words.insert(words.end(), others.begin(), others.end());
  return words;
}

/// Returns the words of each set of families, in the order of the sets' numbers.
std::vector<std::string> all_set_words() {
  const std::vector<const char*> words = bit_words();
  std::vector<std::string> sets(std::size_t{1} << words.size());
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  const auto moments = order.begin() + static_cast<int>(Family::low_rank_moment);
  std::swap(moments[0], moments[1]);  // the layerwise low-rank-moment family comes first
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (const std::size_t i : order)
      if (set >> i & 1) sets[set] += (sets[set].empty() ? "" : " | ") + std::string(words[i]);
  return sets;
}

}  // namespace

Families family_of(Family family, Index rank) {
  static_assert(static_cast<int>(Family::low_rank) == 1 && static_cast<int>(Family::full) == 2);
  const int bit = family == Family::low_rank ? (rank > 0 ? 0 : 1) : static_cast<int>(family);
  return static_cast<Families>(1U << bit);
}

const char* words_of(Families set) {
  static const std::vector<std::string> words = all_set_words();
  return words[static_cast<std::size_t>(set)].c_str();
}

Families find_family(const char* word) {
  const std::vector<const char*> words = bit_words();
  const auto found = std::ranges::find(words, std::string_view(word));
  if (found == words.end())
    fail(Status::ERROR_INVALID_ARGUMENT, "family is \"%.60s\", expected one of %s", word,
         words_of(static_cast<Families>((1U << words.size()) - 1)));
  return static_cast<Families>(1U << (found - words.begin()));
}

std::span<const Method> method_table() {
  return all_methods;
}

Index usual_rank(const Method& method) {
  const std::string_view name = method.name;
  if (name == "elrg" || name == "elrg-d" || name == "low-rank-vi") return 5;
  if (name == "swag") return 20;
  return contains(method.families, Families::low_rank) ? 5 : 0;
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

}  // namespace bdl
