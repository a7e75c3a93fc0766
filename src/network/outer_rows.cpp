#include "network/outer_rows.hpp"

#include "linalg/blas.hpp"
#include "linalg/dot.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Columns whose products share one loop over the threads, for matrices of `size` numbers each.
Index columns_together(Index size) {
  return std::clamp<Index>((1 << 19) / std::max<Index>(1, size), 2, 16);
}

double as_double(Index value) {
  return static_cast<double>(value);
}

/// diag(w_k) E (or E∘E) for each column w_k of the weights, rows that share an input added up: matrices of
/// outputs x inputs, one below the other in `out`.
template <class T>
void fold(ConstMatrixView<T> all_e, Index inputs, ConstMatrixView<T> weights, bool squared, T* out) {
  const Index outputs = all_e.rows, repeats = all_e.cols / inputs;
  parallel_blocks(
      weights.cols * inputs, task_grain(outputs * repeats), [&](Index begin, Index size) noexcept {
        with_simd([&](auto) BDL_INLINE_LAMBDA {
          for (Index column = begin; column < begin + size; ++column) {
            const T* w = weights.column_data(column / inputs) + column % inputs;
            const T* e = all_e.column_data(column % inputs);
            T* to = out + column * outputs;
            for (Index repeat = 0; repeat < repeats; ++repeat, w += inputs, e += inputs * all_e.ld)
              for (Index o = 0; o < outputs; ++o) {
                const T term = squared ? *w * e[o] * e[o] : *w * e[o];
                to[o] = repeat == 0 ? term : to[o] + term;
              }
          }
        });
      });
}

/// out = sum_k z_r e_r over r = j, j + n, ...
template <class T>
void add_seeds(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, T* out) {
  for (Index r = j; r < e.cols; r += n) {
    const T* seed = e.column_data(r);
    const T factor = z[static_cast<std::size_t>(r)];
    for (Index o = 0; o < e.rows; ++o) out[o] = r == j ? factor * seed[o] : out[o] + factor * seed[o];
  }
}

/// Columns from `first` on of the lower triangle of A^T A.
template <class T>
void syrk_columns(ConstMatrixView<T> a, Index first, Index count, MatrixView<T> out) {
  const ConstMatrixView<T> own = a.columns(first, count);
  const Index below = first + count, rest = a.cols - below;
  syrk(Op::transpose, T(1), own, T(0), out.block(first, first, count, count));
  if (rest > 0)
    gemm(Op::transpose, Op::none, T(1), a.columns(below, rest), own, T(0),
         out.block(below, first, rest, count));
}

/// sum_o y_o (sum_k z_r e_ro)^2.
template <class T>
T weighted_square(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, const T* y, const T* bias) {
  T sum = 0;
  for (Index o = 0; o < e.rows; ++o) {
    T seed = 0;
    for (Index r = j; r < e.cols; r += n) seed += z[static_cast<std::size_t>(r)] * e(o, r);
    sum += (y[o] + (bias ? bias[o] : T(0))) * seed * seed;
  }
  return sum;
}

}  // namespace

template <class T>
BlockCost OuterRows<T>::cost(Index examples, Index samples, Index seeds) const {
  const double n = as_double(examples * samples * seeds),
               inputs = as_double(input_columns(examples, samples));
  return {n * n * as_double(layer_.outputs) + inputs * inputs * as_double(layer_.inputs),
          2 * inputs * as_double(layer_.inputs) * as_double(layer_.outputs)};
}

template <class T>
void OuterRows<T>::view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index) {
  rows_ = {in, sensitivities};
}

/// A (folded E)^T into the weights of `out`, and the row sums of folded E into its biases.
template <class T>
void OuterRows<T>::weighted_products(const Factors& rows, ConstMatrixView<T> weights, bool squared,
                                     MatrixView<T> out, Scratch& scratch) const {
  const Index inputs = rows.a.cols, size = layer_.outputs * inputs;
  const Scratch::Frame frame(scratch);
  T* const folded = scratch.take<T>(size * weights.cols).data();
  fold(rows.e, inputs, weights, squared, folded);
  if (layer_.outputs == 1)  // the columns of `out` are one matrix
    gemm(Op::none, Op::none, T(1), rows.a, ConstMatrixView<T>(folded, inputs, weights.cols), T(0),
         MatrixView<T>(out.data, layer_.inputs, weights.cols, out.ld));
  for (Index k = 0; k < weights.cols; ++k) {
    const ConstMatrixView<T> e(folded + k * size, layer_.outputs, inputs);
    if (layer_.outputs > 1)
      gemm(Op::none, Op::transpose, T(1), rows.a, e, T(0),
           MatrixView<T>(out.column_data(k), layer_.inputs, layer_.outputs));
    if (layer_.has_bias()) row_sums(e, out.column_data(k) + layer_.weights());
  }
}

template <class T>
void OuterRows<T>::combine(Index first, Index size, ConstMatrixView<T> w, MatrixView<T> out,
                           Scratch& scratch) {
  const Index inputs = std::min(size, rows_.a.cols);
  const Factors some{rows_.a.columns(first % rows_.a.cols, inputs), rows_.e.columns(first, size)};
  const Index together = columns_together(layer_.outputs * inputs);
  for (Index from = 0; from < w.cols; from += together) {
    const Index count = std::min(together, w.cols - from);
    weighted_products(some, w.columns(from, count), false, out.columns(from, count), scratch);
  }
}

template <class T>
MatrixView<T> OuterRows<T>::squared_inputs(Scratch& scratch) const {
  const ConstMatrixView<T> a = rows_.a;
  const MatrixView<T> out = scratch.matrix<T>(a.rows, a.cols);
  parallel_blocks(a.cols, task_grain(a.rows), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j)
      for (Index i = 0; i < a.rows; ++i) out(i, j) = a(i, j) * a(i, j);
  });
  return out;
}

template <class T>
void OuterRows<T>::sum_squares(ConstSpan<T> w, std::span<T> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  weighted_products({squared_inputs(scratch), rows_.e}, {w.data(), rows_.e.cols, 1}, true,
                    {out.data(), parameters(), 1}, scratch);
}

/// (A^T A + bias) ∘ (E^T E), in double. Inputs that repeat need all of A^T A.
template <class T>
void OuterRows<T>::gram_columns(Index first_column, Index columns, bool add, MatrixView<double> out,
                                Scratch& scratch) {
  const Index inputs = rows_.a.cols, count = rows_.e.cols;
  const Scratch::Frame frame(scratch);
  const auto ee = scratch.matrix<T>(count, count), aa = scratch.matrix<T>(inputs, inputs);
  syrk_columns(rows_.e, first_column, columns, ee);
  if (inputs < count) {
    syrk(Op::transpose, T(1), rows_.a, T(0), aa);
    mirror_lower(aa);
  } else {
    syrk_columns(rows_.a, first_column, columns, aa);
  }
  const double bias = layer_.has_bias() ? 1 : 0;
  parallel_blocks(columns, task_grain(count), [&](Index begin, Index size) noexcept {
    with_simd([&](auto) BDL_INLINE_LAMBDA {
      for (Index s = first_column + begin; s < first_column + begin + size; ++s)
        // Runs of rows with distinct inputs.
        for (Index first = s - s % inputs; first < count; first += inputs) {
          const Index from = std::max(first, s), length = first + inputs - from;
          const T* a = aa.column_data(s % inputs) + (from - first);
          const T* e = ee.column_data(s) + from;
          double* to = out.column_data(s) + from;
          for (Index r = 0; r < length; ++r) {
            const double term = (static_cast<double>(a[r]) + bias) * static_cast<double>(e[r]);
            to[r] = add ? to[r] + term : term;
          }
        }
    });
  });
}

template <class T>
void OuterRows<T>::project(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) {
  const Index together = columns_together(layer_.outputs * rows_.a.cols);
  for (Index first = 0; first < u.cols; first += together) {
    const Index count = std::min(together, u.cols - first);
    project_some(u.columns(first, count), add, out.block(first, 0, count, out.cols), scratch);
  }
}

/// out_r = rowsum((A u^T) ∘ E): one product with A per column of U.
template <class T>
void OuterRows<T>::project_some(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) const {
  const Index inputs = rows_.a.cols, size = layer_.outputs * inputs;
  const Scratch::Frame frame(scratch);
  T* const folded = scratch.take<T>(size * u.cols).data();
  if (layer_.outputs == 1)  // the columns of U are one matrix
    gemm(Op::transpose, Op::none, T(1), rows_.a, ConstMatrixView<T>(u.data, layer_.inputs, u.cols, u.ld),
         T(0), MatrixView<T>(folded, inputs, u.cols));
  for (Index k = 0; k < u.cols && layer_.outputs > 1; ++k)
    gemm(Op::transpose, Op::none, T(1), ConstMatrixView<T>(u.column_data(k), layer_.inputs, layer_.outputs),
         rows_.a, T(0), MatrixView<T>(folded + k * size, layer_.outputs, inputs));
  parallel_blocks(out.cols, task_grain(layer_.outputs * u.cols), [&](Index begin, Index count) noexcept {
    with_simd([&](auto width) BDL_INLINE_LAMBDA {
      for (Index r = begin; r < begin + count; ++r)
        for (Index k = 0; k < u.cols; ++k) {
          const T* e = rows_.e.column_data(r);
          T value = dot<width()>(e, folded + k * size + r % inputs * layer_.outputs, layer_.outputs);
          if (layer_.has_bias())
            value += dot<width()>(e, u.column_data(k) + layer_.weights(), layer_.outputs);
          out(k, r) = add ? out(k, r) + value : value;
        }
    });
  });
}

template <class T>
void OuterRows<T>::write_row(Index r, Index first, std::span<T> out) const {
  const T* a = rows_.a.column_data(r % rows_.a.cols);
  const T* e = rows_.e.column_data(r);
  const Index end = first + static_cast<Index>(out.size()), weights_end = std::min(end, layer_.weights());
  T* to = out.data();
  for (Index p = first; p < weights_end;) {
    const Index o = p / layer_.inputs, from = p - o * layer_.inputs,
                count = std::min(layer_.inputs - from, weights_end - p);
    for (Index i = 0; i < count; ++i) to[i] = e[o] * a[from + i];
    to += count;
    p += count;
  }
  for (Index p = std::max(first, layer_.weights()); p < end; ++p) *to++ = e[p - layer_.weights()];
}

/// (sum_k z E)^2 . (V A^2 + v_bias), V the weights' share of v as a matrix.
template <class T>
void OuterRows<T>::gradient_squares(ConstSpan<T> z, ConstSpan<T> v, bool add, std::span<double> out,
                                    Scratch& scratch) {
  const auto n = static_cast<Index>(out.size());
  const Index inputs = rows_.a.cols;
  const Scratch::Frame frame(scratch);
  const auto weighted = scratch.matrix<T>(layer_.outputs, inputs);
  gemm(Op::transpose, Op::none, T(1), ConstMatrixView<T>(v.data(), layer_.inputs, layer_.outputs),
       ConstMatrixView<T>(squared_inputs(scratch)), T(0), weighted);
  const T* bias = layer_.has_bias() ? v.data() + layer_.weights() : nullptr;
  parallel_blocks(n, task_grain(rows_.e.rows * (rows_.e.cols / n)), [&](Index first, Index count) noexcept {
    for (Index j = first; j < first + count; ++j) {
      const auto square =
          static_cast<double>(weighted_square(rows_.e, z, j, n, weighted.column_data(j % inputs), bias));
      double& to = out[static_cast<std::size_t>(j)];
      to = add ? to + square : square;
    }
  });
}

/// Sums over seeds of outer products with the same inputs are outer products again, g_j = (sum_k z_r e_r)
/// a_j^T.
template <class T>
BlockRows<T>& OuterRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  if (!gradients_) gradients_ = std::make_unique<OuterRows>(layer_);
  const auto a = gathered_a_.matrix(layer_.inputs, count), e = gathered_e_.matrix(layer_.outputs, count);
  for (Index m = 0; m < count; ++m) {
    const Index j = which[static_cast<std::size_t>(m)];
    std::ranges::copy(rows_.a.column(j % rows_.a.cols), a.column_data(m));
    add_seeds(rows_.e, z, j, n, e.column_data(m));
  }
  gradients_->view(a, e, count);
  return *gradients_;
}

template class OuterRows<float>;
template class OuterRows<double>;

}  // namespace bdl
