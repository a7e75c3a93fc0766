#include "posterior/leverages.hpp"

#include <algorithm>
#include <limits>

#include "linalg/blas.hpp"
#include "parallel/parallel.hpp"
#include "posterior/diagonal/diagonal_moment.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

/// Returns 1 / d, taken from the scratch.
template <class T>
ConstSpan<T> inverses(ConstSpan<T> values, Scratch& scratch) {
  const auto out = scratch.take<T>(std::ssize(values));
  const T* const d = values.data();
  T* const inverse = out.data();
  for_each_index(std::ssize(values), [=](Index i) BDL_INLINE_LAMBDA { inverse[i] = 1 / d[i]; });
  return out;
}

/// Calls visit(gradients as rows, the numbers of their examples) for a few gradients at a time.
template <class T, class Visit>
void for_some_gradients(ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which, std::size_t n,
                        Scratch& scratch, Visit&& visit) {
  for (std::size_t first = 0; first < which.size(); first += most_gradients) {
    const Scratch::Frame frame(scratch);
    const auto some = which.subspan(first, std::min<std::size_t>(most_gradients, which.size() - first));
    visit(rows.gradients(z, some, static_cast<Index>(n)), some);
  }
}

/// U^T diag(1 / d) G for gradients G, a few columns of U at a time.
template <class T>
void project_gradients(const LowRankPosterior<T>& q, ConstSpan<T> inverse_d, ExampleRows<T>& gradients,
                       MatrixView<T> out, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const auto columns = scratch.matrix<T>(q.dimension(), std::min(q.rank(), most_gradient_vectors));
  const T* const inverse = inverse_d.data();
  for (Index k = 0; k < q.rank(); k += most_gradient_vectors) {
    const auto some = columns.columns(0, std::min(most_gradient_vectors, q.rank() - k));
    for (Index c = 0; c < some.cols; ++c) {
      const T* const u = q.u().column_data(k + c);
      T* const to = some.column_data(c);
      for_each_index(q.dimension(), [=](Index i) BDL_INLINE_LAMBDA { to[i] = inverse[i] * u[i]; });
    }
    gradients.project(some, out.block(k, 0, some.cols, out.cols));
  }
}

/// g^T Sigma g = g^T D^-1 g - |Bc^-1 U^T D^-1 g|^2 (Woodbury): `out` holds the first term, L products give
/// the second. Rounding may leave little of the first.
template <class T>
void find_low_rank_leverages(const LowRankPosterior<T>& q, ExampleRows<T>& rows, ConstSpan<T> z,
                             ConstSpan<Index> which, std::span<double> out, Scratch& scratch) {
  constexpr double least_fraction = 1e-6;
  const Scratch::Frame frame(scratch);
  const ConstSpan<T> inverse = inverses(q.d(), scratch);
  const auto subtract = [&](ExampleRows<T>& gradients, ConstSpan<Index> some) {
    const auto projected = scratch.matrix<T>(q.rank(), gradients.count());
    project_gradients(q, inverse, gradients, projected, scratch);
    const auto solved = scratch.matrix<double>(q.rank(), projected.cols);
    for (Index m = 0; m < solved.cols; ++m) std::ranges::copy(projected.column(m), solved.column_data(m));
    solve_lower_left(Op::none, q.core(), solved);
    for (std::size_t m = 0; m < some.size(); ++m) {
      double& to = out[static_cast<std::size_t>(some[m])];
      double sum = 0;
      for (const double value : solved.column(static_cast<Index>(m))) sum += value * value;
      to = std::max(to - sum, least_fraction * to);
    }
  };
  for_some_gradients<T>(rows, z, which, out.size(), scratch, subtract);
}

}  // namespace

template <class T>
bool bound_leverages(const Posterior<T>& q, ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                     Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  if (q.family() == Family::low_rank) {
    rows.gradient_squares(z, inverses(as_low_rank(q).d(), scratch), out);
    return q.rank() == 0;
  }
  if (q.family() == Family::diagonal_moment) {
    rows.gradient_squares(z, as_diagonal_moment(q).variance(), out);
    return true;
  }
  std::ranges::fill(out, std::numeric_limits<double>::infinity());
  return false;
}

template <class T>
void find_leverages(const Posterior<T>& q, ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which,
                    std::span<double> out, Scratch& scratch) {
  if (q.family() == Family::low_rank)
    return find_low_rank_leverages(as_low_rank(q), rows, z, which, out, scratch);
  const auto find = [&](ExampleRows<T>& gradients, ConstSpan<Index> some) {
    const auto columns = scratch.matrix<T>(q.dimension(), gradients.count());
    const auto found = scratch.take<double>(gradients.count());
    for (Index m = 0; m < columns.cols; ++m) gradients.write_row(m, 0, columns.column(m));
    q.variances(columns, found, scratch);
    for (std::size_t m = 0; m < some.size(); ++m) out[static_cast<std::size_t>(some[m])] = found[m];
  };
  for_some_gradients<T>(rows, z, which, out.size(), scratch, find);
}

#define BDL_INSTANTIATE(T)                                                                             \
  template bool bound_leverages(const Posterior<T>&, ExampleRows<T>&, ConstSpan<T>, std::span<double>, \
                                Scratch&);                                                             \
  template void find_leverages(const Posterior<T>&, ExampleRows<T>&, ConstSpan<T>, ConstSpan<Index>,   \
                               std::span<double>, Scratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
