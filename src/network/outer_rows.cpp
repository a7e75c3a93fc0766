#include "network/outer_rows.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"
#include "linalg/dot.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

/// Number of columns of the Kronecker factors that are gathered at a time.
Index factors_together(Index rows) {
  return std::max<Index>(1, most_factor_numbers / rows);
}

double as_double(Index value) {
  return static_cast<double>(value);
}

/// Writes E diag(w_k) (or E∘E diag(w_k)) for each column w_k of the weights, with columns that share an input
/// added up: matrices of outputs x inputs, one after the other.
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

/// out = sum of z_r e_r over r = j, j + n, ...
template <class T>
void add_seeds(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, T* out) {
  for (Index r = j; r < e.cols; r += n) {
    const T* seed = e.column_data(r);
    const T factor = z[at(r)];
    for (Index o = 0; o < e.rows; ++o) out[o] = r == j ? factor * seed[o] : out[o] + factor * seed[o];
  }
}

/// Writes `count` columns from `first` on of the lower triangle of A^T A.
template <class T>
void syrk_columns(ConstMatrixView<T> a, Index first, Index count, MatrixView<T> out) {
  const ConstMatrixView<T> some = a.columns(first, count);
  const Index below = first + count, rest = a.cols - below;
  syrk(Op::transpose, T(1), some, T(0), out.block(first, first, count, count));
  if (rest > 0)
    gemm(Op::transpose, Op::none, T(1), a.columns(below, rest), some, T(0),
         out.block(below, first, rest, count));
}

/// Returns sum_o (y_o + bias_o) (sum of z_r e_ro over r = j, j + n, ...)^2.
template <class T>
T weighted_square(ConstMatrixView<T> e, ConstSpan<T> z, Index j, Index n, const T* y, const T* bias) {
  T sum = 0;
  for (Index o = 0; o < e.rows; ++o) {
    T seed = 0;
    for (Index r = j; r < e.cols; r += n) seed += z[at(r)] * e(o, r);
    sum += (y[o] + (bias ? bias[o] : T(0))) * seed * seed;
  }
  return sum;
}

}  // namespace

Index columns_together(Index size) {
  return std::clamp<Index>((1 << 19) / std::max<Index>(1, size), 2, 16);
}

template <class T>
BlockCost OuterRows<T>::cost(Index examples, Index samples, Index seeds) const {
  const double n = as_double(examples * samples * seeds),
               inputs = as_double(layer_.of_data ? examples : examples * samples);
  return {n * n * as_double(layer_.outputs) + inputs * inputs * as_double(layer_.inputs),
          2 * inputs * as_double(layer_.inputs) * as_double(layer_.outputs)};
}

template <class T>
void OuterRows<T>::view(ConstMatrixView<T> in, ConstMatrixView<T> sensitivities, Index) {
  rows_ = {in, sensitivities};
}

/// Writes A (folded E)^T to the weights of `out`, and the row sums of folded E to its biases.
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

/// (A^T A + bias) ∘ (E^T E), in double. If inputs repeat, all of A^T A is needed.
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
        // One run after the other of rows with distinct inputs.
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
    project_block(u.columns(first, count), add, out.block(first, 0, count, out.cols), scratch);
  }
}

/// out_r = e_r^T (U_k a_r + u_bias), with one product of A for each column of U, as a matrix U_k.
template <class T>
void OuterRows<T>::project_block(ConstMatrixView<T> u, bool add, MatrixView<T> out, Scratch& scratch) const {
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

/// out_j = (sum_k z_r e_r)^2 . (V a_j^2 + v_bias), where V is v's weights as a matrix.
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
      double& to = out[at(j)];
      to = add ? to + square : square;
    }
  });
}

/// A sum over seeds of outer products with the same input is an outer product: g_j = (sum_k z_r e_r) a_j^T.
template <class T>
BlockRows<T>& OuterRows<T>::gradients(ConstSpan<T> z, ConstSpan<Index> which, Index n) {
  const auto count = static_cast<Index>(which.size());
  if (!gradients_) gradients_ = std::make_unique<OuterRows>(layer_);
  const auto a = gathered_a_.matrix(layer_.inputs, count), e = gathered_e_.matrix(layer_.outputs, count);
  for (Index m = 0; m < count; ++m) {
    const Index j = which[at(m)];
    std::ranges::copy(rows_.a.column(j % rows_.a.cols), a.column_data(m));
    add_seeds(rows_.e, z, j, n, e.column_data(m));
  }
  gradients_->view(a, e, count);
  return *gradients_;
}

/// The weights give a product, the bias sums.
template <class T>
void OuterRows<T>::add_input_factor(double weight, ConstSpan<T> of_examples, MatrixView<double> out,
                                    Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const bool has_weights = !of_examples.empty();
  const MatrixView<T> scaled = scratch.matrix<T>(rows_.a.rows, has_weights ? rows_.a.cols : 0);
  const auto weight_of = [&](Index j) { return of_examples[at(j % std::ssize(of_examples))]; };
  const auto scale = [&](auto&& factor_of) {
    for (Index j = 0; j < scaled.cols; ++j)
      for (Index i = 0; i < scaled.rows; ++i) scaled(i, j) = factor_of(j) * rows_.a(i, j);
  };
  const ConstMatrixView<T> a = has_weights ? ConstMatrixView<T>(scaled) : rows_.a;
  double all = has_weights ? 0 : static_cast<double>(a.cols);
  for (Index j = 0; j < scaled.cols; ++j) all += static_cast<double>(weight_of(j));
  const double each = weight / all;
  scale([&](Index j) { return std::sqrt(weight_of(j)); });
  const MatrixView<T> products = scratch.matrix<T>(a.rows, a.rows);
  syrk(Op::none, T(1), a, T(0), products);
  add_lower(each, ConstMatrixView<T>(products), out.block(0, 0, a.rows, a.rows));
  if (!layer_.has_bias()) return;
  scale(weight_of);
  T* const sums = scratch.take<T>(a.rows).data();
  row_sums(a, sums);
  for (Index i = 0; i < a.rows; ++i) out(a.rows, i) += each * static_cast<double>(sums[i]);
  out(a.rows, a.rows) += weight;
}

/// Multiplies columns by the roots of their weights, some at a time.
template <class T>
void OuterRows<T>::add_output_factor(double weight, ConstSpan<T> w, MatrixView<double> out,
                                     Scratch& scratch) const {
  const Scratch::Frame frame(scratch);
  const ConstMatrixView<T> e = rows_.e;
  const MatrixView<T> products = scratch.matrix<T>(e.rows, e.rows);
  const Index together = factors_together(e.rows);
  const MatrixView<T> block = scratch.matrix<T>(e.rows, std::min(together, e.cols));
  for (Index first = 0; first < e.cols; first += together) {
    const Index count = std::min(together, e.cols - first);
    const MatrixView<T> some = block.columns(0, count);
    parallel_blocks(count, task_grain(e.rows), [&](Index begin, Index size) noexcept {
      for (Index j = begin; j < begin + size; ++j) {
        const T root = std::sqrt(w[at(first + j)]);
        for (Index i = 0; i < e.rows; ++i) some(i, j) = root * e(i, first + j);
      }
    });
    syrk(Op::none, T(1), ConstMatrixView<T>(some), T(first == 0 ? 0 : 1), products);
  }
  add_lower(weight, ConstMatrixView<T>(products), out);
}

/// (Uo^T u e^T Ug)^2 is the outer product of the squares of Uo^T u and Ug^T e.
template <class T>
void OuterRows<T>::add_rotated_squares(ConstSpan<T> w, ConstMatrixView<T> uo, ConstMatrixView<T> ug,
                                       MatrixView<double> out, Scratch& scratch) const {
  const Index q = uo.rows, o = ug.rows, together = factors_together(q + o);
  const Scratch::Frame frame(scratch);
  const MatrixView<T> products = scratch.matrix<T>(q, o);
  T* const columns = scratch.take<T>((2 * q + o) * std::min(together, rows_.a.cols)).data();
  for (Index first = 0, count = 0; first < rows_.e.cols; first += count) {
    const Index input = first % rows_.a.cols;
    count = std::min(together, rows_.a.cols - input);
    const MatrixView<T> u(columns, q, count), us(u.data + u.size(), q, count),
        es(us.data + us.size(), o, count);
    for (Index j = 0; j < count; ++j) {
      std::copy_n(rows_.a.column_data(input + j), layer_.inputs, u.column_data(j));
      if (layer_.has_bias()) u(q - 1, j) = 1;
    }
    gemm(Op::transpose, Op::none, T(1), uo, ConstMatrixView<T>(u), T(0), us);
    gemm(Op::transpose, Op::none, T(1), ug, rows_.e.columns(first, count), T(0), es);
    for (Index j = 0; j < count; ++j) {
      for (T& value : us.column(j)) value *= value;
      for (T& value : es.column(j)) value *= value * w[at(first + j)];
    }
    gemm(Op::none, Op::transpose, T(1), ConstMatrixView<T>(us), ConstMatrixView<T>(es), T(first == 0 ? 0 : 1),
         products);
  }
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = 0; i < out.rows; ++i) out(i, j) += static_cast<double>(products(i, j));
}

template class OuterRows<float>;
template class OuterRows<double>;

}  // namespace bdl
