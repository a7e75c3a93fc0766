// How far a single example's gradient moves its own outputs: g^T Sigma g, for every family by its columns.
#include <algorithm>
#include <limits>

#include "parallel/parallel.hpp"
#include "posterior/full/dense_step.hpp"

namespace bdl {

template <class T>
void Posterior<T>::move_mean_by(const Posterior& from, const Posterior& metric, double rate, ConstSpan<T> m,
                                PosteriorScratch<T>& scratch) {
  T* const mean = this->mean().data();
  std::ranges::copy(m, mean);
  metric.solve({mean, dimension_, 1}, scratch);
  const T *old = from.mean().data(), length = static_cast<T>(rate);
  for_each_index(dimension_, [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * mean[i]; });
}

template <class T>
bool Posterior<T>::bound_leverages(ExampleRows<T>&, ConstSpan<T>, std::span<double> out,
                                   LeverageScratch<T>&) const {
  std::ranges::fill(out, std::numeric_limits<double>::infinity());
  return false;
}

template <class T>
void Posterior<T>::reserve_leverages(Index n, LeverageScratch<T>& scratch) const {
  const Index together = std::min(n, most_gradients);
  scratch.columns.reserve(dimension_ * together);
  scratch.small.reserve(together);
  reserve_variances(together, scratch.solve);
}

template <class T>
void Posterior<T>::leverages(ExampleRows<T>& rows, ConstSpan<T> z, ConstSpan<Index> which,
                             std::span<double> out, LeverageScratch<T>& scratch) const {
  const auto n = static_cast<Index>(out.size());
  for (std::size_t first = 0; first < which.size(); first += most_gradients) {
    const auto some = which.subspan(first, std::min<std::size_t>(most_gradients, which.size() - first));
    const ExampleRows<T>& gradients = rows.gradients(z, some, n);
    reserve_leverages(gradients.count(), scratch);
    const auto columns = scratch.columns.matrix(dimension_, gradients.count());
    for (Index m = 0; m < columns.cols; ++m) gradients.write_row(m, 0, columns.column(m));
    variances(columns, scratch.small.first(columns.cols), scratch.solve);
    for (std::size_t m = 0; m < some.size(); ++m)
      out[static_cast<std::size_t>(some[m])] = scratch.small.data()[m];
  }
}

#define BDL_INSTANTIATE(T)                                                                                  \
  template void Posterior<T>::move_mean_by(const Posterior&, const Posterior&, double, ConstSpan<T>,        \
                                           PosteriorScratch<T>&);                                           \
  template bool Posterior<T>::bound_leverages(ExampleRows<T>&, ConstSpan<T>, std::span<double>,             \
                                              LeverageScratch<T>&) const;                                   \
  template void Posterior<T>::reserve_leverages(Index, LeverageScratch<T>&) const;                          \
  template void Posterior<T>::leverages(ExampleRows<T>&, ConstSpan<T>, ConstSpan<Index>, std::span<double>, \
                                        LeverageScratch<T>&) const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
