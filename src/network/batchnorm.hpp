// batchnorm [momentum 0.1] [eps 1e-5] [noaffine]: each channel minus its mean, over its standard deviation,
// times a scale, plus a shift. Mean and variance are the minibatch's own in training, over examples and
// positions, and running ones in predictions (Ioffe and Szegedy 2015).
#pragma once

#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

template <class T>
class BatchNormLayer final : public Layer<T> {
 public:
  struct Settings {
    double momentum, epsilon;
    bool affine;
  };
  BatchNormLayer(const Shape& shape, const Settings& settings, const Placement& at)
      : Layer<T>(shape, shape), settings_(settings), at_(at) {}
  std::string text() const override;
  Index parameters() const override { return settings_.affine ? 2 * channels() : 0; }
  std::unique_ptr<PointRows<T>> point_rows() const override;
  std::vector<ParameterBlock> blocks() const override;
  void initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const override;
  std::optional<Layout> layout() const override { return std::nullopt; }
  Index normalized_channels() const override { return channels(); }
  Index fewest_examples() const override { return this->input().size() == channels() ? 2 : 1; }
  bool can(Need) const override { return false; }
  /// Rows of the parameters need the sensitivities of the outputs, which then cannot give way to the inputs'.
  bool is_elementwise() const override { return !settings_.affine; }
  /// The normalised inputs; for each channel, 1 over the standard deviation.
  Index kept(Index outputs) const override { return outputs; }
  Index kept_of_sample() const override { return channels(); }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;

 private:
  Index channels() const { return this->input().channels; }
  struct Moments {
    double mean, variance;
  };
  Moments moments(const Pass<T>& pass, Index channel, ConstMatrixView<T> in) const;
  Settings settings_;
  Placement at_;
};

template <class T>
std::shared_ptr<const Layer<T>> make_batchnorm(LineReader& line, const Shape& input, const Placement& at);

}  // namespace bdl
