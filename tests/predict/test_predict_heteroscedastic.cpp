// Predictions of heteroscedastic models, whose noise differs between examples and between draws: against
// formulas written out for each draw, and grids over the law of the linearised outputs.
#include "likelihood/special_functions.hpp"
#include "linearized_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index samples = 40, targets_count = 2;

struct Setting {
  Network<double> model;
  TableBelief<double> b;
  Table x, y;

  explicit Setting(bool standardized = false, double deviation = 0.3)
      : model(network<double>({3, 5, 2 * targets_count}, BDL_HETEROSCEDASTIC)),
        b{nullptr, Table(1, 1)},
        x(4, 3),
        y(4, targets_count) {
    TableRandom random(11);
    b = belief<double>(Kind::low_rank, model.parameters(), deviation, random);
    x = normal_table(random, 4, 3);
    y = normal_table(random, 4, targets_count);
    model.likelihood.set_noise_precision(std::vector<double>{2, 5});
    if (standardized) model.standardization = {{}, {{1, -2}, {3, 0.5}}};
  }
  Setting(const Setting&) = delete;
  Query<double> drawn() const { return monte_carlo(model, b, x, samples); }
  double scale(Index c) const { return model.standardization.target_scale(c); }
  double shift(Index c) const { return model.standardization.to_caller(c, 0); }
};

/// Mean and variance of y under one draw, in the caller's units.
struct Draw {
  double mean, variance;
};

std::vector<Draw> draws_of(const Setting& s, const Table& f, Index c) {
  std::vector<Draw> draws;
  for (Index k = 0; k < f.cols; ++k) {
    const double precision = s.model.likelihood.noise_precision(c) * std::exp(f(targets_count + c, k));
    draws.push_back({s.shift(c) + s.scale(c) * f(c, k), s.scale(c) * s.scale(c) / precision});
  }
  return draws;
}

double cdf(const std::vector<Draw>& draws, double y) {
  double sum = 0;
  for (const Draw& draw : draws)
    sum += normal_cdf((y - draw.mean) / std::sqrt(draw.variance)) / static_cast<double>(draws.size());
  return sum;
}

Moments moments_of(const Query<double>& query) {
  const Index rows = query.x.rows;
  Moments m{output(rows, targets_count), output(rows, targets_count), output(rows, targets_count)};
  predict_moments(query, m.mean.out(), m.epistemic.out(), m.noise.out());
  return m;
}

void moments_are_those_of_the_draws(void**) {
  for (const bool standardized : {false, true}) {
    const Setting s(standardized);
    const Moments got = moments_of(s.drawn());
    const std::vector<Table> f = slow_outputs(s.drawn());
    for (Index i = 0; i < s.x.rows; ++i)
      for (Index c = 0; c < targets_count; ++c) {
        double mean = 0, noise = 0, spread = 0;
        const auto draws = draws_of(s, f[static_cast<std::size_t>(i)], c);
        for (const Draw& draw : draws) mean += draw.mean / samples;
        for (const Draw& draw : draws) noise += draw.variance / samples;
        for (const Draw& draw : draws) spread += std::pow(draw.mean - mean, 2) / samples;
        assert_close(got.mean(i, c), mean, 1e-12);
        assert_close(got.noise(i, c), noise, 1e-12);
        assert_close(got.epistemic(i, c), spread, 1e-12);
      }
  }
}

void densities_are_means_over_the_draws(void**) {
  for (const bool standardized : {false, true}) {
    const Setting s(standardized);
    const Table got = log_density(s.drawn(), s.y);
    const std::vector<Table> f = slow_outputs(s.drawn());
    for (Index i = 0; i < s.x.rows; ++i) {
      double p = 0;
      for (Index k = 0; k < samples; ++k) {
        double product = 1;
        for (Index c = 0; c < targets_count; ++c) {
          const Draw draw = draws_of(s, f[static_cast<std::size_t>(i)], c)[static_cast<std::size_t>(k)];
          product *= std::exp(-std::pow(s.y(i, c) - draw.mean, 2) / draw.variance / 2) /
                     std::sqrt(2 * std::numbers::pi * draw.variance);
        }
        p += product / samples;
      }
      assert_close(got(i, 0), std::log(p), 1e-11, 1e-11);
    }
  }
}

void quantiles_have_their_probabilities(void**) {
  for (const double deviation : {0.05, 0.3, 2.0}) {  // at 2 noises differ by many powers of ten
    const Setting s(true, deviation);
    const Table levels(1, 7, {1e-9, 0.025, 0.25, 0.5, 0.8, 0.999, 1 - 1e-9});
    Table got = output(s.x.rows, targets_count * levels.cols), lower = output(s.x.rows, targets_count),
          upper = lower;
    predict_quantiles(s.drawn(), levels.array(), got.out());
    predict_interval(s.drawn(), 0.5, lower.out(), upper.out());
    const std::vector<Table> f = slow_outputs(s.drawn());
    for (Index i = 0; i < s.x.rows; ++i)
      for (Index c = 0; c < targets_count; ++c) {
        const auto draws = draws_of(s, f[static_cast<std::size_t>(i)], c);
        for (Index k = 0; k < levels.cols; ++k) {
          const double p = cdf(draws, got(i, c * levels.cols + k)), level = levels(0, k);
          assert_close(p, level, level < 0.5 ? 1e-9 : 1e-15, level < 0.5 ? 0 : 1e-9 * (1 - level) + 4e-16);
        }
        assert_close(lower(i, c), got(i, c * levels.cols + 2), 1e-10);
        assert_close(cdf(draws, upper(i, c)), 0.75, 1e-10);
      }
  }
}

/// The linearised law of one target as sums over a grid of (f, h).
template <class Visit>
void visit_grid(const Law& law, Index i, Index c, Visit visit) {
  const Index n = 2 * targets_count, t = targets_count + c;
  const double sff = law.covariance(i, c * n + c), sfh = law.covariance(i, c * n + t),
               shh = law.covariance(i, t * n + t);
  for (double a = -8; a <= 8; a += 0.1)
    for (double b = -8; b <= 8; b += 0.1)
      visit(law.mean(i, c) + std::sqrt(sff) * a,
            law.mean(i, t) + sfh / std::sqrt(sff) * a + std::sqrt(shh - sfh * sfh / sff) * b,
            std::exp(-(a * a + b * b) / 2) * 0.01 / (2 * std::numbers::pi));
}

void linearized_predictions_integrate_over_both_outputs(void**) {
  const Setting s;
  const auto query = linearized<double>(s.model, s.b, s.x);
  const Law outputs = law<double>(query);
  const Moments got = moments_of(query);
  const Table p = log_density(query, s.y), levels(1, 3, {0.01, 0.25, 0.9});
  Table q = output(s.x.rows, targets_count * 3);
  predict_quantiles(query, levels.array(), q.out());
  for (Index i = 0; i < s.x.rows; ++i) {
    double log_p = 0;
    for (Index c = 0; c < targets_count; ++c) {
      double mean = 0, square = 0, noise = 0, density = 0;
      double below[3] = {0, 0, 0};
      visit_grid(outputs, i, c, [&](double f, double h, double weight) {
        const double variance = std::exp(-h) / s.model.likelihood.noise_precision(c), r = s.y(i, c) - f;
        mean += weight * f;
        square += weight * f * f;
        noise += weight * variance;
        density += weight * std::exp(-r * r / variance / 2) / std::sqrt(2 * std::numbers::pi * variance);
        for (Index k = 0; k < 3; ++k)
          below[k] += weight * normal_cdf((q(i, c * 3 + k) - f) / std::sqrt(variance));
      });
      log_p += std::log(density);
      assert_close(got.mean(i, c), mean, 1e-9, 1e-9);
      assert_close(got.epistemic(i, c), square - mean * mean, 1e-9, 1e-9);
      assert_close(got.noise(i, c), noise, 1e-9);
      for (Index k = 0; k < 3; ++k) assert_close(below[k], levels(0, k), 1e-8);
    }
    assert_close(p(i, 0), log_p, 1e-8, 1e-8);
  }
}

void expected_log_likelihoods_are_means(void**) {
  const Setting s(true);
  double sum = 0;
  const std::vector<Table> f = slow_outputs(s.drawn());
  for (Index i = 0; i < s.x.rows; ++i)
    for (Index c = 0; c < targets_count; ++c)
      for (const Draw& draw : draws_of(s, f[static_cast<std::size_t>(i)], c))
        sum -= (std::log(2 * std::numbers::pi * draw.variance) +
                std::pow(s.y(i, c) - draw.mean, 2) / draw.variance) /
               2 / samples;
  assert_close(expected_log_likelihood(s.drawn(), s.y.array()), sum, 1e-11);
}

void draws_have_the_noise_of_their_example(void**) {
  const Setting s(true, 0.02);
  const Index count = 20000;
  Table draws = output(s.x.rows, targets_count * count);
  predict_draws(monte_carlo(s.model, s.b, s.x, count), draws.out());
  const Moments law = moments_of(monte_carlo(s.model, s.b, s.x, count));
  for (Index i = 0; i < s.x.rows; ++i)
    for (Index c = 0; c < targets_count; ++c) {
      const double variance = law.epistemic(i, c) + law.noise(i, c);
      double mean = 0, square = 0;
      for (Index k = 0; k < count; ++k) {
        const double deviation = draws(i, c * count + k) - law.mean(i, c);
        mean += deviation / count;
        square += deviation * deviation / count;
      }
      assert_unbiased(mean, 0, std::sqrt(variance / count));
      assert_unbiased(square, variance, 1.1 * variance * std::sqrt(2.0 / count));
    }
}

void held_noise_is_the_same_everywhere(void**) {
  Setting s;
  s.model.likelihood.free_log_precision(false);
  for (const auto& query : {s.drawn(), linearized<double>(s.model, s.b, s.x)}) {
    const Moments got = moments_of(query);
    for (Index i = 0; i < s.x.rows; ++i) {
      assert_close(got.noise(i, 0), 1.0 / 2, 1e-15);
      assert_close(got.noise(i, 1), 1.0 / 5, 1e-15);
    }
  }
}

}  // namespace

int test_predict_heteroscedastic() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(moments_are_those_of_the_draws),
      cmocka_unit_test(densities_are_means_over_the_draws),
      cmocka_unit_test(quantiles_have_their_probabilities),
      cmocka_unit_test(linearized_predictions_integrate_over_both_outputs),
      cmocka_unit_test(expected_log_likelihoods_are_means),
      cmocka_unit_test(draws_have_the_noise_of_their_example),
      cmocka_unit_test(held_noise_is_the_same_everywhere),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
