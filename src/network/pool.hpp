// maxpool K [stride s] [pad p], avgpool K [stride s] [pad p], globalavgpool: one number for a window of a
// map.
#pragma once

#include "network/convolution/conv_shape.hpp"
#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

/// What pools have in common.
template <class T>
class PoolLayer : public Layer<T> {
 public:
  explicit PoolLayer(const ConvShape& window) : Layer<T>(window.input, window.output), window_(window) {}
  std::optional<Layout> layout() const override { return Layout::packets; }
  bool can(Need need) const override { return need != Need::second_derivatives; }

 protected:
  /// "WORD 3 stride 2 pad 1".
  std::string text_of(const char* word) const;
  ConvShape window_;
};

/// The largest number; padding is less than any. The gradient goes to the first of equals, by rows, and NaN
/// is passed on.
template <class T>
class MaxPoolLayer final : public PoolLayer<T> {
 public:
  using PoolLayer<T>::PoolLayer;
  std::string text() const override { return this->text_of("maxpool"); }
  /// The taps that were largest.
  Index kept(Index outputs) const override { return outputs; }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;
};

/// The mean of the window, padding included as 0; or of the whole map.
template <class T>
class AveragePoolLayer final : public PoolLayer<T> {
 public:
  AveragePoolLayer(const ConvShape& window, bool is_global) : PoolLayer<T>(window), is_global_(is_global) {}
  std::string text() const override { return is_global_ ? "globalavgpool" : this->text_of("avgpool"); }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;

 private:
  T factor() const {
    return T(1) /
           static_cast<T>(is_global_ ? this->input().rows * this->input().columns : this->window_.taps());
  }
  bool is_global_;
};

template <class T>
std::shared_ptr<const Layer<T>> make_max_pool(LineReader& line, const Shape& input, const Placement&);
template <class T>
std::shared_ptr<const Layer<T>> make_average_pool(LineReader& line, const Shape& input, const Placement&);
template <class T>
std::shared_ptr<const Layer<T>> make_global_average_pool(LineReader& line, const Shape& input,
                                                         const Placement&);

}  // namespace bdl
