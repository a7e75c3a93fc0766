// How a pass multiplies: by the weights of its samples now; with local noise or masks when a method asks for
// it.
#pragma once

#include "network/convolution/conv_shape.hpp"

namespace bdl {

template <class T>
class Weights {
 public:
  Weights() = default;
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;
  virtual ~Weights() = default;
  /// Point parameters from `offset` on, which nothing varies.
  virtual const T* points(Index offset, Index s) const = 0;
  /// Z = W A + b in sample s.
  virtual void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const = 0;
  /// to = W^T E in sample s; add: to += W^T E.
  virtual void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
                    MatrixView<T> to) const = 0;
  /// The same for the maps of a convolution, in packets.
  virtual void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const = 0;
  virtual void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add,
                    MatrixView<T> to) const = 0;
};

/// theta_s in the columns of a matrix.
template <class T>
class SampledWeights final : public Weights<T> {
 public:
  explicit SampledWeights(ConstMatrixView<T> thetas) : thetas_(thetas) {}
  const T* points(Index offset, Index s) const override { return thetas_.column_data(s) + offset; }
  void apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
            MatrixView<T> to) const override;
  void apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const override;
  void pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add, MatrixView<T> to) const override;
  /// W^T.
  ConstMatrixView<T> transposed(const DenseShape& shape, Index s) const {
    return {thetas_.column_data(s) + shape.weight_offset, shape.inputs, shape.outputs};
  }

 private:
  ConstMatrixView<T> thetas_;
};

}  // namespace bdl
