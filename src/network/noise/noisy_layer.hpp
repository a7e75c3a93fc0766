// Noise of one layer with weights W and bias: theta ~ N(mu, diag(s) + W W^T), each example with a draw of its
// own or all with the same, by one of the estimates of docs/mathematics/noise.md.
#pragma once

#include <memory>
#include <optional>

#include "network/layer.hpp"
#include "network/noise/noise_source.hpp"

namespace bdl {

/// How outputs of a draw are made. local: noise of the outputs. weights: weights of each example's own.
/// flipout: one draw of the diagonal part, with signs of each example's own. shared: one draw for all.
enum class LayerNoise { local, weights, flipout, shared };

/// What is believed of a layer's parameters, weights before biases.
template <class T>
struct LayerBelief {
  const T* mean = nullptr;
  ConstMatrixView<T> w{};  ///< W's rows of the layer, D x K
  const T* s = nullptr;
  bool has_common_s = false;  ///< all s are one number
};

/// By these parameters, of sum_i c_i loss_i.
template <class T>
struct LayerGradient {
  std::span<T> mean;
  MatrixView<T> w;
  /// By log sqrt(s); empty: not asked for. Of a common s, only their sum has a meaning.
  std::span<T> log_sigma;
};

/// Examples of all samples, one sample after the other: M S rows.
template <class T>
struct NoiseWeights {
  ConstMatrixView<T> eps;  ///< normals of W's columns; shared: S rows
  ConstSpan<T> c;
};

struct NoiseSize {
  LayerNoise noise;
  Index rank, examples, samples;
};

template <class T>
class NoisyLayer {
 public:
  /// `number`: for its source. `of_data`: its inputs are the same for all samples.
  NoisyLayer(const Layer<T>& layer, Index number, bool of_data);

  Index number() const { return number_; }
  Index parameters() const { return parameters_; }
  Index first_parameter() const { return first_parameter_; }
  /// Positions of its outputs.
  Index positions() const { return conv_ ? conv_->positions() : 1; }
  /// The next passes are of this belief.
  void begin(const NoiseSize& size, const LayerBelief<T>& belief, const NoiseSource<T>& source);
  /// Z for inputs A of sample s. eps: the sample's rows.
  void forward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z, Scratch& scratch);
  /// to = J^T E, or to += J^T E.
  void backward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add,
                MatrixView<T> to, Scratch& scratch) const;
  /// Of all samples: their inputs (those of data once), and E by their outputs.
  void gradient(ConstMatrixView<T> a, ConstMatrixView<T> e, const NoiseWeights<T>& weights,
                const LayerGradient<T>& out, Scratch& scratch);

 private:
  Layout layout() const { return conv_ ? Layout::packets : Layout::columns; }
  Index lanes() const { return conv_ ? packet_size : 1; }
  Index columns() const { return columns_of(layout(), size_.examples); }
  Shape input() const { return conv_ ? conv_->input : Shape{dense_->inputs}; }
  Shape output() const { return conv_ ? conv_->output : Shape{dense_->outputs}; }
  Index in_height() const { return column_numbers(layout(), input()); }
  Index out_height() const { return column_numbers(layout(), output()); }
  /// Numbers of a channel, in a column.
  Index in_run() const { return in_height() / input().channels; }
  Index out_run() const { return out_height() / output().channels; }
  /// Maps of Q: one for each output, or where s is common one for all that see the same inputs.
  Index variance_maps() const;
  MatrixView<T> kept(Index s) const;
  MatrixView<T> signs(Index before, const Shape& shape, Index s) const;
  MatrixView<T> signs_in(Index s) const;
  MatrixView<T> signs_out(Index s) const;
  /// Of sample s: sqrt(s) zeta, and theta where all examples share it.
  MatrixView<T> drawn(Index s) const;

  void apply(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> a, MatrixView<T> z) const;
  void pull(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> e, bool add, MatrixView<T> to) const;
  void sum_rows(ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> weights, MatrixView<T> out,
                Scratch& scratch);
  ConstMatrixView<T> of_sample(Index s, ConstMatrixView<T> all) const;

  // local.cpp
  std::span<T> common_weights() const;
  void begin_local();
  void apply_variance(ConstMatrixView<T> squares, MatrixView<T> q) const;
  void pull_variance(ConstMatrixView<T> h, MatrixView<T> to) const;
  MatrixView<T> sensitivities_of_variance(Index s, ConstMatrixView<T> e, Scratch& scratch) const;
  double common_gradient(ConstMatrixView<T> squares, ConstMatrixView<T> h, ConstSpan<T> c,
                         Scratch& scratch) const;
  void add_local(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch);
  void pull_local(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, MatrixView<T> to,
                  Scratch& scratch) const;
  void add_local_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                          std::span<T> out, Scratch& scratch);
  // own_draws.cpp
  ConvShape own_shape() const;
  ConstMatrixView<T> packed(ConstMatrixView<T> columns, Scratch& scratch) const;
  void apply_own(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z,
                 Scratch& scratch) const;
  void pull_own(Index s, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add, MatrixView<T> to,
                Scratch& scratch) const;
  void add_own_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c, std::span<T> out,
                        Scratch& scratch);
  // one_draw.cpp
  void draw_diagonal(Index s);
  void add_flipout(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch);
  void pull_flipout(Index s, ConstMatrixView<T> e, MatrixView<T> to, Scratch& scratch) const;
  void add_flipout_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                            std::span<T> out, Scratch& scratch);
  void draw_shared(Index s, ConstMatrixView<T> eps);
  void shared_gradient(ConstMatrixView<T> a, ConstMatrixView<T> e, const NoiseWeights<T>& weights,
                       const LayerGradient<T>& out, Scratch& scratch);

  Index number_, first_parameter_, parameters_ = 0;
  std::optional<DenseShape> dense_;  // one of the two; offsets count from the layer's first parameter
  std::optional<ConvShape> conv_;
  std::unique_ptr<BlockRows<T>> rows_;  // of whatever inputs and sensitivities
  NoiseSize size_{};
  LayerBelief<T> belief_;
  const NoiseSource<T>* source_ = nullptr;
  // local: xi / (2 sqrt Q). flipout: signs of inputs, and of outputs. Of every sample, one after the other.
  mutable Buffer<T> kept_;
  // flipout: sqrt(s) zeta of every sample. shared: that, and theta. local: a common s, for each weight.
  mutable Buffer<T> drawn_;
};

}  // namespace bdl
