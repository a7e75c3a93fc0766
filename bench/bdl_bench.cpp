// bdl_bench CASE ...: timings of libbdl through its public API, one line of key=value pairs per case. Every
// case runs in a process of its own, so that its peak memory is its own.
#include <bdl/bdl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(bdl_status status) {
  if (status == BDL_OK) return;
  std::fprintf(stderr, "bdl_bench: %s\n", bdl_last_error());
  std::exit(1);
}

double peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Threads BLAS may use: its environment variable, or all processors.
unsigned blas_threads() {
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = std::getenv(name)) return static_cast<unsigned>(std::atoi(value));
  return std::thread::hardware_concurrency();
}

struct Shape {
  std::vector<int64_t> sizes;
  int64_t minibatch, samples, rank;
  int steps;
};

std::string text(const std::vector<int64_t>& sizes) {
  std::string joined;
  for (int64_t size : sizes) joined += (joined.empty() ? "" : "-") + std::to_string(size);
  return joined;
}

/// Milliseconds of each step on a classification network; the first step, which allocates, is not counted.
std::vector<double> time_steps(const Shape& shape) {
  const int64_t inputs = shape.sizes.front(), classes = shape.sizes.back(), data_size = 60000;
  std::vector<float> x(static_cast<std::size_t>(shape.minibatch * inputs));
  std::vector<int32_t> y(static_cast<std::size_t>(shape.minibatch));
  uint32_t state = 1;  // any pixels will do
  for (float& value : x)
    value = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 16777216.0F;
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>(i % static_cast<std::size_t>(classes));
  const bdl_matrix features = bdl_f32(x.data(), shape.minibatch, inputs),
                   labels = bdl_i32(y.data(), shape.minibatch, 1);
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* opt = nullptr;
  check(bdl_model_create_mlp(BDL_F32, shape.sizes.data(), static_cast<int32_t>(shape.sizes.size()), BDL_RELU,
                             1, BDL_CATEGORICAL, &model));
  check(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), shape.rank, &q));
  check(bdl_optimizer_create(model, q, "slang", data_size, &opt));
  check(bdl_optimizer_set_int(opt, "samples", shape.samples));
  std::vector<double> milliseconds;
  for (int step = 0; step <= shape.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    check(bdl_optimizer_step(opt, features, labels));
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (step > 0) milliseconds.push_back(elapsed.count());
  }
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds;
}

void bench_slang(const Shape& shape) {
  const std::vector<double> ms = time_steps(shape);
  std::printf(
      "case=slang shape=%s M=%lld S=%lld L=%lld dtype=f32 threads=%u steps=%d ms_median=%.2f ms_min=%.2f "
      "ms_max=%.2f peak_mb=%.1f\n",
      text(shape.sizes).c_str(), static_cast<long long>(shape.minibatch),
      static_cast<long long>(shape.samples), static_cast<long long>(shape.rank), blas_threads(), shape.steps,
      ms[ms.size() / 2], ms.front(), ms.back(), peak_megabytes());
}

/// Runs one case in a child process; its exit status.
template <class Case>
int in_child(Case&& run) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    run();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return status == 0 ? 0 : 1;
}

int slang(bool quick) {
  int failures = 0;
  for (int64_t rank : {1, 8, 32})
    failures += in_child([&] { bench_slang({{784, 400, 400, 10}, 200, 4, rank, quick ? 2 : 15}); });
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 2 && std::strcmp(argv[2], "--quick") == 0;
  if (argc < 2 || std::strcmp(argv[1], "slang") != 0) {
    std::fprintf(stderr, "usage: bdl_bench slang [--quick]\n");
    return 2;
  }
  std::printf("%s\n", bdl_build_info());
  return slang(quick);
}
