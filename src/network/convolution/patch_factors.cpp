// Kronecker factors of a convolution: its patches are written out for a few examples at a time, a row each
// position of each example.
#include <algorithm>
#include <cmath>

#include "network/convolution/patch_rows.hpp"
#include "network/factor_products.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

/// Of which the rows have so many numbers.
template <class T>
Index PatchRows<T>::examples_together(Index numbers) const {
  return std::max<Index>(1, most_factor_numbers / (numbers * shape_.positions()));
}

/// Column (channel, tap) of the patches of examples first, first + 1, ... of all samples; behind them, ones.
template <class T>
void PatchRows<T>::gather_inputs(Index first, Index count, MatrixView<T> out) const {
  const Index positions = shape_.positions(), examples = rows_.examples;
  const PacketMap map = in_map();
  parallel_for(out.cols, [&](Index column) noexcept {
    if (column == shape_.fan_in()) {
      std::fill_n(out.column_data(column), count * positions, T(1));
      return;
    }
    const Index channel = column / shape_.taps(), a = column % shape_.taps() / shape_.kernel,
                b = column % shape_.kernel;
    const Range rows = shape_.output_rows(a), columns = shape_.output_columns(b);
    for (Index i = 0; i < count; ++i) {
      const Index section = (first + i) / examples, example = (first + i) % examples;
      const T* const from = rows_.maps.in.column_data(section * rows_.packets + example / packet_size) +
                            channel * map.channel_numbers() + example % packet_size;
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

/// Of rows first, first + 1, ..., times the roots of their weights.
template <class T>
void PatchRows<T>::gather_sensitivities(Index first, Index count, const T* w, MatrixView<T> out) const {
  const Index positions = shape_.positions(), examples = rows_.examples;
  const PacketMap map = out_map();
  parallel_for(out.cols, [&](Index channel) noexcept {
    for (Index i = 0; i < count; ++i) {
      const Index section = (first + i) / examples, example = (first + i) % examples;
      const T* const from = rows_.maps.e.column_data(section * rows_.packets + example / packet_size) +
                            channel * map.channel_numbers() + example % packet_size;
      T* const to = out.column_data(channel) + i * positions;
      const T root = std::sqrt(w[first + i]);
      for (Index p = 0; p < positions; ++p) to[p] = root * from[p * packet_size];
    }
  });
}

template <class T>
void PatchRows<T>::add_input_factor(double weight, MatrixView<double> out, Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const Index all = rows_.maps.in.cols / rows_.packets * rows_.examples,
              together = examples_together(columns());
  const MatrixView<T> products = scratch.matrix<T>(columns(), columns());
  T* const patches = scratch.take<T>(std::min(together, all) * shape_.positions() * columns()).data();
  for (Index first = 0; first < all; first += together) {
    const Index count = std::min(together, all - first);
    const MatrixView<T> some(patches, count * shape_.positions(), columns());
    gather_inputs(first, count, some);
    syrk(Op::transpose, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), products);
  }
  add_lower(weight / static_cast<double>(all), ConstMatrixView<T>(products), out);
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

/// The gradient of each row, rotated. O(o q (o + q + positions)) a row.
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
  template void PatchRows<T>::add_input_factor(double, MatrixView<double>, Scratch&) const;                \
  template void PatchRows<T>::add_output_factor(double, ConstSpan<T>, MatrixView<double>, Scratch&) const; \
  template void PatchRows<T>::add_rotated_squares(ConstSpan<T>, ConstMatrixView<T>, ConstMatrixView<T>,    \
                                                  MatrixView<double>, Scratch&) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
