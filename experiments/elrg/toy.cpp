// Figure 1: what each factor is worth on two clouds of points.
#include <cmath>
#include <random>

#include "learner.hpp"
#include "support/table.hpp"

namespace elrg {
namespace {

using support::check;

struct Case {
  const char* method;
  int64_t rank;
};

constexpr Case cases[] = {{"mf-vi", 0}, {"elrg-d", 1}, {"elrg-d", 2}, {"elrg-d", 5},
                          {"elrg", 0},  {"elrg", 1},   {"elrg", 2},   {"elrg", 5}};

/// Half of the points N((0.5, -1), I), half N((1.5, -0.5), I / 4).
support::Data clouds(int64_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  support::Data data;
  data.inputs = 2;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_narrow = i % 2 == 1;
    const double scale = is_narrow ? 0.5 : 1;
    const double first = (is_narrow ? 1.5 : 0.5) + scale * normal(generator);
    const double point[] = {first, (is_narrow ? -0.5 : -1) + scale * normal(generator)};
    data.append(point, is_narrow ? 1 : 0);
  }
  return data;
}

/// Full batches, s from exp(-6), prior N(0, I).
Learner fit(const Case& of, const support::Data& data, int64_t seed, bool is_quick) {
  Learner learner;
  bdl_model* model = nullptr;
  check(bdl_model_create_network(BDL_F64, "input 2\ndense 10\nelu\ndense 1", BDL_BERNOULLI, &model));
  learner.model.reset(model);
  bdl_posterior* posterior = nullptr;
  check(bdl_posterior_create_layerwise_low_rank_moment(model, of.rank, &posterior));
  learner.posterior.reset(posterior);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(model, posterior, of.method, data.rows(), &optimizer));
  learner.optimizer.reset(optimizer);
  check(bdl_optimizer_set_text(
      optimizer, "learning_rate=0.02 final_rate=0 prior_scaling=unit prior_precision=1 threads=1"));
  check(bdl_optimizer_set_double(optimizer, "initial_precision", std::exp(6.0)));
  check(bdl_optimizer_set_int(optimizer, "minibatch", data.rows()));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  check(bdl_optimizer_fit(optimizer, data.all_inputs(), data.all_targets(), is_quick ? 50 : 3000, nullptr,
                          nullptr));
  return learner;
}

support::Row measure(const Case& of, int64_t seed, bool is_quick) {
  const support::Data train = clouds(200, static_cast<std::uint32_t>(seed)),
                      test = clouds(2000, static_cast<std::uint32_t>(seed + 1000));
  const Learner learner = fit(of, train, seed, is_quick);
  const int64_t draws = is_quick ? 10 : 10000;
  double expected = 0, kl = 0, test_likelihood = 0;
  check(bdl_optimizer_elbo(learner.optimizer.get(), train.all_inputs(), train.all_targets(), draws, 1,
                           &expected, &kl));
  std::vector<double> log_density(static_cast<std::size_t>(test.rows()));
  check(bdl_predict_log_density(learner.model.get(), learner.posterior.get(), test.all_inputs(),
                                test.all_targets(), BDL_MONTE_CARLO, draws / 5, 1,
                                bdl_f64_out(log_density.data(), test.rows(), 1)));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density.data(), test.rows(), 1), &test_likelihood,
                                          nullptr));
  support::Row row{of.method, std::to_string(of.rank), std::to_string(seed)};
  for (const double value : {expected - kl, expected, kl, test_likelihood})
    row.push_back(support::number(value));
  return row;
}

}  // namespace

void toy(const Settings& settings) {
  support::Table table(
      settings.results + "/figure1.csv",
      {"method", "rank", "seed", "elbo", "expected_log_likelihood", "kl", "test_log_likelihood"}, 3);
  for (int64_t seed = 1; seed <= (settings.quick ? 1 : 5); ++seed)
    for (const Case& of : cases)
      if (!table.done({of.method, std::to_string(of.rank), std::to_string(seed)}))
        table.add({measure(of, seed, settings.quick)});
}

}  // namespace elrg
