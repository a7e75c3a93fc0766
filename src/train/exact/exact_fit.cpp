#include "train/exact/exact_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "likelihood/shape.hpp"
#include "methods/schedule.hpp"
#include "optimize/minimize.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"
#include "train/exact/accelerated.hpp"
#include "train/exact/accelerated_steps.hpp"
#include "train/exact/descent_search.hpp"
#include "train/exact/evidence_search.hpp"
#include "train/exact/full_coordinates.hpp"
#include "train/exact/low_rank_coordinates.hpp"
#include "train/exact/noise_root.hpp"
#include "train/scales.hpp"
#include "train/sharding.hpp"
#include "train/undo.hpp"
#include "train/units.hpp"

namespace bdl {
namespace {

/// Largest number of projected natural-gradient steps before the search over low-rank posteriors, the gain
/// (in nats) that makes one more worth taking, and the smallest fraction of one.
constexpr int most_first_steps = 30;
constexpr double worthwhile = 1e-3, least_part = 1.0 / 64;

/// Learned noise has at least this fraction of the targets' variance.
constexpr double least_noise = 1e-12;

/// Distance from the best shape, in standard deviations, at which a search ends.
constexpr double near_shape = 1e-8;

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

/// Takes natural-gradient steps, from a start that suits the likelihood, until they gain no more.
SearchEnd step_naturally(ExactElbo& elbo, Posterior<double>& q, const Options& options,
                         const Iterated& iterated) {
  FixedPoint point(elbo, q, projection_options(options));
  if (point.begin() && iterated(q, point.value())) return SearchEnd::stopped;
  if (q.takes_matrix() || elbo.fits_rank(q.rank())) return converge(point, options.tolerance, q, iterated);
  for (double part = 1, steps = 0; steps < most_first_steps && part >= least_part;) {
    if (!point.step(part, worthwhile)) {
      part /= 2;
      continue;
    }
    ++steps;
    if (iterated(q, point.value())) return SearchEnd::stopped;
  }
  return SearchEnd::stuck;
}

/// Calls search(descent) with the descent for this family.
template <class Search>
auto by_descent(ExactElbo& elbo, Posterior<double>& q, double tolerance, const Iterated& iterated,
                Search&& search) {
  if (q.takes_matrix()) {
    FullCoordinates coordinates(elbo, q);
    DescentSearch descent(coordinates, q, tolerance, iterated, DescentSearch::pairs_for(coordinates.size()));
    return search(descent);
  }
  LowRankCoordinates coordinates(elbo, dynamic_cast<LowRankPosterior<double>&>(q));
  DescentSearch descent(coordinates, q, tolerance, iterated);
  return search(descent);
}

SearchEnd search(ExactElbo& elbo, Posterior<double>& q, const Options& options, const Iterated& iterated) {
  const SearchEnd end = step_naturally(elbo, q, options, iterated);
  if (end != SearchEnd::stuck) return end;
  if (elbo.has_approximate_integrals() && has_whole_covariance(q))
    return Accelerated(elbo, q).run(options.tolerance, iterated);
  return by_descent(elbo, q, options.tolerance, iterated,
                    [](DescentSearch& descent) { return descent.run(); });
}

/// Finds the optimum over q, and over the noise precision or the shape of the density if they are learned.
template <class T>
class NoiseSearch {
 public:
  NoiseSearch(ExactElbo& elbo, Posterior<double>& q, Optimizer<T>& optimizer, DataSet& data)
      : elbo_(elbo), q_(q), optimizer_(optimizer) {
    const Likelihood& likelihood = optimizer.model()->likelihood;
    learns_ = optimizer.options().learn_noise && likelihood.kind() == BDL_GAUSSIAN &&
              !likelihood.noise_covariance().given();
    learns_shape_ = optimizer.options().learn_shape && has_shape(likelihood.kind());
    if (!learns_) return;
    // Targets on a straight line would have no noise.
    most_ = std::log(1 / (least_noise * variance_of_targets(optimizer, data)));
    roots_.resize(likelihood.noise_precision().size());
    logs_.resize(roots_.size());
    best_.resize(roots_.size());
  }

  SearchEnd run(const Iterated& iterated) {
    const Options& options = optimizer_.options();
    if (options.learn_prior && !optimizer_.prior().is_fixed()) {
      evidence_.emplace(optimizer_, elbo_, q_, learns_, std::exp(most_));
      const auto inner = [&](const Iterated& each) {
        return learns_shape_ ? run_with_shape(each) : search(elbo_, q_, options, each);
      };
      return evidence_->run(inner, iterated);
    }
    if (learns_shape_) return run_with_shape(iterated);
    // A fit of few epochs may have ended before the noise was learned from its posterior.
    if (learns_ && optimizer_.state.step > 0) {
      find_best();
      for (std::size_t c = 0; c < best_.size(); ++c) best_[c] = logs_[c] + (best_[c] - logs_[c]);
      set_log_precision(best_);
    }
    for (;;) {
      const SearchEnd end = search(elbo_, q_, options, iterated);
      if (!learns_ || end != SearchEnd::converged) return end;
      find_best();
      const double error = largest_residual();
      std::vector<double> next(roots_.size());
      for (std::size_t c = 0; c < next.size(); ++c)
        next[c] = std::min(roots_[c].next(logs_[c], best_[c] - logs_[c]), most_);
      if (error <= options.tolerance) return end;
      // fit_exactly() then measures the distance
      if (std::ranges::all_of(roots_, [](const NoiseRoot& root) { return root.is_settled(); }))
        return SearchEnd::stuck;
      set_log_precision(next);
    }
  }

  /// Says how well the noise is known, after run() or distance().
  void count_degrees() {
    if (!learns_) return;
    if (evidence_) elbo_.evaluate(q_);
    optimizer_.model()->likelihood.set_noise_degrees(elbo_.noise_degrees(evidence_.has_value()));
  }

  /// Returns the distance from the optimum: the length of the natural gradient in posterior standard
  /// deviations, or the error of log tau in units of sqrt(2 / N), whichever is larger.
  double distance() {
    const auto ignored = [](const auto&, const auto&) { return true; };
    const double of_q =
        by_descent(elbo_, q_, 0, ignored, [](DescentSearch& descent) { return descent.length(); });
    const double of_shape = learns_shape_ ? next_shape().distance : 0;
    if (evidence_) return std::max({of_q, of_shape, evidence_->distance()});
    if (learns_shape_) return std::max(of_q, of_shape);
    if (!learns_) return of_q;
    find_best();
    const double rows = optimizer_.data_weight();
    double of_noise = 0;
    for (std::size_t c = 0; c < roots_.size(); ++c)
      of_noise = std::max(of_noise, std::abs(roots_[c].next(logs_[c], best_[c] - logs_[c]) - logs_[c]));
    return std::max(of_q, std::sqrt(rows / 2) * of_noise);
  }

 private:
  /// Alternates between the optimal q, at first roughly, and accelerated steps of the shape.
  SearchEnd run_with_shape(const Iterated& iterated) {
    constexpr int most_rounds = 1000;
    constexpr std::size_t most_points = 6;
    constexpr double rough = 1e-3;  // of the distance to the best shape
    Options options = optimizer_.options();
    const double least = options.tolerance;
    options.tolerance = std::max(least, rough);
    AcceleratedSteps steps(most_points);
    // A fit of few epochs may have ended before the shape was learned from its posterior.
    if (optimizer_.state.step > 0) set_shape(next_shape().shape);
    for (int round = 0; round < most_rounds; ++round) {
      const SearchEnd end = search(elbo_, q_, options, iterated);
      if (end == SearchEnd::stopped) return end;
      const ShapeStep step = next_shape();
      const bool is_near = step.distance <= std::max(least, near_shape);
      if (is_near && options.tolerance == least) return end;
      options.tolerance = is_near ? least : std::max(least, std::min(rough, rough * step.distance));
      set_shape(accelerated(optimizer_.model()->likelihood, step, steps));
    }
    return SearchEnd::stuck;
  }
  /// Returns the shape after an accelerated step, or after the plain one where that would be too long.
  static std::vector<double> accelerated(const Likelihood& likelihood, const ShapeStep& step,
                                         AcceleratedSteps& steps) {
    constexpr double longest = 10;  // plain steps
    const std::vector<double> now = learned_numbers(likelihood, likelihood.shape()),
                              plain = learned_numbers(likelihood, step.shape);
    std::vector<double> change(now.size());
    double size = 0, length = 0;
    for (std::size_t k = 0; k < now.size(); ++k) change[k] = plain[k] - now[k];
    const std::vector<double> next = steps.next(now, change);
    for (std::size_t k = 0; k < now.size(); ++k) {
      size = std::max(size, std::abs(change[k]));
      length = std::max(length, std::abs(next[k] - now[k]));
    }
    if (length <= longest * size && are_learned_numbers(likelihood, next)) return shape_of(likelihood, next);
    steps.forget();
    return step.shape;
  }
  void set_shape(ConstSpan<double> shape) {
    Likelihood next = optimizer_.model()->likelihood;
    next.learn_shape(shape);
    elbo_.set_likelihood(next);
    optimizer_.team.vote();
    optimizer_.model()->likelihood = std::move(next);
  }
  ShapeStep next_shape() {
    const Model<T>& model = *optimizer_.model();
    return shape_step(model.likelihood, elbo_.shape_sums(q_), 1, has_intercept(model));
  }
  /// Finds the logs of the present noise precisions, and of those that suit the posterior best.
  void find_best() {
    const Likelihood& likelihood = optimizer_.model()->likelihood;
    elbo_.best_noise_precision(elbo_.evaluate(q_), best_);
    for (std::size_t c = 0; c < logs_.size(); ++c) {
      logs_[c] = std::log(likelihood.noise_precision(static_cast<Index>(c)));
      best_[c] = std::min(std::log(best_[c]), most_);
    }
  }
  double largest_residual() const {
    double largest = 0;
    for (std::size_t c = 0; c < logs_.size(); ++c) largest = std::max(largest, std::abs(best_[c] - logs_[c]));
    return largest;
  }
  void set_log_precision(ConstSpan<double> logs) {
    std::vector<double> precision(logs.size());
    std::ranges::transform(logs, precision.begin(), [](double t) { return std::exp(t); });
    Likelihood next = optimizer_.model()->likelihood;
    next.learn_noise_precision(precision);
    elbo_.set_noise_precision(precision);
    optimizer_.team.vote();
    optimizer_.model()->likelihood = std::move(next);
  }
  ExactElbo& elbo_;
  Posterior<double>& q_;
  Optimizer<T>& optimizer_;
  bool learns_ = false, learns_shape_ = false;
  double most_ = 0;
  std::optional<EvidenceSearch<T>> evidence_;  // if the prior is learned
  std::vector<NoiseRoot> roots_;
  std::vector<double> logs_, best_;  // of the noise precisions: the present ones, and the best for q
};

/// Measures the distance on all ranks; if one fails, all undo the last iteration.
template <class T>
double distance_of(NoiseSearch<T>& search, Course<T>& course, Team& team) {
  try {
    const double distance = search.distance();
    team.vote();
    return distance;
  } catch (...) {
    course.take_back();
    throw;
  }
}

/// Starts the noise, of each of several outputs by itself unless the caller has set it.
template <class T>
void start_noises_apart(Optimizer<T>& optimizer, DataSet& data) {
  const bool is_set = optimizer.model()->likelihood.noise_is_set();
  start_noise(optimizer, data);
  Likelihood& likelihood = optimizer.model()->likelihood;
  if (is_set || !likelihood.noise_is_set() || likelihood.kind() != BDL_GAUSSIAN || likelihood.targets() == 1)
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
  NoiseSearch<T> search(searched->elbo, *searched->q, optimizer, data);
  const SearchEnd end =
      search.run([&course](const auto& better, const auto& value) { return course.advance(better, value); });
  team.vote();
  if (end == SearchEnd::stuck && !course.has_advanced())
    fail(Status::ERROR_DIVERGED, "no step raises the ELBO");
  undo.keep();
  if (!course.was_stopped())
    state.distance = end == SearchEnd::converged ? 0 : distance_of(search, course, team);
  if (!course.was_stopped()) search.count_degrees();
  if (end != SearchEnd::stopped) end_course(optimizer);
  return course.was_stopped() ? Status::STOPPED : Status::OK;
}

#define BDL_INSTANTIATE(T) template Status fit_exactly(Optimizer<T>&, DataSet&, Index, const ExactCalls&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
