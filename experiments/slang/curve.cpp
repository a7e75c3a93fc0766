// Figure 8: a network of 10 hidden units learns y = x^3 + noise from 30 points, with its predictive bands.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "experiments.hpp"
#include "logistic.hpp"
#include "support/dataset.h"
#include "support/table.hpp"

namespace slang {
namespace {

constexpr double noise = 3, x_scale = 4, y_scale = 64;  ///< the network sees x / 4 and y / 64
constexpr int64_t grid = 121, samples = 100, last_steps = 2000, look_every = 10;

Data cubic(int64_t seed) {
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  std::uniform_real_distribution<double> uniform(-4, 4);
  std::normal_distribution<double> normal(0, noise);
  Data data{{}, {}, 1};
  for (int i = 0; i < 30; ++i) {
    const double x = uniform(engine), input = x / x_scale;
    data.append(&input, (x * x * x + normal(engine)) / y_scale);
  }
  return data;
}

Learner make_learner(const Method& method, int64_t rows) {
  Learner learner = network_learner(1, 10, BDL_GAUSSIAN, method, rows);
  const double precision = std::pow(y_scale / noise, 2);
  check(bdl_model_set_noise_precision(learner.model.get(), bdl_f64(&precision, 1, 1)));
  check(bdl_optimizer_set_int(learner.optimizer.get(), "minibatch", rows));
  return learner;
}

/// The last steps do not settle, so the posterior of the largest ELBO among them is kept, as the paper does.
struct Search {
  const Learner* learner;
  const Data* data;
  int64_t from;
  std::vector<Row> trace;
  double best = std::numeric_limits<double>::infinity();
  Posterior kept;
};

int32_t look(void* user, const bdl_optimizer* optimizer) {
  Search& search = *static_cast<Search*>(user);
  int64_t step = 0;
  check(bdl_optimizer_progress(optimizer, &step, nullptr, nullptr));
  if (step <= search.from) return 0;
  const double value = minus_elbo(*search.learner, *search.data, samples);
  search.trace.push_back({std::to_string(step), number(value)});
  if (value >= search.best) return 0;
  search.best = value;
  bdl_posterior* copy = nullptr;
  check(bdl_posterior_copy(search.learner->posterior.get(), &copy));
  search.kept.reset(copy);
  return 0;
}

std::vector<Row> bands(const Learner& learner, const Posterior& q) {
  const auto count = static_cast<std::size_t>(grid);
  std::vector<double> x(count), mean(count), function(count), all(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = (-6 + 0.1 * static_cast<double>(i)) / x_scale;
  const auto column = [](std::vector<double>& v) { return bdl_f64_out(v.data(), grid, 1); };
  check(bdl_predict(learner.model.get(), q.get(), bdl_f64(x.data(), grid, 1), BDL_MONTE_CARLO, 1000, 1,
                    column(mean), column(function), column(all)));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back({number(x_scale * x[i]), number(y_scale * mean[i]),
                    number(y_scale * std::sqrt(function[i])),
                    number(y_scale * std::sqrt(function[i] + all[i]))});
  return rows;
}

void add_all(Table& table, const Row& key, std::vector<Row> rows) {
  for (Row& row : rows) row.insert(row.begin(), key.begin(), key.end());
  table.add(rows);
}

}  // namespace

void curve(const Settings& settings) {
  const std::vector<const char*> options = {"learn_noise=0",      "learn_prior=0", "schedule=power",
                                            "decay=0.51",         "samples=100",   "threads=1",
                                            "initial_precision=1"};
  const auto with = [&options](std::vector<const char*> more) {
    more.insert(more.end(), options.begin(), options.end());
    return more;
  };
  const auto slang = with({"learning_rate=1", "curvature_rate=0.1", "momentum=0.9"});
  const auto adam = with({"learning_rate=0.01", "momentum=0.9"});
  const std::vector<Method> methods = {
      {"SLANG", "slang", "low-rank", 1, 0, slang},
      {"SLANG", "slang", "low-rank", 5, 0, slang},
      {"BBB", "bbb", "low-rank", 0, 0, adam},
  };
  const Data data = cubic(1);
  Table table(settings.results + "/curve.csv", {"method", "rank", "x", "mean", "sd_function", "sd"}, 2);
  Table elbos(settings.results + "/curve-elbo.csv", {"method", "rank", "step", "minus_elbo"}, 2);
  Table points(settings.results + "/curve-data.csv", {"seed", "x", "y"}, 1);
  if (!points.done({"1"})) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < data.y.size(); ++i)
      rows.push_back({"1", number(x_scale * data.x[i]), number(y_scale * data.y[i])});
    points.add(rows);
  }
  for (const Method& method : methods) {
    const Row key = {method.label, std::to_string(method.rank)};
    if (table.done(key)) continue;
    const Learner learner = make_learner(method, data.rows());
    const int64_t steps = settings.quick ? 40 : 20000;
    Search search{&learner, &data, std::max<int64_t>(0, steps - last_steps), {}, INFINITY, nullptr};
    check(bdl_optimizer_set_int(learner.optimizer.get(), "progress_every", look_every));
    check(bdl_optimizer_fit(learner.optimizer.get(), data.all_inputs(), data.all_targets(), steps, look,
                            &search));
    if (!elbos.done(key)) add_all(elbos, key, search.trace);
    add_all(table, key, bands(learner, search.kept));
    std::fprintf(stderr, "curve: %s %s, -ELBO / N %.3f\n", method.label, key[1].c_str(), search.best);
  }
}

}  // namespace slang
