// Predictions under Gaussian noise with a full covariance: draws, moments, quantiles and densities.
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double r[] = {2, -0.9, 0.3, -0.9, 1, 0.2, 0.3, 0.2, 0.5};

template <class T>
Network<T> correlated(const std::vector<Index>& sizes) {
  Network<T> model = network<T>(sizes, BDL_GAUSSIAN);
  const Index outputs = sizes.back();
  Table part(outputs, outputs);
  for (Index i = 0; i < outputs; ++i)
    for (Index j = 0; j < outputs; ++j) part(i, j) = r[i * 3 + j];
  model.likelihood.set_noise_covariance(NoiseCovariance({part.values.data(), outputs, outputs}));
  return model;
}

/// Returns a network whose noise has the same marginal variances, but no correlations.
template <class T>
Network<T> independent(const std::vector<Index>& sizes) {
  Network<T> model = network<T>(sizes, BDL_GAUSSIAN);
  std::vector<double> precision;
  for (Index c = 0; c < sizes.back(); ++c) precision.push_back(1 / r[c * 4]);
  model.likelihood.set_noise_precision(precision);
  return model;
}

constexpr Index many = 100'000;

/// Residuals of y - f: means 0, covariances R. The product of two has variance R_ii R_jj + R_ij^2.
void draws_have_the_covariance(void**) {
  const auto model = correlated<double>({2, 3});
  TableRandom random(1);
  const auto b = belief<double>(Kind::diagonal, model.parameters(), 1e-9, random);
  const Table x = normal_table(random, 1, 2);
  Table y = output(1, 3 * many);
  const auto query = monte_carlo(model, b, x, many);
  predict_draws(query, y.out());
  const auto f = slow_outputs(monte_carlo(model, b, x, 1));  // the same for all draws, to 1e-8
  for (Index s = 0; s < 3; ++s) {
    double mean = 0;
    for (Index k = 0; k < many; ++k) mean += (y(0, s * many + k) - f[0](s, 0)) / many;
    assert_unbiased(mean, 0, std::sqrt(r[s * 4] / many));
    for (Index t = 0; t <= s; ++t) {
      double product = 0;
      for (Index k = 0; k < many; ++k)
        product += (y(0, s * many + k) - f[0](s, 0)) * (y(0, t * many + k) - f[0](t, 0)) / many;
      const double covariance = r[s * 3 + t];
      assert_unbiased(product, covariance, std::sqrt((r[s * 4] * r[t * 4] + covariance * covariance) / many));
    }
  }
}

/// Moments and quantiles are the marginals', so those of independent noise with the same variances.
template <class T>
void marginals_are_those_of_independent_noise(void**) {
  for (const std::vector<Index>& sizes : {std::vector<Index>{2, 4, 3}, {2, 1}}) {
    const auto model = correlated<T>(sizes), other = independent<T>(sizes);
    const Index outputs = sizes.back();
    TableRandom random(2);
    const auto b = belief<T>(Kind::low_rank, model.parameters(), 0.5, random);
    const Table x = normal_table(random, 4, 2);
    const double levels[] = {0.05, 0.5, 0.9};
    for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_QUADRATURE}) {
      if (method == BDL_QUADRATURE && outputs > 1) continue;
      const auto ask = [&](const Network<T>& m) {
        const Query<T> query{m, *b.q, x.array(), {method, 20, 1}};
        Table mean = output(4, outputs), epistemic = mean, noise = mean, quantiles = output(4, 3 * outputs);
        predict_moments(query, mean.out(), epistemic.out(), noise.out());
        predict_quantiles(query, bdl_f64(levels, 1, 3), quantiles.out());
        return std::vector<Table>{mean, epistemic, noise, quantiles};
      };
      const auto got = ask(model), expected = ask(other);
      for (std::size_t k = 0; k < got.size(); ++k) assert_tables_close(got[k], expected[k], 1e-13, 1e-14);
      for (Index c = 0; c < outputs; ++c) assert_close(got[2](0, c), r[c * 4], 1e-15);
    }
  }
}

/// With one output R is 1 / precision, also where the integral over f has a closed form.
void densities_of_one_output_are_those_of_its_precision(void**) {
  const auto model = correlated<double>({2, 1}), other = independent<double>({2, 1});
  TableRandom random(3);
  const auto b = belief<double>(Kind::full, model.parameters(), 0.5, random);
  const Table x = normal_table(random, 5, 2), y = normal_table(random, 5, 1);
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_QUADRATURE}) {
    const Query<double> query{model, *b.q, x.array(), {method, 20, 1}},
        reference{other, *b.q, x.array(), {method, 20, 1}};
    assert_tables_close(log_density(query, y), log_density(reference, y), 1e-13, 1e-14);
    assert_close(expected_log_likelihood(query, y.array()), expected_log_likelihood(reference, y.array()),
                 1e-13);
  }
}

/// log N(y; f, R) for the outputs of one draw, by Cramer's rule.
void joint_densities_know_the_correlations(void**) {
  const auto model = correlated<double>({2, 2});
  TableRandom random(4);
  const auto b = belief<double>(Kind::diagonal, model.parameters(), 0.5, random);
  const Table x = normal_table(random, 6, 2), y = normal_table(random, 6, 2);
  const auto query = monte_carlo(model, b, x, 1);
  const auto f = slow_outputs(query);
  const Table got = log_density(query, y);
  const double det = r[0] * r[4] - r[1] * r[1];
  for (Index i = 0; i < 6; ++i) {
    const auto& output = f[static_cast<std::size_t>(i)];
    const double u = y(i, 0) - output(0, 0), v = y(i, 1) - output(1, 0);
    const double square = (r[4] * u * u - 2 * r[1] * u * v + r[0] * v * v) / det;
    assert_close(got(i, 0), -(2 * std::log(2 * std::numbers::pi) + std::log(det) + square) / 2, 1e-12);
  }
}

}  // namespace

int test_predict_covariance() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(draws_have_the_covariance),
      cmocka_unit_test(marginals_are_those_of_independent_noise<float>),
      cmocka_unit_test(marginals_are_those_of_independent_noise<double>),
      cmocka_unit_test(densities_of_one_output_are_those_of_its_precision),
      cmocka_unit_test(joint_densities_know_the_correlations),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
