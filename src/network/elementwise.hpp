// Layers that treat each number by itself, out = phi(in) in place of in: activations, and dropout, whose phi
// is a random factor in training.
#pragma once

#include "bdl/model.h"
#include "network/layer.hpp"
#include "network/line.hpp"

namespace bdl {

/// What both have in common: all of back-propagation is a product with the slopes.
template <class T>
class ElementwiseLayer : public Layer<T> {
 public:
  explicit ElementwiseLayer(const Shape& shape) : Layer<T>(shape, shape) {}
  bool is_elementwise() const override { return true; }
  std::optional<Layout> layout() const override { return std::nullopt; }
  Index kept(Index outputs) const override { return outputs; }
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override;
  void change(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in,
              ConstMatrixView<T> in_change, MatrixView<T> out_change) const override;
  void change_back(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in_change,
                   ConstMatrixView<T> e, ConstMatrixView<T> e_change, bool add,
                   MatrixView<T> to) const override;
};

/// relu, tanh, ...
template <class T>
class ActivationLayer final : public ElementwiseLayer<T> {
 public:
  ActivationLayer(const Shape& shape, bdl_activation activation)
      : ElementwiseLayer<T>(shape), activation_(activation) {}
  std::string text() const override;
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;

 private:
  bdl_activation activation_;
};

/// dropout RATE: each number is 0 with that probability and divided by 1 - RATE else, anew for each example
/// and sample of a training step; nothing at prediction (Srivastava et al. 2014). Masks do not depend on the
/// layout.
template <class T>
class DropoutLayer final : public ElementwiseLayer<T> {
 public:
  /// Its random numbers begin at number `offset` of an example.
  DropoutLayer(const Shape& shape, double rate, Index offset)
      : ElementwiseLayer<T>(shape), rate_(rate), offset_(offset) {}
  std::string text() const override;
  bool can(Need need) const override { return need == Need::separate_examples; }
  Index random_numbers() const override { return this->output().size(); }
  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override;

 private:
  void draw(const StreamKey& key, Index first_number, Index first, Index count, MatrixView<T> slopes) const;
  double rate_;
  Index offset_;
};

/// Words of descriptions, from BDL_IDENTITY on.
std::span<const char* const> activation_words();
const char* activation_word(bdl_activation activation);

template <class T, bdl_activation activation>
std::shared_ptr<const Layer<T>> make_activation(LineReader&, const Shape& input, const Placement&) {
  return std::make_shared<ActivationLayer<T>>(input, activation);
}
template <class T>
std::shared_ptr<const Layer<T>> make_dropout(LineReader& line, const Shape& input, const Placement& at) {
  const double rate = line.rate("RATE");
  if (static_cast<T>(rate) == 1) line.fail("RATE is too near to 1");
  return std::make_shared<DropoutLayer<T>>(input, rate, at.random);
}

}  // namespace bdl
