// Log predictive densities and expected log likelihoods.
#include "likelihood/limited_rates.hpp"
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr bdl_likelihood all_likelihoods[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON};

Table targets(TableRandom& random, const Likelihood& likelihood, Index rows) {
  Table y = normal_table(random, rows, likelihood.targets());
  if (likelihood.kind() != BDL_GAUSSIAN)
    for (double& value : y.values)
      value = static_cast<double>(random.below(likelihood.kind() == BDL_BERNOULLI ? 2 : 3));
  return y;
}

double log_normal_density(double y, double mean, double variance) {
  return -(std::log(2 * std::numbers::pi * variance) + (y - mean) * (y - mean) / variance) / 2;
}

/// Definitions, with the K conditional densities in long double.
template <class T>
void samples_are_averaged(void**) {
  TableRandom random(1);
  for (const bdl_likelihood kind : all_likelihoods) {
    auto model = network<T>({3, 4, 3}, kind);
    const double precision[] = {0.5, 2, 8};
    if (kind == BDL_GAUSSIAN) model.likelihood.set_noise_precision(precision);
    const Table x = normal_table(random, 8, 3), y = targets(random, model.likelihood, 8);
    const auto b = belief<T>(Kind::low_rank, model.parameters(), 0.5, random);
    const auto query = monte_carlo(model, b, x, 45);
    const auto f = slow_outputs(query);
    const Table got = log_density(query, y);
    double expected_sum = 0;
    for (Index i = 0; i < 8; ++i) {
      long double density = 0;
      for (Index k = 0; k < 45; ++k) {
        double output[3];
        for (Index c = 0; c < 3; ++c) output[c] = f[static_cast<std::size_t>(i)](c, k);
        const double term =
            model.likelihood.log_density(output, &y.values[static_cast<std::size_t>(i * y.cols)]);
        density += std::exp(static_cast<long double>(term)) / 45;
        expected_sum += term / 45;
      }
      constexpr double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-12;
      assert_close(got(i, 0), static_cast<double>(std::log(density)), tolerance, tolerance);
    }
    const double sum = expected_log_likelihood(query, y.array());
    assert_close(sum, expected_sum, std::is_same_v<T, float> ? 1e-5 : 1e-13);
    double sum_of_logs = 0;
    for (const double value : got.values) sum_of_logs += value;
    assert_true(sum < sum_of_logs);  // Jensen
  }
}

void far_targets_do_not_underflow(void**) {
  TableRandom random(2);
  const auto model = network<double>({1, 1}, BDL_GAUSSIAN, false);
  const Table x(2, 1, {1.0, 1.0});
  const auto b = belief<double>(Kind::diagonal, 1, 0.5, random);
  const auto query = monte_carlo(model, b, x, 30);
  const auto f = slow_outputs(query);
  const double y = 1e5;
  const double nearest = *std::max_element(f[0].values.begin(), f[0].values.end());
  const Table got = log_density(query, Table(2, 1, {y, y}));
  assert_near(got(0, 0), log_normal_density(y, nearest, 1) - std::log(30), 1e-5);
  assert_true(got(1, 0) == got(0, 0));
}

/// A component that excludes y (here by a rate that overflows) takes its weight away, no more.
void impossible_components_are_left_out(void**) {
  const Scalar s(BDL_POISSON, 0, 1e6);
  const auto query = monte_carlo(s.model, s.b, s.x, 50);
  const auto f = slow_outputs(query);
  double sum = 0;
  for (const double value : f[0].values) sum += std::exp(-std::exp(value)) / 50;
  assert_true(*std::max_element(f[0].values.begin(), f[0].values.end()) > 800);
  assert_close(log_density(query, Table(1, 1, {0.0}))(0, 0), std::log(sum), 1e-13);
}

void plug_in_is_one_density(void**) {
  TableRandom random(4);
  for (const bdl_likelihood kind : all_likelihoods) {
    const auto model = network<double>({3, 4, 3}, kind);
    const Table x = normal_table(random, 5, 3), y = targets(random, model.likelihood, 5);
    const auto b = belief<double>(Kind::full, model.parameters(), 0.5, random);
    const Table got = log_density(plug_in(model, b, x), y);
    double sum = 0;
    for (Index i = 0; i < 5; ++i) {
      double input[3], f[3];
      for (Index j = 0; j < 3; ++j) input[j] = x(i, j);
      Scratch scratch;
      model.forward(b.q->mean(), {input, 3, 1}, {f, 3, 1}, scratch);
      assert_close(got(i, 0),
                   model.likelihood.log_density(f, &y.values[static_cast<std::size_t>(i * y.cols)]), 1e-12);
      sum += got(i, 0);
    }
    assert_close(expected_log_likelihood(plug_in(model, b, x), y.array()), sum, 1e-13);
  }
}

template <class T>
void quadrature_of_regression_has_closed_forms(void**) {
  TableRandom random(5);
  auto model = network<T>({3, 1}, BDL_GAUSSIAN);
  const double tau = 2.5;
  model.likelihood.set_noise_precision({&tau, 1});
  const Table x = normal_table(random, 6, 3), y = targets(random, model.likelihood, 6);
  for (const Kind kind : all_kinds) {
    const auto b = belief<T>(kind, 4, 0.6, random);
    const Table got = log_density(quadrature(model, b, x), y);
    double sum = 0;
    constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;
    for (Index i = 0; i < 6; ++i) {
      const auto [m, v] = dense_marginal(b, x, i, true);
      assert_near(got(i, 0), log_normal_density(y(i, 0), m, 1 / tau + v), tolerance);
      sum += log_normal_density(y(i, 0), m, 1 / tau) - tau * v / 2;
    }
    assert_close(expected_log_likelihood(quadrature(model, b, x), y.array()), sum, tolerance);
  }
}

/// Compares the densities of y = 1 and y = 0 under logits N(m, v) with values of 40 digits.
void quadrature_of_classification_is_exact(void**) {
  constexpr struct {
    double m, v, p, q, log_q;
  } cases[] = {
      {0.7, 0.25, 0.65971953476665809, 0.34028046523334191, -1.1303468768710692},
      {-3, 1, 0.069323858004285768, 0.93067614199571423, -0.075025980999293593},
      {40, 30, 0.99999999998668876, 1.3311239877983279e-11, -40.000000000013472},
      {5, 400, 0.59831211786159878, 0.40168788213840122, -10.758610936082832},
      {-60, 9, 7.8823597906008508e-25, 1.0, -7.8823597906008508e-25},
  };
  for (const auto& c : cases) {
    const Scalar s(BDL_BERNOULLI, c.m, c.v);
    const auto query = quadrature(s.model, s.b, s.x);
    const Table one(1, 1, {1.0}), zero(1, 1, {0.0});
    assert_close(log_density(query, one)(0, 0), std::log(c.p), 1e-13, 1e-15);
    assert_close(log_density(query, zero)(0, 0), std::log(c.q), 1e-13, 1e-15);
    assert_close(expected_log_likelihood(query, zero.array()), c.log_q, 1e-13);
    assert_close(expected_log_likelihood(query, one.array()), c.log_q + c.m, 1e-13,
                 1e-14 * std::abs(c.m));  // log p - log q = f
  }
}

void quadrature_of_counts(void**) {
  for (const double m : {-2.0, 1.0, 3.0})
    for (const double v : {0.01, 0.8})
      for (const double y : {0.0, 3.0, 50.0}) {
        const Scalar s(BDL_POISSON, m, v);
        const auto query = quadrature(s.model, s.b, s.x);
        const Table target(1, 1, {y});
        assert_close(log_density(query, target)(0, 0), log_poisson_lognormal(m, v, y), 1e-13);
        assert_close(expected_log_likelihood(query, target.array()),
                     y * m - std::exp(m + v / 2) - std::lgamma(y + 1), 1e-13);
      }
}

/// The Monte-Carlo estimate of every expected log likelihood, against its own spread over seeds.
void monte_carlo_estimates_the_quadrature(void**) {
  TableRandom random(8);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON}) {
    const auto model = network<double>({3, 1}, kind);
    const Table x = normal_table(random, 9, 3), y = targets(random, model.likelihood, 9);
    const auto b = belief<double>(Kind::low_rank, 4, 0.3, random);
    constexpr int repetitions = 400;
    double sum = 0, squares = 0;
    for (int seed = 0; seed < repetitions; ++seed) {
      const double value =
          expected_log_likelihood(monte_carlo(model, b, x, 50, static_cast<std::uint64_t>(seed)), y.array());
      sum += value / repetitions;
      squares += value * value / repetitions;
    }
    assert_unbiased(sum, expected_log_likelihood(quadrature(model, b, x), y.array()),
                    std::sqrt((squares - sum * sum) / (repetitions - 1)));
  }
}

}  // namespace

int test_predict_log_density() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(samples_are_averaged<float>),
      cmocka_unit_test(samples_are_averaged<double>),
      cmocka_unit_test(far_targets_do_not_underflow),
      cmocka_unit_test(impossible_components_are_left_out),
      cmocka_unit_test(plug_in_is_one_density),
      cmocka_unit_test(quadrature_of_regression_has_closed_forms<float>),
      cmocka_unit_test(quadrature_of_regression_has_closed_forms<double>),
      cmocka_unit_test(quadrature_of_classification_is_exact),
      cmocka_unit_test(quadrature_of_counts),
      cmocka_unit_test(monte_carlo_estimates_the_quadrature),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
