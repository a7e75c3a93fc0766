// A long stream through a low-rank filter: does anything drift?
#include <algorithm>
#include <chrono>
#include <cmath>

#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"

namespace bench {
namespace {

constexpr int64_t inputs = 50, outputs = 1, block = 1000;

/// Inputs in (-1, 1), and a target that a network of tanh units can learn, with noise of standard deviation
/// 0.1.
template <class T>
class Source {
 public:
  void fill(std::vector<T>& x, std::vector<T>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      T* const row = x.data() + i * inputs;
      for (int64_t j = 0; j < inputs; ++j) row[j] = next();
      const T noise = T(0.1) * (next() + next() + next());
      y[i] = std::sin(3 * row[0]) * row[1] + row[2] * row[3] - row[4] + noise;
    }
  }

 private:
  T next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<T>(static_cast<double>(state_ >> 40) / 8388608.0 - 1);
  }
  std::uint64_t state_ = 1;
};

/// Measures what must stay true: d is positive, and log det Sigma that of a posterior set to the
/// same U and d.
template <class T>
void add_health(const bdl_posterior* q, int64_t d, int64_t rank, Record& line) {
  std::vector<T> u(static_cast<std::size_t>(d * rank)), diagonal(static_cast<std::size_t>(d)),
      mean(diagonal.size());
  check(bdl_posterior_get_low_rank(q, matrix_out(u, d, rank), matrix_out(diagonal, 1, d)));
  check(bdl_posterior_mean(q, matrix_out(mean, 1, d)));
  const Posterior fresh = make_posterior(dtype_of<T>, d, rank);
  check(bdl_posterior_set_low_rank(fresh.get(), matrix(mean, 1, d), matrix(u, d, rank),
                                   matrix(diagonal, 1, d)));
  double held = 0, anew = 0;
  check(bdl_posterior_log_det_covariance(q, &held));
  check(bdl_posterior_log_det_covariance(fresh.get(), &anew));
  const auto [least, most] = std::ranges::minmax(diagonal);
  line.set("least_d", static_cast<double>(least))
      .set("most_d", static_cast<double>(most))
      .set("log_det", held)
      .set("log_det_error", std::abs(held - anew) / std::abs(anew));
}

template <class T>
std::vector<Record> run(const Record& parameters) {
  const int64_t rank = parameters.integer("L"), total = parameters.integer("n"), reports = 10;
  const int64_t hidden = (parameters.integer("D") - outputs) / (inputs + 1 + outputs);
  const Model model = make_model(dtype_of<T>, {inputs, hidden, outputs}, BDL_GAUSSIAN);
  const int64_t d = bdl_model_parameters(model.get());
  const double noise_precision = 100;
  check(bdl_model_set_noise_precision(model.get(), bdl_f64(&noise_precision, 1, 1)));
  const Posterior posterior = make_posterior(dtype_of<T>, d, rank);
  bdl_optimizer* handle = nullptr;
  check(bdl_optimizer_create(model.get(), posterior.get(), "lo-fi", 1, &handle));
  const Optimizer optimizer(handle);
  check(bdl_optimizer_set_double(handle, "prior_precision", 100));
  check(bdl_optimizer_set_choice(handle, "prior_scaling", "unit"));
  check(bdl_optimizer_set_choice(handle, "score", "plug_in"));
  Source<T> source;
  std::vector<T> x(static_cast<std::size_t>(block * inputs)), y(static_cast<std::size_t>(block)),
      scores(y.size());
  std::vector<Record> lines;
  for (int64_t report = 1, seen = 0; report <= reports; ++report) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t first = seen;
    double score = 0;
    for (; seen < total * report / reports; seen += block) {
      source.fill(x, y);
      check(bdl_optimizer_observe(handle, matrix(x, block, inputs), matrix(y, block, 1),
                                  matrix_out(scores, block, 1)));
      for (const T value : scores) score += static_cast<double>(value);
    }
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    Record line = parameters;
    line.set("parameters", d).set("observations", seen);
    line.set("us_per_observation", elapsed.count() / static_cast<double>(seen - first));
    line.set("log_density", score / static_cast<double>(seen - first)).set("peak_mb", peak_megabytes());
    add_health<T>(posterior.get(), d, rank, line);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::vector<Record> endurance(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? run<float>(parameters) : run<double>(parameters);
}

}  // namespace bench
