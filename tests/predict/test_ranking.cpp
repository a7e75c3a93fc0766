// Scores of positives against negatives: known answers, all pairs and all thresholds, ties, what must not
// matter.
#include "metric_tables.hpp"
#include "metrics/ranking.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

using Scores = std::vector<double>;

void known_answers(void**) {
  const Ranking five({3, 1, 2}, {2, 0});
  assert_near(five.auroc(), 0.75, 0);
  // Thresholds 3, 2, 1: recall steps of 1/3 at precisions 1, 2/3 and 3/4.
  assert_near(five.average_precision(), (1 + 2.0 / 3 + 3.0 / 4) / 3, 1e-15);
  Scores hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i / 100.0);
  const auto at95 = Ranking(hundred, {0.05, 0.06, 0.07, 0.5}).false_positive_rate(0.95);
  assert_near(at95.threshold, 0.06, 0);
  assert_near(at95.rate, 0.75, 0);
  const Ranking equal({1, 1, 1}, {1, 1, 1, 1, 1});
  assert_near(equal.auroc(), 0.5, 0);
  assert_near(equal.detection_error(), 0.5, 0);
  assert_near(equal.average_precision(), 3.0 / 8, 1e-15);
  assert_near(equal.false_positive_rate(0.95).rate, 1, 0);
  const Ranking perfect({2, 3}, {0, 1}), reversed({0, 1}, {2, 3});
  assert_near(perfect.auroc(), 1, 0);
  assert_near(perfect.average_precision(), 1, 0);
  assert_near(perfect.detection_error(), 0, 0);
  assert_near(perfect.false_positive_rate(1).rate, 0, 0);
  assert_near(reversed.auroc(), 0, 0);
  assert_near(reversed.detection_error(), 0.5, 0);
  const Ranking single({1}, {1});
  assert_near(single.auroc(), 0.5, 0);
}

double share(const Scores& scores, double threshold) {
  return static_cast<double>(std::ranges::count_if(scores, [=](double s) { return s >= threshold; })) /
         static_cast<double>(scores.size());
}

double pairs(const Scores& positive, const Scores& negative) {
  double sum = 0;
  for (const double p : positive)
    for (const double n : negative) sum += p > n ? 1 : p == n ? 0.5 : 0;
  return sum / static_cast<double>(positive.size()) / static_cast<double>(negative.size());
}

/// Every score as a threshold, descending.
Scores thresholds(Scores positive, const Scores& negative) {
  positive.insert(positive.end(), negative.begin(), negative.end());
  std::ranges::sort(positive, std::greater());
  return positive;
}

double slow_average_precision(const Scores& positive, const Scores& negative) {
  double sum = 0, recall = 0;
  for (const double t : thresholds(positive, negative)) {
    const double hits = share(positive, t) * static_cast<double>(positive.size()),
                 alarms = share(negative, t) * static_cast<double>(negative.size());
    sum += (share(positive, t) - recall) * hits / (hits + alarms);
    recall = share(positive, t);
  }
  return sum;
}

double slow_detection_error(const Scores& positive, const Scores& negative) {
  double least = 0.5;
  for (const double t : thresholds(positive, negative))
    least = std::min(least, 0.5 * (1 - share(positive, t)) + 0.5 * share(negative, t));
  return least;
}

double trapezoids(const Table& curve) {
  double area = 0;
  for (Index k = 1; k < curve.rows; ++k)
    area += (curve(k, 0) - curve(k - 1, 0)) * (curve(k, 1) + curve(k - 1, 1)) / 2;
  return area;
}

Table curve_of(const Ranking& ranking, Index scores) {
  Table curve(scores + 1, 3);
  ranking.curve({curve.values.data(), 3, curve.rows});
  return curve;
}

/// With few levels there are ties within and between the kinds; with many there are none.
Scores some_scores(TableRandom& random, Index count, Index levels) {
  Scores scores(static_cast<std::size_t>(count));
  for (double& score : scores) score = static_cast<double>(random.below(levels)) / 8 - 3;
  return scores;
}

void agrees_with_slow_definitions(void**) {
  TableRandom random(11);
  for (const Index levels : {1, 2, 5, 40, 1'000'000})
    for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {1, 7}, {20, 3}, {60, 45}}) {
      const Scores p = some_scores(random, n, levels), q = some_scores(random, m, levels);
      const Ranking ranking(p, q);
      assert_near(ranking.auroc(), pairs(p, q), 1e-15);
      assert_near(ranking.average_precision(), slow_average_precision(p, q), 1e-13);
      assert_near(ranking.detection_error(), slow_detection_error(p, q), 1e-15);
      const Table curve = curve_of(ranking, n + m);
      assert_near(trapezoids(curve), ranking.auroc(), 1e-14);
      const Scores descending = thresholds(p, q);
      for (Index k = 1; k < curve.rows; ++k) {
        assert_near(curve(k, 2), descending[static_cast<std::size_t>(k - 1)], 0);
        assert_near(curve(k, 0), share(q, curve(k, 2)), 0);
        assert_near(curve(k, 1), share(p, curve(k, 2)), 0);
      }
      assert_true(curve(0, 0) == 0 && curve(0, 1) == 0 && std::isinf(curve(0, 2)));
      assert_true(curve(n + m, 0) == 1 && curve(n + m, 1) == 1);
    }
}

void the_threshold_is_the_largest_that_reaches_the_rate(void**) {
  TableRandom random(12);
  for (const double tpr : {1e-9, 0.05, 0.5, 0.8, 0.95, 1.0}) {
    const Scores p = some_scores(random, 20, 30), q = some_scores(random, 33, 30);
    const auto found = Ranking(p, q).false_positive_rate(tpr);
    assert_true(share(p, found.threshold) >= tpr);
    assert_true(share(p, std::nextafter(found.threshold, 1e9)) < tpr ||
                found.threshold == thresholds(p, q)[0]);
    assert_near(found.rate, share(q, found.threshold), 0);
  }
}

/// Only the order of scores matters; exchanging the kinds and the signs mirrors the pairs.
void properties(void**) {
  TableRandom random(13);
  const Scores p = some_scores(random, 50, 60), q = some_scores(random, 40, 60);
  Scores p_grown = p, q_grown = q, p_negated = p, q_negated = q;
  for (Scores* scores : {&p_grown, &q_grown})
    for (double& s : *scores) s = std::exp(s);
  for (Scores* scores : {&p_negated, &q_negated})
    for (double& s : *scores) s = -s;
  const Ranking plain(p, q), grown(p_grown, q_grown), mirrored(q_negated, p_negated), exchanged(q, p);
  assert_near(plain.auroc(), grown.auroc(), 0);
  assert_near(plain.average_precision(), grown.average_precision(), 0);
  assert_near(plain.detection_error(), grown.detection_error(), 0);
  assert_near(plain.auroc(), mirrored.auroc(), 1e-15);
  assert_near(plain.detection_error(), mirrored.detection_error(), 1e-15);
  assert_near(plain.auroc() + exchanged.auroc(), 1, 1e-15);
  Scores twice = p;
  twice.insert(twice.end(), p.begin(), p.end());
  assert_near(Ranking(twice, q).auroc(), plain.auroc(), 1e-15);
}

/// Sorted in blocks, and exact: the positives are shifted by a known share.
void many_scores(void**) {
  constexpr int count = 600'000;  // three blocks of the sort
  Scores p(count), q(count);
  for (int i = 0; i < count; ++i) {
    p[static_cast<std::size_t>(i)] = static_cast<double>(i * 7919LL % count + count / 2);
    q[static_cast<std::size_t>(i)] = static_cast<double>(i * 104'729LL % count);
  }
  // Positive k + n/2 beats n/2 + k negatives and ties with one; those of the upper half beat all.
  constexpr double n = count, half = n / 2;
  const double wins = half * half + half * (half - 1) / 2 + half / 2 + half * n;
  assert_near(Ranking(p, q).auroc(), wins / n / n, 1e-15);
}

void scores_are_read_in_every_storage(void**) {
  const Table p = column({3, 1, 2}), q = column({2, 0});
  const auto auroc = [](const Array& a, const Array& b) {
    return Ranking(scores_of(a, "positive"), scores_of(b, "negative")).auroc();
  };
  in_every_storage<std::int32_t, std::int32_t>(p, q, auroc, 0.75);
}

}  // namespace

int test_ranking() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(known_answers),
      cmocka_unit_test(agrees_with_slow_definitions),
      cmocka_unit_test(the_threshold_is_the_largest_that_reaches_the_rate),
      cmocka_unit_test(properties),
      cmocka_unit_test(many_scores),
      cmocka_unit_test(scores_are_read_in_every_storage),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
