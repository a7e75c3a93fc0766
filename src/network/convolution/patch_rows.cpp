#include "network/convolution/patch_rows.hpp"

#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of values in a block of gradients, which stay in the second-level cache.
constexpr Index block_numbers = 1 << 17;
/// Blocks have a multiple of so many filters, wherever they can: whole tiles.
constexpr Index block_filters = 4;
/// Number of positions that a tap meets, on average, up to which products do without blocks of gradients.
constexpr Index few_positions = 3;
/// Number of columns that a block is multiplied by at a time.
constexpr Index columns_together = 16;

double as_double(Index value) {
  return static_cast<double>(value);
}

/// Number of parameters in a block of so many rows.
Index block_parameters(Index rows) {
  return std::max<Index>(1, block_numbers / std::max<Index>(1, rows));
}

}  // namespace

template <class T>
PatchRows<T>::PatchRows(const ConvShape& shape, bool of_data) : shape_(shape), of_data_(of_data) {
  if (suits_factors(shape)) factor_sums_.emplace(shape);
}

/// Returns a block of as many whole filters as there is room for, or of some channels of a few filters.
template <class T>
PatchBlock PatchRows<T>::block_at(Index filter, Index channel, Index rows) const {
  const Index room = block_parameters(rows), group_end = (filter / shape_.filters() + 1) * shape_.filters();
  const Index whole = room / shape_.fan_in();
  if (channel == 0 && whole >= block_filters)
    return {{filter, std::min(group_end, filter + whole / block_filters * block_filters)},
            {0, shape_.channels()}};
  const Index channels = std::max<Index>(1, room / (block_filters * shape_.taps()));
  return {{filter, std::min(group_end, filter + block_filters)},
          {channel, std::min(shape_.channels(), channel + channels)}};
}

template <class T>
bool PatchRows<T>::is_gram_factored(const GramSize& size) const {
  return factored_gram_flops(shape_, size) < block_gram_flops(size.rows());
}

template <class T>
double PatchRows<T>::block_gram_flops(Index rows) const {
  const double n = as_double(rows);
  return 2 * n * as_double(shape_.filters() * shape_.input.channels) * as_double(shape_.valid_products()) +
         n * n * as_double(shape_.weights());
}

template <class T>
Index PatchRows<T>::largest_block(Index rows) const {
  const Index weights = std::max(block_parameters(rows), block_filters * shape_.taps());
  return rows * std::max(std::min(weights, shape_.weights()), shape_.output.channels);
}

template <class T>
BlockCost PatchRows<T>::cost(Index examples, Index samples, Index seeds) const {
  const GramSize size{examples, samples * seeds, of_data_ ? 1 : samples};
  const double n = as_double(size.rows()), gradients = block_gram_flops(size.rows());
  return {std::min(factored_gram_flops(shape_, size), gradients), 2 * n * as_double(shape_.weights())};
}

template <class T>
void PatchRows<T>::view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index examples) {
  rows_ = {{in, sensitivities}, packets_of(examples), examples};
}

/// Returns `size` rows from `first` on, which are whole sections.
template <class T>
typename PatchRows<T>::Factors PatchRows<T>::some(Index first, Index size) const {
  const Index section = first / rows_.examples, sections = size / rows_.examples,
              of_inputs = rows_.maps.in.cols / rows_.packets;
  Factors some = rows_;
  some.maps.e = rows_.maps.e.columns(section * rows_.packets, sections * rows_.packets);
  some.maps.in = rows_.maps.in.columns(section % of_inputs * rows_.packets,
                                       std::min(sections, of_inputs) * rows_.packets);
  return some;
}

/// Writes and returns a weight for each lane, 0 where there is no example.
template <class T>
const T* PatchRows<T>::lane_weights(const Factors& rows, const T* w, T* lanes) const {
  T* to = lanes;
  for (Index section = 0; section < rows.sections(); ++section, w += rows.examples) {
    to = std::copy_n(w, rows.examples, to);
    to = std::fill_n(to, rows.packets * packet_size - rows.examples, T(0));
  }
  return lanes;
}

template <class T>
void PatchRows<T>::sums(const Factors& rows, const T* c, T* sum, const T* w, T* squares,
                        Scratch& scratch) const {
  const Index lanes = rows.maps.e.cols * packet_size;
  const Scratch::Frame frame(scratch);
  T* const folded = scratch.take<T>(2 * lanes).data();
  const PatchSums<T> of_c{sum ? lane_weights(rows, c, folded) : nullptr, sum},
      of_w{squares ? lane_weights(rows, w, folded + lanes) : nullptr, squares};
  if (!factor_sums_) {
    patch_sums(shape_, rows.maps, of_c, of_w);
  } else {
    if (sum) factor_sums_->sum(rows.maps, of_c, scratch);
    if (squares) factor_sums_->sum_squares(rows.maps, of_w, scratch);
  }
  if (shape_.has_bias()) bias_sums(rows, c, sum, w, squares, scratch);
}

template <class T>
void PatchRows<T>::bias_sums(const Factors& rows, const T* c, T* sum, const T* w, T* squares,
                             Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto bias = scratch.matrix<T>(rows.rows(), shape_.output.channels);
  bias_block(rows, bias);
  for (Index o = 0; o < bias.cols; ++o) {
    T total = 0, total_squares = 0;
    for (Index r = 0; r < bias.rows; ++r) {
      if (sum) total += c[r] * bias(r, o);
      if (squares) total_squares += w[r] * bias(r, o) * bias(r, o);
    }
    if (sum) sum[shape_.weights() + o] = total;
    if (squares) squares[shape_.weights() + o] = total_squares;
  }
}

/// out = rows x filters: the gradients by the biases, sums over positions.
template <class T>
void PatchRows<T>::bias_block(const Factors& rows, MatrixView<T> out) const {
  const PacketMap map = out_map();
  parallel_for(out.cols, [&](Index o) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index packet = 0; packet < rows.maps.e.cols; ++packet) {
        const T* e = rows.maps.e.column_data(packet) + o * map.channel_numbers();
        T sum[packet_size] = {};
        for (Index p = 0; p < shape_.positions(); ++p, e += packet_size)
          for (Index lane = 0; lane < packet_size; ++lane) sum[lane] += e[lane];
        const Index first = packet % rows.packets * packet_size;
        std::copy_n(sum, std::min(packet_size, rows.examples - first),
                    out.column_data(o) + packet / rows.packets * rows.examples + first);
      }
    });
  });
}

/// Calls visit(first parameter, gradients) for runs of parameters that follow each other; gradients are rows
/// x parameters.
template <class T>
template <class Visit>
void PatchRows<T>::for_each_block(const Factors& rows, Scratch& scratch, Visit&& visit) const {
  const Index count = rows.rows();
  const Scratch::Frame frame(scratch);
  T* const gradients = scratch.take<T>(largest_block(count)).data();
  for (Index filter = 0, channel = 0; filter < shape_.output.channels;) {
    const PatchBlock block = block_at(filter, channel, count);
    const Index of_filter = block.channels.size() * shape_.taps();
    const MatrixView<T> g(gradients, count, block.filters.size() * of_filter);
    patch_block(shape_, rows.maps, block, rows.packets, rows.examples, g);
    if (block.channels.size() == shape_.channels())
      visit(filter * shape_.fan_in(), g);
    else
      for (Index f = 0; f < block.filters.size(); ++f)
        visit((filter + f) * shape_.fan_in() + block.channels.first * shape_.taps(),
              g.columns(f * of_filter, of_filter));
    channel = block.channels.end % shape_.channels();
    if (channel == 0) filter = block.filters.end;
  }
  if (!shape_.has_bias()) return;
  const MatrixView<T> bias(gradients, count, shape_.output.channels);
  bias_block(rows, bias);
  visit(shape_.weights(), bias);
}

template <class T>
void PatchRows<T>::combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out,
                           Scratch& scratch) {
  const Factors rows = some(first, size);
  if (w.cols == 1 || is_map_small()) {
    for (Index k = 0; k < w.cols; ++k)
      sums(rows, w.column_data(k), out.column_data(k), nullptr, nullptr, scratch);
    return;
  }
  for_each_block(rows, scratch, [&](Index parameter, ConstMatrixView<T> g) {
    for (Index k = 0; k < w.cols; k += columns_together) {
      const Index count = std::min(columns_together, w.cols - k);
      multiply_block(g, w.columns(k, count), out.block(parameter, k, g.cols, count), scratch);
    }
  });
}

/// out = G^T W by way of W^T G, since the gradients, which are many, need not be packed for that product.
template <class T>
void PatchRows<T>::multiply_block(ConstMatrixView<T> g, ConstMatrixView<T> w, MatrixView<T> out,
                                  Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const auto product = scratch.matrix<T>(w.cols, g.cols);
  gemm(Op::transpose, Op::none, T(1), w, g, T(0), product);
  parallel_blocks(g.cols, task_grain(w.cols), [&](Index first, Index count) noexcept {
    for (Index p = first; p < first + count; ++p)
      for (Index k = 0; k < w.cols; ++k) out(p, k) = product(k, p);
  });
}

/// True if a tap meets few positions: then products column by column are cheaper than the gradients.
template <class T>
bool PatchRows<T>::is_map_small() const {
  return shape_.valid_products() <= few_positions * shape_.taps();
}

/// <u, g_r> = sum over positions of e_r times the outputs of a convolution with weights u.
template <class T>
void PatchRows<T>::project_column(const T* u, bool add, MatrixView<T> out, Scratch& scratch) const {
  const PacketMap map = out_map();
  const Index inputs = rows_.maps.in.cols;
  const Scratch::Frame frame(scratch);
  const auto z = scratch.matrix<T>(map.packet_numbers(), inputs);
  convolve(shape_, u, shape_.has_bias() ? u + shape_.weights() : nullptr, rows_.maps.in, z);
  parallel_for(rows_.maps.e.cols, [&](Index packet) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      const T *e = rows_.maps.e.column_data(packet), *of = z.column_data(packet % inputs);
      T sum[packet_size] = {};
      for (Index i = 0; i < z.rows; i += packet_size)
        for (Index lane = 0; lane < packet_size; ++lane) sum[lane] += e[i + lane] * of[i + lane];
      const Index first = packet % rows_.packets * packet_size,
                  count = std::min(packet_size, rows_.examples - first);
      for (Index lane = 0; lane < count; ++lane) {
        T& to = out(0, packet / rows_.packets * rows_.examples + first + lane);
        to = sum[lane] + (add ? to : T(0));
      }
    });
  });
}

template <class T>
void PatchRows<T>::project(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) {
  if (is_map_small()) {
    for (Index k = 0; k < u.cols; ++k)
      project_column(u.column_data(k), add, out.block(k, 0, 1, out.cols), scratch);
    return;
  }
  for_each_block(rows_, scratch, [&](Index parameter, ConstMatrixView<T> g) {
    gemm(Op::transpose, Op::transpose, T(1), u.block(parameter, 0, g.cols, u.cols), g,
         T(add || parameter > 0 ? 1 : 0), out);
  });
}

template <class T>
void PatchRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out, Scratch& scratch) {
  sums(rows_, nullptr, nullptr, w.data(), out.data(), scratch);
}

template <class T>
void PatchRows<T>::sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares,
                                   Scratch& scratch) {
  sums(rows_, c.data(), sum.data(), w.data(), squares.data(), scratch);
}

template <class T>
void PatchRows<T>::gram(bool add, MatrixView<double> out, Scratch& scratch) {
  const GramSize size{rows_.examples, rows_.sections(), rows_.maps.in.cols / rows_.packets};
  is_gram_factored(size) ? factored_gram(shape_, rows_.maps, size, add, out, scratch)
                         : block_gram(add, out, scratch);
}

/// Adds up the products of all blocks of gradients in double.
template <class T>
void PatchRows<T>::block_gram(bool add, MatrixView<double> out, Scratch& scratch) {
  const Index count = rows_.rows();
  const Scratch::Frame frame(scratch);
  const auto product = scratch.matrix<T>(count, count);
  for_each_block(rows_, scratch, [&](Index parameter, ConstMatrixView<T> g) {
    syrk(Op::none, T(1), g, T(0), product);
    const bool adds = add || parameter > 0;
    parallel_blocks(count, task_grain(count), [&](Index first, Index size) noexcept {
      with_simd([&](auto) BDL_INLINE_LAMBDA {
        for (Index s = first; s < first + size; ++s)
          for (Index r = s; r < count; ++r)
            out(r, s) = static_cast<double>(product(r, s)) + (adds ? out(r, s) : 0);
      });
    });
  });
}

template class PatchRows<float>;
template class PatchRows<double>;

}  // namespace bdl
