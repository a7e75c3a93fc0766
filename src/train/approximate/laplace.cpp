#include "train/approximate/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "curvature/data_rows.hpp"
#include "methods/schedule.hpp"
#include "parallel/parallel.hpp"
#include "train/approximate/laplace/balanced_noise.hpp"
#include "train/approximate/mode.hpp"

namespace bdl {

template <class T>
void check_laplace(const Optimizer<T>& optimizer, Index examples) {
  const Posterior<T>& q = *optimizer.posterior();
  const Options& options = optimizer.options();
  check_laplace_family(q.family());
  if (options.kl_weight == 0)
    fail(Status::ERROR_UNSUPPORTED,
         "option \"kl_weight\" is 0, and Laplace's approximation divides by it: set it above 0");
  const EigenMethod method = projection_options(options).method;
  if (q.family() == Family::low_rank && q.rank() > 0 && method == EigenMethod::gram &&
      !DataRows<T>::has_gram(*optimizer.model(), curvature_kind(options.fisher), examples))
    fail(Status::ERROR_UNSUPPORTED,
         "%lld examples are too many for the Gram matrix that option \"eigen_method\" asks of Laplace's "
         "approximation",
         static_cast<long long>(examples));
}

namespace {

template <class T>
CurvatureForm form_of(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  return {options.fisher, options.kronecker_eigenvalues, projection_options(options),
          static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(optimizer.state.step)};
}

template <class T>
LaplaceTerms<T> terms_of(const Optimizer<T>& optimizer) {
  return {optimizer.model()->likelihood, optimizer.prior(), optimizer.options().kl_weight};
}

template <class T>
std::shared_ptr<const LaplaceApproximation<T>> approximation_at(Optimizer<T>& optimizer,
                                                                const Posterior<T>& q, DataSet& data,
                                                                Index shards) {
  return std::make_shared<const LaplaceApproximation<T>>(
      *optimizer.model(), q, optimizer.prior(), form_of(optimizer),
      SharedData{data, static_cast<double>(optimizer.data_size()), optimizer.team, shards});
}

/// Returns what option "evidence" learns.
template <class T>
EvidenceSearch learned_by_evidence(const Optimizer<T>& optimizer) {
  EvidenceSearch search;
  const PriorGroups groups = optimizer.options().prior_groups;
  const bool by_layers =
      groups == PriorGroups::layers || groups == PriorGroups::shared || groups == PriorGroups::inputs;
  const Posterior<T>* const given = optimizer.prior().posterior();
  const bool by_evidence = !optimizer.prior().is_fixed() && (!given || given->is_diagonal());
  search.prior = by_evidence && (by_layers || !is_mode(optimizer));
  search.noise = evidence_learns_noise(optimizer);
  return search;
}

/// Sets prior and noise to an optimum.
template <class T>
void commit(Optimizer<T>& optimizer, const EvidenceSearch& search, const EvidenceOptimum& optimum) {
  if (search.prior) optimizer.prior().set_groups(optimum.groups);
  if (search.noise) multiply_noise(optimum.noise_factor, optimizer.model()->likelihood);
  if (!search.prior && !search.noise) return;
  if (optimizer.state.learning_step == 0) optimizer.state.learning_step = optimizer.state.step;
  optimizer.state.convergence = {};  // the level that the log likelihood can reach has changed
}

template <class T>
const LaplaceApproximation<T>& present_approximation(const Optimizer<T>& optimizer) {
  const auto& laplace = optimizer.laplace;
  if (!laplace || !optimizer.model() || !laplace->is_at(*optimizer.posterior(), terms_of(optimizer)))
    fail(Status::ERROR_UNSUPPORTED,
         "there is no Laplace approximation at the present mean: call bdl_optimizer_laplace() first");
  return *laplace;
}

/// Balances the noise of several targets before the search for it.
template <class T>
void balance(Optimizer<T>& optimizer, const Posterior<T>& q, const EvidenceSearch& search, DataSet& data,
             Index shards, BalancedNoise& noise) {
  if (!search.noise || optimizer.model()->likelihood.noise_precision().size() == 1) return;
  const SharedData shared{data, static_cast<double>(optimizer.data_size()), optimizer.team, shards};
  noise.set(fit_at_mean(*optimizer.model(), q, shared), search.furthest);
}

/// Returns the approximation's posterior with the prior and noise of an optimum, of what was searched.
template <class T>
std::unique_ptr<Posterior<T>> posterior_at(const Optimizer<T>& optimizer,
                                           const LaplaceApproximation<T>& laplace,
                                           const EvidenceSearch& search, const EvidenceOptimum& optimum) {
  Likelihood likelihood = optimizer.model()->likelihood;
  if (search.noise) multiply_noise(optimum.noise_factor, likelihood);
  std::optional<Prior<T>> prior;
  if (search.prior) (prior = optimizer.new_prior())->set_groups(optimum.groups);
  auto q = optimizer.posterior()->clone();
  laplace.write({likelihood, prior ? *prior : optimizer.prior(), optimizer.options().kl_weight}, *q);
  q->set_blank(false);
  return q;
}

}  // namespace

template <class T>
bool evidence_learns_noise(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const Likelihood& likelihood = optimizer.model()->likelihood;
  const Posterior<T>* const prior = optimizer.prior().posterior();
  if (prior && !prior->is_diagonal()) return false;
  const bool asks = options.laplace ? options.evidence != EvidenceUse::none : is_mode(optimizer);
  return asks && options.learn_noise && options.fisher != FisherLabels::empirical &&
         likelihood.kind() == BDL_GAUSSIAN && !likelihood.noise_covariance().given();
}

template <class T>
void take_laplace(Optimizer<T>& optimizer, DataSet& data, Index shards, bool may_learn) {
  check_laplace(optimizer, data.rows());
  const ThreadLimit threads(optimizer.options().threads);
  BalancedNoise noise(optimizer.model()->likelihood);
  std::shared_ptr<const LaplaceApproximation<T>> laplace;
  EvidenceOptimum optimum;
  EvidenceSearch search{false, false};
  std::unique_ptr<Posterior<T>> next;
  {
    const Interruptible work;
    if (may_learn && optimizer.options().evidence != EvidenceUse::none)
      search = learned_by_evidence(optimizer);
    balance(optimizer, *optimizer.posterior(), search, data, shards, noise);
    laplace = approximation_at<T>(optimizer, *optimizer.posterior(), data, shards);
    if (search.prior || search.noise) optimum = laplace->maximize(terms_of(optimizer), search);
    next = posterior_at(optimizer, *laplace, search, optimum);
  }
  optimizer.team.vote();
  noise.keep();
  commit(optimizer, search, optimum);
  optimizer.posterior()->swap(*next);
  optimizer.laplace = std::move(laplace);
  optimizer.watch.forget();
}

namespace {

/// Returns the epochs from one search to the next.
template <class T>
Index evidence_interval(const Optimizer<T>& optimizer) {
  constexpr double searches = 20;  // of option evidence_every 0
  const Options& options = optimizer.options();
  const TrainingState& state = optimizer.state;
  if (options.evidence_every > 0) return options.evidence_every;
  const double epochs = static_cast<double>(state.plan.end - state.plan.begin) /
                        static_cast<double>(std::max<Index>(1, state.batches));
  return std::max<Index>(1, static_cast<Index>((1 - options.evidence_from) * epochs / searches));
}

}  // namespace

template <class T>
bool evidence_is_due(const Optimizer<T>& optimizer) {
  const Options& options = optimizer.options();
  const TrainingState& state = optimizer.state;
  const Index completed = state.epoch + 1;
  const bool is_last = completed == state.fit_end_epoch;
  if (options.laplace ? is_last || options.evidence != EvidenceUse::during
                      : !evidence_learns_noise(optimizer))
    return false;
  if (is_last) return true;
  return plan_fraction(state.plan, state.step + 1) >= options.evidence_from &&
         completed % evidence_interval(optimizer) == 0;
}

template <class T>
void learn_by_evidence(Optimizer<T>& optimizer, DataSet& data, Index shards) {
  const ThreadLimit threads(optimizer.options().threads);
  EvidenceSearch search = learned_by_evidence(optimizer);
  const bool is_last = optimizer.state.epoch + 1 == optimizer.state.fit_end_epoch;
  if (!is_last) search.furthest = optimizer.options().evidence_step;
  search.noise_within_targets = is_mode(optimizer);
  if (!search.prior && !search.noise) return;
  BalancedNoise noise(optimizer.model()->likelihood);
  EvidenceOptimum optimum;
  {
    const Interruptible work;
    const auto factors = is_mode(optimizer) ? factors_at(optimizer) : nullptr;
    const Posterior<T>& q = factors ? *factors : *optimizer.posterior();
    balance(optimizer, q, search, data, shards, noise);
    optimum = approximation_at<T>(optimizer, q, data, shards)->maximize(terms_of(optimizer), search);
  }
  optimizer.team.vote();
  noise.keep();
  if (is_mode(optimizer)) search.prior = false;  // the mode keeps its own, beside which noise explains all
  commit(optimizer, search, optimum);
}

template <class T>
LogEvidence evidence_of(const Optimizer<T>& optimizer, const GroupedPrecisions& prior, double noise_factor) {
  const ThreadLimit threads(optimizer.options().threads);
  LogEvidence evidence = present_approximation(optimizer).evidence(terms_of(optimizer), prior, noise_factor);
  const double units = optimizer.data_weight() * optimizer.model()->standardization.log_scale();
  evidence.log_likelihood -= units;
  evidence.value -= units / optimizer.options().kl_weight;
  return evidence;
}

template <class T>
EvidenceOptimum maximize_evidence(Optimizer<T>& optimizer, const EvidenceSearch& search) {
  const ThreadLimit threads(optimizer.options().threads);
  const LaplaceApproximation<T>& laplace = present_approximation(optimizer);
  const EvidenceOptimum optimum = laplace.maximize(terms_of(optimizer), search);
  auto next = posterior_at(optimizer, laplace, search, optimum);
  commit(optimizer, search, optimum);
  optimizer.posterior()->swap(*next);
  optimizer.watch.forget();
  return optimum;
}

template <class T>
double mode_gap(const Optimizer<T>& optimizer, DataSet& data) {
  const ThreadLimit threads(optimizer.options().threads);
  const LaplaceApproximation<T>& laplace = present_approximation(optimizer);
  Team alone;
  const SharedData all{data, static_cast<double>(optimizer.data_size()), alone, 1};
  const Posterior<T>& q = *optimizer.posterior();
  return laplace.mode_gap(terms_of(optimizer), q, fit_at_mean(*optimizer.model(), q, all));
}

#define BDL_INSTANTIATE(T)                                                                 \
  template void check_laplace(const Optimizer<T>&, Index);                                 \
  template void take_laplace(Optimizer<T>&, DataSet&, Index, bool);                        \
  template bool evidence_is_due(const Optimizer<T>&);                                      \
  template void learn_by_evidence(Optimizer<T>&, DataSet&, Index);                         \
  template bool evidence_learns_noise(const Optimizer<T>&);                                \
  template LogEvidence evidence_of(const Optimizer<T>&, const GroupedPrecisions&, double); \
  template EvidenceOptimum maximize_evidence(Optimizer<T>&, const EvidenceSearch&);        \
  template double mode_gap(const Optimizer<T>&, DataSet&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
