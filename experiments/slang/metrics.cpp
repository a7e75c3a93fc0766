// Computes the scores of Table 1 for the saved posteriors: the ELBO and predictions by exact one-dimensional
// integrals, and half the symmetric KL divergence to the exact full-Gaussian optimum of the same split.
#include "experiments.hpp"
#include "methods.hpp"

namespace slang {
namespace {

double half_symmetric_kl(const Posterior& q, const Posterior& exact) {
  double forth = 0, back = 0;
  check(bdl_posterior_kl(q.get(), exact.get(), &forth));
  check(bdl_posterior_kl(exact.get(), q.get(), &back));
  return (forth + back) / 2;
}

}  // namespace

void metrics(const Settings& settings) {
  Table table(
      settings.results + "/metrics.csv",
      {"data", "method", "rank", "split", "minus_elbo_paper", "minus_elbo", "test_nll", "half_symmetric_kl"},
      4);
  for (const DataSet& set : data_sets())
    for (int split = 1; split <= set.splits; ++split) {
      const Posterior exact = load_posterior(settings.results, set, exact_method(), split);
      if (!exact) continue;
      const Split data = read_split(settings.data, set, split);
      for (const Method& method : methods()) {
        Row row = key_of(set, method, split);
        if (table.done(row)) continue;
        Posterior q = load_posterior(settings.results, set, method, split);
        if (!q) continue;
        const double kl = half_symmetric_kl(q, exact);
        const Learner learner =
            logistic_learner(set, {"", "slang", "", 0, 0, {}}, data.train.rows(), 1, std::move(q));
        const double elbo = minus_elbo(learner, data.train);
        for (const double value :
             {elbo - bias_normaliser(data.train), elbo, test_nll(learner, data.test), kl})
          row.push_back(number(value, 10));
        table.add({row});
      }
    }
}

}  // namespace slang
