// "elrg-golden-1": posteriors with covariances diag(s) + a V V^T, one for each layer: their KL to the prior
// with its gradients, layer by layer and together, and what pairs of them are. elrg_training.cpp has the
// rest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "elrg_training.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace golden {
namespace {

using Handle = std::unique_ptr<bdl_posterior, decltype(&bdl_posterior_free)>;

/// W and s as the library holds them; W row by row.
struct Block {
  Vector mean, w, s, prior_precision;
  std::int64_t rank;
  std::int64_t dimension() const { return static_cast<std::int64_t>(mean.size()); }
  bdl_matrix factor() const { return rank == 0 ? bdl_none() : bdl_f64(w.data(), dimension(), rank); }
};

Handle posterior_of(const Block& block) {
  bdl_posterior* q = nullptr;
  check(bdl_posterior_create_low_rank_moment(BDL_F64, block.dimension(), block.rank, &q));
  Handle owned(q, bdl_posterior_free);
  check(bdl_posterior_set_low_rank_moment(q, row(block.mean), block.factor(), row(block.s)));
  return owned;
}

std::int64_t width(const Json& rows) {
  return static_cast<std::int64_t>(rows.front().size());
}

/// Returns log sigma of each parameter, weights before biases; if tied, sigma_oj = sum_l exp(u_ol + t_jl).
Vector log_sigmas(const Json& parameters) {
  if (parameters.contains("log_sigma")) return parameters.at("log_sigma").get<Vector>();
  Vector out;
  const auto t = parameters.at("log_v").get<std::vector<Vector>>();
  for (const Vector& u : parameters.at("log_u").get<std::vector<Vector>>())
    for (const Vector& input : t) {
      double sum = 0;
      for (std::size_t l = 0; l < u.size(); ++l) sum += std::exp(u[l] + input[l]);
      out.push_back(std::log(sum));
    }
  const auto biases = parameters.at("log_sigma_bias").get<Vector>();
  out.insert(out.end(), biases.begin(), biases.end());
  return out;
}

Block block_of(const Json& problem, std::size_t layer) {
  const Json &parameters = problem.at("parameters")[layer], &shape = problem.at("layers")[layer];
  Block block{parameters.at("mean").get<Vector>(), {}, {}, {}, 0};
  const double root = std::sqrt(problem.at("a").get<double>());
  if (parameters.contains("V")) {
    block.rank = width(parameters.at("V"));
    block.w = flatten(parameters.at("V"));
    for (double& value : block.w) value *= root;
  }
  for (const double rho : log_sigmas(parameters)) block.s.push_back(std::exp(2 * rho));
  const auto gamma = problem.at("prior_variance")[layer].get<Vector>();
  const auto outputs = shape.at(shape.contains("out") ? "out" : "filters").get<std::size_t>();
  const std::size_t biases = shape.at("bias").get<int>() ? outputs : 0;
  for (std::size_t i = 0; i < block.mean.size(); ++i)
    block.prior_precision.push_back(1 / gamma[i < block.mean.size() - biases ? 0 : 1]);
  return block;
}

/// The core's derivatives: by W, which is sqrt(a) V.
double gradient_error(const Block& block, double a, const Json& expected) {
  const bdl::Index dimension = block.dimension();
  bdl::Buffer<double> w(dimension * block.rank), by_w(dimension * block.rank);
  bdl::LowRankMomentPosterior<double> q(dimension, block.rank);
  for (bdl::Index i = 0; i < dimension; ++i)
    for (bdl::Index k = 0; k < block.rank; ++k)
      w.matrix(dimension, block.rank)(i, k) = block.w[static_cast<std::size_t>(i * block.rank + k)];
  q.set_covariance(std::as_const(w).matrix(dimension, block.rank), block.s);
  std::copy(block.mean.begin(), block.mean.end(), q.mean().begin());
  Vector mean(block.mean.size()), log_sigma(mean.size()), by_v;
  bdl::Scratch scratch;
  bdl::kl_gradient<double>(q, {}, block.prior_precision,
                           {mean, by_w.matrix(dimension, block.rank), log_sigma}, scratch);
  for (bdl::Index i = 0; i < dimension; ++i)
    for (bdl::Index k = 0; k < block.rank; ++k)
      by_v.push_back(std::sqrt(a) * by_w.matrix(dimension, block.rank)(i, k));
  double worst = std::max(error(mean, expected.at("mean").get<Vector>()),
                          error(log_sigma, expected.at("log_sigma").get<Vector>()));
  if (expected.contains("V")) worst = std::max(worst, error(by_v, flatten(expected.at("V"))));
  return worst;
}

/// All layers as one posterior of the network.
double kl_of_network(const Json& problem, const std::vector<Block>& blocks) {
  bdl_model* model = nullptr;
  const bool classes = problem.at("likelihood") == "categorical";
  check(bdl_model_create_network(BDL_F64, problem.at("description").get<std::string>().c_str(),
                                 classes ? BDL_CATEGORICAL : BDL_GAUSSIAN, &model));
  const std::unique_ptr<bdl_model, decltype(&bdl_model_free)> owned_model(model, bdl_model_free);
  bdl_posterior* q = nullptr;
  check(bdl_posterior_create_layerwise_low_rank_moment(model, blocks.front().rank, &q));
  const Handle owned(q, bdl_posterior_free);
  Vector mean, prior;
  std::vector<std::string> names;
  std::vector<bdl_matrix> values;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& block = blocks[k];
    mean.insert(mean.end(), block.mean.begin(), block.mean.end());
    prior.insert(prior.end(), block.prior_precision.begin(), block.prior_precision.end());
    names.push_back("block" + std::to_string(k) + ".diagonal");
    values.push_back(row(block.s));
    if (block.rank == 0) continue;
    names.push_back("block" + std::to_string(k) + ".low_rank");
    values.push_back(block.factor());
  }
  names.push_back("mean");
  values.push_back(row(mean));
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  check(bdl_posterior_set_tensors(q, texts.data(), values.data(), static_cast<std::int64_t>(values.size())));
  double kl = 0;
  check(bdl_posterior_kl_prior(q, row(prior), &kl));
  return kl;
}

double replay_problem(const Json& problem) {
  const Json& expected = problem.at("expected");
  std::vector<Block> blocks;
  Vector kl;
  double worst = 0, sum = 0;
  for (std::size_t layer = 0; layer < problem.at("layers").size(); ++layer) {
    blocks.push_back(block_of(problem, layer));
    kl.push_back(0);
    check(bdl_posterior_kl_prior(posterior_of(blocks.back()).get(), row(blocks.back().prior_precision),
                                 &kl.back()));
    sum += expected.at("kl")[layer].get<double>();
    worst = std::max(worst, gradient_error(blocks.back(), problem.at("a").get<double>(),
                                           expected.at("kl_gradient")[layer]));
  }
  worst = std::max(worst, error(kl, expected.at("kl").get<Vector>()));
  return std::max(worst, error({kl_of_network(problem, blocks)}, {sum}));
}

Block member(const Json& json) {
  const Json& w = json.at("W");
  return {json.at("mean").get<Vector>(), flatten(w), json.at("s").get<Vector>(), {}, width(w)};
}

double replay_pair(const Json& pair) {
  const Handle q = posterior_of(member(pair.at("q"))), p = posterior_of(member(pair.at("p")));
  const Json& expected = pair.at("expected");
  const Vector x = flatten(pair.at("x"));
  const std::int64_t count = static_cast<std::int64_t>(pair.at("x").size()),
                     dimension = bdl_posterior_dimension(q.get());
  Vector number(1), vector(static_cast<std::size_t>(dimension)), densities(pair.at("x").size()),
      solution(x.size());
  double worst = 0;
  check(bdl_posterior_kl(q.get(), p.get(), number.data()));
  worst = std::max(worst, error(number, {expected.at("kl").get<double>()}));
  check(bdl_posterior_log_det_covariance(q.get(), number.data()));
  worst = std::max(worst, error(number, {expected.at("log_det").get<double>()}));
  check(bdl_posterior_marginal_variance(q.get(), row_out(vector)));
  worst = std::max(worst, error(vector, expected.at("marginal_variance").get<Vector>()));
  check(bdl_posterior_precision_diagonal(q.get(), row_out(vector)));
  worst = std::max(worst, error(vector, expected.at("precision_diagonal").get<Vector>()));
  check(bdl_posterior_log_density(q.get(), bdl_f64(x.data(), count, dimension),
                                  bdl_f64_out(densities.data(), count, 1)));
  worst = std::max(worst, error(densities, expected.at("log_density").get<Vector>()));
  check(bdl_posterior_solve(q.get(), bdl_f64(x.data(), count, dimension),
                            bdl_f64_out(solution.data(), count, dimension)));
  return std::max(worst, error(solution, flatten(expected.at("solve"))));
}

}  // namespace

bool replay_elrg(const Json& file) {
  bool good = !file.at("problems").empty() && !file.at("pairs").empty();
  const auto report = [&](const std::string& name, double worst) {
    std::printf("%-45s largest error %.2g\n", name.c_str(), worst);
    good = good && worst <= tolerance;
  };
  for (const Json& problem : file.at("problems")) {
    const double divergences =
        problem.at("family") == "map" ? 0 : replay_problem(problem);  // a point has none
    report(problem.at("name").get<std::string>(), std::max(divergences, replay_training(problem)));
  }
  for (std::size_t k = 0; k < file.at("pairs").size(); ++k)
    report("pair " + std::to_string(k), replay_pair(file.at("pairs")[k]));
  return good;
}

}  // namespace golden
