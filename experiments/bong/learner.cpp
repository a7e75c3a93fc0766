#include "learner.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "support/table.hpp"

namespace bong {
namespace {

bdl_posterior* create_belief(const Network& network, int64_t dimension, const std::string& family) {
  bdl_posterior* belief = nullptr;
  if (family == "full")
    check(bdl_posterior_create_full(network.dtype, dimension, &belief));
  else if (family == "full-moment")
    check(bdl_posterior_create_full_moment(network.dtype, dimension, &belief));
  else if (family == "diagonal-moment")
    check(bdl_posterior_create_diagonal_moment(network.dtype, dimension, &belief));
  else if (family == "diagonal")
    check(bdl_posterior_create_low_rank(network.dtype, dimension, 0, &belief));
  else if (family.starts_with("low-rank-"))
    check(bdl_posterior_create_low_rank(network.dtype, dimension, std::atoll(family.c_str() + 9), &belief));
  else
    stop("no family " + family);
  return belief;
}

/// Plain gradients never leave U = 0, where the gradient with respect to U vanishes. So they start at random
/// columns that hold a tenth of the prior precision, whose diagonal stays what it was.
void fill_low_rank(bdl_posterior* belief, const Algorithm& algorithm) {
  const int64_t dimension = bdl_posterior_dimension(belief), rank = bdl_posterior_rank(belief);
  const auto d = static_cast<std::size_t>(dimension), r = static_cast<std::size_t>(rank);
  std::vector<double> mean(d), columns(d * r), diagonal(d, algorithm.prior_precision);
  check(bdl_posterior_mean(belief, bdl_f64_out(mean.data(), 1, dimension)));
  std::mt19937_64 engine(static_cast<uint64_t>(algorithm.seed));
  std::normal_distribution<double> normal(
      0, std::sqrt(algorithm.prior_precision / (10 * static_cast<double>(rank))));
  for (double& value : columns) value = normal(engine);
  for (std::size_t i = 0; i < d * r; ++i) diagonal[i / r] -= columns[i] * columns[i];
  check(bdl_posterior_set_low_rank(belief, bdl_f64(mean.data(), 1, dimension),
                                   bdl_f64(columns.data(), dimension, rank),
                                   bdl_f64(diagonal.data(), 1, dimension)));
}

}  // namespace

Learner::Learner(const Network& network, const Algorithm& algorithm, const char* score, int64_t data_size)
    : regression_(network.likelihood == BDL_GAUSSIAN) {
  bdl_model* model = nullptr;
  check(bdl_model_create_mlp(network.dtype, network.sizes.data(), static_cast<int32_t>(network.sizes.size()),
                             BDL_RELU, 1, network.likelihood, &model));
  model_.reset(model);
  double noise = network.noise_precision;
  if (regression_) check(bdl_model_set_noise_precision(model, bdl_f64(&noise, 1, 1)));
  belief_.reset(create_belief(network, bdl_model_parameters(model), algorithm.family));
  bdl_optimizer* optimizer = nullptr;
  const char* const method = algorithm.rule == "bbb" ? "online-bbb" : algorithm.rule.c_str();
  check(bdl_optimizer_create(model, belief_.get(), method, data_size, &optimizer));
  optimizer_.reset(optimizer);
  check(bdl_optimizer_set_choice(optimizer, "curvature", algorithm.curvature.c_str()));
  if (score) check(bdl_optimizer_set_choice(optimizer, "score", score));
  set("learning_rate", algorithm.rate);
  set("guard", 0);  // the published algorithms: no line search, one prior precision for all
  set("prior_precision", algorithm.prior_precision);
  check(bdl_optimizer_set_choice(optimizer, "prior_scaling", "unit"));
  if (algorithm.rule == "blr" || algorithm.rule == "bbb")
    check(bdl_optimizer_set_int(optimizer, "iterations", algorithm.iterations));
  if (algorithm.curvature.starts_with("mc-"))
    check(bdl_optimizer_set_int(optimizer, "samples", algorithm.samples));
  check(bdl_optimizer_set_int(optimizer, "seed", algorithm.seed));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  check(bdl_optimizer_set_int(optimizer, "learn_noise", 0));
  check(bdl_optimizer_set_choice(optimizer, "initialization", network.initialization));
  check(bdl_optimizer_initialize(optimizer));
  const bool plain = algorithm.rule == "bog" || algorithm.rule == "bbb";
  if (plain && algorithm.family.starts_with("low-rank-")) fill_low_rank(belief_.get(), algorithm);
}

bool Learner::observe(const Data& data, int64_t first, int64_t count) const {
  const bdl_status status = bdl_optimizer_observe(optimizer(), data.inputs_of(first, count),
                                                  data.targets_of(first, count), bdl_none_out());
  if (status != BDL_ERROR_DIVERGED) check(status);
  return status == BDL_OK;
}

Score evaluate(const Learner& learner, const Data& test, bdl_predict_method method, int64_t samples) {
  const int64_t count = test.rows(), outputs = bdl_model_outputs(learner.model());
  std::vector<double> log_density(test.y.size()), mean(test.y.size() * static_cast<std::size_t>(outputs));
  const bdl_matrix x = test.inputs_of(0, count), y = test.targets_of(0, count);
  const bdl_matrix_out densities = bdl_f64_out(log_density.data(), count, 1);
  const bdl_matrix_out means = bdl_f64_out(mean.data(), count, outputs);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  Score score{nothing, nothing};
  if (bdl_predict_log_density(learner.model(), learner.belief(), x, y, method, samples, 1, densities) !=
          BDL_OK ||
      bdl_metric_log_predictive_density(bdl_as_input(densities), &score.nlpd, nullptr) != BDL_OK)
    return score;
  score.nlpd = -score.nlpd;
  check(bdl_predict(learner.model(), learner.belief(), x, method, samples, 1, means, bdl_none_out(),
                    bdl_none_out()));
  if (learner.regression()) {
    check(bdl_metric_rmse(bdl_as_input(means), y, &score.error));
  } else {
    check(bdl_metric_accuracy(bdl_as_input(means), y, &score.error));
    score.error = 1 - score.error;
  }
  return score;
}

}  // namespace bong
