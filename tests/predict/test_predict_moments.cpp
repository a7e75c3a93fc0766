// Predictive moments: closed forms where they exist, definitions and the law of total variance elsewhere.
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Bayesian linear regression: precision lambda I + tau A^T A, A the inputs with a column of ones.
struct Regression {
  Table inputs, precision;
  std::vector<double> mean;
};

Regression conjugate_regression(TableRandom& random, double lambda, double tau) {
  Regression r{normal_table(random, 12, 3), Table(4, 4), std::vector<double>(4)};
  const auto feature = [&](Index i, Index j) { return j < 3 ? r.inputs(i, j) : 1; };
  for (Index i = 0; i < 12; ++i) {
    const double y = random.normal();
    for (Index j = 0; j < 4; ++j) {
      r.mean[static_cast<std::size_t>(j)] += tau * feature(i, j) * y;
      for (Index k = 0; k < 4; ++k) r.precision(j, k) += tau * feature(i, j) * feature(i, k);
    }
  }
  for (Index j = 0; j < 4; ++j) r.precision(j, j) += lambda;
  r.mean = dense_solve(r.precision, r.mean);
  return r;
}

void conjugate_regression_has_its_closed_form(void**) {
  TableRandom random(1);
  constexpr double lambda = 0.7, tau = 2.5;
  const Regression r = conjugate_regression(random, lambda, tau);
  auto model = network<double>({3, 1}, BDL_GAUSSIAN);
  model.likelihood.set_noise_precision({&tau, 1});
  auto full = std::make_unique<FullPosterior<double>>(4);
  full->set_precision(ConstMatrixView<double>(r.precision.values.data(), 4, 4));
  std::ranges::copy(r.mean, full->mean().begin());
  const TableBelief<double> b{std::move(full), r.precision};
  const Table x = normal_table(random, 6, 3);
  constexpr Index samples = 40'000;
  const Moments exact = moments(quadrature(model, b, x)),
                sampled = moments(monte_carlo(model, b, x, samples));
  for (Index i = 0; i < 6; ++i) {
    const Marginal expected = dense_marginal(b, x, i, true);
    assert_close(exact.mean(i, 0), expected.mean, 1e-13, 1e-14);
    assert_close(exact.epistemic(i, 0), expected.variance, 1e-13);
    assert_close(exact.noise(i, 0), 1 / tau, 1e-15);
    assert_unbiased(sampled.mean(i, 0), expected.mean, std::sqrt(expected.variance / samples));
    assert_unbiased(sampled.epistemic(i, 0), expected.variance, expected.variance * std::sqrt(2.0 / samples));
    assert_close(sampled.noise(i, 0), 1 / tau, 1e-12);
  }
}

/// Monte-Carlo moments are those of the K conditional distributions, each with weight 1 / K.
template <class T>
void samples_are_averaged(void**) {
  TableRandom random(2);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
    auto model = network<T>({3, 4, 3}, kind);
    const double precision[] = {0.5, 2, 8};
    if (kind == BDL_GAUSSIAN) model.likelihood.set_noise_precision(precision);
    const Table x = normal_table(random, 5, 3);
    const auto b = belief<T>(Kind::low_rank, model.parameters(), 0.4, random);
    const auto query = monte_carlo(model, b, x, 90);
    const Moments m = moments(query);
    const auto f = slow_outputs(query);
    for (Index i = 0; i < 5; ++i)
      for (Index c = 0; c < 3; ++c) {
        double mean = 0, squares = 0, noise = 0;
        for (Index k = 0; k < 90; ++k) {
          double conditional[3], variance[3], output[3];
          for (Index o = 0; o < 3; ++o) output[o] = f[static_cast<std::size_t>(i)](o, k);
          model.likelihood.moments(output, conditional, variance);
          mean += conditional[c] / 90;
          squares += conditional[c] * conditional[c] / 90;
          noise += variance[c] / 90;
        }
        constexpr double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-12;
        assert_close(m.mean(i, c), mean, tolerance, tolerance);
        assert_close(m.epistemic(i, c), squares - mean * mean, tolerance, tolerance);
        assert_close(m.noise(i, c), noise, tolerance);
      }
  }
}

/// For y in {0, 1} the two variances add up to P (1 - P) whatever the mixture.
void total_variance_of_classes(void**) {
  TableRandom random(3);
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_CATEGORICAL}) {
    const auto model = network<double>({3, 4, 3}, kind);
    const Table x = normal_table(random, 5, 3);
    const auto b = belief<double>(Kind::diagonal, model.parameters(), 0.8, random);
    const Moments m = moments(monte_carlo(model, b, x, 50));
    for (std::size_t k = 0; k < m.mean.values.size(); ++k)
      assert_close(m.epistemic.values[k] + m.noise.values[k], m.mean.values[k] * (1 - m.mean.values[k]),
                   1e-13);
  }
  const auto model = network<double>({3, 1}, BDL_BERNOULLI);
  for (const double deviation : {0.01, 1.0, 30.0}) {
    const Table x = normal_table(random, 5, 3);
    const auto b = belief<double>(Kind::full, 4, deviation, random);
    const Moments m = moments(quadrature(model, b, x));
    for (std::size_t k = 0; k < 5; ++k)
      assert_close(m.epistemic.values[k] + m.noise.values[k], m.mean.values[k] * (1 - m.mean.values[k]),
                   1e-12);
  }
}

/// A rate e^f with f ~ N(m, v) is log-normal.
void counts_have_lognormal_rates(void**) {
  TableRandom random(4);
  const auto model = network<double>({3, 1}, BDL_POISSON);
  const Table x = normal_table(random, 4, 3);
  const auto b = belief<double>(Kind::full, 4, 0.2, random);
  constexpr Index samples = 40'000;
  const Moments exact = moments(quadrature(model, b, x)),
                sampled = moments(monte_carlo(model, b, x, samples));
  for (Index i = 0; i < 4; ++i) {
    const auto [m, v] = dense_marginal(b, x, i, true);
    const double mean = std::exp(m + v / 2), w = std::exp(v);
    assert_close(exact.mean(i, 0), mean, 1e-13);
    assert_close(exact.noise(i, 0), mean, 1e-13);
    assert_close(exact.epistemic(i, 0), mean * mean * (w - 1), 1e-12);
    assert_unbiased(sampled.mean(i, 0), mean, mean * std::sqrt((w - 1) / samples));
    const double kurtosis = w * w * w * w + 2 * w * w * w + 3 * w * w - 3;
    assert_unbiased(sampled.epistemic(i, 0), mean * mean * (w - 1),
                    mean * mean * (w - 1) * std::sqrt((kurtosis - 1) / samples));
  }
}

void plug_in_has_no_epistemic_variance(void**) {
  TableRandom random(5);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
    const auto model = network<double>({3, 4, 2}, kind);
    const Table x = normal_table(random, 5, 3);
    const auto b = belief<double>(Kind::low_rank, model.parameters(), 1, random);
    for (const Moments& m : {moments(plug_in(model, b, x)), moments(monte_carlo(model, b, x, 1))})
      for (std::size_t k = 0; k < 10; ++k) {
        assert_true(m.epistemic.values[k] == 0);
        assert_true(m.noise.values[k] > 0);
      }
  }
}

/// No cancellation: a variance of 1e-12 next to a mean of 1000.
void small_variances_keep_their_digits(void**) {
  TableRandom random(6);
  const auto model = network<double>({1, 1}, BDL_GAUSSIAN);
  auto b = belief<double>(Kind::diagonal, 2, 1e-6, random);
  b.q->mean()[1] = 1000;
  const Table x(1, 1, {0.0});
  const double exact = moments(quadrature(model, b, x)).epistemic(0, 0);
  assert_close(exact, 1 / b.precision(1, 1), 1e-12);
  assert_unbiased(moments(monte_carlo(model, b, x, 10'000)).epistemic(0, 0), exact,
                  exact * std::sqrt(2.0 / 10'000));
}

void unwanted_outputs_are_left_out(void**) {
  TableRandom random(7);
  const auto model = network<float>({3, 4, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 5, 3);
  const auto b = belief<float>(Kind::diagonal, model.parameters(), 1, random);
  const auto query = monte_carlo(model, b, x, 7);
  const Moments all = moments(query);
  Table epistemic = output(5, 2);
  predict_moments(query, bdl_none_out(), epistemic.out(), bdl_none_out());
  assert_same_bits(epistemic, all.epistemic);
  predict_moments(query, bdl_none_out(), bdl_none_out(), bdl_none_out());
}

/// Any layout of inputs and outputs, f32 outputs, and an output on top of x.
void layouts_do_not_matter(void**) {
  TableRandom random(8);
  const auto model = network<double>({3, 4, 3}, BDL_GAUSSIAN);
  Table x = normal_table(random, 5, 3);
  const auto b = belief<double>(Kind::diagonal, model.parameters(), 1, random);
  const auto query = monte_carlo(model, b, x, 7);
  const Moments all = moments(query);
  std::vector<double> columns(2 * 15, quiet_nan), reversed(15);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 3; ++j) columns[static_cast<std::size_t>(2 * (i + 5 * j))] = x(i, j);
  Query<double> other = query;
  other.x = bdl_strided(columns.data(), BDL_F64, 5, 3, 2, 10);
  std::vector<float> single(15);
  predict_moments(other, bdl_strided_out(&reversed[14], BDL_F64, 5, 3, -1, -5),
                  bdl_f32_out(single.data(), 5, 3), bdl_none_out());
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 3; ++j) {
      assert_true(reversed[static_cast<std::size_t>(14 - i - 5 * j)] == all.mean(i, j));
      assert_true(single[static_cast<std::size_t>(3 * i + j)] == static_cast<float>(all.epistemic(i, j)));
    }
  predict_moments(query, x.out(), bdl_none_out(), bdl_none_out());
  assert_same_bits(x, all.mean);
}

}  // namespace

int test_predict_moments() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(conjugate_regression_has_its_closed_form),
      cmocka_unit_test(samples_are_averaged<float>),
      cmocka_unit_test(samples_are_averaged<double>),
      cmocka_unit_test(total_variance_of_classes),
      cmocka_unit_test(counts_have_lognormal_rates),
      cmocka_unit_test(plug_in_has_no_epistemic_variance),
      cmocka_unit_test(small_variances_keep_their_digits),
      cmocka_unit_test(unwanted_outputs_are_left_out),
      cmocka_unit_test(layouts_do_not_matter),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
