#include "posterior/low_rank_moment/kl_gradient.hpp"

#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void kl_gradient(const LowRankMomentPosterior<T>& q, ConstSpan<T> prior_mean, ConstSpan<T> prior_precision,
                 const LowRankMomentGradient<T>& out, TallScratch& scratch) {
  kl_gradient_from(q, 0, prior_mean, prior_precision, out, scratch);
}

template <class T>
void kl_gradient_from(const LowRankMomentPosterior<T>& q, Index first, ConstSpan<T> prior_mean,
                      ConstSpan<T> prior_precision, const LowRankMomentGradient<T>& out,
                      TallScratch& scratch) {
  const Index count = std::ssize(prior_precision);
  const ConstMatrixView<T> w_rows = q.w().block(first, 0, count, q.rank());
  const T *lambda = prior_precision.data(), *mean = q.mean().data() + first, *prior = prior_mean.data(),
          *s = q.s().data() + first;
  if (!out.mean.empty()) {
    T* const to = out.mean.data();
    for_each_index(
        count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * (mean[i] - (prior ? prior[i] : T(0))); });
  }
  tall_ridge<T>(w_rows, {s, at(count)}, q.core(), out.low_rank, out.log_sigma, scratch);
  for (Index k = 0; k < out.low_rank.cols; ++k) {
    T* const to = out.low_rank.column_data(k);
    const T* const w = w_rows.column_data(k);
    for_each_index(count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * w[i] - to[i]; });
  }
  if (!out.log_sigma.empty()) {
    T* const to = out.log_sigma.data();
    for_each_index(count, [=](Index i) BDL_INLINE_LAMBDA { to[i] = lambda[i] * s[i] - to[i]; });
  }
}

#define BDL_INSTANTIATE(T)                                                                            \
  template void kl_gradient(const LowRankMomentPosterior<T>&, ConstSpan<T>, ConstSpan<T>,             \
                            const LowRankMomentGradient<T>&, TallScratch&);                           \
  template void kl_gradient_from(const LowRankMomentPosterior<T>&, Index, ConstSpan<T>, ConstSpan<T>, \
                                 const LowRankMomentGradient<T>&, TallScratch&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
