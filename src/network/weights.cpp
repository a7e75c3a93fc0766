#include "network/weights.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"

namespace bdl {
namespace {

/// Variance of normal weights; 0 for schemes that draw uniform ones.
double normal_variance(bdl_initialization scheme, const Fan& fan) {
  switch (scheme) {
    case BDL_INIT_HE:
      return 2 / static_cast<double>(fan.in);
    case BDL_INIT_HE_FAN_OUT:
      return 2 / static_cast<double>(fan.out);
    case BDL_INIT_XAVIER_NORMAL:
      return 2 / static_cast<double>(fan.in + fan.out);
    default:
      return 0;
  }
}

}  // namespace

template <class T>
void SampledWeights<T>::apply(const DenseShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const {
  const T* theta = thetas_.column_data(s);
  for (Index j = 0; shape.has_bias() && j < z.cols; ++j)
    std::copy_n(theta + shape.bias_offset, shape.outputs, z.column_data(j));
  gemm(Op::transpose, Op::none, T(1), transposed(shape, s), a, T(shape.has_bias() ? 1 : 0), z);
}

template <class T>
void SampledWeights<T>::pull(const DenseShape& shape, Index s, ConstMatrixView<T> e, bool add,
                             MatrixView<T> to) const {
  gemm(Op::none, Op::none, T(1), transposed(shape, s), e, T(add ? 1 : 0), to);
}

template <class T>
void SampledWeights<T>::apply(const ConvShape& shape, Index s, ConstMatrixView<T> a, MatrixView<T> z) const {
  const T* theta = thetas_.column_data(s);
  convolve(shape, theta + shape.weight_offset, shape.has_bias() ? theta + shape.bias_offset : nullptr, a, z);
}

template <class T>
void SampledWeights<T>::pull(const ConvShape& shape, Index s, ConstMatrixView<T> e, bool add,
                             MatrixView<T> to) const {
  convolve_back(shape, thetas_.column_data(s) + shape.weight_offset, e, add, to);
}

std::vector<ParameterBlock> weights_and_bias(Index outputs, Index inputs, Index weight_offset,
                                             Index bias_offset, Index units) {
  std::vector<ParameterBlock> blocks{{"weight", weight_offset, outputs, inputs, 0, false, inputs}};
  if (bias_offset >= 0) blocks.push_back({"bias", bias_offset, outputs, 1, 0, true, inputs});
  for (ParameterBlock& block : blocks) block.units = units;
  return blocks;
}

template <class T>
void initialize_weights(bdl_initialization scheme, const Fan& fan, const StreamKey& key,
                        std::span<const ParameterBlock> blocks, std::span<T> theta) {
  const double variance = normal_variance(scheme, fan),
               bound = scheme == BDL_INIT_XAVIER ? std::sqrt(6 / static_cast<double>(fan.in + fan.out))
                                                 : 1 / std::sqrt(static_cast<double>(fan.in));
  for (const ParameterBlock& block : blocks) {
    if (block.is_bias && scheme != BDL_INIT_UNIFORM_FAN_IN) continue;
    const auto values = theta.subspan(at(block.offset), at(block.size()));
    if (variance > 0) {
      fill_normal(key, block.offset, values);
      for (T& value : values) value *= static_cast<T>(std::sqrt(variance));
    } else {
      fill_uniform(key, block.offset, values, static_cast<T>(-bound), static_cast<T>(bound));
    }
  }
}

template class SampledWeights<float>;
template class SampledWeights<double>;
template void initialize_weights(bdl_initialization, const Fan&, const StreamKey&,
                                 std::span<const ParameterBlock>, std::span<float>);
template void initialize_weights(bdl_initialization, const Fan&, const StreamKey&,
                                 std::span<const ParameterBlock>, std::span<double>);

}  // namespace bdl
