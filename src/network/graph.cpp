#include "network/graph.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/profile.hpp"
#include "linalg/blas.hpp"
#include "network/activation.hpp"

namespace bdl {
namespace {

/// out = in + other, where in and out may be the same.
template <class T>
void add_up(ConstMatrixView<T> in, ConstMatrixView<T> other, MatrixView<T> out) {
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = 0; i < out.rows; ++i) out(i, j) = in(i, j) + other(i, j);
}

}  // namespace

template <class T>
std::vector<Index> Graph<T>::layer_sizes() const {
  std::vector<Index> sizes{inputs()};
  for (const Node& node : nodes_) {
    if (!node.layer || node.layer->random_numbers() > 0 || node.layer->normalized_channels() > 0) return {};
    const DenseShape* shape = node.layer->dense();
    if (!shape && wire(node.in).is_data) return {};
    if (!shape) continue;
    if (shape->has_bias() != dense_.front().has_bias()) return {};
    sizes.push_back(shape->outputs);
  }
  return nodes_.back().layer->dense() ? sizes : std::vector<Index>{};
}

template <class T>
bdl_activation Graph<T>::activation() const {
  std::string word;
  for (const Node& node : nodes_) {
    if (!node.layer || node.layer->dense() || node.layer->random_numbers() > 0) continue;
    if (node.layer->normalized_channels() > 0) continue;
    if (!word.empty() && word != node.layer->text()) return {};
    word = node.layer->text();
  }
  for (int a = BDL_IDENTITY; a <= BDL_SWISH; ++a)
    if (word == activation_word(static_cast<bdl_activation>(a))) return static_cast<bdl_activation>(a);
  return word.empty() ? BDL_IDENTITY : bdl_activation{};
}

/// Changes of the layout have no line; they come with a layer that cannot do it either.
template <class T>
std::string Graph<T>::first_without(Need need) const {
  for (const Node& node : nodes_)
    if (node.layer && !node.layer->can(need) && !node.layer->text().empty()) return line_text(node);
  return {};
}

template <class T>
std::string Graph<T>::line_text(const Node& node) const {
  return "layer \"" + node.layer->text() + "\" (line " + std::to_string(node.line) + ")";
}

template <class T>
void Graph<T>::check_statistics(const Statistics& statistics, Index examples) const {
  if (normalized_ == 0) return;
  for (const Node& node : nodes_) {
    if (!node.layer || node.layer->normalized_channels() == 0) continue;
    if (statistics.size() != statistics_size())
      fail(Status::ERROR_UNSUPPORTED,
           "the network's %s normalises by running statistics, which belong to a posterior: use a function "
           "that is given a posterior, for predictions or for training",
           line_text(node).c_str());
    if (statistics.trains() && examples < node.layer->fewest_examples())
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the network's %s normalises by the minibatch's statistics: the minibatch has %lld examples, "
           "expected at least %lld",
           line_text(node).c_str(), static_cast<long long>(examples),
           static_cast<long long>(node.layer->fewest_examples()));
  }
}

template <class T>
Index Graph<T>::register_offset(Index place, Index examples) const {
  Index offset = 0;
  for (Index r = 0; r < place_registers_[at(place)]; ++r) offset += registers_[at(r)].numbers(examples);
  return offset;
}

template <class T>
Index Graph<T>::scratch_size(Index examples) const {
  Index size = 0;
  for (const Register& of : registers_) size += of.numbers(examples);
  return size;
}

template <class T>
void Graph<T>::forward(ConstSpan<T> theta, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
                       ConstSpan<double> statistics) const {
  const SampledWeights<T> weights({theta.data(), static_cast<Index>(theta.size()), 1});
  forward(weights, x, f, scratch, statistics);
}

template <class T>
void Graph<T>::forward(const Weights<T>& weights, ConstMatrixView<T> x, MatrixView<T> f, Scratch& scratch,
                       ConstSpan<double> statistics) const {
  check_statistics({statistics, {}}, x.cols);
  const Scratch::Frame frame(scratch);
  T* const registers = scratch.take<T>(scratch_size(x.cols)).data();
  const Pass<T> pass{weights, x.cols, 0, nullptr, {statistics, {}}};
  const ConstMatrixView<T> inputs =
      without_offsets(x, scratch.matrix<T>(x.rows > this->inputs() ? this->inputs() : 0, x.cols));
  const auto place_of = [&](Index w) {
    if (wire(w).place == wire(output_).place) return f;
    return MatrixView<T>(registers + register_offset(wire(w).place, x.cols), wire(w).height,
                         wire(w).columns(x.cols));
  };
  const auto values = [&](Index w) { return w == 0 ? inputs : ConstMatrixView<T>(place_of(w)); };
  for (const Node& node : nodes_) {
    if (node.layer)
      node.layer->forward(pass, values(node.in), place_of(node.out), {});
    else
      add_up(values(node.in), values(node.other), place_of(node.out));
  }
  add_offsets(x, f);
}

/// Returns the inputs as layers want them, one example after the other: X itself, or a copy.
template <class T>
ConstMatrixView<T> Graph<T>::without_offsets(ConstMatrixView<T> x, MatrixView<T> copy) const {
  if (x.rows == inputs()) return x;
  const ConstMatrixView<T> from = features(x);
  for (Index j = 0; j < x.cols; ++j) std::ranges::copy(from.column(j), copy.column_data(j));
  return copy;
}

template <class T>
ConstMatrixView<T> Graph<T>::without_offsets(ConstMatrixView<T> x, Tape<T>& tape) const {
  return x.rows == inputs() ? x : without_offsets(x, tape.inputs.matrix(inputs(), x.cols));
}

/// Adds the offsets, the same at all samples.
template <class T>
void Graph<T>::add_offsets(ConstMatrixView<T> x, MatrixView<T> f) const {
  for (Index j = 0; j < f.cols && x.rows > inputs(); ++j)
    for (Index c = 0; c < x.rows - inputs(); ++c) f(c, j) += x(inputs() + c, j % x.cols);
}

template <class T>
void Graph<T>::begin(Tape<T>& tape, ConstMatrixView<T> x, Index samples, const Statistics& statistics) const {
  tape.values.resize(place_wires_.size());
  tape.sensitivities.resize(place_wires_.size());
  for (auto* of_nodes : {&tape.slopes, &tape.curvatures}) of_nodes->resize(nodes_.size());
  tape.of_samples.resize(nodes_.size());
  tape.statistics = statistics;
  tape.examples = x.cols;
  tape.samples = samples;
  tape.x = x;
}

template <class T>
void Graph<T>::forward(ConstMatrixView<T> thetas, ConstMatrixView<T> x, Tape<T>& tape, MatrixView<T> f,
                       const StreamKey* noise, const Statistics& statistics) const {
  if (!is_single_index())
    return forward(SampledWeights<T>(thetas), thetas.cols, x, tape, f, noise, statistics);
  const StageTimer timer(Stage::forward);
  check_statistics(statistics, x.cols);
  begin(tape, without_offsets(x, tape), thetas.cols, statistics);
  linear_outputs(thetas, tape.x, f);
  add_offsets(x, f);
}

template <class T>
void Graph<T>::forward(const Weights<T>& weights, Index samples, ConstMatrixView<T> x, Tape<T>& tape,
                       MatrixView<T> f, const StreamKey* noise, const Statistics& statistics) const {
  const StageTimer timer(Stage::forward);
  check_statistics(statistics, x.cols);
  begin(tape, without_offsets(x, tape), samples, statistics);
  for (Index s = 0; s < samples; ++s) {
    const auto place_of = [&](Index w) {
      const Wire& of = wire(w);
      const Index columns = of.columns(x.cols), sections = of.is_data ? 1 : samples;
      const MatrixView<T> all = of.place == wire(output_).place
                                    ? f
                                    : tape.values[at(of.place)].matrix(of.height, columns * sections);
      return all.columns(of.is_data ? 0 : s * columns, columns);
    };
    const auto values = [&](Index w) { return w == 0 ? tape.x : ConstMatrixView<T>(place_of(w)); };
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (wire(node.out).is_data && s > 0) continue;
      if (node.layer)
        node.layer->forward({weights, x.cols, s, noise, statistics}, values(node.in), place_of(node.out),
                            kept(tape, n, s));
      else
        add_up(values(node.in), values(node.other), place_of(node.out));
    }
  }
  add_offsets(x, f);
}

/// One layer with one output needs one product for all samples.
template <class T>
void Graph<T>::linear_outputs(ConstMatrixView<T> thetas, ConstMatrixView<T> x, MatrixView<T> f) const {
  const DenseShape& shape = dense_.front();
  gemm(Op::transpose, Op::none, T(1), x,
       ConstMatrixView<T>(thetas.data + shape.weight_offset, shape.inputs, thetas.cols, thetas.ld), T(0),
       MatrixView<T>(f.data, x.cols, thetas.cols));
  for (Index s = 0; shape.has_bias() && s < thetas.cols; ++s)
    for (Index i = 0; i < x.cols; ++i) f(0, s * x.cols + i) += thetas(shape.bias_offset, s);
}

template <class T>
void Graph<T>::backward(ConstMatrixView<T> thetas, Tape<T>& tape, Index seeds) const {
  backward(SampledWeights<T>(thetas), tape, seeds);
}

template <class T>
void Graph<T>::backward(const Weights<T>& weights, Tape<T>& tape, Index seeds) const {
  const StageTimer timer(Stage::backward);
  const Index sections = tape.samples * seeds;
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    const Node& node = nodes_[n];
    if (!wire(node.out).is_learned) continue;
    const auto e = sensitivities(tape, node.out, sections);
    if (!node.layer && wire(node.other).is_learned)
      pass_on<T>(e, node.other_adds, sensitivities(tape, node.other, sections));
    if (!wire(node.in).is_learned) continue;
    const auto to = sensitivities(tape, node.in, sections);
    if (!node.layer) {
      pass_on<T>(e, node.adds, to);
      continue;
    }
    const Index from_columns = e.cols / sections, to_columns = to.cols / sections;
    for (Index section = 0; section < sections; ++section) {
      const Index sample = section % tape.samples;
      node.layer->backward({weights, tape.examples, sample, nullptr, tape.statistics}, kept(tape, n, sample),
                           e.columns(section * from_columns, from_columns), node.adds,
                           to.columns(section * to_columns, to_columns));
    }
  }
}

template <class T>
MatrixView<T> Graph<T>::seeds(Tape<T>& tape, Index columns) const {
  return tape.sensitivities[at(wire(output_).place)].matrix(outputs(), columns);
}

template <class T>
ConstMatrixView<T> Graph<T>::values(const Tape<T>& tape, Index w) const {
  if (w == 0) return tape.x;
  const Index sections = wire(w).is_data ? 1 : tape.samples;
  return tape.values[at(wire(w).place)].matrix(wire(w).height, columns(w, tape) * sections);
}

/// Number of values that node n keeps of a column of its outputs.
template <class T>
Index Graph<T>::kept_numbers(std::size_t n) const {
  return nodes_[n].layer ? nodes_[n].layer->kept(wire(nodes_[n].out).height) : 0;
}

template <class T>
Kept<T> Graph<T>::kept(Tape<T>& tape, std::size_t n, Index sample) const {
  const Index size = kept_numbers(n);
  if (size == 0) return {};
  const Index count = columns(nodes_[n].out, tape), all = count * tape.samples;
  Kept<T> kept{tape.slopes[n].matrix(size, all).columns(sample * count, count)};
  if (const Index of_sample = nodes_[n].layer->kept_of_sample(); of_sample > 0)
    kept.of_sample = tape.of_samples[n].first(of_sample * tape.samples).data() + sample * of_sample;
  if (tape.keeps_curvatures)
    kept.curvatures = tape.curvatures[n].matrix(size, all).columns(sample * count, count);
  return kept;
}

template <class T>
ConstMatrixView<T> Graph<T>::kept_slopes(const Tape<T>& tape, std::size_t n) const {
  return tape.slopes[n].matrix(kept_numbers(n), columns(nodes_[n].out, tape) * tape.samples);
}

template <class T>
void Graph<T>::initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const {
  std::ranges::fill(theta, T(0));
  const StreamKey key{seed, Stream::initialization, 0, 0};
  for (const Learned& layer : learned_) nodes_[at(layer.node)].layer->initialize(scheme, key, theta);
}

/// One filter of a convolution gives the outputs at all positions of its channel.
template <class T>
void Graph<T>::silence_outputs(Index first, std::span<T> theta) const {
  for (const Learned& learned : learned_) {
    const Node& node = nodes_[at(learned.node)];
    const ConvShape* const convolution = node.layer->convolution();
    if (!wire(node.out).is_straight || (!node.layer->dense() && !convolution)) continue;
    const Index positions = convolution ? convolution->positions() : 1,
                first_row = (first + positions - 1) / positions;
    for (const ParameterBlock& block : node.layer->blocks())
      std::fill_n(theta.data() + block.offset + first_row * block.cols, (block.rows - first_row) * block.cols,
                  T(0));
  }
}

template class Graph<float>;
template class Graph<double>;

}  // namespace bdl
