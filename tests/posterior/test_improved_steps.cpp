// Steps taken to second order, S + G + G S^-1 G / 2 (docs/mathematics/guard.md, "The improved Bayesian
// learning rule"): the formula in dense matrices, fixed points, and that half of S is left whatever G is.
#include "inference/batch/first_order.hpp"
#include "support/factored_steps.hpp"
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Descent descents[] = {Descent::natural, Descent::plain};

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-10 : 3e-5;

Dense to_second_order(const Dense& old, const Dense& next) {
  const Dense change = next - old;
  return next + 0.5 * (change * inverse_of(old) * change);
}

/// What the master table makes of it, with the family's matrix to second order; the mean of a precision moves
/// by the new one.
template <class T>
Gaussian improved_reference(const StepProblem<T>& p, Family family, Descent descent) {
  Gaussian to = reference_step(p, family, descent);
  if (family == Family::full_moment) {
    to.covariance = to_second_order(p.from.covariance, to.covariance);
    to.precision = inverse_of(to.covariance);
    return to;
  }
  to.precision = to_second_order(p.from.precision, to.precision);
  to.covariance = inverse_of(to.precision);
  const Dense m = p.m.dense();
  to.mean = descent == Descent::natural
                ? p.from.mean - p.mean_rate * (to.covariance * m)
                : to.covariance * (p.from.precision * p.from.mean - p.mean_rate * (p.from.covariance * m));
  return to;
}

template <class T>
void assert_holds(const Posterior<T>& q, const Gaussian& expected) {
  const Gaussian got = gaussian_of(q);
  assert_close("precision", got.precision, expected.precision, tolerance<T>);
  assert_close("covariance", got.covariance, expected.covariance, tolerance<T>);
  assert_close("mean", got.mean, expected.mean, tolerance<T>);
  assert_near("log det", q.log_det_covariance(), log_det(expected.covariance), tolerance<T>);
}

/// Natural steps of a precision by rows cannot lose it, and are as they were.
template <class T>
void full_steps_are_those_of_the_formula(void**) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : descents)
      for (const PriorForm prior : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
        for (const CurvatureForm curvature :
             {CurvatureForm::one_row, CurvatureForm::many_rows, CurvatureForm::matrix})
          for (const Index size : {1, 2, 9}) {
            StepProblem<T> p(family, size, prior, curvature, 23, 3);
            p.curvature_rate = 0.7;
            const bool is_safe =
                family == Family::full && descent == Descent::natural && curvature != CurvatureForm::matrix;
            const Gaussian expected =
                is_safe ? reference_step(p, family, descent) : improved_reference(p, family, descent);
            const auto next = posterior_of<T>(family, p.prior);
            UpdateWorkspace<T> workspace;
            auto step = p.step(descent);
            step.indefinite = Indefinite::improved;
            for (int repeat = 0; repeat < 2; ++repeat) {  // in new and in used memory
              assert_true(next->take(step, workspace) == 1);
              assert_holds(*next, expected);
            }
          }
}

template <class T>
void diagonal_steps_are_those_of_the_formula(void**) {
  constexpr Index size = 7;
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const Descent descent : descents)
      for (const LossPrior prior :
           {LossPrior::none, LossPrior::posterior, LossPrior::itself, LossPrior::diagonal})
        for (const bool by_diagonal : {false, true}) {
          FactoredProblem<T> p(family, size, 0, 3, 29, 2);
          for (T& h : p.diagonal.column()) h *= 20;
          p.by_diagonal = by_diagonal;
          p.loss_prior = prior;
          p.curvature_rate = 0.8;
          const Dense h = diagonal_of(p.curvature()), m = p.m.dense();
          const bool is_safe = family == Family::low_rank && descent == Descent::natural && !by_diagonal;
          Factored expected = reference_diagonal_step(p, descent, std::vector<double>(size, 1.0));
          for (Index i = 0; i < size && !is_safe; ++i) {
            const double d = p.from.d(i, 0), mu = p.from.mean(i, 0), a = p.mean_rate;
            const bool moment = family == Family::diagonal_moment;
            const double old = moment ? 1 / d : d, whole = moment ? 1 / expected.d(i, 0) : expected.d(i, 0),
                         x = whole / old - 1, value = old * (1 + x + x * x / 2);
            expected.d(i, 0) = moment ? 1 / value : value;
            if (moment) continue;
            expected.mean(i, 0) =
                descent == Descent::natural ? mu - a * m(i, 0) / value : (d * mu - a * m(i, 0) / d) / value;
          }
          const auto next = posterior_of<T>(family, p.prior);
          UpdateWorkspace<T> workspace;
          auto step = p.step(descent);
          step.indefinite = Indefinite::improved;
          assert_true(next->take(step, workspace) == 1);
          const Factored got = factored_of(*next);
          assert_close("d", got.d, expected.d, tolerance<T>);
          assert_close("mean", got.mean, expected.mean, tolerance<T>);
        }
}

/// m = 0 and H = Lambda - Lambda_0, though it is indefinite.
void fixed_points_stay(void**) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : descents) {
      StepProblem<double> p(family, 6, PriorForm::posterior, CurvatureForm::matrix, 31);
      p.matrix = p.from.precision - p.prior.precision;
      p.curvature_rate = 0.9;
      std::ranges::fill(p.m.column(), 0.0);
      assert_true(eigen_of(p.matrix).values.back() < -0.1);
      UpdateWorkspace<double> workspace;
      const auto next = posterior_of<double>(family, p.prior);
      auto step = p.step(descent);
      step.indefinite = Indefinite::improved;
      assert_true(next->take(step, workspace) == 1);
      const Gaussian got = gaussian_of(*next);
      assert_close("precision", got.precision, p.from.precision, 1e-13);
      assert_close("mean", got.mean, p.from.mean, 1e-13);
    }
}

/// Two million steps of single parameters, of any sign and size, one after the other. (Variances grow with
/// the square of what is too long: each starts anew.)
template <class T>
void half_of_each_parameter_is_left(void**) {
  constexpr Index size = 1000;
  Random random(37);
  for (const Family family : {Family::low_rank, Family::diagonal_moment}) {
    const Factored start{Dense(size, 1), Dense(size, 0), Dense(size, 1, 3.0)};
    auto from = posterior_of<T>(family, start), to = posterior_of<T>(family, start);
    UpdateWorkspace<T> workspace;
    std::vector<T> m(size), h(size), before(size), after(size);
    for (int t = 0; t < 1000; ++t) {
      if (family == Family::diagonal_moment || t % 20 == 0) from->set_isotropic(3);
      for (T& value : h) value = static_cast<T>(std::pow(10, 2 * random.normal()) * random.normal());
      PosteriorStep<T> step{*from};
      step.m = m;
      step.curvature.diagonal = h;
      step.curvature_rate = std::pow(10, -3 * random.uniform());
      step.indefinite = Indefinite::improved;
      assert_true(to->take(step, workspace) == 1);
      from->precision_diagonal(before);
      to->precision_diagonal(after);
      for (std::size_t i = 0; i < after.size(); ++i) {
        const T left = family == Family::low_rank ? after[i] / before[i] : before[i] / after[i];
        if (!(left >= T(0.49999) && std::isfinite(left)))
          fail_msg("step %d: %g of parameter %zu is left", t, static_cast<double>(left), i);
      }
      from->swap(*to);
    }
  }
}

/// 20,000 steps of whole matrices; how much is left is measured for some.
template <class T>
void half_of_each_direction_is_left(void**) {
  Random random(41);
  for (const Family family : {Family::full, Family::full_moment})
    for (const Index size : {2, 5}) {
      const Gaussian start{Dense(size, 1), identity(size), identity(size)};
      auto from = posterior_of<T>(family, start), to = posterior_of<T>(family, start);
      UpdateWorkspace<T> workspace;
      const std::vector<T> m(static_cast<std::size_t>(size));
      for (int t = 0; t < 5000; ++t) {
        if (family == Family::full_moment || t % 4 == 0) from->set_isotropic(1);
        Dense h = std::pow(10, 0.7 * random.normal()) * random.normal(size, size);
        h = h + transposed(h);
        PosteriorStep<T> step{*from};
        step.m = m;
        step.curvature.matrix = {h.values.data(), size, size};
        step.curvature_rate = std::pow(10, -2 * random.uniform());
        step.indefinite = Indefinite::improved;
        assert_true(to->take(step, workspace) == 1);
        assert_true(std::isfinite(to->log_det_covariance()));
        if (t % 25 == 24) {
          const Gaussian before = gaussian_of(*from), after = gaussian_of(*to);
          const bool is_precision = family == Family::full;
          const Dense inverse = inverse_of(cholesky_of(is_precision ? before.precision : before.covariance)),
                      next = is_precision ? after.precision : after.covariance;
          const double left = eigen_of(inverse * next * transposed(inverse)).values.back();
          if (!(left > 0.5 - 1e-6)) fail_msg("step %d: %g is left", t, left);
        }
        from->swap(*to);
      }
    }
}

/// The step of h is that of the precision N (h + d): they are one rule.
void ivon_takes_these_steps(void**) {
  constexpr Index size = 50;
  constexpr double data_size = 40, delta = 2, rate = 0.3;
  Random random(43);
  const Factored start{Dense(size, 1), Dense(size, 0), random.uniform(size, 1, 30, 90)};
  const auto from = posterior_of<double>(Family::low_rank, start), ivon = from->clone(), next = from->clone();
  const std::vector<double> zero(size), prior(size, delta);
  Options options;
  options.descent = DescentOption::ivon;
  options.momentum = 0;
  FirstOrder<double> descent;
  UpdateWorkspace<double> workspace;
  for (int t = 0; t < 10; ++t) {
    std::vector<double> h(size), expected(size), got(size);
    for (double& value : h) value = 200 * random.normal();
    descent.move_newton({*from, zero, prior, data_size, 0.1, t + 1}, {zero, {}, rate, 1, 1, false},
                        {nullptr, {}, {}, h}, options, *ivon);
    PosteriorStep<double> step{*from};
    step.m = zero;
    step.curvature.diagonal = h;
    step.curvature_rate = rate;
    step.prior_precision = prior;
    step.indefinite = Indefinite::improved;
    assert_true(next->take(step, workspace) == 1);
    ivon->precision_diagonal(expected);
    next->precision_diagonal(got);
    assert_close("precision", column_of(got), column_of(expected), 1e-13);
    descent.forget();
    from->swap(*next);
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_improved_steps() {
  const CMUnitTest tests[] = {
      BOTH(full_steps_are_those_of_the_formula), BOTH(diagonal_steps_are_those_of_the_formula),
      cmocka_unit_test(fixed_points_stay),       BOTH(half_of_each_parameter_is_left),
      BOTH(half_of_each_direction_is_left),      cmocka_unit_test(ivon_takes_these_steps),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
