// Training steps of a network.
#include <algorithm>
#include <chrono>
#include <sstream>

#include "api.hpp"
#include "base/profile.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"
#include "work.hpp"

namespace bench {
namespace {

constexpr int64_t data_size = 60000;

bdl_likelihood likelihood_of(const Record& parameters) {
  const std::string& name = parameters.text("likelihood");
  return name == "gaussian" ? BDL_GAUSSIAN : name == "bernoulli" ? BDL_BERNOULLI : BDL_CATEGORICAL;
}

/// A model, its optimizer, and a few minibatches to go around.
template <class T>
class Training {
 public:
  Training(const Shape& shape, bdl_likelihood likelihood)
      : minibatch_(shape.minibatch),
        batches_(std::max<int64_t>(1, 256 / minibatch_)),
        inputs_(shape.sizes.front()),
        x_(uniform<T>(examples() * inputs_, T(1))),
        y_(static_cast<std::size_t>(examples())),
        model_(make_model(dtype_of<T>, shape.sizes, likelihood)),
        posterior_(make_posterior(dtype_of<T>, bdl_model_parameters(model_.get()), shape.rank)),
        optimizer_(make_optimizer(model_, posterior_, data_size)) {
    const int64_t classes = likelihood == BDL_CATEGORICAL ? shape.sizes.back()
                            : likelihood == BDL_BERNOULLI ? 2
                                                          : 5;
    for (int64_t i = 0; i < examples(); ++i) y_[i] = static_cast<T>(i * i % classes);
    check(bdl_optimizer_set_int(optimizer_.get(), "samples", shape.samples));
    check(bdl_optimizer_set_int(optimizer_.get(), "minibatch", minibatch_));
  }

  void step() {
    const int64_t first = next_++ % batches_ * minibatch_;
    check(bdl_optimizer_step(optimizer_.get(), x(first, minibatch_), y(first, minibatch_)));
  }

  /// Milliseconds per step of fit: epochs of about `steps` steps.
  double fit(int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t epochs = (steps + batches_ - 1) / batches_;
    check(bdl_optimizer_fit(optimizer_.get(), x(0, examples()), y(0, examples()), epochs, nullptr, nullptr));
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    return elapsed.count() / static_cast<double>(epochs * batches_);
  }

 private:
  int64_t examples() const { return batches_ * minibatch_; }
  bdl_matrix x(int64_t first, int64_t count) const {
    return bdl_strided(x_.data() + first * inputs_, dtype_of<T>, count, inputs_, inputs_, 1);
  }
  bdl_matrix y(int64_t first, int64_t count) const {
    return bdl_strided(y_.data() + first, dtype_of<T>, count, 1, 1, 1);
  }

  int64_t minibatch_, batches_, inputs_, next_ = 0;
  std::vector<T> x_, y_;
  Model model_;
  Posterior posterior_;
  Optimizer optimizer_;
};

/// A line that says where `steps` more steps spend their time.
template <class T>
Record profile(const Record& parameters, Training<T>& training, int64_t steps) {
  bdl::Profile profile;
  bdl::active_profile = &profile;
  for (int64_t i = 0; i < steps; ++i) training.step();
  profile.enter(bdl::Stage::rest);
  bdl::active_profile = nullptr;
  double total = 0;
  for (const double seconds : profile.seconds) total += seconds;
  Record line("profile");
  for (const char* key : {"case", "shape", "M", "S", "L", "dtype", "threads"})
    line.set(key, parameters.text(key));
  line.set("steps", steps).set("ms", 1e3 * total / static_cast<double>(steps));
  for (std::size_t i = 0; i < profile.seconds.size(); ++i) {
    const std::string name = bdl::stage_names[i];
    line.set(name + "_ms", 1e3 * profile.seconds[i] / static_cast<double>(steps))
        .set(name + "_percent", 100 * profile.seconds[i] / total);
  }
  return line;
}

template <class T>
std::vector<Record> run(const Record& parameters) {
  const Shape shape{sizes_of(parameters.text("shape")), parameters.integer("M"), parameters.integer("S"),
                    parameters.integer("L")};
  const bool quick = parameters.has("quick");
  Training<T> training(shape, likelihood_of(parameters));
  const Timing timing = time_calls(quick ? Effort{2, 0} : Effort{15, 0.5}, [&training] { training.step(); });
  Record line = parameters;
  add_timing(line, timing);
  if (parameters.has("fit")) line.set("ms_fit", training.fit(quick ? 200 : 5000));
  add_rates(line, slang_step_work(shape, sizeof(T)));
  line.set("peak_mb", peak_megabytes());
  std::vector<Record> lines{line};
  if (parameters.has("stages"))
    lines.push_back(profile(parameters, training, std::clamp<int64_t>(timing.calls, 1, 2000)));
  return lines;
}

}  // namespace

std::vector<int64_t> sizes_of(const std::string& shape) {
  std::vector<int64_t> sizes;
  std::istringstream words(shape);
  for (std::string word; std::getline(words, word, '-');) sizes.push_back(std::stoll(word));
  return sizes;
}

std::vector<Record> slang(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? run<float>(parameters) : run<double>(parameters);
}

}  // namespace bench
