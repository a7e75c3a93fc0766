// Operations on a posterior alone: draws, solutions, steps on the caller's rows.
#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"
#include "work.hpp"

namespace bench {
namespace {

std::vector<Record> finish(Record line, const Timing& timing, Work work) {
  add_timing(line, timing);
  add_rates(line, work);
  return {line.set("peak_mb", peak_megabytes())};
}

Effort effort(const Record& parameters) {
  return parameters.has("quick") ? Effort{2, 0} : Effort{15, 0.5};
}

template <class T>
std::vector<Record> draw(const Record& parameters) {
  const int64_t d = parameters.integer("D"), rank = parameters.integer("L"), count = parameters.integer("S");
  const Posterior posterior = random_posterior<T>(d, rank, T(10));
  std::vector<T> samples(static_cast<std::size_t>(d * count));
  int64_t first = 0;
  const Timing timing = time_calls(effort(parameters), [&] {
    check(bdl_posterior_sample(posterior.get(), 1, first, matrix_out(samples, count, d)));
    first += count;
  });
  return finish(parameters, timing, sample_work(d, rank, count, sizeof(T)));
}

template <class T>
std::vector<Record> solution(const Record& parameters) {
  const int64_t d = parameters.integer("D"), rank = parameters.integer("L"),
                count = parameters.integer("vectors");
  const Posterior posterior = random_posterior<T>(d, rank, T(10));
  const std::vector<T> vectors = uniform<T>(d * count, T(1));
  std::vector<T> solutions(vectors.size());
  const Timing timing = time_calls(effort(parameters), [&] {
    check(bdl_posterior_solve(posterior.get(), matrix(vectors, count, d), matrix_out(solutions, count, d)));
  });
  return finish(parameters, timing, solve_work(d, rank, count, sizeof(T)));
}

}  // namespace

std::vector<Record> sample(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? draw<float>(parameters) : draw<double>(parameters);
}

std::vector<Record> solve(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? solution<float>(parameters) : solution<double>(parameters);
}

std::vector<Record> rows(const Record& parameters) {
  const int64_t d = parameters.integer("D"), rank = parameters.integer("L"), n = parameters.integer("n");
  const Posterior posterior = make_posterior(BDL_F32, d, rank);
  const Optimizer optimizer = make_optimizer(nullptr, posterior, 60000);
  const std::vector<float> gradients = uniform(n * d, 0.1F);
  Record line = parameters;
  add_timing(line, time_calls(parameters.has("quick") ? Effort{2, 0} : Effort{5, 0.3}, [&] {
               check(bdl_optimizer_step_rows(optimizer.get(), matrix(gradients, n, d)));
             }));
  const double dimension = static_cast<double>(d), megabytes = peak_megabytes();
  line.set("ns_per_parameter", 1e6 * line.number("ms_median") / dimension)
      .set("peak_mb", megabytes)
      .set("bytes_per_DL", 1024 * 1024 * megabytes / dimension / static_cast<double>(rank));
  return {line};
}

}  // namespace bench
