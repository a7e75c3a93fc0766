// The matrices of a network's layers, and their numbers among its parameters.
#include <algorithm>

#include "base/error.hpp"
#include "network/graph.hpp"
#include "posterior/kronecker/kronecker.hpp"

namespace bdl {

template <class T>
void gather_matrix(const MatrixShape& shape, const T* parameters, MatrixView<T> out) {
  const T* const bias = parameters + shape.outputs * shape.inputs;
  for (Index o = 0; o < shape.outputs; ++o) {
    std::copy_n(parameters + o * shape.inputs, shape.inputs, out.column_data(o));
    if (shape.has_bias) out(shape.inputs, o) = bias[o];
  }
}

template <class T>
void scatter_matrix(const MatrixShape& shape, ConstMatrixView<T> matrix, T* parameters) {
  T* const bias = parameters + shape.outputs * shape.inputs;
  for (Index o = 0; o < shape.outputs; ++o) {
    std::copy_n(matrix.column_data(o), shape.inputs, parameters + o * shape.inputs);
    if (shape.has_bias) bias[o] = matrix(shape.inputs, o);
  }
}

namespace {

/// Returns the matrix of a layer's weights, without inputs where it has none.
template <class T>
MatrixShape matrix_of(const Layer<T>& layer) {
  if (const DenseShape* const dense = layer.dense())
    return {dense->outputs, dense->inputs, dense->has_bias()};
  const ConvShape* const conv = layer.convolution();
  if (conv && conv->groups == 1) return {conv->output.channels, conv->fan_in(), conv->has_bias()};
  return {layer.parameters()};
}

}  // namespace

template <class T>
bool has_matrices(const Model<T>& model) {
  return model.graph() && std::ranges::all_of(model.graph()->learned(), [&](const auto& learned) {
           const auto& node = model.graph()->nodes()[at(learned.node)];
           return matrix_of(*node.layer).is_matrix() || node.layer->point_rows();
         });
}

template <class T>
std::vector<MatrixShape> matrices_of(const Model<T>& model) {
  if (!model.graph())
    fail(Status::ERROR_UNSUPPORTED,
         "a Kronecker-factored posterior is one of a network's layers: a custom model has none");
  std::vector<MatrixShape> matrices;
  for (const auto& learned : model.graph()->learned()) {
    const auto& node = model.graph()->nodes()[at(learned.node)];
    matrices.push_back(matrix_of(*node.layer));
    if (!matrices.back().is_matrix() && !node.layer->point_rows())
      fail(Status::ERROR_UNSUPPORTED,
           "the weights of layer \"%s\" (line %lld) are no single matrix, expected dense layers and "
           "convolutions without groups: use a family such as \"layerwise_full\"",
           node.layer->text().c_str(), static_cast<long long>(node.line));
  }
  return matrices;
}

template <class T>
void check_matrices_fit(const Model<T>& model, const Posterior<T>& q) {
  if (q.family() != Family::kronecker) return;
  if (!model.graph() || matrices_of(model) != q.kind().matrices)
    fail(Status::ERROR_SHAPE, "posterior is Kronecker-factored for a network of other layers");
}

#define BDL_INSTANTIATE(T)                                                  \
  template void gather_matrix(const MatrixShape&, const T*, MatrixView<T>); \
  template void scatter_matrix(const MatrixShape&, ConstMatrixView<T>, T*); \
  template bool has_matrices(const Model<T>&);                              \
  template std::vector<MatrixShape> matrices_of(const Model<T>&);           \
  template void check_matrices_fit(const Model<T>&, const Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
