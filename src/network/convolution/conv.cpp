// conv FILTERS KERNEL [stride s] [pad p] [groups g] [nobias]: cross-correlation of maps with filters.
#include "network/convolution/patch_rows.hpp"
#include "network/layers.hpp"

namespace bdl {
namespace {

template <class T>
class ConvLayer final : public Layer<T> {
 public:
  explicit ConvLayer(const ConvShape& shape) : Layer<T>(shape.input, shape.output), shape_(shape) {}
  std::string text() const override {
    std::string text = "conv " + std::to_string(shape_.output.channels) + " " + std::to_string(shape_.kernel);
    if (shape_.stride != 1) text += " stride " + std::to_string(shape_.stride);
    if (shape_.pad != 0) text += " pad " + std::to_string(shape_.pad);
    if (shape_.groups != 1) text += " groups " + std::to_string(shape_.groups);
    return text + (shape_.has_bias() ? "" : " nobias");
  }
  Index parameters() const override { return shape_.parameters(); }
  const ConvShape* convolution() const override { return &shape_; }
  std::vector<ParameterBlock> blocks() const override {
    return weights_and_bias(shape_.output.channels, shape_.fan_in(), shape_.weight_offset, shape_.bias_offset,
                            shape_.input.channels);
  }
  std::unique_ptr<BlockRows<T>> rows(bool of_data) const override {
    return std::make_unique<PatchRows<T>>(shape_, of_data);
  }
  void initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const override {
    const auto weights = blocks();
    initialize_weights(scheme, {shape_.fan_in(), shape_.filters() * shape_.taps()}, key, weights, theta);
  }
  std::optional<Layout> layout() const override { return Layout::packets; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    pass.weights.apply(shape_, pass.sample, in, out);
  }
  void backward(const Pass<T>& pass, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    pass.weights.pull(shape_, pass.sample, e, add, to);
  }

 private:
  ConvShape shape_;
};

}  // namespace

ConvShape read_window(LineReader& line, const Shape& input, Index kernel, Index default_stride) {
  ConvShape shape{input, input, kernel};
  shape.stride = line.named("stride", 1, default_stride);
  shape.pad = line.named("pad", 0, 0);
  if (shape.pad > kernel)
    line.fail("pad is " + std::to_string(shape.pad) + ", expected at most the kernel, " +
              std::to_string(kernel));
  const auto outputs = [&](Index inputs) { return (inputs + 2 * shape.pad - kernel) / shape.stride + 1; };
  if (input.rows + 2 * shape.pad < kernel || input.columns + 2 * shape.pad < kernel)
    line.fail("its input is " + shape_text(input) + ", too small for a kernel of " + std::to_string(kernel));
  shape.output.rows = outputs(input.rows);
  shape.output.columns = outputs(input.columns);
  return shape;
}

template <class T>
LayerPointer<T> make_conv(LineReader& line, const Shape& input, const Placement& at) {
  const Index filters = line.count("FILTERS"), kernel = line.count("KERNEL");
  ConvShape shape = read_window(line, input, kernel, 1);
  shape.groups = line.named("groups", 1, 1);
  if (input.channels % shape.groups != 0 || filters % shape.groups != 0)
    line.fail("groups is " + std::to_string(shape.groups) + ", expected a divisor of the " +
              std::to_string(input.channels) + " channels of its input and of its " +
              std::to_string(filters) + " filters");
  shape.output.channels = filters;
  const double weights = static_cast<double>(filters) * static_cast<double>(shape.channels()) *
                         static_cast<double>(kernel) * static_cast<double>(kernel);
  if (weights > INT32_MAX) line.fail("it has more than 2147483647 weights");
  shape.weight_offset = at.parameters;
  if (!line.flag("nobias")) shape.bias_offset = at.parameters + shape.weights();
  return std::make_shared<ConvLayer<T>>(shape);
}

template LayerPointer<float> make_conv(LineReader&, const Shape&, const Placement&);
template LayerPointer<double> make_conv(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
