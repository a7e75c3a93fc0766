// Tables 2 to 4, figures 2 and 3: every method beside the others after equal steps.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "learner.hpp"
#include "support/class_scores.hpp"
#include "support/table.hpp"

namespace elrg {
namespace {

using support::check;

struct Job {
  const Experiment& experiment;
  const Method& method;
  const Settings& settings;
  const support::Split& data;
  support::Table& table;

  support::Row key(int64_t epochs) const {
    return {experiment.name, method.label, std::to_string(settings.seed), std::to_string(epochs)};
  }
};

/// A row of the table, and the checkpoint to go on from.
void record(const Job& job, const Learner& learner, const std::string& path, int64_t done,
            double seconds_per_epoch) {
  const support::ClassScores scores = support::score_classes(learner.model.get(), learner.posterior.get(),
                                                             job.data.test, job.method.draws, 15);
  check(bdl_save(path.c_str(), nullptr, nullptr, learner.optimizer.get()));
  support::Row row = job.key(done);
  for (const double value : {scores.error, scores.log_likelihood, scores.calibration, seconds_per_epoch})
    row.push_back(support::number(value, 4));
  job.table.add({row});
  std::printf(
      "%s %-16s seed %s %4lld epochs: error %5.2f %%  log likelihood %.4f  ECE %.4f  %.1f s an epoch\n",
      row[0].c_str(), row[1].c_str(), row[2].c_str(), static_cast<long long>(done), scores.error,
      scores.log_likelihood, scores.calibration, seconds_per_epoch);
  std::fflush(stdout);
}

/// Some epochs at a time, each with a row of the table; natural gradients plan their whole course.
void run(const Job& job) {
  const support::Images& images = job.data.train;
  const int64_t epochs = job.settings.epochs > 0 ? job.settings.epochs : job.experiment.epochs;
  const bool is_planned = job.method.family == Family::low_rank;
  const int64_t every = is_planned ? epochs : std::min(epochs, job.settings.every);
  const std::string path = checkpoint(job.settings, job.experiment, job.method);
  int64_t done = 0;
  while (done + every <= epochs && job.table.done(job.key(done + every))) done += every;
  if (done + every > epochs) return;
  if (!std::filesystem::exists(path)) done = 0;
  const Learner learner =
      done > 0 ? resume(path) : begin(job.experiment, job.method, images, job.settings.seed);
  while (done + every <= epochs) {
    const auto start = std::chrono::steady_clock::now();
    check(bdl_optimizer_fit(learner.optimizer.get(), images.x(0, images.count()), images.y(0, images.count()),
                            every, nullptr, nullptr));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    done += every;
    record(job, learner, path, done, seconds.count() / static_cast<double>(every));
  }
}

}  // namespace

void train(const Experiment& experiment, const Settings& settings) {
  const support::Split data = settings.quick ? support::stand_in_split(experiment.set, 100, 50)
                                             : support::read_split(experiment.set, settings.data);
  support::Table table(
      settings.results + "/elrg.csv",
      {"experiment", "method", "seed", "epochs", "error", "log_likelihood", "ece", "seconds_per_epoch"}, 4);
  for (const char* label : experiment.run)
    if (settings.only.empty() || settings.only == label)
      run({experiment, find_method(label), settings, data, table});
}

}  // namespace elrg
