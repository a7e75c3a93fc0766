#include "network/convolution/conv.hpp"

#include "network/convolution/convolve.hpp"
#include "network/convolution/patch_rows.hpp"
#include "network/initialization.hpp"

namespace bdl {

template <class T>
std::string ConvLayer<T>::text() const {
  std::string text = "conv " + std::to_string(shape_.output.channels) + " " + std::to_string(shape_.kernel);
  if (shape_.stride != 1) text += " stride " + std::to_string(shape_.stride);
  if (shape_.pad != 0) text += " pad " + std::to_string(shape_.pad);
  if (shape_.groups != 1) text += " groups " + std::to_string(shape_.groups);
  return text + (shape_.has_bias() ? "" : " nobias");
}

template <class T>
std::vector<ParameterBlock> ConvLayer<T>::blocks() const {
  return weights_and_bias(shape_.output.channels, shape_.fan_in(), shape_.weight_offset, shape_.bias_offset,
                          shape_.input.channels);
}

template <class T>
void ConvLayer<T>::initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const {
  const auto weights = blocks();
  initialize_weights(scheme, {shape_.fan_in(), shape_.filters() * shape_.taps()}, key, weights, theta);
}

template <class T>
std::unique_ptr<BlockRows<T>> ConvLayer<T>::rows(bool of_data) const {
  return std::make_unique<PatchRows<T>>(shape_, of_data);
}

template <class T>
void ConvLayer<T>::forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                           const Kept<T>&) const {
  pass.weights.apply(shape_, pass.sample, in, out);
}

template <class T>
void ConvLayer<T>::backward(const Pass<T>& pass, const Kept<T>&, ConstMatrixView<T> e, bool add,
                            MatrixView<T> to) const {
  pass.weights.pull(shape_, pass.sample, e, add, to);
}

ConvShape read_window(LineReader& line, const Shape& input, Index kernel, Index default_stride) {
  ConvShape shape{input, input, kernel};
  shape.stride = line.named("stride", 1, default_stride);
  shape.pad = line.named("pad", 0, 0);
  if (shape.pad > kernel) line.fail("pad is larger than the kernel");
  const auto outputs = [&](Index inputs) { return (inputs + 2 * shape.pad - kernel) / shape.stride + 1; };
  if (input.rows + 2 * shape.pad < kernel || input.columns + 2 * shape.pad < kernel)
    line.fail("its input is " + shape_text(input) + ", too small for a kernel of " + std::to_string(kernel));
  shape.output.rows = outputs(input.rows);
  shape.output.columns = outputs(input.columns);
  return shape;
}

template <class T>
std::shared_ptr<const Layer<T>> make_conv(LineReader& line, const Shape& input, const Placement& at) {
  const Index filters = line.count("FILTERS"), kernel = line.count("KERNEL");
  ConvShape shape = read_window(line, input, kernel, 1);
  shape.groups = line.named("groups", 1, 1);
  if (input.channels % shape.groups != 0 || filters % shape.groups != 0)
    line.fail("groups divide neither " + std::to_string(input.channels) + " channels nor " +
              std::to_string(filters) + " filters evenly");
  shape.output.channels = filters;
  const double weights = static_cast<double>(filters) * static_cast<double>(shape.channels()) *
                         static_cast<double>(kernel) * static_cast<double>(kernel);
  if (weights > INT32_MAX) line.fail("it has more than 2147483647 weights");
  shape.weight_offset = at.parameters;
  if (!line.flag("nobias")) shape.bias_offset = at.parameters + shape.weights();
  return std::make_shared<ConvLayer<T>>(shape);
}

template class ConvLayer<float>;
template class ConvLayer<double>;
template std::shared_ptr<const Layer<float>> make_conv(LineReader&, const Shape&, const Placement&);
template std::shared_ptr<const Layer<double>> make_conv(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
