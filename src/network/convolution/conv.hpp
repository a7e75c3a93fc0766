// conv FILTERS KERNEL [stride s] [pad p] [groups g] [nobias]: cross-correlation of maps with filters.
#pragma once

#include "network/convolution/conv_shape.hpp"
#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

template <class T>
class ConvLayer final : public Layer<T> {
 public:
  explicit ConvLayer(const ConvShape& shape) : Layer<T>(shape.input, shape.output), shape_(shape) {}
  std::string text() const override;
  Index parameters() const override { return shape_.parameters(); }
  std::vector<ParameterBlock> blocks() const override;
  void initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const override;
  std::optional<Layout> layout() const override { return Layout::packets; }
  std::unique_ptr<BlockRows<T>> rows(bool of_data) const override;
  const ConvShape* convolution() const override { return &shape_; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;

 private:
  ConvShape shape_;
};

/// The numbers that conv and pools have in common; fails, naming the line, where a kernel does not fit.
ConvShape read_window(LineReader& line, const Shape& input, Index kernel, Index default_stride);

template <class T>
std::shared_ptr<const Layer<T>> make_conv(LineReader& line, const Shape& input, const Placement& at);

}  // namespace bdl
