#include "train/approximate/refine.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "train/approximate/laplace/approximation.hpp"
#include "train/scales/by_evidence.hpp"
#include "train/scales/linearized_evidence.hpp"

namespace bdl {
namespace {

constexpr Index most_full_parameters = 500, rank_of_others = 50;
constexpr int search_steps = 2;

/// Returns a posterior of the same mean in the family of refinements.
template <class T>
std::unique_ptr<Posterior<T>> refinement_of(const Posterior<T>& q) {
  const bool is_full = q.dimension() <= most_full_parameters;
  PosteriorKind kind = q.kind();
  kind.family = is_full ? Family::full : Family::low_rank;
  kind.rank = is_full ? 0 : rank_of_others;
  kind.blocks.clear();
  kind.matrices.clear();
  auto refined = create_posterior<T>(kind);
  std::ranges::copy(q.mean(), refined->mean().begin());
  std::ranges::copy(q.statistics(), refined->statistics().begin());
  refined->set_blank(false);
  return refined;
}

}  // namespace

template <class T>
bool refines(const Optimizer<T>& optimizer) {
  return optimizer.options().refine == Refine::automatic && learns_by_evidence(optimizer);
}

template <class T>
void take_refinement(Optimizer<T>& optimizer, DataSet& data, LinearizedEvidence<T>& evidence, Index shards) {
  const ThreadLimit threads(optimizer.options().threads);
  std::shared_ptr<Posterior<T>> refined;
  Likelihood likelihood = optimizer.model()->likelihood;
  {
    const Interruptible work;
    evidence.compute();
    evidence.search_determined(learned_scales_of(optimizer), search_steps);
    Prior<T> prior(optimizer.blocks(), optimizer.options());
    prior.set_groups(evidence.prior());
    likelihood.learn_noise_precision(evidence.noise().precisions());
    refined = refinement_of<T>(*optimizer.posterior());
    const CurvatureForm form{FisherLabels::exact, KroneckerEigenvalues::products,
                             projection_options(optimizer.options()),
                             static_cast<std::uint64_t>(optimizer.options().seed),
                             static_cast<std::uint64_t>(optimizer.state.step)};
    const LaplaceApproximation<T> laplace(
        *optimizer.model(), *refined, prior, form,
        {data, static_cast<double>(optimizer.data_size()), optimizer.team, shards});
    laplace.write({likelihood, prior}, *refined);
  }
  optimizer.team.vote();
  optimizer.posterior()->refine(std::move(refined));
  optimizer.model()->likelihood = std::move(likelihood);
}

#define BDL_INSTANTIATE(T)                    \
  template bool refines(const Optimizer<T>&); \
  template void take_refinement(Optimizer<T>&, DataSet&, LinearizedEvidence<T>&, Index);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
