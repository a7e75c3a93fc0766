// What Table 1 shows of the saved posteriors: the ELBO and predictions by exact one-dimensional integrals,
// and half the symmetric KL divergence to the exact full-Gaussian optimum of the same split.
#include <filesystem>
#include <limits>

#include "experiments.hpp"
#include "methods.hpp"

namespace slang {
namespace {

double half_symmetric_kl(const Posterior& q, const Posterior& exact) {
  double forth = std::numeric_limits<double>::quiet_NaN(), back = forth;
  if (!exact) return forth;
  check(bdl_posterior_kl(q.get(), exact.get(), &forth));
  check(bdl_posterior_kl(exact.get(), q.get(), &back));
  return (forth + back) / 2;
}

}  // namespace

void metrics(const Settings& settings) {
  const std::string path = settings.results + "/metrics.csv";
  std::filesystem::remove(path);
  Table table(
      path,
      {"data", "method", "rank", "split", "minus_elbo_paper", "minus_elbo", "test_nll", "half_symmetric_kl"},
      4);
  for (const DataSet& set : data_sets())
    for (int split = 1; split <= set.splits; ++split) {
      const Split data = read_split(settings.data, set, split);
      const Posterior exact = load_posterior(settings.results, set, exact_method(), split);
      for (const Method& method : methods()) {
        Posterior q = load_posterior(settings.results, set, method, split);
        if (!q) continue;
        const double kl = half_symmetric_kl(q, exact);
        const Learner learner =
            logistic_learner(set, {"", "slang", "", 0, 0, {}}, data.train.rows(), 1, std::move(q));
        const double elbo = minus_elbo(learner, data.train);
        Row row = key_of(set, method, split);
        for (const double value :
             {elbo - bias_normaliser(data.train), elbo, test_nll(learner, data.test), kl})
          row.push_back(number(value, 10));
        table.add({row});
      }
    }
}

}  // namespace slang
