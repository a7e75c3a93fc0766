// Steps of the two families with full covariance against the master table in dense matrices: both gradients,
// every form of prior and of curvature, rates that differ, cheap forms and plain ones.
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Family families[] = {Family::full, Family::full_moment};
constexpr Descent descents[] = {Descent::natural, Descent::plain};
constexpr PriorForm priors[] = {PriorForm::none, PriorForm::posterior, PriorForm::diagonal};
constexpr CurvatureForm curvatures[] = {CurvatureForm::one_row, CurvatureForm::few_rows,
                                        CurvatureForm::many_rows, CurvatureForm::matrix};
constexpr FactorUpdate updates[] = {FactorUpdate::automatic, FactorUpdate::rotate, FactorUpdate::refactorize};

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-6;

/// Compares the posterior, and everything that is computed from its factor.
template <class T>
void assert_holds(const Posterior<T>& q, const Gaussian& expected) {
  const Gaussian got = gaussian_of(q);
  assert_close("mean", got.mean, expected.mean, tolerance<T>);
  assert_close("precision", got.precision, expected.precision, tolerance<T>);
  assert_close("covariance", got.covariance, expected.covariance, tolerance<T>);
  assert_near("log det", q.log_det_covariance(), -log_det(expected.precision), tolerance<T>);
  Scratch scratch;
  Padded<T> root(identity(q.dimension()));
  q.color({}, root.view(), {}, scratch);
  assert_close("root", root.dense() * transposed(root.dense()), expected.covariance, tolerance<T>);
}

template <class T, class Check>
void for_each_step(Check check) {
  for (const Family family : families)
    for (const Descent descent : descents)
      for (const PriorForm prior : priors)
        for (const CurvatureForm curvature : curvatures)
          for (const Index size : {1, 2, 9, 40}) {
            StepProblem<T> problem(family, size, prior, curvature, 7);
            check(problem, family, descent);
          }
}

template <class T>
void steps_are_those_of_the_master_table(void**) {
  for_each_step<T>([](StepProblem<T>& problem, Family family, Descent descent) {
    const Gaussian expected = reference_step(problem, family, descent);
    for (const FactorUpdate update : updates) {
      Scratch scratch;
      auto step = problem.step(descent);
      step.factor_update = update;
      const auto next = posterior_of<T>(family, problem.prior);
      assert_true(next->update(step, scratch) == 1);
      assert_holds(*next, expected);
      assert_true(next->update(step, scratch) == 1);  // in used memory
      assert_holds(*next, expected);
    }
    assert_holds(*problem.old, problem.from);
  });
}

/// Lambda_0 - Lambda is exactly 0 where the prior is the posterior itself: blr and bbb begin as bong and bog.
template <class T>
void the_first_step_from_the_prior_is_that_without_it(void**) {
  for_each_step<T>([](StepProblem<T>& problem, Family family, Descent descent) {
    if (problem.prior_form != PriorForm::none) return;
    Scratch scratch;
    const auto with = posterior_of<T>(family, problem.from), without = posterior_of<T>(family, problem.from);
    auto step = problem.step(descent);
    without->update(step, scratch);
    step.prior = problem.old.get();
    with->update(step, scratch);
    assert_same("mean", gaussian_of(*with).mean, gaussian_of(*without).mean);
    assert_same("precision", gaussian_of(*with).precision, gaussian_of(*without).precision);
  });
}

/// A linear model with Gaussian noise: bong is Bayes' rule and the gain form of the Kalman filter.
void bong_is_exact_for_linear_gaussian_models(void**) {
  Random random(3);
  for (const Index outputs : {1, 3}) {
    constexpr Index size = 60;  // one output: rotations
    StepProblem<double> problem(Family::full, size, PriorForm::none,
                                outputs == 1 ? CurvatureForm::one_row : CurvatureForm::few_rows, 11);
    problem.mean_rate = problem.curvature_rate = 1;
    const Dense h = transposed(problem.rows), y = random.normal(outputs, 1);
    const Dense noise = inverse_of(diagonal_matrix(problem.w.dense()));
    const Dense residual = y - h * problem.from.mean;
    problem.m = Padded<double>(-1.0 * (transposed(h) * (inverse_of(noise) * residual)));
    FullPosterior<double> next(size);
    Scratch scratch;
    next.update(problem.step(Descent::natural), scratch);
    const Gaussian got = gaussian_of(next);
    const Dense& before = problem.from.covariance;
    const Dense gain = before * transposed(h) * inverse_of(noise + h * before * transposed(h));
    assert_close("Kalman mean", got.mean, problem.from.mean + gain * residual, 1e-12);
    assert_close("Kalman covariance", got.covariance, before - gain * h * before, 1e-12);
    const Dense precision = problem.from.precision + transposed(h) * inverse_of(noise) * h;
    const Dense information =
        problem.from.precision * problem.from.mean + transposed(h) * inverse_of(noise) * y;
    assert_close("Bayes", got.precision, precision, 1e-12);
    assert_close("Bayes mean", got.mean, inverse_of(precision) * information, 1e-12);
  }
}

/// Updated factors stay as good as new ones: the error of a thousand rotations does not build up.
void rotations_do_not_lose_accuracy(void**) {
  constexpr Index size = 30;
  for (const Family family : families) {
    StepProblem<double> problem(family, size, PriorForm::none, CurvatureForm::one_row, 5);
    problem.curvature_rate = family == Family::full ? 1 : 0.1;
    Scratch scratch;
    auto next = posterior_of<double>(family, problem.from);
    Random random(6);
    for (int k = 0; k < 1000; ++k) {
      const Dense row = random.normal(size, 1, 0.3);
      std::copy(row.values.begin(), row.values.end(), problem.curvature_rows.resize(size, 1).data);
      auto step = problem.step(Descent::natural);
      step.factor_update = FactorUpdate::rotate;
      assert_true(next->update(step, scratch) == 1);
      problem.old->swap(*next);
    }
    Padded<double> root(identity(size));
    problem.old->color({}, root.view(), {}, scratch);
    const Gaussian got = gaussian_of(*problem.old);
    assert_close("root", root.dense() * transposed(root.dense()), got.covariance, 1e-12);
  }
}

template <class T>
void curvatures_without_off_diagonal_elements_are_refused(void**) {
  for (const Family family : families) {
    StepProblem<T> problem(family, 5, PriorForm::none, CurvatureForm::matrix, 4);
    auto step = problem.step(Descent::natural);
    step.curvature = {};
    step.curvature.diagonal = problem.m.column();
    const auto next = posterior_of<T>(family, problem.from);
    Scratch scratch;
    expect_error(Status::ERROR_UNSUPPORTED, "diagonal", [&] { next->update(step, scratch); });
    const auto other =
        posterior_of<T>(family == Family::full ? Family::full_moment : Family::full, problem.from);
    const PosteriorStep<T> mixed = step_from<T>(*other, Descent::natural, problem.m.column());
    expect_error(Status::ERROR_UNSUPPORTED, "family", [&] { next->update(mixed, scratch); });
  }
}

/// theta <- gamma theta + noise.
template <class T>
void drift_is_exact(void**) {
  for (const Family family : families)
    for (const Index size : {1, 7}) {
      Random random(8);
      const Gaussian q = random_gaussian<T>(size, random);
      const auto from = posterior_of<T>(family, q),
                 next = posterior_of<T>(family, random_gaussian<T>(size, random));
      Padded<T> noise(random.uniform(size, 1, 0, 2));
      Scratch scratch;
      next->drift(*from, {0.9, 0.81 / 0.95, {}}, scratch);
      assert_holds(*next, {0.9 * q.mean, 0.95 / 0.81 * q.precision, 0.81 / 0.95 * q.covariance});
      next->drift(*from, {0.9, 0.81, noise.column()}, scratch);
      const Dense covariance = 0.81 * q.covariance + diagonal_matrix(noise.dense());
      assert_holds(*next, {0.9 * q.mean, inverse_of(covariance), covariance});
      expect_error(Status::ERROR_DIVERGED, "finite", [&] { next->drift(*from, {0, 0, {}}, scratch); });
    }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_full_steps() {
  const CMUnitTest tests[] = {
      BOTH(steps_are_those_of_the_master_table),
      BOTH(the_first_step_from_the_prior_is_that_without_it),
      cmocka_unit_test(bong_is_exact_for_linear_gaussian_models),
      cmocka_unit_test(rotations_do_not_lose_accuracy),
      BOTH(curvatures_without_off_diagonal_elements_are_refused),
      BOTH(drift_is_exact),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
