// Layers that only move numbers: flatten, crop, and the change of layout between layers that take examples in
// columns and those that take packets.
#include "network/layers.hpp"

namespace bdl {
namespace {

/// Calls visit(packet, number of the channel's first place in a packet, row of its first number in a column,
/// examples in the packet) for all channels of all packets.
template <class Visit>
void for_each_packed_channel(const PacketMap& map, Index examples, Visit&& visit) {
  const Index channels = map.shape.channels, positions = map.shape.rows * map.shape.columns;
  parallel_blocks(packets_of(examples) * channels, task_grain(positions * packet_size),
                  [&](Index first, Index count) noexcept {
                    for (Index i = first; i < first + count; ++i) {
                      const Index packet = i / channels, channel = i % channels;
                      visit(packet, channel * map.channel_numbers(), channel * positions,
                            std::min(packet_size, examples - packet * packet_size));
                    }
                  });
}

template <class T>
class RepackingLayer final : public Layer<T> {
 public:
  RepackingLayer(const Shape& shape, Layout to) : Layer<T>(shape, shape), to_(to) {}
  std::string text() const override { return {}; }
  std::optional<Layout> layout() const override { return std::nullopt; }
  bool is_repacking() const override { return true; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    const PacketMap map{this->input()};
    to_ == Layout::packets ? to_packets<T>(map, in, false, out) : to_columns<T>(map, in, false, out);
  }
  void backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const PacketMap map{this->input()};
    to_ == Layout::packets ? to_columns<T>(map, e, add, to) : to_packets<T>(map, e, add, to);
  }

 private:
  Layout to_;
};

/// flatten: the numbers of a map become features, in the order (channel, row, column).
template <class T>
class FlattenLayer final : public Layer<T> {
 public:
  explicit FlattenLayer(const Shape& input) : Layer<T>(input, {input.size()}) {}
  std::string text() const override { return "flatten"; }
  bool is_repacking() const override { return true; }
  bool is_elementwise() const override { return true; }
  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    for (Index j = 0; j < in.cols && in.data != out.data; ++j)
      std::ranges::copy(in.column(j), out.column_data(j));
  }
  void backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    pass_on(e, add, to);
  }
  void change(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T> in_change,
              MatrixView<T> out_change) const override {
    pass_on(in_change, false, out_change);
  }
  void change_back(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>, ConstMatrixView<T>,
                   ConstMatrixView<T> e_change, bool add, MatrixView<T> to) const override {
    pass_on(e_change, add, to);
  }
};

/// crop ROWS [COLUMNS]: the middle of each map. After images that are shifted at random (option augment_pad),
/// this crops at random in training and the middle at prediction.
template <class T>
class CropLayer final : public Layer<T> {
 public:
  CropLayer(const Shape& input, const Shape& output) : Layer<T>(input, output) {}
  std::string text() const override {
    const Shape& out = this->output();
    const std::string rows = "crop " + std::to_string(out.rows);
    return out.columns == out.rows ? rows : rows + " " + std::to_string(out.columns);
  }
  std::optional<Layout> layout() const override { return Layout::packets; }
  bool can(Need need) const override { return need != Need::second_derivatives; }
  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    const Index line = this->output().columns * packet_size;
    for_each_line(in.cols, [&](Index packet, Index from, Index to) {
      std::copy_n(in.column_data(packet) + from, line, out.column_data(packet) + to);
    });
    clear_gaps(PacketMap{this->output()}, out);
  }
  void backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const Index line = this->output().columns * packet_size;
    for (Index packet = 0; !add && packet < to.cols; ++packet) std::ranges::fill(to.column(packet), T(0));
    for_each_line(e.cols, [&](Index packet, Index at, Index from) {
      T* const sum = to.column_data(packet) + at;
      const T* const sensitivities = e.column_data(packet) + from;
      for (Index i = 0; i < line; ++i) sum[i] += sensitivities[i];
    });
  }

 private:
  /// Calls visit(packet, where a line begins in the input, where it begins in the output) for all lines that
  /// remain.
  template <class Visit>
  void for_each_line(Index packets, Visit&& visit) const {
    const Shape &in = this->input(), &out = this->output();
    const Index above = (in.rows - out.rows) / 2, left = (in.columns - out.columns) / 2,
                in_channel = PacketMap{in}.channel_numbers(), out_channel = PacketMap{out}.channel_numbers();
    parallel_blocks(packets * out.channels, task_grain(out_channel), [&](Index first, Index count) noexcept {
      for (Index i = first; i < first + count; ++i)
        for (Index row = 0; row < out.rows; ++row)
          visit(i / out.channels,
                i % out.channels * in_channel + ((above + row) * in.columns + left) * packet_size,
                i % out.channels * out_channel + row * out.columns * packet_size);
    });
  }
};

}  // namespace

template <class T>
void to_packets(const PacketMap& map, ConstMatrixView<T> columns, bool add, MatrixView<T> packets) {
  const Index positions = map.shape.rows * map.shape.columns;
  for_each_packed_channel(map, columns.cols, [&](Index packet, Index at, Index row, Index examples) {
    T* const to = packets.column_data(packet) + at;
    const T* from[packet_size];
    for (Index lane = 0; lane < packet_size; ++lane)
      from[lane] = columns.column_data(packet * packet_size + std::min(lane, examples - 1)) + row;
    for (Index p = 0; p < positions; ++p) {
      T numbers[packet_size];
      for (Index lane = 0; lane < packet_size; ++lane) numbers[lane] = lane < examples ? from[lane][p] : T(0);
      for (Index lane = 0; lane < packet_size; ++lane)
        to[p * packet_size + lane] = (add ? to[p * packet_size + lane] : T(0)) + numbers[lane];
    }
  });
  if (!add) clear_gaps(map, packets);
}

template <class T>
void to_columns(const PacketMap& map, ConstMatrixView<T> packets, bool add, MatrixView<T> columns) {
  const Index positions = map.shape.rows * map.shape.columns;
  for_each_packed_channel(map, columns.cols, [&](Index packet, Index at, Index row, Index examples) {
    const T* const from = packets.column_data(packet) + at;
    for (Index lane = 0; lane < examples; ++lane) {
      T* const to = columns.column_data(packet * packet_size + lane) + row;
      for (Index p = 0; p < positions; ++p) to[p] = (add ? to[p] : T(0)) + from[p * packet_size + lane];
    }
  });
}

template <class T>
LayerPointer<T> make_repacking(const Shape& shape, Layout to) {
  return std::make_shared<RepackingLayer<T>>(shape, to);
}

template <class T>
LayerPointer<T> make_flatten(LineReader&, const Shape& input, const Placement&) {
  return std::make_shared<FlattenLayer<T>>(input);
}

template <class T>
LayerPointer<T> make_crop(LineReader& line, const Shape& input, const Placement&) {
  const Index rows = line.count("ROWS"), columns = line.is_at_end() ? rows : line.count("COLUMNS");
  if (rows > input.rows || columns > input.columns)
    line.fail("its input is " + shape_text(input) + ", too small for a crop of " + std::to_string(rows) +
              " x " + std::to_string(columns));
  return std::make_shared<CropLayer<T>>(input, Shape{input.channels, rows, columns});
}

#define BDL_INSTANTIATE(T)                                                             \
  template void to_packets(const PacketMap&, ConstMatrixView<T>, bool, MatrixView<T>); \
  template void to_columns(const PacketMap&, ConstMatrixView<T>, bool, MatrixView<T>); \
  template LayerPointer<T> make_repacking(const Shape&, Layout);                       \
  template LayerPointer<T> make_flatten(LineReader&, const Shape&, const Placement&);  \
  template LayerPointer<T> make_crop(LineReader&, const Shape&, const Placement&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
