// WAIC and PSIS-LOO: numbers computed independently by the published formulas, and exact leave-one-out
// densities of a conjugate model.
#include "likelihood/special_functions.hpp"
#include "metric_tables.hpp"
#include "metrics/pareto.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Found {
  Table rows;
  Elpd sums;
};

Found estimate(const Table& logs, bool by_leaving_out) {
  Found found{Table(logs.cols, by_leaving_out ? 3 : 2), {}};
  const OutArray out = found.rows.out();
  const PointwiseElpd rows(logs.array(), out, by_leaving_out);
  found.sums = rows.sums();
  rows.write();
  return found;
}

double log_normal(double y, double mean, double variance) {
  return -(y - mean) * (y - mean) / variance / 2 - std::log(2 * std::numbers::pi * variance) / 2;
}

/// Log likelihoods of y ~ N(theta, 1) for 200 quantiles of N(0.3, 0.4^2) in a mixed order.
Table spread_logs() {
  constexpr Index draws = 200;
  const double y[] = {0.1, -1.2, 2.5, 4.0};
  Table logs(draws, 4);
  for (Index s = 0; s < draws; ++s) {
    const double theta = 0.3 + 0.4 * normal_quantile((static_cast<double>(37 * s % draws) + 0.5) / draws);
    for (Index i = 0; i < 4; ++i) logs(s, i) = log_normal(y[i], theta, 1);
  }
  return logs;
}

/// The numbers are those of the formulas of R's package loo 2.7, written in Python: elpd, p and k by leaving
/// out, then elpd and p of WAIC.
void published_formulas(void**) {
  const double expected[4][5] = {
      {-1.029348505173843, 0.01919374513215022, 0.2617224785968647, -1.028616981022447, 0.01846222098075472},
      {-2.341991831461235, 0.3789360873730612, 0.350415745393496, -2.334619095376479, 0.3715633512883051},
      {-3.871312357912203, 0.7909470945534349, 0.435208571283557, -3.865743966455469, 0.7853787030967011},
      {-9.037376420735743, 2.132828248883888, 0.6385944162415175, -9.103929138849832, 2.199380966997976}};
  const Found loo = estimate(spread_logs(), true), waic = estimate(spread_logs(), false);
  double elpd = 0, p = 0, squares = 0;
  for (Index i = 0; i < 4; ++i) {
    for (Index c = 0; c < 3; ++c) assert_near(loo.rows(i, c), expected[i][c], 1e-9);
    for (Index c = 0; c < 2; ++c) assert_near(waic.rows(i, c), expected[i][3 + c], 1e-12);
    elpd += expected[i][0];
    p += expected[i][1];
  }
  for (Index i = 0; i < 4; ++i) squares += std::pow(expected[i][0] - elpd / 4, 2);
  assert_near(loo.sums.elpd, elpd, 1e-9);
  assert_near(loo.sums.effective_parameters, p, 1e-9);
  assert_near(loo.sums.standard_error, std::sqrt(4 * squares / 3), 1e-9);
}

/// Quantiles of a generalised Pareto distribution have its parameters, but for the prior's pull to 1/2.
void shapes_are_found(void**) {
  constexpr std::size_t n = 20000;
  for (const double k : {-0.4, 0.2, 0.7, 1.5}) {
    std::vector<double> x;
    for (std::size_t j = 0; j < n; ++j)
      x.push_back(3 * std::expm1(-k * std::log1p(-(static_cast<double>(j) + 0.5) / n)) / k);
    const ParetoFit fit = fit_pareto(x);
    assert_near(fit.shape, k, 0.01);
    assert_near(fit.scale, 3, 0.05);
  }
}

/// y_i ~ N(theta, 1), theta ~ N(0, 4): the density of each y given the others is known. Draws are 4000 of the
/// posterior; each estimate has a Monte-Carlo error of about 0.5 / sqrt(4000), so 0.05 is six of them.
void exact_leaving_out(void**) {
  constexpr Index n = 20, draws = 4000;
  TableRandom random(9);
  std::vector<double> y;
  double sum = 0;
  for (Index i = 0; i < n; ++i) y.push_back(1 + random.normal());
  for (const double value : y) sum += value;
  const double v = 1 / (n + 0.25), m = v * sum;
  Table logs(draws, n);
  for (Index s = 0; s < draws; ++s) {
    const double theta = m + std::sqrt(v) * random.normal();
    for (Index i = 0; i < n; ++i) logs(s, i) = log_normal(y[static_cast<std::size_t>(i)], theta, 1);
  }
  const Found loo = estimate(logs, true), waic = estimate(logs, false);
  double exact = 0;
  for (Index i = 0; i < n; ++i) {
    const double without = 1 / (n - 1 + 0.25), value = y[static_cast<std::size_t>(i)];
    const double density = log_normal(value, without * (sum - value), 1 + without);
    assert_near(loo.rows(i, 0), density, 0.05);
    assert_near(waic.rows(i, 0), density, 0.06);
    assert_true(loo.rows(i, 2) < 0.7);
    exact += density;
  }
  assert_near(loo.sums.elpd, exact, 0.1);
  assert_near(loo.sums.effective_parameters, 1, 0.35);
}

/// The order of the draws does not matter, nor a constant in the likelihood.
void invariances(void**) {
  Table logs = spread_logs();
  const Found before = estimate(logs, true);
  for (Index s = 0; s < 100; ++s)
    for (Index i = 0; i < 4; ++i) std::swap(logs(s, i), logs(199 - s, i));
  for (double& value : logs.values) value -= 1000;
  const Found after = estimate(logs, true);
  for (Index i = 0; i < 4; ++i) {
    assert_near(after.rows(i, 0), before.rows(i, 0) - 1000, 1e-9);
    assert_near(after.rows(i, 2), before.rows(i, 2), 1e-9);
  }
}

void few_draws_and_equal_draws(void**) {
  Table few(20, 1), equal(100, 2);
  for (Index s = 0; s < 20; ++s) few(s, 0) = -static_cast<double>(s);
  const Found unsmoothed = estimate(few, true);
  assert_true(std::isinf(unsmoothed.rows(0, 2)));
  assert_near(unsmoothed.sums.standard_error, 0, 0);
  for (Index s = 0; s < 100; ++s) equal(s, 0) = equal(s, 1) = -2;
  const Found known = estimate(equal, true);
  for (Index i = 0; i < 2; ++i) {
    assert_near(known.rows(i, 0), -2, 1e-13);
    assert_near(known.rows(i, 1), 0, 1e-13);
    assert_near(known.rows(i, 2), 0, 0);
  }
  // One draw that nearly rules a row out: the ratio e^700 is all that counts.
  equal(5, 0) = -700;
  assert_near(estimate(equal, true).rows(0, 0), -700, 10);
}

}  // namespace

int test_leave_one_out() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(published_formulas),        cmocka_unit_test(shapes_are_found),
      cmocka_unit_test(exact_leaving_out),         cmocka_unit_test(invariances),
      cmocka_unit_test(few_draws_and_equal_draws),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
