// The heteroscedastic Gaussian against direct formulas, finite differences and sums over grids: with log
// noise precisions that are free, and held at 0.
#include <numbers>

#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/linearized_density.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class Check>
void for_each_point_parameter(Check check) {
  for (const bool free : {false, true})
    for (const std::vector<double>& precision : {std::vector<double>{2.5}, std::vector<double>{0.7, 4, 30}}) {
      const Likelihood likelihood = heteroscedastic_noise(precision, free);
      Random random(7);
      for (int trial = 0; trial < 10; ++trial)
        check(likelihood, random.normal(likelihood.outputs(), 1), random.normal(likelihood.targets(), 1, 2));
    }
}

double density(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  return likelihood.log_density(f.values.data(), y.values.data());
}

template <class T>
Dense gradient(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  Padded<T> seed(poison(f.rows, 1));
  likelihood.gradient(Padded<T>(f).get().data, Padded<T>(y).get().data, seed.column().data());
  return seed.dense();
}

Dense hessian(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  Dense terms = poison(f.rows, 1), out(f.rows, f.rows);
  likelihood.hessian_terms(f.values.data(), y.values.data(), terms.values.data());
  for (Index k = 0; k < f.rows; ++k)
    for (Index c = 0; c < f.rows; ++c) out(c, k) = likelihood.hessian_entry(terms.values.data(), c, k);
  return out;
}

/// Columns and coefficients.
std::pair<Dense, Dense> root(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  Dense a = poison(f.rows, f.rows), z = poison(f.rows, 1);
  for (Index k = 0; k < f.rows; ++k)
    likelihood.hessian_root(f.values.data(), y.values.data(), k, &a(0, k), &z(k, 0));
  return {a, z};
}

double precision_of(const Likelihood& likelihood, const Dense& f, Index c) {
  return likelihood.noise_precision(c) *
         (likelihood.log_precision_is_free() ? std::exp(f(likelihood.targets() + c, 0)) : 1);
}

void densities_and_moments_are_the_formulas(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    Dense mean = poison(y.rows, 1), variance = mean;
    likelihood.moments(f.values.data(), mean.values.data(), variance.values.data());
    double sum = 0, lost = 0;
    for (Index c = 0; c < y.rows; ++c) {
      const double s = precision_of(likelihood, f, c), r = y(c, 0) - f(c, 0);
      sum += std::log(std::sqrt(s / (2 * std::numbers::pi)) * std::exp(-s * r * r / 2));
      lost += (s * r * r - std::log(s / likelihood.noise_precision(c))) / 2;
      assert_near("mean", mean(c, 0), f(c, 0), 1e-15);
      assert_near("variance", variance(c, 0), 1 / s, 1e-14);
      assert_near("squared error", likelihood.squared_error(f.values.data(), y.values.data(), c),
                  r * r * s / likelihood.noise_precision(c), 1e-13);
    }
    assert_near("log p", density(likelihood, f, y), sum, 1e-12);
    assert_near("misfit", likelihood.misfit(f.values.data(), y.values.data()), std::max(0.0, lost), 1e-12);
  });
}

void derivatives_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    const Dense got = gradient<double>(likelihood, f, y), second = hessian(likelihood, f, y);
    const bool free = likelihood.log_precision_is_free();
    for (Index k = 0; k < f.rows; ++k) {
      Dense up = f, down = f;
      up(k, 0) += h;
      down(k, 0) -= h;
      assert_near("gradient", got(k, 0),
                  -(density(likelihood, up, y) - density(likelihood, down, y)) / (2 * h), 1e-7);
      const Dense column =
          1 / (2 * h) * (gradient<double>(likelihood, up, y) - gradient<double>(likelihood, down, y));
      for (Index c = 0; c < f.rows; ++c)
        assert_near("Hessian", second(c, k), !free && c == k && c >= y.rows ? 0.5 : column(c, 0), 1e-6);
    }
    Dense terms = poison(f.rows, 1), product = poison(f.rows, 1);
    likelihood.hessian_terms(f.values.data(), y.values.data(), terms.values.data());
    likelihood.hessian_product(terms.values.data(), f.values.data(), product.values.data());
    assert_close("H v", product, second * f, 1e-13);
    assert_close("in float", gradient<float>(likelihood, f, y), got, 1e-5);
  });
}

/// In the mean over y the Hessian is diag(tau e^h, 1/2). Outliers have more of the second: at most a step
/// of 1.
void roots_are_those_of_the_expected_hessian(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    const auto [a, z] = root(likelihood, f, y);
    assert_close("A z", a * z, gradient<double>(likelihood, f, y), 1e-12);
    Dense expected(f.rows, f.rows);
    double total = 0;
    for (double t = -9; t <= 9; t += 0.1) {
      Dense draw(y.rows, 1);
      for (Index c = 0; c < y.rows; ++c) draw(c, 0) = f(c, 0) + t / std::sqrt(precision_of(likelihood, f, c));
      expected = expected + std::exp(-t * t / 2) * hessian(likelihood, f, draw);
      total += std::exp(-t * t / 2);
    }
    if (likelihood.log_precision_is_free())
      for (Index c = 0; c < y.rows; ++c)
        expected(y.rows + c, y.rows + c) *=
            std::max(1.0, precision_of(likelihood, f, c) * std::pow(f(c, 0) - y(c, 0), 2));
    assert_close("A A^T", a * transposed(a), 1 / total * expected, 1e-12);
  });
}

/// Targets without noise would raise h for ever. Of targets that are not standardised nobody knows how small
/// their noise may be.
void log_precisions_beyond_the_most_are_pulled_back(void**) {
  Likelihood likelihood = heteroscedastic_noise({2.5}, true);
  Dense f(2, 1), y(1, 1);
  f(1, 0) = 21 - std::log(2.5);
  assert_near("without a limit", gradient<double>(likelihood, f, y)(1, 0), -0.5, 1e-15);
  likelihood.set_limit(std::log(100));
  f(1, 0) = 17.9 - std::log(2.5);
  assert_near("below it", gradient<double>(likelihood, f, y)(1, 0), -0.5, 1e-15);
  f(1, 0) = 21 - std::log(2.5);
  assert_near("beyond it", gradient<double>(likelihood, f, y)(1, 0), 1.5, 1e-15);
  const auto [columns, coefficients] = root(likelihood, f, y);
  assert_near("row", columns(1, 1) * coefficients(1, 0), 1.5, 1e-15);
  y(0, 0) = 1;  // at this h, so many standard deviations off that it is pulled more by itself
  const double z2 = std::exp(21);
  assert_near("a residual", gradient<double>(likelihood, f, y)(1, 0), (z2 - 1) / 2, 1e-15 * z2);
}

void missing_targets_say_nothing(void**) {
  for (const bool free : {false, true}) {
    const Likelihood both = heteroscedastic_noise({2, 3}, free), one = heteroscedastic_noise({3}, free);
    const Dense f = column_of(std::vector<double>{0.5, -1, 0.3, 0.8}),
                y = column_of(std::vector<double>{not_a_number, 1});
    const Dense g = column_of(std::vector<double>{-1, 0.8}), t = column_of(std::vector<double>{1});
    assert_near("log p", density(both, f, y), density(one, g, t), 1e-15);
    assert_near("misfit", both.misfit(f.values.data(), y.values.data()),
                one.misfit(g.values.data(), t.values.data()), 1e-15);
    const auto [a, z] = root(both, f, y);
    const auto [b, w] = root(one, g, t);
    const Dense slope = gradient<double>(both, f, y), h = hessian(both, f, y);
    for (Index i = 0; i < 4; ++i) {
      const bool there = i % 2 == 1;
      assert_near("gradient", slope(i, 0), there ? gradient<double>(one, g, t)(i / 2, 0) : 0, 1e-15);
      assert_near("coefficient", z(i, 0), there ? w(i / 2, 0) : 0, 1e-15);
      for (Index k = 0; k < 4; ++k) {
        const bool pair = there && k % 2 == 1;
        assert_near("root", a(i, k), pair ? b(i / 2, k / 2) : 0, 1e-15);
        assert_near("Hessian", h(i, k), pair ? hessian(one, g, t)(i / 2, k / 2) : 0, 1e-15);
      }
    }
  }
}

/// Sums over a grid of both outputs ~ N(m, S) of one target.
template <class Value>
double grid_mean(const Dense& m, const Dense& s, Value value) {
  const Dense lower = cholesky_of(s);
  double sum = 0, total = 0;
  for (double a = -8; a <= 8; a += 0.05)
    for (double b = -8; b <= 8; b += 0.05) {
      const double weight = std::exp(-(a * a + b * b) / 2), f = m(0, 0) + lower(0, 0) * a,
                   h = m(1, 0) + lower(1, 0) * a + lower(1, 1) * b;
      sum += weight * value(column_of(std::vector<double>{f, h}));
      total += weight;
    }
  return sum / total;
}

void predictive_densities_are_integrals_over_both_outputs(void**) {
  for (const bool free : {false, true})
    for (const double correlation : {-0.8, 0.0, 0.5})
      for (const double deviation : {0.05, 0.6, 1.5}) {
        const Likelihood likelihood = heteroscedastic_noise({2}, free);
        const Dense m = column_of(std::vector<double>{0.4, -0.7});
        Dense s(2, 2);
        s(0, 0) = 0.3;
        s(1, 1) = deviation * deviation;
        s(1, 0) = s(0, 1) = correlation * std::sqrt(0.3) * deviation;
        const ConstMatrixView<double> covariance(s.values.data(), 2, 2);
        Buffer<double> scratch;
        assert_near("noise", heteroscedastic::expected_noise_variance(likelihood, m.values, covariance, 0),
                    grid_mean(m, s, [&](const Dense& f) { return 1 / precision_of(likelihood, f, 0); }),
                    1e-9);
        for (const double target : {0.5, -1.0, 4.0}) {
          const Dense y(1, 1, target);
          const double p =
              grid_mean(m, s, [&](const Dense& f) { return std::exp(density(likelihood, f, y)); });
          assert_near(
              "log p(y | x)",
              linearized_log_density<double>(likelihood, m.values, covariance, y.values.data(), scratch),
              std::log(p), 1e-8);
          assert_near(
              "E[log p]",
              heteroscedastic::expected_log_density(likelihood, m.values, covariance, y.values.data()),
              grid_mean(m, s, [&](const Dense& f) { return density(likelihood, f, y); }), 1e-8);
        }
      }
}

/// Where exp(-h) overflows within nine standard deviations of h, and where the rule would have millions of
/// nodes. With so wide an h the density is that of a noise that is 0 or endless: half of the mass is
/// N(y | m, 0.3), and of the other half only what is near the bend counts. The
/// rule's nodes are then wider apart than the bend: hence the tolerance.
void wide_log_precisions_have_densities(void**) {
  const Likelihood likelihood = heteroscedastic_noise({2});
  const Dense m = column_of(std::vector<double>{0.4, -0.7});
  for (const double deviation : {30.0, 1e3, 1e6}) {
    Dense s(2, 2);
    s(0, 0) = 0.3;
    s(1, 1) = deviation * deviation;
    double p = 0, total = 0;
    for (double h = -1400; h <= 1400; h += 0.02) {
      const double weight = std::exp(-std::pow((h + 0.7) / deviation, 2) / 2);
      const double variance = 0.3 + std::exp(std::min(-h, 600.0)) / 2;
      p += 0.02 * weight * std::exp(-std::pow(1.5 - 0.4, 2) / variance / 2) / std::sqrt(variance);
      total += 0.02 * weight;
    }
    // Beyond: no noise on one side, endless noise on the other.
    const double side =
        deviation * std::sqrt(std::numbers::pi / 2) * std::erfc(1400 / deviation / std::sqrt(2));
    p += side * std::exp(-1.1 * 1.1 / 0.6) / std::sqrt(0.3);
    total += 2 * side;
    const double y = 1.5;
    Buffer<double> scratch;
    const double found = linearized_log_density<double>(
        likelihood, m.values, ConstMatrixView<double>(s.values.data(), 2, 2), &y, scratch);
    assert_near("log p", found, std::log(p / total / std::sqrt(2 * std::numbers::pi)), 0.02);
  }
}

/// Targets are taken as independent, and a missing one has no part in it.
void predictive_densities_of_targets_add_up(void**) {
  const Likelihood both = heteroscedastic_noise({2, 3});
  const Dense m = column_of(std::vector<double>{0.4, 1, -0.7, 0.2});
  Random random(3);
  const Dense b = random.normal(4, 4, 0.5), s = b * transposed(b);
  Buffer<double> scratch;
  const auto log_p = [&](const Dense& y) {
    return linearized_log_density<double>(both, m.values, {s.values.data(), 4, 4}, y.values.data(), scratch);
  };
  const double first = log_p(column_of(std::vector<double>{0.1, not_a_number})),
               second = log_p(column_of(std::vector<double>{not_a_number, 2}));
  assert_near("sum", log_p(column_of(std::vector<double>{0.1, 2})), first + second, 1e-12);
  assert_near("none", log_p(column_of(std::vector<double>{not_a_number, not_a_number})), 0, 1e-15);
}

void learned_noise_is_one_value_per_target(void**) {
  Likelihood likelihood(BDL_HETEROSCEDASTIC, 4);
  assert_true(likelihood.targets() == 2 && likelihood.means() == 2 && likelihood.has_noise_precision());
  likelihood.learn_noise_precision(std::vector<double>{3, 4});
  assert_true(likelihood.noise_precision(1) == 4 && likelihood.noise_origin() == NoiseOrigin::training);
  assert_true(likelihood.has_coupled_outputs() && likelihood.log_precision_is_free());
}

}  // namespace

int test_heteroscedastic() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(densities_and_moments_are_the_formulas),
      cmocka_unit_test(derivatives_are_the_finite_differences),
      cmocka_unit_test(roots_are_those_of_the_expected_hessian),
      cmocka_unit_test(log_precisions_beyond_the_most_are_pulled_back),
      cmocka_unit_test(missing_targets_say_nothing),
      cmocka_unit_test(predictive_densities_are_integrals_over_both_outputs),
      cmocka_unit_test(wide_log_precisions_have_densities),
      cmocka_unit_test(predictive_densities_of_targets_add_up),
      cmocka_unit_test(learned_noise_is_one_value_per_target),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
