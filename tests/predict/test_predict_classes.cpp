// Class probabilities, entropies and mutual information.
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Classes {
  Table probabilities, entropy, information;
};

template <class T>
Classes classes(const Query<T>& query) {
  const Index rows = query.x.rows, targets = query.model.likelihood.targets();
  Classes c{output(rows, query.model.outputs()), output(rows, targets), output(rows, targets)};
  predict_classes(query, c.probabilities.out(), c.entropy.out(), c.information.out());
  return c;
}

double entropy(const std::vector<double>& p) {
  double sum = 0;
  for (const double value : p)
    if (value > 0) sum -= value * std::log(value);
  return sum;
}

std::vector<double> softmax(const Table& f, Index k) {
  double sum = 0;
  std::vector<double> p;
  for (Index c = 0; c < f.rows; ++c) sum += std::exp(f(c, k));
  for (Index c = 0; c < f.rows; ++c) p.push_back(std::exp(f(c, k)) / sum);
  return p;
}

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;

template <class T>
void categorical_follows_the_definitions(void**) {
  TableRandom random(1);
  const auto model = network<T>({3, 5, 4}, BDL_CATEGORICAL);
  const Table x = normal_table(random, 6, 3);
  for (const double deviation : {0.05, 0.5, 3.0}) {
    const auto b = belief<T>(Kind::low_rank, model.parameters(), deviation, random);
    const auto query = monte_carlo(model, b, x, 40);
    const Classes got = classes(query);
    const auto f = slow_outputs(query);
    for (Index i = 0; i < 6; ++i) {
      std::vector<double> mean(4);
      double expected_entropy = 0, total = 0;
      for (Index k = 0; k < 40; ++k) {
        const auto p = softmax(f[static_cast<std::size_t>(i)], k);
        for (std::size_t c = 0; c < 4; ++c) mean[c] += p[c] / 40;
        expected_entropy += entropy(p) / 40;
      }
      for (Index c = 0; c < 4; ++c) {
        assert_near(got.probabilities(i, c), mean[static_cast<std::size_t>(c)], tolerance<T>);
        total += got.probabilities(i, c);
      }
      assert_near(total, 1, 1e-14);
      assert_near(got.entropy(i, 0), entropy(mean), tolerance<T>);
      assert_near(got.information(i, 0), entropy(mean) - expected_entropy, tolerance<T>);
      assert_true(got.information(i, 0) >= 0 && got.information(i, 0) <= got.entropy(i, 0));
      assert_true(got.entropy(i, 0) <= std::log(4) + 1e-15);
    }
  }
}

void bernoulli_outputs_are_separate(void**) {
  TableRandom random(2);
  const auto model = network<double>({3, 5, 3}, BDL_BERNOULLI);
  const Table x = normal_table(random, 6, 3);
  const auto b = belief<double>(Kind::diagonal, model.parameters(), 0.8, random);
  const auto query = monte_carlo(model, b, x, 40);
  const Classes got = classes(query);
  const auto f = slow_outputs(query);
  for (Index i = 0; i < 6; ++i)
    for (Index c = 0; c < 3; ++c) {
      double mean = 0, expected_entropy = 0;
      for (Index k = 0; k < 40; ++k) {
        const double p = 1 / (1 + std::exp(-f[static_cast<std::size_t>(i)](c, k)));
        mean += p / 40;
        expected_entropy += entropy({p, 1 - p}) / 40;
      }
      assert_near(got.probabilities(i, c), mean, 1e-13);
      assert_near(got.entropy(i, c), entropy({mean, 1 - mean}), 1e-13);
      assert_near(got.information(i, c), entropy({mean, 1 - mean}) - expected_entropy, 1e-13);
    }
}

void one_parameter_vector_has_no_information(void**) {
  TableRandom random(3);
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_CATEGORICAL}) {
    const auto model = network<double>({3, 5, 3}, kind);
    const Table x = normal_table(random, 6, 3);
    const auto b = belief<double>(Kind::diagonal, model.parameters(), 2, random);
    for (const double value : classes(plug_in(model, b, x)).information.values) assert_true(value == 0);
    for (const double value : classes(monte_carlo(model, b, x, 1)).information.values)
      assert_true(value == 0);
  }
}

/// E p, H(E p) and the information of logits N(m, v), from values with 40 digits.
void quadrature_is_exact(void**) {
  constexpr struct {
    double m, v, p, q, expected_entropy;
  } cases[] = {
      {0, 0.01, 0.5, 0.5, 0.69190184221016748},
      {0.7, 0.25, 0.65971953476665809, 0.34028046523334191, 0.61528960823277738},
      {2, 4, 0.77520024539666359, 0.22479975460333641, 0.3563163602131137},
      {-8, 9, 0.011678916716981701, 0.9883210832830183, 0.033266752419393231},
      {5, 400, 0.59831211786159878, 0.40168788213840122, 0.063264754157204779},
      {-300, 10000, 0.0013520865722746964, 0.9986479134277253, 0.00014607074059174132},
  };
  for (const auto& c : cases) {
    const Scalar s(BDL_BERNOULLI, c.m, c.v);
    const Classes got = classes(quadrature(s.model, s.b, s.x));
    assert_close(got.probabilities(0, 0), c.p, 1e-13);
    assert_near(got.entropy(0, 0), entropy({c.p, c.q}), 1e-14);
    assert_near(got.information(0, 0), entropy({c.p, c.q}) - c.expected_entropy, 1e-14);
  }
}

void monte_carlo_estimates_the_quadrature(void**) {
  TableRandom random(5);
  const auto model = network<double>({3, 1}, BDL_BERNOULLI);
  const Table x = normal_table(random, 6, 3);
  constexpr Index samples = 50'000;
  for (const Kind kind : all_kinds) {
    const auto b = belief<double>(kind, 4, 1.5, random);
    const Classes exact = classes(quadrature(model, b, x)),
                  sampled = classes(monte_carlo(model, b, x, samples));
    const Moments m = moments(quadrature(model, b, x));
    for (Index i = 0; i < 6; ++i)
      assert_unbiased(sampled.probabilities(i, 0), exact.probabilities(i, 0),
                      std::sqrt(m.epistemic(i, 0) / samples));
  }
}

void certainty_has_no_entropy(void**) {
  for (const double logit : {-1000.0, 1000.0}) {
    const Scalar s(BDL_BERNOULLI, logit, 1);
    for (const auto& query : {plug_in(s.model, s.b, s.x), quadrature(s.model, s.b, s.x)}) {
      const Classes got = classes(query);
      assert_near(got.probabilities(0, 0), logit > 0 ? 1 : 0, 1e-300);
      assert_near(got.entropy(0, 0), 0, 1e-300);
      assert_true(got.information(0, 0) == 0);
    }
  }
  TableRandom random(6);
  const auto model = network<double>({1, 3}, BDL_CATEGORICAL, false);
  auto b = belief<double>(Kind::diagonal, 3, 1e-3, random);
  const double logits[] = {1000, -1000, 0};
  std::ranges::copy(logits, b.q->mean().begin());
  const Classes got = classes(monte_carlo(model, b, Table(1, 1, {1.0}), 20));
  assert_true(got.probabilities(0, 0) == 1 && got.probabilities(0, 1) == 0 && got.probabilities(0, 2) == 0);
  assert_true(got.entropy(0, 0) == 0 && got.information(0, 0) == 0);
}

}  // namespace

int test_predict_classes() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(categorical_follows_the_definitions<float>),
      cmocka_unit_test(categorical_follows_the_definitions<double>),
      cmocka_unit_test(bernoulli_outputs_are_separate),
      cmocka_unit_test(one_parameter_vector_has_no_information),
      cmocka_unit_test(quadrature_is_exact),
      cmocka_unit_test(monte_carlo_estimates_the_quadrature),
      cmocka_unit_test(certainty_has_no_entropy),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
