#include "curvature/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bdl {
namespace {

bool is_classification(const Likelihood& likelihood) {
  return likelihood.kind() == BDL_CATEGORICAL || likelihood.kind() == BDL_BERNOULLI;
}

/// Sets probabilities far below the rounding of 1 - p to 0: they carry no information, and their products
/// would be subnormal numbers, which are many times slower.
template <class T>
void drop_negligible(MatrixView<T> e) {
  constexpr T rounding = std::numeric_limits<T>::epsilon(), least = rounding * rounding;
  for (Index j = 0; j < e.cols; ++j)
    for (T& seed : e.column(j)) seed = std::abs(seed) < least ? 0 : seed;
}

template <class T>
void fill_gradients(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y,
                    MatrixView<T> e) {
  for (Index j = 0; j < f.cols; ++j)
    likelihood.gradient(f.column_data(j), y.column_data(j % y.cols), e.column_data(j));
  if (is_classification(likelihood)) drop_negligible(e);
}

/// Fills the seeds after the gradients: those of log noise precisions that are held, which the gradient
/// leaves out.
template <class T>
void fill_held_rows(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y, MatrixView<T> e,
                    std::span<T> c) {
  for (Index row = f.cols; row < e.cols; ++row) {
    const Index j = row % f.cols, k = likelihood.means() + row / f.cols - 1;
    double unused = 0;
    likelihood.hessian_root(f.column_data(j), y.column_data(j % y.cols), k, e.column_data(row), &unused);
    c[static_cast<std::size_t>(row)] = 0;
  }
}

/// Writes column k of a root of each example's Hessian, k by k; for classes, the gradient for label k,
/// weighted by its probability. Batch norm couples examples, so a backward pass has one label for all.
template <class T>
void fill_labels(const Likelihood& likelihood, const SeedSpec& spec, ConstMatrixView<T> f,
                 ConstMatrixView<T> y, MatrixView<T> e, std::span<T> w) {
  for (Index k = 0; k < likelihood.curved_outputs(); ++k)
    for (Index j = 0; j < f.cols; ++j) {
      const Index row = k * f.cols + j;
      T* const seed = e.column_data(row);
      double unused = 0;
      if (likelihood.kind() != BDL_CATEGORICAL) {
        likelihood.hessian_root(f.column_data(j), y.column_data(j % y.cols), k, seed, &unused);
        continue;
      }
      const T label = static_cast<T>(k);
      likelihood.gradient(f.column_data(j), &label, seed);
    }
  if (likelihood.kind() != BDL_CATEGORICAL) return;
  for (Index row = 0; row < e.cols; ++row) {  // in the gradient for another label, entry k is p_k
    const Index k = row / f.cols, other = (k == 0 ? 1 : 0) * f.cols + row % f.cols;
    w[static_cast<std::size_t>(row)] = static_cast<T>(spec.scale * static_cast<double>(e(k, other)));
  }
}

/// Returns the first class up to which the probabilities add up to more than the fraction `share`.
template <class T>
Index drawn_class(const Likelihood& likelihood, const T* f, double share) {
  const Index classes = likelihood.outputs();
  const auto top = static_cast<double>(f[likelihood.top_class(f)]);
  const auto mass = [&](Index k) {
    return likelihood.has_class(k) ? std::exp(static_cast<double>(f[k]) - top) : 0;
  };
  double all = 0;
  for (Index k = 0; k < classes; ++k) all += mass(k);
  Index k = 0;
  for (double sum = mass(0); sum <= share * all && k + 1 < classes;) sum += mass(++k);
  return k;
}

/// Writes the gradient for one label per example, drawn from the model: a class, or else a random
/// combination of the root's columns, whose covariance is the Hessian. Overwrites `columns`.
template <class T>
void fill_label_gradients(const Likelihood& likelihood, const StreamKey& key, ConstMatrixView<T> f,
                          ConstMatrixView<T> y, MatrixView<T> columns, MatrixView<T> e) {
  StreamKey stream = key;
  for (Index j = 0; j < f.cols; ++j) {
    stream.sample = key.sample + static_cast<std::uint32_t>(j);
    const std::span<T> seed = e.column(j), column = columns.column(j);
    double number = 0, unused = 0;
    if (likelihood.kind() == BDL_CATEGORICAL) {
      fill_uniform<double>(stream, 0, {&number, 1}, 0, 1);
      const T label = static_cast<T>(drawn_class(likelihood, f.column_data(j), number));
      likelihood.gradient(f.column_data(j), &label, seed.data());
      continue;
    }
    std::ranges::fill(seed, T(0));
    for (Index k = 0; k < f.rows; ++k) {
      fill_normal<double>(stream, k, {&number, 1});
      likelihood.hessian_root(f.column_data(j), y.column_data(j % y.cols), k, column.data(), &unused);
      for (std::size_t c = 0; c < seed.size(); ++c) seed[c] += static_cast<T>(number) * column[c];
    }
  }
}

/// The gradient counts only in sums over c, the rows behind it only in the curvature.
template <class T>
void fill_gradient_and_curvature(const Likelihood& likelihood, const SeedSpec& spec, ConstMatrixView<T> f,
                                 ConstMatrixView<T> y, MatrixView<T> e, std::span<T> c, std::span<T> w) {
  const auto gradients = static_cast<std::size_t>(f.cols);
  std::ranges::fill(c, T(0));
  std::ranges::fill(c.first(gradients), static_cast<T>(spec.scale));
  std::ranges::fill(w.first(gradients), T(0));
  const MatrixView<T> first = e.columns(0, f.cols), behind = e.columns(f.cols, e.cols - f.cols);
  if (spec.kind == CurvatureKind::gradient_and_all_labels)
    fill_labels(likelihood, spec, f, y, behind, w.subspan(gradients));
  else
    fill_label_gradients(likelihood, spec.labels, f, y, first, behind);
  fill_gradients(likelihood, f, y, first);
}

}  // namespace

namespace {

/// Fills seeds and coefficients of rows that count once.
template <class T>
void fill_once(const Likelihood& likelihood, const SeedSpec& spec, ConstMatrixView<T> f, ConstMatrixView<T> y,
               MatrixView<T> e, std::span<T> c, std::span<T> w) {
  std::ranges::fill(w, static_cast<T>(spec.scale));
  if (spec.kind == CurvatureKind::empirical_fisher) {
    std::ranges::fill(c, static_cast<T>(spec.scale));
    fill_gradients(likelihood, f, y, e);
    return fill_held_rows(likelihood, f, y, e, c);
  }
  if (spec.kind != CurvatureKind::gauss_newton)
    return fill_gradient_and_curvature(likelihood, spec, f, y, e, c, w);
  for (Index k = 0; k < likelihood.curved_outputs(); ++k)
    for (Index j = 0; j < f.cols; ++j) {
      const Index row = k * f.cols + j;
      double coefficient = 0;
      likelihood.hessian_root(f.column_data(j), y.column_data(j % y.cols), k, e.column_data(row),
                              &coefficient);
      c[static_cast<std::size_t>(row)] = static_cast<T>(spec.scale * coefficient);
    }
}

}  // namespace

template <class T>
void fill_seeds(const Likelihood& likelihood, const SeedSpec& spec, ConstMatrixView<T> f,
                ConstMatrixView<T> y, MatrixView<T> e, std::span<T> c, std::span<T> w) {
  fill_once(likelihood, spec, f, y, e, c, w);
  if (!likelihood.is_weighted()) return;
  for (Index row = 0; row < e.cols; ++row) {
    const auto weight = static_cast<T>(likelihood.weight(y.column_data(row % y.cols)));
    const auto r = static_cast<std::size_t>(row);
    c[r] = weight > 0 ? weight * c[r] : 0;  // 0 times an overflow is no number
    w[r] = weight > 0 ? weight * w[r] : 0;
    if (weight == 0) std::ranges::fill(e.column(row), T(0));
  }
}

template <class T>
double expected_log_likelihood(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y) {
  double sum = 0;
  for (Index j = 0; j < f.cols; ++j)
    sum += likelihood.weighted_log_density(f.column_data(j), y.column_data(j % y.cols));
  return sum * static_cast<double>(y.cols) / static_cast<double>(f.cols);
}

template <class T>
void sum_squared_errors(const Likelihood& likelihood, ConstMatrixView<T> f, ConstMatrixView<T> y,
                        std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (Index j = 0; j < f.cols; ++j) {
    const T* const target = y.column_data(j % y.cols);
    const double weight = likelihood.weight(target);
    for (Index c = 0; c < likelihood.targets() && weight > 0; ++c)
      out[static_cast<std::size_t>(c)] += weight * likelihood.squared_error(f.column_data(j), target, c);
  }
  for (double& sum : out) sum *= static_cast<double>(y.cols) / static_cast<double>(f.cols);
}

template <class T>
double sum_weights(const Likelihood& likelihood, ConstMatrixView<T> y) {
  double sum = 0;
  for (Index i = 0; i < y.cols; ++i) sum += likelihood.weight(y.column_data(i));
  return sum;
}

template <class T>
std::span<T> row_weights(const Likelihood& likelihood, ConstMatrixView<T> y, Scratch& scratch) {
  if (!likelihood.is_weighted() || sum_weights(likelihood, y) == 0) return {};
  const std::span<T> weights = scratch.take<T>(y.cols);
  for (Index i = 0; i < y.cols; ++i)
    weights[static_cast<std::size_t>(i)] = static_cast<T>(likelihood.weight(y.column_data(i)));
  return weights;
}

template <class T>
void merge_single_index(ConstMatrixView<T> e, Index examples, std::span<T> c, std::span<T> w) {
  for (Index r = 0; r < e.cols; ++r) {
    const auto from = static_cast<std::size_t>(r), to = static_cast<std::size_t>(r % examples);
    const T seed = e(0, r), gradient = c[from] * seed, curvature = w[from] * seed * seed;
    c[to] = r < examples ? gradient : c[to] + gradient;
    w[to] = r < examples ? curvature : w[to] + curvature;
  }
}

#define BDL_INSTANTIATE(T)                                                                             \
  template void fill_seeds(const Likelihood&, const SeedSpec&, ConstMatrixView<T>, ConstMatrixView<T>, \
                           MatrixView<T>, std::span<T>, std::span<T>);                                 \
  template double expected_log_likelihood(const Likelihood&, ConstMatrixView<T>, ConstMatrixView<T>);  \
  template void sum_squared_errors(const Likelihood&, ConstMatrixView<T>, ConstMatrixView<T>,          \
                                   std::span<double>);                                                 \
  template double sum_weights(const Likelihood&, ConstMatrixView<T>);                                  \
  template std::span<T> row_weights(const Likelihood&, ConstMatrixView<T>, Scratch&);                  \
  template void merge_single_index(ConstMatrixView<T>, Index, std::span<T>, std::span<T>);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
