#include "model/network.hpp"

#include <cmath>

namespace bdl {

template <class T>
void check_outputs_finite(ConstMatrixView<T> f) {
  for (Index j = 0; j < f.cols; ++j)
    for (Index i = 0; i < f.rows; ++i)
      if (!std::isfinite(f(i, j)))
        fail(Status::ERROR_DIVERGED,
             "the model's output %lld for example %lld (counting from 0) is not finite",
             static_cast<long long>(i), static_cast<long long>(j));
}

template <class T>
void Model<T>::set_offsets(bool given) {
  has_offsets_ = given;
  standardization.set_offsets(features_, offsets());
}

template <class T>
void Model<T>::gradient_rows(ConstSpan<T>, ConstMatrixView<T>, ConstMatrixView<T>, MatrixView<T>) const {
  fail(Status::ERROR_UNSUPPORTED, "a network's gradients come from its layers");
}

template <class T>
Network<T>::Network(std::shared_ptr<const Graph<T>> graph, Likelihood density)
    : Model<T>(graph->inputs(), std::move(density)), graph_(std::move(graph)) {
  if (graph_->outputs() != this->outputs())
    fail(Status::ERROR_INVALID_ARGUMENT, "the network has %lld outputs, expected %lld",
         static_cast<long long>(graph_->outputs()), static_cast<long long>(this->outputs()));
  this->blocks_ = graph_->blocks();
  const Index means = this->likelihood.means();
  if (means < this->outputs() && !this->blocks_.empty()) {
    const Index last = this->blocks_.back().layer;
    for (ParameterBlock& block : this->blocks_)
      if (block.layer == last && block.size() % this->outputs() == 0)
        block.of_means = block.size() / this->outputs() * means;
  }
  this->parameters_ = graph_->parameters();
}

template <class T>
Network<T>::Network(ConstSpan<Index> sizes, bdl_activation activation, bool bias, Likelihood density)
    : Network(std::make_shared<const Graph<T>>(mlp_description(sizes, activation, bias)),
              std::move(density)) {}

/// Log noise precisions start at 0, so that the noise is the same for every x.
template <class T>
void Network<T>::initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const {
  graph_->initialize(scheme, seed, theta);
  graph_->silence_outputs(this->likelihood.means(), theta);
}

template void check_outputs_finite(ConstMatrixView<float>);
template void check_outputs_finite(ConstMatrixView<double>);
template class Model<float>;
template class Model<double>;
template class Network<float>;
template class Network<double>;

}  // namespace bdl
