#include "elrg_problem.hpp"

#include <algorithm>
#include <cmath>

#include "posterior/families.hpp"
#include "posterior/low_rank_moment/members.hpp"

namespace golden {

ElrgProblem::ElrgProblem(const Json& problem)
    : json(problem),
      graph(std::make_shared<const bdl::Graph<double>>(problem.at("description").get<std::string>())),
      model(graph, bdl::Likelihood(has_classes() ? BDL_CATEGORICAL : BDL_GAUSSIAN, graph->outputs())),
      examples(std::ssize(problem.at("X"))),
      data_size(problem.at("data_size").get<double>()),
      averages(graph->parameters()),
      x_(flatten_all(problem.at("X"))),
      y_(flatten_all(problem.at("Y"))) {
  if (!has_classes()) {
    const double precision = problem.at("noise_precision").get<double>();
    model.likelihood.set_noise_precision({&precision, 1});
  }
  set_options();
  restart();
}

double ElrgProblem::root() const {
  return std::sqrt(json.at("a").get<double>());
}

void ElrgProblem::set_options() {
  const std::string family = json.at("family");
  options.samples = 1;
  options.descent = bdl::DescentOption::adam;
  options.momentum = 0.9;
  options.tied_rank = json.at("rank").get<bdl::Index>();
  options.low_rank_scale = json.at("a").get<double>();
  options.diagonal_part = family == "k-tied"                     ? bdl::DiagonalPart::tied
                          : family == "elrg-d" || family == "mf" ? bdl::DiagonalPart::free
                                                                 : bdl::DiagonalPart::fixed;
  rank = family == "k-tied" ? 0 : json.at("rank").get<bdl::Index>();
  if (is_tied()) averages.tied.reserve(graph->blocks(), options.tied_rank);
}

void ElrgProblem::restart() {
  std::vector<bdl::Index> sizes;
  for (const auto& learned : graph->learned())
    sizes.push_back(graph->nodes()[size(learned.node)].layer->parameters());
  const bdl::PosteriorKind kind{bdl::Family::layerwise_low_rank_moment, graph->parameters(), rank, sizes, {}};
  q = bdl::create_posterior<double>(kind);
  next = bdl::create_posterior<double>(kind);
  prior.clear();
  if (is_tied()) averages.tied.restore(tied_of(json.at("parameters")));
  std::size_t layer = 0;
  bdl::for_each_low_rank_moment(*q, [&](bdl::LowRankMomentPosterior<double>& member, bdl::Index offset) {
    set_block(layer++, member, offset);
  });
}

void ElrgProblem::set_block(std::size_t layer, bdl::LowRankMomentPosterior<double>& member,
                            bdl::Index offset) {
  const Json& of = json.at("parameters")[layer];
  const auto mean = of.at("mean").get<Vector>();
  std::copy(mean.begin(), mean.end(), q->mean().begin() + offset);
  for (bdl::Index k = 0; k < rank; ++k)
    for (bdl::Index i = 0; i < member.dimension(); ++i)
      member.w()(i, k) = root() * of.at("V")[size(i)][size(k)].get<double>();
  Vector s(size(graph->parameters()), 1.0);
  if (is_tied()) averages.tied.write_now(s);
  for (bdl::Index i = 0; i < member.dimension(); ++i)
    member.s()[size(i)] = of.contains("log_sigma") && !is_point()
                              ? std::exp(2 * of.at("log_sigma")[size(i)].get<double>())
                              : s[size(offset + i)];
  bdl::Scratch scratch;
  member.factorize(scratch);
  const auto gamma = json.at("prior_variance")[layer].get<Vector>();
  for (bdl::Index i = 0; i < member.dimension(); ++i)
    prior.push_back(1 / gamma[i < weights_of(layer) ? 0 : 1]);
}

bdl::Index ElrgProblem::weights_of(std::size_t layer) const {
  const auto& node = graph->nodes()[size(graph->learned()[layer].node)];
  return node.layer->dense() ? node.layer->dense()->weights() : node.layer->convolution()->weights();
}

Vector ElrgProblem::tied_of(const Json& layers) const {
  Vector values;
  for (const Json& layer : layers) {
    for (const char* name : {"log_u", "log_v"})
      for (bdl::Index l = 0; l < options.tied_rank; ++l)
        for (const Json& row : layer.at(name)) values.push_back(row[size(l)].get<double>());
    if (!layer.contains("log_sigma_bias")) continue;
    const auto biases = layer.at("log_sigma_bias").get<Vector>();
    values.insert(values.end(), biases.begin(), biases.end());
  }
  return values;
}

std::unique_ptr<GivenNoise> ElrgProblem::noise(const Json& samples) const {
  std::vector<bdl::Shape> shapes;
  for (const auto& learned : graph->learned())
    shapes.push_back(graph->nodes()[size(learned.node)].layer->output());
  return std::make_unique<GivenNoise>(samples, std::move(shapes));
}

std::vector<bdl::LayerNoise> estimators_of(const Json& layers) {
  std::vector<bdl::LayerNoise> kinds;
  for (const Json& layer : layers) {
    const std::string word = layer.at("estimator");
    kinds.push_back(word == "local"     ? bdl::LayerNoise::local
                    : word == "weights" ? bdl::LayerNoise::weights
                    : word == "flipout" ? bdl::LayerNoise::flipout
                                        : bdl::LayerNoise::shared);
  }
  return kinds;
}

}  // namespace golden
