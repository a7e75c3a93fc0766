#include "network/pool.hpp"

#include <limits>

#include "network/convolution/conv.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// visit(packet, numbers of the input's and of the output's channel before its first) for all channels.
template <class Visit>
void for_each_map(const ConvShape& window, Index packets, Visit&& visit) {
  const Index channels = window.input.channels, in = PacketMap{window.input}.channel_numbers(),
              out = PacketMap{window.output}.channel_numbers();
  parallel_blocks(packets * channels, task_grain(in), [&](Index first, Index count) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index i = first; i < first + count; ++i)
        visit(i / channels, i % channels * in, i % channels * out);
    });
  });
}

/// Taps within the input, of the output line `to`.
Range taps_of(const ConvShape& window, Index to, Index in) {
  const Index before = window.pad - to * window.stride;
  return {std::max<Index>(0, before), std::min(window.kernel, in + before)};
}

/// visit(number of the output, tap, number of its input) for all taps within the input, output by output;
/// begin(number of the output) before.
template <class Begin, class Visit>
BDL_ALWAYS_INLINE void for_each_tap(const ConvShape& window, Begin&& begin, Visit&& visit) {
  for (Index y = 0; y < window.output.rows; ++y) {
    const Range rows = taps_of(window, y, window.input.rows);
    for (Index x = 0; x < window.output.columns; ++x) {
      const Range columns = taps_of(window, x, window.input.columns);
      const Index to = (y * window.output.columns + x) * packet_size;
      begin(to);
      for (Index a = rows.first; a < rows.end; ++a)
        for (Index b = columns.first; b < columns.end; ++b)
          visit(to, a * window.kernel + b,
                ((y * window.stride + a - window.pad) * window.input.columns + x * window.stride + b -
                 window.pad) *
                    packet_size);
    }
  }
}

template <class T>
void clear(MatrixView<T> to) {
  for (Index j = 0; j < to.cols; ++j) std::ranges::fill(to.column(j), T(0));
}

}  // namespace

template <class T>
std::string PoolLayer<T>::text_of(const char* word) const {
  std::string text = word + std::string(" ") + std::to_string(window_.kernel);
  if (window_.stride != window_.kernel) text += " stride " + std::to_string(window_.stride);
  if (window_.pad != 0) text += " pad " + std::to_string(window_.pad);
  return text;
}

template <class T>
void MaxPoolLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out,
                              const Kept<T>& kept) const {
  const ConvShape& window = this->window_;
  for_each_map(window, in.cols, [&](Index packet, Index from_map, Index to_map) BDL_INLINE_LAMBDA {
    const T* const from = in.column_data(packet) + from_map;
    T* const best = out.column_data(packet) + to_map;
    T* const taps = kept.is_wanted() ? kept.slopes.column_data(packet) + to_map : nullptr;
    for_each_tap(
        window,
        [&](Index to) BDL_INLINE_LAMBDA {
          for (Index lane = 0; lane < packet_size; ++lane)
            best[to + lane] = -std::numeric_limits<T>::infinity();
          for (Index lane = 0; taps && lane < packet_size; ++lane) taps[to + lane] = 0;
        },
        [&](Index to, Index tap, Index at) BDL_INLINE_LAMBDA {
          T is_better[packet_size];
          for (Index lane = 0; lane < packet_size; ++lane) {
            const T value = from[at + lane];
            is_better[lane] = value > best[to + lane] || value != value ? T(1) : T(0);
            best[to + lane] = is_better[lane] != 0 ? value : best[to + lane];
          }
          for (Index lane = 0; taps && lane < packet_size; ++lane)
            taps[to + lane] = is_better[lane] != 0 ? static_cast<T>(tap) : taps[to + lane];
        });
  });
  clear_gaps(PacketMap{window.output}, out);
  if (kept.is_wanted()) clear_gaps(PacketMap{window.output}, kept.slopes);
}

template <class T>
void MaxPoolLayer<T>::backward(const Pass<T>&, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                               MatrixView<T> to) const {
  if (!add) clear(to);
  for_each_map(this->window_, e.cols, [&](Index packet, Index in_map, Index out_map) BDL_INLINE_LAMBDA {
    const T *from = e.column_data(packet) + out_map, *taps = kept.slopes.column_data(packet) + out_map;
    T* const in = to.column_data(packet) + in_map;
    for_each_tap(
        this->window_, [](Index) BDL_INLINE_LAMBDA {},
        [&](Index out, Index tap, Index at) BDL_INLINE_LAMBDA {
          for (Index lane = 0; lane < packet_size; ++lane)
            in[at + lane] += taps[out + lane] == static_cast<T>(tap) ? from[out + lane] : T(0);
        });
  });
}

template <class T>
void AveragePoolLayer<T>::forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out,
                                  const Kept<T>&) const {
  const T share = factor();
  for_each_map(this->window_, in.cols, [&](Index packet, Index from_map, Index to_map) BDL_INLINE_LAMBDA {
    const T* const from = in.column_data(packet) + from_map;
    T* const mean = out.column_data(packet) + to_map;
    for_each_tap(
        this->window_,
        [&](Index to) BDL_INLINE_LAMBDA {
          for (Index lane = 0; lane < packet_size; ++lane) mean[to + lane] = 0;
        },
        [&](Index to, Index, Index at) BDL_INLINE_LAMBDA {
          for (Index lane = 0; lane < packet_size; ++lane) mean[to + lane] += share * from[at + lane];
        });
  });
  clear_gaps(PacketMap{this->window_.output}, out);
}

template <class T>
void AveragePoolLayer<T>::backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                                   MatrixView<T> to) const {
  const T share = factor();
  if (!add) clear(to);
  for_each_map(this->window_, e.cols, [&](Index packet, Index in_map, Index out_map) BDL_INLINE_LAMBDA {
    const T* const from = e.column_data(packet) + out_map;
    T* const in = to.column_data(packet) + in_map;
    for_each_tap(
        this->window_, [](Index) BDL_INLINE_LAMBDA {},
        [&](Index out, Index, Index at) BDL_INLINE_LAMBDA {
          for (Index lane = 0; lane < packet_size; ++lane) in[at + lane] += share * from[out + lane];
        });
  });
}

namespace {

ConvShape read_pool(LineReader& line, const Shape& input) {
  const Index kernel = line.count("K");
  const ConvShape window = read_window(line, input, kernel, kernel);
  if (2 * window.pad > kernel) line.fail("pad is larger than half of the window");
  return window;
}

}  // namespace

template <class T>
std::shared_ptr<const Layer<T>> make_max_pool(LineReader& line, const Shape& input, const Placement&) {
  return std::make_shared<MaxPoolLayer<T>>(read_pool(line, input));
}

template <class T>
std::shared_ptr<const Layer<T>> make_average_pool(LineReader& line, const Shape& input, const Placement&) {
  return std::make_shared<AveragePoolLayer<T>>(read_pool(line, input), false);
}

template <class T>
std::shared_ptr<const Layer<T>> make_global_average_pool(LineReader&, const Shape& input, const Placement&) {
  ConvShape window{input, {input.channels}, std::max(input.rows, input.columns)};
  window.stride = window.kernel;
  return std::make_shared<AveragePoolLayer<T>>(window, true);
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template class PoolLayer<T>;                                                                             \
  template class MaxPoolLayer<T>;                                                                          \
  template class AveragePoolLayer<T>;                                                                      \
  template std::shared_ptr<const Layer<T>> make_max_pool(LineReader&, const Shape&, const Placement&);     \
  template std::shared_ptr<const Layer<T>> make_average_pool(LineReader&, const Shape&, const Placement&); \
  template std::shared_ptr<const Layer<T>> make_global_average_pool(LineReader&, const Shape&,             \
                                                                    const Placement&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
