#include "inference/exact/exact_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "inference/exact/low_rank_search.hpp"
#include "inference/methods/rule.hpp"
#include "inference/undo.hpp"
#include "parallel/parallel.hpp"
#include "posterior/families.hpp"

namespace bdl {
namespace {

/// Natural-gradient steps with projection from which the search over low-rank posteriors starts, the gain (in
/// nats) that makes one more worth taking, and the smallest part of one.
constexpr int most_first_steps = 30;
constexpr double worthwhile = 1e-3, least_part = 1.0 / 64;

/// Learned noise has at least this share of the targets' variance.
constexpr double least_noise = 1e-12;

/// The optimizer between the iterations of a search: it has the belief of the last one.
template <class T>
class Course {
 public:
  Course(Optimizer<T>& optimizer, Undo<T>& undo, const ExactCalls& calls)
      : optimizer_(optimizer), undo_(undo), calls_(calls), next_(optimizer.posterior()->clone()) {}

  /// The iteration becomes the optimizer's. True if it was the last one or training is to stop.
  bool advance(const Posterior<double>& q, const ExactElbo::Value& value) {
    TrainingState& state = optimizer_.state;
    convert_tensors(q, *next_);
    optimizer_.team().vote();
    optimizer_.posterior()->swap(*next_);
    ++state.step;
    ++state.epoch;
    ++state.running_steps;
    state.running_log_likelihood = value.log_likelihood;
    state.start_weight = 0;
    undo_.keep();
    calls_.agree();
    const bool last = state.epoch >= state.fit_end_epoch;
    was_stopped_ = should_stop(optimizer_, calls_.progress, false) && !last;
    return was_stopped_ || last;
  }
  bool was_stopped() const { return was_stopped_; }

 private:
  Optimizer<T>& optimizer_;
  Undo<T>& undo_;
  const ExactCalls& calls_;
  std::unique_ptr<Posterior<T>> next_;
  bool was_stopped_ = false;
};

template <class T>
RowShares shares_of(const Optimizer<T>& optimizer, Index rows, Index shards) {
  return {rows, shards, optimizer.team().rank(), optimizer.team().size()};
}

/// What a search needs before it begins: each rank has all of it, or none begins.
template <class T>
struct Searched {
  Searched(Optimizer<T>& optimizer, Undo<T>& undo, DataSet& data, const ExactCalls& calls)
      : elbo(*optimizer.model(), optimizer.prior().widened(optimizer.posterior()->kind()),
             shares_of(optimizer, data.rows(), calls.shards), optimizer.team()),
        q(converted<double>(std::as_const(*optimizer.posterior()))),
        course(optimizer, undo, calls) {
    elbo.reserve(*q);
    elbo.read_from(data, *optimizer.model());
  }
  ExactElbo elbo;
  std::unique_ptr<Posterior<double>> q;
  Course<T> course;
};

SearchEnd search(ExactElbo& elbo, Posterior<double>& q, const Options& options, const Iterated& iterated) {
  FixedPoint point(elbo, q, projection_options(options));
  if (q.takes_matrix()) return converge(point, options.tolerance, q, iterated);
  for (double part = 1, steps = 0; steps < most_first_steps && part >= least_part;) {
    if (!point.step(part, worthwhile)) {
      part /= 2;
      continue;
    }
    ++steps;
    if (iterated(q, point.value())) return SearchEnd::stopped;
  }
  return LowRankSearch(elbo, dynamic_cast<LowRankPosterior<double>&>(q), options.tolerance, iterated).run();
}

/// The optimum over the noise precision as well, by turns: the ELBO rises with each. Targets on a straight
/// line would have none, so there is a least noise.
template <class T>
SearchEnd search_with_noise(ExactElbo& elbo, Posterior<double>& q, Optimizer<T>& optimizer, DataSet& data,
                            const Iterated& iterated) {
  const Options& options = optimizer.options();
  Likelihood& likelihood = optimizer.model()->likelihood;
  const bool learns =
      options.learn_noise && likelihood.kind() == BDL_GAUSSIAN && !likelihood.noise_covariance().given();
  const double most_precision = learns ? 1 / (least_noise * optimizer.variance_of_targets(data)) : 0;
  for (;;) {
    const SearchEnd end = search(elbo, q, options, iterated);
    if (!learns || end != SearchEnd::converged) return end;
    const double last = likelihood.noise_precision(0),
                 best = std::min(elbo.best_noise_precision(elbo.evaluate(q)), most_precision);
    if (std::abs(best / last - 1) <= options.tolerance) return end;
    Likelihood next = likelihood;
    next.learn_noise_precision({&best, 1});
    elbo.set_noise_precision(best);
    optimizer.team().vote();
    likelihood = std::move(next);
  }
}

}  // namespace

template <class T>
Status fit_exactly(Optimizer<T>& optimizer, DataSet& data, Index epochs, const ExactCalls& calls) {
  Team& team = optimizer.team();
  Undo undo(optimizer);
  std::optional<Searched<T>> searched;
  const ThreadLimit threads(optimizer.options().threads);
  team.attempt([&] {
    begin_course(optimizer, epochs, data.rows(), 1, calls.shards);
  });
  if (optimizer.asks_targets()) optimizer.start_units(data);
  team.attempt([&] {
    searched.emplace(optimizer, undo, data, calls);
  });
  team.vote();
  optimizer.start_noise(data);
  searched->elbo.set_likelihood(optimizer.model()->likelihood);
  Course<T>& course = searched->course;
  const SearchEnd end = search_with_noise(
      searched->elbo, *searched->q, optimizer, data,
      [&course](const auto& better, const auto& value) { return course.advance(better, value); });
  team.vote();
  undo.keep();
  if (end == SearchEnd::converged) end_course(optimizer);
  return course.was_stopped() ? Status::STOPPED : Status::OK;
}

/// What a prior will hold, widened.
template <class T>
Index bytes_in_double(const Prior<T>& prior) {
  const auto wider = static_cast<Index>(sizeof(double) / sizeof(T));
  const MemoryPlan plan;
  typename Prior<T>::Scratch scratch;
  prior.reserve(scratch);
  return wider * (prior.bytes() + plan.bytes());
}

template <class T>
Index exact_fit_bytes(const Optimizer<T>& optimizer) {
  const std::unique_ptr<Posterior<double>> q = create_posterior<double>(optimizer.posterior()->kind());
  const RowShares shares = shares_of(optimizer, optimizer.data_size(), optimizer.planned_shards());
  const StepSize step = ExactElbo::step_size(*q, shares, projection_options(optimizer.options()));
  RowsUse use = q->use_of_rows(step);
  if (!q->takes_matrix()) use.vectors = std::max(use.vectors, q->rank());
  const Index course = optimizer.posterior()->bytes(), beliefs = q->bytes();
  return course + beliefs + bytes_in_double(optimizer.prior()) +
         ExactElbo::bytes(*optimizer.model(), *q, shares, use) + FixedPoint::bytes(*q, step) +
         (q->takes_matrix() ? 0 : LowRankSearch::bytes(q->dimension(), q->rank()));
}

#define BDL_INSTANTIATE(T)                                                        \
  template Status fit_exactly(Optimizer<T>&, DataSet&, Index, const ExactCalls&); \
  template Index exact_fit_bytes(const Optimizer<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
