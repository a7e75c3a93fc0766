// Steps taken to second order, S + G + G S^-1 G / 2 (docs/theory/guard.md, "The improved Bayesian
// learning rule"): the formula in dense matrices, fixed points, and that half of S is left whatever G is.
#include "steps/averages.hpp"
#include "support/factored_steps.hpp"
#include "support/full_steps.hpp"
#include "support/steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-10 : 3e-5;

/// The natural step of the master table, its precision to second order; the mean moves by the new one.
template <class T>
Gaussian improved_reference(const StepProblem<T>& p) {
  Gaussian to = reference_step(p, Family::full, Descent::natural);
  const Dense change = to.precision - p.from.precision;
  to.precision = to.precision + 0.5 * (change * p.from.covariance * change);
  to.covariance = inverse_of(to.precision);
  to.mean = p.from.mean - p.mean_rate * (to.covariance * p.m.dense());
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

/// Steps by rows cannot lose the precision, and are as they were.
template <class T>
void full_steps_are_those_of_the_formula(void**) {
  for (const PriorForm prior : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
    for (const CurvatureForm curvature :
         {CurvatureForm::one_row, CurvatureForm::many_rows, CurvatureForm::matrix})
      for (const Index size : {1, 2, 9}) {
        StepProblem<T> p(Family::full, size, prior, curvature, 23, 3);
        p.curvature_rate = 0.7;
        const Gaussian expected = curvature == CurvatureForm::matrix
                                      ? improved_reference(p)
                                      : reference_step(p, Family::full, Descent::natural);
        const auto next = posterior_of<T>(Family::full, p.prior);
        Scratch scratch;
        auto step = p.step(Descent::natural);
        step.indefinite = Indefinite::improved;
        for (int repeat = 0; repeat < 2; ++repeat) {  // in new and in used memory
          assert_true(next->update(step, scratch) == 1);
          assert_holds(*next, expected);
        }
      }
}

template <class T>
void diagonal_steps_are_those_of_the_formula(void**) {
  constexpr Index size = 7;
  for (const LossPrior prior :
       {LossPrior::none, LossPrior::posterior, LossPrior::itself, LossPrior::diagonal})
    for (const bool by_diagonal : {false, true}) {
      FactoredProblem<T> p(Family::low_rank, size, 0, 3, 29, 2);
      for (T& h : p.diagonal.column()) h *= 20;
      p.by_diagonal = by_diagonal;
      p.loss_prior = prior;
      p.curvature_rate = 0.8;
      Factored expected = reference_diagonal_step(p, Descent::natural, std::vector<double>(size, 1.0));
      const Dense m = p.m.dense();
      for (Index i = 0; i < size && by_diagonal; ++i) {
        const double old = p.from.d(i, 0), x = expected.d(i, 0) / old - 1;
        expected.d(i, 0) = old * (1 + x + x * x / 2);
        expected.mean(i, 0) = p.from.mean(i, 0) - p.mean_rate * m(i, 0) / expected.d(i, 0);
      }
      const auto next = posterior_of<T>(Family::low_rank, p.prior);
      Scratch scratch;
      auto step = p.step(Descent::natural);
      step.indefinite = Indefinite::improved;
      assert_true(next->update(step, scratch) == 1);
      const Factored got = factored_of(*next);
      assert_close("d", got.d, expected.d, tolerance<T>);
      assert_close("mean", got.mean, expected.mean, tolerance<T>);
    }
}

/// m = 0 and H = Lambda - Lambda_0, though it is indefinite.
void fixed_points_stay(void**) {
  StepProblem<double> p(Family::full, 6, PriorForm::posterior, CurvatureForm::matrix, 31);
  p.matrix = p.from.precision - p.prior.precision;
  p.curvature_rate = 0.9;
  std::ranges::fill(p.m.column(), 0.0);
  assert_true(eigen_of(p.matrix).values.back() < -0.1);
  Scratch scratch;
  const auto next = posterior_of<double>(Family::full, p.prior);
  auto step = p.step(Descent::natural);
  step.indefinite = Indefinite::improved;
  assert_true(next->update(step, scratch) == 1);
  const Gaussian got = gaussian_of(*next);
  assert_close("precision", got.precision, p.from.precision, 1e-13);
  assert_close("mean", got.mean, p.from.mean, 1e-13);
}

/// A million steps of single parameters, of any sign and size, one after the other.
template <class T>
void half_of_each_parameter_is_left(void**) {
  constexpr Index size = 1000;
  Random random(37);
  const Factored start{Dense(size, 1), Dense(size, 0), Dense(size, 1, 3.0)};
  auto from = posterior_of<T>(Family::low_rank, start), to = posterior_of<T>(Family::low_rank, start);
  Scratch scratch;
  std::vector<T> m(size), h(size), before(size), after(size);
  for (int t = 0; t < 1000; ++t) {
    if (t % 20 == 0) from->set_isotropic(3);
    for (T& value : h) value = static_cast<T>(std::pow(10, 2 * random.normal()) * random.normal());
    PosteriorStep<T> step{*from};
    step.m = m;
    step.curvature.diagonal = h;
    step.curvature_rate = std::pow(10, -3 * random.uniform());
    step.indefinite = Indefinite::improved;
    assert_true(to->update(step, scratch) == 1);
    from->precision_diagonal(before);
    to->precision_diagonal(after);
    for (std::size_t i = 0; i < after.size(); ++i)
      if (!(after[i] >= T(0.49999) * before[i] && std::isfinite(after[i])))
        fail_msg("step %d: %g is left of %g", t, static_cast<double>(after[i]),
                 static_cast<double>(before[i]));
    from->swap(*to);
  }
}

/// 20,000 steps of whole matrices; how much is left is measured for some.
template <class T>
void half_of_each_direction_is_left(void**) {
  Random random(41);
  for (const Index size : {2, 5}) {
    const Gaussian start{Dense(size, 1), identity(size), identity(size)};
    auto from = posterior_of<T>(Family::full, start), to = posterior_of<T>(Family::full, start);
    Scratch scratch;
    const std::vector<T> m(static_cast<std::size_t>(size));
    for (int t = 0; t < 5000; ++t) {
      if (t % 4 == 0) from->set_isotropic(1);
      Dense h = std::pow(10, 0.7 * random.normal()) * random.normal(size, size);
      h = h + transposed(h);
      PosteriorStep<T> step{*from};
      step.m = m;
      step.curvature.matrix = {h.values.data(), size, size};
      step.curvature_rate = std::pow(10, -2 * random.uniform());
      step.indefinite = Indefinite::improved;
      assert_true(to->update(step, scratch) == 1);
      assert_true(std::isfinite(to->log_det_covariance()));
      if (t % 25 == 24) {
        const Gaussian before = gaussian_of(*from), after = gaussian_of(*to);
        const Dense inverse = inverse_of(cholesky_of(before.precision));
        const double left = eigen_of(inverse * after.precision * transposed(inverse)).values.back();
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
  options.curvature_rate = rate;
  StepRig<double> rig(prior, options);
  Scratch scratch;
  for (int t = 0; t < 10; ++t) {
    std::vector<double> h(size), expected(size), got(size);
    for (double& value : h) value = 200 * random.normal();
    Evidence<double> evidence;
    evidence.gradient = zero;
    evidence.curvature.diagonal = h;
    rig.step(StepKind::ivon, *from, {0.1, 0, 1, 1}, data_size, t + 1, evidence, *ivon);
    PosteriorStep<double> step{*from};
    step.m = zero;
    step.curvature.diagonal = h;
    step.curvature_rate = rate;
    step.prior_precision = prior;
    step.indefinite = Indefinite::improved;
    assert_true(next->update(step, scratch) == 1);
    ivon->precision_diagonal(expected);
    next->precision_diagonal(got);
    assert_close("precision", column_of(got), column_of(expected), 1e-13);
    rig.averages.forget();
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
