// More of the rows of a convolution: single rows, the gradients of single examples, which join the rows of
// all seeds, and Kronecker factors, for which patches of a few examples are written out at a time.
#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "network/block_rows.hpp"
#include "network/convolution/patch_rows.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
T PatchRows<T>::weight_gradient(Index r, Index parameter) const {
  const Index filter = parameter / shape_.fan_in(), rest = parameter % shape_.fan_in(),
              channel = rest / shape_.taps() + filter / shape_.filters() * shape_.channels(),
              a = rest % shape_.taps() / shape_.kernel, b = rest % shape_.kernel;
  const Range rows = shape_.output_rows(a), columns = shape_.output_columns(b);
  const T *e = sensitivities_of(r, filter), *in = inputs_of(r, channel);
  T sum = 0;
  for (Index y = rows.first; y < rows.end; ++y)
    for (Index x = columns.first; x < columns.end; ++x)
      sum += e[(y * shape_.output.columns + x) * packet_size] * in[shape_.input_of(y, x, a, b) * packet_size];
  return sum;
}

template <class T>
T PatchRows<T>::bias_gradient(Index r, Index filter) const {
  const T* e = sensitivities_of(r, filter);
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

/// Returns rows of one seed, whose sensitivities, in `e`, are sum_r z_r e_r over the seeds r = j, j + n, ...
/// of each example and sample j.
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
          factor[lane] = z[at(k * n + section * rows_.examples + first + lane)];
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
                                    Scratch& scratch) {
  const auto n = static_cast<Index>(out.size());
  const Index packets = rows_.maps.e.cols / (rows_.rows() / n);
  const Scratch::Frame frame(scratch);
  const Factors joined = joined_seeds(z, n, scratch.take<T>(rows_.maps.e.rows * packets).data());
  double* const lanes = scratch.take<double>(packets * packet_size).data();
  patch_squares(shape_, joined.maps, v.data(), lanes);
  if (shape_.has_bias()) add_bias_squares(joined, v.data() + shape_.weights(), lanes);
  for (Index j = 0; j < n; ++j) {
    const double square = lanes[joined.packet_of(j) * packet_size + joined.lane_of(j)];
    out[at(j)] = square + (add ? out[at(j)] : 0);
  }
}

/// Adds the weighted squares of the biases' gradients, each packet on one thread.
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
BlockRows<T>& PatchRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  if (!gradients_) gradients_ = std::make_unique<PatchRows>(shape_, false);
  const auto in = gathered_in_.matrix(in_map().packet_numbers(), packets_of(count)),
             e = gathered_e_.matrix(out_map().packet_numbers(), packets_of(count));
  std::fill_n(in.data, in.size(), T(0));
  std::fill_n(e.data, e.size(), T(0));
  for (Index m = 0; m < count; ++m) {
    const Index j = which[at(m)];
    const T* from = inputs_of(j, 0);
    T* to = in.column_data(m / packet_size) + m % packet_size;
    for (Index p = 0; p < in.rows; p += packet_size) to[p] = from[p];
    to = e.column_data(m / packet_size) + m % packet_size;
    for (Index r = j; r < rows_.rows(); r += n) {
      from = sensitivities_of(r, 0);
      for (Index p = 0; p < e.rows; p += packet_size) to[p] += z[at(r)] * from[p];
    }
  }
  gradients_->view(in, e, count);
  return *gradients_;
}

/// Number of examples that are gathered at a time if each position has so many numbers.
template <class T>
Index PatchRows<T>::examples_together(Index numbers) const {
  return std::max<Index>(1, most_factor_numbers / (numbers * shape_.positions()));
}

/// Writes the patches of examples first, first + 1, ... of all samples: a row for each position of each
/// example, a column for each (channel, tap), and a last column of ones for a bias.
template <class T>
void PatchRows<T>::gather_inputs(Index first, Index count, MatrixView<T> out) const {
  const Index positions = shape_.positions();
  parallel_for(out.cols, [&](Index column) noexcept {
    if (column == shape_.fan_in()) {
      std::fill_n(out.column_data(column), count * positions, T(1));
      return;
    }
    const Index channel = column / shape_.taps(), a = column % shape_.taps() / shape_.kernel,
                b = column % shape_.kernel;
    const Range rows = shape_.output_rows(a), columns = shape_.output_columns(b);
    for (Index i = 0; i < count; ++i) {
      const T* const from = inputs_of(first + i, channel);
      T* const to = out.column_data(column) + i * positions;
      std::fill_n(to, positions, T(0));
      for (Index y = rows.first; y < rows.end; ++y) {
        const T* const line =
            from + (y * shape_.stride + a - shape_.pad) * shape_.input.columns * packet_size;
        for (Index x = columns.first; x < columns.end; ++x)
          to[y * shape_.output.columns + x] = line[(x * shape_.stride + b - shape_.pad) * packet_size];
      }
    }
  });
}

/// Writes the sensitivities of rows first, first + 1, ... times the roots of their weights: a row for each
/// position, a column for each filter.
template <class T>
void PatchRows<T>::gather_sensitivities(Index first, Index count, const T* w, MatrixView<T> out) const {
  const Index positions = shape_.positions();
  parallel_for(out.cols, [&](Index filter) noexcept {
    for (Index i = 0; i < count; ++i) {
      const T* const from = sensitivities_of(first + i, filter);
      T* const to = out.column_data(filter) + i * positions;
      const T root = std::sqrt(w[first + i]);
      for (Index p = 0; p < positions; ++p) to[p] = root * from[p * packet_size];
    }
  });
}

/// Multiplies the patches of examples first, first + 1, ... by the roots of their weights, whose sum it
/// returns.
template <class T>
double PatchRows<T>::scale_patches(ConstSpan<T> of_examples, Index first, MatrixView<T> patches) const {
  const Index positions = shape_.positions();
  double sum = 0;
  for (Index i = 0; i < patches.rows / positions; ++i) {
    const T weight = of_examples[at((first + i) % std::ssize(of_examples))], root = std::sqrt(weight);
    sum += static_cast<double>(weight);
    for (Index column = 0; column < patches.cols; ++column)
      for (Index p = i * positions; p < (i + 1) * positions; ++p) patches(p, column) *= root;
  }
  return sum;
}

template <class T>
void PatchRows<T>::add_input_factor(double weight, ConstSpan<T> of_examples, MatrixView<double> out,
                                    Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index all = rows_.maps.in.cols / rows_.packets * rows_.examples,
              together = examples_together(columns());
  const MatrixView<T> products = scratch.matrix<T>(columns(), columns());
  double sum = 0;  // of the weights
  T* const patches = scratch.take<T>(std::min(together, all) * shape_.positions() * columns()).data();
  for (Index first = 0; first < all; first += together) {
    const Index count = std::min(together, all - first);
    const MatrixView<T> some(patches, count * shape_.positions(), columns());
    gather_inputs(first, count, some);
    if (!of_examples.empty()) sum += scale_patches(of_examples, first, some);
    syrk(Op::transpose, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), products);
  }
  add_lower(weight / (of_examples.empty() ? static_cast<double>(all) : sum), ConstMatrixView<T>(products),
            out);
}

template <class T>
void PatchRows<T>::add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                                     Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index filters = shape_.output.channels, together = examples_together(filters);
  const MatrixView<T> products = scratch.matrix<T>(filters, filters);
  T* const e = scratch.take<T>(std::min(together, rows_.rows()) * shape_.positions() * filters).data();
  for (Index first = 0; first < rows_.rows(); first += together) {
    const Index count = std::min(together, rows_.rows() - first);
    const MatrixView<T> some(e, count * shape_.positions(), filters);
    gather_sensitivities(first, count, w.data(), some);
    syrk(Op::transpose, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), products);
  }
  add_lower(weight, ConstMatrixView<T>(products), out);
}

/// Rotates the gradient of each row, in O(o q (o + q + positions)) flops.
template <class T>
void PatchRows<T>::add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                                       MatrixView<double> out, Scratch& scratch) const {
  const Index q = columns(), o = shape_.output.channels, positions = shape_.positions();
  const Index inputs = rows_.maps.in.cols / rows_.packets * rows_.examples;
  const Scratch::Frame frame(scratch);
  const MatrixView<T> u = scratch.matrix<T>(positions, q), e = scratch.matrix<T>(positions, o),
                      g = scratch.matrix<T>(q, o), half = scratch.matrix<T>(q, o);
  for (Index r = 0; r < rows_.rows(); ++r) {
    gather_inputs(r % inputs, 1, u);
    gather_sensitivities(r, 1, w.data(), e);
    gemm(Op::transpose, Op::none, T(1), ConstMatrixView<T>(u), ConstMatrixView<T>(e), T(0), g);
    gemm(Op::transpose, Op::none, T(1), uo, ConstMatrixView<T>(g), T(0), half);
    gemm(Op::none, Op::none, T(1), ConstMatrixView<T>(half), ug, T(0), g);
    for (Index j = 0; j < o; ++j)
      for (Index i = 0; i < q; ++i) out(i, j) += static_cast<double>(g(i, j)) * static_cast<double>(g(i, j));
  }
}

#define BDL_INSTANTIATE(T)                                                                                 \
  template void PatchRows<T>::write_row(Index, Index, std::span<T>) const;                                 \
  template void PatchRows<T>::gradient_squares(ConstSpan<T>, ConstSpan<T>, bool, std::span<double>,        \
                                               Scratch&);                                                  \
  template BlockRows<T>& PatchRows<T>::gradients(ConstSpan<T>, ConstSpan<Index>, Index);                   \
  template void PatchRows<T>::add_input_factor(double, ConstSpan<T>, MatrixView<double>, Scratch&) const;  \
  template double PatchRows<T>::scale_patches(ConstSpan<T>, Index, MatrixView<T>) const;                   \
  template void PatchRows<T>::add_output_factor(double, ConstSpan<T>, MatrixView<double>, Scratch&) const; \
  template void PatchRows<T>::add_rotated_squares(ConstSpan<T>, ConstMatrixView<T>, ConstMatrixView<T>,    \
                                                  MatrixView<double>, Scratch&) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
