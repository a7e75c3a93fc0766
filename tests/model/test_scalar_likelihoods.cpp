// Links, negative binomial, Gamma and ordinal likelihoods: densities against Boost.Math, derivatives against
// finite differences, expectations and predictive densities against fine sums, shapes against differences.
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/negative_binomial.hpp>
#include <boost/math/distributions/normal.hpp>

#include "likelihood/expected_loss.hpp"
#include "likelihood/output_nodes.hpp"
#include "likelihood/shape.hpp"
#include "likelihood/special_functions.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Case {
  Likelihood likelihood;
  std::vector<double> targets;
};

Likelihood shaped(bdl_likelihood kind, const std::vector<double>& shape) {
  Likelihood likelihood(kind, 1);
  likelihood.set_shape(shape);
  return likelihood;
}

std::vector<Case> cases() {
  std::vector<Case> all = {{Likelihood(BDL_PROBIT, 1), {0, 1}}, {Likelihood(BDL_CLOGLOG, 1), {0, 1}}};
  for (const double shape : {0.3, 2.5, 40.0, 1e5}) {
    all.push_back({shaped(BDL_NEGATIVE_BINOMIAL, {shape}), {0, 1, 7, 300}});
    if (shape < 1e3) all.push_back({shaped(BDL_GAMMA, {shape}), {1e-3, 0.7, 40}});
  }
  all.push_back({shaped(BDL_ORDINAL, {0.4}), {0, 1}});
  all.push_back({shaped(BDL_ORDINAL, {-1.5, 0.2, 0.3, 2}), {0, 1, 2, 3, 4}});
  return all;
}

double log_p(const Likelihood& likelihood, double f, double y) {
  return likelihood.log_density(&f, &y);
}
double slope(const Likelihood& likelihood, double f, double y) {
  double seed = 0;
  likelihood.gradient(&f, &y, &seed);
  return seed;
}
double curvature(const Likelihood& likelihood, double f, double y) {
  double h = 0;
  likelihood.hessian_terms(&f, &y, &h);
  return h;
}

template <class Check>
void for_each_point_parameter(Check check) {
  for (const Case& c : cases())
    for (const double f : {-4.0, -1.1, 0.0, 0.7, 3.0})
      for (const double y : c.targets) check(c.likelihood, f, y);
}

void densities_are_those_of_boost(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, double f, double y) {
    const double shape = likelihood.shape().empty() ? 1 : likelihood.shape(0), mean = std::exp(f);
    double expected = 0;
    switch (likelihood.kind()) {
      case BDL_PROBIT: {
        const boost::math::normal normal;
        expected = std::log(y > 0 ? boost::math::cdf(normal, f) : boost::math::cdf(complement(normal, f)));
        break;
      }
      case BDL_CLOGLOG:
        expected = y > 0 ? std::log(-std::expm1(-mean)) : -mean;
        break;
      case BDL_NEGATIVE_BINOMIAL: {
        if (shape > 1e4) return;  // Boost loses digits
        const boost::math::negative_binomial of(shape, shape / (shape + mean));
        expected = std::log(boost::math::pdf(of, y));
        if (!std::isfinite(expected)) return;
        break;
      }
      case BDL_GAMMA: {
        const boost::math::gamma_distribution<> of(shape, mean / shape);
        expected = std::log(boost::math::pdf(of, y));
        if (!std::isfinite(expected)) return;
        break;
      }
      default: {
        const auto at_most = [&](double k) {
          return k < 0 ? 0
                 : k + 1 < static_cast<double>(likelihood.levels())
                     ? 1 / (1 + std::exp(f - likelihood.shape(static_cast<Index>(k))))
                     : 1;
        };
        expected = std::log(at_most(y) - at_most(y - 1));
      }
    }
    assert_near("log p", log_p(likelihood, f, y), expected, 1e-11);
    const float f32 = static_cast<float>(f), y32 = static_cast<float>(y);
    assert_near("in float", likelihood.log_density(&f32, &y32),
                log_p(likelihood, static_cast<double>(f32), static_cast<double>(y32)), 1e-12);
  });
}

/// A negative binomial of a large shape is a Poisson, without loss of digits.
void large_shapes_are_poisson(void**) {
  for (const double y : {0.0, 3.0, 1000.0, 1e6}) {
    const double f = std::log(y + 1);
    assert_near("log p", log_p(shaped(BDL_NEGATIVE_BINOMIAL, {1e6}), f, y), log_poisson(y, std::exp(f)),
                y < 10 ? 1e-4 : 1);
  }
  double total = 0;
  for (double y = 0; y < 400; ++y) total += std::exp(log_p(shaped(BDL_NEGATIVE_BINOMIAL, {1e6}), 4.0, y));
  assert_near("sum", total, 1, 1e-12);
}

void derivatives_are_finite_differences(void**) {
  constexpr double h = 1e-5;
  for_each_point_parameter([](const Likelihood& likelihood, double f, double y) {
    const double size = 1 + std::abs(slope(likelihood, f, y)) + curvature(likelihood, f, y);
    assert_true(std::abs(slope(likelihood, f, y) +
                         (log_p(likelihood, f + h, y) - log_p(likelihood, f - h, y)) / (2 * h)) <
                1e-6 * size * (1 + std::abs(log_p(likelihood, f, y)) * 1e-2));
    assert_true(std::abs(curvature(likelihood, f, y) -
                         (slope(likelihood, f + h, y) - slope(likelihood, f - h, y)) / (2 * h)) <
                1e-6 * size);
    assert_true(curvature(likelihood, f, y) >= 0);
    double seed = 0, coefficient = 0;
    likelihood.hessian_root(&f, &y, 0, &seed, &coefficient);
    assert_near("A z", seed * coefficient, slope(likelihood, f, y), 1e-13);
    assert_near("information", likelihood.information(&f, 0), seed * seed, 1e-13);
    if (likelihood.curvature_bound() < 1e300)
      assert_true(curvature(likelihood, f, y) <= likelihood.curvature_bound() + 1e-15);
  });
}

/// E_y[slope^2] and E_y[y], by sums over classes and counts; of Gamma targets alpha and e^f.
void roots_and_moments_are_expectations(void**) {
  for (const Case& c : cases())
    for (const double f : {-2.0, 0.3, 1.5}) {
      if (c.likelihood.kind() == BDL_GAMMA) continue;
      double total = 0, mean = 0, square = 0, information = 0;
      const double end =
          c.likelihood.kind() == BDL_NEGATIVE_BINOMIAL ? 4000 : static_cast<double>(c.targets.size());
      for (double y = 0; y < end; ++y) {
        const double p = std::exp(log_p(c.likelihood, f, y));
        total += p;
        mean += p * y;
        square += p * y * y;
        information += p * std::pow(slope(c.likelihood, f, y), 2);
      }
      assert_near("sum of p", total, 1, 1e-10);
      assert_near("information", c.likelihood.information(&f, 0), information, 1e-9);
      std::vector<double> means(static_cast<std::size_t>(c.likelihood.moment_count())), variances = means;
      c.likelihood.moments(&f, means.data(), variances.data());
      if (c.likelihood.kind() == BDL_ORDINAL) {
        for (std::size_t k = 0; k < means.size(); ++k)
          assert_near("p", means[k], std::exp(log_p(c.likelihood, f, static_cast<double>(k))), 1e-14);
        continue;
      }
      assert_near("mean", means[0], mean, 1e-9);
      assert_near("variance", variances[0], square - mean * mean, 1e-8);
    }
}

void misfits_are_lost_log_densities(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, double f, double y) {
    double best = -HUGE_VAL;
    for (double g = -40; g <= 40; g += 1e-3) best = std::max(best, log_p(likelihood, g, y));
    assert_true(std::abs(likelihood.misfit(&f, &y) - (best - log_p(likelihood, f, y))) <=
                1e-4 * (1 + std::abs(best - log_p(likelihood, f, y))) + 1e-6 * std::abs(best) + 0.06);
    assert_true(likelihood.misfit(&f, &y) >= 0);
  });
}

/// Sums with steps of 1/400 over 14 deviations.
ExpectedLoss summed(const Likelihood& likelihood, double m, double v, double y) {
  ExpectedLoss sums;
  double total = 0;
  for (double t = -14; t <= 14; t += 0.0025) {
    const double f = m + std::sqrt(v) * t, weight = std::exp(-t * t / 2);
    total += weight;
    sums.loss -= weight * log_p(likelihood, f, y);
    sums.slope += weight * slope(likelihood, f, y);
    sums.curvature += weight * curvature(likelihood, f, y);
  }
  return {sums.loss / total, sums.slope / total, sums.curvature / total};
}

void expected_losses_are_integrals(void**) {
  for (const Case& c : cases())
    for (const double m : {-3.0, 0.2, 2.0})
      for (const double v : {0.0, 0.01, 1.0, 9.0})
        for (const double y : c.targets) {
          const ExpectedLoss got = expected_loss(c.likelihood, m, v, y),
                             expected = summed(c.likelihood, m, v, y);
          assert_near("E[l]", got.loss, expected.loss, 1e-11);
          assert_near("E[l']", got.slope, expected.slope, 1e-11);
          assert_near("E[l'']", got.curvature, expected.curvature, 1e-11);
          assert_true(expected_loss(c.likelihood, m, v, not_a_number).loss == 0);
        }
}

/// Few nodes are as good where variances are small, and both rules agree where one takes over.
void few_nodes_are_the_same_but_for_rounding(void**) {
  for (const Case& c : cases())
    for (const double m : {-6.0, -0.7, 0.2, 3.0})
      for (const double v : {0.0, 1e-6, 1e-3, 2.4e-3, 2.6e-3, 7.9e-3, 8e-3, 0.01, 0.0101, 0.4})
        for (const double y : c.targets) {
          const ExpectedLoss few = expected_loss_of_many(c.likelihood, m, v, y),
                             many = expected_loss(c.likelihood, m, v, y);
          const double of_terms = 1e-15 * y * (1 + std::abs(m));  // rounding of the largest, which cancel
          assert_near("E[l]", few.loss, many.loss, 1e-14 + of_terms);
          assert_near("E[l']", few.slope, many.slope, 1e-13);
          assert_near("E[l'']", few.curvature, many.curvature, 1e-13);
        }
}

/// E[-log(1 - exp(-e^f))] is about E[max(-f, 0)] where f varies much; a failure's loss is e^(m + v / 2).
void wide_outputs_of_cloglog(void**) {
  const Likelihood cloglog(BDL_CLOGLOG, 1);
  for (const double v : {300.0, 400.0, 1e4, 1e8}) {
    const ExpectedLoss of = expected_loss(cloglog, 0, v, 1.0);
    const double about = std::sqrt(v / (2 * std::numbers::pi));
    assert_true(std::abs(of.loss - about) <= 1 && std::abs(of.slope + 0.5) <= 0.1 && of.curvature >= 0);
  }
  const double all = expected_loss(cloglog, 0, 400, 1.0).loss;
  assert_near("E[l]", expected_loss(cloglog, 0, 400, 0.25).loss, 0.25 * all + 0.75 * std::exp(200), 1e-12);
}

/// Half the mass of a very wide output is on each side of 0.
void densities_of_very_wide_outputs(void**) {
  const Likelihood levels = shaped(BDL_ORDINAL, {0.0});
  for (const double s : {1e3, 1e4, 1e5, 1e6})
    for (const double y : {0.0, 1.0}) {
      for (const bdl_likelihood kind : {BDL_PROBIT, BDL_CLOGLOG})
        assert_near("log p", log_density_of_normal(Likelihood(kind, 1), 0, s * s, y), -std::log(2), 1e-3);
      assert_near("log p", log_density_of_normal(levels, 0, s * s, y), -std::log(2), 1e-3);
    }
}

void predictive_densities_are_integrals(void**) {
  for (const Case& c : cases())
    for (const double m : {-3.0, 0.2, 2.0})
      for (const double v : {0.0, 0.01, 1.0, 9.0})
        for (const double y : c.targets) {
          double sum = 0, total = 0;
          for (double t = -30; t <= 30; t += 0.0005) {
            const double weight = std::exp(-t * t / 2);
            total += weight;
            sum += std::exp(-t * t / 2 + log_p(c.likelihood, m + std::sqrt(v) * t, y));
          }
          const double expected = std::log(sum / total);
          if (expected < -400) continue;
          assert_near("log p(y | x)", log_density_of_normal(c.likelihood, m, v, y), expected, 1e-11);
        }
}

void shape_terms_are_finite_differences(void**) {
  for (const Case& c : cases()) {
    const ConstSpan<double> shape = c.likelihood.shape();
    if (shape.empty()) continue;
    const bool cuts = c.likelihood.kind() == BDL_ORDINAL;
    for (const double f : {-1.0, 0.4, 2.0})
      for (const double y : c.targets) {
        std::vector<double> sums(static_cast<std::size_t>(shape_sum_count(c.likelihood)));
        add_expected_shape_terms(c.likelihood, f, 0, y, 1, sums);
        for (std::size_t k = 0; k < shape.size(); ++k) {
          const double h = cuts ? 1e-5 : 1e-4;
          const auto at_shift = [&](double step) {
            Likelihood moved = c.likelihood;
            std::vector<double> values(shape.begin(), shape.end());
            values[k] = cuts ? values[k] + step : values[k] * std::exp(step);
            moved.set_shape(values);
            return log_p(moved, f, y);
          };
          const double slope = (at_shift(h) - at_shift(-h)) / (2 * h);
          assert_true(std::abs(sums[k] - slope) <=
                      1e-6 * (1 + std::abs(slope)) + 1e-11 * std::abs(log_p(c.likelihood, f, y)) / h);
          if (!cuts) continue;
          const double second = -(at_shift(h) - 2 * at_shift(0) + at_shift(-h)) / (h * h);
          assert_true(std::abs(sums[shape.size() * (k + 1) + k] - second) <= 1e-4 * (1 + std::abs(second)));
        }
      }
  }
}

/// Sums of the terms at fixed outputs over the normal density.
void expected_shape_terms_are_integrals(void**) {
  for (const Case& c : cases()) {
    if (c.likelihood.shape().empty()) continue;
    const auto count = static_cast<std::size_t>(shape_sum_count(c.likelihood));
    for (const double m : {-1.0, 0.4, 2.0})
      for (const double v : {0.005, 1.0})
        for (const double y : c.targets) {
          std::vector<double> got(count), expected(count);
          add_expected_shape_terms(c.likelihood, m, v, y, 1.5, got);
          double total = 0;
          for (double t = -12; t <= 12; t += 0.01) total += std::exp(-t * t / 2);
          for (double t = -12; t <= 12; t += 0.01)
            add_expected_shape_terms(c.likelihood, m + std::sqrt(v) * t, 0, y,
                                     1.5 * std::exp(-t * t / 2) / total, expected);
          const double shape = c.likelihood.kind() == BDL_ORDINAL ? 0 : c.likelihood.shape(0),
                       of_terms = shape * (1 + std::abs(m) + y);
          for (std::size_t k = 0; k < count; ++k)
            assert_near("shape terms", got[k], expected[k], 1e-11 * (1 + of_terms));
        }
  }
}

/// Derivatives by output and cut points against differences of the slopes.
void shape_couplings_are_finite_differences(void**) {
  for (const Case& c : cases()) {
    assert_int_equal(has_coupled_shape(c.likelihood), c.likelihood.kind() == BDL_ORDINAL);
    if (!has_coupled_shape(c.likelihood)) continue;
    const ConstSpan<double> shape = c.likelihood.shape();
    for (const double m : {-1.0, 0.4, 2.0})
      for (const double v : {0.0, 0.005, 1.0})
        for (const double y : c.targets) {
          std::vector<double> got(shape.size());
          add_shape_couplings(c.likelihood, m, v, y, 2, got);
          for (std::size_t k = 0; k < shape.size(); ++k) {
            constexpr double h = 1e-5;
            const auto slope_at = [&](double step) {
              Likelihood moved = c.likelihood;
              std::vector<double> values(shape.begin(), shape.end());
              values[k] += step;
              moved.set_shape(values);
              return expected_loss(moved, m, v, y).slope;
            };
            assert_true(std::abs(got[k] - (slope_at(h) - slope_at(-h)) / h) <= 1e-9);
          }
        }
  }
}

/// The inverse of the information, or of the part that keeps the mean.
void shape_covariances_are_inverses(void**) {
  const Likelihood ordinal = shaped(BDL_ORDINAL, {-1.5, 0.2, 1.0});
  std::vector<double> sums(static_cast<std::size_t>(shape_sum_count(ordinal)));
  for (const double y : {0.0, 1.0, 2.0, 3.0, 2.0, 1.0})
    add_expected_shape_terms(ordinal, 0.3 * y, 0.2, y, 1, sums);
  const ConstMatrixView<double> lower = shape_terms(ordinal, sums).matrix;
  for (const bool holds : {false, true}) {
    Dense b(3, 3);
    shape_covariance(ordinal, sums, holds, {b.values.data(), 3, 3});
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) {
        double product = 0;  // of contrasts of the mean with C B, or the unit matrix
        for (Index k = 0; k < 3; ++k) {
          const auto information = [&](Index r) { return lower(std::max(r, k), std::min(r, k)); };
          product += (information(i) - (holds ? information((i + 1) % 3) : 0)) * b(k, j);
        }
        const double unit = (i == j ? 1 : 0) - (holds && (i + 1) % 3 == j ? 1 : 0);
        assert_near("C B", product, unit, 1e-10);
      }
    if (!holds) continue;
    for (Index j = 0; j < 3; ++j) assert_near("sum", b(0, j) + b(1, j) + b(2, j), 0, 1e-14);
  }
}

/// Means of draws from the densities themselves lead back to the shape.
void shapes_are_found_from_fixed_outputs(void**) {
  const auto converged = [](Likelihood likelihood, const std::vector<double>& f, const std::vector<double>& y,
                            bool holds) {
    for (int i = 0; i < 200; ++i) {
      std::vector<double> sums(static_cast<std::size_t>(shape_sum_count(likelihood)));
      for (std::size_t k = 0; k < f.size(); ++k) add_expected_shape_terms(likelihood, f[k], 0, y[k], 1, sums);
      const ShapeStep step = shape_step(likelihood, sums, 1, holds);
      if (step.distance < 1e-9) return likelihood;
      likelihood.learn_shape(step.shape);
    }
    fail_msg("no convergence");
    return likelihood;
  };
  // Levels whose shares at f = 0 are given: the cut points are the logits of the cumulative shares.
  std::vector<double> f(100, 0.0), y;
  for (int i = 0; i < 100; ++i) y.push_back(i < 20 ? 0 : i < 50 ? 1 : i < 90 ? 2 : 3);
  Likelihood ordinal(BDL_ORDINAL, 1);
  ordinal.set_levels(4);
  const Likelihood free = converged(ordinal, f, y, false);
  for (const auto& [k, share] : {std::pair{0, 0.2}, {1, 0.5}, {2, 0.9}})
    assert_near("cut", free.shape(k), std::log(share / (1 - share)), 1e-8);
  const Likelihood held = converged(ordinal, f, y, true);
  assert_near("mean", held.shape(0) + held.shape(1) + held.shape(2), 0, 1e-12);
  // Gamma: log a - psi(a) = log mean - mean log.
  const std::vector<double> values = {0.5, 1.5, 2.5, 0.2, 0.9};
  double mean = 0, log_mean = 0;
  for (const double value : values) {
    mean += value / 5;
    log_mean += std::log(value) / 5;
  }
  const Likelihood gamma =
      converged(Likelihood(BDL_GAMMA, 1), std::vector<double>(5, std::log(mean)), values, false);
  assert_near("alpha", std::log(gamma.shape(0)) - digamma(gamma.shape(0)), std::log(mean) - log_mean, 1e-9);
}

/// Outputs far out: values finite where their sizes are, no NaN.
template <class T>
void extreme_outputs_stay_finite(void**) {
  for (const Case& c : cases())
    for (const double size : {-500.0, -60.0, 60.0, 500.0})
      for (const double target : c.targets) {
        const T f = static_cast<T>(size), y = static_cast<T>(target);
        T seed = 0, root = 0;
        double coefficient = 0, h = 0;
        c.likelihood.gradient(&f, &y, &seed);
        c.likelihood.hessian_root(&f, &y, 0, &root, &coefficient);
        c.likelihood.hessian_terms(&f, &y, &h);
        assert_true(!std::isnan(seed) && !std::isnan(root) && !std::isnan(coefficient) && !std::isnan(h));
        assert_true(h >= 0 && !std::isnan(c.likelihood.log_density(&f, &y)));
        assert_true(!std::isnan(log_density_of_normal(c.likelihood, size, 4, target)));
      }
}

void tails_and_quantiles(void**) {
  for (const double shape : {0.3, 3.0, 500.0})
    for (const double mean : {0.1, 4.0, 900.0}) {
      double below = 0;
      const Likelihood likelihood = shaped(BDL_NEGATIVE_BINOMIAL, {shape});
      for (double y = 0; y < 2000; y += 1) {
        below += std::exp(log_p(likelihood, std::log(mean), y));
        if (std::fmod(y, 97) == 0) {
          const CountTails tails = negative_binomial_tails(y, mean, shape);
          assert_near("P(Y <= y)", tails.at_most, below, 1e-11);
          assert_near("sum", tails.at_most + tails.above, 1, 1e-13);
        }
      }
      const double y = gamma_quantile(0.05, false, shape), far = gamma_quantile(0.05, true, shape);
      assert_near("P(Y <= y)", gamma_tails(y, shape).at_most, 0.05, 1e-10);
      assert_near("P(Y > y)", gamma_tails(far, shape).above, 0.05, 1e-10);
    }
  for (const double z : {-60.0, -37.5, -20.5, -19.5, -3.0, 0.0, 5.0}) {
    constexpr double h = 1e-4;
    assert_near("mills", normal_mills(z).ratio, (log_normal_cdf(z + h) - log_normal_cdf(z - h)) / (2 * h),
                1e-7);
    assert_near("curvature", normal_mills(z).curvature,
                -(normal_mills(z + h).ratio - normal_mills(z - h).ratio) / (2 * h), 1e-7);
  }
}

void targets_are_checked(void**) {
  const auto is_refused = [](const Likelihood& likelihood, double value) {
    try {
      likelihood.check_targets(bdl_f64(&value, 1, 1), 1, "y");
      return false;
    } catch (const Error& error) {
      return error.status() == Status::ERROR_LABEL;
    }
  };
  const Likelihood ordinal = shaped(BDL_ORDINAL, {-1, 1});
  for (const double value : {-1.0, 0.5, 3.0}) assert_true(is_refused(ordinal, value));
  assert_true(!is_refused(ordinal, 2));
  for (const double value : {0.0, -2.0}) assert_true(is_refused(Likelihood(BDL_GAMMA, 1), value));
  assert_true(is_refused(Likelihood(BDL_NEGATIVE_BINOMIAL, 1), 1.5) &&
              is_refused(Likelihood(BDL_PROBIT, 1), 2));
}

}  // namespace

int test_scalar_likelihoods() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(densities_are_those_of_boost),
      cmocka_unit_test(large_shapes_are_poisson),
      cmocka_unit_test(derivatives_are_finite_differences),
      cmocka_unit_test(roots_and_moments_are_expectations),
      cmocka_unit_test(misfits_are_lost_log_densities),
      cmocka_unit_test(expected_losses_are_integrals),
      cmocka_unit_test(few_nodes_are_the_same_but_for_rounding),
      cmocka_unit_test(wide_outputs_of_cloglog),
      cmocka_unit_test(densities_of_very_wide_outputs),
      cmocka_unit_test(predictive_densities_are_integrals),
      cmocka_unit_test(shape_terms_are_finite_differences),
      cmocka_unit_test(expected_shape_terms_are_integrals),
      cmocka_unit_test(shape_couplings_are_finite_differences),
      cmocka_unit_test(shape_covariances_are_inverses),
      cmocka_unit_test(shapes_are_found_from_fixed_outputs),
      cmocka_unit_test(extreme_outputs_stay_finite<float>),
      cmocka_unit_test(extreme_outputs_stay_finite<double>),
      cmocka_unit_test(tails_and_quantiles),
      cmocka_unit_test(targets_are_checked),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
