// Limits of log rates and of log noise variances: the bend, derivatives by finite differences, and integrals
// over a normal f against plain sums. Where a limit is out of reach, nothing changes by a bit.
#include "likelihood/kinds/heteroscedastic.hpp"
#include "likelihood/limited_rates.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double none = std::numeric_limits<double>::infinity();

void the_bend_is_smooth_and_bounded(void**) {
  constexpr double limit = 2.5, h = 1e-5;
  for (double f = -3; f < 60; f += 0.37) {
    assert_true(limited(f, none) == f && bend_at(f, none).slope == 1);
    if (f <= limit) assert_true(limited(f, limit) == f && unlimited(f, limit) == f);
    const double g = limited(f, limit), up = limited(f + h, limit), down = limited(f - h, limit);
    assert_true(g <= f && g < limit + 1);
    assert_near("slope", bend_at(f, limit).slope, (up - down) / (2 * h), 1e-9);
    assert_near("second", bend_at(f, limit).second, (up - 2 * g + down) / (h * h), 2e-5);
    assert_near("inverse", unlimited(g, limit), f, 1e-9 * (1 + std::abs(f * f * f)));
    assert_near("slope by value", bend_of_limited(g, limit).slope, bend_at(f, limit).slope, 1e-12);
    assert_near("second by value", bend_of_limited(g, limit).second, bend_at(f, limit).second, 1e-9);
  }
  for (const double far : {1e10, 1e200, 1.7e308, none}) {
    assert_true(limited(far, limit) <= limit + 1 && limited(far, limit) > limit + 0.999);
    assert_true(std::isfinite(bend_at(far, limit).slope) && std::isfinite(bend_at(far, limit).second));
  }
  assert_true(unlimited(limit + 1, limit) == none &&
              std::isnan(limited(std::numeric_limits<double>::quiet_NaN(), limit)));
}

double loss(const Likelihood& likelihood, Dense f, const Dense& y, Index c = 0, double step = 0) {
  f(c, 0) += step;
  return -likelihood.log_density(f.values.data(), y.values.data());
}

/// Gradients and Hessians are the loss's own, and A z is the gradient, below the limit and far beyond.
void check_derivatives(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  constexpr double h = 1e-4;
  const Index outputs = likelihood.outputs();
  Dense e(outputs, 1), terms(outputs, 1), moved(outputs, 1), seed(outputs, 1), sum(outputs, 1);
  likelihood.gradient(f.values.data(), y.values.data(), e.values.data());
  likelihood.hessian_terms(f.values.data(), y.values.data(), terms.values.data());
  for (Index k = 0; k < outputs; ++k) {
    double z = 0;
    likelihood.hessian_root(f.values.data(), y.values.data(), k, seed.values.data(), &z);
    for (Index c = 0; c < outputs; ++c) sum(c, 0) += z * seed(c, 0);
  }
  for (Index c = 0; c < outputs; ++c) {
    const double size = 1 + std::abs(e(c, 0)),
                 slope = (loss(likelihood, f, y, c, h) - loss(likelihood, f, y, c, -h)) / (2 * h);
    assert_near("e", e(c, 0), slope, 1e-5 * size);
    assert_near("A z", sum(c, 0), e(c, 0), 1e-12 * size);
    for (const double sign : {1.0, -1.0}) {
      Dense at = f;
      at(c, 0) += sign * h;
      likelihood.gradient(at.values.data(), y.values.data(), seed.values.data());
      for (Index k = 0; k < outputs; ++k) moved(k, 0) = (sign > 0 ? 0 : moved(k, 0)) + sign * seed(k, 0);
    }
    for (Index k = 0; k < outputs; ++k)
      assert_near("F", likelihood.hessian_entry(terms.values.data(), k, c), moved(k, 0) / (2 * h),
                  1e-4 * size);
  }
  double mean[2], variance[2];
  likelihood.moments(f.values.data(), mean, variance);
  assert_true(likelihood.misfit(f.values.data(), y.values.data()) >= 0);
}

void derivatives_are_those_of_the_loss(void**) {
  Random random(5);
  for (const bdl_likelihood kind : {BDL_POISSON, BDL_HETEROSCEDASTIC})
    for (const double limit : {0.5, 1.5, none})
      for (int trial = 0; trial < 60; ++trial) {
        Likelihood likelihood(kind, 2);
        likelihood.set_limit(limit);
        Dense f = random.normal(2, 1, 2);
        if (std::abs(f(0, 0) - limit) < 0.01 || std::abs(f(1, 0) - limit) < 0.01 ||
            std::abs(-f(1, 0) - limit) < 0.01)
          continue;  // the third derivative jumps
        check_derivatives(likelihood, f, random_targets(likelihood, random));
      }
}

void rates_and_noise_are_bounded(void**) {
  for (const double f : {-5.0, 2.0, 3.0, 10.0, 700.0, 1e6, 1e300}) {
    Likelihood counts(BDL_POISSON, 1), noisy(BDL_HETEROSCEDASTIC, 2);
    for (Likelihood* likelihood : {&counts, &noisy}) likelihood->set_limit(std::log(20));
    noisy.set_noise_precision(std::array{4.0});
    double mean = 0, variance = 0;
    counts.moments(&f, &mean, &variance);
    assert_true(mean < 20 * std::exp(1) * (1 + 1e-12) && variance == mean);
    const double outputs[] = {0, -f}, y = 3;
    noisy.moments(outputs, &mean, &variance);
    assert_true(variance < 20 * std::exp(1) * (1 + 1e-12));
    for (const Likelihood* likelihood : {&counts, &noisy}) {
      double seed[2];
      likelihood->gradient(likelihood == &counts ? &f : outputs, &y, seed);
      assert_true(std::isfinite(seed[0]) && (likelihood == &counts || std::isfinite(seed[1])));
      assert_true(std::isfinite(likelihood->log_density(likelihood == &counts ? &f : outputs, &y)));
    }
  }
}

/// Midpoints of 400,000 steps over 12 deviations on both sides.
template <class Value>
double normal_sum(double m, double v, Value value) {
  constexpr int steps = 400000;
  double sum = 0, total = 0;
  for (int i = 0; i < steps; ++i) {
    const double t = 24 * (i + 0.5) / steps - 12, weight = std::exp(-t * t / 2);
    sum += weight * value(m + std::sqrt(v) * t);
    total += weight;
  }
  return sum / total;
}

void integrals_over_limited_rates_are_sums(void**) {
  const double limit = std::log(30);
  for (const double m : {-2.0, 1.0, 3.3, 4.0, 9.0, 60.0})
    for (const double v : {0.01, 1.0, 30.0, 900.0}) {
      const auto rate = [limit](double f) { return std::exp(limited(f, limit)); };
      const RateMoments moments = rate_moments(m, v, limit);
      const double mean = normal_sum(m, v, rate);
      assert_near("E", moments.mean, mean, 1e-8 * mean);
      assert_near("Var", moments.variance,
                  normal_sum(m, v, [&](double f) { return std::pow(rate(f) - mean, 2); }),
                  1e-8 * mean * mean);
      for (const double y : {0.0, 1.0, 7.0, 40.0, 100.0}) {
        const double p = normal_sum(m, v, [&](double f) { return std::exp(log_poisson(y, rate(f))); });
        if (p > 1e-40) assert_near("log p", log_poisson_of_normal(m, v, y, limit), std::log(p), 1e-6);
        const CountTails tails = poisson_tails_of_normal(m, v, y, limit);
        assert_near("P(Y <= y)", tails.at_most,
                    normal_sum(m, v, [&](double f) { return poisson_tails(y, rate(f)).at_most; }), 1e-7);
        assert_near("sum", tails.at_most + tails.above, 1, 1e-12);
        if (rates_meet_limit(m, v, limit))
          assert_near(
              "E[log p]", expected_log_poisson(m, v, y, limit),
              normal_sum(m, v,
                         [&](double f) { return y * limited(f, limit) - rate(f) - std::lgamma(y + 1); }),
              1e-7 * (100 + std::sqrt(v) * y));
      }
      double sum = 0, first = 0;
      for (double y = 0; y < 250; ++y) {
        const double p = std::exp(log_poisson_of_normal(m, v, y, limit));
        sum += p;
        first += p * y;
      }
      assert_near("sum of P", sum, 1, 1e-7);
      assert_near("E by P", first, moments.mean, 1e-5 * moments.mean);
    }
}

void limits_out_of_reach_change_no_bit(void**) {
  for (const double m : {-1.0, 0.7, 2.0})
    for (const double v : {1e-3, 0.2, 1.0}) {
      const double limit = 40;
      assert_true(rate_moments(m, v, limit).mean == std::exp(m) * std::exp(v / 2));
      for (const double y : {0.0, 3.0, 12.0}) {
        assert_true(log_poisson_of_normal(m, v, y, limit) == log_poisson_lognormal(m, v, y));
        const CountTails got = poisson_tails_of_normal(m, v, y, limit),
                         expected = poisson_lognormal_tails(m, v, y);
        assert_true(got.at_most == expected.at_most && got.above == expected.above);
      }
    }
}

/// Rates beyond a double: an infinite mean, counts that are as likely as they are.
void rates_that_overflow_are_infinite(void**) {
  for (const double m : {300.0, 800.0, 2500.0, 1e5})
    for (const double v : {0.0, 1e-4, 1.0, 1000.0}) {
      const RateMoments moments = rate_moments(m, v, none);
      assert_true(m + v / 2 < 709 ? std::isfinite(moments.mean) : moments.mean == none);
      assert_false(std::isnan(moments.variance));
      for (const double y : {0.0, 3.0, 1e9}) {
        assert_true(log_poisson_of_normal(m, v, y, none) < 0);
        const CountTails tails = poisson_tails_of_normal(m, v, y, none);
        assert_true(tails.at_most >= 0 && tails.above <= 1 + 1e-12 && tails.at_most < 0.01);
      }
    }
  const RateMoments narrow = rate_moments(-3000, 4000, none);  // e^-1000, but a variance of e^2000
  assert_true(narrow.mean == 0 && narrow.variance == none);
}

/// With h ~ N(m_h, S_hh): expected noise and expected density, whether the limit is met or not.
void noise_integrals_are_sums(void**) {
  const double mean = 0.3, y = 1.1;
  for (const double limit : {0.5, 3.0, 50.0})
    for (const double h : {-4.0, 0.0, 2.0})
      for (const double v : {0.04, 1.0, 9.0}) {
        Likelihood likelihood(BDL_HETEROSCEDASTIC, 2);
        likelihood.set_noise_precision(std::array{2.0});
        likelihood.set_limit(limit);
        const double m[] = {mean, h}, s[] = {0.5, 0, 0, v};
        const ConstMatrixView<double> covariance(s, 2, 2);
        const auto precision = [&](double x) {
          return 2 * std::exp(heteroscedastic::limited_log_precision(likelihood, x, 0));
        };
        const double noise = normal_sum(h, v, [&](double x) { return 1 / precision(x); });
        assert_near("E[noise]", heteroscedastic::expected_noise_variance(likelihood, m, covariance, 0), noise,
                    2e-4 * noise);
        const double square = (mean - y) * (mean - y) + 0.5,
                     density = normal_sum(h, v, [&](double x) {
                       const double p = precision(x);
                       return (std::log(p / (2 * std::numbers::pi)) - p * square) / 2;
                     });
        assert_near("E[log p]", heteroscedastic::expected_log_density(likelihood, m, covariance, &y), density,
                    2e-4 * (1 + std::abs(density)));
      }
}

}  // namespace

int test_limits() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_bend_is_smooth_and_bounded),
      cmocka_unit_test(derivatives_are_those_of_the_loss),
      cmocka_unit_test(rates_and_noise_are_bounded),
      cmocka_unit_test(integrals_over_limited_rates_are_sums),
      cmocka_unit_test(limits_out_of_reach_change_no_bit),
      cmocka_unit_test(rates_that_overflow_are_infinite),
      cmocka_unit_test(noise_integrals_are_sums),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
