// Networks as models: a graph of layers with a likelihood.
#pragma once

#include "model/model.hpp"
#include "network/graph.hpp"

namespace bdl {

template <class T>
class Network final : public Model<T> {
 public:
  /// Fails with ERROR_INVALID_ARGUMENT unless the graph has the likelihood's outputs.
  Network(std::shared_ptr<const Graph<T>> graph, Likelihood density);
  /// A multilayer perceptron.
  Network(ConstSpan<Index> sizes, bdl_activation activation, bool bias, Likelihood density);
  std::unique_ptr<Model<T>> clone() const override { return std::make_unique<Network>(*this); }

  const Graph<T>* graph() const override { return graph_.get(); }
  bool is_linear() const override { return graph_->is_linear(); }
  bool is_single_index() const override { return graph_->is_single_index(); }
  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics = {}) const override {
    graph_->forward(theta, x, f, scratch, statistics);
  }
  void initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const override;

 private:
  std::shared_ptr<const Graph<T>> graph_;
};

}  // namespace bdl
