// The rows of one layer of a network alone: the same factors, counted from the layer's first parameter. Their
// scratch grows to what is asked of them.
#include <algorithm>

#include "curvature/factored_rows.hpp"

namespace bdl {
namespace {

Index first_parameter(const DenseShape& layer) {
  return layer.bias_offset < 0 ? layer.weight_offset : std::min(layer.weight_offset, layer.bias_offset);
}

Index parameters_of(const DenseShape& layer) {
  return layer.outputs * (layer.inputs + (layer.bias_offset < 0 ? 0 : 1));
}

}  // namespace

template <class T>
Rows<T>* FactoredRows<T>::part(Index offset, Index size) {
  parts_.resize(std::max(parts_.size(), layers_.size()));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LayerRows<T>& from = layers_[l];
    if (first_parameter(from.layer) != offset || parameters_of(from.layer) != size) continue;
    if (!parts_[l]) parts_[l] = std::make_unique<FactoredRows>();
    FactoredRows& to = *parts_[l];
    DenseShape own = from.layer;
    own.weight_offset -= offset;
    if (own.bias_offset >= 0) own.bias_offset -= offset;
    to.shapes_.assign(1, own);
    to.cost_ = cost(to.shapes_, from.a.cols, 1, count_ / from.a.cols);
    to.dimension_ = size;
    to.count_ = count_;
    to.layers_.assign(1, {from.a, from.e, own});
    return &to;
  }
  return nullptr;
}

template Rows<float>* FactoredRows<float>::part(Index, Index);
template Rows<double>* FactoredRows<double>::part(Index, Index);

}  // namespace bdl
