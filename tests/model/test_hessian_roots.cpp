// The output Hessian by finite differences, its products, and its square roots A with A z = gradient;
// saturated outputs included.
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Root {
  Dense a, z;
};

template <class T>
Root root_of(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  const Index count = likelihood.outputs();
  Padded<T> a(poison(count, count));
  Dense z = poison(count, 1);
  for (Index k = 0; k < count; ++k)
    likelihood.hessian_root(Padded<T>(f).get().data, Padded<T>(y).get().data, k, a.view().column_data(k),
                            &z(k, 0));
  return {a.dense(), z};
}

template <class T>
Dense gradient(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  Padded<T> seed(poison(f.rows, 1));
  likelihood.gradient(Padded<T>(f).get().data, Padded<T>(y).get().data, seed.column().data());
  return seed.dense();
}

template <class Check>
void for_each_point_parameter(double scale, Check check) {
  for (const Likelihood& likelihood : all_likelihoods()) {
    Random random(static_cast<std::uint64_t>(51 + likelihood.kind()));
    for (int trial = 0; trial < 20; ++trial) {
      const Dense f = random.normal(likelihood.outputs(), 1, scale);
      check(likelihood, f, random_targets(likelihood, random));
    }
  }
}

void roots_square_to_the_hessian(void**) {
  constexpr double h = 1e-5;
  for_each_point_parameter(1.5, [](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    const Root root = root_of<double>(likelihood, f, y);
    const Dense hessian = root.a * transposed(root.a);
    for (Index c = 0; c < f.rows; ++c) {
      Dense up = f, down = f;
      up(c, 0) += h;
      down(c, 0) -= h;
      const Dense column =
          1 / (2 * h) * (gradient<double>(likelihood, up, y) - gradient<double>(likelihood, down, y));
      for (Index i = 0; i < f.rows; ++i) assert_near("Hessian", hessian(i, c), column(i, 0), 1e-7);
    }
  });
}

/// Entries and products against A A^T, which the last test has checked.
template <class T>
void products_are_those_of_the_hessian(void**) {
  for (const double scale : {0.1, 1.5, 4.0})
    for_each_point_parameter(scale, [](const Likelihood& likelihood, const Dense& point, const Dense& y) {
      const Dense f = rounded<T>(point);
      const Root root = root_of<double>(likelihood, f, y);
      const Dense hessian = root.a * transposed(root.a);
      Dense terms = poison(f.rows, 1), entries = poison(f.rows, f.rows), products = poison(f.rows, f.rows);
      likelihood.hessian_terms(Padded<T>(f).get().data, static_cast<const T*>(nullptr), terms.values.data());
      Random random(2);
      const Dense v = rounded<T>(random.normal(f.rows, f.rows));
      for (Index k = 0; k < f.rows; ++k) {
        for (Index c = 0; c < f.rows; ++c)
          entries(c, k) = likelihood.hessian_entry(terms.values.data(), c, k);
        Padded<T> product(poison(f.rows, 1));
        likelihood.hessian_product(terms.values.data(), Padded<T>(columns_of(v, k, 1)).get().data,
                                   product.view().data);
        for (Index c = 0; c < f.rows; ++c) products(c, k) = product.dense()(c, 0);
      }
      // p (1 - p) cancels where p is near 1: errors are relative to probabilities, not to their products.
      const double size = std::max(1.0, max_abs(hessian));
      assert_true(max_abs(entries - hessian) <= 1e-12 * size);
      assert_true(max_abs(products - hessian * v) <= accuracy<T> * size);
      assert_true(likelihood.has_coupled_outputs() ||
                  max_abs(entries - diagonal_matrix(diagonal_of(entries))) == 0);
    });
}

/// Class probabilities at 0 and 1: products are finite and small, entries of the diagonal not negative.
template <class T>
void saturated_products_stay_finite(void**) {
  for (const Likelihood& likelihood : all_likelihoods())
    for (const double size : {40.0, 120.0, 700.0}) {
      if (likelihood.kind() == BDL_POISSON || likelihood.kind() == BDL_GAUSSIAN) continue;
      Dense f(likelihood.outputs(), 1, 0), terms = poison(f.rows, 1);
      f(0, 0) = size;
      likelihood.hessian_terms(Padded<T>(f).get().data, static_cast<const T*>(nullptr), terms.values.data());
      Padded<T> v(Dense(f.rows, 1, 1)), product(poison(f.rows, 1));
      v.view()(0, 0) = -1;
      likelihood.hessian_product(terms.values.data(), v.get().data, product.view().data);
      assert_true(std::abs(product.dense()(0, 0)) <= 4 * std::exp(-size) * static_cast<double>(f.rows));
      for (Index c = 0; c < f.rows; ++c)
        assert_true(likelihood.hessian_entry(terms.values.data(), c, c) >= 0);
    }
}

/// The mean update uses the curvature rows as its gradient.
template <class T>
void the_gradient_is_a_combination_of_the_columns(void**) {
  for (const double scale : {0.1, 1.5, 10.0})
    for_each_point_parameter(scale, [](const Likelihood& likelihood, const Dense& f, const Dense& y) {
      const Root root = root_of<T>(likelihood, f, y);
      const Dense expected = gradient<double>(likelihood, rounded<T>(f), rounded<T>(y)),
                  got = root.a * root.z;
      const double size = std::max(1.0, max_abs(expected));
      for (Index i = 0; i < f.rows; ++i)
        assert_true(std::abs(got(i, 0) - expected(i, 0)) <= (sizeof(T) == 8 ? 1e-12 : 1e-5) * size);
    });
}

/// Saturated outputs: entries and coefficients are finite, products still the gradient, squares at rounding
/// level.
template <class T>
void saturated_outputs_stay_finite(void**) {
  for (const Likelihood& likelihood : all_likelihoods())
    for (const double size : {40.0, 120.0, 700.0})
      for (const int sign : {-1, 1}) {
        if (likelihood.kind() == BDL_POISSON && sign > 0) continue;  // the rate itself overflows
        Dense f(likelihood.outputs(), 1, 0);
        f(0, 0) = sign * size;
        for (const double label : {0.0, 1.0}) {
          const Dense y(likelihood.targets(), 1, label);
          const Root root = root_of<T>(likelihood, f, y);
          for (double value : root.a.values) assert_true(std::isfinite(value));
          for (double value : root.z.values)
            assert_true(std::isfinite(static_cast<double>(static_cast<T>(value))));
          const Dense expected = gradient<double>(likelihood, f, y), got = root.a * root.z;
          assert_true(max_abs(got - expected) <= 1e-5 * std::max(1.0, max_abs(expected)));
          if (likelihood.kind() == BDL_BERNOULLI)
            assert_true(std::pow(root.a(0, 0), 2) <= 1.00001 * std::exp(-size) + 1.1e-30);
        }
      }
}

void poisson_rates_give_their_own_root(void**) {
  const Likelihood poisson(BDL_POISSON, 1);
  for (const double f : {-60.0, 0.0, 20.0, 80.0}) {
    const Root root = root_of<double>(poisson, Dense(1, 1, f), Dense(1, 1, 3));
    assert_true(std::abs(root.a(0, 0) / std::exp(f / 2) - 1) < 1e-12);
  }
}

}  // namespace

int test_hessian_roots() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(roots_square_to_the_hessian),
      cmocka_unit_test(products_are_those_of_the_hessian<float>),
      cmocka_unit_test(products_are_those_of_the_hessian<double>),
      cmocka_unit_test(saturated_products_stay_finite<float>),
      cmocka_unit_test(saturated_products_stay_finite<double>),
      cmocka_unit_test(the_gradient_is_a_combination_of_the_columns<float>),
      cmocka_unit_test(the_gradient_is_a_combination_of_the_columns<double>),
      cmocka_unit_test(saturated_outputs_stay_finite<float>),
      cmocka_unit_test(saturated_outputs_stay_finite<double>),
      cmocka_unit_test(poisson_rates_give_their_own_root),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
