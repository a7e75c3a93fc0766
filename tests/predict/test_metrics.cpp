// Metrics against hand-computed values, slow definitions and the closed form of the CRPS, in every memory
// layout.
#include "metric_tables.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// n x 1 P(y = 1) written out as two classes.
Table two_classes(const Table& probability) {
  Table table(probability.rows, 2);
  for (Index i = 0; i < table.rows; ++i) {
    table(i, 0) = 1 - probability(i, 0);
    table(i, 1) = probability(i, 0);
  }
  return table;
}

// Slow definitions; those of classification for K >= 2 columns.

double slow_accuracy(const Table& p, const Table& y) {
  double hits = 0;
  for (Index i = 0; i < p.rows; ++i) {
    const auto row = p.values.begin() + i * p.cols;
    hits += static_cast<double>(std::max_element(row, row + p.cols) - row) == y(i, 0);
  }
  return hits / static_cast<double>(p.rows);
}

double slow_brier(const Table& p, const Table& y) {
  Table one_hot(p.rows, p.cols);
  for (Index i = 0; i < p.rows; ++i) one_hot(i, static_cast<Index>(y(i, 0))) = 1;
  double sum = 0;
  for (std::size_t at = 0; at < p.values.size(); ++at) sum += std::pow(p.values[at] - one_hot.values[at], 2);
  return sum / static_cast<double>(p.rows);
}

double slow_calibration_error(const Table& p, const Table& y, Index bins) {
  double error = 0;
  for (Index bin = 0; bin < bins; ++bin) {
    double count = 0, hits = 0, confidences = 0;
    for (Index i = 0; i < p.rows; ++i) {
      const auto row = p.values.begin() + i * p.cols;
      const auto top = std::max_element(row, row + p.cols);
      const double scaled = *top * static_cast<double>(bins);
      if (scaled <= static_cast<double>(bin) || scaled > static_cast<double>(bin + 1)) continue;
      count += 1;
      hits += static_cast<double>(top - row) == y(i, 0);
      confidences += *top;
    }
    if (count > 0)
      error += count / static_cast<double>(p.rows) * std::abs(hits / count - confidences / count);
  }
  return error;
}

/// Exact for multiples of 1/64 until the divisions at the end.
double slow_crps(const Table& draws, const Table& y) {
  const auto count = static_cast<double>(draws.cols), rows = static_cast<double>(draws.rows);
  double distances = 0, pairs = 0;
  for (Index i = 0; i < draws.rows; ++i)
    for (Index j = 0; j < draws.cols; ++j) {
      distances += std::abs(draws(i, j) - y(i, 0));
      for (Index k = 0; k < draws.cols; ++k) pairs += std::abs(draws(i, j) - draws(i, k));
    }
  return draws.cols == 1 ? distances / rows : (distances - pairs / (2 * (count - 1))) / count / rows;
}

void rmse_of_known_errors(void**) {
  const Table mean(2, 2, {1, 2, 3, 4}), y(2, 2, {1, 4, 0, 0});  // errors 0, 2, 3, 4
  assert_near(rmse(mean.array(), y.array()), std::sqrt(29.0 / 4), 1e-15);
  in_every_storage<std::int32_t, std::int32_t>(mean, y, rmse, std::sqrt(29.0 / 4));
  assert_near(rmse(mean.array(), mean.array()), 0, 0);
  const double zero = 0;  // one number broadcast to a matrix
  assert_near(rmse(mean.array(), bdl_strided(&zero, BDL_F64, 2, 2, 0, 0)), std::sqrt(30.0 / 4), 1e-15);
  TableRandom random(1);
  const Table a = random_table(random, 7, 3, 500, 1.0 / 64), b = random_table(random, 7, 3, 500, 1.0 / 64);
  double sum = 0;
  for (std::size_t at = 0; at < 21; ++at) sum += std::pow(a.values[at] - b.values[at], 2);
  in_every_storage<float, float>(a, b, rmse, std::sqrt(sum / 21));
}

void log_density_has_a_standard_error(void**) {
  const Table log_density = column({-1, -2, -3, -6});  // mean -3, sample variance (4 + 1 + 0 + 9) / 3
  in_every_type_and_layout<std::int32_t>(
      log_density, [](const Array& x) { return mean_log_predictive_density(x).mean; }, -3);
  in_every_type_and_layout<std::int32_t>(
      log_density, [](const Array& x) { return mean_log_predictive_density(x).standard_error; },
      std::sqrt(14.0 / 3 / 4));
  const MeanEstimate one = mean_log_predictive_density(column({-1.25}).array());
  assert_near(one.mean, -1.25, 0);
  assert_near(one.standard_error, 0, 0);
  // A large common part must not swallow the spread: deviations -1, 0, 1 about -1e9.
  const MeanEstimate shifted = mean_log_predictive_density(column({-1e9 - 1, -1e9, -1e9 + 1}).array());
  assert_near(shifted.standard_error, std::sqrt(1.0 / 3), 1e-12);
}

void classification_of_known_rows(void**) {
  const Table p(4, 3, {0.5, 0.25, 0.25, 0, 1, 0, 0.25, 0.25, 0.5, 0.375, 0.375, 0.25}),
      y = column({0, 1, 1, 0});
  in_every_storage<float, std::int32_t>(p, y, accuracy, 3.0 / 4);  // the tie of the last row goes to class 0
  const double brier = (0.375 + 0 + (0.0625 + 0.5625 + 0.25) + (0.390625 + 0.140625 + 0.0625)) / 4;
  in_every_storage<float, std::int32_t>(p, y, brier_score, brier);
  // With 4 bins, (1/4, 1/2] holds rows 0, 2 and 3 (2 of 3 right, confidences 0.5, 0.5, 0.375), (3/4, 1]
  // row 1.
  const auto calibration = [](const Array& a, const Array& b) { return expected_calibration_error(a, b, 4); };
  in_every_storage<float, std::int32_t>(p, y, calibration, (2 - 1.375) / 4);
}

void one_column_is_the_probability_of_class_one(void**) {
  const Table p = column({0.75, 0.25, 0.5, 1, 0}), y = column({1, 1, 0, 1, 1});
  assert_near(accuracy(p.array(), y.array()), 3.0 / 5, 0);  // 0.5 is a tie: class 0
  assert_near(brier_score(p.array(), y.array()), 2 * (0.0625 + 0.5625 + 0.25 + 0 + 1) / 5, 1e-15);
  TableRandom random(2);
  const Table many = random_probabilities(random, 200, 2), labels = random_labels(random, 200, 2);
  Table single(200, 1);
  for (Index i = 0; i < 200; ++i) single(i, 0) = many(i, 1);
  const Table pair = two_classes(single);
  in_every_storage<float, std::int32_t>(single, labels, accuracy, slow_accuracy(pair, labels));
  in_every_storage<float, std::int32_t>(single, labels, brier_score, slow_brier(pair, labels));
  for (const Index bins : {1, 2, 15}) {
    const auto calibration = [=](const Array& a, const Array& b) {
      return expected_calibration_error(a, b, bins);
    };
    in_every_storage<float, std::int32_t>(single, labels, calibration,
                                          slow_calibration_error(pair, labels, bins));
  }
}

void classification_agrees_with_slow_definitions(void**) {
  TableRandom random(3);
  for (const Index classes : {2, 3, 10})
    for (const Index rows : {1, 2, 101}) {
      const Table p = random_probabilities(random, rows, classes), y = random_labels(random, rows, classes);
      in_every_storage<float, std::int32_t>(p, y, accuracy, slow_accuracy(p, y));
      in_every_storage<float, std::int32_t>(p, y, brier_score, slow_brier(p, y));
      for (const Index bins : {1, 2, 3, 15, 16, 1000})
        assert_near(expected_calibration_error(p.array(), y.array(), bins),
                    slow_calibration_error(p, y, bins), 1e-12);
    }
}

void certainty_is_scored_at_the_ends_of_the_ranges(void**) {
  const Table p(2, 2, {1, 0, 0, 1}), right = column({0, 1}), wrong = column({1, 0});
  assert_near(brier_score(p.array(), right.array()), 0, 0);
  assert_near(brier_score(p.array(), wrong.array()), 2, 0);
  const Index most_bins = std::numeric_limits<Index>::max();  // costs no memory
  for (const Index bins : {Index{1}, Index{15}, most_bins}) {
    assert_near(expected_calibration_error(p.array(), right.array(), bins), 0, 0);
    assert_near(expected_calibration_error(p.array(), wrong.array(), bins), 1, 0);
  }
  // Rounding of the caller's probabilities neither fails nor leaves the range of the scores.
  const Table rounded(2, 2, {1 + 9e-7, -9e-7, -9e-7, 1 + 9e-7});
  assert_near(brier_score(rounded.array(), wrong.array()), 2, 0);
  assert_near(expected_calibration_error(rounded.array(), wrong.array(), 15), 1, 0);
  const Table loose(1, 2, {0.5, 0.5 + 9e-5});
  assert_near(accuracy(loose.array(), column({1}).array()), 1, 0);
}

void coverage_counts_closed_intervals(void**) {
  const Table lower(3, 2, {0, 0, 0, 2, -1, 5}), upper(3, 2, {2, 2, 2, 2, 1, 9}), y(3, 2, {0, 2, 3, 2, -2, 6});
  const auto moved_y = [&](const Array& a, const Array& b) { return coverage(a, upper.array(), b); };
  in_every_storage<std::int32_t, std::int32_t>(lower, y, moved_y, 4.0 / 6);
  const auto moved_upper = [&](const Array& a) { return coverage(lower.array(), a, y.array()); };
  in_every_type_and_layout<std::int32_t>(upper, moved_upper, 4.0 / 6);
  TableRandom random(4);
  const Table middle = random_table(random, 50, 3, 300, 1.0 / 64),
              target = random_table(random, 50, 3, 300, 1.0 / 64);
  Table from = middle, to = middle;
  double inside = 0;
  for (std::size_t at = 0; at < 150; ++at) {
    from.values[at] -= 2;
    to.values[at] += 2;
    inside += std::abs(target.values[at] - middle.values[at]) <= 2;
  }
  assert_true(inside > 30 && inside < 120);
  assert_near(coverage(from.array(), to.array(), target.array()), inside / 150, 1e-15);
}

void crps_of_known_ensembles(void**) {
  const auto score = [](std::vector<double> draws, double y) {
    const auto count = static_cast<Index>(draws.size());
    return crps(Table(1, count, std::move(draws)).array(), column({y}).array());
  };
  assert_near(score({3}, 1), 2, 0);                         // one draw: absolute error
  assert_near(score({4, 0}, 1), (3.0 + 1) / 2 - 2, 1e-15);  // |4 - 0| / 2
  assert_near(score({-1, 1}, 0), 0, 1e-15);
  assert_near(score({3, 0, 1}, 0), 4.0 / 3 - 1, 1e-15);  // pairs 3 + 2 + 1, / (3 * 2)
  assert_near(score({5, 5, 5, 5}, 3), 2, 0);
  assert_near(score({1e9 + 1, 1e9 - 1, 1e9}, 1e9), 2.0 / 3 - 2.0 / 3, 1e-15);
}

void crps_agrees_with_the_double_sum(void**) {
  TableRandom random(5);
  for (const Index draws : {1, 2, 3, 10, 65})
    for (const Index rows : {1, 2, 9}) {
      const Table x = random_table(random, rows, draws, 200, 1.0 / 64),
                  y = random_table(random, rows, 1, 200, 1.0 / 64);
      in_every_storage<float, float>(x, y, crps, slow_crps(x, y));
      const Table counts = random_table(random, rows, draws, 9, 1),
                  count = random_table(random, rows, 1, 9, 1);
      in_every_storage<std::int32_t, std::int32_t>(counts, count, crps, slow_crps(counts, count));
    }
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_quantile(double p) {
  double low = -10, high = 10;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return low;
}

/// CRPS of N(0, 1) at y (Gneiting and Raftery 2007, eq. 21).
double normal_crps(double y) {
  const double density = std::exp(-y * y / 2) / std::sqrt(2 * std::numbers::pi);
  return y * (2 * normal_cdf(y) - 1) + 2 * density - std::numbers::inv_sqrtpi;
}

/// S midpoint quantiles stand for N(0, 1) up to E|X - X'| / (2 S) = 0.57 / S and a tail term: together below
/// 1 / S.
void crps_of_a_fine_ensemble_is_the_closed_form(void**) {
  constexpr Index size = 20'000;
  const std::vector<double> targets{-3, -1, 0, 0.5, 2.5};
  Table draws(static_cast<Index>(targets.size()), size);
  for (Index k = 0; k < size; ++k) {
    const Index scrambled = k * 7919 % size;
    const double quantile = normal_quantile((static_cast<double>(k) + 0.5) / size);
    for (Index i = 0; i < draws.rows; ++i) draws(i, scrambled) = quantile;
  }
  for (Index i = 0; i < draws.rows; ++i) {
    const double y = targets[static_cast<std::size_t>(i)];
    const Array row = bdl_f64(&draws(i, 0), 1, size);
    assert_near(crps(row, column({y}).array()), normal_crps(y), 1.0 / size);
  }
}

/// Unbiased for any S >= 2: draws and y from N(0, 1) have the expected score 1 / sqrt(pi). The mean of n
/// scores is Lipschitz in the normals with squared constant (1 + 4 / S) / n, so it misses by six times its
/// root with a probability below 2 exp(-18) = 3e-8.
void crps_is_fair_for_small_ensembles(void**) {
  TableRandom random(6);
  for (const Index size : {2, 3, 8}) {
    constexpr Index examples = 100'000;
    Table draws(examples, size), y(examples, 1);
    for (double& value : draws.values) value = random.normal();
    for (double& value : y.values) value = random.normal();
    assert_near(crps(draws.array(), y.array()), std::numbers::inv_sqrtpi,
                6 * std::sqrt((1 + 4.0 / static_cast<double>(size)) / examples));
  }
}

}  // namespace

int test_metrics() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rmse_of_known_errors),
      cmocka_unit_test(log_density_has_a_standard_error),
      cmocka_unit_test(classification_of_known_rows),
      cmocka_unit_test(one_column_is_the_probability_of_class_one),
      cmocka_unit_test(classification_agrees_with_slow_definitions),
      cmocka_unit_test(certainty_is_scored_at_the_ends_of_the_ranges),
      cmocka_unit_test(coverage_counts_closed_intervals),
      cmocka_unit_test(crps_of_known_ensembles),
      cmocka_unit_test(crps_agrees_with_the_double_sum),
      cmocka_unit_test(crps_of_a_fine_ensemble_is_the_closed_form),
      cmocka_unit_test(crps_is_fair_for_small_ensembles),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
