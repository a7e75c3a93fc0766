// Temperature scaling: closed forms, the best of a fine grid, limits, invariance, and what is refused.
#include "metric_tables.hpp"
#include "metrics/metrics.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Table applied(const Table& logits, double temperature) {
  Table out(logits.rows, logits.cols);
  apply_temperature(logits.array(), temperature, out.out());
  return out;
}

double loss(const Table& logits, const Table& y, double temperature) {
  const Table log_p = applied(logits, temperature);
  double sum = 0;
  for (Index i = 0; i < y.rows; ++i) sum -= log_p(i, static_cast<Index>(y(i, 0)));
  return sum / static_cast<double>(y.rows);
}

/// Two classes with margin z, right k times of n: sigmoid(z / T) = k / n.
void closed_form_of_equal_margins(void**) {
  for (const double margin : {0.01, 1.0, 8.0, 300.0})
    for (const int right : {6, 7, 9}) {
      Table logits(10, 2), y(10, 1);
      for (Index i = 0; i < 10; ++i) {
        logits(i, 0) = 5 + margin;
        logits(i, 1) = 5;
        y(i, 0) = i < right ? 0 : 1;
      }
      const double expected = margin / std::log(right / (10.0 - right));
      assert_near(fit_temperature(logits.array(), y.array()) / expected, 1, 1e-12);
    }
}

/// Labels drawn from softmax(z / 2.5) of random z.
std::pair<Table, Table> overconfident(Index rows, Index classes) {
  TableRandom random(31);
  Table logits(rows, classes), y(rows, 1);
  for (double& z : logits.values) z = std::round(64 * 5 * random.normal()) / 64;
  const Table log_p = applied(logits, 2.5);
  for (Index i = 0; i < rows; ++i) {
    double left = random.uniform();
    Index label = 0;
    while (label + 1 < classes && (left -= std::exp(log_p(i, label))) > 0) ++label;
    y(i, 0) = static_cast<double>(label);
  }
  return {logits, y};
}

void it_is_the_best_of_all(void**) {
  const auto [logits, y] = overconfident(2000, 5);
  const double best = fit_temperature(logits.array(), y.array()), least = loss(logits, y, best);
  assert_near(best, 2.5, 0.25);
  for (double factor = 0.5; factor < 2; factor *= 1.01)
    assert_true(loss(logits, y, best * factor) >= least - 1e-14);
  // The slope changes its sign there.
  assert_true(loss(logits, y, best * (1 + 1e-4)) > least && loss(logits, y, best * (1 - 1e-4)) > least);
}

void scale_and_shift_of_logits(void**) {
  const auto [logits, y] = overconfident(300, 4);
  const double best = fit_temperature(logits.array(), y.array());
  Table scaled = logits;
  for (double& z : scaled.values) z = 4 * z + 1000;
  assert_near(fit_temperature(scaled.array(), y.array()), 4 * best, 1e-10);
  // Log probabilities are logits; once scaled, there is nothing left to scale.
  assert_near(fit_temperature(applied(logits, 1).array(), y.array()), best, 1e-10);
  assert_near(fit_temperature(applied(logits, best).array(), y.array()), 1, 1e-10);
  const auto fit = [](const Array& a, const Array& b) { return fit_temperature(a, b); };
  const Table few(4, 3, {3, 1, 0, 2, 0, 1, 0, 4, 2, 1, 2, 2}), labels = column({0, 0, 2, 1});
  in_every_storage<std::int32_t, std::int32_t>(few, labels, fit, fit(few.array(), labels.array()));
}

void limits(void**) {
  const Table right(2, 2, {1, 0, 0, 2}), flat(2, 3), y = column({0, 1}), wrong = column({1, 0});
  assert_near(fit_temperature(right.array(), y.array()), 1e-3, 0);
  assert_near(fit_temperature(right.array(), wrong.array()), 1e3, 0);
  assert_near(fit_temperature(flat.array(), y.array()), 1, 0);
  const Table huge(2, 2, {1e300, -1e300, -1e300, 1e300});
  assert_near(fit_temperature(huge.array(), y.array()), 1e-3, 0);
  assert_near(fit_temperature(huge.array(), wrong.array()), 1e3, 0);
}

void rows_are_log_probabilities(void**) {
  const auto [logits, y] = overconfident(20, 5);
  for (const double temperature : {0.01, 1.0, 7.0}) {
    const Table log_p = applied(logits, temperature);
    for (Index i = 0; i < 20; ++i) {
      double sum = 0;
      for (Index k = 0; k < 5; ++k) {
        sum += std::exp(log_p(i, k));
        assert_near(log_p(i, k) - log_p(i, 0), (logits(i, k) - logits(i, 0)) / temperature, 1e-11);
      }
      assert_near(sum, 1, 1e-13);
    }
  }
  Table in_place = logits;
  apply_temperature(in_place.array(), 3, in_place.out());
  const Table apart = applied(logits, 3);
  for (std::size_t at = 0; at < apart.values.size(); ++at)
    assert_near(in_place.values[at], apart.values[at], 0);
}

}  // namespace

int test_temperature() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(closed_form_of_equal_margins), cmocka_unit_test(it_is_the_best_of_all),
      cmocka_unit_test(scale_and_shift_of_logits),    cmocka_unit_test(limits),
      cmocka_unit_test(rows_are_log_probabilities),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
