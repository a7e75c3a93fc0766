// Sigma = (U U^T + diag(d))^-1 through the Cholesky factor of I + V^T V, against the dense inverse.
#include "linalg/tall/woodbury.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
struct Case {
  const char* name;
  Padded<T> u, d;
  Dense precision, covariance;

  Case(const char* title, const Dense& factor, const Dense& diagonal)
      : name(title),
        u(factor, 2),
        d(diagonal),
        precision(u.dense() * transposed(u.dense()) + diagonal_matrix(d.dense())),
        covariance(inverse_of(precision)) {}
};

/// Full rank, repeated columns, zero columns, all zero, no column, more columns than rows; D of 1 and above a
/// block.
template <class T>
std::vector<Case<T>> cases() {
  Random random(5);
  std::vector<Case<T>> out;
  const auto d = [&](Index size) { return random.uniform(size, 1, 0.5, 3); };
  out.emplace_back("full rank", random.normal(23, 5), d(23));
  const Dense half = random.normal(17, 2);
  out.emplace_back("repeated columns", beside(half, beside(half, half)), d(17));
  out.emplace_back("zero columns", beside(random.normal(9, 2), Dense(9, 3)), d(9));
  out.emplace_back("all zero", Dense(11, 4), d(11));
  out.emplace_back("no column", Dense(6, 0), d(6));
  out.emplace_back("square", random.normal(8, 8), d(8));
  out.emplace_back("more columns than rows", random.normal(3, 7), d(3));
  out.emplace_back("one parameter", random.normal(1, 1), d(1));
  return out;
}

template <class T, class Check>
void for_each_case(Check check) {
  for (const Case<T>& item : cases<T>()) {
    Woodbury<T> woodbury;
    Scratch scratch;
    assert_true(woodbury.factorize(item.u.get(), item.d.column(), scratch));
    check(item, woodbury, scratch);
  }
}

template <class T>
void solves_are_products_with_the_inverse(void**) {
  for_each_case<T>([](const Case<T>& item, const Woodbury<T>& woodbury, Scratch& scratch) {
    for (const Index columns : {0, 1, 6}) {
      Padded<T> x(Random(8).normal(item.covariance.rows, columns), 3);
      const Dense expected = item.covariance * x.dense();
      woodbury.solve(item.u.get(), item.d.column(), x.view(), scratch);
      assert_close(item.name, x.dense(), expected, accuracy<T>);
    }
  });
}

template <class T>
void log_determinants_agree(void**) {
  for_each_case<T>([](const Case<T>& item, const Woodbury<T>& woodbury, Scratch&) {
    assert_near(item.name, woodbury.log_det_covariance(), -log_det(item.precision), accuracy<T>);
  });
}

template <class T>
void marginal_variances_are_the_diagonal(void**) {
  for_each_case<T>([](const Case<T>& item, const Woodbury<T>& woodbury, Scratch& scratch) {
    Padded<T> variance(poison(item.covariance.rows, 1));
    woodbury.marginal_variance(item.u.get(), item.d.column(), variance.column(), scratch);
    assert_close(item.name, variance.dense(), diagonal_of(item.covariance), accuracy<T>);
  });
}

/// The columns of F = color(I) satisfy F F^T = Sigma, also where V^T V is singular.
template <class T>
void colored_identity_is_a_root_of_the_covariance(void**) {
  for_each_case<T>([](const Case<T>& item, const Woodbury<T>& woodbury, Scratch& scratch) {
    Padded<T> f(identity(item.covariance.rows), 1);
    woodbury.color(item.u.get(), item.d.column(), {}, f.view(), scratch);
    assert_close(item.name, f.dense() * transposed(f.dense()), item.covariance, accuracy<T>);
  });
}

/// V of norm 1e5: the subtraction in Sigma_ii cancels in float, the bound 1 / diag(Sigma^-1) holds, and is
/// reached where a parameter has a column of U to itself.
void variances_never_fall_below_their_bound(void**) {
  Dense own(40, 3);
  for (Index k = 0; k < 3; ++k) own(k, k) = 1e5;
  for (const Dense& factor : {own, Random(3).normal(40, 3, 1e5)}) {
    const Padded<float> u(factor), d(Dense(40, 1, 1));
    Woodbury<float> woodbury;
    Scratch scratch;
    assert_true(woodbury.factorize(u.get(), d.column(), scratch));
    Padded<float> variance(Dense(40, 1));
    woodbury.marginal_variance(u.get(), d.column(), variance.column(), scratch);
    for (Index i = 0; i < 40; ++i) {
      double precision = 1;
      for (Index k = 0; k < 3; ++k) precision += std::pow(u.dense()(i, k), 2);
      assert_true(variance.dense()(i, 0) >= 0.999 / precision);
      assert_true(variance.dense()(i, 0) <= 1.001);
    }
  }
}

/// Weak and strong directions together in double: d = 1e-6, U of length 1e3.
void wide_spectra_stay_accurate(void**) {
  Random random(12);
  const Case<double> item("wide", random.normal(30, 4, 1e3), Dense(30, 1, 1e-6));
  Woodbury<double> woodbury;
  Scratch scratch;
  assert_true(woodbury.factorize(item.u.get(), item.d.column(), scratch));
  Padded<double> f(identity(30));
  woodbury.color(item.u.get(), item.d.column(), {}, f.view(), scratch);
  const Dense projector = identity(30) - item.u.dense() *
                                             inverse_of(transposed(item.u.dense()) * item.u.dense()) *
                                             transposed(item.u.dense());
  assert_close("Sigma", f.dense() * transposed(f.dense()), 1e6 * projector, 1e-9);
}

/// U U^T a million times d: Sigma x is a small difference of large numbers, which float keeps by computing in
/// double.
void float_solutions_do_not_cancel(void**) {
  Random random(13);
  const Case<float> item("dominant", random.normal(40, 4, 1e3), random.uniform(40, 1, 0.5, 2));
  Woodbury<float> woodbury;
  Scratch scratch;
  assert_true(woodbury.factorize(item.u.get(), item.d.column(), scratch));
  Padded<float> x(random.normal(40, 3)), f(identity(40));
  const Dense expected = item.covariance * x.dense();
  woodbury.solve(item.u.get(), item.d.column(), x.view(), scratch);
  woodbury.color(item.u.get(), item.d.column(), {}, f.view(), scratch);
  assert_close("Sigma x", x.dense(), expected, 1e-6);
  assert_close("Sigma", f.dense() * transposed(f.dense()), item.covariance, 1e-6);
}

template <class T>
void what_is_not_finite_is_refused(void**) {
  Scratch scratch;
  Woodbury<T> woodbury;
  for (const double bad : {not_a_number, infinity})
    for (Index where = 0; where < 4; ++where) {
      Dense u = Random(1).normal(4, 2), d(4, 1, 2);
      u(where, where % 2) = bad;
      assert_false(woodbury.factorize(Padded<T>(u).get(), Padded<T>(d).column(), scratch));
      d(where, 0) = bad;
      assert_false(woodbury.factorize(Padded<T>(Dense(4, 0)).get(), Padded<T>(d).column(), scratch));
    }
  Dense zero(3, 1, 1);
  zero(1, 0) = 0;
  assert_false(woodbury.factorize(Padded<T>(Dense(3, 0)).get(), Padded<T>(zero).column(), scratch));
  zero(1, 0) = -1;
  assert_false(woodbury.factorize(Padded<T>(Dense(3, 1)).get(), Padded<T>(zero).column(), scratch));
}

}  // namespace

int test_woodbury() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(solves_are_products_with_the_inverse<float>),
      cmocka_unit_test(solves_are_products_with_the_inverse<double>),
      cmocka_unit_test(log_determinants_agree<float>),
      cmocka_unit_test(log_determinants_agree<double>),
      cmocka_unit_test(marginal_variances_are_the_diagonal<float>),
      cmocka_unit_test(marginal_variances_are_the_diagonal<double>),
      cmocka_unit_test(colored_identity_is_a_root_of_the_covariance<float>),
      cmocka_unit_test(colored_identity_is_a_root_of_the_covariance<double>),
      cmocka_unit_test(variances_never_fall_below_their_bound),
      cmocka_unit_test(wide_spectra_stay_accurate),
      cmocka_unit_test(float_solutions_do_not_cancel),
      cmocka_unit_test(what_is_not_finite_is_refused<float>),
      cmocka_unit_test(what_is_not_finite_is_refused<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
