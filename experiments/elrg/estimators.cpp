// Compares the estimators of the noise on one posterior: the ELBO, the predictions, and the time they take.
#include <algorithm>
#include <cmath>
#include <ctime>

#include "learner.hpp"
#include "support/table.hpp"

namespace elrg {
namespace {

using support::check;
using support::Images;

struct Bound {
  double expected_log_likelihood, kl;
};

/// Estimates the bound by an epoch at rate 0 on the first n images, as training does: with one draw an image.
Bound bound(const Learner& learner, const char* estimator, const Images& images, int64_t n, int64_t seed) {
  const char* const method = bdl_optimizer_method(learner.optimizer.get());
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(learner.model.get(), learner.posterior.get(), method, n, &optimizer));
  const support::Optimizer owned(optimizer);
  check(bdl_optimizer_set_text(optimizer, find_experiment("table3-mnist").options));
  check(bdl_optimizer_set_text(optimizer, "learning_rate=0 threads=1"));
  check(bdl_optimizer_set_choice(optimizer, "noise_estimator", estimator));
  check(bdl_optimizer_set_int(optimizer, "minibatch", std::min<int64_t>(n, 500)));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  check(bdl_optimizer_fit(optimizer, images.x(0, n), images.y(0, n), 1, nullptr, nullptr));
  Bound bound{};
  check(bdl_optimizer_running_elbo(optimizer, &bound.expected_log_likelihood, &bound.kl));
  return bound;
}

/// Mean and standard error over repetitions with noise of their own.
support::Row compare_bounds(const Learner& learner, const char* estimator, const Images& images,
                            bool is_quick) {
  const int64_t n = std::min<int64_t>(images.count(), 10000), repetitions = is_quick ? 2 : 20;
  double sum = 0, squares = 0, kl = 0;
  const std::clock_t start = std::clock();  // of the processor: other programs do not count
  for (int64_t seed = 1; seed <= repetitions; ++seed) {
    const Bound of_seed = bound(learner, estimator, images, n, seed);
    sum += of_seed.expected_log_likelihood;
    squares += of_seed.expected_log_likelihood * of_seed.expected_log_likelihood;
    kl = of_seed.kl;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto count = static_cast<double>(repetitions);
  const double mean = sum / count, error = std::sqrt((squares / count - mean * mean) / (count - 1));
  support::Row row;
  for (const double value : {mean, error, kl, seconds / count / static_cast<double>(n)})
    row.push_back(support::number(value));
  return row;
}

struct Predictions {
  std::vector<double> probabilities;
  double log_likelihood;
};

Predictions predict(const Learner& learner, const Images& test, bdl_predict_method by, int64_t draws,
                    uint64_t seed) {
  const int64_t n = test.count();
  Predictions out{std::vector<double>(static_cast<std::size_t>(10 * n)), 0};
  check(bdl_predict_classes(learner.model.get(), learner.posterior.get(), test.x(0, n), by, draws, seed,
                            bdl_f64_out(out.probabilities.data(), n, 10), bdl_none_out(), bdl_none_out()));
  for (int64_t i = 0; i < n; ++i) {
    const auto label = static_cast<int64_t>(test.labels[static_cast<std::size_t>(i)]);
    out.log_likelihood += std::log(out.probabilities[static_cast<std::size_t>(10 * i + label)]);
  }
  out.log_likelihood /= static_cast<double>(n);
  return out;
}

/// Compares predictions by draws of the parameters with two seeds, which differ by chance only, with those by
/// local noise.
std::vector<support::Row> compare_predictions(const Learner& learner, const Images& test, bool is_quick) {
  const int64_t draws = is_quick ? 2 : 200;
  const Predictions exact = predict(learner, test, BDL_MONTE_CARLO, draws, 1);
  std::vector<support::Row> rows{{"exact", support::number(exact.log_likelihood), "0"}};
  for (const bdl_predict_method by : {BDL_MONTE_CARLO, BDL_LOCAL_MONTE_CARLO}) {
    const Predictions other = predict(learner, test, by, draws, 2);
    double difference = 0;
    for (std::size_t i = 0; i < exact.probabilities.size(); ++i)
      difference += std::abs(other.probabilities[i] - exact.probabilities[i]);
    difference /= static_cast<double>(exact.probabilities.size());
    rows.push_back({by == BDL_MONTE_CARLO ? "exact (other draws)" : "local",
                    support::number(other.log_likelihood), support::number(difference)});
  }
  return rows;
}

support::Row joined(support::Row head, const support::Row& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace

void compare_estimators(const Settings& settings) {
  const support::Split data = settings.quick ? support::stand_in_split("mnist", 100, 50)
                                             : support::read_split("mnist", settings.data);
  support::Table bounds(
      settings.results + "/estimators.csv",
      {"posterior", "estimator", "expected_log_likelihood", "error", "kl", "seconds_per_image"}, 2),
      predictions(settings.results + "/predictions.csv",
                  {"posterior", "estimator", "log_likelihood", "difference"}, 1);
  for (const char* label : {"elrg K=2", "mf-vi"}) {
    const Learner learner = resume(checkpoint(settings, find_experiment("table3-mnist"), find_method(label)));
    for (const char* estimator : {"local", "weights", "flipout", "shared"})
      if (!bounds.done({label, estimator}))
        bounds.add(
            {joined({label, estimator}, compare_bounds(learner, estimator, data.train, settings.quick))});
    if (predictions.done({label})) continue;
    std::vector<support::Row> rows;
    for (const support::Row& row : compare_predictions(learner, data.test, settings.quick))
      rows.push_back(joined({label}, row));
    predictions.add(rows);
  }
}

}  // namespace elrg
