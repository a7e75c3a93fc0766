#include "network/repacking.hpp"

#include "network/pass_on.hpp"

namespace bdl {
namespace {

/// visit(numbers of a channel's 16 examples, first example's numbers, examples): channel by channel of each
/// packet.
template <class Visit>
void for_each_channel(const PacketMap& map, Index examples, Visit&& visit) {
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

}  // namespace

template <class T>
void to_packets(const PacketMap& map, ConstMatrixView<T> columns, bool add, MatrixView<T> packets) {
  const Index positions = map.shape.rows * map.shape.columns;
  for_each_channel(map, columns.cols, [&](Index packet, Index at, Index row, Index examples) {
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
  for_each_channel(map, columns.cols, [&](Index packet, Index at, Index row, Index examples) {
    const T* const from = packets.column_data(packet) + at;
    for (Index lane = 0; lane < examples; ++lane) {
      T* const to = columns.column_data(packet * packet_size + lane) + row;
      for (Index p = 0; p < positions; ++p) to[p] = (add ? to[p] : T(0)) + from[p * packet_size + lane];
    }
  });
}

template <class T>
void RepackingLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out,
                                const Kept<T>&) const {
  const PacketMap map{this->input()};
  to_ == Layout::packets ? to_packets<T>(map, in, false, out) : to_columns<T>(map, in, false, out);
}

template <class T>
void RepackingLayer<T>::backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                                 MatrixView<T> to) const {
  const PacketMap map{this->input()};
  to_ == Layout::packets ? to_columns<T>(map, e, add, to) : to_packets<T>(map, e, add, to);
}

template <class T>
void FlattenLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out,
                              const Kept<T>&) const {
  for (Index j = 0; j < in.cols && in.data != out.data; ++j)
    std::ranges::copy(in.column(j), out.column_data(j));
}

template <class T>
void FlattenLayer<T>::backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                               MatrixView<T> to) const {
  pass_on(e, add, to);
}

template <class T>
void FlattenLayer<T>::change(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>,
                             ConstMatrixView<T> in_change, MatrixView<T> out_change) const {
  pass_on(in_change, false, out_change);
}

template <class T>
void FlattenLayer<T>::change_back(const Directions<T>&, const Kept<T>&, ConstMatrixView<T>,
                                  ConstMatrixView<T>, ConstMatrixView<T> e_change, bool add,
                                  MatrixView<T> to) const {
  pass_on(e_change, add, to);
}

template void to_packets(const PacketMap&, ConstMatrixView<float>, bool, MatrixView<float>);
template void to_packets(const PacketMap&, ConstMatrixView<double>, bool, MatrixView<double>);
template void to_columns(const PacketMap&, ConstMatrixView<float>, bool, MatrixView<float>);
template void to_columns(const PacketMap&, ConstMatrixView<double>, bool, MatrixView<double>);
template class RepackingLayer<float>;
template class RepackingLayer<double>;
template class FlattenLayer<float>;
template class FlattenLayer<double>;

}  // namespace bdl
