// Training for Tables 1, 4, 6 and 7. Posteriors are kept, so that metrics can be computed again without it.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments.hpp"
#include "methods.hpp"
#include "support/dataset.h"
#include "support/table.hpp"

namespace slang {
namespace {

struct Job {
  const DataSet* set;
  const Method* method;
  int split;
};

/// Stochastic runs end after a number of steps that is not a whole number of epochs.
int32_t end_course(void*, const bdl_optimizer*) {
  return 1;
}

/// The posterior before a deterministic step, in units of which the step is judged.
struct Fixpoint {
  const bdl_posterior* q;
  std::vector<double> mean, precision;
};

/// Ends where no mean moves by more than 1e-10 of its standard deviation, and no precision by as much of
/// itself.
int32_t end_at_fixpoint(void* user, const bdl_optimizer*) {
  Fixpoint& last = *static_cast<Fixpoint*>(user);
  std::vector<double> mean(last.mean), precision(last.precision);
  check(bdl_posterior_mean(last.q, row_out(mean)));
  check(bdl_posterior_precision_diagonal(last.q, row_out(precision)));
  double moved = 0;
  for (std::size_t i = 0; i < mean.size(); ++i)
    moved = std::max({moved, std::abs(mean[i] - last.mean[i]) * std::sqrt(precision[i]),
                      std::abs(precision[i] - last.precision[i]) / precision[i]});
  last.mean.swap(mean);
  last.precision.swap(precision);
  return moved < 1e-10;
}

int64_t train(const Learner& learner, const DataSet& set, const Method& method, const Data& data,
              bool quick) {
  bdl_optimizer* const optimizer = learner.optimizer.get();
  const bool stochastic = method.iterations == 0;
  const int64_t epochs = quick ? 3 : stochastic ? 10000 : method.iterations;
  const int64_t minibatch = stochastic ? set.minibatch : data.rows();
  const bool is_exact = std::string(method.name).starts_with("exact");
  if (!is_exact) check(bdl_optimizer_set_int(optimizer, "minibatch", minibatch));
  check(
      bdl_optimizer_set_int(optimizer, "progress_every", stochastic ? epochs * data.rows() / minibatch : 1));
  // Methods without options stop by themselves.
  const bdl_progress_fn end = stochastic ? end_course : method.options.empty() ? nullptr : end_at_fixpoint;
  const std::vector<double> start(static_cast<std::size_t>(data.inputs), 0);
  Fixpoint last{learner.posterior.get(), start, start};
  const bdl_status status =
      bdl_optimizer_fit(optimizer, data.all_inputs(), data.all_targets(), epochs, end, &last);
  if (status != BDL_STOPPED) check(status);
  int64_t steps = 0;
  check(bdl_optimizer_progress(optimizer, &steps, nullptr, nullptr));
  return steps;
}

/// Orders the jobs: references first, then the small data sets, and last the expensive ones, full covariances
/// on USPS, of which a few splits must suffice.
int turn(const Job& job) {
  if (job.method->iterations > 0) return 0;
  if (job.set->features < 200) return 1;
  if (job.method->family == std::string("full")) return 4;
  return job.method->rank > 0 && job.method->name == std::string("slang") ? 2 : 3;
}

std::vector<Job> all_jobs(bool quick) {
  constexpr int dear_splits = 5;
  std::vector<Job> jobs;
  for (const DataSet& set : data_sets())
    for (int split = 1; split <= (quick ? 1 : set.splits); ++split)
      for (const Method& method : methods())
        if (const Job job{&set, &method, split}; turn(job) < 4 || split <= dear_splits) jobs.push_back(job);
  std::ranges::stable_sort(jobs, {}, turn);
  return jobs;
}

}  // namespace

void table1(const Settings& settings) {
  std::filesystem::create_directories(settings.results + "/posteriors");
  Table table(settings.results + "/train.csv",
              {"data", "method", "rank", "split", "name", "steps", "cpu_seconds"}, 4);
  std::vector<Job> jobs;
  for (const Job& job : all_jobs(settings.quick)) {
    const std::string file = posterior_file(*job.set, *job.method, job.split);
    if (!table.done(key_of(*job.set, *job.method, job.split)) &&
        file.find(settings.only) != std::string::npos)
      jobs.push_back(job);
  }
  in_parallel(settings.threads, jobs.size(), [&](std::size_t i) {
    const auto& [set, method, split] = jobs[i];
    const Data data = read_split(settings.data, *set, split).train;
    const double start = cpu_seconds();
    const Learner learner = logistic_learner(*set, *method, data.rows(), split);
    const int64_t steps = train(learner, *set, *method, data, settings.quick);
    const double seconds = cpu_seconds() - start;
    const std::string file = posterior_file(*set, *method, split);
    check(bdl_save((settings.results + "/" + file).c_str(), nullptr, learner.posterior.get(), nullptr));
    Row row = key_of(*set, *method, split);
    row.insert(row.end(), {method->name, std::to_string(steps), number(seconds)});
    table.add({row});
    std::fprintf(stderr, "%zu of %zu: %s, %.1f s\n", i + 1, jobs.size(), file.c_str(), seconds);
  });
}

}  // namespace slang
