// Steps of the families with full covariance that would lose positive definiteness
// (docs/theory/natural-gradients.md, "Positive definiteness and shortening").
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr FactorUpdate updates[] = {FactorUpdate::automatic, FactorUpdate::rotate, FactorUpdate::refactorize};
constexpr CurvatureForm curvatures[] = {CurvatureForm::one_row, CurvatureForm::few_rows,
                                        CurvatureForm::many_rows, CurvatureForm::matrix};

/// The matrix that the family's steps change.
const Dense& stepped(Family family, const Gaussian& q) {
  return family == Family::full ? q.precision : q.covariance;
}

/// The smallest part of the former matrix that is left in any direction: of C^-1 A' C^-T.
double least_part(const Dense& next, const Dense& old) {
  const Dense inverse = inverse_of(cholesky_of(old));
  return eigen_of(inverse * next * transposed(inverse)).values.back();
}

/// Steps that leave too little are found, shortened to a half, and refused where that is not allowed. Returns
/// how many of these were such.
template <class T>
int check(Family family, Descent descent, PriorForm prior, CurvatureForm curvature, double scale) {
  int found = 0;
  for (const Index size : {1, 2, 9}) {
    StepProblem<T> problem(family, size, prior, curvature, 17, 6);
    problem.curvature_rate = scale;
    const Gaussian whole = reference_step(problem, family, descent);
    const double kept = least_part(stepped(family, whole), stepped(family, problem.from));
    if (kept > least_kept) continue;
    ++found;
    const double part = (1 - shortened_to) / (1 - kept);
    const Gaussian expected = reference_step(problem, family, descent, part);
    for (const FactorUpdate update : updates) {
      Scratch scratch;
      const auto next = posterior_of<T>(family, problem.prior);
      auto step = problem.step(descent);
      step.factor_update = update;
      assert_near("part", next->update(step, scratch), part, 1e-6);
      const Gaussian got = gaussian_of(*next);
      const double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-5;
      assert_near("least part", least_part(stepped(family, got), stepped(family, problem.from)), shortened_to,
                  tolerance);
      assert_close("precision", got.precision, expected.precision, tolerance);
      assert_close("mean", got.mean, expected.mean, tolerance);
      step.indefinite = Indefinite::error;
      expect_error(Status::ERROR_DIVERGED, "would leave", [&] { next->update(step, scratch); });
    }
  }
  return found;
}

template <class T>
void steps_are_shortened_to_leave_a_half(void**) {
  int found[2][2] = {};
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : {Descent::natural, Descent::plain})
      for (const PriorForm prior : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
        for (const CurvatureForm curvature : curvatures)
          for (const double scale : {0.3, 2.0})
            found[family == Family::full][descent == Descent::plain] +=
                check<T>(family, descent, prior, curvature, scale);
  for (const auto& counts : found)
    for (const int count : counts) assert_true(count >= 10);
}

/// The limit is tight: Sigma' = Sigma - b (Sigma x) (Sigma x)^T leaves 1 - b x^T Sigma x along x.
void what_leaves_enough_is_taken_whole(void**) {
  constexpr Index size = 5;
  for (const FactorUpdate update : updates)
    for (const double left : {1e-3, 1e-6, 1.01e-8, 0.99e-8, 0.0, -1.0}) {
      StepProblem<double> problem(Family::full_moment, size, PriorForm::none, CurvatureForm::one_row, 3);
      problem.curvature_rate = (1 - left) / trace(problem.curvature() * problem.from.covariance);
      Scratch scratch;
      auto step = problem.step(Descent::natural);
      step.factor_update = update;
      FullMomentPosterior<double> next(size);
      const double part = next.update(step, scratch);
      assert_near("part", part, left > least_kept ? 1 : 0.5 / (1 - left), 1e-9);
      const double kept = least_part(gaussian_of(next).covariance, problem.from.covariance);
      assert_near("kept", kept, part == 1 ? left : shortened_to, 1e-14);
    }
}

template <class T>
void what_is_not_finite_is_refused(void**) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : {Descent::natural, Descent::plain})
      for (const CurvatureForm curvature : curvatures)
        for (const FactorUpdate update : updates)
          for (const double bad : {not_a_number, infinity}) {
            StepProblem<T> problem(family, 6, PriorForm::none, curvature, 5);
            problem.matrix(4, 2) = bad;
            problem.curvature_rows.resize(6, problem.rows.cols)(3, 0) = static_cast<T>(bad);
            const auto next = posterior_of<T>(family, problem.from);
            Scratch scratch;
            auto step = problem.step(descent);
            step.factor_update = update;
            expect_error(Status::ERROR_DIVERGED, "finite", [&] { next->update(step, scratch); });
            StepProblem<T> other(family, 6, PriorForm::none, curvature, 5);
            other.m.column()[2] = static_cast<T>(bad);
            auto other_step = other.step(descent);
            other_step.factor_update = update;
            expect_error(Status::ERROR_DIVERGED, "finite", [&] { next->update(other_step, scratch); });
          }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_full_shortening() {
  const CMUnitTest tests[] = {
      BOTH(steps_are_shortened_to_leave_a_half),
      cmocka_unit_test(what_leaves_enough_is_taken_whole),
      BOTH(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
