#include "methods/method.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "model/user_model.hpp"
#include "network/graph.hpp"
#include "posterior/families.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {

namespace {

/// True unless the activation is the identity or bounded; networks with several are taken for rectifying.
bool is_rectifier(bdl_activation activation) {
  return activation != BDL_IDENTITY && activation != BDL_TANH && activation != BDL_SIGMOID;
}

}  // namespace

template <class T>
MethodContext context_of(const Model<T>* model, Index data_size) {
  MethodContext context;
  context.data_size = data_size;
  if (!model) return context;
  context.has_model = true;
  context.likelihood = model->likelihood.kind();
  context.is_exact = model->has_exact_expectations();
  context.has_optimum = model->has_exact_optimum();
  if (const Graph<T>* graph = model->graph()) {
    context.is_network = true;
    context.input = graph->input();
    context.has_hidden = graph->hidden_layers() > 0;
    context.is_deep = graph->hidden_layers() > 1;
    context.has_rectifiers = is_rectifier(graph->activation());
    context.is_linear = graph->is_linear();
    context.has_dense_inputs = !graph->dense_nodes().empty() && graph->dense_nodes().front() == 0;
    context.has_matrices = has_matrices(*model);
    context.has_points = !point_parameters_of(*model).is_empty();
    for (std::size_t w = 0; w < graph->wires(); ++w)
      if (graph->wire(static_cast<Index>(w)).layout != Layout::columns) context.has_maps = true;
    context.without_second_derivatives = graph->first_without(Need::second_derivatives);
    context.without_one_function = graph->first_without(Need::one_function);
    context.without_separate_examples = graph->first_without(Need::separate_examples);
  } else if (const auto* user = dynamic_cast<const UserModel<T>*>(model)) {
    context.has_gradients = user->has_gradients();
  }
  return context;
}

template MethodContext context_of(const Model<float>*, Index);
template MethodContext context_of(const Model<double>*, Index);

namespace {

void set(Options& options, Rule rule, EstimateKind kind) {
  options.rule = rule;
  options.curvature = kind;
}

/// Networks that predict numbers learn a prior precision for each layer, by the evidence. Deep ones for
/// classes start so that signals keep their size from layer to layer (He et al. 2015); from smaller weights
/// some never learn. Numbers are learned better from outputs near 0.
void set_in_batches(Options& options, const MethodContext& context, Rule rule, EstimateKind kind) {
  set(options, rule, kind);
  if (context.is_deep && context.has_rectifiers && context.has_classes())
    options.initialization = Initialization::he;
  if (context.has_hidden && context.has_noise()) options.prior_groups = PriorGroups::layers;
}

/// Online methods have one step length for everything, no momentum and no schedule.
template <Rule rule, EstimateKind kind>
void online(Options& options, const MethodContext& context) {
  set(options, rule, kind);
  options.learning_rate = rule == Rule::bong ? 1 : rule == Rule::blr ? 0.5 : 0.01;
  options.iterations = rule == Rule::blr ? 4 : rule == Rule::bbb ? 10 : 1;
  options.momentum = 0;
  options.learn_prior = 0;
  // N(0, 1) weights would make the inputs of hidden units as large as the root of their number.
  const PriorScaling scaling = context.has_hidden ? PriorScaling::fan_in : PriorScaling::unit;
  options.prior_scaling = scaling;
  // Classes are learned sooner from outputs that differ already; numbers from outputs near 0
  // (experiments/results/streams.md).
  if (context.has_hidden && context.has_classes()) options.initialization = Initialization::he;
}

/// Classifiers start with long steps, lose their initial precision just by the end of the plan, and do not
/// learn their prior unless in doubt: the one that the ELBO would choose costs accuracy
/// (experiments/results/defaults.md). Deep ones, which doubt too early, need none.
template <EstimateKind kind>
void batch(Options& options, const MethodContext& context) {
  set_in_batches(options, context, Rule::blr, kind);
  options.mean_update = MeanUpdateOption::projected;
  if (!(context.has_hidden && context.has_classes())) {
    // Weights that no example moves go to their prior. If that is N(0, 1) in layer after layer, they drown
    // the outputs of samples.
    if (context.is_deep) options.prior_scaling = PriorScaling::fan_in;
    return;
  }
  options.learning_rate = 0.05;
  options.start_share = 0.01;
  options.minibatches = 20;
  options.learn_prior = context.is_deep ? 0 : learn_in_doubt;
}

/// Empirical-Fisher rows grow with the residuals and keep steps short while a regression does not fit yet, so
/// its learning rate may be higher.
void slang(Options& options, const MethodContext& context) {
  batch<EstimateKind::mc_ef>(options, context);
  if (context.has_hidden && context.has_noise()) options.learning_rate = 0.2;
}

/// The optimum is that of the ELBO for a given prior and a given noise.
void optimum(Options& options, const MethodContext& context) {
  batch<EstimateKind::exact_hess>(options, context);
  options.learn_prior = options.learn_noise = 0;
}

/// Networks are trained by gradients alone. The mode has no scales: its covariance stays almost a point. Its
/// noise comes from effective degrees of freedom, and starts as large as the targets: a mode that fits first
/// would have learned it.
template <Rule rule, EstimateKind kind>
void first_order(Options& options, const MethodContext& context) {
  set_in_batches(options, context, rule, kind);
  options.descent = DescentOption::adam;
  options.learning_rate = 0.01;
  if (rule != Rule::map) return;
  options.initial_precision = 1e12;
  options.learn_prior = 0;
  if (kind != EstimateKind::mc_reparam && context.has_hidden) options.initial_noise_precision = 1;
}

/// One draw is enough: the noise differs between examples and averages out in the gradient. A learned
/// prior would collapse, and the network with it (docs/theory/training.md).
template <DiagonalPart part>
void low_rank_vi(Options& options, const MethodContext& context) {
  set_in_batches(options, context, Rule::bbb, EstimateKind::mc_reparam);
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

/// Networks have their prior and noise by the evidence. One precision for all parameters suits classes: with
/// one a layer, longer training makes predictions less sure than they should be
/// (experiments/results/defaults.md).
/// Heteroscedastic networks have one as well: their last layer would have two, which Kronecker factors
/// refuse.
void laplace(Options& options, const MethodContext& context) {
  first_order<Rule::map, EstimateKind::lin_ef>(options, context);
  options.laplace = 1;
  if (!context.has_hidden) return;
  options.evidence = EvidenceUse::during;
  const bool by_layers = !context.has_classes() && context.likelihood != BDL_HETEROSCEDASTIC;
  options.prior_groups = by_layers ? PriorGroups::layers : PriorGroups::shared;
}

template <EstimateKind kind>
void one_sample(Options& options, const MethodContext& context) {
  batch<kind>(options, context);
  options.samples = 1;
  options.momentum = 0;
}

/// VOGN and IVON differ from batch() in heavy-ball momentum and in an initial curvature per example.
/// Classifiers by VOGN are tempered (docs/theory/training.md); regressions would get too narrow intervals.
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
  options.damping = is_vogn ? 0.01 : 0.1;  // IVON's curvatures are noisy: with less damping, some diverge
  options.damping_in = is_vogn ? DampingIn::both : DampingIn::step;
  options.kl_start = 0.1;
  options.kl_warmup = 0.15;
  options.learn_prior = 0;
}

/// K-FAC begins with an isotropic curvature, since a few minibatches say nothing about most directions, and
/// limits the length of its steps. Only the step is damped: the posterior's precision is that of the factors
/// and the prior.
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

constexpr Standing advised{false, 0, 0};
constexpr Standing baseline(int held, int least_held) {
  return {true, held, least_held};
}

constexpr Method all_methods[] = {
#define BDL_METHOD(name, families, rank, kind, defaults, forecast, standing, doc, source) \
  {name, Families::families, rank, MethodKind::kind, defaults, Forecast::forecast, standing, doc, source},
#include "methods/methods.def"
#undef BDL_METHOD
};

constexpr Preset all_presets[] = {
#define BDL_PRESET(name, method, options, epochs, doc) {name, method, options, epochs, doc},
#include "methods/presets.def"
#undef BDL_PRESET
};

/// Returns the row of that name. Fails with ERROR_INVALID_ARGUMENT listing all names.
template <class Row>
const Row& find_row(std::span<const Row> rows, const char* what, const char* name) {
  std::string names;
  for (const Row& row : rows) {
    if (std::string_view(row.name) == name) return row;
    names += (names.empty() ? "\"" : ", \"") + std::string(row.name) + '"';
  }
  fail(Status::ERROR_INVALID_ARGUMENT, "%s is \"%.60s\", expected one of %s", what, name, names.c_str());
}

/// Returns the words of the bits of Families, one for each bit.
std::vector<const char*> bit_words() {
  std::vector<const char*> words{"low_rank", "diagonal"};
  const auto others = family_words().subspan(1);
  words.insert(words.end(), others.begin(), others.end());
  return words;
}

/// Returns the words of every set of families.
std::vector<std::string> all_set_words() {
  const std::vector<const char*> words = bit_words();
  std::vector<std::string> sets(std::size_t{1} << words.size());
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  const auto moments = order.begin() + static_cast<int>(Family::low_rank_moment);
  std::swap(moments[0], moments[1]);  // the layerwise low-rank moments stand first, as their default
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

bool learns_by_evidence(const Options& options, const MethodContext& model) {
  if (options.scales == ScaleSource::samples || options.learn_noise == 0) return false;
  if (options.rule == Rule::map) return false;  // a mode has option "evidence"
  // Steps of standard deviations diverge under its priors, which are wide where the data say nothing.
  if (options.curvature == EstimateKind::mc_reparam) return false;
  // Each group has a matrix of the rows looked at.
  constexpr Index most_inputs = 1000;
  const PriorGroups groups = options.prior_groups;
  const bool by_layers = groups == PriorGroups::layers || groups == PriorGroups::shared ||
                         (groups == PriorGroups::inputs && model.input.size() <= most_inputs);
  return by_layers && model.is_network && model.has_hidden && model.has_noise() &&
         model.without_separate_examples.empty();
}

std::string caution_of(const Method& method) {
  const Standing& standing = method.standing;
  if (!standing.is_baseline) return "";
  const bool intervals_pass = standing.held >= 90 && standing.held <= 99 && standing.least_held >= 85;
  const std::string missed =
      intervals_pass ? "predicted worse than a constant on some data sets of our test"
                     : "had 95 % intervals that contained " + std::to_string(standing.held) +
                           " % of the targets on average and " + std::to_string(standing.least_held) +
                           " % at worst in our test, where 90 to 99 % and at least 85 % pass";
  return std::string(method.name) + " is a baseline for comparisons (" + method.source + "): untuned, it " +
         missed + ". Method " + (method.kind == MethodKind::stream ? "lo-fi" : "laplace") +
         " and the default passed the test.";
}

std::span<const Method> method_table() {
  return all_methods;
}

const Method& find_method(const char* name) {
  return find_row(method_table(), "method", name);
}

std::span<const Preset> preset_table() {
  return all_presets;
}

const Preset& find_preset(const char* name) {
  return find_row(preset_table(), "preset", name);
}

}  // namespace bdl
