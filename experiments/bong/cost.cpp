// Running time of one observation against the number of parameters, as the paper's figure 4: networks of one
// hidden layer on a synthetic regression stream, one inner iteration everywhere.
#include <algorithm>
#include <limits>
#include <random>

#include "experiments.hpp"
#include "learner.hpp"
#include "support/dataset.h"
#include "support/table.hpp"

namespace bong {
namespace {

constexpr int64_t inputs = 98;  // so that H hidden units make 100 H + 1 parameters

Data synthetic(int64_t count) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  Data data{{}, {}, inputs};
  std::vector<double> x(static_cast<std::size_t>(inputs));
  for (int64_t i = 0; i < count; ++i) {
    for (double& value : x) value = normal(engine);
    data.append(x.data(), x[0] - x[1] + 0.1 * normal(engine));
  }
  return data;
}

/// The best of several repetitions, each at least `least` seconds long.
double seconds_per_observation(const Learner& learner, const Data& data, double least, int repetitions) {
  constexpr int64_t warm_up = 12;  // fills the low-rank columns
  if (!learner.observe(data, 0, warm_up)) stop("the timed algorithm diverged");
  int64_t block = 1;
  double best = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < repetitions;) {
    const double start = seconds_now();
    if (!learner.observe(data, warm_up, block)) stop("the timed algorithm diverged");
    const double taken = seconds_now() - start;
    if (taken < least && warm_up + 2 * block <= data.rows()) {
      block *= 2;
      continue;
    }
    best = std::min(best, taken / static_cast<double>(block));
    ++repetition;
  }
  return best;
}

}  // namespace

void cost(const Settings& settings) {
  const Data data = synthetic(5000);
  Table table(settings.results + "/cost.csv", {"rule", "curvature", "family", "parameters", "seconds"}, 4);
  for (const int64_t hidden : {1, 3, 10, 30, 100, 300, 1000}) {
    const int64_t parameters = (inputs + 2) * hidden + 1;
    if (parameters > (settings.quick ? 400 : 100001)) continue;
    for (const char* family : {"diagonal", "diagonal-moment", "low-rank-10", "full", "full-moment"})
      for (const char* rule : {"bong", "blr", "bog", "bbb"})
        for (const char* curvature : {"lin-hess", "mc-ef"}) {
          if (std::string(family).starts_with("full") && parameters > 1001) continue;
          const Row key = {rule, curvature, family, std::to_string(parameters)};
          if (table.done(key)) continue;
          const Network network{{inputs, hidden, 1}, BDL_GAUSSIAN, 1, BDL_F64};
          // Steps too short to diverge: the work is the same. bong has no rate.
          const double rate = std::string(rule) == "bong" ? 1 : std::string(rule) == "blr" ? 0.5 : 1e-8;
          const Learner learner(network, {rule, curvature, family, rate, 1, 10, 100, 1}, "none");
          Row row = key;
          row.push_back(number(settings.quick ? seconds_per_observation(learner, data, 1e-4, 1)
                                              : seconds_per_observation(learner, data, 0.02, 7)));
          table.add({row});
        }
  }
}

}  // namespace bong
