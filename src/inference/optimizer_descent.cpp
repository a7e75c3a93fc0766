// Which way a step moves: slopes with prior and momentum, the rates of the next step, and steps by SGD, Adam,
// VOGN, IVON or Kronecker factors in place of the family's own.
#include <algorithm>
#include <cmath>

#include "inference/methods/rule.hpp"
#include "inference/optimizer.hpp"
#include "parallel/parallel.hpp"

namespace bdl {

template <class T>
void Optimizer<T>::descend(const Evidence<T>& evidence) {
  part_ = 1;
  if (is_newton()) return descend_newton(evidence);
  if (is_kronecker()) return descend_kronecker(evidence);
  const double weight = kl_weight(options_, state.plan, state.step + 1);
  const DescentStep<T> step{*posterior_,
                            penalized(evidence.gradient, weight),
                            prior_.precision(),
                            static_cast<double>(data_size_),
                            mean_rate(),
                            state.step + 1,
                            weight,
                            weight > 0 ? weight : 1};
  if (rule() == Rule::map)
    work_.first_order.move_mean(step, options_);
  else if (evidence.noise)
    work_.first_order.move_low_rank(step, *evidence.noise, options_, *work_.next);
  else
    work_.first_order.move_diagonal(step, evidence.curvature, options_, *work_.next);
}

/// The prior's slope alone.
template <class T>
ConstSpan<T> Optimizer<T>::prior_pull(const Evidence<T>& evidence) {
  const auto pull = work_.slope.first(posterior_->dimension());
  prior_.slope(std::as_const(*posterior_).mean(), T(0), evidence.gradient, pull);
  return pull;
}

/// Of the points' gradients, summed.
template <class T>
ConstSpan<T> Optimizer<T>::point_squares() {
  const auto squares = work_.point_squares.first(posterior_->points().parameters());
  if (is_sharded() && !exchanges_rows())
    std::ranges::copy(work_.sums.values().last(squares.size()), squares.begin());
  else if (!squares.empty())
    work_.evidence->point_squares(squares);
  return squares;
}

template <class T>
void Optimizer<T>::descend_kronecker(const Evidence<T>& evidence) {
  const DescentStep<T> step{*posterior_,        evidence.gradient,
                            prior_.precision(), static_cast<double>(data_size_),
                            mean_rate(),        state.step + 1};
  work_.kronecker.move(step,
                       {work_.evidence->blocks(), evidence.curvature.w, prior_pull(evidence), point_squares(),
                        kl_weight(options_, state.plan, state.step + 1),
                        kl_weight(options_, state.plan, state.step + 2), kronecker_prior()},
                       options_, *work_.next);
}

/// Null: the prior is diagonal.
template <class T>
const BlocksPosterior<T>* Optimizer<T>::kronecker_prior() const {
  const Posterior<T>* const belief = prior_.belief();
  return belief && !belief->is_diagonal() ? &as_blocks(*prior_.belief_in_family()) : nullptr;
}

template <class T>
void Optimizer<T>::descend_newton(const Evidence<T>& evidence) {
  const NewtonStep<T> newton{prior_pull(evidence),
                             point_squares(),
                             newton_rate(),
                             kl_weight(options_, state.plan, state.step + 1),
                             kl_weight(options_, state.plan, state.step + 2),
                             state.is_fresh && options_.initial_precision == 0};
  const DescentStep<T> step{*posterior_,        evidence.gradient,
                            prior_.precision(), static_cast<double>(data_size_),
                            mean_rate(),        state.step + 1};
  work_.first_order.move_newton(step, newton, evidence.curvature, options_, *work_.next);
}

template <class T>
double Optimizer<T>::newton_rate() const {
  return options_.start_share > 0 ? curvature_rate() : options_.curvature_rate;
}

/// What the next step keeps of the initial precision. A curvature that begins with the first minibatch's has
/// nothing of it; Kronecker factors are renewed every so many steps.
template <class T>
double Optimizer<T>::start_kept() const {
  const bool is_learned = options_.initial_precision == 0 && options_.initial_curvature == 0;
  if (is_newton()) return state.is_fresh && is_learned ? 0 : std::max(0.0, 1 - newton_rate());
  if (is_kronecker()) return 1 - options_.curvature_rate / static_cast<double>(options_.factor_interval);
  return std::max(0.0, 1 - part_ * curvature_rate());
}

/// The length of the next step.
template <class T>
double Optimizer<T>::mean_rate() const {
  const double factor =
      rate_factor(options_, state.plan, state.step + 1) * warmup_factor(options_, state.plan, state.step + 1);
  return std::ldexp(factor * options_.learning_rate, -static_cast<int>(state.rate_cuts));
}

/// gradient / weight, with that of minus the expected log prior; without one where that has no weight.
template <class T>
ConstSpan<T> Optimizer<T>::penalized(ConstSpan<T> gradient, double weight) {
  if (!(weight > 0)) return gradient;
  const auto slope = work_.slope.first(posterior_->dimension());
  const ConstSpan<T> mean = std::as_const(*posterior_).mean();
  if (const auto* const dropout = find_dropout(*posterior_)) {
    dropout->weigh_prior(prior_.precision(), slope);
    prior_.slope(mean, gradient, slope, slope);
  } else if (weight != 1) {
    prior_.slope(mean, static_cast<T>(1 / weight), gradient, slope);
  } else {
    prior_.slope(mean, gradient, prior_.precision(), slope);
  }
  if (rule() == Rule::map && options_.point_decay > 0) {
    const T decay = static_cast<T>(options_.point_decay * static_cast<double>(data_size_) / weight);
    for (const auto& [offset, size] : posterior_->points().ranges)
      for (Index i = offset; i < offset + size; ++i) slope[at(i)] += decay * mean[at(i)];
  }
  return slope;
}

/// The gradient with momentum, plus the prior's share; for points what their variance of 1 makes a step of
/// the right length.
template <class T>
ConstSpan<T> Optimizer<T>::slope(ConstSpan<T> gradient) {
  const Index dimension = posterior_->dimension();
  const MomentumTerms momentum = momentum_terms(options_, state.momentum_steps + 1);
  const double kept = state.momentum_steps > 0 ? momentum.keep : 0;
  const T *old = momentum_.data(), *from = gradient.data();
  T* const next = work_.next_momentum.data();
  const T keep = static_cast<T>(kept), add = static_cast<T>(momentum.add);
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { next[i] = keep * old[i] + add * from[i]; });
  prior_.slope(std::as_const(*posterior_).mean(), static_cast<T>(momentum.factor),
               work_.next_momentum.first(dimension), work_.slope.first(dimension));
  if (scales_points()) {
    const PointLayout& points = posterior_->points();
    work_.evidence->point_squares(work_.point_steps.squares(points.parameters()));
    work_.point_steps.slope(points,
                            {curvature_rate(), static_cast<double>(data_size_), options_.point_damping},
                            work_.slope.first(dimension));
  }
  return work_.slope.first(dimension);
}

/// Plain gradients take steps of their own.
template <class T>
bool Optimizer<T>::scales_points() const {
  return !posterior_->points().ranges.empty() && !is_first_order() && descent_of(rule()) == Descent::natural;
}

#define BDL_INSTANTIATE(T)                                                  \
  template void Optimizer<T>::descend(const Evidence<T>&);                  \
  template const BlocksPosterior<T>* Optimizer<T>::kronecker_prior() const; \
  template double Optimizer<T>::newton_rate() const;                        \
  template double Optimizer<T>::start_kept() const;                         \
  template double Optimizer<T>::mean_rate() const;                          \
  template ConstSpan<T> Optimizer<T>::slope(ConstSpan<T>);                  \
  template bool Optimizer<T>::scales_points() const;
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
