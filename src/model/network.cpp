#include "model/network.hpp"

#include <algorithm>
#include <cmath>

#include "base/profile.hpp"
#include "linalg/blas/blas.hpp"
#include "model/activation.hpp"
#include "rng/philox.hpp"

namespace bdl {

template <class T>
void check_outputs_finite(ConstMatrixView<T> f) {
  for (Index j = 0; j < f.cols; ++j)
    for (Index i = 0; i < f.rows; ++i)
      if (!std::isfinite(f(i, j)))
        fail(Status::ERROR_DIVERGED, "the model's output %lld for example %lld is not finite",
             static_cast<long long>(i), static_cast<long long>(j));
}

Index count_parameters(ConstSpan<Index> sizes) {
  Index count = 0;
  for (std::size_t l = 1; l < sizes.size(); ++l) {
    count += sizes[l] * (sizes[l - 1] + 1);
    if (count > INT32_MAX) return -1;
  }
  return count;
}

template <class T>
Network<T>::Network(ConstSpan<Index> sizes, bdl_activation activation, bool bias, Likelihood density)
    : Model<T>(sizes.front(), std::move(density)), activation_(activation) {
  Index offset = 0;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const std::string name = "layer" + std::to_string(l);
    DenseLayer layer{sizes[l], sizes[l + 1], offset, -1};
    this->blocks_.push_back(
        {name + ".weight", offset, layer.outputs, layer.inputs, static_cast<Index>(l), false, layer.inputs});
    offset += layer.inputs * layer.outputs;
    if (bias) {
      layer.bias_offset = offset;
      this->blocks_.push_back(
          {name + ".bias", offset, layer.outputs, 1, static_cast<Index>(l), true, layer.inputs});
      offset += layer.outputs;
    }
    layers_.push_back(layer);
  }
  this->parameters_ = offset;
}

template <class T>
void Network<T>::affine(const DenseLayer& layer, const T* theta, ConstMatrixView<T> a,
                        MatrixView<T> z) const {
  T beta = 0;
  if (layer.bias_offset >= 0) {
    for (Index j = 0; j < z.cols; ++j)
      std::copy_n(theta + layer.bias_offset, layer.outputs, z.column_data(j));
    beta = 1;
  }
  const ConstMatrixView<T> weight_t(theta + layer.weight_offset, layer.inputs, layer.outputs);
  gemm(Op::transpose, Op::none, T(1), weight_t, a, beta, z);
}

/// Of the widest hidden layer.
template <class T>
Index Network<T>::width() const {
  Index width = 0;
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) width = std::max(width, layers_[l].outputs);
  return width;
}

template <class T>
void Network<T>::forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f,
                         Buffer<T>& scratch) const {
  scratch.reserve(scratch_size(x.cols));
  const Index half = width() * x.cols;
  ConstMatrixView<T> a = x;
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    const MatrixView<T> z(scratch.data() + static_cast<Index>(l % 2) * half, layers_[l].outputs, x.cols);
    affine(layers_[l], theta.data(), a, z);
    activate(activation_, z);
    a = z;
  }
  affine(layers_.back(), theta.data(), a, f);
}

template <class T>
void Network<T>::reserve(Tape<T>& tape, Index examples, Index samples, Index seeds) const {
  tape.activations.resize(layers_.size() - 1);
  tape.derivatives.resize(layers_.size() - 1);
  tape.sensitivities.resize(layers_.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Index size = layers_[l].outputs * examples * samples;
    tape.sensitivities[l].reserve(size * seeds);
    if (l + 1 == layers_.size()) break;
    tape.activations[l].reserve(size);
    tape.derivatives[l].reserve(size);
  }
}

template <class T>
void Network<T>::reserve_curvatures(Tape<T>& tape, Index examples, Index samples) const {
  tape.curvatures.resize(layers_.size() - 1);
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l)
    tape.curvatures[l].reserve(layers_[l].outputs * examples * samples);
}

template <class T>
Index Network<T>::tape_bytes(Index examples, Index samples, Index seeds) const {
  Index values = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l)
    values += layers_[l].outputs * examples * samples * (seeds + (l + 1 < layers_.size() ? 2 : 0));
  return values * static_cast<Index>(sizeof(T));
}

template <class T>
void Network<T>::forward(ConstMatrixView<T> thetas, ConstMatrixView<T> x, Tape<T>& tape,
                         MatrixView<T> f) const {
  const StageTimer timer(Stage::forward);
  tape.examples = x.cols;
  tape.samples = thetas.cols;
  tape.x = x;
  const Index total = x.cols * thetas.cols;
  if (is_single_index()) return linear_outputs(thetas, x, f);
  for (Index s = 0; s < thetas.cols; ++s) {
    const Index first = s * x.cols;
    ConstMatrixView<T> a = x;
    for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
      const auto part = [&](Buffer<T>& buffer) {
        return buffer.matrix(layers_[l].outputs, total).columns(first, x.cols);
      };
      const MatrixView<T> z = part(tape.activations[l]), slope = part(tape.derivatives[l]);
      affine(layers_[l], thetas.column_data(s), a, z);
      if (tape.curvatures.empty())
        activate(activation_, z, slope);
      else
        activate(activation_, z, slope, part(tape.curvatures[l]));
      a = z;
    }
    affine(layers_.back(), thetas.column_data(s), a, f.columns(first, x.cols));
  }
}

/// One layer with one output: all samples in one product.
template <class T>
void Network<T>::linear_outputs(ConstMatrixView<T> thetas, ConstMatrixView<T> x, MatrixView<T> f) const {
  const DenseLayer& layer = layers_.front();
  gemm(Op::transpose, Op::none, T(1), x,
       ConstMatrixView<T>(thetas.data + layer.weight_offset, layer.inputs, thetas.cols, thetas.ld), T(0),
       MatrixView<T>(f.data, x.cols, thetas.cols));
  for (Index s = 0; layer.bias_offset >= 0 && s < thetas.cols; ++s)
    for (Index i = 0; i < x.cols; ++i) f(0, s * x.cols + i) += thetas(layer.bias_offset, s);
}

template <class T>
void Network<T>::backward(ConstMatrixView<T> thetas, Tape<T>& tape, Index seeds) const {
  const StageTimer timer(Stage::backward);
  const Index total = tape.examples * tape.samples;
  for (std::size_t l = layers_.size() - 1; l > 0; --l) {
    const DenseLayer& layer = layers_[l];
    const auto outer = tape.sensitivities[l].matrix(layer.outputs, total * seeds);
    const auto inner = tape.sensitivities[l - 1].matrix(layer.inputs, total * seeds);
    const auto derivative = tape.derivatives[l - 1].matrix(layer.inputs, total);
    for (Index block = 0; block < tape.samples * seeds; ++block) {
      const Index sample = block % tape.samples, first = block * tape.examples;
      const ConstMatrixView<T> weight_t(thetas.column_data(sample) + layer.weight_offset, layer.inputs,
                                        layer.outputs);
      const auto e = inner.columns(first, tape.examples);
      gemm(Op::none, Op::none, T(1), weight_t, outer.columns(first, tape.examples), T(0), e);
      const T* slope = derivative.column_data(sample * tape.examples);
      for (Index i = 0; i < e.size(); ++i) e.data[i] *= slope[i];
    }
  }
}

template <class T>
void Network<T>::initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const {
  std::ranges::fill(theta, T(0));
  for (const DenseLayer& layer : layers_) {
    const double fan_in = static_cast<double>(layer.inputs), fan_out = static_cast<double>(layer.outputs);
    const Index count = layer.inputs * layer.outputs;
    const auto part = [&](Index offset, Index size) {
      return theta.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    };
    const StreamKey key{seed, Stream::initialization, 0, 0};
    const auto weights = part(layer.weight_offset, count);
    const double bound =
        scheme == BDL_INIT_XAVIER ? std::sqrt(6 / (fan_in + fan_out)) : 1 / std::sqrt(fan_in);
    if (scheme == BDL_INIT_HE) {
      fill_normal(key, layer.weight_offset, weights);
      for (T& value : weights) value *= static_cast<T>(std::sqrt(2 / fan_in));
      continue;
    }
    fill_uniform(key, layer.weight_offset, weights, static_cast<T>(-bound), static_cast<T>(bound));
    if (scheme == BDL_INIT_UNIFORM_FAN_IN && layer.bias_offset >= 0)
      fill_uniform(key, layer.bias_offset, part(layer.bias_offset, layer.outputs), static_cast<T>(-bound),
                   static_cast<T>(bound));
  }
  // Log noise precisions start at 0, where the mean's noise is the same everywhere.
  const DenseLayer& last = layers_.back();
  const Index means = this->likelihood.means(), others = last.outputs - means;
  std::fill_n(theta.data() + last.weight_offset + means * last.inputs, others * last.inputs, T(0));
  if (last.bias_offset >= 0) std::fill_n(theta.data() + last.bias_offset + means, others, T(0));
}

template void check_outputs_finite(ConstMatrixView<float>);
template void check_outputs_finite(ConstMatrixView<double>);
template class Network<float>;
template class Network<double>;

}  // namespace bdl
