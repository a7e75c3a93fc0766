// Steps of the families with low-rank and diagonal matrices, and what docs/theory/natural-gradients.md
// makes of them, in dense matrices.
#pragma once

#include "curvature/dense_rows.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace bdl::testing {

/// Sigma^-1 = U U^T + diag(d).
struct Factored {
  Dense mean, u, d;
  Dense precision() const { return u * transposed(u) + diagonal_matrix(d); }
  Dense covariance() const { return inverse_of(precision()); }
};

/// Numbers that T holds.
template <class T>
Factored random_factored(Index size, Index rank, Random& random) {
  const double unit = 1 / std::sqrt(static_cast<double>(size));
  Factored out{random.normal(size, 1, unit), random.normal(size, rank, unit),
               random.uniform(size, 1, 0.6, 1.4)};
  return {rounded<T>(out.mean), rounded<T>(out.u), rounded<T>(out.d)};
}

/// Rank 0: diagonal, in natural or in moment parameters.
template <class T>
std::unique_ptr<Posterior<T>> posterior_of(Family family, const Factored& q) {
  std::unique_ptr<Posterior<T>> out;
  if (family == Family::low_rank) {
    out = low_rank_of<T>(q.u, q.d);
  } else {
    auto moment = std::make_unique<DiagonalMomentPosterior<T>>(q.d.rows);
    std::vector<T> variance;
    for (const double d : q.d.values) variance.push_back(static_cast<T>(1 / d));
    moment->set_variance(variance);
    out = std::move(moment);
  }
  for (Index i = 0; i < q.mean.rows; ++i)
    out->mean()[static_cast<std::size_t>(i)] = static_cast<T>(q.mean(i, 0));
  return out;
}

template <class T>
Factored factored_of(const Posterior<T>& q) {
  if (const auto* low_rank = dynamic_cast<const LowRankPosterior<T>*>(&q))
    return {column_of(q.mean()), dense_of(low_rank->u()), column_of(low_rank->d())};
  Dense d = column_of(dynamic_cast<const DiagonalMomentPosterior<T>&>(q).variance());
  for (double& value : d.values) value = 1 / value;
  return {column_of(q.mean()), Dense(d.rows, 0), d};
}

enum class LossPrior { none, posterior, itself, diagonal };

/// A step, and all that it refers to.
template <class T>
struct FactoredProblem {
  Family family;
  Factored from, prior;
  Dense rows;
  Padded<T> w, m, prior_diagonal, diagonal;
  std::unique_ptr<Posterior<T>> old, prior_posterior;
  DenseRows<T> curvature_rows;
  LossPrior loss_prior = LossPrior::none;
  bool by_diagonal = false;  // the curvature is given as a diagonal, perhaps negative
  double mean_rate = 0.3, curvature_rate = 0.1;

  FactoredProblem(Family of, Index size, Index rank, Index count, std::uint64_t seed, double scale = 1)
      : FactoredProblem(of, size, rank, count, Random(seed), scale) {}

  PosteriorStep<T> step(Descent descent, MeanUpdate mean_update = MeanUpdate::projected) const {
    PosteriorStep<T> step{*old};
    step.descent = descent;
    step.m = m.column();
    if (by_diagonal)
      step.curvature.diagonal = diagonal.column();
    else
      step.curvature = {const_cast<DenseRows<T>*>(&curvature_rows), w.column(), {}, {}};
    step.mean_rate = mean_rate;
    step.curvature_rate = curvature_rate;
    if (loss_prior == LossPrior::posterior) step.prior = prior_posterior.get();
    if (loss_prior == LossPrior::itself) step.prior = old.get();
    if (loss_prior == LossPrior::diagonal) step.prior_precision = prior_diagonal.column();
    step.mean_update = mean_update;
    return step;
  }
  /// H.
  Dense curvature() const {
    return by_diagonal ? diagonal_matrix(diagonal.dense())
                       : rows * diagonal_matrix(w.dense()) * transposed(rows);
  }
  bool has_kl() const { return loss_prior != LossPrior::none; }
  /// Lambda_0, diag(d_0) of it apart.
  Dense prior_d() const {
    return loss_prior == LossPrior::posterior ? prior.d
           : loss_prior == LossPrior::itself  ? from.d
                                              : prior_diagonal.dense();
  }
  Dense prior_outer() const {
    const Dense& u = loss_prior == LossPrior::posterior ? prior.u
                     : loss_prior == LossPrior::itself  ? from.u
                                                        : from_nothing;
    return u * transposed(u);
  }
  /// 2 M.
  Dense twice_gradient() const {
    if (!has_kl()) return curvature();
    return curvature() + prior_outer() + diagonal_matrix(prior_d()) - from.precision();
  }

 private:
  Dense from_nothing;
  FactoredProblem(Family of, Index size, Index rank, Index count, Random random, double scale)
      : family(of),
        from(random_factored<T>(size, rank, random)),
        prior(random_factored<T>(size, rank, random)),
        rows(rounded<T>(random.normal(size, count, scale / std::sqrt(static_cast<double>(size))))),
        w(random.uniform(count, 1, 0.3, 1)),
        m(random.normal(size, 1, 1 / std::sqrt(static_cast<double>(size)))),
        prior_diagonal(random.uniform(size, 1, 0.5, 2)),
        diagonal(random.normal(size, 1, 0.2)),
        old(posterior_of<T>(of, from)),
        prior_posterior(posterior_of<T>(of, prior)),
        from_nothing(size, 0) {
    const auto to = curvature_rows.resize(size, count);
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < size; ++i) to(i, k) = static_cast<T>(rows(i, k));
  }
};

/// Diagonal families: the master table parameter by parameter; part[i] of the step is taken.
template <class T>
Factored reference_diagonal_step(const FactoredProblem<T>& p, Descent descent,
                                 const std::vector<double>& part) {
  const Dense h = diagonal_of(p.curvature()), m = p.m.dense();
  Factored to = p.from;
  for (Index i = 0; i < h.rows; ++i) {
    const double a = part[static_cast<std::size_t>(i)] * p.mean_rate,
                 b = part[static_cast<std::size_t>(i)] * p.curvature_rate;
    const double precision = p.from.d(i, 0), v = 1 / precision, mu = p.from.mean(i, 0);
    const double twice = h(i, 0) + (p.has_kl() ? p.prior_d()(i, 0) - precision : 0), slope = m(i, 0);
    double &mean = to.mean(i, 0), &d = to.d(i, 0);
    if (p.family == Family::diagonal_moment) {
      d = 1 / (v - (descent == Descent::natural ? b * v * v : b / 2) * twice);
      mean = mu - a * (descent == Descent::natural ? v * slope : slope);
    } else if (descent == Descent::natural) {
      d = precision + b * twice;
      mean = mu - a * slope / d;
    } else {
      d = precision + 4 * b * v * slope * mu + 2 * b * v * v * twice;
      mean = (precision * mu - a * v * slope) / d;
    }
  }
  return to;
}

/// The full step on the precision, projected; U' up to a rotation.
template <class T>
Factored reference_projection(const FactoredProblem<T>& p, MeanUpdate mean_update) {
  const double b = p.curvature_rate, keep = p.has_kl() ? 1 - b : 1;
  const Dense h = p.rows * diagonal_matrix(p.w.dense()) * transposed(p.rows);
  Dense outer = keep * (p.from.u * transposed(p.from.u)) + b * h, d = keep * p.from.d;
  if (p.has_kl()) {
    outer = outer + b * p.prior_outer();
    d = d + b * p.prior_d();
  }
  const Eigen eigen = eigen_of(outer);
  Factored to{p.from.mean, Dense(d.rows, p.from.u.cols), d};
  for (Index k = 0; k < to.u.cols; ++k)
    for (Index i = 0; i < d.rows; ++i)
      to.u(i, k) = std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(k)])) * eigen.vectors(i, k);
  to.d = d + diagonal_of(outer) - diagonal_of(to.u * transposed(to.u));
  const Dense moved_by =
      mean_update == MeanUpdate::projected ? to.covariance() : inverse_of(outer + diagonal_matrix(d));
  to.mean = p.from.mean - p.mean_rate * (moved_by * p.m.dense());
  return to;
}

/// Plain gradients with respect to (mu, d, U), of which the part t is taken.
template <class T>
Factored reference_descent(const FactoredProblem<T>& p, double t = 1) {
  const Dense covariance = p.from.covariance(), around = covariance * p.twice_gradient() * covariance;
  const double b = t * p.curvature_rate;
  return {p.from.mean - t * p.mean_rate * p.m.dense(), p.from.u + b * (around * p.from.u),
          p.from.d + b / 2 * diagonal_of(around)};
}

}  // namespace bdl::testing
