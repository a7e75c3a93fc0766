#include "network/graph.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "network/elementwise.hpp"

namespace bdl {
/// An elementwise layer, and a sum, take the place of an input that nobody else reads.
template <class T>
void Graph<T>::assign_places() {
  std::vector<Index> readers(wires_.size());
  for (const Node& node : nodes_) {
    ++readers[at(node.in)];
    if (node.other >= 0) ++readers[at(node.other)];
  }
  for (const Node& node : nodes_) {
    const bool replaces =
        (!node.layer || node.layer->is_elementwise()) && !wire(node.in).is_data && readers[at(node.in)] == 1;
    Wire& out = wires_[at(node.out)];
    out.place = replaces ? wire(node.in).place : places();
    if (!replaces) place_wires_.push_back(node.out);
  }
}

/// Predictions keep nothing: places share registers, each as long as somebody reads it.
template <class T>
void Graph<T>::assign_registers() {
  const Index never = static_cast<Index>(nodes_.size());
  std::vector<Index> last(place_wires_.size(), -1), free_from;
  const auto read = [&](Index w, Index n) {
    if (w >= 0 && wire(w).place >= 0) last[at(wire(w).place)] = n;
  };
  for (Index n = 0; n < never; ++n) {
    read(nodes_[at(n)].in, n);
    read(nodes_[at(n)].other, n);
  }
  place_registers_.assign(place_wires_.size(), -1);
  for (Index n = 0; n < never; ++n) {
    const Index place = wire(nodes_[at(n)].out).place;
    if (place == wire(output_).place || place_registers_[at(place)] >= 0) continue;
    std::size_t r = 0;
    while (r < free_from.size() && free_from[r] >= n) ++r;
    if (r == free_from.size()) {
      free_from.push_back(0);
      registers_.push_back({});
    }
    free_from[r] = last[at(place)];
    Index& most =
        wire(nodes_[at(n)].out).layout == Layout::columns ? registers_[r].column : registers_[r].packet;
    most = std::max(most, place_size(place));
    place_registers_[at(place)] = static_cast<Index>(r);
  }
}

/// Back-propagation goes through the nodes from the last to the first.
template <class T>
void Graph<T>::find_first_writers() {
  std::vector<bool> written(wires_.size());
  const auto visit = [&](Index w, bool& adds) {
    if (w < 0) return;
    adds = written[at(w)];
    written[at(w)] = true;
  };
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    visit(node->in, node->adds);
    visit(node->other, node->other_adds);
  }
}

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

/// Of those that have a line: changes of the layout come with one that cannot either.
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
           "the network's %s has running statistics, which belong to a posterior: only what is given one, "
           "predictions as well as training, knows the network's outputs",
           line_text(node).c_str());
    if (statistics.trains() && examples < node.layer->fewest_examples())
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the network's %s normalises by the minibatch's own statistics: it has %lld examples, expected at "
           "least %lld",
           line_text(node).c_str(), static_cast<long long>(examples),
           static_cast<long long>(node.layer->fewest_examples()));
  }
}

template <class T>
void Graph<T>::find_straight_wires() {
  wires_[at(output_)].is_straight = true;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((node->layer && !node->layer->is_repacking()) || !wire(node->out).is_straight) continue;
    wires_[at(node->in)].is_straight = true;
    if (node->other >= 0) wires_[at(node->other)].is_straight = true;
  }
  hidden_layers_ = std::ranges::count_if(
      learned_, [&](const Learned& layer) { return !wire(nodes_[at(layer.node)].out).is_straight; });
}

/// A convolution's filter gives all positions of its channel.
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

template <class T>
void Graph<T>::initialize(bdl_initialization scheme, std::uint64_t seed, std::span<T> theta) const {
  std::ranges::fill(theta, T(0));
  const StreamKey key{seed, Stream::initialization, 0, 0};
  for (const Learned& layer : learned_) nodes_[at(layer.node)].layer->initialize(scheme, key, theta);
}

template class Graph<float>;
template class Graph<double>;

}  // namespace bdl
