#include "train/exact/exact_fit.hpp"

#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "train/exact/scales/scale_search.hpp"
#include "train/sharding.hpp"
#include "train/undo.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Commits the iterations of a search to the optimizer, and can undo the last of them.
template <class T>
class Course {
 public:
  Course(Optimizer<T>& optimizer, Undo<T>& undo, const ExactCalls& calls)
      : optimizer_(optimizer), undo_(undo), calls_(calls), next_(optimizer.posterior()->clone()) {}

  /// Commits the iteration to the optimizer. Returns true if it was the last one or training must stop.
  bool advance(const Posterior<double>& q, const ExactElbo::Value& value) {
    TrainingState& state = optimizer_.state;
    convert_tensors(q, *next_);
    optimizer_.team.vote();
    before_ = state;
    optimizer_.posterior()->swap(*next_);
    ++state.step;
    ++state.epoch;
    ++state.running_steps;
    state.running_log_likelihood = value.log_likelihood;
    state.start_weight = 0;
    undo_.keep();
    has_advanced_ = true;
    calls_.agree();
    const bool last = state.epoch >= state.fit_end_epoch;
    was_stopped_ = should_stop(optimizer_, calls_.progress, false) && !last;
    return was_stopped_ || last;
  }
  /// Undoes the last planned iteration, so that a fit that fails after it can be continued.
  void take_back() {
    if (!has_advanced_ || optimizer_.state.epoch < optimizer_.state.fit_end_epoch) return;
    optimizer_.posterior()->swap(*next_);
    optimizer_.state = before_;
  }
  /// Replaces the posterior after the last iteration by one with a KL divergence of so much more. The ELBO
  /// stays that of the optimum.
  void replace(const Posterior<double>& q, double more) {
    convert_tensors(q, *next_);
    optimizer_.team.vote();
    optimizer_.posterior()->swap(*next_);
    optimizer_.state.running_log_likelihood += more;
  }
  bool was_stopped() const { return was_stopped_; }
  bool has_advanced() const { return has_advanced_; }

 private:
  Optimizer<T>& optimizer_;
  Undo<T>& undo_;
  const ExactCalls& calls_;
  std::unique_ptr<Posterior<T>> next_;  // after an iteration: the posterior before it
  TrainingState before_;
  bool was_stopped_ = false, has_advanced_ = false;
};

template <class T>
RowShares shares_of(const Optimizer<T>& optimizer, Index rows, Index shards) {
  return {rows, shards, optimizer.team.rank(), optimizer.team.size()};
}

/// Everything that a search allocates before it begins, so that all ranks have it or none begins.
template <class T>
struct Searched {
  Searched(Optimizer<T>& optimizer, Undo<T>& undo, DataSet& data, const ExactCalls& calls)
      : elbo(*optimizer.model(), optimizer.prior().widened(optimizer.posterior()->kind()),
             shares_of(optimizer, data.rows(), calls.shards), optimizer.team),
        q(converted<double>(std::as_const(*optimizer.posterior()))),
        course(optimizer, undo, calls) {
    elbo.read_from(data, *optimizer.model());
  }
  ExactElbo elbo;
  std::unique_ptr<Posterior<double>> q;
  Course<T> course;
};

/// Measures the distance on all ranks; if one fails, all undo the last iteration.
template <class T>
double distance_of(ScaleSearch<T>& search, Course<T>& course, Team& team) {
  try {
    const double distance = search.distance();
    team.vote();
    return distance;
  } catch (...) {
    course.take_back();
    throw;
  }
}

/// Integrates the shape of the density out of the posterior, if that is at its optimum; fails on all ranks.
template <class T>
void integrate_shape(ScaleSearch<T>& search, Searched<T>& searched, Team& team) {
  try {
    const double before = searched.elbo.kl(*searched.q);
    if (search.integrate_shape())
      searched.course.replace(*searched.q, searched.elbo.kl(*searched.q) - before);
    team.vote();
  } catch (...) {
    searched.course.take_back();
    throw;
  }
}

/// Starts the noise, of each of several outputs by itself unless the caller has set it.
template <class T>
void start_noises_apart(Optimizer<T>& optimizer, DataSet& data) {
  start_noise(optimizer, data);
  Likelihood& likelihood = optimizer.model()->likelihood;
  const std::vector<double> now(likelihood.noise_precision().begin(), likelihood.noise_precision().end());
  if (likelihood.noise_covariance().given() && optimizer.options().learn_prior)
    likelihood.learn_noise_precision(now);  // evidence has independent noises
  if (!likelihood.noise_is_set() || likelihood.noise_origin() == NoiseOrigin::caller || now.size() != 1 ||
      likelihood.kind() != BDL_GAUSSIAN || likelihood.targets() == 1)
    return;
  const std::vector<double> each(static_cast<std::size_t>(likelihood.targets()),
                                 likelihood.noise_precision(0));
  likelihood.learn_noise_precision(each);
}

}  // namespace

template <class T>
Status fit_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const ExactCalls& calls) {
  Team& team = optimizer.team;
  Undo undo(optimizer);
  std::optional<Searched<T>> searched;
  const ThreadLimit threads(optimizer.options().threads);
  start_weights(optimizer, data, calls.shards);
  team.attempt([&] { begin_course(optimizer, epochs, data.rows(), 1, calls.shards); });
  start_units(optimizer, data);
  team.attempt([&] { searched.emplace(optimizer, undo, data, calls); });
  team.vote();
  start_noises_apart(optimizer, data);
  start_shape(optimizer, data);
  searched->elbo.set_likelihood(optimizer.model()->likelihood);
  TrainingState& state = optimizer.state;
  Course<T>& course = searched->course;
  state.distance = HUGE_VAL;
  ScaleSearch<T> search(searched->elbo, *searched->q, optimizer, data);
  const SearchEnd end =
      search.run([&course](const auto& better, const auto& value) { return course.advance(better, value); });
  team.vote();
  if (end == SearchEnd::stuck && !course.has_advanced())
    fail(Status::ERROR_DIVERGED, "no step raises the ELBO");
  undo.keep();
  if (!course.was_stopped())
    state.distance = end == SearchEnd::converged ? 0 : distance_of(search, course, team);
  if (!course.was_stopped()) search.count_degrees();
  if (state.distance <= near_optimum) integrate_shape(search, *searched, team);
  if (end != SearchEnd::stopped) end_course(optimizer);
  return course.was_stopped() ? Status::STOPPED : Status::OK;
}

#define BDL_INSTANTIATE(T) template Status fit_exactly(Optimizer<T>&, DataSet&, Index, const ExactCalls&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
