// The unsymmetrised gradient step of the full family (docs/mathematics/natural-gradients.md, "The unsymmetric
// matrix gradient"): a precision and a covariance that are not symmetric, kept as they are.
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 5e-6;

Gaussian reference(const Gaussian& q, const Dense& m, const Dense& gradient, double a, double b) {
  const Dense u = q.covariance * m;
  const Dense precision =
      q.precision + 4 * b * (u * transposed(q.mean)) + 2 * b * (q.covariance * gradient * q.covariance);
  const Dense covariance = inverse_of(precision);
  return {covariance * (q.precision * q.mean - a * u), precision, covariance};
}

Dense symmetric_part(const Dense& a) {
  return 0.5 * (a + transposed(a));
}

template <class T>
void assert_holds(const Posterior<T>& q, const Gaussian& expected) {
  const Index size = q.dimension();
  PosteriorScratch<T> scratch;
  Padded<T> solution(identity(size)), root(identity(size)), column(Dense(size, 1)), product(Dense(size, 1));
  q.solve(solution.view(), scratch);
  assert_close("covariance", solution.dense(), expected.covariance, tolerance<T>);
  assert_close("mean", column_of(q.mean()), expected.mean, tolerance<T>);
  q.marginal_variance(column.column(), scratch);
  assert_close("variance", column.dense(), diagonal_of(expected.covariance), tolerance<T>);
  const Padded<T> x(Random(2).normal(size, 1));
  q.multiply_precision(x.column(), product.column(), scratch);
  assert_close("precision", product.dense(), expected.precision * x.dense(), tolerance<T>);
  assert_near("quadratic", q.quadratic(x.column(), scratch), dot(x.dense(), expected.precision * x.dense()),
              tolerance<T>);
  const Dense symmetric = symmetric_part(expected.precision);
  q.color({}, root.view(), {}, scratch);
  assert_close("root", root.dense() * transposed(root.dense()), inverse_of(symmetric), tolerance<T>);
  q.precision_diagonal(column.column());
  assert_close("precision diagonal", column.dense(), diagonal_of(symmetric), tolerance<T>);
  assert_near("log det", q.log_det_covariance(), -log_det(symmetric), tolerance<T>);
}

/// Three steps, the second and third from a belief that is not symmetric already.
template <class T>
void steps_keep_what_is_not_symmetric(void**) {
  for (const PriorForm prior : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
    for (const CurvatureForm curvature : {CurvatureForm::few_rows, CurvatureForm::matrix})
      for (const Index size : {1, 2, 8}) {
        StepProblem<T> problem(Family::full, size, prior, curvature, 23);
        problem.curvature_rate = 0.05;
        auto next = posterior_of<T>(Family::full, problem.prior);
        UpdateWorkspace<T> workspace;
        Gaussian expected = problem.from;
        for (int k = 0; k < 3; ++k) {
          problem.from = expected;
          auto step = problem.step(Descent::plain);
          step.unsymmetric = true;
          expected = reference(expected, problem.m.dense(), problem.twice_gradient(), problem.mean_rate,
                               problem.curvature_rate);
          assert_true(next->take(step, workspace) == 1);
          assert_holds(*next, expected);
          problem.old->swap(*next);
        }
        const auto& full = dynamic_cast<const FullPosterior<T>&>(*problem.old);
        assert_true(full.is_unsymmetric());
      }
}

/// A step of this kind, from N(0.3.., Sigma), and its belief.
template <class T>
std::pair<std::unique_ptr<Posterior<T>>, Gaussian> unsymmetric_belief(Index size, std::uint64_t seed) {
  StepProblem<T> problem(Family::full, size, PriorForm::none, CurvatureForm::few_rows, seed);
  auto step = problem.step(Descent::plain);
  step.unsymmetric = true;
  auto q = posterior_of<T>(Family::full, problem.prior);
  UpdateWorkspace<T> workspace;
  q->take(step, workspace);
  return {std::move(q), reference(problem.from, problem.m.dense(), problem.twice_gradient(),
                                  problem.mean_rate, problem.curvature_rate)};
}

template <class T>
void the_prior_may_be_unsymmetric(void**) {
  const auto [prior, belief] = unsymmetric_belief<T>(5, 24);
  StepProblem<T> problem(Family::full, 5, PriorForm::posterior, CurvatureForm::few_rows, 25);
  problem.prior = belief;
  auto step = problem.step(Descent::plain);
  step.unsymmetric = true;
  step.prior = prior.get();
  FullPosterior<T> next(5);
  UpdateWorkspace<T> workspace;
  next.take(step, workspace);
  assert_holds<T>(next, reference(problem.from, problem.m.dense(), problem.twice_gradient(),
                                  problem.mean_rate, problem.curvature_rate));
}

template <class T>
void copies_and_drift_carry_it(void**) {
  const auto [q, belief] = unsymmetric_belief<T>(6, 26);
  const auto copy = q->clone();
  assert_holds(*copy, belief);
  FullPosterior<T> other(6);
  other.swap(*copy);
  assert_holds<T>(other, belief);
  const Gaussian standard{Dense(6, 1), identity(6), identity(6)};
  assert_holds(*copy, standard);
  Padded<T> noise(Random(27).uniform(6, 1, 0, 1));
  UpdateWorkspace<T> workspace;
  copy->drift(other, {0.9, 0.8, noise.column()}, workspace);
  const Dense covariance = 0.8 * belief.covariance + diagonal_matrix(noise.dense());
  assert_holds(*copy, {0.9 * belief.mean, inverse_of(covariance), covariance});
}

/// A symmetric step starts from the symmetric part; setting a precision ends it.
template <class T>
void other_operations_end_it(void**) {
  const auto [q, belief] = unsymmetric_belief<T>(4, 28);
  const auto scaled = q->clone();
  StepProblem<T> problem(Family::full, 4, PriorForm::none, CurvatureForm::few_rows, 29);
  problem.old = q->clone();
  problem.from = {belief.mean, symmetric_part(belief.precision),
                  inverse_of(symmetric_part(belief.precision))};
  UpdateWorkspace<T> workspace;
  for (const Descent descent : {Descent::natural, Descent::plain}) {
    q->take(problem.step(descent), workspace);
    assert_false(dynamic_cast<const FullPosterior<T>&>(*q).is_unsymmetric());
    assert_holds(*q, reference_step(problem, Family::full, descent));
  }
  scaled->set_isotropic(2);
  assert_holds(*scaled, {belief.mean, 2.0 * identity(4), 0.5 * identity(4)});
}

/// The symmetric part keeps a half in the worst direction.
template <class T>
void steps_are_shortened_by_their_symmetric_part(void**) {
  StepProblem<T> problem(Family::full, 5, PriorForm::none, CurvatureForm::matrix, 30, 5);
  problem.curvature_rate = 1;
  auto step = problem.step(Descent::plain);
  step.unsymmetric = true;
  FullPosterior<T> next(5);
  UpdateWorkspace<T> workspace;
  const double part = next.take(step, workspace);
  assert_true(part < 1);
  assert_holds<T>(next, reference(problem.from, problem.m.dense(), problem.twice_gradient(),
                                  part * problem.mean_rate, part * problem.curvature_rate));
  const Dense inverse = inverse_of(cholesky_of(problem.from.precision));
  const Dense relative = inverse * dense_of(next.precision()) * transposed(inverse);
  assert_near("least part", eigen_of(relative).values.back(), shortened_to, tolerance<T>);
  step.indefinite = Indefinite::error;
  expect_error(Status::ERROR_DIVERGED, "would leave", [&] { next.take(step, workspace); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_full_unsymmetric() {
  const CMUnitTest tests[] = {
      BOTH(steps_keep_what_is_not_symmetric),
      BOTH(the_prior_may_be_unsymmetric),
      BOTH(copies_and_drift_carry_it),
      BOTH(other_operations_end_it),
      BOTH(steps_are_shortened_by_their_symmetric_part),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
