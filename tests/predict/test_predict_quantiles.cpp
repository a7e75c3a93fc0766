// Quantiles against the distribution functions they invert.
#include "likelihood/limited_rates.hpp"
#include "predict/mixture_quantile.hpp"
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const Table some_levels(1, 7, {1e-9, 0.025, 0.3, 0.5, 0.84, 0.975, 0.999999});

void quadrature_gives_normal_quantiles(void**) {
  Scalar s(BDL_GAUSSIAN, 3, 0.75);
  const double tau = 4;  // noise variance 1/4: total 1
  s.model.likelihood.set_noise_precision({&tau, 1});
  const Table levels(1, 5, {0.001, 0.05, 0.5, 0.75, 0.975});
  const double z[] = {-3.0902323061678135, -1.6448536269514727, 0, 0.67448975019608174, 1.9599639845400542};
  const Table got = quantiles(quadrature(s.model, s.b, s.x), levels);
  for (Index k = 0; k < 5; ++k) assert_close(got(0, k), 3 + z[k], 1e-14, 1e-14);
  const Table fixed = quantiles(plug_in(s.model, s.b, s.x), levels);
  for (Index k = 0; k < 5; ++k) assert_close(fixed(0, k), 3 + z[k] / 2, 1e-14, 1e-14);
}

/// P(Y <= y) and P(Y > y) of equally weighted N(f_k, variance).
CountTails normal_mixture(const Table& f, Index c, double variance, double y) {
  CountTails sum{0, 0};
  for (Index k = 0; k < f.cols; ++k) {
    const double z = (y - f(c, k)) / std::sqrt(2 * variance);
    sum.at_most += std::erfc(-z) / 2 / static_cast<double>(f.cols);
    sum.above += std::erfc(z) / 2 / static_cast<double>(f.cols);
  }
  return sum;
}

template <class T>
void mixture_quantiles_have_their_levels(void**) {
  TableRandom random(2);
  auto model = network<T>({3, 6, 2}, BDL_GAUSSIAN);
  const double precision[] = {3, 400};
  model.likelihood.set_noise_precision(precision);
  const Table x = normal_table(random, 4, 3);
  for (const double deviation : {0.01, 0.5, 5.0}) {
    const auto b = belief<T>(Kind::low_rank, model.parameters(), deviation, random);
    const auto query = monte_carlo(model, b, x, 61);
    const Table got = quantiles(query, some_levels);
    const auto f = slow_outputs(query);
    constexpr double tolerance = std::is_same_v<T, float> ? 1e-3 : 1e-11;
    for (Index i = 0; i < 4; ++i)
      for (Index c = 0; c < 2; ++c)
        for (Index k = 0; k < 7; ++k) {
          const double level = some_levels(0, k);
          const CountTails tails =
              normal_mixture(f[static_cast<std::size_t>(i)], c, 1 / precision[c], got(i, 7 * c + k));
          assert_close(tails.at_most, level, tolerance);
          assert_close(tails.above, 1 - level, tolerance);
          if (k > 0) assert_true(got(i, 7 * c + k) > got(i, 7 * c + k - 1));
        }
  }
}

/// Components far apart, on very different scales, with tiny weights: the level lies between the values of
/// the distribution function just below and above.
void hard_mixtures_are_inverted(void**) {
  const std::vector<std::vector<double>> places = {{0, 1e6},
                                                   {-1e6, 0, 1e6},
                                                   {0, 1e-3, 1e3},
                                                   {0, 30, 60, 1e9},
                                                   {5, 5, 5},
                                                   {1e12, 1e12 + 1},
                                                   {0, 1e160},
                                                   {1e200, -3e200, 2e155, 1},
                                                   {1.5e308, -1.5e308, 7}};
  for (const auto& f : places)
    for (const bool uneven : {false, true}) {
      std::vector<double> weights(f.size(), 1 / static_cast<double>(f.size()));
      if (uneven) {
        std::fill(weights.begin(), weights.end(), 1e-6);
        weights[0] = 1 - 1e-6 * static_cast<double>(f.size() - 1);
      }
      const Mixture mixture{{f.data(), 1, static_cast<Index>(f.size())}, weights};
      for (double level = 1e-12; level < 1; level = level < 0.4 ? 3.1 * level : 1 - (1 - level) / 3.3) {
        if (1 - level < 1e-12) break;
        const double y = gaussian_quantile(Likelihood(BDL_GAUSSIAN, 1), mixture, 0, tail_at(level));
        const double width = 1e-10 + 1e-15 * std::abs(y);
        CountTails below{0, 0}, beyond{0, 0};
        for (std::size_t k = 0; k < f.size(); ++k) {
          below.at_most += weights[k] * std::erfc(-(y - width - f[k]) / std::numbers::sqrt2) / 2;
          below.above += weights[k] * std::erfc((y - width - f[k]) / std::numbers::sqrt2) / 2;
          beyond.at_most += weights[k] * std::erfc(-(y + width - f[k]) / std::numbers::sqrt2) / 2;
          beyond.above += weights[k] * std::erfc((y + width - f[k]) / std::numbers::sqrt2) / 2;
        }
        constexpr double rounding = 1e-14;
        assert_true(below.at_most <= level * (1 + rounding) && beyond.at_most >= level * (1 - rounding));
        assert_true(below.above >= (1 - level) * (1 - rounding) &&
                    beyond.above <= (1 - level) * (1 + rounding));
      }
    }
}

void intervals_are_nested_quantiles(void**) {
  TableRandom random(4);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_POISSON}) {
    const auto model = network<double>({3, 6, 2}, kind);
    const Table x = normal_table(random, 4, 3);
    const auto b = belief<double>(Kind::diagonal, model.parameters(), 0.5, random);
    const auto query = monte_carlo(model, b, x, 40);
    Table inner_lower(4, 2), inner_upper(4, 2);
    for (const double probability : {1e-9, 0.1, 0.5, 0.9, 0.95, 1 - 1e-9}) {
      Table lower = output(4, 2), upper = output(4, 2);
      predict_interval(query, probability, lower.out(), upper.out());
      const Table ends = quantiles(query, Table(1, 2, {(1 - probability) / 2, (1 + probability) / 2}));
      for (Index i = 0; i < 4; ++i)
        for (Index c = 0; c < 2; ++c) {
          assert_close(lower(i, c), ends(i, 2 * c), 1e-6);
          assert_close(upper(i, c), ends(i, 2 * c + 1), 1e-6);
          assert_true(lower(i, c) <= upper(i, c));
          if (probability > 1e-9)
            assert_true(lower(i, c) <= inner_lower(i, c) && upper(i, c) >= inner_upper(i, c));
        }
      inner_lower = lower;
      inner_upper = upper;
    }
  }
}

/// A central interval of a symmetric distribution is symmetric to the last digits, also where 1 - p is small.
void intervals_keep_both_tails(void**) {
  const Scalar s(BDL_GAUSSIAN, 0, 2);
  for (const double probability : {0.5, 0.999, 1 - 1e-12, 1 - 1e-15}) {
    Table lower = output(1, 1), upper = output(1, 1);
    predict_interval(quadrature(s.model, s.b, s.x), probability, lower.out(), upper.out());
    assert_true(lower(0, 0) == -upper(0, 0));
    assert_close(std::erfc(upper(0, 0) / std::sqrt(2 * 3.0)), 1 - probability, 1e-12);
  }
}

/// The first count whose cumulative probability reaches the level, by adding probabilities.
template <class LogProbability>
double slow_count_quantile(double level, LogProbability log_probability) {
  double sum = 0;
  for (double y = 0;; ++y)
    if ((sum += std::exp(log_probability(y))) >= level) return y;
}

void counts_are_the_first_to_reach_the_level(void**) {
  TableRandom random(6);
  const Table levels(1, 6, {0.01, 0.2, 0.5, 0.77, 0.95, 0.9999});
  const auto model = network<double>({3, 5, 2}, BDL_POISSON);
  const Table x = normal_table(random, 4, 3);
  for (const double deviation : {0.05, 0.9}) {
    const auto b = belief<double>(Kind::low_rank, model.parameters(), deviation, random);
    const auto query = monte_carlo(model, b, x, 30);
    const auto f = slow_outputs(query);
    const Table got = quantiles(query, levels);
    for (Index i = 0; i < 4; ++i)
      for (Index c = 0; c < 2; ++c)
        for (Index k = 0; k < 6; ++k) {
          const double expected = slow_count_quantile(levels(0, k), [&](double y) {
            double sum = 0;
            for (Index s = 0; s < 30; ++s)
              sum += std::exp(log_poisson(y, std::exp(f[static_cast<std::size_t>(i)](c, s)))) / 30;
            return std::log(sum);
          });
          assert_true(got(i, 6 * c + k) == expected);
        }
  }
  for (const double m : {-4.0, 0.5, 3.0})
    for (const double v : {1e-6, 0.1, 2.0}) {
      const Scalar s(BDL_POISSON, m, v);
      const Table exact = quantiles(quadrature(s.model, s.b, s.x), levels);
      const Table fixed = quantiles(plug_in(s.model, s.b, s.x), levels);
      for (Index k = 0; k < 6; ++k) {
        const double level = levels(0, k);
        assert_true(exact(0, k) ==
                    slow_count_quantile(level, [&](double y) { return log_poisson_lognormal(m, v, y); }));
        assert_true(fixed(0, k) ==
                    slow_count_quantile(level, [&](double y) { return log_poisson(y, std::exp(m)); }));
      }
    }
}

void large_counts_reach_the_level(void**) {
  for (const double rate : {1e-8, 0.4, 17.0, 1e4, 3e7, 1e12})
    for (const double level : {1e-10, 0.01, 0.5, 0.6, 0.999, 1 - 1e-10}) {
      const double y = poisson_quantile(rate, tail_at(level));
      assert_true(y >= 0 && y == std::floor(y));
      assert_true(poisson_tails(y, rate).at_most >= level && poisson_tails(y, rate).above <= 1 - level);
      if (y > 0)
        assert_true(poisson_tails(y - 1, rate).at_most < level &&
                    poisson_tails(y - 1, rate).above > 1 - level);
    }
}

}  // namespace

int test_predict_quantiles() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(quadrature_gives_normal_quantiles),
      cmocka_unit_test(mixture_quantiles_have_their_levels<float>),
      cmocka_unit_test(mixture_quantiles_have_their_levels<double>),
      cmocka_unit_test(hard_mixtures_are_inverted),
      cmocka_unit_test(intervals_are_nested_quantiles),
      cmocka_unit_test(intervals_keep_both_tails),
      cmocka_unit_test(counts_are_the_first_to_reach_the_level),
      cmocka_unit_test(large_counts_reach_the_level),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
