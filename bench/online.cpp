// Streams: one observation after the other through a network's filter.
#include <algorithm>

#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"
#include "work.hpp"

namespace bench {
namespace {

constexpr int64_t inputs = 100, kept_examples = 64;

/// Width of the hidden layer that makes about D parameters.
int64_t hidden_units(int64_t dimension, int64_t outputs) {
  return std::max<int64_t>(1, (dimension - outputs) / (inputs + 1 + outputs));
}

template <class T>
class Stream {
 public:
  Stream(int64_t dimension, int64_t outputs, int64_t rank)
      : model_(make_model(dtype_of<T>, {inputs, hidden_units(dimension, outputs), outputs},
                          outputs > 1 ? BDL_CATEGORICAL : BDL_GAUSSIAN)),
        posterior_(make_posterior(dtype_of<T>, bdl_model_parameters(model_.get()), rank)),
        x_(uniform<T>(kept_examples * inputs, T(1))),
        y_(static_cast<std::size_t>(kept_examples)) {
    bdl_optimizer* optimizer = nullptr;
    check(bdl_optimizer_create(model_.get(), posterior_.get(), "bong", 1, &optimizer));
    optimizer_.reset(optimizer);
    for (int64_t i = 0; i < kept_examples; ++i) y_[i] = static_cast<T>(i * i % std::max<int64_t>(outputs, 3));
  }
  void score(const char* kind) { check(bdl_optimizer_set_choice(optimizer_.get(), "score", kind)); }
  void observe() {
    const int64_t i = next_++ % kept_examples;
    check(bdl_optimizer_observe(optimizer_.get(),
                                bdl_strided(x_.data() + i * inputs, dtype_of<T>, 1, inputs, inputs, 1),
                                bdl_strided(y_.data() + i, dtype_of<T>, 1, 1, 1, 1), bdl_none_out()));
  }
  int64_t dimension() const { return bdl_model_parameters(model_.get()); }

 private:
  Model model_;
  Posterior posterior_;
  Optimizer optimizer_;
  std::vector<T> x_, y_;
  int64_t next_ = 0;
};

/// The bound: the factor (a diagonal posterior's d) read and written once; its half is the time to read it
/// once.
template <class T>
std::vector<Record> stream_of(Record line) {
  const int64_t rank = line.integer("L");
  Stream<T> stream(line.integer("D"), line.integer("C"), rank);
  const Effort effort = line.has("quick") ? Effort{2, 0} : Effort{9, 0.5};
  stream.score("none");
  const Timing timing = time_calls(effort, [&] { stream.observe(); });
  line.set("parameters", stream.dimension());
  add_timing(line, timing);
  const double bytes = static_cast<double>(stream.dimension() * std::max<int64_t>(1, rank)) * sizeof(T);
  const double read_us = bytes / line.number("triad_gbs") / 1e3, us = 1e3 * timing.median;
  line.set("us_per_observation", us)
      .set("ns_per_parameter", 1e3 * us / static_cast<double>(stream.dimension()))
      .set("factor_mb", bytes / 1e6)
      .set("time_over_read", us / read_us)
      .set("time_over_read_and_write", us / (2 * read_us))
      .set("peak_mb", peak_megabytes());
  stream.score("linearized");
  return {line.set("us_with_score", 1e3 * time_calls(effort, [&] { stream.observe(); }).median)};
}

}  // namespace

std::vector<Record> online(const Record& parameters) {
  return parameters.text("dtype") == "f32" ? stream_of<float>(parameters) : stream_of<double>(parameters);
}

}  // namespace bench
