// Two streams whose truth moves: a linear regression whose weights walk at random, and two classes whose
// boundary turns. Filters that know about drift (process noise or forgetting, the amount chosen on a stream
// of its own) beside the same without, and a batch method that is fitted again and again.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>

#include "experiments.hpp"
#include "learner.hpp"
#include "support/table.hpp"

namespace bong {
namespace {

constexpr int64_t window = 50, refit_every = 50, recent = 100;
constexpr int64_t tuning_seed = 100;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

struct Stream {
  std::string name;
  Network network;
  double prior_precision;
  Data data;
  std::vector<double> oracle_nlpd, oracle_error;  ///< of the truth, by observation
};

Stream random_walk(int64_t seed, int64_t length) {
  constexpr int64_t inputs = 10;
  constexpr double noise = 0.3, step = 0.03;
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  std::normal_distribution<double> normal;
  Stream stream{
      "regression", {{inputs, 1}, BDL_GAUSSIAN, 1 / (noise * noise), BDL_F64}, 1, {{}, {}, inputs}, {}, {}};
  std::vector<double> weights(inputs), x(inputs);
  for (double& weight : weights) weight = normal(engine);
  for (int64_t t = 0; t < length; ++t) {
    double f = 0;
    const double error = noise * normal(engine);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = normal(engine);
      f += weights[i] * x[i];
      weights[i] += step * normal(engine);
    }
    stream.data.append(x.data(), f + error);
    stream.oracle_nlpd.push_back(0.5 * std::pow(error / noise, 2) +
                                 std::log(noise * std::sqrt(2 * std::numbers::pi)));
    stream.oracle_error.push_back(error * error);
  }
  return stream;
}

Stream turning_boundary(int64_t seed, int64_t length) {
  constexpr double turn = 1000, slope = 6;
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Stream stream{"classification", {{2, 10, 1}, BDL_BERNOULLI, 1, BDL_F64}, 1, {{}, {}, 2}, {}, {}};
  const double start = 2 * std::numbers::pi * uniform(engine);
  for (int64_t t = 0; t < length; ++t) {
    const double angle = start + 2 * std::numbers::pi * static_cast<double>(t) / turn;
    const std::array<double, 2> x = {normal(engine), normal(engine)};
    const double p = 1 / (1 + std::exp(-slope * (std::cos(angle) * x[0] + std::sin(angle) * x[1])));
    const bool positive = uniform(engine) < p;
    stream.data.append(x.data(), positive ? 1 : 0);
    stream.oracle_nlpd.push_back(-std::log(positive ? p : 1 - p));
    stream.oracle_error.push_back(positive == (p > 0.5) ? 0 : 1);
  }
  return stream;
}

Stream make_stream(const std::string& name, int64_t seed, int64_t length) {
  return name == "regression" ? random_walk(seed, length) : turning_boundary(seed, length);
}

struct Method {
  std::string name, family, dynamics;
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> list;
    for (const Method& filter :
         {Method{"ekf", "full", ""}, {"lo-fi", "low-rank-5", ""}, {"vd-ekf", "diagonal", ""}})
      for (const char* dynamics : {"none", "process_noise", "forgetting"})
        list.push_back({filter.name, filter.family, dynamics});
    list.push_back({"batch", "low-rank-5", "all"});
    list.push_back({"batch", "low-rank-5", "last 100"});
    list.push_back({"truth", "none", "none"});
    return list;
  }();
  return all;
}

std::vector<double> amounts_of(const std::string& dynamics) {
  if (dynamics == "process_noise") return {1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
  if (dynamics == "forgetting") return {0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999};
  return {0};
}

/// Sums over each window of minus the log density, and of the errors (of their squares in regression).
struct Windows {
  std::vector<double> nlpd, error;
};

Windows filter(const Stream& stream, const Method& method, double amount) {
  const Algorithm algorithm{method.name, "lin-hess", method.family, 1, 1, 10, stream.prior_precision, 1};
  const Learner learner(stream.network, algorithm, "linearized");
  if (method.dynamics != "none") learner.set(method.dynamics.c_str(), amount);
  Windows windows;
  double old_density = 0, old_error = 0;
  for (int64_t first = 0; first < stream.data.rows(); first += window) {
    if (!learner.observe(stream.data, first, window)) break;
    int64_t count = 0;
    double density = 0, error = 0;
    check(bdl_optimizer_prequential(learner.optimizer(), &count, &density, &error));
    density *= static_cast<double>(count);
    error = (learner.regression() ? error * error : error) * static_cast<double>(count);
    windows.nlpd.push_back(old_density - density);
    windows.error.push_back(error - old_error);
    old_density = density;
    old_error = error;
  }
  windows.nlpd.resize(static_cast<std::size_t>(stream.data.rows() / window), nothing);  // after divergence
  windows.error.resize(windows.nlpd.size(), nothing);
  return windows;
}

/// Fitted from scratch again and again, it predicts what comes until the next time.
Windows batch(const Stream& stream, const Method& method) {
  Windows windows;
  const Data& data = stream.data;
  windows.nlpd.assign(refit_every / window, nothing);
  windows.error = windows.nlpd;
  for (int64_t now = refit_every; now < data.rows(); now += refit_every) {
    const int64_t first = method.dynamics == "all" ? 0 : std::max<int64_t>(0, now - recent);
    Algorithm algorithm{"slang-ggn", "mc-ggn", method.family, 0.03, 1, 4, stream.prior_precision, now};
    const Learner learner(stream.network, algorithm, nullptr, now - first);
    check(bdl_optimizer_fit(learner.optimizer(), data.inputs_of(first, now - first),
                            data.targets_of(first, now - first), 60, nullptr, nullptr));
    for (int64_t next = now; next < now + refit_every; next += window) {
      Data test{{}, {}, data.inputs};
      for (int64_t i = next; i < next + window; ++i)
        test.append(data.x.data() + i * data.inputs, data.y[static_cast<std::size_t>(i)]);
      const Score score = evaluate(learner, test, BDL_LINEARIZED, 1);
      windows.nlpd.push_back(score.nlpd * window);
      windows.error.push_back((learner.regression() ? score.error * score.error : score.error) * window);
    }
  }
  return windows;
}

Windows truth(const Stream& stream) {
  Windows windows;
  for (std::size_t t = 0; t < stream.oracle_nlpd.size(); ++t) {
    if (t % window == 0) {
      windows.nlpd.push_back(0);
      windows.error.push_back(0);
    }
    windows.nlpd.back() += stream.oracle_nlpd[t];
    windows.error.back() += stream.oracle_error[t];
  }
  return windows;
}

struct Job {
  std::string stream;
  Method method;
  double amount;
  int64_t seed, length;
};

void run_job(const Job& job, Table& table) {
  const Row key = {job.stream, job.method.name, job.method.dynamics, number(job.amount),
                   std::to_string(job.seed)};
  if (table.done(key)) return;
  const Stream stream = make_stream(job.stream, job.seed, job.length);
  const Windows windows = job.method.name == "truth"   ? truth(stream)
                          : job.method.name == "batch" ? batch(stream, job.method)
                                                       : filter(stream, job.method, job.amount);
  std::vector<Row> rows;
  for (std::size_t w = 0; w < windows.nlpd.size(); ++w) {
    Row row = key;
    row.push_back(std::to_string(static_cast<int64_t>(w + 1) * window));
    row.push_back(number(windows.nlpd[w] / window));
    row.push_back(number(windows.error[w] / window));
    rows.push_back(row);
  }
  table.add(rows);
}

/// The amount of each stream, method and dynamics with the best sum of log densities on the tuning stream.
std::map<Row, double> best_amounts(const std::string& path) {
  std::map<Row, double> totals, best, amounts;
  const std::vector<Row> rows = read_csv(path);
  for (const Row& row : rows)
    if (row[4] == std::to_string(tuning_seed))
      totals[Row(row.begin(), row.begin() + 4)] += std::atof(row[6].c_str());
  for (const auto& [names, total] : totals) {
    const Row key(names.begin(), names.begin() + 3);
    if (std::isnan(total) || (best.contains(key) && total >= best[key])) continue;
    best[key] = total;
    amounts[key] = std::atof(names[3].c_str());
  }
  return amounts;
}

}  // namespace

void drift(const Settings& settings) {
  const int64_t length = settings.quick ? 200 : 2000, seeds = settings.quick ? 1 : 5;
  const std::string path = settings.results + "/drift.csv";
  const Row header = {"stream", "method", "dynamics", "amount", "seed", "n", "nlpd", "error"};
  std::vector<Job> jobs;
  const std::array streams = {"regression", "classification"};
  for (const char* stream : streams)
    for (const Method& method : methods())
      if (method.name != "batch" && method.name != "truth")
        for (const double amount : amounts_of(method.dynamics))
          jobs.push_back({stream, method, amount, tuning_seed, length});
  {
    Table table(path, header, 5);
    in_parallel(settings.threads, jobs.size(), [&](std::size_t i) { run_job(jobs[i], table); });
  }
  std::map<Row, double> amounts = best_amounts(path);
  jobs.clear();
  for (const char* stream : streams)
    for (const Method& method : methods())
      for (int64_t seed = 1; seed <= seeds; ++seed)
        jobs.push_back({stream, method, amounts[{stream, method.name, method.dynamics}], seed, length});
  Table table(path, header, 5);
  in_parallel(settings.threads, jobs.size(), [&](std::size_t i) { run_job(jobs[i], table); });
}

}  // namespace bong
