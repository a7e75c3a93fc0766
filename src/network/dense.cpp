#include "network/dense.hpp"

#include "linalg/blas.hpp"
#include "network/initialization.hpp"
#include "network/outer_rows.hpp"

namespace bdl {

template <class T>
DenseLayer<T>::DenseLayer(const Shape& input, Index outputs, bool bias, Index offset)
    : Layer<T>(input, {outputs}),
      shape_{input.size(), outputs, offset, bias ? offset + input.size() * outputs : -1} {}

template <class T>
std::string DenseLayer<T>::text() const {
  return "dense " + std::to_string(shape_.outputs) + (shape_.has_bias() ? "" : " nobias");
}

template <class T>
std::vector<ParameterBlock> DenseLayer<T>::blocks() const {
  return weights_and_bias(shape_.outputs, shape_.inputs, shape_.weight_offset, shape_.bias_offset,
                          shape_.outputs);
}

/// By fan-out, few outputs would begin with logits of 10 and more, which published ResNets do not.
template <class T>
void DenseLayer<T>::initialize(bdl_initialization scheme, const StreamKey& key, std::span<T> theta) const {
  if (scheme == BDL_INIT_HE_FAN_OUT) scheme = BDL_INIT_UNIFORM_FAN_IN;
  const auto weights = blocks();
  initialize_weights(scheme, {shape_.inputs, shape_.outputs}, key, weights, theta);
}

template <class T>
std::unique_ptr<BlockRows<T>> DenseLayer<T>::rows(bool of_data) const {
  DenseShape shape = shape_;
  shape.of_data = of_data;
  return std::make_unique<OuterRows<T>>(shape);
}

template <class T>
void DenseLayer<T>::forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                            const Kept<T>&) const {
  pass.weights.apply(shape_, pass.sample, in, out);
}

template <class T>
void DenseLayer<T>::backward(const Pass<T>& pass, const Kept<T>&, ConstMatrixView<T> e, bool add,
                             MatrixView<T> to) const {
  pass.weights.pull(shape_, pass.sample, e, add, to);
}

/// R{z} = W R{a} + V a + c.
template <class T>
void DenseLayer<T>::change(const Directions<T>& directions, const Kept<T>&, ConstMatrixView<T> in,
                           ConstMatrixView<T> in_change, MatrixView<T> out_change) const {
  const bool moves = in_change.data != nullptr;
  if (moves)
    gemm(Op::transpose, Op::none, T(1), directions.weights.transposed(shape_, 0), in_change, T(0),
         out_change);
  const SampledWeights<T> v(directions.v);
  for (Index k = 0; k < directions.v.cols; ++k) {
    const auto columns = out_change.columns(k * directions.examples, directions.examples);
    gemm(Op::transpose, Op::none, T(1), v.transposed(shape_, k), in, T(moves ? 1 : 0), columns);
    if (!shape_.has_bias()) continue;
    const T* bias = directions.v.column_data(k) + shape_.bias_offset;
    for (Index i = 0; i < columns.cols; ++i)
      for (Index o = 0; o < columns.rows; ++o) columns(o, i) += bias[o];
  }
}

/// R{W^T E} = W^T R{E} + V^T E.
template <class T>
void DenseLayer<T>::change_back(const Directions<T>& directions, const Kept<T>&, ConstMatrixView<T>,
                                ConstMatrixView<T> e, ConstMatrixView<T> e_change, bool add,
                                MatrixView<T> to) const {
  directions.weights.pull(shape_, 0, e_change, add, to);
  const SampledWeights<T> v(directions.v);
  for (Index k = 0; k < directions.v.cols; ++k)
    v.pull(shape_, k, e, true, to.columns(k * directions.examples, directions.examples));
}

template <class T>
std::shared_ptr<const Layer<T>> make_dense(LineReader& line, const Shape& input, const Placement& at) {
  const Index outputs = line.count("OUTPUTS");
  return std::make_shared<DenseLayer<T>>(input, outputs, !line.flag("nobias"), at.parameters);
}

template class DenseLayer<float>;
template class DenseLayer<double>;
template std::shared_ptr<const Layer<float>> make_dense(LineReader&, const Shape&, const Placement&);
template std::shared_ptr<const Layer<double>> make_dense(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
