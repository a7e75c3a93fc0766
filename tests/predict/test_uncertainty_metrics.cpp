// Reliability diagrams, entropies, and certainty as a score of right and wrong, inside and outside.
#include "metric_tables.hpp"
#include "metrics/ranking.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Table curve_of(const Table& p, const Table& y, Index bins) {
  Table curve(bins, 3);
  calibration_curve(p.array(), y.array(), curve.out());
  return curve;
}

void edges_belong_to_the_bin_below(void**) {
  for (const Index bins : {3, 10, 15, 20, 100})
    for (Index b = (bins + 1) / 2; b <= bins; ++b) {
      const double edge = static_cast<double>(b) / static_cast<double>(bins);
      const auto bin_of = [&](double confidence) {
        const Table curve = curve_of(column({confidence}), column({1}), bins);
        for (Index bin = 0; bin < bins; ++bin)
          if (curve(bin, 0) == 1) return bin + 1;
        return Index{0};
      };
      if (edge > 0.5) assert_int_equal(bin_of(edge), b);
      if (edge > 0.5 && edge < 1) assert_int_equal(bin_of(std::nextafter(edge, 2)), b + 1);
    }
}

void the_curve_sums_up_to_the_error(void**) {
  TableRandom random(21);
  for (const Index classes : {2, 3, 10})
    for (const Index bins : {1, 7, 20}) {
      const Table p = random_probabilities(random, 80, classes), y = random_labels(random, 80, classes);
      const Table curve = curve_of(p, y, bins);
      double count = 0, error = 0, hits = 0;
      for (Index bin = 0; bin < bins; ++bin) {
        count += curve(bin, 0);
        if (curve(bin, 0) == 0) {
          assert_true(std::isnan(curve(bin, 1)) && std::isnan(curve(bin, 2)));
          continue;
        }
        const double upper = static_cast<double>(bin + 1) / static_cast<double>(bins);
        assert_true(curve(bin, 2) <= upper && curve(bin, 2) > upper - 1 / static_cast<double>(bins));
        error += curve(bin, 0) / 80 * std::abs(curve(bin, 1) - curve(bin, 2));
        hits += curve(bin, 0) * curve(bin, 1);
      }
      assert_near(count, 80, 0);
      assert_near(hits / 80, accuracy(p.array(), y.array()), 1e-15);
      assert_near(error, expected_calibration_error(p.array(), y.array(), bins), 1e-14);
    }
}

void one_bin_is_accuracy_against_confidence(void**) {
  const Table p(4, 3, {0.5, 0.25, 0.25, 0, 1, 0, 0.25, 0.25, 0.5, 0.375, 0.375, 0.25}),
      y = column({0, 1, 1, 0});
  const Table curve = curve_of(p, y, 1);
  assert_near(curve(0, 0), 4, 0);
  assert_near(curve(0, 1), 0.75, 0);
  assert_near(curve(0, 2), (0.5 + 1 + 0.5 + 0.375) / 4, 1e-15);
  assert_near(expected_calibration_error(p.array(), y.array(), 1), 0.75 - 2.375 / 4, 1e-15);
}

void likelihood_of_known_rows(void**) {
  const Table p(2, 2, {0.5, 0.5, 0.25, 0.75}), y = column({0, 1});
  in_every_storage<float, std::int32_t>(p, y, negative_log_likelihood, -(std::log(0.5) + std::log(0.75)) / 2);
  const Table single = column({0.5, 0.75});
  assert_near(negative_log_likelihood(single.array(), y.array()), -(std::log(0.5) + std::log(0.75)) / 2,
              1e-15);
}

Table entropy_of(const Table& p) {
  Table entropy(p.rows, 1);
  entropies(p.array(), entropy.out());
  return entropy;
}

void entropies_of_known_rows(void**) {
  const Table p(3, 4, {0.25, 0.25, 0.25, 0.25, 0, 1, 0, 0, 0.5, 0.5, 0, 0});
  const Table entropy = entropy_of(p);
  assert_near(entropy(0, 0), std::log(4.0), 1e-15);
  assert_near(entropy(1, 0), 0, 0);
  assert_near(entropy(2, 0), std::log(2.0), 1e-15);
  const Table binary = entropy_of(column({0.25, 0, 0.5}));  // P(y = 1)
  assert_near(binary(0, 0), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-15);
  assert_near(binary(1, 0), 0, 0);
  assert_near(binary(2, 0), std::log(2.0), 1e-15);
  float narrow[3];  // outputs of either type
  entropies(p.array(), bdl_f32_out(narrow, 3, 1));
  assert_near(static_cast<double>(narrow[0]), std::log(4.0), 1e-7);
}

void histograms_cover_the_whole_range(void**) {
  const Table p(3, 4, {0.25, 0.25, 0.25, 0.25, 0, 1, 0, 0, 0.5, 0.5, 0, 0});
  for (const Index bins : {1, 2, 10, 64}) {
    Table counts(bins, 1);
    entropy_histogram(p.array(), counts.out());
    Table expected(bins, 1);
    expected(0, 0) += 1;
    expected((bins + 1) / 2 - 1, 0) += 1;  // log 2 is half of log 4
    expected(bins - 1, 0) += 1;
    for (Index b = 0; b < bins; ++b) assert_near(counts(b, 0), expected(b, 0), 0);
  }
  TableRandom random(22);
  const Table many = random_probabilities(random, 500, 10);
  const Table entropy = entropy_of(many);
  Table counts(10, 1);
  entropy_histogram(many.array(), counts.out());
  for (Index b = 0; b < 10; ++b) {
    const double width = std::log(10.0) / 10, low = static_cast<double>(b) * width;
    double inside = 0;
    for (Index i = 0; i < 500; ++i)
      inside += (entropy(i, 0) > low && entropy(i, 0) <= low + width) || (b == 0 && entropy(i, 0) <= 0);
    assert_near(counts(b, 0), inside, 0);
  }
}

void certainty_tells_right_from_wrong(void**) {
  // Right with confidences 0.75 and 0.5, wrong with 0.625 and 0.5: 1 + 1 + 0 + 1/2 of 4 pairs.
  const Table p(4, 2, {0.75, 0.25, 0.5, 0.5, 0.375, 0.625, 0.5, 0.5}), y = column({0, 0, 0, 1});
  for (const bdl_score score : {BDL_SCORE_CONFIDENCE, BDL_SCORE_ENTROPY})
    in_every_storage<float, std::int32_t>(
        p, y, [=](const Array& a, const Array& b) { return auroc_of_correct(a, b, score); }, 2.5 / 4);
}

void outside_is_told_from_inside(void**) {
  const Table inside(3, 3, {0.75, 0.25, 0, 0.5, 0.5, 0, 0.5, 0.25, 0.25}),
      outside(2, 3, {0.5, 0.25, 0.25, 0.375, 0.375, 0.25});
  const bdl_ood_report report = detect_outside(inside.array(), outside.array(), BDL_SCORE_CONFIDENCE);
  const Ranking ranking({0.75, 0.5, 0.5}, {0.5, 0.375}), turned({-0.5, -0.375}, {-0.75, -0.5, -0.5});
  assert_near(report.auroc, ranking.auroc(), 0);
  assert_near(report.auroc, 5.0 / 6, 1e-15);
  assert_near(report.aupr, ranking.average_precision(), 0);
  assert_near(report.aupr_out, turned.average_precision(), 0);
  assert_near(report.fpr95, 0.5, 0);
  assert_near(report.threshold, 0.5, 0);
  assert_near(report.detection_error, ranking.detection_error(), 0);
  const Table in = entropy_of(inside), out = entropy_of(outside);
  assert_near(report.entropy_inside, (in(0, 0) + in(1, 0) + in(2, 0)) / 3, 1e-15);
  assert_near(report.entropy_outside, (out(0, 0) + out(1, 0)) / 2, 1e-15);
  // In entropy, (1/2, 1/4, 1/4) is less certain than (1/2, 1/2, 0): they no longer tie.
  const bdl_ood_report by_entropy = detect_outside(inside.array(), outside.array(), BDL_SCORE_ENTROPY);
  assert_near(by_entropy.auroc, 5.5 / 6, 1e-15);
  assert_near(by_entropy.threshold, -in(2, 0), 0);
}

}  // namespace

int test_uncertainty_metrics() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(edges_belong_to_the_bin_below),
      cmocka_unit_test(the_curve_sums_up_to_the_error),
      cmocka_unit_test(one_bin_is_accuracy_against_confidence),
      cmocka_unit_test(likelihood_of_known_rows),
      cmocka_unit_test(entropies_of_known_rows),
      cmocka_unit_test(histograms_cover_the_whole_range),
      cmocka_unit_test(certainty_tells_right_from_wrong),
      cmocka_unit_test(outside_is_told_from_inside),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
