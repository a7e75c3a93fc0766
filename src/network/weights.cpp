#include "network/weights.hpp"

#include <algorithm>

#include "linalg/blas.hpp"
#include "network/convolution/convolve.hpp"

namespace bdl {

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

template class SampledWeights<float>;
template class SampledWeights<double>;

}  // namespace bdl
