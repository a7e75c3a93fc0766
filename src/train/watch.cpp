#include "train/watch.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "train/optimizer.hpp"

namespace bdl {
namespace {

// WatchState::ratio() stays below 4 in healthy fits, or below 100 under a nearly flat prior; when training
// diverges, it grows to 1e300 within an epoch or two.
constexpr double limit = 100, good = 2;
constexpr double least_baseline = 0.7;  // nats; outputs 0 have none if all targets are 0
constexpr Index least_window = 20;

}  // namespace

double WatchState::ratio() const {
  return steps > 0 ? misfit / (std::max(baseline, least_baseline) * std::max(1.0, first_ratio)) : 0;
}

void Convergence::add(double value) {
  if (steps == 0) first = value;
  ++steps;
  average += 2 / static_cast<double>(steps + 1) * (value - average);
}

template <class T>
bool Watch<T>::is_good(const WatchState& watch) {
  return watch.ratio() <= good;
}

template <class T>
void Watch<T>::check(const WatchState& now, const Misfits& misfits, Index epoch_steps, Index step) {
  next_ = now;
  if (misfits.columns == 0) return;  // integrals, or all weights are 0
  const double baseline = misfits.zeros / misfits.examples, misfit = misfits.outputs / misfits.columns;
  const Index window = std::max(epoch_steps, least_window);
  const double weight = 1 / static_cast<double>(std::min(++next_.steps, window));
  if (!std::isfinite(baseline) || std::isnan(misfit))
    return;  // the step will report the number that is not finite
  next_.misfit += weight * (misfit - next_.misfit);
  next_.baseline += weight * (baseline - next_.baseline);
  if (next_.steps == 1) next_.first_ratio = misfit / std::max(baseline, least_baseline);
  if (next_.ratio() > limit)
    fail(Status::ERROR_DIVERGED,
         "training diverged in step %lld: outputs at posterior samples fit %.3g times worse than outputs 0",
         static_cast<long long>(step), next_.misfit / std::max(next_.baseline, least_baseline));
}

template <class T>
void Watch<T>::keep_good_state(const Optimizer<T>& optimizer, Index epoch_steps) {
  const WatchState& now = optimizer.state.watch;
  // now.steps stays 0 for integrals over the posterior, which have no outputs to watch.
  const bool due = !is_known_ || (now.steps > 0 && now.steps % std::max(epoch_steps, least_window) == 0);
  if (due && is_good(now)) remember(optimizer);
}

template <class T>
void Watch<T>::remember(const Optimizer<T>& optimizer) {
  const TrainingState& state = optimizer.state;
  if (!posterior_) posterior_ = optimizer.posterior()->clone();
  posterior_->assign(*optimizer.posterior());
  is_known_ = true;
  prior_.assign(optimizer.prior().groups().begin(), optimizer.prior().groups().end());
  likelihood_ = optimizer.model()->likelihood;
  averages_ = state.watch;
  running_log_likelihood_ = state.running_log_likelihood;
  start_weight_ = state.start_weight;
  const ConstSpan<T> tied = optimizer.averages.tied.values();
  tied_.assign(tied.begin(), tied.end());
}

template <class T>
bool may_go_on(const Optimizer<T>& optimizer) {
  return optimizer.options().guard > 0 && optimizer.state.rate_cuts < most_rate_cuts;
}

template <class T>
bool Watch<T>::go_back(Optimizer<T>& optimizer) {
  TrainingState& state = optimizer.state;
  if (!is_known_ || (is_good(state.watch) && is_good(next_))) return false;
  optimizer.posterior()->assign(*posterior_);
  if (!optimizer.prior().is_fixed()) optimizer.prior().set_groups(prior_);
  Likelihood& likelihood = optimizer.model()->likelihood;
  const double of_all_targets = likelihood.limit();  // includes targets read since the good state
  likelihood = *likelihood_;
  likelihood.set_limit(of_all_targets);
  optimizer.averages.forget();
  TiedScales<T>& tied = optimizer.averages.tied;
  if (tied_.size() == at(tied.size()) && !tied_.empty())
    tied.restore(tied_);
  else
    tied.forget();
  state.snapshots = 0;
  state.running_log_likelihood = running_log_likelihood_;
  state.start_weight = start_weight_;
  state.watch = next_ = averages_;
  if (may_go_on(optimizer))
    ++state.rate_cuts;
  else
    state.has_diverged = true;
  return true;
}

template class Watch<float>;
template class Watch<double>;
template bool may_go_on(const Optimizer<float>&);
template bool may_go_on(const Optimizer<double>&);

}  // namespace bdl
