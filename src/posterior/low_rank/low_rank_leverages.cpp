// g^T Sigma g = g^T D^-1 g - |Bc^-1 U^T D^-1 g|^2 (Woodbury): the first term, a bound, costs about one
// forward pass of a network; the second, L products, is taken off where it may matter.
#include <algorithm>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank/low_rank.hpp"

namespace bdl {
namespace {

/// What rounding may leave of the bound.
constexpr double least_share = 1e-6;

}  // namespace

template <class T>
bool LowRankPosterior<T>::bound_leverages(ExampleRows<T>& rows, ConstSpan<T> z, std::span<double> out,
                                          LeverageScratch<T>& scratch) const {
  scratch.inverse.reserve(this->dimension_);
  const T* const d = d_.data();
  T* const inverse = scratch.inverse.data();
  for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { inverse[i] = 1 / d[i]; });
  rows.gradient_squares(z, scratch.inverse.first(this->dimension_), out);
  return rank_ == 0;
}

template <class T>
void LowRankPosterior<T>::reserve_leverages(Index n, LeverageScratch<T>& scratch) const {
  scratch.inverse.reserve(this->dimension_);
  if (rank_ == 0) return;
  const Index together = std::min(n, most_gradients);
  scratch.columns.reserve(this->dimension_ * std::min(rank_, most_gradient_vectors));
  scratch.projected.reserve(rank_ * together);
  scratch.small.reserve(rank_ * together);
}

template <class T>
void LowRankPosterior<T>::leverages(ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which,
                                    std::span<double> out, LeverageScratch<T>& scratch) const {
  const T* const inverse = scratch.inverse.data();
  for (std::size_t first = 0; first < which.size(); first += most_gradients) {
    const auto some = which.subspan(first, std::min<std::size_t>(most_gradients, which.size() - first));
    ExampleRows<T>& gradients = rows.gradients(z, some, static_cast<Index>(out.size()));
    reserve_leverages(gradients.count(), scratch);
    const auto projected = scratch.projected.matrix(rank_, gradients.count());
    for (Index k = 0; k < rank_; k += most_gradient_vectors) {
      const auto columns =
          scratch.columns.matrix(this->dimension_, std::min(most_gradient_vectors, rank_ - k));
      for (Index c = 0; c < columns.cols; ++c) {
        const T* const u = this->u().column_data(k + c);
        T* const to = columns.column_data(c);
        for_each_index(this->dimension_, [=](Index i) BDL_INLINE_LAMBDA { to[i] = inverse[i] * u[i]; });
      }
      gradients.project(columns, projected.block(k, 0, columns.cols, projected.cols));
    }
    const auto solved = scratch.small.matrix(rank_, projected.cols);
    for (Index m = 0; m < solved.cols; ++m) std::ranges::copy(projected.column(m), solved.column_data(m));
    solve_lower_left(Op::none, woodbury_.core(), solved);
    for (std::size_t m = 0; m < some.size(); ++m) {
      double& to = out[static_cast<std::size_t>(some[m])];
      double share = 0;
      for (const double value : solved.column(static_cast<Index>(m))) share += value * value;
      to = std::max(to - share, least_share * to);
    }
  }
}

template class LowRankPosterior<float>;
template class LowRankPosterior<double>;

}  // namespace bdl
