// Steps of low-rank and diagonal posteriors that would lose positive definiteness
// (docs/theory/natural-gradients.md, "Positive definiteness and shortening").
#include "support/factored_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Returns the matrix that the family's steps change: the precision or the covariance.
Dense stepped(Family family, const Factored& q) {
  Dense out = q.d;
  for (double& value : out.values) value = family == Family::low_rank ? value : 1 / value;
  return out;
}

struct Parts {
  std::vector<double> of;
  Dense kept;
  double least = 1;
  int count = 0;
};

/// The part of its step that each parameter may take.
template <class T>
Parts parts_of(const FactoredProblem<T>& p, Descent descent) {
  const std::vector<double> whole(p.from.d.values.size(), 1.0);
  const Dense after = stepped(p.family, reference_diagonal_step(p, descent, whole)),
              before = stepped(p.family, p.from);
  Parts parts{whole, after};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const double kept = after.values[i] / before.values[i];
    parts.kept.values[i] = kept;
    if (kept > least_kept) continue;
    parts.of[i] = (1 - shortened_to) / (1 - kept);
    parts.least = std::min(parts.least, parts.of[i]);
    ++parts.count;
  }
  return parts;
}

template <class T>
Parts check(FactoredProblem<T>& p, Descent descent) {
  const Parts parts = parts_of(p, descent);
  const double tolerance = sizeof(T) == 8 ? 1e-11 : 3e-5;
  Scratch scratch;
  const auto next = posterior_of<T>(p.family, p.prior);
  auto step = p.step(descent);
  assert_near("part", next->update(step, scratch), parts.least, 1e-5);
  const Factored got = factored_of(*next), expected = reference_diagonal_step(p, descent, parts.of);
  assert_close("mean", got.mean, expected.mean, tolerance);
  assert_close("parameter", stepped(p.family, got), stepped(p.family, expected), tolerance);
  for (Index i = 0; i < got.d.rows; ++i)
    if (parts.of[static_cast<std::size_t>(i)] < 1)
      assert_near("kept", stepped(p.family, got)(i, 0) / stepped(p.family, p.from)(i, 0), shortened_to, 1e-5);
  step.indefinite = Indefinite::error;
  if (parts.count > 0)
    expect_error(Status::ERROR_DIVERGED, "would leave", [&] { next->update(step, scratch); });
  else
    assert_true(next->update(step, scratch) == 1);
  return parts;
}

/// Only the parameters concerned are held back; all others take their whole step.
template <class T>
void diagonal_steps_are_shortened_one_by_one(void**) {
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const Descent descent : {Descent::natural, Descent::plain}) {
      int some = 0;
      for (const LossPrior prior : {LossPrior::none, LossPrior::posterior, LossPrior::diagonal})
        for (const bool by_diagonal : {false, true})
          for (const double scale : {0.3, 1.0, 4.0})
            for (const Index size : {1, 9}) {
              FactoredProblem<T> p(family, size, 0, 3, 17, 3);
              p.loss_prior = prior;
              p.by_diagonal = by_diagonal;
              p.curvature_rate = scale;
              for (T& value : p.diagonal.column()) value *= T(8);
              const int count = check(p, descent).count;
              some += count > 0 && (size == 1 || count < size) ? 1 : 0;
            }
      assert_true(some >= 3);
    }
}

/// v' = v - b v^2 h leaves 1 - b v h, and the limit is where it is said to be.
void what_leaves_enough_is_taken_whole(void**) {
  for (const double left : {1e-3, 1e-6, 1.01e-8, 0.99e-8, 0.0, -1.0}) {
    FactoredProblem<double> p(Family::diagonal_moment, 1, 0, 1, 3);
    p.curvature_rate = (1 - left) * p.from.d(0, 0) / p.curvature()(0, 0);
    Scratch scratch;
    DiagonalMomentPosterior<double> next(1);
    const double part = next.update(p.step(Descent::natural), scratch);
    assert_near("part", part, left > least_kept ? 1 : 0.5 / (1 - left), 1e-9);
    assert_near("kept", next.variance()[0] * p.from.d(0, 0), part == 1 ? left : shortened_to, 1e-14);
  }
}

/// bbb loses d where Lambda is far above Lambda_0; bog only adds to it.
template <class T>
void low_rank_descent_is_shortened_as_a_whole(void**) {
  int found = 0;
  for (const double rate : {0.1, 1.0, 3.0})
    for (const Index rank : {1, 3})
      for (const LossPrior prior : {LossPrior::none, LossPrior::posterior, LossPrior::diagonal}) {
        FactoredProblem<T> p(Family::low_rank, 8, rank, 2, 21);
        p.loss_prior = prior;
        p.curvature_rate = rate;
        p.prior.d = 0.02 * p.prior.d;
        p.prior.u = 0.02 * p.prior.u;
        p.prior_posterior = posterior_of<T>(Family::low_rank, p.prior);
        for (T& value : p.prior_diagonal.column()) value *= static_cast<T>(0.02);
        const Factored whole = reference_descent(p);
        double kept = 1;
        for (Index i = 0; i < 8; ++i) kept = std::min(kept, whole.d(i, 0) / p.from.d(i, 0));
        const double part = kept > least_kept ? 1 : (1 - shortened_to) / (1 - kept);
        Scratch scratch;
        const auto next = posterior_of<T>(Family::low_rank, p.from);
        auto step = p.step(Descent::plain);
        assert_near("part", next->update(step, scratch), part, 1e-4);
        const Factored got = factored_of(*next), expected = reference_descent(p, part);
        const double tolerance = sizeof(T) == 8 ? 1e-11 : 1e-4;
        assert_close("mean", got.mean, expected.mean, tolerance);
        assert_close("U", got.u, expected.u, tolerance);
        assert_close("d", got.d, expected.d, tolerance);
        step.indefinite = Indefinite::error;
        if (part < 1)
          expect_error(Status::ERROR_DIVERGED, "would leave", [&] { next->update(step, scratch); });
        found += part < 1 ? 1 : 0;
        if (prior == LossPrior::none) assert_true(part == 1);
      }
  assert_true(found >= 4 && found <= 10);
}

template <class T>
void what_is_not_finite_is_refused(void**) {
  for (const Family family : {Family::low_rank, Family::diagonal_moment})
    for (const Index rank : {0, 2})
      for (const Descent descent : {Descent::natural, Descent::plain})
        for (const MeanUpdate mean_update : {MeanUpdate::projected, MeanUpdate::unprojected})
          for (const double bad : {not_a_number, infinity}) {
            if (family == Family::diagonal_moment && rank > 0) continue;
            FactoredProblem<T> p(family, 6, rank, 3, 5);
            p.curvature_rows.resize(6, 3)(4, 1) = static_cast<T>(bad);
            Scratch scratch;
            const auto next = posterior_of<T>(family, p.from);
            expect_error(Status::ERROR_DIVERGED, "finite",
                         [&] { next->update(p.step(descent, mean_update), scratch); });
          }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_factored_shortening() {
  const CMUnitTest tests[] = {
      BOTH(diagonal_steps_are_shortened_one_by_one),
      cmocka_unit_test(what_leaves_enough_is_taken_whole),
      BOTH(low_rank_descent_is_shortened_as_a_whole),
      BOTH(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
