// Steps of low-rank and diagonal posteriors against the formulas of docs/theory/natural-gradients.md in
// dense matrices: both gradients, every form of prior and of curvature, rates that differ, both updates of
// the mean.
#include "support/factored_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Descent descents[] = {Descent::natural, Descent::plain};
constexpr MeanUpdate mean_updates[] = {MeanUpdate::projected, MeanUpdate::unprojected};
constexpr LossPrior priors[] = {LossPrior::none, LossPrior::posterior, LossPrior::itself,
                                LossPrior::diagonal};

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-11 : 3e-5;

/// Compares the posterior, and everything that is computed from its factorisation.
template <class T>
void assert_holds(const Posterior<T>& q, const Factored& expected) {
  const Factored got = factored_of(q);
  assert_close("mean", got.mean, expected.mean, tolerance<T>);
  assert_close("U U^T", got.u * transposed(got.u), expected.u * transposed(expected.u), tolerance<T>);
  assert_close("d", got.d, expected.d, tolerance<T>);
  assert_near("log det", q.log_det_covariance(), -log_det(expected.precision()), tolerance<T>);
  Scratch scratch;
  Padded<T> covariance(identity(q.dimension()));
  q.solve(covariance.view(), scratch);
  assert_close("covariance", covariance.dense(), expected.covariance(), tolerance<T>);
}

struct Sizes {
  Index size, rank, count;
};
constexpr Sizes low_rank_sizes[] = {{9, 2, 3}, {9, 2, 1}, {30, 4, 7}, {9, 2, 20},
                                    {5, 5, 3}, {3, 3, 1}, {1, 1, 1},  {12, 6, 2}};
constexpr Sizes diagonal_sizes[] = {{1, 0, 1}, {7, 0, 3}, {40, 0, 60}};

template <class T>
Factored reference(const FactoredProblem<T>& p, Descent descent, MeanUpdate mean_update) {
  const bool diagonal = p.from.u.cols == 0;
  if (diagonal && (descent == Descent::plain || mean_update == MeanUpdate::projected ||
                   p.family == Family::diagonal_moment))
    return reference_diagonal_step(p, descent, std::vector<double>(p.from.d.values.size(), 1.0));
  return descent == Descent::natural ? reference_projection(p, mean_update) : reference_descent(p);
}

template <class T>
void check(FactoredProblem<T>& p) {
  for (const LossPrior prior : priors)
    for (const Descent descent : descents)
      for (const MeanUpdate mean_update : mean_updates) {
        p.loss_prior = prior;
        Scratch workspace;
        const auto next = posterior_of<T>(p.family, p.prior);
        for (int repeat = 0; repeat < 2; ++repeat) {  // in new and in used memory
          assert_true(next->update(p.step(descent, mean_update), workspace) == 1);
          assert_holds(*next, reference(p, descent, mean_update));
        }
        assert_holds(*p.old, p.from);
      }
}

template <class T>
void low_rank_steps_are_those_of_the_spec(void**) {
  for (const Sizes& s : low_rank_sizes) {
    FactoredProblem<T> problem(Family::low_rank, s.size, s.rank, s.count, 7);
    check(problem);
  }
}

template <class T>
void diagonal_steps_are_those_of_the_master_table(void**) {
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const Sizes& s : diagonal_sizes) {
      FactoredProblem<T> problem(family, s.size, 0, s.count, 8, 0.7);
      check(problem);
    }
}

/// Hessians, perhaps indefinite, come to diagonal posteriors as diagonals, and to no low-rank one.
template <class T>
void curvature_may_be_a_diagonal(void**) {
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const LossPrior prior : priors)
      for (const Descent descent : descents) {
        FactoredProblem<T> p(family, 7, 0, 3, 9);
        p.by_diagonal = true;
        p.loss_prior = prior;
        Scratch workspace;
        const auto next = posterior_of<T>(family, p.prior);
        assert_true(next->update(p.step(descent), workspace) == 1);
        assert_holds(*next, reference(p, descent, MeanUpdate::projected));
      }
  FactoredProblem<T> p(Family::low_rank, 7, 2, 3, 9);
  p.by_diagonal = true;
  Scratch workspace;
  const auto next = posterior_of<T>(Family::low_rank, p.prior);
  for (const Descent descent : descents)
    expect_error(Status::ERROR_UNSUPPORTED, "rows", [&] { next->update(p.step(descent), workspace); });
}

template <class T>
void dense_curvature_is_refused(void**) {
  Dense matrix = identity(7);
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const Index rank : {0, 2}) {
      if (family == Family::diagonal_moment && rank > 0) continue;
      FactoredProblem<T> p(family, 7, rank, 3, 10);
      auto step = p.step(Descent::natural);
      step.curvature = {};
      step.curvature.matrix = {matrix.values.data(), 7, 7};
      Scratch workspace;
      const auto next = posterior_of<T>(family, p.prior);
      expect_error(Status::ERROR_UNSUPPORTED, "rows", [&] { next->update(step, workspace); });
    }
}

/// U is defined up to U Q: so is what a step makes of it.
void steps_do_not_depend_on_the_rotation_of_u(void**) {
  Random random(11);
  for (const LossPrior prior : priors)
    for (const Descent descent : descents)
      for (const MeanUpdate mean_update : mean_updates) {
        FactoredProblem<double> p(Family::low_rank, 12, 3, 2, 12), rotated(Family::low_rank, 12, 3, 2, 12);
        p.loss_prior = rotated.loss_prior = prior;
        const Dense square = random.normal(3, 3), q = eigen_of(square + transposed(square)).vectors;
        rotated.from.u = p.from.u * q;
        rotated.prior.u = -1.0 * (p.prior.u * q);
        rotated.old = posterior_of<double>(Family::low_rank, rotated.from);
        rotated.prior_posterior = posterior_of<double>(Family::low_rank, rotated.prior);
        Scratch workspace;
        const auto next = posterior_of<double>(Family::low_rank, p.from);
        next->update(p.step(descent, mean_update), workspace);
        Factored expected = factored_of(*next);
        next->update(rotated.step(descent, mean_update), workspace);
        const Factored got = factored_of(*next);
        if (descent == Descent::plain) assert_close("U Q", got.u, expected.u * q, 1e-12);
        assert_holds(*next, expected);
      }
}

/// diag(Sigma'^-1) is that of the step before the projection: nothing is lost on the diagonal, and d never
/// shrinks by it.
template <class T>
void the_projection_keeps_the_diagonal(void**) {
  for (const MeanUpdate mean_update : mean_updates)
    for (const LossPrior prior : priors)
      for (const Sizes& s : low_rank_sizes) {
        FactoredProblem<T> p(Family::low_rank, s.size, s.rank, s.count, 13, 2);
        p.loss_prior = prior;
        Scratch workspace;
        const auto next = posterior_of<T>(Family::low_rank, p.from);
        next->update(p.step(Descent::natural, mean_update), workspace);
        Padded<T> diagonal(poison(s.size, 1));
        next->precision_diagonal(diagonal.column());
        const Dense whole = p.from.precision() + p.curvature_rate * p.twice_gradient();
        assert_close("diagonal", diagonal.dense(), diagonal_of(whole), accuracy<T>);
      }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_factored_steps() {
  const CMUnitTest tests[] = {
      BOTH(low_rank_steps_are_those_of_the_spec),
      BOTH(diagonal_steps_are_those_of_the_master_table),
      BOTH(curvature_may_be_a_diagonal),
      BOTH(dense_curvature_is_refused),
      cmocka_unit_test(steps_do_not_depend_on_the_rotation_of_u),
      BOTH(the_projection_keeps_the_diagonal),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
