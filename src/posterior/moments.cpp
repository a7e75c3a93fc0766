#include "posterior/moments.hpp"

#include <algorithm>

#include "posterior/families.hpp"

namespace bdl {
namespace {

template <class T>
void copy_means(const Posterior<T>& from, Posterior<T>& to) {
  to.adopt(from.points());
  std::ranges::copy(from.statistics(), to.statistics().begin());
  std::ranges::copy(from.mean(), to.mean().begin());
  to.set_blank(from.is_blank());
}

}  // namespace

template <class T>
std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>& q) {
  const auto wide = converted<double>(q);
  const Index dimension = q.dimension();
  Buffer<double> columns(dimension * dimension);
  const MatrixView<double> covariance = columns.matrix(dimension, dimension);
  for (Index j = 0; j < dimension; ++j)
    for (Index i = 0; i < dimension; ++i) covariance(i, j) = i == j ? 1 : 0;
  Scratch scratch;
  wide->solve(covariance, scratch);
  auto out = std::make_unique<FullMomentPosterior<T>>(dimension);
  out->set_covariance(covariance);
  copy_means(q, *out);
  return out;
}

template <class T>
std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>& q) {
  Buffer<T> variance(q.dimension());
  Scratch scratch;
  q.marginal_variance(variance.first(q.dimension()), scratch);
  auto out = std::make_unique<DiagonalMomentPosterior<T>>(q.dimension());
  out->set_variance(std::as_const(variance).first(q.dimension()));
  copy_means(q, *out);
  return out;
}

#define BDL_INSTANTIATE(T)                                                                  \
  template std::unique_ptr<FullMomentPosterior<T>> full_covariance_of(const Posterior<T>&); \
  template std::unique_ptr<DiagonalMomentPosterior<T>> marginals_of(const Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
