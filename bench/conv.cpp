// Convolutions: single layers on their own, and training steps of the published networks.
#include <algorithm>
#include <stdexcept>

#include "api.hpp"
#include "cases.hpp"
#include "filter_tile.hpp"
#include "machine.hpp"
#include "network/convolution/convolution.hpp"
#include "network/convolution/patch_rows.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using bdl::Buffer;
using bdl::ConvShape;
using bdl::Index;
using bdl::PacketMap;

Effort effort_of(const Record& parameters) {
  return parameters.has("quick") ? Effort{2, 0} : Effort{9, 0.3};
}

/// "64x4x4 192x5x5": channels, rows and columns; filters and kernel.
ConvShape shape_of(const Record& parameters) {
  const Index channels = parameters.integer("C"), size = parameters.integer("H"),
              kernel = parameters.integer("k"), stride = parameters.integer("s"),
              pad = parameters.integer("p"), out = (size + 2 * pad - kernel) / stride + 1;
  return {{channels, size, size}, {parameters.integer("O"), out, out}, kernel, stride, pad, 1};
}

class Layer {
 public:
  Layer(const ConvShape& shape, Index examples)
      : shape_(shape),
        packets_(bdl::packets_of(examples)),
        weights_(uniform<float>(shape.weights(), 0.1F)),
        bias_(uniform<float>(shape.output.channels, 0.1F)),
        ones_(static_cast<std::size_t>(examples), 1.0F),
        sums_(weights_.size()),
        squares_(weights_.size()),
        of_filters_(weights_.size()),
        rows_(shape, false),
        filter_tiles_(shape) {
    fill(in_, shape.input);
    fill(out_, shape.output);
    fill(back_, shape.input);
    rows_.view(view(in_, shape.input), out(), examples);
  }
  void forward() {
    bdl::convolve<float>(shape_, weights_.data(), bias_.data(), view(in_, shape_.input), out());
  }
  void backward() {
    bdl::convolve_back<float>(shape_, weights_.data(), out(), false, view(back_, shape_.input));
  }
  void sum() {
    const auto rows = static_cast<Index>(ones_.size());
    rows_.combine(0, rows, {ones_.data(), rows, 1}, {sums_.data(), shape_.weights(), 1}, scratch_);
  }
  /// The sums by tiles of filters along the vector; fails if they are others.
  void sum_by_filters() { filter_tiles_.sum({view(in_, shape_.input), out()}, of_filters_.data()); }
  void check_sums() const {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (!(std::abs(sums_[i] - of_filters_[i]) <= 1e-3 * (1 + std::abs(sums_[i]))))
        throw std::runtime_error("the two ways to sum gradients differ");
  }
  void sum_and_squares() { rows_.sum_and_squares(ones_, sums_, ones_, squares_, scratch_); }

 private:
  bdl::MatrixView<float> view(Buffer<float>& maps, const bdl::Shape& shape) {
    return maps.matrix(PacketMap{shape}.packet_numbers(), packets_);
  }
  bdl::MatrixView<float> out() { return view(out_, shape_.output); }
  void fill(Buffer<float>& maps, const bdl::Shape& shape) {
    const Index numbers = PacketMap{shape}.packet_numbers() * packets_;
    const auto values = uniform<float>(numbers, 1.0F);
    maps.reserve(numbers);
    std::ranges::copy(values, maps.data());
  }

  ConvShape shape_;
  Index packets_;
  std::vector<float> weights_, bias_, ones_, sums_, squares_, of_filters_;
  Buffer<float> in_, out_, back_;
  bdl::PatchRows<float> rows_;
  bdl::Scratch scratch_;
  FilterTiles filter_tiles_;
};

/// Rates on the products within the input, and on all: skipping the padding may exceed the peak.
Record layer(const Record& parameters) {
  const ConvShape shape = shape_of(parameters);
  const Index examples = parameters.integer("M");
  Layer of(shape, examples);
  const double filters = 2.0 * static_cast<double>(examples * shape.channels() * shape.output.channels),
               valid = filters * static_cast<double>(shape.valid_products()),
               nominal = filters * static_cast<double>(shape.positions() * shape.taps());
  const double peak = parameters.number("sgemm_peak");
  Record line = parameters;
  const auto add = [&](const char* what, const std::function<void()>& call) {
    const Timing timing = time_calls(effort_of(parameters), call);
    const double gflops = valid / timing.min / 1e6;
    line.set(std::string(what) + "_gflops", gflops)
        .set(std::string(what) + "_nominal", nominal / timing.min / 1e6)
        .set(std::string(what) + "_of_peak", gflops / peak);
    return timing.min;
  };
  add("forward", [&] { of.forward(); });
  if (shape.channels() > 3) add("backward", [&] { of.backward(); });
  const double sums = add("weights", [&] { of.sum(); });
  if (parameters.integer("threads") == 1) {
    add("by_filters", [&] { of.sum_by_filters(); });
    of.check_sums();
  }
  const Timing both = time_calls(effort_of(parameters), [&] { of.sum_and_squares(); });
  return line.set("with_squares", both.min / sums);
}

Optimizer network_optimizer(const Record& parameters, const Model& model, const Posterior& posterior) {
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(model.get(), posterior.get(), parameters.text("method").c_str(), 50000,
                             &optimizer));
  Optimizer created(optimizer);
  if (parameters.text("method") != "map")  // whose gradients are those at its mean
    check(bdl_optimizer_set_int(optimizer, "samples", parameters.integer("S")));
  // Steps on arbitrary labels at the default rate may diverge, and then end with an error.
  check(bdl_optimizer_set_double(optimizer, "learning_rate", 1e-4));
  if (parameters.has("guard"))
    check(bdl_optimizer_set_double(optimizer, "guard", parameters.number("guard")));
  return created;
}

/// Steps of training on any numbers.
Record network(const Record& parameters) {
  const Model model = published_network(parameters.text("network"));
  const int64_t minibatch = parameters.integer("M"), inputs = bdl_model_inputs(model.get());
  const Posterior posterior =
      make_posterior(BDL_F32, bdl_model_parameters(model.get()), parameters.integer("L"));
  const Optimizer optimizer = network_optimizer(parameters, model, posterior);
  const auto x = uniform<float>(minibatch * inputs, 1.0F);
  std::vector<float> y(static_cast<std::size_t>(minibatch));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * i % 10);
  const Timing timing = time_calls(effort_of(parameters), [&] {
    check(bdl_optimizer_step(optimizer.get(), matrix(x, minibatch, inputs), matrix(y, minibatch, 1)));
  });
  Record line = parameters;
  return line.set("ms", timing.min).set("ms_median", timing.median).set("peak_mb", peak_megabytes());
}

}  // namespace

std::vector<Record> conv(const Record& parameters) {
  if (parameters.has("network")) return {network(parameters)};
  return {layer(parameters)};
}

}  // namespace bench
