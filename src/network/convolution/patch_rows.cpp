#include "network/convolution/patch_rows.hpp"

#include "linalg/blas/blas.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Numbers of a block of gradients, which stay in the second-level cache.
constexpr Index block_numbers = 1 << 17;
/// Of a block, wherever it can: whole tiles.
constexpr Index block_filters = 4;

double as_double(Index value) {
  return static_cast<double>(value);
}

/// Parameters of a block of so many rows.
Index block_parameters(Index rows) {
  return std::max<Index>(1, block_numbers / std::max<Index>(1, rows));
}

}  // namespace

/// As many whole filters as there is room for, or some channels of a few.
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
RowsScratchSizes PatchRows<T>::scratch_sizes(Index examples, Index samples, Index seeds) const {
  const Index packets = packets_of(examples) * samples, rows = examples * samples * seeds;
  RowsScratchSizes sizes;
  sizes.folded = std::max(out_map().packet_numbers(), 2 * packet_size * seeds) * packets;
  sizes.block = largest_block(rows);
  sizes.lanes = packets * packet_size;
  const GramSize gram{examples, samples * seeds, of_data_ ? 1 : samples};
  return is_gram_factored(gram) ? sizes.joined(factored_gram_sizes(shape_, gram)) : sizes;
}

/// By flops: of the gradients, their products, or those of their factors.
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

/// Numbers of the gradients that are written at a time.
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

/// Whole sections of the rows.
template <class T>
typename PatchRows<T>::Factors PatchRows<T>::some(Index first, Index size) const {
  const Index section = first / rows_.examples, sections = size / rows_.examples,
              of_inputs = rows_.maps.in.cols / rows_.packets;
  Factors part = rows_;
  part.maps.e = rows_.maps.e.columns(section * rows_.packets, sections * rows_.packets);
  part.maps.in = rows_.maps.in.columns(section % of_inputs * rows_.packets,
                                       std::min(sections, of_inputs) * rows_.packets);
  return part;
}

/// A weight for each lane, 0 where there is no example.
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
                        RowsScratch<T>& scratch) const {
  const Index lanes = rows.maps.e.cols * packet_size;
  scratch.folded.reserve(2 * lanes);
  T* const folded = scratch.folded.data();
  const PatchSums<T> of_c{sum ? lane_weights(rows, c, folded) : nullptr, sum},
      of_w{squares ? lane_weights(rows, w, folded + lanes) : nullptr, squares};
  patch_sums(shape_, rows.maps, of_c, of_w);
  if (!shape_.has_bias()) return;
  scratch.block.reserve(rows.rows() * shape_.output.channels);
  const auto bias = scratch.block.matrix(rows.rows(), shape_.output.channels);
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

/// Sums over positions: rows x filters.
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

/// visit(first parameter, gradients: rows x parameters), runs of parameters that follow each other.
template <class T>
template <class Visit>
void PatchRows<T>::for_each_block(const Factors& rows, RowsScratch<T>& scratch, Visit&& visit) const {
  const Index count = rows.rows();
  scratch.block.reserve(largest_block(count));
  for (Index filter = 0, channel = 0; filter < shape_.output.channels;) {
    const PatchBlock block = block_at(filter, channel, count);
    const Index of_filter = block.channels.size() * shape_.taps();
    const auto g = scratch.block.matrix(count, block.filters.size() * of_filter);
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
  const auto bias = scratch.block.matrix(count, shape_.output.channels);
  bias_block(rows, bias);
  visit(shape_.weights(), bias);
}

template <class T>
void PatchRows<T>::combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out,
                           RowsScratch<T>& scratch) {
  const Factors part = some(first, size);
  if (w.cols == 1) return sums(part, w.data, out.data, nullptr, nullptr, scratch);
  for_each_block(part, scratch, [&](Index parameter, ConstMatrixView<T> g) {
    gemm(Op::transpose, Op::none, T(1), g, w, T(0), out.block(parameter, 0, g.cols, w.cols));
  });
}

template <class T>
void PatchRows<T>::project(ConstMatrixView<T> u, bool add, MatrixView<T> out, RowsScratch<T>& scratch) {
  for_each_block(rows_, scratch, [&](Index parameter, ConstMatrixView<T> g) {
    gemm(Op::transpose, Op::transpose, T(1), u.block(parameter, 0, g.cols, u.cols), g,
         T(add || parameter > 0 ? 1 : 0), out);
  });
}

template <class T>
void PatchRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out, RowsScratch<T>& scratch) {
  sums(rows_, nullptr, nullptr, w.data(), out.data(), scratch);
}

template <class T>
void PatchRows<T>::sum_and_squares(ConstSpan<T> c, std::span<T> sum, ConstSpan<T> w, std::span<T> squares,
                                   RowsScratch<T>& scratch) {
  sums(rows_, c.data(), sum.data(), w.data(), squares.data(), scratch);
}

template <class T>
void PatchRows<T>::gram(bool add, MatrixView<double> out, RowsScratch<T>& scratch) {
  const GramSize size{rows_.examples, rows_.sections(), rows_.maps.in.cols / rows_.packets};
  is_gram_factored(size) ? factored_gram(shape_, rows_.maps, size, add, out, scratch)
                         : block_gram(add, out, scratch);
}

/// Block by block, added up in double.
template <class T>
void PatchRows<T>::block_gram(bool add, MatrixView<double> out, RowsScratch<T>& scratch) {
  const Index count = rows_.rows();
  scratch.reserve_gram(count);
  const auto product = scratch.product.matrix(count, count);
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

template <class T>
T PatchRows<T>::weight_gradient(Index r, Index parameter) const {
  const Index filter = parameter / shape_.fan_in(), rest = parameter % shape_.fan_in(),
              channel = rest / shape_.taps() + filter / shape_.filters() * shape_.channels(),
              a = rest % shape_.taps() / shape_.kernel, b = rest % shape_.kernel;
  const Index section = r / rows_.examples, i = r % rows_.examples,
              packet = section * rows_.packets + i / packet_size, lane = i % packet_size;
  const Range rows = shape_.output_rows(a), columns = shape_.output_columns(b);
  const T* e = rows_.maps.e.column_data(packet) + filter * out_map().channel_numbers() + lane;
  const T* in =
      rows_.maps.in.column_data(packet % rows_.maps.in.cols) + channel * in_map().channel_numbers() + lane;
  T sum = 0;
  for (Index y = rows.first; y < rows.end; ++y)
    for (Index x = columns.first; x < columns.end; ++x)
      sum += e[(y * shape_.output.columns + x) * packet_size] *
             in[((y * shape_.stride + a - shape_.pad) * shape_.input.columns + x * shape_.stride + b -
                 shape_.pad) *
                packet_size];
  return sum;
}

template <class T>
T PatchRows<T>::bias_gradient(Index r, Index filter) const {
  const Index i = r % rows_.examples, packet = r / rows_.examples * rows_.packets + i / packet_size;
  const T* e = rows_.maps.e.column_data(packet) + filter * out_map().channel_numbers() + i % packet_size;
  T sum = 0;
  for (Index p = 0; p < shape_.positions(); ++p) sum += e[p * packet_size];
  return sum;
}

template <class T>
void PatchRows<T>::write_row(Index r, Index first, std::span<T> out) const {
  for (std::size_t j = 0; j < out.size(); ++j) {
    const Index parameter = first + static_cast<Index>(j);
    out[j] = parameter < shape_.weights() ? weight_gradient(r, parameter)
                                          : bias_gradient(r, parameter - shape_.weights());
  }
}

/// Sensitivities sum_k z_r e_r over the seeds r = j, j + n, ... of each example and sample j, in e.
template <class T>
typename PatchRows<T>::Factors PatchRows<T>::joined_seeds(ConstSpan<T> z, Index n, T* e) const {
  const Index seeds = rows_.rows() / n, packets = rows_.maps.e.cols / seeds;
  const MatrixView<T> joined(e, rows_.maps.e.rows, packets);
  parallel_for(packets, [&](Index packet) noexcept {
    const Index section = packet / rows_.packets, first = packet % rows_.packets * packet_size,
                examples = std::min(packet_size, rows_.examples - first);
    T* const to = joined.column_data(packet);
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index k = 0; k < seeds; ++k) {
        const T* from = rows_.maps.e.column_data(k * packets + packet);
        T factor[packet_size] = {};
        for (Index lane = 0; lane < examples; ++lane)
          factor[lane] = z[static_cast<std::size_t>(k * n + section * rows_.examples + first + lane)];
        for (Index p = 0; p < joined.rows; p += packet_size)
          for (Index lane = 0; lane < packet_size; ++lane)
            to[p + lane] = (k == 0 ? T(0) : to[p + lane]) + factor[lane] * from[p + lane];
      }
    });
  });
  Factors factors = rows_;
  factors.maps.e = joined;
  return factors;
}

template <class T>
void PatchRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, bool add, std::span<double> out,
                                    RowsScratch<T>& scratch) {
  const auto n = static_cast<Index>(out.size());
  const Index packets = rows_.maps.e.cols / (rows_.rows() / n);
  scratch.folded.reserve(rows_.maps.e.rows * packets);
  scratch.lanes.reserve(packets * packet_size);
  const Factors joined = joined_seeds(z, n, scratch.folded.data());
  double* const lanes = scratch.lanes.data();
  patch_squares(shape_, joined.maps, v.data(), lanes);
  if (shape_.has_bias()) add_bias_squares(joined, v.data() + shape_.weights(), lanes);
  for (Index j = 0; j < n; ++j) {
    const Index i = j % joined.examples,
                lane =
                    (j / joined.examples * joined.packets + i / packet_size) * packet_size + i % packet_size;
    double& to = out[static_cast<std::size_t>(j)];
    to = lanes[lane] + (add ? to : 0);
  }
}

/// Each packet by one thread.
template <class T>
void PatchRows<T>::add_bias_squares(const Factors& rows, const T* v, double* lanes) const {
  const Index channel = out_map().channel_numbers();
  parallel_for(rows.maps.e.cols, [&](Index packet) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index o = 0; o < shape_.output.channels; ++o) {
        const T* e = rows.maps.e.column_data(packet) + o * channel;
        T sum[packet_size] = {};
        for (Index p = 0; p < shape_.positions(); ++p, e += packet_size)
          for (Index lane = 0; lane < packet_size; ++lane) sum[lane] += e[lane];
        for (Index lane = 0; lane < packet_size; ++lane)
          lanes[packet * packet_size + lane] += static_cast<double>(v[o] * sum[lane] * sum[lane]);
      }
    });
  });
}

template <class T>
BlockRows<T>& PatchRows<T>::reserve_gradients(Index count) {
  if (!gradients_) gradients_ = std::make_unique<PatchRows>(shape_, false);
  gathered_in_.reserve(in_map().packet_numbers() * packets_of(count));
  gathered_e_.reserve(out_map().packet_numbers() * packets_of(count));
  return *gradients_;
}

template <class T>
BlockRows<T>& PatchRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  reserve_gradients(count);
  const auto in = gathered_in_.matrix(in_map().packet_numbers(), packets_of(count)),
             e = gathered_e_.matrix(out_map().packet_numbers(), packets_of(count));
  std::fill_n(in.data, in.size(), T(0));
  std::fill_n(e.data, e.size(), T(0));
  for (Index m = 0; m < count; ++m) {
    const Index j = which[static_cast<std::size_t>(m)], i = j % rows_.examples,
                packet = j / rows_.examples * rows_.packets + i / packet_size, lane = i % packet_size;
    const T* from = rows_.maps.in.column_data(packet % rows_.maps.in.cols) + lane;
    T* to = in.column_data(m / packet_size) + m % packet_size;
    for (Index p = 0; p < in.rows; p += packet_size) to[p] = from[p];
    to = e.column_data(m / packet_size) + m % packet_size;
    for (Index r = j, at = packet; r < rows_.rows(); r += n, at += n / rows_.examples * rows_.packets) {
      from = rows_.maps.e.column_data(at) + lane;
      for (Index p = 0; p < e.rows; p += packet_size) to[p] += z[static_cast<std::size_t>(r)] * from[p];
    }
  }
  gradients_->view(in, e, count);
  return *gradients_;
}

template class PatchRows<float>;
template class PatchRows<double>;

}  // namespace bdl
