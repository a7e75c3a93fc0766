#include "learner.hpp"

#include <algorithm>
#include <cstring>

namespace elrg {

using support::check;
using support::Images;

namespace {

support::Model make_model(const Experiment& experiment, const Images& train) {
  const char* text = experiment.network;
  bdl_model* model = nullptr;
  if (std::strncmp(text, "input", 5) != 0)
    check(bdl_network_description(experiment.network, train.channels, train.rows, train.columns, 10, &text));
  check(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  support::Model owned(model);
  const double half = 127.5;  // pixels from -1 to 1; colours as their channels vary
  if (train.channels == 1)
    check(bdl_model_set_standardization(model, bdl_f64(&half, 1, 1), bdl_f64(&half, 1, 1), bdl_none(),
                                        bdl_none()));
  else
    check(bdl_model_standardize(model, train.x(0, train.count()), bdl_none()));
  return owned;
}

}  // namespace

Learner begin(const Experiment& experiment, const Method& method, const Images& train, int64_t seed) {
  Learner learner{make_model(experiment, train), nullptr, nullptr};
  bdl_posterior* posterior = nullptr;
  check(method.family == Family::low_rank_moment
            ? bdl_posterior_create_layerwise_low_rank_moment(learner.model.get(), method.rank, &posterior)
            : bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(learner.model.get()), method.rank,
                                            &posterior));
  learner.posterior.reset(posterior);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(learner.model.get(), posterior, method.method, train.count(), &optimizer));
  learner.optimizer.reset(optimizer);
  if (method.family != Family::low_rank) {
    check(bdl_optimizer_set_text(optimizer, "learning_rate=1e-3"));
    check(bdl_optimizer_set_text(optimizer, experiment.options));
  }
  if (method.family == Family::low_rank_moment)
    check(bdl_optimizer_set_text(optimizer, experiment.of_variances));
  check(bdl_optimizer_set_text(optimizer, method.options));
  check(bdl_optimizer_set_int(optimizer, "minibatch", std::min(experiment.minibatch, train.count())));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  return learner;
}

Learner resume(const std::string& path) {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  check(bdl_load(path.c_str(), nullptr, &model, &posterior, &optimizer));
  return {support::Model(model), support::Posterior(posterior), support::Optimizer(optimizer)};
}

std::string checkpoint(const Settings& settings, const Experiment& experiment, const Method& method) {
  std::string name = std::string(experiment.name) + "-" + method.label + "-" + std::to_string(settings.seed);
  std::ranges::replace(name, ' ', '-');
  return settings.results + "/" + name + ".safetensors";
}

}  // namespace elrg
