// Precision updates (docs/theory/natural-gradients.md, "The low-rank step and its projection") against
// dense eigenpairs: every method, ranks 0 to D, deficient and zero factors; the diagonal of the precision is
// that of the un-truncated update, whatever the method finds.
#include "curvature/dense_rows.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr EigenMethod methods[] = {EigenMethod::automatic, EigenMethod::gram, EigenMethod::outer,
                                   EigenMethod::randomized};
constexpr double rate = 0.15;

/// An old posterior, weighted rows and a prior, as T holds them.
template <class T>
struct Problem {
  Dense u, d, b;
  Padded<T> w, prior;
  DenseRows<T> rows;

  Problem(const Dense& factor, const Dense& row_matrix, std::uint64_t seed)
      : u(rounded<T>(factor)),
        d(rounded<T>(Random(seed).uniform(factor.rows, 1, 0.5, 2))),
        b(rounded<T>(row_matrix)),
        w(Random(seed + 1).uniform(row_matrix.cols, 1, 0.1, 1)),
        prior(Random(seed + 2).uniform(factor.rows, 1, 0.1, 3)) {
    const auto to = rows.resize(b.rows, b.cols);
    for (Index j = 0; j < b.cols; ++j)
      for (Index i = 0; i < b.rows; ++i) to(i, j) = static_cast<T>(b(i, j));
  }
  PosteriorStep<T> step(const Posterior<T>& from, const ProjectionOptions& options) {
    PosteriorStep<T> step{from};
    step.m = prior.column();  // any vector: the mean is tested elsewhere
    step.curvature = {&rows, w.column(), {}, {}};
    step.curvature_rate = rate;
    step.prior_precision = prior.column();
    step.projection = options;
    step.random = {3, Stream::range_finder, 1, 0};
    return step;
  }
  /// A A^T = (1 - beta) U U^T + b B diag(w) B^T.
  Dense target() const {
    return (1 - rate) * (u * transposed(u)) + rate * (b * diagonal_matrix(w.dense()) * transposed(b));
  }
  Dense old_diagonal() const { return (1 - rate) * d + rate * prior.dense(); }
};

/// Posterior after the update by one method.
template <class T>
std::unique_ptr<LowRankPosterior<T>> updated(Problem<T>& problem, const ProjectionOptions& options) {
  const auto old = low_rank_of<T>(problem.u, problem.d);
  auto next = low_rank_of<T>(Random(99).normal(problem.u.rows, problem.u.cols), problem.d);  // overwritten
  Scratch scratch;
  next->update(problem.step(*old, options), scratch);
  return next;
}

template <class T>
void check(const Dense& u, const Dense& b, const ProjectionOptions& options, double tolerance) {
  Problem<T> problem(u, b, 4);
  const auto next = updated(problem, options);
  const Dense target = problem.target(), top = top_part(target, u.cols), factor = dense_of(next->u());
  const Dense diagonal = problem.old_diagonal() + diagonal_of(target) - diagonal_of(top);
  assert_close("U' U'^T", factor * transposed(factor), top, tolerance);
  assert_close("d'", column_of(next->d()), diagonal, tolerance);
  assert_close("precision", dense_precision(*next), top + diagonal_matrix(diagonal), tolerance);
  const double log_determinant = -log_det(dense_precision(*next));  // the factorisation is the new one
  assert_near("log det", next->log_det_covariance(), log_determinant, tolerance);
}

template <class T>
void updates_keep_the_top_eigenpairs(void**) {
  Random random(1);
  const double tolerance = sizeof(T) == 8 ? 1e-11 : 1e-4;
  for (const EigenMethod method : methods) {
    const ProjectionOptions options{method, 3, 8};  // n <= 8: the range finder is exact, too
    check<T>(random.normal(20, 3), random.normal(20, 6), options, tolerance);
    check<T>(random.normal(30, 1), random.normal(30, 1), options, tolerance);
    check<T>(Dense(20, 4), random.normal(20, 6), options, tolerance);        // the first step: U = 0
    check<T>(Dense(25, 9), random.normal(25, 2), options, tolerance);        // L > n + rank of U
    check<T>(random.normal(6, 6), random.normal(6, 8), options, tolerance);  // L = D
    check<T>(random.normal(5, 0), random.normal(5, 3), options, tolerance);  // L = 0
    check<T>(random.normal(1, 1), random.normal(1, 4), options, tolerance);
    check<T>(random.normal(70, 2), random.normal(70, 5), options, tolerance);
  }
}

template <class T>
void deficient_updates_go_through(void**) {
  Random random(2);
  const double tolerance = sizeof(T) == 8 ? 1e-11 : 1e-4;
  const Dense column = random.normal(12, 1);
  for (const EigenMethod method : methods) {
    const ProjectionOptions options{method, 2, 8};
    check<T>(Dense(12, 3), Dense(12, 5), options, tolerance);          // A = 0
    check<T>(random.normal(12, 3), Dense(12, 5), options, tolerance);  // rows = 0
    check<T>(random.normal(12, 3), Dense(12, 0), options, tolerance);  // no rows
    check<T>(Dense(12, 3), beside(column, beside(column, -3.0 * column)), options, tolerance);
    check<T>(beside(column, 2.0 * column), column, options, tolerance);
  }
}

/// diag(Sigma'^-1) = (1 - beta) diag(Sigma^-1) + sum_r w_r b_r^2 + beta lambda, also where the range finder
/// is inexact.
template <class T>
void the_diagonal_is_preserved_by_every_method(void**) {
  Random random(3);
  for (const EigenMethod method : methods)
    for (const Index passes : {1, 1, 1, 2, 4})  // new numbers each time
      for (const Index count : {3, 40}) {
        Problem<T> problem(random.normal(50, 4), random.normal(50, count), 5);
        const auto next = updated(problem, {method, passes, 1});
        Padded<T> diagonal(poison(50, 1));
        next->precision_diagonal(diagonal.column());
        assert_close("diagonal", diagonal.dense(), problem.old_diagonal() + diagonal_of(problem.target()),
                     accuracy<T>);
        for (const T value : next->d()) assert_true(value > 0);
      }
}

void full_rank_updates_are_not_truncated(void**) {
  Random random(4);
  for (const EigenMethod method : methods) {
    Problem<double> problem(random.normal(7, 7), random.normal(7, 30), 6);
    const auto next = updated(problem, {method, 2, 8});
    FullPosterior<double> old(7), full(7);
    const Dense precision = problem.u * transposed(problem.u) + diagonal_matrix(problem.d);
    old.set_precision({precision.values.data(), 7, 7});
    Scratch scratch;
    full.update(problem.step(old, {}), scratch);
    const Dense expected = problem.target() + diagonal_matrix(problem.old_diagonal());
    Dense whole = (1 - rate) * precision +
                  rate * (problem.b * diagonal_matrix(problem.w.dense()) * transposed(problem.b)) +
                  rate * diagonal_matrix(problem.prior.dense());
    assert_close("full", dense_precision(full), whole, 1e-12);
    assert_close("low rank", dense_precision(*next), expected, 1e-12);
    assert_close("both", expected, whole, 1e-12);
    assert_near("log det", full.log_det_covariance(), -log_det(whole), 1e-12);
  }
}

/// Starting from the old U, one pass without oversampling is off by the square of what rows add (here 1e-2
/// each).
void the_range_finder_starts_from_the_old_factor(void**) {
  Random random(5);
  const Dense square = random.normal(40, 40), orthonormal = eigen_of(square + transposed(square)).vectors;
  const Dense u = columns_of(orthonormal, 0, 3),
              b = 0.1 * columns_of(orthonormal, 3, 30) + 0.003 * random.normal(40, 30);
  Problem<double> problem(10.0 * u, b, 7);
  const auto next = updated(problem, {EigenMethod::randomized, 1, 0});
  const Dense factor = dense_of(next->u()), top = top_part(problem.target(), 3);
  assert_close("U' U'^T", factor * transposed(factor), top, 1e-9);
}

/// Random directions of their own in every column: rows in the last coordinates are found from U = 0, too.
template <class T>
void cold_starts_reach_every_direction(void**) {
  Dense b(60, 5);
  const Dense bottom = Random(6).normal(20, 5);
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < 20; ++i) b(40 + i, j) = bottom(i, j);
  check<T>(Dense(60, 5), b, {EigenMethod::randomized, 1, 3}, sizeof(T) == 8 ? 1e-11 : 1e-4);
}

/// A step of SLANG is four calls, with identical results: those that somebody who writes another step has.
template <class T>
void a_step_is_the_lines_of_its_algorithm(void**) {
  Random random(7);
  for (const EigenMethod method : methods) {
    Problem<T> problem(random.normal(40, 3), random.normal(40, 5), 9);
    const ProjectionOptions options{method, 2, 4};
    const auto whole = updated(problem, options), from = low_rank_of<T>(problem.u, problem.d),
               q = low_rank_of<T>(problem.u, problem.d);
    const PosteriorStep<T> step = problem.step(*from, options);
    Scratch scratch;
    const Scratch::Frame frame(scratch);
    const auto w = scaled_weights(step.curvature, rate, scratch);
    q->fast_eig(*from, 1 - rate, problem.rows, w, options, step.random, scratch);
    q->correct_diagonal(*from, 1 - rate, rate, problem.rows, w, step.prior_precision);
    q->factorize(scratch);
    q->move_mean(*from, step.mean_rate, step.m, scratch);
    assert_same("U", dense_of(q->u()), dense_of(whole->u()));
    assert_same("d", column_of(q->d()), column_of(whole->d()));
    assert_same("mean", column_of(std::as_const(*q).mean()), column_of(std::as_const(*whole).mean()));
  }
}

template <class T>
void what_is_not_finite_is_refused(void**) {
  for (const EigenMethod method : methods)
    for (const Index rank : {0, 3})
      for (const double bad : {not_a_number, infinity}) {
        Dense b = Random(8).normal(9, 4);
        b(5, 2) = bad;
        Problem<T> problem(Random(9).normal(9, rank), b, 8);
        expect_error(Status::ERROR_DIVERGED, "finite", [&] { updated(problem, {method, 2, 4}); });
        FullPosterior<T> old(9), full(9);
        Scratch scratch;
        expect_error(Status::ERROR_DIVERGED, "finite", [&] { full.update(problem.step(old, {}), scratch); });
      }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_updates() {
  const CMUnitTest tests[] = {
      BOTH(updates_keep_the_top_eigenpairs),
      BOTH(deficient_updates_go_through),
      BOTH(the_diagonal_is_preserved_by_every_method),
      cmocka_unit_test(full_rank_updates_are_not_truncated),
      cmocka_unit_test(the_range_finder_starts_from_the_old_factor),
      BOTH(cold_starts_reach_every_direction),
      BOTH(a_step_is_the_lines_of_its_algorithm),
      BOTH(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
