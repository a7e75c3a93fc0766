// Steps of the two families with full covariance, and what the master table of the BONG family
// (docs/theory/natural-gradients.md, "The step of each family") makes of them, in dense matrices.
#pragma once

#include "curvature/dense_rows.hpp"
#include "posterior/full/full.hpp"
#include "posterior/full/full_moment.hpp"
#include "support/verify.hpp"

namespace bdl::testing {

struct Gaussian {
  Dense mean, precision, covariance;
};

/// A posterior of the family that holds this Gaussian; the other's matrix is its inverse.
template <class T>
std::unique_ptr<Posterior<T>> posterior_of(Family family, const Gaussian& q) {
  const Index size = q.mean.rows;
  std::unique_ptr<Posterior<T>> out;
  if (family == Family::full) {
    auto full = std::make_unique<FullPosterior<T>>(size);
    full->set_precision({q.precision.values.data(), size, size});
    out = std::move(full);
  } else {
    auto moment = std::make_unique<FullMomentPosterior<T>>(size);
    moment->set_covariance({q.covariance.values.data(), size, size});
    out = std::move(moment);
  }
  for (Index i = 0; i < size; ++i) out->mean()[static_cast<std::size_t>(i)] = static_cast<T>(q.mean(i, 0));
  return out;
}

/// The Gaussian that it holds.
template <class T>
Gaussian gaussian_of(const Posterior<T>& q) {
  const Dense mean = column_of(q.mean());
  if (const auto* full = dynamic_cast<const FullPosterior<T>*>(&q)) {
    const Dense precision = dense_of(full->precision());
    return {mean, precision, inverse_of(precision)};
  }
  const Dense covariance = dense_of(dynamic_cast<const FullMomentPosterior<T>&>(q).covariance());
  return {mean, inverse_of(covariance), covariance};
}

/// Vectors of this scale are about as long in any number of dimensions.
inline double unit_length(Index size) {
  return 1 / std::sqrt(static_cast<double>(size));
}

/// Eigenvalues about 0.5 .. 2.
template <class T>
Gaussian random_gaussian(Index size, Random& random) {
  const Dense root = random.normal(size, size, 0.7 * unit_length(size));
  const Dense precision = root * transposed(root) + diagonal_matrix(random.uniform(size, 1, 0.6, 1.4));
  return {rounded<T>(random.normal(size, 1, unit_length(size))), precision, inverse_of(precision)};
}

enum class PriorForm { none, posterior, diagonal };
enum class CurvatureForm { one_row, few_rows, many_rows, matrix };

inline Index row_count(CurvatureForm form, Index size) {
  return form == CurvatureForm::one_row ? 1 : form == CurvatureForm::few_rows ? 3 : size + 4;
}

/// A step by a gradient alone, all else as by default.
template <class T>
PosteriorStep<T> step_from(const Posterior<T>& from, Descent descent, ConstSpan<T> m) {
  PosteriorStep<T> step{from};
  step.descent = descent;
  step.m = m;
  return step;
}

/// A step, and all that it refers to.
template <class T>
struct StepProblem {
  Gaussian from, prior;
  Dense rows, matrix;
  Padded<T> w, m, prior_diagonal;
  std::unique_ptr<Posterior<T>> old, prior_posterior;
  DenseRows<T> curvature_rows;
  PriorForm prior_form;
  CurvatureForm curvature_form;
  double mean_rate = 0.3, curvature_rate = 0.1;

  StepProblem(Family family, Index size, PriorForm with_prior, CurvatureForm form, std::uint64_t seed,
              double curvature_scale = 1)
      : StepProblem(family, size, with_prior, form, Random(seed), curvature_scale) {}

  PosteriorStep<T> step(Descent descent) {
    PosteriorStep<T> step = step_from<T>(*old, descent, std::as_const(m).column());
    if (curvature_form == CurvatureForm::matrix) {
      step.curvature.matrix = {matrix.values.data(), matrix.rows, matrix.rows};
    } else {
      step.curvature.rows = &curvature_rows;
      step.curvature.w = w.column();
    }
    step.mean_rate = mean_rate;
    step.curvature_rate = curvature_rate;
    if (prior_form == PriorForm::posterior) step.prior = prior_posterior.get();
    if (prior_form == PriorForm::diagonal) step.prior_precision = prior_diagonal.column();
    return step;
  }
  Dense curvature() const {
    return curvature_form == CurvatureForm::matrix ? matrix
                                                   : rows * diagonal_matrix(w.dense()) * transposed(rows);
  }
  /// 2 M.
  Dense twice_gradient() const {
    if (prior_form == PriorForm::none) return curvature();
    return curvature() - from.precision +
           (prior_form == PriorForm::posterior ? prior.precision : diagonal_matrix(prior_diagonal.dense()));
  }

 private:
  StepProblem(Family family, Index size, PriorForm with_prior, CurvatureForm form, Random random,
              double curvature_scale)
      : from(random_gaussian<T>(size, random)),
        prior(random_gaussian<T>(size, random)),
        rows(rounded<T>(random.normal(size, row_count(form, size), curvature_scale * unit_length(size)))),
        matrix(random.normal(size, size, curvature_scale / 2 * unit_length(size))),
        w(random.uniform(rows.cols, 1, 0.3, 1)),
        m(random.normal(size, 1, unit_length(size))),
        prior_diagonal(random.uniform(size, 1, 0.5, 2)),
        old(posterior_of<T>(family, from)),
        prior_posterior(posterior_of<T>(family, prior)),
        prior_form(with_prior),
        curvature_form(form) {
    matrix = matrix + transposed(matrix);
    const auto to = curvature_rows.resize(size, rows.cols);
    for (Index k = 0; k < rows.cols; ++k)
      for (Index i = 0; i < size; ++i) to(i, k) = static_cast<T>(rows(i, k));
  }
};

/// The master table, of which the part t is taken.
template <class T>
Gaussian reference_step(const StepProblem<T>& p, Family family, Descent descent, double t = 1) {
  const double a = t * p.mean_rate, b = t * p.curvature_rate;
  const Dense &precision = p.from.precision, &covariance = p.from.covariance, &mean = p.from.mean;
  const Dense m = p.m.dense(), gradient = p.twice_gradient();
  const bool natural = descent == Descent::natural;
  Gaussian to;
  if (family == Family::full_moment) {
    const Dense around = covariance * gradient * covariance;
    to.covariance = covariance - (natural ? b * around : b / 2 * gradient);
    to.mean = mean - a * (natural ? covariance * m : m);
    to.precision = inverse_of(to.covariance);
    return to;
  }
  const Dense u = covariance * m, outer = u * transposed(mean);
  to.precision = natural
                     ? precision + b * gradient
                     : precision + 2 * b * (outer + transposed(outer) + covariance * gradient * covariance);
  to.covariance = inverse_of(to.precision);
  to.mean = natural ? mean - a * (to.covariance * m) : to.covariance * (precision * mean - a * u);
  return to;
}

}  // namespace bdl::testing
