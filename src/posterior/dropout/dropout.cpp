#include "posterior/dropout/dropout.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "likelihood/special_functions.hpp"
#include "parallel/parallel.hpp"
#include "posterior/point_parameters.hpp"

namespace bdl {
namespace {

[[noreturn]] void fail_not_gaussian(const char* what) {
  fail(Status::ERROR_UNSUPPORTED,
       "a dropout posterior has no %s: it is a distribution of masks, not a density over the parameters",
       what);
}

double threshold(double rate) {
  if (rate == 0) return -std::numeric_limits<double>::infinity();
  return rate <= 0.5 ? normal_quantile(rate) : -normal_quantile(1 - rate);
}

/// The weights of one output, from the last to the first, times the masks of its units; `to` may overlap
/// masks that no earlier weight needs.
template <class T>
void mask_backwards(const DropoutLayout::Layer& shape, const T* mask, const T* from, T* to) {
  for (Index k = shape.weights_of_output() - 1; k >= 0; --k) to[k] = from[k] * mask[k / shape.taps];
}

/// Multiplies the weights of one output by the masks of its units; `from` and `to` are apart or the same.
template <class T>
BDL_ALWAYS_INLINE void mask_weights(const DropoutLayout::Layer& shape, const T* mask, const T* from, T* to) {
  const Index units = shape.inputs_of_group(), taps = shape.taps;
  if (taps == 1) {
    for (Index i = 0; i < units; ++i) to[i] = from[i] * mask[i];
    return;
  }
  for (Index i = 0; i < units; ++i)
    for (Index tap = i * taps; tap < (i + 1) * taps; ++tap) to[tap] = from[tap] * mask[i];
}

}  // namespace

Index DropoutLayout::parameters() const {
  Index count = 0;
  for (const Layer& layer : layers) count += layer.parameters();
  return count;
}

DropoutLayout dropout_layout(ConstSpan<Index> sizes, bool bias, double input_rate, double hidden_rate) {
  DropoutLayout layout{{}, input_rate, hidden_rate};
  for (std::size_t l = 1; l < sizes.size(); ++l)
    layout.layers.push_back({sizes[l - 1], sizes[l], bias, l == 1});
  return layout;
}

template <class T>
DropoutPosterior<T>::DropoutPosterior(DropoutLayout layout, PointLayout points)
    : Posterior<T>(layout.parameters() + points.parameters()), layout_(std::move(layout)) {
  this->adopt(std::move(points));
  Index offset = 0;
  auto point = this->point_parameters().ranges.begin();
  for (const DropoutLayout::Layer& layer : layout_.layers) {
    for (; point != this->point_parameters().ranges.end() && point->offset == offset; ++point)
      offset += point->size;
    const double rate = layer.of_data ? layout_.input_rate : layout_.hidden_rate;
    layers_.push_back({layer, offset, rate, rate / (1 - rate), static_cast<T>(threshold(rate)),
                       static_cast<T>(1 / (1 - rate))});
    offset += layer.parameters();
    units_ += layer.inputs;
  }
}

template <class T>
std::unique_ptr<Posterior<T>> DropoutPosterior<T>::clone() const {
  auto copy = std::make_unique<DropoutPosterior>(layout_, this->point_parameters());
  copy->copy_base(*this);
  return copy;
}

template <class T>
void DropoutPosterior<T>::assign(const Posterior<T>& other) {
  this->copy_base(other);
}

template <class T>
void DropoutPosterior<T>::swap(Posterior<T>& other) {
  auto& that = static_cast<DropoutPosterior&>(other);
  this->swap_base(that);
  std::swap(layout_, that.layout_);
  layers_.swap(that.layers_);
  std::swap(units_, that.units_);
}

/// The first weights of a layer, as many as it has units, lend them their normals.
template <class T>
void DropoutPosterior<T>::draw_masks(StreamKey key, MatrixView<T> masks) const {
  check_normals<T>(key, this->dimension_);
  for (Index s = 0; s < masks.cols; ++s, ++key.sample) {
    T* mask = masks.column_data(s);
    for (const Layer& layer : layers_) {
      const Index units = layer.shape.inputs;
      fill_normal(key, layer.offset, std::span<T>(mask, static_cast<std::size_t>(units)));
      for (Index i = 0; i < units; ++i) mask[i] = mask[i] < layer.threshold ? T(0) : layer.kept;
      mask += units;
    }
  }
}

template <class T>
void DropoutPosterior<T>::apply(ConstSpan<T> mask, const T* from, T* to) const {
  const T* of_layer = mask.data();
  for (const Layer& layer : layers_) {
    const DropoutLayout::Layer& shape = layer.shape;
    const Index weights = shape.weights(), of_output = shape.weights_of_output();
    const T* const source = from + layer.offset;
    T* const target = to + layer.offset;
    parallel_blocks(shape.outputs, task_grain(of_output), [&](Index first, Index count) noexcept {
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        for (Index o = first; o < first + count; ++o)
          mask_weights(shape, of_layer + shape.first_unit(o), source + o * of_output, target + o * of_output);
      });
    });
    if (shape.bias && source != target) std::copy_n(source + weights, shape.outputs, target + weights);
    of_layer += shape.inputs;
  }
  if (from == to) return;
  for (const auto& [offset, size] : this->point_parameters().ranges)
    std::copy_n(from + offset, size, to + offset);
}

template <class T>
void DropoutPosterior<T>::weigh_prior(ConstSpan<T> precision, std::span<T> out) const {
  std::ranges::copy(precision, out.begin());
  for (const Layer& layer : layers_) {
    T* const weights = out.data() + layer.offset;
    std::transform(weights, weights + layer.shape.weights(), weights,
                   [&](T value) { return value * layer.kept; });
  }
}

/// The first weights hold the units' normals, then their masks, then themselves: a weight stands nowhere
/// before its unit's mask, so that from the last to the first they can take the masks' place.
template <class T>
void DropoutPosterior<T>::color_layer(const Layer& layer, const T* centre, T* theta) const {
  const DropoutLayout::Layer& shape = layer.shape;
  const Index weights = shape.weights(), of_output = shape.weights_of_output();
  if (!centre) {
    std::fill_n(theta, shape.parameters(), T(0));
    return;
  }
  for (Index i = 0; i < shape.inputs; ++i) theta[i] = theta[i] < layer.threshold ? T(0) : layer.kept;
  const Index with_masks = (shape.inputs + of_output - 1) / of_output;  // outputs
  parallel_blocks(shape.outputs - with_masks, task_grain(of_output), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index o = with_masks + first; o < with_masks + first + count; ++o)
        mask_weights(shape, theta + shape.first_unit(o), centre + o * of_output, theta + o * of_output);
    });
  });
  for (Index o = with_masks - 1; o >= 0; --o)
    mask_backwards(shape, theta + shape.first_unit(o), centre + o * of_output, theta + o * of_output);
  if (shape.bias) std::copy_n(centre + weights, shape.outputs, theta + weights);
}

template <class T>
void DropoutPosterior<T>::color(ConstSpan<T> mean, MatrixView<T> eps, ConstMatrixView<T>, Scratch&) const {
  for (Index s = 0; s < eps.cols; ++s)
    for (const Layer& layer : layers_)
      color_layer(layer, mean.empty() ? nullptr : mean.data() + layer.offset,
                  eps.column_data(s) + layer.offset);
}

template <class T>
void DropoutPosterior<T>::marginal_variance(std::span<T> out, Scratch&) const {
  std::ranges::fill(out, T(0));
  for (const Layer& layer : layers_) {
    const T* const weight = this->mean().data() + layer.offset;
    T* const to = out.data() + layer.offset;
    const T variance = static_cast<T>(layer.mask_variance);
    for (Index k = 0; k < layer.shape.weights(); ++k) to[k] = variance * weight[k] * weight[k];
  }
}

template <class T>
template <class Visit>
void DropoutPosterior<T>::for_each_weight(const Layer& layer, Index i, Visit&& visit) {
  const DropoutLayout::Layer& shape = layer.shape;
  const Index units = shape.inputs_of_group(), outputs = shape.outputs_of_group(),
              of_output = shape.weights_of_output(), first = i / units * outputs;
  for (Index o = first; o < first + outputs; ++o)
    for (Index tap = 0; tap < shape.taps; ++tap) visit(o * of_output + i % units * shape.taps + tap);
}

/// Returns w^T x for the weights w of unit i.
template <class T>
double DropoutPosterior<T>::unit_product(const Layer& layer, Index i, const T* x) const {
  const T *const weight = this->mean().data() + layer.offset, *const of_layer = x + layer.offset;
  double sum = 0;
  for_each_weight(layer, i,
                  [&](Index k) { sum += static_cast<double>(weight[k]) * static_cast<double>(of_layer[k]); });
  return sum;
}

/// Sigma of a unit with weights w is Var(mask) w w^T.
template <class T>
void DropoutPosterior<T>::solve(MatrixView<T> x, Scratch&) const {
  for (Index j = 0; j < x.cols; ++j)
    for (const Layer& layer : layers_) {
      T* const to = x.column_data(j) + layer.offset;
      const T* const weight = this->mean().data() + layer.offset;
      for (Index i = 0; i < layer.shape.inputs; ++i) {
        const T factor = static_cast<T>(layer.mask_variance * unit_product(layer, i, x.column_data(j)));
        for_each_weight(layer, i, [&](Index k) { to[k] = factor * weight[k]; });
      }
      if (layer.shape.bias) std::fill_n(to + layer.shape.weights(), layer.shape.outputs, T(0));
    }
}

template <class T>
void DropoutPosterior<T>::variances(MatrixView<T> x, std::span<double> out, Scratch&) const {
  std::ranges::fill(out, 0.0);
  for (Index j = 0; j < x.cols; ++j)
    for (const Layer& layer : layers_)
      for (Index i = 0; i < layer.shape.inputs; ++i) {
        const double sum = unit_product(layer, i, x.column_data(j));
        out[static_cast<std::size_t>(j)] += layer.mask_variance * sum * sum;
      }
}

template <class T>
void DropoutPosterior<T>::set_diagonal(ConstSpan<T>, std::optional<std::uint64_t>) {
  fail_not_gaussian("precision to set");
}

template <class T>
double DropoutPosterior<T>::update(const PosteriorStep<T>&, Scratch&) {
  fail_not_gaussian("covariance to update");
}

template <class T>
void DropoutPosterior<T>::drift(const Posterior<T>&, const Drift<T>&, Scratch&) {
  fail_not_gaussian("dynamics");
}

template <class T>
void DropoutPosterior<T>::precision_diagonal(std::span<T>) const {
  fail_not_gaussian("precision");
}

template <class T>
void DropoutPosterior<T>::multiply_precision(ConstSpan<T>, std::span<T>, Scratch&) const {
  fail_not_gaussian("precision");
}

template <class T>
double DropoutPosterior<T>::quadratic(ConstSpan<T>, Scratch&) const {
  fail_not_gaussian("precision");
}

template <class T>
double DropoutPosterior<T>::log_det_covariance() const {
  fail_not_gaussian("density");
}

template <class T>
double DropoutPosterior<T>::trace_precision(const Posterior<T>&, Scratch&) const {
  fail_not_gaussian("density");
}

template <class T>
const DropoutPosterior<T>& as_dropout(const Posterior<T>& q) {
  if (const auto* dropout = find_dropout(q)) return *dropout;
  fail(Status::ERROR_UNSUPPORTED, "the posterior is not of the dropout family");
}

template <class T>
std::vector<DropoutLayout::Layer> layers_with_masks(const Graph<T>& graph) {
  std::vector<DropoutLayout::Layer> layers;
  for (const auto& learned : graph.learned()) {
    const auto& node = graph.nodes()[static_cast<std::size_t>(learned.node)];
    const bool of_data = graph.wire(node.in).is_data;
    if (const DenseShape* shape = node.layer->dense())
      layers.push_back({shape->inputs, shape->outputs, shape->has_bias(), of_data});
    else if (const ConvShape* conv = node.layer->convolution())
      layers.push_back({conv->input.channels, conv->output.channels, conv->has_bias(), of_data, conv->taps(),
                        conv->groups});
  }
  return layers;
}

template <class T>
void check_masks_fit(const Model<T>& model, const Posterior<T>& q) {
  const auto* const dropout = find_dropout(q);
  if (!dropout) return;
  if (!model.graph() || layers_with_masks(*model.graph()) != dropout->layout().layers)
    fail(Status::ERROR_SHAPE, "posterior is one of dropout for a network of other layers");
}

template <class T>
void check_gaussian(const Posterior<T>& q, const char* what) {
  if (find_dropout(q)) fail_not_gaussian(what);
}

#define BDL_INSTANTIATE(T)                                                       \
  template class DropoutPosterior<T>;                                            \
  template const DropoutPosterior<T>& as_dropout(const Posterior<T>&);           \
  template std::vector<DropoutLayout::Layer> layers_with_masks(const Graph<T>&); \
  template void check_masks_fit(const Model<T>&, const Posterior<T>&);           \
  template void check_gaussian(const Posterior<T>&, const char*);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
