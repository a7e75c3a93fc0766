// Multilayer perceptrons. Layer l has weights W (outputs x inputs, row-major in theta, i.e. W^T column-major)
// and perhaps a bias; examples are columns: Z = W A + b.
#pragma once

#include "model/model.hpp"

namespace bdl {

struct DenseLayer {
  Index inputs, outputs, weight_offset, bias_offset;  // bias_offset < 0: no bias
};

/// Parameters of a network of these layer sizes (biases counted), or -1 if more than 2^31 - 1.
Index count_parameters(ConstSpan<Index> sizes);

/// What back-propagation needs of a forward pass of M examples under S parameter vectors: columns are
/// sample * M + example. Layer 0's input is X itself, shared by all samples.
template <class T>
struct Tape {
  Index examples = 0, samples = 0;
  ConstMatrixView<T> x;
  std::vector<Buffer<T>> activations;    // [l]: input of layer l + 1
  std::vector<Buffer<T>> derivatives;    // [l]: phi' after layer l
  std::vector<Buffer<T>> curvatures;     // [l]: phi'' after layer l; none unless reserved
  std::vector<Buffer<T>> sensitivities;  // [l]: E of layer l, for K seeds per column: (k S + s) M + i
};

template <class T>
class Network final : public Model<T> {
 public:
  Network(ConstSpan<Index> sizes, bdl_activation activation, bool bias, Likelihood density);
  std::unique_ptr<Model<T>> clone() const override { return std::make_unique<Network>(*this); }

  const std::vector<DenseLayer>& layers() const { return layers_; }
  bdl_activation activation() const { return activation_; }
  bool has_bias() const { return layers_.front().bias_offset >= 0; }
  bool is_single_index() const override { return layers_.size() == 1 && this->outputs() == 1; }

  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Buffer<T>& scratch) const override;
  Index scratch_size(Index examples) const override { return 2 * width() * examples; }

  void reserve(Tape<T>& tape, Index examples, Index samples, Index seeds) const;
  /// From now on forward() records phi'' as well.
  void reserve_curvatures(Tape<T>& tape, Index examples, Index samples) const;
  Index tape_bytes(Index examples, Index samples, Index seeds) const;
  /// F (C x M S) for the S columns of thetas, recording the tape.
  void forward(ConstMatrixView<T> thetas, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f) const;
  /// Back-propagates the seeds that stand in tape.sensitivities.back() (C x M S K) to all layers.
  void backward(ConstMatrixView<T> thetas, Tape<T>& tape, Index seeds) const;

  void initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const;

 private:
  Index width() const;
  void linear_outputs(ConstMatrixView<T> thetas, ConstMatrixView<T> x, MatrixView<T> f) const;
  void affine(const DenseLayer& layer, const T* theta, ConstMatrixView<T> a, MatrixView<T> z) const;
  std::vector<DenseLayer> layers_;
  bdl_activation activation_;
};

}  // namespace bdl
