// Closed forms that stand for integrals over the linearised model's outputs: the probit approximation of
// classes, and counts.
#include "likelihood/limited_rates.hpp"
#include "linearized_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Classes {
  Table probabilities, entropy, information;
};

template <class T>
Classes classes(const Query<T>& query) {
  const Likelihood& likelihood = query.model.likelihood;
  const Index rows = query.x.rows, targets = likelihood.targets();
  Classes c{output(rows, likelihood.outputs()), output(rows, targets), output(rows, targets)};
  const bool informative = likelihood.kind() == BDL_BERNOULLI || query.spec.method != BDL_LINEARIZED;
  predict_classes(query, c.probabilities.out(), c.entropy.out(),
                  informative ? c.information.out() : bdl_none_out());
  return c;
}

double entropy_of(double p) {
  return -p * std::log(p) - (1 - p) * std::log(1 - p);
}

void probit_probabilities(void**) {
  TableRandom random(4);
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_CATEGORICAL}) {
    const auto model = network<double>({3, 4, 3}, kind);
    const Table x = normal_table(random, 5, 3);
    const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.7, random);
    const auto query = linearized<double>(model, b, x);
    const Law q = law(query);
    const Classes got = classes(query);
    const Moments m = moments(query);
    for (Index i = 0; i < 5; ++i) {
      double kappa[3], e[3], sum = 0, entropy = 0;
      for (Index c = 0; c < 3; ++c) {
        kappa[c] = 1 / std::sqrt(1 + std::numbers::pi * q.covariance(i, 4 * c) / 8);
        sum += e[c] = std::exp(kappa[c] * q.mean(i, c));
      }
      for (Index c = 0; c < 3; ++c) {
        const double p = kind == BDL_BERNOULLI ? e[c] / (1 + e[c]) : e[c] / sum;
        entropy -= p * std::log(p);
        assert_close(got.probabilities(i, c), p, 1e-13);
        assert_close(m.mean(i, c), p, 1e-13);
        assert_close(m.noise(i, c), kappa[c] * p * (1 - p), 1e-13);
        assert_close(m.epistemic(i, c), (1 - kappa[c]) * p * (1 - p), 1e-11);
        if (kind == BDL_BERNOULLI) assert_close(got.entropy(i, c), entropy_of(p), 1e-12);
      }
      if (kind == BDL_CATEGORICAL) assert_close(got.entropy(i, 0), entropy, 1e-12);
    }
    for (const double target : {0.0, 1.0}) {
      const Table density = log_density(query, [&] {
        Table y(5, model.likelihood.targets());
        std::ranges::fill(y.values, target);
        return y;
      }());
      for (Index i = 0; i < 5; ++i) {
        double expected =
            kind == BDL_BERNOULLI ? 0 : std::log(got.probabilities(i, static_cast<Index>(target)));
        for (Index c = 0; kind == BDL_BERNOULLI && c < 3; ++c)
          expected += std::log(target > 0 ? got.probabilities(i, c) : 1 - got.probabilities(i, c));
        assert_close(density(i, 0), expected, 1e-12);
      }
    }
  }
}

/// Probabilities are within 0.02 of the integral; so are the parts of the variance (it is 1/4 at most); the
/// mutual information is the integral.
void probit_is_near_quadrature(void**) {
  for (const double v : {0.0625, 1.0, 9.0, 100.0})
    for (double m = -8; m <= 8; m += 0.75) {
      const Scalar s(BDL_BERNOULLI, m, v);
      const auto exact = quadrature(s.model, s.b, s.x), probit = linearized<double>(s.model, s.b, s.x);
      const Classes a = classes(exact), b = classes(probit);
      assert_near(b.probabilities(0, 0), a.probabilities(0, 0), 0.02);
      assert_near(b.information(0, 0), a.information(0, 0), 1e-13);
      const Moments d = moments(exact), e = moments(probit);
      assert_near(e.epistemic(0, 0), d.epistemic(0, 0), 0.02);
      assert_near(e.noise(0, 0), d.noise(0, 0), 0.02);
    }
}

void counts_are_integrated_one_by_one(void**) {
  TableRandom random(5);
  const auto model = network<double>({3, 4, 2}, BDL_POISSON);
  const Table x = normal_table(random, 5, 3), y = targets(random, model.likelihood, 5), levels(1, 1, {0.9});
  const auto b = belief<double>(Kind::full, model.parameters(), 0.4, random);
  const auto query = linearized<double>(model, b, x);
  const Law q = law(query);
  const Moments m = moments(query);
  const Table density = log_density(query, y), upper = quantiles(query, levels);
  for (Index i = 0; i < 5; ++i) {
    double expected = 0;
    for (Index c = 0; c < 2; ++c) {
      const double mean = q.mean(i, c), v = q.covariance(i, 3 * c), rate = std::exp(mean + v / 2);
      expected += log_poisson_lognormal(mean, v, y(i, c));
      assert_close(m.mean(i, c), rate, 1e-13);
      assert_close(m.noise(i, c), rate, 1e-13);
      assert_close(m.epistemic(i, c), rate * rate * std::expm1(v), 1e-13);
      assert_true(poisson_lognormal_tails(mean, v, upper(i, c)).at_most >= 0.9);
      assert_true(upper(i, c) == 0 || poisson_lognormal_tails(mean, v, upper(i, c) - 1).at_most < 0.9);
    }
    assert_close(density(i, 0), expected, 1e-13);
  }
}

}  // namespace

int test_predict_probit() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(probit_probabilities),
      cmocka_unit_test(probit_is_near_quadrature),
      cmocka_unit_test(counts_are_integrated_one_by_one),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
