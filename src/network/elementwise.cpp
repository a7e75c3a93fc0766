// Layers that treat each number by itself, out = phi(in) in place of in: activations (relu, tanh, ...), and
// dropout RATE, whose phi is a random factor in training.
#include <algorithm>

#include "network/activation.hpp"
#include "network/layers.hpp"

namespace bdl {
namespace {

/// Number of random numbers that are drawn before they go to their places.
constexpr Index numbers_together = 512;

/// Copies the inputs to the place of the outputs, unless they stand there.
template <class T>
void move_in(ConstMatrixView<T> in, MatrixView<T> out) {
  if (in.data == out.data) return;
  for (Index j = 0; j < in.cols; ++j) std::ranges::copy(in.column(j), out.column_data(j));
}

/// All of back-propagation is a product with the slopes phi' that the forward pass has kept.
template <class T>
class ElementwiseLayer : public Layer<T> {
 public:
  explicit ElementwiseLayer(const Shape& shape) : Layer<T>(shape, shape) {}
  bool is_elementwise() const override { return true; }
  std::optional<Layout> layout() const override { return std::nullopt; }
  Index kept(Index outputs) const override { return outputs; }

  void backward(const Pass<T>&, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const Index size = e.size();
    const T *from = e.data, *slope = kept.slopes.data;
    if (T* curvature = kept.curvatures.data)
      for (Index i = 0; i < size; ++i) curvature[i] *= from[i];
    if (add)
      for (Index i = 0; i < size; ++i) to.data[i] += from[i] * slope[i];
    else
      for (Index i = 0; i < size; ++i) to.data[i] = from[i] * slope[i];
  }

  /// R{out} = phi' ∘ R{in}.
  void change(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T>,
              ConstMatrixView<T> in_change, MatrixView<T> out_change) const override {
    const Index size = kept.slopes.size();
    for (Index k = 0; k < directions.count; ++k) {
      const T *slope = kept.slopes.data, *in = in_change.data + k * size;
      T* out = out_change.data + k * size;
      for_each_index(size, [=](Index i) BDL_INLINE_LAMBDA { out[i] = slope[i] * in[i]; });
    }
  }

  /// R{phi' ∘ E} = phi' ∘ R{E} + phi'' ∘ E ∘ R{in}.
  void change_back(const Directions<T>& directions, const Kept<T>& kept, ConstMatrixView<T> in_change,
                   ConstMatrixView<T>, ConstMatrixView<T> e_change, bool add,
                   MatrixView<T> to) const override {
    const Index size = kept.slopes.size();
    const T *slope = kept.slopes.data, *curvature = kept.curvatures.data;
    for (Index k = 0; k < directions.count; ++k) {
      const T *z = in_change.data + k * size, *e = e_change.data + k * size;
      T* out = to.data + k * size;
      if (add)
        for_each_index(size,
                       [=](Index i) BDL_INLINE_LAMBDA { out[i] += slope[i] * e[i] + curvature[i] * z[i]; });
      else
        for_each_index(size,
                       [=](Index i) BDL_INLINE_LAMBDA { out[i] = slope[i] * e[i] + curvature[i] * z[i]; });
    }
  }
};

template <class T>
class ActivationLayer final : public ElementwiseLayer<T> {
 public:
  ActivationLayer(const Shape& shape, bdl_activation activation)
      : ElementwiseLayer<T>(shape), activation_(activation) {}
  std::string text() const override { return activation_word(activation_); }
  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>& kept) const override {
    move_in(in, out);
    if (!kept.is_wanted())
      activate(activation_, out);
    else if (kept.curvatures.data)
      activate(activation_, out, kept.slopes, kept.curvatures);
    else
      activate(activation_, out, kept.slopes);
  }

 private:
  bdl_activation activation_;
};

/// In training each number is 0 with probability RATE and divided by 1 - RATE otherwise, independently for
/// each example, sample and step; at prediction nothing happens (Srivastava et al. 2014).
template <class T>
class DropoutLayer final : public ElementwiseLayer<T> {
 public:
  /// The layer's random numbers begin at number `offset` of an example.
  DropoutLayer(const Shape& shape, double rate, Index offset)
      : ElementwiseLayer<T>(shape), rate_(rate), offset_(offset) {}
  std::string text() const override { return "dropout " + number_text(rate_); }
  bool can(Need need) const override { return need == Need::separate_examples; }
  Index random_numbers() const override { return this->output().size(); }

  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override {
    move_in(in, out);
    if (kept.curvatures.data) std::fill_n(kept.curvatures.data, out.size(), T(0));
    if (!kept.is_wanted()) return;
    if (!pass.noise) {
      std::fill_n(kept.slopes.data, out.size(), T(1));
      return;
    }
    StreamKey key = *pass.noise;
    key.sample += static_cast<std::uint32_t>(pass.sample);
    const Index size = this->output().size(), first_number = offset_ * pass.examples;
    check_normals<T>(key, first_number + size * pass.examples);
    if (out.rows != size) std::fill_n(kept.slopes.data, out.size(), T(0));  // gaps and absent examples
    parallel_blocks(pass.examples, task_grain(size), [&](Index first, Index count) noexcept {
      draw(key, first_number, first, count, kept.slopes);
    });
    const T* const slopes = kept.slopes.data;
    T* const numbers = out.data;
    for_each_index(out.size(), [=](Index i) BDL_INLINE_LAMBDA { numbers[i] *= slopes[i]; });
  }

 private:
  /// Draws the slopes of `count` examples from `first` on. Number j of example i is number first_number + i
  /// size + j of the stream in either layout, so masks do not depend on it.
  void draw(const StreamKey& key, Index first_number, Index first, Index count, MatrixView<T> slopes) const {
    const Shape& shape = this->output();
    const bool is_packed = slopes.rows != shape.size();
    const PacketMap map{shape};
    // A run is what stands at equal steps: a channel in packets, an example in columns.
    const Index run_numbers = is_packed ? shape.rows * shape.columns : shape.size(),
                step = is_packed ? packet_size : 1, last_run = is_packed ? shape.channels - 1 : 0;
    const T rate = static_cast<T>(rate_), kept_factor = static_cast<T>(1 / (1 - rate_));
    T numbers[numbers_together];
    Index example = first, run = 0, at = 0;
    for (Index done = 0; done < count * shape.size(); done += numbers_together) {
      const Index some = std::min(numbers_together, count * shape.size() - done);
      fill_uniform(key, first_number + first * shape.size() + done, {numbers, static_cast<std::size_t>(some)},
                   T(0), T(1));
      for (Index k = 0; k < some;) {
        const Index length = std::min(some - k, run_numbers - at);
        T* const to = (is_packed ? slopes.column_data(example / packet_size) + run * map.channel_numbers() +
                                       example % packet_size
                                 : slopes.column_data(example)) +
                      at * step;
        for (Index j = 0; j < length; ++j) to[j * step] = numbers[k + j] < rate ? T(0) : kept_factor;
        k += length;
        at += length;
        if (at < run_numbers) continue;
        at = 0;
        run = run == last_run ? 0 : run + 1;
        if (run == 0) ++example;
      }
    }
  }

  double rate_;
  Index offset_;
};

}  // namespace

template <class T>
LayerPointer<T> make_activation(const Shape& shape, bdl_activation activation) {
  return std::make_shared<ActivationLayer<T>>(shape, activation);
}

template <class T>
LayerPointer<T> make_dropout(LineReader& line, const Shape& input, const Placement& at) {
  const double rate = line.rate("RATE");
  if (static_cast<T>(rate) == 1) line.fail("RATE is so close to 1 that no number would be left");
  return std::make_shared<DropoutLayer<T>>(input, rate, at.random);
}

template LayerPointer<float> make_activation(const Shape&, bdl_activation);
template LayerPointer<double> make_activation(const Shape&, bdl_activation);
template LayerPointer<float> make_dropout(LineReader&, const Shape&, const Placement&);
template LayerPointer<double> make_dropout(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
