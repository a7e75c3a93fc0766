// A prediction server: several threads answer requests, and a new model file replaces the old one while it
// runs.
//
// Usage: server MODEL [THREADS] <requests >answers
//
// A request is a line with the inputs of one row, separated by commas. Its answer is a line with the number
// of the request, the mean, and the limits of the 90 % interval. Answers come as soon as they are known, in
// any order.
#include <bdl/bdl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Flag = std::atomic<bool>;

// [check]
/// Throws libbdl's message if a call has failed.
void check(bdl_status status) {
  if (status != BDL_OK) throw std::runtime_error(bdl_last_error());
}
// [check]

// [model]
/// Frees handles of libbdl when their owner ends.
struct Free {
  void operator()(bdl_model* m) const { bdl_model_free(m); }
  void operator()(bdl_posterior* q) const { bdl_posterior_free(q); }
  void operator()(bdl_optimizer* o) const { bdl_optimizer_free(o); }
  void operator()(bdl_predictor* p) const { bdl_predictor_free(p); }
};
template <class Handle>
using Owned = std::unique_ptr<Handle, Free>;

/// A trained model from a file. Nothing changes it, so threads may share it.
class Model {
 public:
  explicit Model(const std::string& path) {
    bdl_model* model = nullptr;
    bdl_posterior* posterior = nullptr;
    bdl_optimizer* optimizer = nullptr;
    check(bdl_load(path.c_str(), nullptr, &model, &posterior, &optimizer));
    model_.reset(model);
    posterior_.reset(posterior);
    const Owned<bdl_optimizer> owner(optimizer);
    const char* method = bdl_optimizer_method(optimizer);
    check(bdl_method_prediction(method, model, &how_));
  }

  int64_t inputs() const { return bdl_model_inputs(model_.get()); }

  /// Returns a predictor with the defaults of Python: 500 samples, seed 1.
  Owned<bdl_predictor> predictor() const {
    bdl_predictor* predictor = nullptr;
    const bdl_posterior* q = posterior_.get();
    check(bdl_predictor_create(model_.get(), q, how_, 500, 1, &predictor));
    return Owned<bdl_predictor>(predictor);
  }

 private:
  Owned<bdl_model> model_;
  Owned<bdl_posterior> posterior_;
  bdl_predict_method how_ = BDL_MONTE_CARLO;
};
// [model]

// [current]
/// The model that new requests use.
class Current {
 public:
  explicit Current(const std::string& path) : model_(std::make_shared<const Model>(path)) {}

  std::shared_ptr<const Model> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return model_;
  }

  void set(std::shared_ptr<const Model> model) {
    const std::lock_guard<std::mutex> lock(mutex_);
    model_.swap(model);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Model> model_;
};
// [current]

struct Answer {
  double mean, lower, upper;
};

/// Writes all digits of an answer.
std::string text(const Answer& a) {
  char line[100];
  (void)std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g", a.mean, a.lower, a.upper);
  return line;
}

// [worker]
/// Predictions by one thread: a predictor serves one thread at a time.
class Worker {
 public:
  explicit Worker(const Current& current) : current_(current) {}

  Answer answer(const std::string& line) {
    if (const auto newest = current_.get(); newest != model_) {
      predictor_ = newest->predictor();
      model_ = newest;
    }
    const std::vector<double> row = numbers(line);
    const bdl_matrix x = bdl_f64(row.data(), 1, model_->inputs());
    const bdl_matrix_out none = bdl_none_out();
    bdl_predictor* p = predictor_.get();
    Answer a{};
    const auto mean = bdl_f64_out(&a.mean, 1, 1);
    const auto lower = bdl_f64_out(&a.lower, 1, 1);
    const auto upper = bdl_f64_out(&a.upper, 1, 1);
    check(bdl_predictor_moments(p, x, mean, none, none));
    check(bdl_predictor_interval(p, x, 0.9, lower, upper));
    return a;
  }

 private:
  std::vector<double> numbers(const std::string& line) const {
    std::vector<double> row;
    std::istringstream text(line);
    for (double value = 0; text >> value; text.ignore()) row.push_back(value);
    const int64_t n = model_->inputs();
    if (static_cast<int64_t>(row.size()) == n) return row;
    throw std::runtime_error("expected " + std::to_string(n) + " numbers");
  }

  const Current& current_;
  std::shared_ptr<const Model> model_;
  Owned<bdl_predictor> predictor_;
};
// [worker]

// [serve]
/// Requests and answers, shared by all threads.
class Desk {
 public:
  /// Waits for the next request; returns its number, or -1 at the end.
  int64_t take(std::string& line) {
    const std::lock_guard<std::mutex> lock(in_);
    return std::getline(std::cin, line) ? taken_++ : -1;
  }

  void give(int64_t number, const std::string& answer) {
    const std::lock_guard<std::mutex> lock(out_);
    std::cout << number << ',' << answer << std::endl;
  }

 private:
  std::mutex in_, out_;
  int64_t taken_ = 0;
};

/// Answers requests until there are no more; returns the microseconds of each.
std::vector<double> serve(Desk& desk, const Current& current) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  Worker worker(current);
  std::vector<double> times;
  std::string line;
  for (int64_t i = desk.take(line); i >= 0; i = desk.take(line)) {
    try {
      const auto begin = Clock::now();
      const Answer a = worker.answer(line);
      times.push_back(Microseconds(Clock::now() - begin).count());
      desk.give(i, text(a));
    } catch (const std::exception& error) {
      desk.give(i, std::string("error: ") + error.what());
    }
  }
  return times;
}
// [serve]

// [reload]
/// Loads the file again if it has changed; keeps the old model if that fails.
void watch(const std::string& path, Current& current, const Flag& ended) {
  auto known = std::filesystem::last_write_time(path);
  while (!ended) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(path, missing);
    if (missing || time == known) continue;
    known = time;
    try {
      current.set(std::make_shared<const Model>(path));
      std::fprintf(stderr, "loaded the new %s\n", path.c_str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "kept the old model: %s\n", error.what());
    }
  }
}
// [reload]

void report(int threads, std::vector<double> times, double seconds) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  std::fprintf(stderr, "%d threads: %zu requests, %.0f a second; median %.0f us, 99 %% within %.0f us\n",
               threads, times.size(), static_cast<double>(times.size()) / seconds, times[times.size() / 2],
               times[times.size() * 99 / 100]);
}

void run(const std::string& path, int count) {
  check(BDL_CHECK_VERSION());  // the library that was found fits the headers
  Current current(path);
  Desk desk;
  Flag ended{false};
  std::thread watcher([&] { watch(path, current, ended); });
  std::vector<std::vector<double>> times(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  const auto begin = Clock::now();
  for (std::vector<double>& own : times) threads.emplace_back([&] { own = serve(desk, current); });
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ended = true;
  watcher.join();
  for (std::size_t i = 1; i < times.size(); ++i)
    times[0].insert(times[0].end(), times[i].begin(), times[i].end());
  report(count, times[0], seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: server MODEL [THREADS] <requests >answers\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
  }
  return 0;
}
