// From the text of a description to nodes and wires.
#include <algorithm>

#include "base/error.hpp"
#include "network/batchnorm.hpp"
#include "network/convolution/conv.hpp"
#include "network/crop.hpp"
#include "network/dense.hpp"
#include "network/elementwise.hpp"
#include "network/graph.hpp"
#include "network/pool.hpp"
#include "network/repacking.hpp"

namespace bdl {
namespace {

template <class T>
struct LayerKind {
  const char* word;
  std::shared_ptr<const Layer<T>> (*make)(LineReader& line, const Shape& input, const Placement& at);
};

template <class T>
std::span<const LayerKind<T>> layer_kinds() {
  static constexpr LayerKind<T> kinds[] = {
#define BDL_LAYER(word, make) {word, make},
#include "network/layers.def"
#undef BDL_LAYER
  };
  return kinds;
}

template <class T>
const LayerKind<T>& find_kind(const LineReader& line) {
  for (const auto& kind : layer_kinds<T>())
    if (line.word() == kind.word) return kind;
  std::string words;
  for (const auto& kind : layer_kinds<T>()) words += std::string(kind.word) + ", ";
  line.fail("expected one of " + words + "residual, shortcut, end");
}

constexpr int most_nested = 16;
constexpr Index most_numbers = Index{1} << 28;  // times as many rows of a step, their bytes fit 64 bits

}  // namespace

template <class T>
class Graph<T>::Builder {
 public:
  Builder(Graph& graph, std::string_view text) : graph_(graph), lines_(read_lines(text)) {}

  void build() {
    const End inputs = read_input();
    End outputs = read_sequence(inputs, 0);
    if (!is_at_end()) line().fail("there is no residual that it belongs to");
    outputs = in_layout(outputs, Layout::columns, 0);
    if (graph_.learned_.empty())
      fail(Status::ERROR_INVALID_ARGUMENT, "the description has no layer with parameters");
    graph_.output_ = outputs.wire;
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

  /// Up to a word that ends it.
  End read_sequence(End from, int depth) {
    while (!is_at_end() && !is_next("shortcut") && !is_next("end"))
      from = is_next("residual") ? read_residual(from, depth) : read_layer(from, depth);
    return from;
  }

  End read_layer(End from, int depth) {
    LineReader& line = lines_[next_++];
    const LayerKind<T>& kind = find_kind<T>(line);
    const std::shared_ptr<const Layer<T>> layer =
        kind.make(line, from.shape, {graph_.parameters_, graph_.random_, graph_.normalized_});
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

  /// The same numbers in the layout that a layer takes.
  End in_layout(const End& from, std::optional<Layout> layout, Index line) {
    if (!layout || graph_.wire(from.wire).layout == *layout) return from;
    const bool is_data = graph_.wire(from.wire).is_data, is_learned = graph_.wire(from.wire).is_learned;
    const Index out = add_wire(from.shape, *layout, is_data, is_learned);
    graph_.nodes_.push_back(
        {std::make_shared<RepackingLayer<T>>(from.shape, *layout), from.wire, -1, out, false, false, line});
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

  /// residual ... [shortcut ...] end
  End read_residual(const End& from, int depth) {
    const LineReader first = lines_[next_++];
    first.finish();
    if (depth == most_nested) first.fail("more than 16 residuals within one another");
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
    if (!is_next("end")) first.fail("its end is missing");
    const LineReader& last = lines_[next_++];
    last.finish();
    write(depth, "end");
    if (main.shape != shortcut.shape)
      last.fail("the main branch gives " + shape_text(main.shape) + ", the shortcut " +
                shape_text(shortcut.shape));
    shortcut = in_layout(shortcut, graph_.wire(main.wire).layout, last.number());
    const bool is_learned = graph_.wire(main.wire).is_learned || graph_.wire(shortcut.wire).is_learned;
    const Index out = add_wire(main.shape, graph_.wire(main.wire).layout, false, is_learned);
    graph_.nodes_.push_back({nullptr, main.wire, shortcut.wire, out, false, false, last.number()});
    return {out, main.shape};
  }

  Graph& graph_;
  std::vector<LineReader> lines_;
  std::size_t next_ = 0;
  Index numbers_ = 0;  // of an example, that all layers hold
};

template <class T>
Graph<T>::Graph(std::string_view description) {
  Builder(*this, description).build();
  assign_places();
  assign_registers();
  find_first_writers();
  find_straight_wires();
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
