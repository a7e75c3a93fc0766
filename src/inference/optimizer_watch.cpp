// Has training run away? A network that predicts far worse than its outputs' zero will not come back by
// itself: it is taken back to its last good state.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "inference/optimizer.hpp"

namespace bdl {
namespace {

// Healthy fits stay below 4, or below 100 under a nearly flat prior; run-aways grow to 1e300 within an epoch
// or two.
constexpr double limit = 100, good = 2;
constexpr double least_baseline = 0.7;  // nats: targets that are all 0
constexpr Index least_window = 20;

}  // namespace

double Watch::ratio() const {
  return steps > 0 ? misfit / (std::max(baseline, least_baseline) * std::max(1.0, first_ratio)) : 0;
}

void Arrival::add(double value) {
  if (steps == 0) first = value;
  ++steps;
  average += 2 / static_cast<double>(steps + 1) * (value - average);
}

/// How much density outputs lose, and outputs 0, against the best ones for their targets: summed.
template <class T>
typename Optimizer<T>::Misfits Optimizer<T>::misfits(ConstMatrixView<T> f, ConstMatrixView<T> y) {
  if (f.cols == 0) return {};  // expectations
  std::fill_n(work_.zeros.data(), f.rows, T(0));
  const Likelihood& likelihood = model_->likelihood;
  Misfits sums{0, 0, static_cast<double>(f.cols), y.cols};
  for (Index i = 0; i < y.cols; ++i) sums.zeros += likelihood.misfit(work_.zeros.data(), y.column_data(i));
  for (Index j = 0; j < f.cols; ++j)
    sums.outputs += likelihood.misfit(f.column_data(j), y.column_data(j % y.cols));
  return sums;
}

/// Moving averages over an epoch of the misfit at posterior samples and of that of outputs 0, at the same
/// noise.
template <class T>
void Optimizer<T>::watch(const Misfits& misfits, Index epoch_steps) {
  next_watch_ = state.watch;
  if (misfits.columns == 0) return;
  const double baseline = misfits.zeros / static_cast<double>(misfits.examples),
               misfit = misfits.outputs / misfits.columns;
  Watch& watch = next_watch_;
  const Index window = std::max(epoch_steps, least_window);
  const double weight = 1 / static_cast<double>(std::min(++watch.steps, window));
  if (!std::isfinite(baseline) || std::isnan(misfit)) return;  // the step will name what is wrong
  watch.misfit += weight * (misfit - watch.misfit);
  watch.baseline += weight * (baseline - watch.baseline);
  if (watch.steps == 1) watch.first_ratio = misfit / std::max(baseline, least_baseline);
  if (watch.ratio() > limit)
    fail(Status::ERROR_DIVERGED,
         "training ran away in step %lld: outputs at posterior samples fit %.3g times worse than outputs 0",
         static_cast<long long>(state.step + 1), watch.misfit / std::max(watch.baseline, least_baseline));
}

/// After a step, at the end of an epoch's worth of them.
template <class T>
void Optimizer<T>::keep_good_state(Index epoch_steps) {
  const Index steps = state.watch.steps;  // 0: expectations, whose outputs nobody watches
  const bool due = !good_.is_known || (steps > 0 && steps % std::max(epoch_steps, least_window) == 0);
  if (!due || !(state.watch.ratio() <= good)) return;
  remember_good_state();
}

/// The caller may have changed belief and scales since: they are what to go back to, unless training is about
/// to run away.
template <class T>
void Optimizer<T>::forget_older_good_state() {
  if (state.watch.ratio() <= good) forget_good_state();
}

template <class T>
void Optimizer<T>::remember_good_state() {
  work_.good->assign(*posterior_);
  good_.is_known = true;
  good_.prior.assign(prior_.groups().begin(), prior_.groups().end());
  good_.likelihood = model_->likelihood;
  good_.watch = state.watch;
  good_.running_log_likelihood = state.running_log_likelihood;
  good_.start_weight = state.start_weight;
  const ConstSpan<T> tied = work_.first_order.tied().values();
  good_.tied.assign(tied.begin(), tied.end());
}

/// Time goes on; averages of gradients begin anew.
template <class T>
bool Optimizer<T>::go_back() {
  if (!good_.is_known || !(std::max(state.watch.ratio(), next_watch_.ratio()) > good)) return false;
  posterior_->assign(*work_.good);
  if (!prior_.is_fixed()) prior_.set_groups(good_.prior);
  const double of_all_targets = model_->likelihood.limit();  // also of those seen since
  model_->likelihood = *good_.likelihood;
  model_->likelihood.set_limit(of_all_targets);
  std::fill_n(momentum_.data(), posterior_->dimension(), T(0));
  work_.first_order.forget();
  work_.kronecker.forget();
  TiedScales<T>& tied = work_.first_order.tied();
  if (good_.tied.size() == at(tied.size()) && !good_.tied.empty())
    tied.restore(good_.tied);
  else
    tied.forget();
  work_.point_steps.forget();
  state.momentum_steps = state.snapshots = 0;
  state.running_log_likelihood = good_.running_log_likelihood;
  state.start_weight = good_.start_weight;
  state.watch = next_watch_ = good_.watch;
  if (may_go_on())
    ++state.rate_cuts;
  else
    state.has_diverged = true;
  return true;
}

template Optimizer<float>::Misfits Optimizer<float>::misfits(ConstMatrixView<float>, ConstMatrixView<float>);
template Optimizer<double>::Misfits Optimizer<double>::misfits(ConstMatrixView<double>,
                                                               ConstMatrixView<double>);
template void Optimizer<float>::watch(const Misfits&, Index);
template void Optimizer<double>::watch(const Misfits&, Index);
template void Optimizer<float>::keep_good_state(Index);
template void Optimizer<double>::keep_good_state(Index);
template void Optimizer<float>::forget_older_good_state();
template void Optimizer<double>::forget_older_good_state();
template void Optimizer<float>::remember_good_state();
template void Optimizer<double>::remember_good_state();
template bool Optimizer<float>::go_back();
template bool Optimizer<double>::go_back();

}  // namespace bdl
