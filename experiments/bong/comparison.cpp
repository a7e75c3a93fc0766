// The paper's comparison of rules, curvature estimates and families: tuning, the streams, the sensitivity to
// the learning rate.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "experiments.hpp"
#include "streams.hpp"

namespace bong {
namespace {

constexpr std::array rules = {"bong", "blr", "bog", "bbb"};
constexpr std::array curvatures = {"lin-hess", "mc-ef"};
constexpr std::array families = {"diagonal", "low-rank-10"};
constexpr int64_t tuning_seed = 100;

/// Plain gradients of diagonal families are taken with respect to Lambda mu, so that their rates have the
/// unit of a squared precision; those of low-rank families move mu itself.
std::vector<double> rates_of(const Row& names, double prior_precision) {
  if (names[1] == "bong") return {1};
  if (names[1] == "blr") return {0.03, 0.1, 0.3, 1};
  if (names[3] != "diagonal") return {3e-4, 1e-3, 3e-3, 1e-2, 3e-2};
  std::vector<double> rates;
  for (const double rate : {1e-3, 1e-2, 1e-1, 1.}) rates.push_back(rate * std::pow(prior_precision, 2));
  return rates;
}

/// The inner loops of blr and bbb are what costs most: ten iterations only on the small network.
int iterations_of(const Task& task, const std::string& rule) {
  if (rule == "bong" || rule == "bog") return 1;
  return task.name == "mnist" ? 4 : 10;
}

/// All 10,000 digits by every algorithm and seed would take an hour: bong does them, the others once.
int64_t length_of(const Task& task, const Row& names, int64_t seed) {
  return task.name == "mnist" && names[1] != "bong" && seed > 1 ? 1000 : task.stream.rows();
}

std::vector<Task> read_tasks(const Settings& settings) {
  std::vector<Task> tasks;
  for (const char* name : {"sarcos", "mnist"}) tasks.push_back(read_task(settings.data, name));
  if (settings.quick)
    for (Task& task : tasks)
      for (Data* held_out : {&task.validation, &task.test}) {
        held_out->y.resize(50);
        held_out->x.resize(held_out->y.size() * static_cast<std::size_t>(held_out->inputs));
      }
  return tasks;
}

void run_all(const Settings& settings, const std::vector<Run>& runs, const Judgement& judgement,
             bool validate, Table& table) {
  in_parallel(settings.threads, runs.size(), [&](std::size_t i) {
    Judgement own = judgement;
    own.held_out = validate ? &runs[i].task->validation : &runs[i].task->test;
    run_stream(runs[i], own, table);
  });
}

/// For each task, rule, curvature and family: the prior precision and the rate with the best last validation
/// score.
using Choice = std::map<Row, std::pair<double, double>>;

Choice best_of(const std::string& path) {
  Choice choice;
  std::map<Row, double> best;
  for (const Row& row : read_csv(path)) {
    if (row.size() != run_header.size() || row[7] != row[9]) continue;  // length, n
    const Row key(row.begin(), row.begin() + 4);
    const double nlpd = std::atof(row[10].c_str());
    if (std::isnan(nlpd) || (best.contains(key) && nlpd >= best[key])) continue;
    best[key] = nlpd;
    choice[key] = {std::atof(row[4].c_str()), std::atof(row[5].c_str())};
  }
  return choice;
}

Algorithm algorithm_of(const Task& task, const Row& names, std::pair<double, double> scales, int64_t seed) {
  return {names[1], names[2], names[3], scales.second, iterations_of(task, names[1]), 10, scales.first, seed};
}

/// Calls visit(task, names) for every algorithm, the slowest first, so that threads end together.
template <class Visit>
void for_each_algorithm(const std::vector<Task>& tasks, const Visit& visit) {
  for (std::size_t t = tasks.size(); t-- > 0;)
    for (std::size_t f = families.size(); f-- > 0;)
      for (const char* rule : {rules[1], rules[3], rules[0], rules[2]})
        for (const char* curvature : curvatures)
          visit(tasks[t], Row{tasks[t].name, rule, curvature, families[f]});
}

std::pair<double, double> chosen(const Choice& choice, const Row& names) {
  const auto found = choice.find(names);
  if (found == choice.end())
    stop("no tuned " + names[1] + " " + names[2] + " " + names[3] + ": run tune first");
  return found->second;
}

}  // namespace

void tune(const Settings& settings) {
  const std::vector<Task> tasks = read_tasks(settings);
  const int64_t length = settings.quick ? 12 : 500;
  const Judgement judgement{{length}, nullptr, 0};
  const std::string priors = settings.results + "/prior.csv";
  std::vector<Run> runs;
  for_each_algorithm(tasks, [&](const Task& task, const Row& names) {
    if (names[1] != "bong") return;
    for (const double precision : {3., 10., 30., 100., 300., 1000.})
      runs.push_back({&task, algorithm_of(task, names, {precision, 1}, tuning_seed), length});
  });
  {
    Table table(priors, run_header, run_keys);
    run_all(settings, runs, judgement, true, table);
  }
  const Choice prior = best_of(priors);
  runs.clear();
  for_each_algorithm(tasks, [&](const Task& task, const Row& names) {
    const double bongs = chosen(prior, {names[0], "bong", names[2], names[3]}).first;
    std::set<double> precisions = {bongs};
    if (names[1] != "bong") precisions.insert({30, 100});
    for (const double precision : precisions)
      for (const double rate : rates_of(names, precision))
        runs.push_back({&task, algorithm_of(task, names, {precision, rate}, tuning_seed), length});
  });
  Table table(settings.results + "/tune.csv", run_header, run_keys);
  run_all(settings, runs, judgement, true, table);
}

void stream(const Settings& settings) {
  const std::vector<Task> tasks = read_tasks(settings);
  const Choice choice = best_of(settings.results + "/tune.csv");
  const int64_t seeds = settings.quick ? 1 : 5;
  std::vector<Run> runs;
  for (int64_t seed = seeds; seed > 0; --seed)
    for_each_algorithm(tasks, [&](const Task& task, const Row& names) {
      runs.push_back({&task, algorithm_of(task, names, chosen(choice, names), seed),
                      settings.quick ? 20 : length_of(task, names, seed)});
    });
  const Judgement judgement{{100, 500, 1000}, nullptr, settings.quick ? 3 : 30};
  Table table(settings.results + "/stream.csv", run_header, run_keys);
  run_all(settings, runs, judgement, false, table);
}

void sensitivity(const Settings& settings) {
  const Task task = read_task(settings.data, "sarcos");
  const Choice choice = best_of(settings.results + "/tune.csv");
  const int64_t length = settings.quick ? 20 : 1000, seeds = settings.quick ? 1 : 3;
  std::vector<Run> runs;
  const auto add = [&](const char* rule, const char* curvature, double rate, int iterations) {
    const double precision = chosen(choice, {task.name, rule, curvature, "low-rank-10"}).first;
    for (int64_t seed = 1; seed <= seeds; ++seed)
      runs.push_back(
          {&task, {rule, curvature, "low-rank-10", rate, iterations, 10, precision, seed}, length});
  };
  for (const char* curvature : curvatures) {
    add("bong", curvature, 1, 1);
    for (const int iterations : {10, 1}) {
      for (const double rate : {0.005, 0.01, 0.03, 0.1, 0.3, 0.5, 1.})
        add("blr", curvature, rate, iterations);
      for (const double rate : {1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 1.})
        add("bbb", curvature, rate, iterations);
    }
    for (const double rate : {1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 1.}) add("bog", curvature, rate, 1);
  }
  Table table(settings.results + "/sensitivity.csv", run_header, run_keys);
  run_all(settings, runs, {{length}, nullptr, 0}, false, table);
}

}  // namespace bong
