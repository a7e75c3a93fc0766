#include "network/crop.hpp"

#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
std::string CropLayer<T>::text() const {
  const Shape& out = this->output();
  const std::string rows = "crop " + std::to_string(out.rows);
  return out.columns == out.rows ? rows : rows + " " + std::to_string(out.columns);
}

/// visit(packet, numbers of the input and of the output before a line that is kept).
template <class T>
template <class Visit>
void CropLayer<T>::for_each_line(Index packets, Visit&& visit) const {
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

template <class T>
void CropLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const {
  const Index line = this->output().columns * packet_size;
  for_each_line(in.cols, [&](Index packet, Index from, Index to) {
    std::copy_n(in.column_data(packet) + from, line, out.column_data(packet) + to);
  });
  clear_gaps(PacketMap{this->output()}, out);
}

template <class T>
void CropLayer<T>::backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                            MatrixView<T> to) const {
  const Index line = this->output().columns * packet_size;
  for (Index packet = 0; !add && packet < to.cols; ++packet) std::ranges::fill(to.column(packet), T(0));
  for_each_line(e.cols, [&](Index packet, Index at, Index from) {
    T* const sum = to.column_data(packet) + at;
    const T* const sensitivities = e.column_data(packet) + from;
    for (Index i = 0; i < line; ++i) sum[i] += sensitivities[i];
  });
}

template <class T>
std::shared_ptr<const Layer<T>> make_crop(LineReader& line, const Shape& input, const Placement&) {
  const Index rows = line.count("ROWS"), columns = line.is_at_end() ? rows : line.count("COLUMNS");
  if (rows > input.rows || columns > input.columns)
    line.fail("the input has " + std::to_string(input.rows) + " x " + std::to_string(input.columns) +
              " pixels");
  return std::make_shared<CropLayer<T>>(input, Shape{input.channels, rows, columns});
}

#define BDL_INSTANTIATE(T)     \
  template class CropLayer<T>; \
  template std::shared_ptr<const Layer<T>> make_crop(LineReader&, const Shape&, const Placement&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
