// Long runs: bdl_soak OBSERVATIONS CYCLES [METHOD [FAMILY]]
//   every family by every rule of streams observes so many rows: mean, variances and scores stay finite,
//   variances positive, and memory is what it was after the first hundredth: as many blocks, and the same
//   bytes but for what malloc keeps to itself; so many cycles of train, save, load, free: memory likewise.
// Prints a line for each, and ends with status 1 if anything did not hold.
#define BDL_TEST_ALONE

#include <malloc.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bdl/bdl.h"
#include "c_api/failing_allocator.hpp"

namespace {

constexpr std::int64_t inputs = 3, chunk = 100;
int failures = 0;

struct Memory {
  long blocks = 0;
  double bytes = 0;
};
Memory memory() {
  const auto info = mallinfo2();
  return {allocator::live, static_cast<double>(info.uordblks + info.hblkhd)};
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double kept_by_malloc = 1 << 18;  // blocks that were freed and count as used

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("  FAILED: %s (%s)\n", what, bdl_last_error());
  ++failures;
}

/// Bytes since then.
double check_flat(const Memory& settled) {
  const Memory now = memory();
  check(now.blocks == settled.blocks, "as many blocks as before");
  check(std::fabs(now.bytes - settled.bytes) < kept_by_malloc, "memory that is flat");
  return now.bytes - settled.bytes;
}

struct Learner {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  ~Learner() {
    bdl_optimizer_free(optimizer);
    bdl_posterior_free(posterior);
    bdl_model_free(model);
  }
};

struct Family {
  const char* name;
  bdl_status (*create)(const bdl_model*, bdl_posterior**);
};
std::int64_t d_of(const bdl_model* model) {
  return bdl_model_parameters(model);
}
const Family families[] = {
    {"low_rank", [](const bdl_model* m,
                    bdl_posterior** q) { return bdl_posterior_create_low_rank(BDL_F64, d_of(m), 3, q); }},
    {"diagonal", [](const bdl_model* m,
                    bdl_posterior** q) { return bdl_posterior_create_low_rank(BDL_F64, d_of(m), 0, q); }},
    {"full",
     [](const bdl_model* m, bdl_posterior** q) { return bdl_posterior_create_full(BDL_F64, d_of(m), q); }},
    {"full_moment", [](const bdl_model* m,
                       bdl_posterior** q) { return bdl_posterior_create_full_moment(BDL_F64, d_of(m), q); }},
    {"diagonal_moment",
     [](const bdl_model* m, bdl_posterior** q) {
       return bdl_posterior_create_diagonal_moment(BDL_F64, d_of(m), q);
     }},
    {"layerwise_full",
     [](const bdl_model* m, bdl_posterior** q) { return bdl_posterior_create_layerwise_full(m, q); }},
};

/// Rows of a regression that drifts slowly, from row `first` on.
void draw(std::int64_t first, std::vector<double>& x, std::vector<double>& y) {
  std::uint64_t state = static_cast<std::uint64_t>(first) * 0x9e3779b97f4a7c15u + 1;
  const auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 4503599627370496.0 - 1;
  };
  for (std::int64_t i = 0; i < chunk; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < inputs; ++j) {
      const double value = uniform();
      x[static_cast<std::size_t>(i * inputs + j)] = value;
      sum += value * std::sin(1e-5 * static_cast<double>(first + i) + static_cast<double>(j));
    }
    y[static_cast<std::size_t>(i)] = std::tanh(sum) + 0.1 * (uniform() + uniform());
  }
}

void check_belief(const bdl_posterior* q) {
  const std::int64_t d = bdl_posterior_dimension(q);
  std::vector<double> mean(static_cast<std::size_t>(d), NAN), variance(static_cast<std::size_t>(d), NAN);
  double log_det = NAN;
  check(bdl_posterior_mean(q, bdl_f64_out(mean.data(), 1, d)) == BDL_OK, "mean");
  check(bdl_posterior_marginal_variance(q, bdl_f64_out(variance.data(), 1, d)) == BDL_OK, "variance");
  check(bdl_posterior_log_det_covariance(q, &log_det) == BDL_OK && std::isfinite(log_det), "log determinant");
  for (const double value : mean) check(std::isfinite(value), "a mean that is finite");
  for (const double value : variance) check(std::isfinite(value) && value > 0, "a variance that is positive");
}

void observe(const char* method, const Family& family, std::int64_t observations) {
  Learner l;
  if (bdl_model_create_network(BDL_F64, "input 3; dense 4; tanh; dense 1", BDL_GAUSSIAN, &l.model) !=
          BDL_OK ||
      family.create(l.model, &l.posterior) != BDL_OK)
    return check(false, "handles");
  if (bdl_optimizer_create(l.model, l.posterior, method, 1, &l.optimizer) != BDL_OK)
    return;  // not for this family
  // Some forgetting, as endless streams have: what is known does not grow without bounds.
  check(bdl_optimizer_set_double(l.optimizer, "forgetting", 0.9999) == BDL_OK, "forgetting");
  const double start = seconds();
  std::vector<double> x(chunk * inputs), y(chunk);
  Memory settled;
  std::int64_t done = 0, refused = 0;
  for (; done < observations; done += chunk) {
    draw(done, x, y);
    const bdl_status status = bdl_optimizer_observe(l.optimizer, bdl_f64(x.data(), chunk, inputs),
                                                    bdl_f64(y.data(), chunk, 1), bdl_none_out());
    if (status != BDL_OK && refused++ == 0) std::printf("  refused: %s\n", bdl_last_error());
    check(status == BDL_OK || status == BDL_ERROR_DIVERGED, "an observation");
    if (done % (observations / 10 / chunk * chunk + chunk) == 0) check_belief(l.posterior);
    if (settled.blocks == 0 && done >= observations / 100) settled = memory();
  }
  const double growth = check_flat(settled);
  check(refused == 0, "a stream that goes on");
  check_belief(l.posterior);
  std::int64_t count = 0;
  double density = NAN, error = NAN;
  check(bdl_optimizer_prequential(l.optimizer, &count, &density, &error) == BDL_OK && std::isfinite(density),
        "scores");
  std::printf(
      "%-10s %-16s %9lld rows, %lld chunks refused, log density %7.3f, rmse %6.3f, memory %+.0f bytes, %.0f "
      "s\n",
      method, family.name, static_cast<long long>(done), static_cast<long long>(refused), density, error,
      growth, seconds() - start);
  std::fflush(stdout);
}

void save(const bdl_optimizer* optimizer, std::string& bytes) {
  std::int64_t size = 0;
  check(bdl_save_bytes(nullptr, nullptr, optimizer, nullptr, 0, &size) == BDL_OK, "the size of a save");
  bytes.resize(static_cast<std::size_t>(size));
  check(bdl_save_bytes(nullptr, nullptr, optimizer, bytes.data(), size, &size) == BDL_OK, "a save");
}

void begin(std::string& bytes) {
  Learner l;
  check(bdl_model_create_network(BDL_F64, "input 3; dense 4; tanh; dense 1", BDL_GAUSSIAN, &l.model) ==
                BDL_OK &&
            bdl_posterior_create_low_rank(BDL_F64, d_of(l.model), 3, &l.posterior) == BDL_OK &&
            bdl_optimizer_create(l.model, l.posterior, "slang-ggn", chunk, &l.optimizer) == BDL_OK,
        "handles");
  save(l.optimizer, bytes);
}

/// A load, a step, a prediction, a save.
void cycle(std::int64_t number, std::string& bytes, std::vector<double>& x, std::vector<double>& y) {
  Learner l;
  check(bdl_load_bytes(bytes.data(), static_cast<std::int64_t>(bytes.size()), nullptr, &l.model, &l.posterior,
                       &l.optimizer) == BDL_OK,
        "a load");
  draw(number * chunk, x, y);
  check(bdl_optimizer_step(l.optimizer, bdl_f64(x.data(), chunk, inputs), bdl_f64(y.data(), chunk, 1)) ==
            BDL_OK,
        "a step");
  double mean = NAN;
  check(bdl_predict(l.model, l.posterior, bdl_f64(x.data(), 1, inputs), BDL_MONTE_CARLO, 3, 1,
                    bdl_f64_out(&mean, 1, 1), bdl_none_out(), bdl_none_out()) == BDL_OK &&
            std::isfinite(mean),
        "a prediction");
  save(l.optimizer, bytes);
}

void cycle_often(std::int64_t cycles) {
  std::vector<double> x(chunk * inputs), y(chunk);
  std::string bytes;
  bytes.reserve(1 << 16);
  begin(bytes);
  Memory settled;
  const double start = seconds();
  for (std::int64_t i = 0; i < cycles && failures == 0; ++i) {
    cycle(i, bytes, x, y);
    if (i == cycles / 100) settled = memory();
  }
  const double growth = check_flat(settled);
  std::printf("%lld cycles of load, train, predict, save: memory %+.0f bytes, %.0f s\n",
              static_cast<long long>(cycles), growth, seconds() - start);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 5)
    return std::fprintf(stderr, "usage: bdl_soak OBSERVATIONS CYCLES [METHOD [FAMILY]]\n"), 2;
  const std::string only_method = count > 3 ? arguments[3] : "", only_family = count > 4 ? arguments[4] : "";
  const std::int64_t observations = std::atoll(arguments[1]), cycles = std::atoll(arguments[2]);
  for (std::int64_t i = 0; observations > 0 && i < bdl_method_count(); ++i) {
    const char* method = bdl_method_name(i);
    std::int32_t is_stream = 0;
    bdl_method_describe(method, nullptr, &is_stream, nullptr, nullptr, nullptr, nullptr);
    for (const Family& family : families)
      if (is_stream && (only_method.empty() || only_method == method) &&
          (only_family.empty() || only_family == family.name))
        observe(method, family, observations);
  }
  if (cycles > 0) cycle_often(cycles);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
