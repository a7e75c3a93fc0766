// A network without its likelihood: layers in sequences and sums of two sequences. Their numbers flow along
// wires; numbers that nobody needs any more lend their place to what an elementwise layer makes of them.
#pragma once

#include "base/scratch.hpp"
#include "bdl/model.h"
#include "network/layer.hpp"
#include "network/tape.hpp"

namespace bdl {

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
    Index size;  ///< numbers of an example
    Layout layout;
    Index height;              ///< numbers of a column
    bool is_data;              ///< the examples themselves, the same for all samples
    bool is_learned;           ///< depends on parameters
    Index place = -1;          ///< of its values and sensitivities; X itself has none
    bool is_straight = false;  ///< reaches the outputs by sums alone
    Index columns(Index examples) const { return columns_of(layout, examples); }
    Index numbers(Index examples) const { return height * columns(examples); }
  };

  /// Fails with ERROR_INVALID_ARGUMENT, naming the line.
  explicit Graph(std::string_view description);

  Index inputs() const { return wires_.front().size; }
  Index outputs() const { return wires_[static_cast<std::size_t>(output_)].size; }
  Index parameters() const { return parameters_; }
  const Shape& input() const { return input_; }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// In canonical form.
  const std::string& description() const { return text_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Wire& wire(Index w) const { return wires_[static_cast<std::size_t>(w)]; }
  std::size_t wires() const { return wires_.size(); }
  Index output() const { return output_; }
  Index places() const { return static_cast<Index>(place_wires_.size()); }
  Index place_size(Index place) const { return wire(place_wires_[static_cast<std::size_t>(place)]).height; }

  /// A layer with parameters, points among them, and where they begin.
  struct Learned {
    Index node, parameters;
  };
  const std::vector<Learned>& learned() const { return learned_; }
  /// The dense ones, in the order of their parameters, and the nodes that they are.
  const std::vector<DenseShape>& dense() const { return dense_; }
  const std::vector<Index>& dense_nodes() const { return dense_nodes_; }
  /// Layers of parameters whose outputs do not go straight to the network's: 0 for linear models.
  Index hidden_layers() const { return hidden_layers_; }
  /// One dense layer and nothing else.
  bool is_linear() const { return nodes_.size() == 1 && dense_.size() == 1; }
  bool is_single_index() const { return is_linear() && outputs() == 1; }
  /// Inputs, then the outputs of each layer, if it is a sequence of dense layers; else empty.
  std::vector<Index> layer_sizes() const;
  /// That all its activations are, the identity if there are none; 0 if they differ.
  bdl_activation activation() const;
  /// `layer "dropout 0.1" (line 3)`, the first that has not what is needed; empty: all have.
  std::string first_without(Need need) const;
  /// Running statistics of all layers: numbers.
  Index statistics_size() const { return 2 * normalized_; }

  /// Computes F = f(X; theta) and keeps nothing, with scratch_size(M) numbers of scratch memory. All passes
  /// fail with ERROR_UNSUPPORTED if layers need running statistics and none are given.
  void forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics = {}) const;
  /// The same with other weights, of sample 0.
  void forward(const Weights<T>& weights, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
               ConstSpan<double> statistics) const;
  Index scratch_size(Index examples) const;

  /// Begins a tape for examples X, which forward() does itself: where the numbers of other passes are read
  /// in.
  void begin(Tape<T>& tape, ConstMatrixView<T> x, Index samples, const Statistics& statistics = {}) const;
  /// F (C x M S) for all samples, recording the tape. Without noise, layers that are random in training are
  /// not. Statistics must stay where they are until backward() is done.
  void forward(ConstMatrixView<T> thetas, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f,
               const StreamKey* noise = nullptr, const Statistics& statistics = {}) const;
  /// Back-propagates the seeds that stand in seeds(tape, ...) to all wires.
  void backward(ConstMatrixView<T> thetas, Tape<T>& tape, Index seeds) const;
  /// The same with other weights of so many samples.
  void forward(const Weights<T>& weights, Index samples, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f,
               const StreamKey* noise, const Statistics& statistics) const;
  void backward(const Weights<T>& weights, Tape<T>& tape, Index seeds) const;

  /// Of the network's outputs, C x M S K: column (k S + s) M + i.
  MatrixView<T> seeds(Tape<T>& tape, Index columns) const;
  /// Of so many sections of the tape's examples: samples times seeds.
  MatrixView<T> sensitivities(Tape<T>& tape, Index wire, Index sections) const;
  ConstMatrixView<T> sensitivities(const Tape<T>& tape, Index wire, Index sections) const;
  /// Values of a wire that is not the output's.
  ConstMatrixView<T> values(const Tape<T>& tape, Index wire) const;
  /// What node n has kept of a sample's examples.
  Kept<T> kept(Tape<T>& tape, std::size_t n, Index sample) const;
  /// Its slopes, of all samples.
  ConstMatrixView<T> kept_slopes(const Tape<T>& tape, std::size_t n) const;

  void initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const;
  /// Outputs from `first` on start at 0, wherever they come straight from a layer with weights.
  void silence_outputs(Index first, std::span<T> theta) const;

 private:
  class Builder;
  std::string line_text(const Node& node) const;
  void check_statistics(const Statistics& statistics, Index examples) const;
  void assign_places();
  void assign_registers();
  void find_first_writers();
  void find_straight_wires();
  void linear_outputs(ConstMatrixView<T> thetas, ConstMatrixView<T> x, MatrixView<T> f) const;
  Index register_numbers(std::size_t number, Index examples) const;
  Index register_offset(Index place, Index examples) const;
  Index kept_numbers(std::size_t n) const;

  Shape input_;
  std::string text_;
  std::vector<Node> nodes_;
  std::vector<Wire> wires_;
  std::vector<ParameterBlock> blocks_;
  std::vector<Learned> learned_;
  std::vector<DenseShape> dense_;
  /// Numbers of a place's wire are the most of its column, or of a packet.
  struct Register {
    Index column = 0, packet = 0;
  };
  std::vector<Index> dense_nodes_, place_wires_, place_registers_;
  std::vector<Register> registers_;
  Index output_ = 0, parameters_ = 0, random_ = 0, normalized_ = 0, hidden_layers_ = 0;
};

/// The description of a multilayer perceptron.
std::string mlp_description(ConstSpan<Index> sizes, bdl_activation activation, bool bias);

/// Parameters of a network of these layer sizes (biases counted), or -1 if more than 2^31 - 1.
Index count_parameters(ConstSpan<Index> sizes);

}  // namespace bdl
