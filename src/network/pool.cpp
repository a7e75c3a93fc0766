// maxpool K [stride s] [pad p], avgpool K [stride s] [pad p], globalavgpool: one number for each window of a
// map.
#include <limits>

#include "network/layers.hpp"

namespace bdl {
namespace {

/// Calls visit(width of vectors, packet, where the channel begins in an input packet, where in an output
/// packet) for all channels of all packets.
template <class Visit>
void for_each_map(const ConvShape& window, Index packets, Visit&& visit) {
  const Index channels = window.input.channels, in = PacketMap{window.input}.channel_numbers(),
              out = PacketMap{window.output}.channel_numbers();
  parallel_blocks(packets * channels, task_grain(in), [&](Index first, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index i = first; i < first + count; ++i)
        visit(width, i / channels, i % channels * in, i % channels * out);
    });
  });
}

/// Returns the taps of output line `to` that lie within the input.
Range taps_of(const ConvShape& window, Index to, Index in) {
  const Index before = window.pad - to * window.stride;
  return {std::max<Index>(0, before), std::min(window.kernel, in + before)};
}

/// The taps of an output that lie within the input.
struct Taps {
  Index rows, columns;
  Index first;     ///< number of the first tap
  Index at;        ///< place of its input
  Index row_step;  ///< numbers from a row of inputs to the next
};

/// Calls visit(where an output stands, its taps) for all outputs of a map.
template <class Visit>
BDL_ALWAYS_INLINE void for_each_output(const ConvShape& window, Visit&& visit) {
  for (Index y = 0; y < window.output.rows; ++y) {
    const Range rows = taps_of(window, y, window.input.rows);
    const Index row = y * window.stride - window.pad + rows.first;
    for (Index x = 0; x < window.output.columns; ++x) {
      const Range columns = taps_of(window, x, window.input.columns);
      const Index column = x * window.stride - window.pad + columns.first;
      visit((y * window.output.columns + x) * packet_size,
            Taps{rows.size(), columns.size(), rows.first * window.kernel + columns.first,
                 (row * window.input.columns + column) * packet_size, window.input.columns * packet_size});
    }
  }
}

/// Calls visit(tap, where its input stands).
template <class Visit>
BDL_ALWAYS_INLINE void for_each_tap(const ConvShape& window, const Taps& taps, Visit&& visit) {
  for (Index a = 0; a < taps.rows; ++a)
    for (Index b = 0; b < taps.columns; ++b)
      visit(taps.first + a * window.kernel + b, taps.at + a * taps.row_step + b * packet_size);
}

/// Vectors of the numbers of a packet's examples.
template <class T, int bytes>
struct Vectors {
  using Vector = typename VectorOf<T, bytes>::type;
  static constexpr Index lanes = bytes / static_cast<Index>(sizeof(T));
  static BDL_ALWAYS_INLINE void load(const T* from, Vector& to) { __builtin_memcpy(&to, from, bytes); }
  static BDL_ALWAYS_INLINE void store(const Vector& from, T* to) { __builtin_memcpy(to, &from, bytes); }
};

template <class T>
void clear(MatrixView<T> to) {
  for (Index j = 0; j < to.cols; ++j) std::ranges::fill(to.column(j), T(0));
}

template <class T>
class PoolLayer : public Layer<T> {
 public:
  explicit PoolLayer(const ConvShape& window) : Layer<T>(window.input, window.output), window_(window) {}
  std::optional<Layout> layout() const override { return Layout::packets; }
  bool can(Need need) const override { return need != Need::second_derivatives; }

 protected:
  /// Returns "WORD 3 stride 2 pad 1".
  std::string text_of(const char* word) const {
    std::string text = word + std::string(" ") + std::to_string(window_.kernel);
    if (window_.stride != window_.kernel) text += " stride " + std::to_string(window_.stride);
    if (window_.pad != 0) text += " pad " + std::to_string(window_.pad);
    return text;
  }
  ConvShape window_;
};

/// The largest number of a window; padding is less than any. The gradient goes to the first of equals, by
/// rows, and NaN is passed on.
template <class T>
class MaxPoolLayer final : public PoolLayer<T> {
 public:
  using PoolLayer<T>::PoolLayer;
  std::string text() const override { return this->text_of("maxpool"); }
  /// Keeps the taps that were largest.
  Index kept(Index outputs) const override { return outputs; }

  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>& kept) const override {
    const ConvShape& window = this->window_;
    for_each_map(window, in.cols, [&](auto width, Index packet, Index from, Index to) BDL_INLINE_LAMBDA {
      using V = Vectors<T, width()>;
      const T* const input = in.column_data(packet) + from;
      T* const output = out.column_data(packet) + to;
      T* const winners = kept.is_wanted() ? kept.slopes.column_data(packet) + to : nullptr;
      for_each_output(window, [&](Index number, const Taps& taps) BDL_INLINE_LAMBDA {
        for (Index lane = 0; lane < packet_size; lane += V::lanes) {
          typename V::Vector best = typename V::Vector{} - std::numeric_limits<T>::infinity(),
                             winner = typename V::Vector{} + static_cast<T>(taps.first), nan{}, nan_winner{};
          // NaN apart: two selections in a row by different masks would not become vector code (GCC 12).
          for_each_tap(window, taps, [&](Index tap, Index at) BDL_INLINE_LAMBDA {
            typename V::Vector value;
            V::load(input + at + lane, value);
            const typename V::Vector number_of_tap = typename V::Vector{} + static_cast<T>(tap);
            winner = value > best ? number_of_tap : winner;
            best = value > best ? value : best;
            nan_winner = value == value ? nan_winner : number_of_tap;
            nan = value == value ? nan : value;
          });
          winner = nan == nan ? winner : nan_winner;
          best = nan == nan ? best : nan;
          V::store(best, output + number + lane);
          if (winners) V::store(winner, winners + number + lane);
        }
      });
    });
    clear_gaps(PacketMap{window.output}, out);
    if (kept.is_wanted()) clear_gaps(PacketMap{window.output}, kept.slopes);
  }

  void backward(const Pass<T>&, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const ConvShape& window = this->window_;
    if (!add) clear(to);
    for_each_map(window, e.cols, [&](auto width, Index packet, Index in, Index out) BDL_INLINE_LAMBDA {
      using V = Vectors<T, width()>;
      const T* const from = e.column_data(packet) + out;
      const T* const winners = kept.slopes.column_data(packet) + out;
      T* const input = to.column_data(packet) + in;
      for_each_output(window, [&](Index number, const Taps& taps) BDL_INLINE_LAMBDA {
        for (Index lane = 0; lane < packet_size; lane += V::lanes) {
          typename V::Vector value, winner, sum;
          V::load(from + number + lane, value);
          V::load(winners + number + lane, winner);
          for_each_tap(window, taps, [&](Index tap, Index at) BDL_INLINE_LAMBDA {
            V::load(input + at + lane, sum);
            sum += winner == static_cast<T>(tap) ? value : typename V::Vector{};
            V::store(sum, input + at + lane);
          });
        }
      });
    });
  }
};

/// The mean of a window, with padding counted as 0; or of the whole map.
template <class T>
class AveragePoolLayer final : public PoolLayer<T> {
 public:
  AveragePoolLayer(const ConvShape& window, bool is_global) : PoolLayer<T>(window), is_global_(is_global) {}
  std::string text() const override { return is_global_ ? "globalavgpool" : this->text_of("avgpool"); }

  void forward(const Pass<T>&, ConstMatrixView<T> in, MatrixView<T> out, const Kept<T>&) const override {
    const ConvShape& window = this->window_;
    const T one_over_size = factor();
    for_each_map(window, in.cols, [&](auto width, Index packet, Index from, Index to) BDL_INLINE_LAMBDA {
      using V = Vectors<T, width()>;
      const T* const input = in.column_data(packet) + from;
      T* const output = out.column_data(packet) + to;
      for_each_output(window, [&](Index number, const Taps& taps) BDL_INLINE_LAMBDA {
        for (Index lane = 0; lane < packet_size; lane += V::lanes) {
          typename V::Vector sum{}, value;
          for_each_tap(window, taps, [&](Index, Index at) BDL_INLINE_LAMBDA {
            V::load(input + at + lane, value);
            sum += value;
          });
          sum *= one_over_size;
          V::store(sum, output + number + lane);
        }
      });
    });
    clear_gaps(PacketMap{window.output}, out);
  }

  void backward(const Pass<T>&, const Kept<T>&, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const ConvShape& window = this->window_;
    const T one_over_size = factor();
    if (!add) clear(to);
    for_each_map(window, e.cols, [&](auto width, Index packet, Index in, Index out) BDL_INLINE_LAMBDA {
      using V = Vectors<T, width()>;
      const T* const from = e.column_data(packet) + out;
      T* const input = to.column_data(packet) + in;
      for_each_output(window, [&](Index number, const Taps& taps) BDL_INLINE_LAMBDA {
        for (Index lane = 0; lane < packet_size; lane += V::lanes) {
          typename V::Vector value, sum;
          V::load(from + number + lane, value);
          for_each_tap(window, taps, [&](Index, Index at) BDL_INLINE_LAMBDA {
            V::load(input + at + lane, sum);
            sum += one_over_size * value;
            V::store(sum, input + at + lane);
          });
        }
      });
    });
  }

 private:
  T factor() const {
    return T(1) /
           static_cast<T>(is_global_ ? this->input().rows * this->input().columns : this->window_.taps());
  }
  bool is_global_;
};

ConvShape read_pool(LineReader& line, const Shape& input) {
  const Index kernel = line.count("K");
  const ConvShape window = read_window(line, input, kernel, kernel);
  if (2 * window.pad > kernel)
    line.fail("pad is " + std::to_string(window.pad) + ", expected at most half of the window, " +
              std::to_string(kernel / 2));
  return window;
}

}  // namespace

template <class T>
LayerPointer<T> make_max_pool(LineReader& line, const Shape& input, const Placement&) {
  return std::make_shared<MaxPoolLayer<T>>(read_pool(line, input));
}

template <class T>
LayerPointer<T> make_average_pool(LineReader& line, const Shape& input, const Placement&) {
  return std::make_shared<AveragePoolLayer<T>>(read_pool(line, input), false);
}

template <class T>
LayerPointer<T> make_global_average_pool(LineReader&, const Shape& input, const Placement&) {
  ConvShape window{input, {input.channels}, std::max(input.rows, input.columns)};
  window.stride = window.kernel;
  return std::make_shared<AveragePoolLayer<T>>(window, true);
}

#define BDL_INSTANTIATE(T)                                                                 \
  template LayerPointer<T> make_max_pool(LineReader&, const Shape&, const Placement&);     \
  template LayerPointer<T> make_average_pool(LineReader&, const Shape&, const Placement&); \
  template LayerPointer<T> make_global_average_pool(LineReader&, const Shape&, const Placement&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
