// Training for Tables 1, 4, 6 and 7. Posteriors are kept, so that metrics can be computed again without it.
#include <ctime>
#include <filesystem>

#include "experiments.hpp"
#include "methods.hpp"
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

int64_t train(const Learner& learner, const DataSet& set, const Method& method, const Data& data,
              bool quick) {
  bdl_optimizer* const optimizer = learner.optimizer.get();
  int64_t steps = 0;
  if (is_stochastic(method)) {
    const int64_t epochs = quick ? 3 : 10000, course = epochs * data.rows() / set.minibatch;
    check(bdl_optimizer_set_int(optimizer, "minibatch", set.minibatch));
    check(bdl_optimizer_set_int(optimizer, "progress_every", course));
    const bdl_status status =
        bdl_optimizer_fit(optimizer, data.all_inputs(), data.all_targets(), epochs, end_course, nullptr);
    if (status != BDL_STOPPED) check(status);
  } else {
    check(bdl_optimizer_fit(optimizer, data.all_inputs(), data.all_targets(), quick ? 20 : 100000, nullptr,
                            nullptr));
  }
  check(bdl_optimizer_progress(optimizer, &steps, nullptr, nullptr));
  return steps;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Small data sets first, then USPS split by split, and last what is dear there.
std::vector<Job> all_jobs(bool quick) {
  std::vector<Job> jobs;
  for (const bool dear : {false, true})
    for (const DataSet& set : data_sets())
      for (int split = 1; split <= (quick ? 1 : set.splits); ++split)
        for (const Method& method : methods())
          if (dear == (set.features > 200 && is_dear(method))) jobs.push_back({&set, &method, split});
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
    check(bdl_save((settings.results + "/" + file).c_str(), nullptr, learner.posterior.get(),
                   nullptr));
    Row row = key_of(*set, *method, split);
    row.insert(row.end(), {method->name, std::to_string(steps), number(seconds)});
    table.add({row});
    std::fprintf(stderr, "%zu of %zu: %s, %.1f s\n", i + 1, jobs.size(), file.c_str(), seconds);
  });
}

}  // namespace slang
