// Noise of one layer with weights W and bias: theta ~ N(mu, diag(s) + W W^T), where each example has its draw
// or all have the same one, by one of four estimates (docs/theory/noise.md). With standard normal xi,
// zeta and eps, inputs A, and S the variances s as weights:
//
//   local    Z = mu A + sum_k (W_k A) eps_k + xi o sqrt(Q), Q = S (A o A)     example_noise.cpp
//   weights  Z_i = (mu + W eps_i + sqrt(s) o zeta_i) A_i for example i        example_noise.cpp
//   flipout  Z = mu A + sum_k (W_k A) eps_k + r o (N (t o A))                 noisy_layer.cpp
//   shared   Z = (mu + W eps + n) A                                           noisy_layer.cpp
//
// where n = sqrt(s) o zeta is one draw for all examples, N is n as weights, and r, t are random signs of each
// example's outputs and inputs (Wen et al. 2018): each example's law is exact, and two are uncorrelated.
#pragma once

#include <memory>
#include <optional>

#include "network/layer.hpp"
#include "network/noise/noise_source.hpp"

namespace bdl {

/// The ways to make the outputs of a draw: by noise of the outputs; by weights drawn for each example; by one
/// draw of the diagonal term with random signs for each example; by one draw for all examples.
enum class LayerNoise { local, weights, flipout, shared };

/// The Gaussian of a layer's parameters, weights before biases.
template <class T>
struct LayerPosterior {
  const T* mean = nullptr;
  ConstMatrixView<T> w{};  ///< W's rows of the layer, D x K
  const T* s = nullptr;
  bool has_common_s = false;  ///< all s are one number
};

/// The gradient of sum_i c_i loss_i by the numbers of a LayerPosterior.
template <class T>
struct LayerGradient {
  std::span<T> mean;
  MatrixView<T> w;
  /// The gradient by log sqrt(s), if it is not empty. If s is common, only the sum of its numbers has a
  /// meaning.
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
  /// `number` is the layer's for its noise source. `of_data`: its inputs are the same for all samples.
  NoisyLayer(const Layer<T>& layer, Index number, bool of_data);

  Index number() const { return number_; }
  Index parameters() const { return parameters_; }
  Index first_parameter() const { return first_parameter_; }
  /// Number of positions of its outputs.
  Index positions() const { return conv_ ? conv_->positions() : 1; }
  /// Sets the posterior and the source of all passes until the next call.
  void begin(const NoiseSize& size, const LayerPosterior<T>& posterior, const NoiseSource<T>& source);
  /// Computes Z for the inputs A of sample s. `eps` are the sample's rows.
  void forward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z, Scratch& scratch);
  /// to = J^T E, or to += J^T E.
  void backward(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add,
                MatrixView<T> to, Scratch& scratch) const;
  /// Computes the gradient from the inputs of all samples (those of data once) and E of their outputs.
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
  /// Number of values of a channel in a column.
  Index in_run() const { return in_height() / input().channels; }
  Index out_run() const { return out_height() / output().channels; }

  /// Returns use(shape) for the layer's DenseShape or ConvShape.
  template <class Use>
  auto with_shape(Use&& use) const {
    return conv_ ? use(*conv_) : use(*dense_);
  }
  /// Multiplies by the parameters in column k.
  void apply(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> a, MatrixView<T> z) const {
    with_shape([&](const auto& shape) { SampledWeights<T>(columns).apply(shape, k, a, z); });
  }
  void pull(ConstMatrixView<T> columns, Index k, ConstMatrixView<T> e, bool add, MatrixView<T> to) const {
    with_shape([&](const auto& shape) { SampledWeights<T>(columns).pull(shape, k, e, add, to); });
  }
  void sum_rows(ConstMatrixView<T> a, ConstMatrixView<T> e, ConstMatrixView<T> weights, MatrixView<T> out,
                Scratch& scratch);
  ConstMatrixView<T> of_sample(Index s, ConstMatrixView<T> all) const;

  // flipout and shared: noisy_layer.cpp
  MatrixView<T> signs(Index before, const Shape& shape, Index s) const;
  MatrixView<T> signs_in(Index s) const { return signs(0, input(), s); }
  MatrixView<T> signs_out(Index s) const { return signs(input().channels, output(), s); }
  MatrixView<T> drawn(Index s) const;
  void draw_diagonal(Index s);
  void add_flipout(Index s, ConstMatrixView<T> a, MatrixView<T> z, Scratch& scratch);
  void pull_flipout(Index s, ConstMatrixView<T> e, MatrixView<T> to, Scratch& scratch) const;
  void add_flipout_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                            std::span<T> out, Scratch& scratch);
  void draw_shared(Index s, ConstMatrixView<T> eps);
  void shared_gradient(ConstMatrixView<T> a, ConstMatrixView<T> e, const NoiseWeights<T>& weights,
                       const LayerGradient<T>& out, Scratch& scratch);
  // local: example_noise.cpp
  Index variance_maps() const;
  MatrixView<T> output_noise(Index s) const;
  MatrixView<T> common_weights() const;
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
  // weights: example_noise.cpp
  ConvShape example_shape() const;
  ConstMatrixView<T> packed(ConstMatrixView<T> columns, Scratch& scratch) const;
  void apply_example_weights(Index s, ConstMatrixView<T> a, ConstMatrixView<T> eps, MatrixView<T> z,
                             Scratch& scratch) const;
  void pull_example_weights(Index s, ConstMatrixView<T> e, ConstMatrixView<T> eps, bool add, MatrixView<T> to,
                            Scratch& scratch) const;
  void add_example_gradient(Index s, ConstMatrixView<T> a, ConstMatrixView<T> e, ConstSpan<T> c,
                            std::span<T> out, Scratch& scratch);

  Index number_, first_parameter_, parameters_ = 0;
  std::optional<DenseShape> dense_;  // one of the two; offsets count from the layer's first parameter
  std::optional<ConvShape> conv_;
  std::unique_ptr<BlockRows<T>> rows_;  // points at the inputs and sensitivities of one sum at a time
  NoiseSize size_{};
  LayerPosterior<T> posterior_;
  const NoiseSource<T>* source_ = nullptr;
  // local: xi / (2 sqrt Q); flipout: signs of inputs, and of outputs. Samples stand one after the other.
  mutable Buffer<T> kept_;
  // flipout: sqrt(s) zeta of each sample; shared: that and theta; local: a common s, for each weight.
  mutable Buffer<T> drawn_;
};

}  // namespace bdl
