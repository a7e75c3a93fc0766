// One row that overflows: its own numbers are infinite, or say that nothing is known, and those of other rows
// are exactly what they are without it, for every likelihood, method, type and kind of prediction.
#include <cmath>

#include "predict/ensemble.hpp"
#include "predictor_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 4, bad = 2;

/// A steep linear model: f overflows at inputs of 1e308 (1e38), squares of f at 1e200 (1e25), and rates at
/// inputs of some thousands.
template <class T>
struct Steep {
  PredictorSetting<T> setting;
  Table x, far;

  Steep(bdl_likelihood kind, bdl_predict_method method, double size)
      : setting(kind, method, Kind::full), x(1, 1), far(1, 1) {
    TableRandom random(5);
    setting.model =
        network<T>(method == BDL_QUADRATURE ? std::vector<Index>{3, 1} : std::vector<Index>{3, 2}, kind);
    setting.b = belief<T>(Kind::full, setting.model.parameters(), 0.3, random);
    std::ranges::fill(setting.b.q->mean(), T(10));
    x = far = normal_table(random, rows, 3, 0.3);
    for (Index j = 0; j < 3; ++j) far(bad, j) = size;
  }
  Everything ask(const Table& inputs) const {
    TableRandom random(6);
    Everything all(setting, inputs, random);
    all.predict(setting.query(inputs));
    return all;
  }
};

template <class T>
void check_answers(bdl_likelihood kind, bdl_predict_method method, double size) {
  const Steep<T> s(kind, method, size);
  const Everything expected = s.ask(s.x), got = s.ask(s.far);
  got.assert_same_but(bad, expected);
  const auto at = [&](std::size_t k, Index c = 0) { return got.answer(k)(bad, c); };
  const bool classes = has_classes(kind);
  for (std::size_t k = 0; k < 13; ++k)
    for (Index c = 0; c < got.answer(k).cols; ++c) {
      const bool asked = !std::isnan(expected.answer(k)(bad, c));
      if (asked && std::isnan(at(k, c))) fail_msg("answer %zu is NaN", k);
      if (classes && k < Everything::log_density) assert_true(!asked || std::isfinite(at(k, c)));
    }
  if (!(at(Everything::log_density) < -100 || classes))
    fail_msg("method %d: the log density is %g", static_cast<int>(method), at(Everything::log_density));
  if (classes) return assert_true(at(Everything::probabilities) >= 0 && at(Everything::probabilities) <= 1);
  assert_true(at(Everything::mean) >= size && (size < 1e307 || at(Everything::mean) == infinity));
  const double quantile = at(Everything::quantiles, 1),
               least = has_classes(kind) || has_noise_precision(kind) ? -infinity : 0;
  const bool nothing_is_known = size < 1e307 && quantile == least;  // a finite mean, and an infinite variance
  assert_true(quantile >= std::min(size, 1e300) || nothing_is_known || sizeof(T) == 4);
}

void other_rows_do_not_notice(void**) {
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : all_methods)
      if (suits(method, kind)) {
        check_answers<double>(kind, method, 8e307);
        check_answers<double>(kind, method, 1e200);
        check_answers<float>(kind, method, 1e38);
        check_answers<float>(kind, method, 1e25);
      }
}

/// Finite log rates of 30,000.
void rates_that_overflow_are_infinite(void**) {
  for (const bdl_predict_method method : all_methods) {
    check_answers<double>(BDL_POISSON, method, 1000);
    const Steep<double> s(BDL_POISSON, method, 1000);
    const Everything got = s.ask(s.far);
    assert_true(got.answer(Everything::epistemic)(bad, 0) == infinity || method == BDL_PLUG_IN);
    assert_true(got.answer(Everything::noise)(bad, 0) == infinity);
    assert_true(std::isfinite(got.answer(Everything::output_mean)(bad, 0)));
  }
}

/// A mean that overflows where quantiles do not: m = 0, v = 2000.
void heavy_tails_have_quantiles(void**) {
  const Scalar wide(BDL_POISSON, 0, 2000);
  const Query<double> query = quadrature(wide.model, wide.b, wide.x);
  const Table levels(1, 3, {0.1, 0.5, 0.9}), y(1, 1, {3});
  Table mean = output(1, 1), epistemic = mean, noise = mean, quantiles = output(1, 3), density = mean;
  predict_moments(query, mean.out(), epistemic.out(), noise.out());
  predict_quantiles(query, levels.array(), quantiles.out());
  predict_log_density(query, y.array(), density.out());
  assert_true(mean(0, 0) == infinity && epistemic(0, 0) == infinity && noise(0, 0) == infinity);
  assert_true(quantiles(0, 0) == 0 && quantiles(0, 1) <= 2);
  assert_close(std::log(quantiles(0, 2)), 1.2815515655446004 * std::sqrt(2000), 1e-3);
  assert_true(std::isfinite(density(0, 0)));
}

void floats_that_cannot_hold_a_number_are_infinite(void**) {
  const Scalar large(BDL_POISSON, std::log(1e40), 1e-6);
  float single = 1;
  Table mean = output(1, 1);
  predict_moments(plug_in(large.model, large.b, large.x), bdl_f32_out(&single, 1, 1), {}, {});
  predict_moments(plug_in(large.model, large.b, large.x), mean.out(), {}, {});
  assert_true(std::isinf(single) && single > 0);
  assert_close(mean(0, 0), 1e40, 1e-12);
}

template <class Ask>
void check_ensemble(bdl_likelihood kind, bdl_predict_method method, double size, Index cols, Ask ask) {
  const Steep<double> s(kind, method, size);
  Ensemble<double> ensemble;
  for (std::uint64_t j = 0; j < 3; ++j) ensemble.add(s.setting.model, *s.setting.b.q, {method, 7, 3 + j});
  Table expected = output(rows, cols), got = expected;
  ask(ensemble, s.x, expected.out());
  ask(ensemble, s.far, got.out());
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c)
      assert_true(i == bad ? !std::isnan(got(i, c)) : got(i, c) == expected(i, c));
}

void ensembles_keep_the_other_rows(void**) {
  const Table levels(1, 2, {0.1, 0.9});
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED, BDL_LINEARIZED_MONTE_CARLO})
      for (const double size : {8e307, 1e200, 1000.0}) {
        const auto check = [&](Index cols, auto ask) { check_ensemble(kind, method, size, cols, ask); };
        const Index means = kind == BDL_HETEROSCEDASTIC ? 1 : 2;
        check(means, [](auto& e, const Table& x, const OutArray& out) { e.moments(x.array(), out, {}, {}); });
        check(means, [](auto& e, const Table& x, const OutArray& out) { e.moments(x.array(), {}, out, {}); });
        check(means, [](auto& e, const Table& x, const OutArray& out) { e.moments(x.array(), {}, {}, out); });
        check(2, [](auto& e, const Table& x, const OutArray& out) {
          e.output_distribution(x.array(), out, {});
        });
        check(1, [](auto& e, const Table& x, const OutArray& out) { e.leverage(x.array(), out, {}); });
        check(1, [](auto& e, const Table& x, const OutArray& out) { e.leverage(x.array(), {}, out); });
        if (has_classes(kind)) {
          check(2, [](auto& e, const Table& x, const OutArray& out) { e.classes(x.array(), out, {}, {}); });
          continue;
        }
        check(2 * means, [&](auto& e, const Table& x, const OutArray& out) {
          e.quantiles(x.array(), levels.array(), out);
        });
        check(1, [&](auto& e, const Table& x, const OutArray& out) {
          Table y(rows, means);
          std::ranges::fill(y.values, kind == BDL_GAMMA ? 1 : 0);
          e.log_density(x.array(), y.array(), out);
        });
        check(means * 7 * 3, [](auto& e, const Table& x, const OutArray& out) { e.draws(x.array(), out); });
      }
}

}  // namespace

int test_overflow() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(other_rows_do_not_notice),
      cmocka_unit_test(rates_that_overflow_are_infinite),
      cmocka_unit_test(heavy_tails_have_quantiles),
      cmocka_unit_test(floats_that_cannot_hold_a_number_are_infinite),
      cmocka_unit_test(ensembles_keep_the_other_rows),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
