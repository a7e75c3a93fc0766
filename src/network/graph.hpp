// A network without its likelihood: a graph of layers, and the passes through it.
//
// Read in this order:
//   shape.hpp, layer.hpp   what flows between layers, and what a layer does with it
//   layers.def             the kinds of layers: dense.cpp, elementwise.cpp (activations, dropout), pool.cpp,
//                          batchnorm.cpp, rearrange.cpp (crop, flatten), convolution/conv.cpp
//   line.hpp, builder.cpp  a description is read line by line; layers become nodes, which wires join
//   graph.cpp              forward and backward through the nodes
//   weights.hpp, noise/    how a pass multiplies: by sampled weights, or with noise in place of samples
//   block_rows.hpp         curvature rows of a layer's parameters: outer_rows.cpp (dense), convolution/
//
// Forward, node n computes out = layer_n(in; theta_s), or in + other, for M examples and each of S parameter
// samples theta_s. All matrices have columns s M + i, but for X itself, which all samples share.
//
// Backward, K seeds for each column of the outputs are propagated: E_in = (d out / d in)^T E_out, in columns
// (k S + s) M + i. From the inputs A and sensitivities E of a layer come the gradients of its parameters: row
// r is b_r = e_r a_r^T in a dense layer. Passes sum nothing; sums over rows are those of block_rows.hpp.
//
// An elementwise layer writes its outputs over its inputs if nobody else reads those, and so do sums: several
// wires then share a place, which has one matrix of values and one of sensitivities on the tape. Passes
// without a tape need the places only for a while, and keep them in a few registers.
#pragma once

#include "base/scratch.hpp"
#include "bdl/model.h"
#include "network/layer.hpp"

namespace bdl {

/// The record of a forward pass that back-propagation reads. Its memory grows where passes write it.
template <class T>
struct Tape {
  Index examples = 0, samples = 0;
  bool keeps_curvatures = false;           ///< asks the forward pass for second derivatives
  ConstMatrixView<T> x;                    ///< the inputs, without offsets
  Buffer<T> inputs;                        ///< a copy of them, where offsets stand between
  Statistics statistics;                   ///< those of the forward pass
  std::vector<Buffer<T>> values;           ///< one matrix a place
  std::vector<Buffer<T>> sensitivities;    ///< one matrix a place
  std::vector<Buffer<T>> slopes;           ///< one matrix a node, where layers keep any
  std::vector<Buffer<T>> curvatures;       ///< one matrix a node, if it keeps them
  std::vector<Buffer<double>> of_samples;  ///< a few numbers a sample and node
};

template <class T>
class Graph {
 public:
  /// A layer from wire `in` to wire `out`; without a layer, the sum of `in` and `other`.
  struct Node {
    std::shared_ptr<const Layer<T>> layer;
    Index in, other, out;
    bool adds = false, other_adds = false;  ///< a later node has propagated to `in` (`other`) before
    Index line = 0;
  };
  struct Wire {
    Index size;  ///< number of values of an example
    Layout layout;
    Index height;              ///< number of values in a column
    bool is_data;              ///< the examples themselves, the same for all samples
    bool is_learned;           ///< depends on parameters
    Index place = -1;          ///< number of the matrix for its values; X itself has none
    bool is_straight = false;  ///< reaches the outputs by sums alone
    Index columns(Index examples) const { return columns_of(layout, examples); }
  };
  /// A node whose layer has parameters (point parameters among them), and the number of the first one.
  struct Learned {
    Index node, parameters;
  };

  /// Fails with ERROR_INVALID_ARGUMENT, naming the line.
  explicit Graph(std::string_view description);

  Index inputs() const { return wires_.front().size; }
  Index outputs() const { return wire(output_).size; }
  Index parameters() const { return parameters_; }
  const Shape& input() const { return input_; }
  /// Returns the inputs alone of X, whose rows behind them are offsets: passes add these to the first
  /// outputs.
  ConstMatrixView<T> features(ConstMatrixView<T> x) const { return x.block(0, 0, inputs(), x.cols); }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// Returns the description in canonical form.
  const std::string& description() const { return text_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Wire& wire(Index w) const { return wires_[at(w)]; }
  std::size_t wires() const { return wires_.size(); }
  Index output() const { return output_; }
  Index places() const { return std::ssize(place_wires_); }
  /// Returns the first of the wires that share a place.
  const Wire& place(Index place) const { return wire(place_wires_[at(place)]); }
  Index place_size(Index p) const { return place(p).height; }
  const std::vector<Learned>& learned() const { return learned_; }
  /// Returns the dense layers in the order of their parameters, and the nodes that they are.
  const std::vector<DenseShape>& dense() const { return dense_; }
  const std::vector<Index>& dense_nodes() const { return dense_nodes_; }
  /// Number of layers with parameters whose outputs do not go straight to the network's: 0 for linear models.
  Index hidden_layers() const { return hidden_layers_; }
  /// True if it is one dense layer and nothing else.
  bool is_linear() const { return nodes_.size() == 1 && dense_.size() == 1; }
  bool is_single_index() const { return is_linear() && outputs() == 1; }
  /// Returns the numbers of inputs and of each layer's outputs, if it is a sequence of dense layers; else
  /// empty.
  std::vector<Index> layer_sizes() const;
  /// Returns the activation of all its layers: the identity if there are none, 0 if they differ.
  bdl_activation activation() const;
  /// Returns `layer "dropout 0.1" (line 3)`, the first layer that does not have what is needed; else empty.
  std::string first_without(Need need) const;
  /// Number of running statistics of all layers.
  Index statistics_size() const { return 2 * normalized_; }

  /// Computes F = f(X; theta) and keeps nothing, with scratch_size(M) numbers of scratch memory. All passes
  /// fail with ERROR_UNSUPPORTED if layers need running statistics and none are given.
  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics = {}) const;
  /// Does so with other weights, those of sample 0.
  void forward(const Weights<T>& weights, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics) const;
  Index scratch_size(Index examples) const;

  /// Computes F (C x M S) for all samples and records the tape. Layers that are random in training are so
  /// only with `noise`. Statistics must stay where they are until backward() is done.
  void forward(ConstMatrixView<T> thetas, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f,
               const StreamKey* noise = nullptr, const Statistics& statistics = {}) const;
  void forward(const Weights<T>& weights, Index samples, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f,
               const StreamKey* noise, const Statistics& statistics) const;
  /// Begins a tape for examples X, which forward() does itself; for those who write the tape by hand.
  void begin(Tape<T>& tape, ConstMatrixView<T> x, Index samples, const Statistics& statistics = {}) const;
  /// Propagates the seeds, which stand in seeds(tape, ...), back to all wires.
  void backward(ConstMatrixView<T> thetas, Tape<T>& tape, Index seeds) const;
  void backward(const Weights<T>& weights, Tape<T>& tape, Index seeds) const;

  /// Returns the sensitivities of the network's outputs, C x M S K, for the caller to fill.
  MatrixView<T> seeds(Tape<T>& tape, Index columns) const;
  /// Returns the sensitivities of a wire for so many sections of the tape's examples, samples times seeds.
  MatrixView<T> sensitivities(Tape<T>& tape, Index w, Index sections) const {
    return tape.sensitivities[at(wire(w).place)].matrix(wire(w).height, columns(w, tape) * sections);
  }
  ConstMatrixView<T> sensitivities(const Tape<T>& tape, Index w, Index sections) const {
    return tape.sensitivities[at(wire(w).place)].matrix(wire(w).height, columns(w, tape) * sections);
  }
  /// Returns the values of a wire, which is not the output's.
  ConstMatrixView<T> values(const Tape<T>& tape, Index wire) const;
  /// Returns what node n has kept of a sample's examples.
  Kept<T> kept(Tape<T>& tape, std::size_t n, Index sample) const;
  /// Returns the slopes that node n has kept of all samples.
  ConstMatrixView<T> kept_slopes(const Tape<T>& tape, std::size_t n) const;

  void initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const;
  /// Lets outputs from `first` on start at 0, wherever they come straight from a layer with weights.
  void silence_outputs(Index first, std::span<T> theta) const;

 private:
  class Builder;
  /// The largest column, and the largest packet, among the places that use a register.
  struct Register {
    Index column = 0, packet = 0;
    Index numbers(Index examples) const { return std::max(column * examples, packet * packets_of(examples)); }
  };
  std::string line_text(const Node& node) const;
  void check_statistics(const Statistics& statistics, Index examples) const;
  ConstMatrixView<T> without_offsets(ConstMatrixView<T> x, MatrixView<T> copy) const;
  ConstMatrixView<T> without_offsets(ConstMatrixView<T> x, Tape<T>& tape) const;
  void add_offsets(ConstMatrixView<T> x, MatrixView<T> f) const;
  void linear_outputs(ConstMatrixView<T> thetas, ConstMatrixView<T> x, MatrixView<T> f) const;
  Index register_offset(Index place, Index examples) const;
  Index columns(Index w, const Tape<T>& tape) const { return wire(w).columns(tape.examples); }
  Index kept_numbers(std::size_t n) const;

  Shape input_;
  std::string text_;
  std::vector<Node> nodes_;
  std::vector<Wire> wires_;
  std::vector<ParameterBlock> blocks_;
  std::vector<Learned> learned_;
  std::vector<DenseShape> dense_;
  std::vector<Index> dense_nodes_, place_wires_, place_registers_;
  std::vector<Register> registers_;
  Index output_ = 0, parameters_ = 0, random_ = 0, normalized_ = 0, hidden_layers_ = 0;
};

/// Returns the description of a multilayer perceptron.
std::string mlp_description(ConstSpan<Index> sizes, bdl_activation activation, bool bias);

/// Number of parameters of a network of these layer sizes, biases counted; -1 if more than 2^31 - 1.
Index count_parameters(ConstSpan<Index> sizes);

}  // namespace bdl
