#include "inference/batch/kronecker_descent.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "inference/methods/schedule.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

Index values_of(const MatrixShape& shape) {
  return shape.is_matrix() ? shape.columns() + shape.outputs : 0;
}

template <class T>
KroneckerPosterior<T>& matrix_of(BlocksPosterior<T>& q, std::size_t k) {
  return dynamic_cast<KroneckerPosterior<T>&>(q.member(static_cast<Index>(k)));
}

template <class T>
void check_finite(ConstSpan<T> values, const char* what, Index number) {
  const auto bad = std::ranges::find_if(values, [](T value) { return !std::isfinite(value); });
  if (bad != values.end())
    fail(Status::ERROR_DIVERGED, "the %s of parameter %lld (counting from 0) is not finite after step %lld",
         what, static_cast<long long>(bad - values.begin()), static_cast<long long>(number));
}

}  // namespace

Index eigenvalue_count(const std::vector<MatrixShape>& shapes) {
  Index sum = 0;
  for (const MatrixShape& shape : shapes) sum += values_of(shape);
  return sum;
}

template <class T>
void start_near(const BlocksPosterior<T>& prior, T added, BlocksPosterior<T>& q) {
  for (Index k = 0; k < q.block_count(); ++k)
    if (auto* const member = dynamic_cast<KroneckerPosterior<T>*>(&q.member(k)))
      member->set_precision(as_kronecker(prior.member(k)), added);
}

template <class T>
void KroneckerDescent<T>::reserve(const Posterior<T>& q, const BlockedRows<T>&, bool has_prior) {
  if (shapes_.empty()) shapes_ = q.kind().matrices;
  Index largest = 0;
  for (const MatrixShape& shape : shapes_) {
    if (!shape.is_matrix()) continue;
    largest = std::max({largest, shape.columns(), shape.outputs});
    if (has_prior) joint_.reserve(shape);
  }
  if (!has_prior) eigen_.reserve(largest);
  for (KroneckerAverages<T>* averages : {&now_, &next_}) {
    if (has_prior) averages->prior.reserve(q.dimension());
    if (averages == &now_ && averages->steps > 0) continue;  // it holds them
    averages->momentum.reserve(q.dimension());
    averages->point_squares.reserve(q.points().parameters());
    averages->factors.reserve(shapes_);
    averages->eigenvalues.reserve(eigenvalue_count(shapes_));
  }
  direction_.reserve(q.dimension());
  q.reserve(1, of_posterior_);
  q.reserve_marginals(of_posterior_);
}

template <class T>
ConstSpan<double> KroneckerDescent<T>::input_values(std::size_t k) const {
  const double* at = next_.eigenvalues.data();
  for (std::size_t j = 0; j < k; ++j) at += values_of(shapes_[j]);
  return {at, static_cast<std::size_t>(shapes_[k].columns())};
}

template <class T>
ConstSpan<double> KroneckerDescent<T>::output_values(std::size_t k) const {
  const ConstSpan<double> inputs = input_values(k);
  return {inputs.data() + inputs.size(), static_cast<std::size_t>(shapes_[k].outputs)};
}

template <class T>
void KroneckerDescent<T>::move(const DescentStep<T>& step, const KroneckerStep<T>& more,
                               const Options& options, Posterior<T>& to) {
  reserve(step.from, more.rows, more.prior != nullptr);
  const auto& from = dynamic_cast<const BlocksPosterior<T>&>(step.from);
  auto& out = dynamic_cast<BlocksPosterior<T>&>(to);
  next_.steps = now_.steps + 1;
  const MomentumTerms momentum = momentum_terms(options, next_.steps);
  average_factors(step, more, options);
  average_momentum(step, more, momentum);
  find_vectors(step, more, options, out);
  const bool is_split = options.damping_form == DampingForm::split;
  const Added in_step{options.damping, more.temperature / step.data_size, is_split},
      in_precision{options.damping_in == DampingIn::both ? options.damping : 0,
                   more.next_temperature / step.data_size, is_split};
  const T scale = static_cast<T>(step.data_size / more.next_temperature);
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    if (!shapes_[k].is_matrix()) continue;
    KroneckerPosterior<T>& member = matrix_of(out, k);
    const Index offset = from.offset(static_cast<Index>(k));
    const PriorPart prior{offset, step.prior_precision.subspan(at(offset), at(member.dimension()))};
    const MatrixView<T> curvature = member.precision();
    write_curvature(k, member, prior, in_step, curvature);
    find_direction(offset, member);
    write_curvature(k, member, prior, in_precision, curvature);
    std::transform(curvature.data, curvature.data + curvature.size(), curvature.data,
                   [scale](T value) { return scale * value; });
    member.finish();
  }
  find_point_directions(step, more, options);
  move_mean(step, momentum.factor, options.kl_clip, to.mean());
}

/// Shortened where the step would change the model by more than kappa: its KL divergence is about half of
/// length^2 <m, direction>.
template <class T>
void KroneckerDescent<T>::move_mean(const DescentStep<T>& step, double factor, double most, std::span<T> to) {
  const Index dimension = step.from.dimension();
  const T *const m = next_.momentum.data(), *const direction = direction_.data(),
                 *const old = step.from.mean().data();
  double product = 0;
  for (Index i = 0; i < dimension; ++i)
    product += static_cast<double>(m[i]) * static_cast<double>(direction[i]);
  const double change = std::pow(step.rate * factor, 2) * product;
  shortening_ = most > 0 && change > most ? std::sqrt(most / change) : 1;
  const T length = static_cast<T>(step.rate * factor * shortening_);
  T* const mean = to.data();
  for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * direction[i]; });
  check_finite<T>(to, "mean", step.number);
  check_finite<T>(next_.momentum.first(dimension), "gradient's average", step.number);
}

/// The first ones as they are, or as the first of averages that begin with initial_curvature.
template <class T>
void KroneckerDescent<T>::average_factors(const DescentStep<T>& step, const KroneckerStep<T>& more,
                                          const Options& options) {
  const bool is_first = now_.steps == 0, is_due = renews_factors(options);
  const double rate = is_first ? 1 : is_due ? options.curvature_rate : 0;
  double* const values = next_.factors.values().data();
  const double* const before = now_.factors.values().data();
  for_each_index(next_.factors.size(),
                 [=](Index i) BDL_INLINE_LAMBDA { values[i] = is_first ? 0 : (1 - rate) * before[i]; });
  if (is_due) add_factors(more.rows, rate, rate / step.data_size, more.w, next_.factors, scratch_);
  if (is_first && options.initial_curvature > 0)
    join_start(options.initial_curvature, options.curvature_rate);
  std::copy_n(now_.eigenvalues.data(), is_first ? 0 : eigenvalue_count(shapes_), next_.eigenvalues.data());
}

/// The averages were a I and b I before, a b the initial curvature, a the mean eigenvalue of the first Omega.
template <class T>
void KroneckerDescent<T>::join_start(double initial, double rate) {
  const auto join = [rate](MatrixView<double> factor, double diagonal) {
    for (Index j = 0; j < factor.cols; ++j) {
      for (Index i = j; i < factor.rows; ++i) factor(i, j) *= rate;
      factor(j, j) += (1 - rate) * diagonal;
    }
  };
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    if (!shapes_[k].is_matrix()) continue;
    const MatrixView<double> omega = next_.factors.omega(k);
    double mean = 0;
    for (Index i = 0; i < omega.rows; ++i) mean += omega(i, i) / static_cast<double>(omega.rows);
    if (!(mean > 0)) mean = 1;
    join(omega, mean);
    join(next_.factors.gamma(k), initial / mean);
  }
}

/// m = keep m + add (g + reg (mean - mu_0)), per example; points have no prior.
template <class T>
void KroneckerDescent<T>::average_momentum(const DescentStep<T>& step, const KroneckerStep<T>& more,
                                           const MomentumTerms& terms) {
  const T *const g = step.gradient.data(), *const pull = more.prior_slope.data(),
                 *const old = now_.steps > 0 ? now_.momentum.data() : nullptr;
  const T keep = static_cast<T>(terms.keep), add = static_cast<T>(terms.add),
          each = static_cast<T>(1 / step.data_size), reg = static_cast<T>(more.temperature / step.data_size);
  T* const m = next_.momentum.data();
  for_each_index(step.from.dimension(), [=](Index i) BDL_INLINE_LAMBDA {
    m[i] = keep * (old ? old[i] : T(0)) + add * (each * g[i] + reg * pull[i]);
  });
}

/// Those of the new factors, or the posterior's as they are.
template <class T>
void KroneckerDescent<T>::find_vectors(const DescentStep<T>& step, const KroneckerStep<T>& more,
                                       const Options& options, BlocksPosterior<T>& to) {
  const auto& from = dynamic_cast<const BlocksPosterior<T>&>(step.from);
  const bool are_due = now_.steps == 0 || now_.steps % options.eigen_interval == 0;
  next_.knows_prior = more.prior != nullptr;
  const bool has_prior = !are_due && next_.knows_prior && now_.knows_prior;
  if (has_prior) std::copy_n(now_.prior.data(), step.from.dimension(), next_.prior.data());
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    if (!shapes_[k].is_matrix()) continue;
    const auto number = static_cast<Index>(k);
    KroneckerPosterior<T>& member = matrix_of(to, k);
    const KroneckerPosterior<T>* const prior =
        more.prior ? &as_kronecker(more.prior->member(number)) : nullptr;
    if (are_due)
      find_vectors(k, prior, more.temperature / step.data_size, member);
    else
      member.copy_vectors(as_kronecker(from.member(number)));
    if (prior && !has_prior)
      member.diagonal_in_basis(*prior, prior_along(k, from.offset(number)), of_posterior_);
  }
}

/// Of the factors, and of a prior of the family with them.
template <class T>
void KroneckerDescent<T>::find_vectors(std::size_t k, const KroneckerPosterior<T>* prior, double reg,
                                       KroneckerPosterior<T>& to) {
  double *const inputs = next_.eigenvalues.data() + (input_values(k).data() - next_.eigenvalues.data()),
                *const outputs = inputs + shapes_[k].columns();
  if (prior) {
    joint_.compute(next_.factors.omega(k), next_.factors.gamma(k), *prior, reg, to);
    std::ranges::copy(joint_.input_values(), inputs);
    std::ranges::copy(joint_.output_values(), outputs);
    return;
  }
  const auto find = [&](ConstMatrixView<double> factor, double* values, MatrixView<T> vectors) {
    eigen_.compute(factor);
    std::ranges::copy(eigen_.values(), values);
    std::copy_n(eigen_.vectors().data, vectors.size(), vectors.data);
  };
  find(next_.factors.omega(k), inputs, to.input_vectors());
  find(next_.factors.gamma(k), outputs, to.output_vectors());
}

template <class T>
MatrixView<T> KroneckerDescent<T>::prior_along(std::size_t k, Index offset) {
  return {next_.prior.data() + offset, shapes_[k].columns(), shapes_[k].outputs};
}

/// What of the prior's precision is diagonal along the pairs of eigenvectors.
template <class T>
void KroneckerDescent<T>::write_prior(std::size_t k, const KroneckerPosterior<T>& posterior,
                                      const PriorPart& prior, MatrixView<T> out) {
  if (next_.knows_prior)
    std::copy_n(prior_along(k, prior.offset).data, out.size(), out.data);
  else
    posterior.diagonal_in_basis(prior.precision, out, of_posterior_);
}

template <class T>
void KroneckerDescent<T>::write_curvature(std::size_t k, const KroneckerPosterior<T>& posterior,
                                          const PriorPart& prior, const Added& added, MatrixView<T> out) {
  const ConstSpan<double> lo = input_values(k), lg = output_values(k);
  if (!added.is_split) {
    write_prior(k, posterior, prior, out);
    for (Index o = 0; o < out.cols; ++o)
      for (Index j = 0; j < out.rows; ++j)
        out(j, o) = static_cast<T>(lo[at(j)] * lg[at(o)] + added.damping +
                                   added.reg * static_cast<double>(out(j, o)));
    return;
  }
  double mean = 0;
  for (const T value : prior.precision) mean += static_cast<double>(value);
  mean /= static_cast<double>(prior.precision.size());
  const SplitDamping split = split_damping(lo, lg, added.damping + added.reg * mean);
  for (Index o = 0; o < out.cols; ++o)
    for (Index j = 0; j < out.rows; ++j)
      out(j, o) = static_cast<T>((lo[at(j)] + split.omega) * (lg[at(o)] + split.gamma));
}

/// Curvature^-1 m.
template <class T>
void KroneckerDescent<T>::find_direction(Index offset, const KroneckerPosterior<T>& posterior) {
  const MatrixView<T> column(direction_.data() + offset, posterior.dimension(), 1);
  std::copy_n(next_.momentum.data() + offset, column.rows, column.data);
  posterior.solve(column, of_posterior_);
}

/// An OGN step: m / (s + gamma), without a prior.
template <class T>
void KroneckerDescent<T>::find_point_directions(const DescentStep<T>& step, const KroneckerStep<T>& more,
                                                const Options& options) {
  const bool is_first = now_.steps == 0, begins = is_first && options.initial_curvature > 0;
  const double rate = is_first && !begins ? 1 : options.curvature_rate;
  const T damping = static_cast<T>(options.point_damping), keep = static_cast<T>(1 - rate),
          add = static_cast<T>(rate / step.data_size), initial = static_cast<T>(options.initial_curvature);
  Index k = 0;
  for (const auto& [offset, size] : step.from.points().ranges)
    for (Index i = offset; i < offset + size; ++i, ++k) {
      T& s = next_.point_squares.data()[k];
      s = keep * (is_first ? initial : now_.point_squares.data()[k]) + add * more.point_squares[at(k)];
      direction_.data()[i] = next_.momentum.data()[i] / (s + damping);
    }
}

template void start_near(const BlocksPosterior<float>&, float, BlocksPosterior<float>&);
template void start_near(const BlocksPosterior<double>&, double, BlocksPosterior<double>&);
template class KroneckerDescent<float>;
template class KroneckerDescent<double>;

}  // namespace bdl
