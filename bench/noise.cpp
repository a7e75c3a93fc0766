// Steps of posteriors whose layers make noise (ELRG-VI and its baselines) beside steps of a point estimate.
#include <functional>

#include "api.hpp"
#include "base/profile.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"

namespace bench {
namespace {

constexpr int64_t data_size = 60000;

Model network(const Record& parameters) {
  const std::string& name = parameters.text("network");
  return name == "lenet5" ? published_network(name) : make_model(BDL_F32, sizes_of(name), BDL_CATEGORICAL);
}

/// A method on a network, and steps of it on any numbers.
class Training {
 public:
  Training(const Record& parameters, const std::string& method, int64_t rank)
      : minibatch_(parameters.integer("M")),
        model_(network(parameters)),
        inputs_(bdl_model_inputs(model_.get())),
        posterior_(make_posterior(method, rank)),
        x_(uniform<float>(minibatch_ * inputs_, 1.0F)),
        y_(static_cast<std::size_t>(minibatch_)) {
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = static_cast<float>(i * i % 10);
    bdl_optimizer* optimizer = nullptr;
    check(bdl_optimizer_create(model_.get(), posterior_.get(), method.c_str(), data_size, &optimizer));
    optimizer_.reset(optimizer);
    set("learning_rate=1e-3 learn_prior=0 prior_scaling=elrg prior_precision=0.01");
    if (method == "map") return;
    if (parameters.has("estimator")) set(("noise_estimator=" + parameters.text("estimator")).c_str());
    if (method == "k-tied") set("tied_rank=2");
  }

  void step() {
    check(bdl_optimizer_step(optimizer_.get(), matrix(x_, minibatch_, inputs_), matrix(y_, minibatch_, 1)));
  }
  double megabytes(int64_t minibatch) const {
    int64_t bytes = 0;
    check(bdl_optimizer_memory(optimizer_.get(), minibatch, &bytes));
    return static_cast<double>(bytes) / 1024 / 1024;
  }
  int64_t parameters() const { return bdl_model_parameters(model_.get()); }

 private:
  Posterior make_posterior(const std::string& method, int64_t rank) const {
    if (method == "map") return bench::make_posterior(BDL_F32, parameters(), 0);
    bdl_posterior* posterior = nullptr;
    check(bdl_posterior_create_layerwise_low_rank_moment(model_.get(), rank, &posterior));
    return Posterior(posterior);
  }
  void set(const char* options) { check(bdl_optimizer_set_text(optimizer_.get(), options)); }

  int64_t minibatch_;
  Model model_;
  int64_t inputs_;
  Posterior posterior_;
  Optimizer optimizer_;
  std::vector<float> x_, y_;
};

/// Measures the bytes that an optimizer holds, and the fraction of M D numbers that a minibatch twice as
/// large adds.
void add_memory(const Training& training, int64_t minibatch, Record& line) {
  const double held = training.megabytes(minibatch), of_twice = training.megabytes(2 * minibatch),
               of_rows = static_cast<double>(minibatch * training.parameters()) * sizeof(float) / 1024 / 1024;
  line.set("memory_mb", held)
      .set("memory_mb_2M", of_twice)
      .set("growth_over_MD", (of_twice - held) / of_rows);
}

/// Where the time of some more steps goes.
Record profile(const Record& parameters, Training& training) {
  constexpr int steps = 30;
  bdl::Profile profile;
  bdl::active_profile = &profile;
  for (int i = 0; i < steps; ++i) training.step();
  profile.enter(bdl::Stage::rest);
  bdl::active_profile = nullptr;
  Record line("profile");
  for (const char* key : {"case", "network", "M", "method", "K", "dtype", "threads"})
    line.set(key, parameters.text(key));
  for (std::size_t i = 0; i < profile.seconds.size(); ++i)
    line.set(std::string(bdl::stage_names[i]) + "_ms", 1e3 * profile.seconds[i] / steps);
  return line;
}

}  // namespace

std::vector<Record> noise(const Record& parameters) {
  const std::string& method = parameters.text("method");
  const int64_t rank = parameters.integer("K");
  const bool has_target = method == "elrg", is_compared = has_target && rank > 1;
  std::vector<Training> trainings;
  trainings.emplace_back(parameters, method, rank);
  trainings.emplace_back(parameters, "map", 0);
  if (is_compared) trainings.emplace_back(parameters, method, 1);
  std::vector<std::function<void()>> steps;
  steps.reserve(trainings.size());
  for (Training& training : trainings) steps.emplace_back([&training] { training.step(); });
  const std::vector<double> ms = by_turns(parameters.has("quick"), steps);
  const double products = static_cast<double>(rank + 1);
  Record line = parameters;
  line.set("ms", ms[0]).set("ms_map", ms[1]).set("over_map", ms[0] / ms[1]);
  if (has_target) line.set("target", 1.15 * products);
  if (is_compared) line.set("over_rank_1", ms[0] / ms[2]).set("linear", products / 2);
  add_memory(trainings[0], parameters.integer("M"), line);
  std::vector<Record> lines{line.set("peak_mb", peak_megabytes())};
  if (parameters.has("stages")) lines.push_back(profile(parameters, trainings[0]));
  return lines;
}

}  // namespace bench
