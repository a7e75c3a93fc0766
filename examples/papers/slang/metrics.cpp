// What Table 1 shows of the saved posteriors: the ELBO and predictions by exact one-dimensional integrals,
// and half the symmetric KL divergence to the exact full-Gaussian optimum of the same split.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>

#include "experiments.hpp"
#include "methods.hpp"

namespace slang {
namespace {

const Row header = {"data",     "method",           "rank", "split", "minus_elbo_paper", "minus_elbo",
                    "test_nll", "half_symmetric_kl"};

Posterior load(const std::string& path) {
  bdl_posterior* q = nullptr;
  check(bdl_load(path.c_str(), nullptr, nullptr, &q, nullptr));
  return Posterior(q);
}

double half_symmetric_kl(const Posterior& q, const Posterior& exact) {
  double forth = std::numeric_limits<double>::quiet_NaN(), back = forth;
  if (!exact) return forth;
  check(bdl_posterior_kl(q.get(), exact.get(), &forth));
  check(bdl_posterior_kl(exact.get(), q.get(), &back));
  return (forth + back) / 2;
}

/// -ELBO / N; the paper leaves out the bias's share of the prior's normaliser.
std::pair<double, double> minus_elbo(const Learner& judge, const Posterior& q, const Data& train) {
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(judge.model.get(), q.get(), "slang", train.rows(), &optimizer));
  const Optimizer owned(optimizer);
  std::vector<double> prior(static_cast<std::size_t>(train.inputs));
  check(bdl_optimizer_get_prior(judge.optimizer.get(), row_of(prior)));
  check(bdl_optimizer_set_prior(optimizer, row_of(prior)));
  double likelihood = 0, kl = 0;
  check(bdl_optimizer_elbo(optimizer, train.all_inputs(), train.all_targets(), 0, 1, &likelihood, &kl));
  const auto n = static_cast<double>(train.rows());
  const double exact = (kl - likelihood) / n;
  return {exact + std::log(bias_precision) / (2 * n), exact};
}

double test_nll(const Learner& judge, const Posterior& q, const Data& test) {
  std::vector<double> density(test.y.size());
  const bdl_matrix column = bdl_f64(density.data(), test.rows(), 1);
  check(bdl_predict_log_density(judge.model.get(), q.get(), test.all_inputs(), test.all_targets(),
                                BDL_QUADRATURE, 0, 1, column));
  double mean = 0;
  check(bdl_metric_log_predictive_density(column, &mean, nullptr));
  return -mean;
}

}  // namespace

void metrics(const Settings& settings) {
  const std::string path = settings.results + "/metrics.csv", folder = settings.results + "/posteriors/";
  std::filesystem::remove(path);
  Table table(path, header, 4);
  const Method any = {"", "slang", "low-rank", 0, {}}, best = {"exact", "exact-full", "full", 0, {}};
  for (const DataSet& set : data_sets())
    for (int split = 1; split <= set.splits; ++split) {
      const Split data = read_split(settings.data, set, split);
      const Learner judge = logistic_learner(set, any, data.train.rows(), 1);
      const std::string optimum = folder + posterior_file(set, best, split);
      Posterior exact;
      if (std::filesystem::exists(optimum)) exact = load(optimum);
      for (const Method& method : methods()) {
        const std::string file = folder + posterior_file(set, method, split);
        if (!std::filesystem::exists(file)) continue;
        const Posterior q = load(file);
        const auto [paper, elbo] = minus_elbo(judge, q, data.train);
        Row row = key_of(set, method, split);
        for (const double value : {paper, elbo, test_nll(judge, q, data.test), half_symmetric_kl(q, exact)})
          row.push_back(number(value, 10));
        table.add({row});
      }
    }
}

}  // namespace slang
