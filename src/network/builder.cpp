// Builds a graph from the text of a description: first nodes and wires, line by line, then the places of
// their numbers, and what passes need to know of the graph as a whole.
#include <algorithm>

#include "base/error.hpp"
#include "network/activation.hpp"
#include "network/graph.hpp"
#include "network/layers.hpp"

namespace bdl {
namespace {

/// Makes the layer of a line, whose first word says of which kind it is.
template <class T>
LayerPointer<T> make_layer(LineReader& line, const Shape& input, const Placement& at) {
  std::string words;
#define BDL_LAYER(kind, make)                               \
  if (line.word() == kind) return make<T>(line, input, at); \
  words += std::string(kind) + ", ";
#include "network/layers.def"
#undef BDL_LAYER
  for (int a = BDL_IDENTITY; a <= BDL_SWISH; ++a) {
    const auto activation = static_cast<bdl_activation>(a);
    if (line.word() == activation_word(activation)) return make_activation<T>(input, activation);
    words += std::string(activation_word(activation)) + ", ";
  }
  line.fail("expected one of " + words + "residual, shortcut, end");
}

constexpr int most_nested = 16;
/// Most numbers of an example that all layers hold: times the rows of a step, their bytes fit into 64 bits.
constexpr Index most_numbers = Index{1} << 28;

}  // namespace

template <class T>
class Graph<T>::Builder {
 public:
  Builder(Graph& graph, std::string_view text) : graph_(graph), lines_(read_lines(text)) {}

  void build() {
    const End inputs = read_input();
    End outputs = read_sequence(inputs, 0);
    if (!is_at_end()) line().fail("no residual comes before it");
    outputs = in_layout(outputs, Layout::columns, 0);
    if (graph_.learned_.empty())
      fail(Status::ERROR_INVALID_ARGUMENT, "the description has no layer with parameters");
    graph_.output_ = outputs.wire;
    assign_places();
    assign_registers();
    find_first_writers();
    find_straight_wires();
  }

 private:
  struct End {
    Index wire;
    Shape shape;
  };

  bool is_at_end() const { return next_ == lines_.size(); }
  LineReader& line() { return lines_[next_]; }
  bool is_next(const char* word) const { return !is_at_end() && lines_[next_].word() == word; }

  void write(int depth, const std::string& text) {
    graph_.text_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + text + "\n";
  }

  Index add_wire(const Shape& shape, Layout layout, bool is_data, bool is_learned) {
    const Index height = column_numbers(layout, shape);
    if (!graph_.wires_.empty()) numbers_ += layout == Layout::columns ? height : height / packet_size;
    graph_.wires_.push_back({shape.size(), layout, height, is_data, is_learned});
    return static_cast<Index>(graph_.wires_.size()) - 1;
  }

  End read_input() {
    if (!is_next("input"))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the description begins with \"%.60s\", expected \"input FEATURES\" or \"input CHANNELS ROWS "
           "COLUMNS\"",
           is_at_end() ? "" : line().word().c_str());
    LineReader& line = lines_[next_++];
    Shape& shape = graph_.input_;
    shape.channels = line.count("FEATURES");
    if (!line.is_at_end()) {
      shape.rows = line.count("ROWS");
      shape.columns = line.count("COLUMNS");
    }
    line.finish();
    const double size = static_cast<double>(shape.channels) * static_cast<double>(shape.rows) *
                        static_cast<double>(shape.columns);
    if (size > INT32_MAX) line.fail("an example has more than 2147483647 numbers");
    std::string text = "input " + std::to_string(shape.channels);
    if (shape.is_image()) text += " " + std::to_string(shape.rows) + " " + std::to_string(shape.columns);
    write(0, text);
    return {add_wire(shape, Layout::columns, true, false), shape};
  }

  /// Reads layers and residuals up to a word that ends the sequence.
  End read_sequence(End from, int depth) {
    while (!is_at_end() && !is_next("shortcut") && !is_next("end"))
      from = is_next("residual") ? read_residual(from, depth) : read_layer(from, depth);
    return from;
  }

  End read_layer(End from, int depth) {
    LineReader& line = lines_[next_++];
    const LayerPointer<T> layer =
        make_layer<T>(line, from.shape, {graph_.parameters_, graph_.random_, graph_.normalized_});
    line.finish();
    from = in_layout(from, layer->layout(), line.number());
    const bool is_learned = layer->parameters() > 0 || graph_.wire(from.wire).is_learned;
    const Index out = add_wire(layer->output(), graph_.wire(from.wire).layout, false, is_learned);
    if (numbers_ > most_numbers) line.fail("the layers hold more than 268435456 numbers for an example");
    graph_.random_ += layer->random_numbers();
    graph_.normalized_ += layer->normalized_channels();
    if (layer->parameters() > 0) add_parameters(*layer, graph_.wire(from.wire).is_data, line);
    graph_.nodes_.push_back({layer, from.wire, -1, out, false, false, line.number()});
    write(depth, layer->text());
    return {out, layer->output()};
  }

  /// Adds a change of the layout, if a layer needs another one.
  End in_layout(const End& from, std::optional<Layout> layout, Index line) {
    if (!layout || graph_.wire(from.wire).layout == *layout) return from;
    const bool is_data = graph_.wire(from.wire).is_data, is_learned = graph_.wire(from.wire).is_learned;
    const Index out = add_wire(from.shape, *layout, is_data, is_learned);
    graph_.nodes_.push_back({make_repacking<T>(from.shape, *layout), from.wire, -1, out, false, false, line});
    return {out, from.shape};
  }

  void add_parameters(const Layer<T>& layer, bool of_data, const LineReader& line) {
    const auto number = static_cast<Index>(graph_.learned_.size()),
               node = static_cast<Index>(graph_.nodes_.size());
    graph_.learned_.push_back({node, graph_.parameters_});
    for (ParameterBlock block : layer.blocks()) {
      block.name = "layer" + std::to_string(number) + "." + block.name;
      block.layer = number;
      graph_.blocks_.push_back(block);
    }
    if (const DenseShape* shape = layer.dense()) {
      graph_.dense_.push_back(*shape);
      graph_.dense_.back().of_data = of_data;
      graph_.dense_nodes_.push_back(node);
    }
    if (layer.parameters() > INT32_MAX - graph_.parameters_)
      line.fail("the network has more than 2147483647 parameters");
    graph_.parameters_ += layer.parameters();
  }

  /// Reads "residual ... [shortcut ...] end".
  End read_residual(const End& from, int depth) {
    const LineReader first = lines_[next_++];
    first.finish();
    if (depth == most_nested) first.fail("residuals are nested more than 16 deep");
    write(depth, "residual");
    const End main = read_sequence(from, depth + 1);
    if (main.wire == from.wire) first.fail("its main branch has no layer");
    End shortcut = from;
    if (is_next("shortcut")) {
      lines_[next_++].finish();
      const std::size_t before = graph_.text_.size();
      write(depth, "shortcut");
      shortcut = read_sequence(from, depth + 1);
      if (shortcut.wire == from.wire) graph_.text_.resize(before);
    }
    if (!is_next("end")) first.fail("its \"end\" is missing");
    const LineReader& last = lines_[next_++];
    last.finish();
    write(depth, "end");
    if (main.shape != shortcut.shape)
      last.fail("the main branch has outputs " + shape_text(main.shape) + ", the shortcut has " +
                shape_text(shortcut.shape) + ": expected the same");
    shortcut = in_layout(shortcut, graph_.wire(main.wire).layout, last.number());
    const bool is_learned = graph_.wire(main.wire).is_learned || graph_.wire(shortcut.wire).is_learned;
    const Index out = add_wire(main.shape, graph_.wire(main.wire).layout, false, is_learned);
    graph_.nodes_.push_back({nullptr, main.wire, shortcut.wire, out, false, false, last.number()});
    return {out, main.shape};
  }

  /// An elementwise layer, and a sum, take the place of an input that nobody else reads.
  void assign_places() {
    std::vector<Index> readers(graph_.wires_.size());
    for (const Node& node : graph_.nodes_) {
      ++readers[at(node.in)];
      if (node.other >= 0) ++readers[at(node.other)];
    }
    for (const Node& node : graph_.nodes_) {
      const bool replaces = (!node.layer || node.layer->is_elementwise()) && !graph_.wire(node.in).is_data &&
                            readers[at(node.in)] == 1;
      Wire& out = graph_.wires_[at(node.out)];
      out.place = replaces ? graph_.wire(node.in).place : graph_.places();
      if (!replaces) graph_.place_wires_.push_back(node.out);
    }
  }

  /// A pass that keeps nothing needs a place only until its last reader: places share registers.
  void assign_registers() {
    const Index never = static_cast<Index>(graph_.nodes_.size());
    std::vector<Index> last(graph_.place_wires_.size(), -1), free_from;
    const auto read = [&](Index w, Index n) {
      if (w >= 0 && graph_.wire(w).place >= 0) last[at(graph_.wire(w).place)] = n;
    };
    for (Index n = 0; n < never; ++n) {
      read(graph_.nodes_[at(n)].in, n);
      read(graph_.nodes_[at(n)].other, n);
    }
    graph_.place_registers_.assign(graph_.place_wires_.size(), -1);
    for (Index n = 0; n < never; ++n) {
      const Index place = graph_.wire(graph_.nodes_[at(n)].out).place;
      if (place == graph_.wire(graph_.output_).place || graph_.place_registers_[at(place)] >= 0) continue;
      std::size_t r = 0;
      while (r < free_from.size() && free_from[r] >= n) ++r;
      if (r == free_from.size()) {
        free_from.push_back(0);
        graph_.registers_.push_back({});
      }
      free_from[r] = last[at(place)];
      Index& most = graph_.wire(graph_.nodes_[at(n)].out).layout == Layout::columns
                        ? graph_.registers_[r].column
                        : graph_.registers_[r].packet;
      most = std::max(most, graph_.place_size(place));
      graph_.place_registers_[at(place)] = static_cast<Index>(r);
    }
  }

  /// Back-propagation goes through the nodes from the last to the first: the first to write a wire does not
  /// add.
  void find_first_writers() {
    std::vector<bool> written(graph_.wires_.size());
    const auto visit = [&](Index w, bool& adds) {
      if (w < 0) return;
      adds = written[at(w)];
      written[at(w)] = true;
    };
    for (auto node = graph_.nodes_.rbegin(); node != graph_.nodes_.rend(); ++node) {
      visit(node->in, node->adds);
      visit(node->other, node->other_adds);
    }
  }

  void find_straight_wires() {
    graph_.wires_[at(graph_.output_)].is_straight = true;
    for (auto node = graph_.nodes_.rbegin(); node != graph_.nodes_.rend(); ++node) {
      if ((node->layer && !node->layer->is_repacking()) || !graph_.wire(node->out).is_straight) continue;
      graph_.wires_[at(node->in)].is_straight = true;
      if (node->other >= 0) graph_.wires_[at(node->other)].is_straight = true;
    }
    graph_.hidden_layers_ = std::ranges::count_if(graph_.learned_, [&](const Learned& layer) {
      return !graph_.wire(graph_.nodes_[at(layer.node)].out).is_straight;
    });
  }

  Graph& graph_;
  std::vector<LineReader> lines_;
  std::size_t next_ = 0;
  Index numbers_ = 0;  // number of values that all layers hold of an example
};

template <class T>
Graph<T>::Graph(std::string_view description) {
  Builder(*this, description).build();
}

std::string mlp_description(ConstSpan<Index> sizes, bdl_activation activation, bool bias) {
  std::string text = "input " + std::to_string(sizes.front()) + "\n";
  for (std::size_t l = 1; l < sizes.size(); ++l) {
    if (l > 1) text += std::string(activation_word(activation)) + "\n";
    text += "dense " + std::to_string(sizes[l]) + (bias ? "\n" : " nobias\n");
  }
  return text;
}

Index count_parameters(ConstSpan<Index> sizes) {
  Index count = 0;
  for (std::size_t l = 1; l < sizes.size(); ++l) {
    count += sizes[l] * (sizes[l - 1] + 1);
    if (count > INT32_MAX) return -1;
  }
  return count;
}

template Graph<float>::Graph(std::string_view);
template Graph<double>::Graph(std::string_view);

}  // namespace bdl
