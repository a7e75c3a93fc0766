#include "train/approximate/laplace/curvature.hpp"

#include <algorithm>

#include "train/approximate/laplace/dense_curvature.hpp"
#include "train/approximate/laplace/kronecker_curvature.hpp"
#include "train/approximate/laplace/low_rank_curvature.hpp"

namespace bdl {

template <class T>
std::unique_ptr<LaplaceCurvature<T>> make_curvature(const Model<T>& model, const Posterior<T>& q,
                                                    Prior<T>& prior, const CurvatureForm& form,
                                                    const SharedData& shared) {
  if (q.family() == Family::kronecker)
    return std::make_unique<KroneckerCurvature<T>>(model, q, prior, form, shared);
  if (q.family() == Family::low_rank)
    return std::make_unique<LowRankCurvature<T>>(model, q, prior, form, shared);
  return std::make_unique<DenseCurvature<T>>(model, q, form, shared);
}

CurvatureKind curvature_kind(FisherLabels labels) {
  if (labels == FisherLabels::exact) return CurvatureKind::gauss_newton;
  if (labels == FisherLabels::empirical) return CurvatureKind::empirical_fisher;
  return CurvatureKind::gradient_and_one_label;
}

template <class T>
SeedSpec curvature_seeds(const CurvatureForm& form, const Posterior<T>& q, double weight, Index first) {
  SeedSpec seeds{curvature_kind(form.fisher), weight};
  seeds.statistics = {q.statistics(), {}};
  seeds.labels = {form.seed, Stream::labels, form.step, static_cast<std::uint32_t>(first)};
  return seeds;
}

template <class T>
void step_from_prior(const Prior<T>& prior, const Curvature<T>& curvature, Posterior<T>& q) {
  const auto from = q.clone();
  from->set_diagonal(prior.precision(), {});
  Buffer<T> zeros(q.dimension());
  std::fill_n(zeros.data(), q.dimension(), T(0));
  PosteriorStep<T> step{*from};
  step.m = std::as_const(zeros).first(q.dimension());
  step.mean_rate = 0;
  step.curvature = curvature;
  prior.enter_without_rows(step);
  Scratch scratch;
  q.update(step, scratch);
}

#define BDL_INSTANTIATE(T)                                                                       \
  template std::unique_ptr<LaplaceCurvature<T>> make_curvature(                                  \
      const Model<T>&, const Posterior<T>&, Prior<T>&, const CurvatureForm&, const SharedData&); \
  template SeedSpec curvature_seeds(const CurvatureForm&, const Posterior<T>&, double, Index);   \
  template void step_from_prior(const Prior<T>&, const Curvature<T>&, Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
