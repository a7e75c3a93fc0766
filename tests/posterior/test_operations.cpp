// Operations of a posterior - solve, color, variances, quadratic form, log density, entropy, covariance
// blocks
// - against its dense precision, for every family and every kind of rank.
#include <numbers>

#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// The full family computes in double throughout; float only rounds what goes in and out.
template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;

template <class T, class Check>
void for_each_belief(Check check) {
  for (const Index dimension : {1, 2, 7, 33})
    for (const Belief<T>& belief : beliefs<T>(dimension, 3)) {
      Scratch scratch;
      check(belief, *belief.q, scratch);
    }
}

template <class T>
void solutions_are_products_with_the_covariance(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    for (const Index columns : {0, 1, 5}) {
      Padded<T> x(Random(4).normal(q.dimension(), columns), 2);
      const Dense expected = belief.covariance * x.dense();
      q.solve(x.view(), scratch);
      assert_close(belief.name.c_str(), x.dense(), expected, tolerance<T>);
    }
  });
}

template <class T>
void coloring_the_identity_gives_a_root_of_the_covariance(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch&) {
    const Dense f = root_of(q);
    assert_close(belief.name.c_str(), f * transposed(f), belief.covariance, tolerance<T>);
  });
}

template <class T>
void diagonals_are_those_of_the_matrices(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    Padded<T> variance(poison(q.dimension(), 1)), precision(poison(q.dimension(), 1));
    q.marginal_variance(variance.column(), scratch);
    q.precision_diagonal(precision.column());
    assert_close(belief.name.c_str(), variance.dense(), diagonal_of(belief.covariance), tolerance<T>);
    assert_close(belief.name.c_str(), precision.dense(), diagonal_of(belief.precision), tolerance<T>);
  });
}

template <class T>
void quadratic_forms_and_determinants_agree(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    const Padded<T> x(Random(5).normal(q.dimension(), 1));
    assert_near("quadratic", q.quadratic(x.column(), scratch), dot(x.dense(), belief.precision * x.dense()),
                tolerance<T>);
    assert_near("log det", q.log_det_covariance(), -log_det(belief.precision), tolerance<T>);
  });
}

template <class T>
void log_densities_and_entropies_are_those_of_the_normal_distribution(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    const Padded<T> theta(Random(6).normal(q.dimension(), 1));
    const Dense shift = theta.dense() - belief.mean;
    const double dimension = static_cast<double>(q.dimension()), log_2_pi = std::log(2 * std::numbers::pi);
    const double log_precision = log_det(belief.precision);
    const double expected =
        -0.5 * (dimension * log_2_pi - log_precision + dot(shift, belief.precision * shift));
    assert_near("log q", log_density(q, theta.column(), scratch), expected, 4 * tolerance<T>);
    assert_near("entropy", entropy(q), 0.5 * (dimension * (1 + log_2_pi) - log_precision), tolerance<T>);
  });
}

template <class T>
void covariance_blocks_are_parts_of_the_covariance(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    const std::vector<Index> rows{q.dimension() - 1, 0, 0}, cols{0, q.dimension() / 2}, none;
    Padded<double> block(poison(3, 2), 2), empty(Dense(0, 2));
    covariance_block<T>(q, rows, cols, block.view(), scratch);
    covariance_block<T>(q, none, cols, empty.view(), scratch);
    Dense expected(3, 2);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        expected(static_cast<Index>(i), static_cast<Index>(j)) = belief.covariance(rows[i], cols[j]);
    const double scale = max_abs(belief.covariance);
    assert_true(max_abs(block.dense() - expected) <= tolerance<T> * scale);
  });
}

template <class T>
void clones_are_equal_and_independent(void**) {
  for_each_belief<T>([](const Belief<T>& belief, const Posterior<T>& q, Scratch& scratch) {
    const auto copy = q.clone();
    assert_same("precision", dense_precision(*copy), dense_precision(q));
    assert_same("mean", column_of(std::as_const(*copy).mean()), belief.mean);
    assert_true(copy->log_det_covariance() == q.log_det_covariance() && copy->family() == q.family() &&
                copy->rank() == q.rank());
    copy->set_isotropic(4);
    copy->mean()[0] = 99;
    assert_same("precision of the original", dense_precision(q), belief.precision);
    assert_same("mean of the original", column_of(q.mean()), belief.mean);
    Padded<T> variance(Dense(q.dimension(), 1));
    copy->marginal_variance(variance.column(), scratch);
    assert_close("isotropic", variance.dense(), Dense(q.dimension(), 1, 0.25), tolerance<T>);
  });
}

template <class T>
void swapping_exchanges_everything(void**) {
  auto first = beliefs<T>(5, 1), second = beliefs<T>(5, 2);
  for (std::size_t k = 0; k < first.size(); ++k) {
    first[k].q->set_blank(false);
    first[k].q->swap(*second[k].q);
    assert_true(first[k].q->is_blank() && !second[k].q->is_blank());
    for (const auto& [now, then] : {std::pair(&first[k], &second[k]), std::pair(&second[k], &first[k])}) {
      const Dense f = root_of(*now->q);
      assert_same("precision", dense_precision(*now->q), then->precision);
      assert_same("mean", column_of(std::as_const(*now->q).mean()), then->mean);
      assert_close("root", f * transposed(f), then->covariance, tolerance<T>);
      assert_near("log det", now->q->log_det_covariance(), -log_det(then->precision), tolerance<T>);
    }
  }
}

template <class T>
void new_posteriors_are_blank_and_standard(void**) {
  const LowRankPosterior<T> low_rank(4, 2);
  const FullPosterior<T> full(4);
  const FullMomentPosterior<T> moment(4);
  const LowRankMomentPosterior<T> low_rank_moment(4, 6);
  for (const Posterior<T>* q :
       {static_cast<const Posterior<T>*>(&low_rank), static_cast<const Posterior<T>*>(&full),
        static_cast<const Posterior<T>*>(&moment), static_cast<const Posterior<T>*>(&low_rank_moment)}) {
    assert_true(q->is_blank() && q->dimension() == 4 && q->log_det_covariance() == 0);
    assert_same("mean", column_of(q->mean()), Dense(4, 1));
    assert_same("precision", dense_precision(*q), identity(4));
  }
  assert_true(low_rank.rank() == 2 && low_rank.family() == Family::low_rank && full.family() == Family::full);
  assert_true(low_rank_moment.rank() == 6 && low_rank_moment.family() == Family::low_rank_moment);
  assert_true(moment.rank() == 4 && moment.family() == Family::full_moment);
}

void matrices_that_are_not_positive_definite_are_refused(void**) {
  FullPosterior<double> full(2);
  Dense bad = identity(2);
  bad(1, 0) = 2;
  expect_error(Status::ERROR_INVALID_ARGUMENT, "positive definite", [&] {
    full.set_precision({bad.values.data(), 2, 2});
  });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "not positive", [&] { full.set_isotropic(-1); });
  FullMomentPosterior<double> moment(2);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "covariance is not positive definite", [&] {
    moment.set_covariance({bad.values.data(), 2, 2});
  });
  for (const double precision : {0.0, -1.0})
    expect_error(Status::ERROR_INVALID_ARGUMENT, "not positive", [&] { moment.set_isotropic(precision); });
  expect_error(Status::ERROR_DIVERGED, "positive definite",
               [] { low_rank_of<double>(Dense(3, 1), Dense(3, 1, -1)); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_operations() {
  const CMUnitTest tests[] = {
      BOTH(solutions_are_products_with_the_covariance),
      BOTH(coloring_the_identity_gives_a_root_of_the_covariance),
      BOTH(diagonals_are_those_of_the_matrices),
      BOTH(quadratic_forms_and_determinants_agree),
      BOTH(log_densities_and_entropies_are_those_of_the_normal_distribution),
      BOTH(covariance_blocks_are_parts_of_the_covariance),
      BOTH(clones_are_equal_and_independent),
      BOTH(swapping_exchanges_everything),
      BOTH(new_posteriors_are_blank_and_standard),
      cmocka_unit_test(matrices_that_are_not_positive_definite_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
