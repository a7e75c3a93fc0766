// The one-dimensional integrals of quadrature against values computed with 40 digits and against Monte Carlo.
#include "likelihood/gaussian_integrals.hpp"
#include "likelihood/limited_rates.hpp"
#include "predict_test.hpp"
#include "support/logistic_cases.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

double logistic(double f) {
  const double e = std::exp(-std::abs(f));
  return f >= 0 ? 1 / (1 + e) : e / (1 + e);
}
double log_logistic(double f) {
  return std::min(f, 0.0) - std::log1p(std::exp(-std::abs(f)));
}
double entropy_of_logit(double f) {
  return std::log1p(std::exp(-std::abs(f))) + std::abs(f) * logistic(-std::abs(f));
}

template <class Value>
double expectation(const NormalRule& rule, Value value) {
  double sum = 0;
  for (std::size_t k = 0; k < rule.nodes.size(); ++k) sum += rule.weights[k] * value(rule.nodes[k]);
  return sum;
}

void logistic_rule_is_exact(void**) {
  NormalRule rule;
  for (const LogisticCase& c : logistic_cases) {
    logistic_rule(c.m, c.v, rule);
    constexpr double tolerance = 2e-14;
    assert_close(expectation(rule, logistic), c.p, tolerance);
    assert_close(expectation(rule, [](double f) { return logistic(-f); }), c.q, tolerance);
    assert_close(expectation(rule, [](double f) { return logistic(f) * logistic(-f); }), c.pq, tolerance);
    assert_close(
        expectation(rule,
                    [&](double f) { return std::pow(c.m < 30 ? logistic(f) - c.p : c.q - logistic(-f), 2); }),
        c.variance, 1e-13);
    assert_close(expectation(rule, entropy_of_logit), c.entropy, tolerance);
    assert_close(expectation(rule, [](double f) { return log_logistic(-f); }), c.log_q, tolerance);
  }
}

void logistic_rule_is_a_normal_distribution(void**) {
  NormalRule rule;
  for (const double v : {1e-30, 1e-4, 0.5, 0.999, 1.0, 7.0, 500.0, 1e10})
    for (const double standardised : {-1e4, -60.0, -25.0, -6.0, -1.0, 0.0, 0.3, 5.0, 12.0, 30.0, 38.9}) {
      const double s = std::sqrt(v), m = standardised * s;
      logistic_rule(m, v, rule);
      const double tolerance = 1e-12 + 1e-15 * std::abs(standardised);  // of f - m
      assert_true(rule.nodes.size() < 5000);
      for (const double weight : rule.weights) assert_true(weight >= 0);
      assert_near(expectation(rule, [](double) { return 1.0; }), 1, 1e-14);
      assert_near(expectation(rule, [&](double f) { return (f - m) / s; }), 0, tolerance);
      assert_near(expectation(rule, [&](double f) { return std::pow((f - m) / s, 2); }), 1, tolerance);
    }
  logistic_rule(-1.25, 0, rule);
  assert_int_equal(rule.nodes.size(), 1);
  assert_true(rule.nodes[0] == -1.25 && rule.weights[0] == 1);
}

struct CountCase {
  double m, v, count, log_probability, at_most, above;
};

constexpr CountCase count_cases[] = {
    {0, 1e-06, 0, -0.999999999999875, 0.36787944117148831, 0.63212055882851169},
    {0, 0.01, 1, -1.0049872350033506, 0.73393327856226205, 0.26606672143773795},
    {1, 0.25, 0, -2.3227975339163791, 0.097999046111370629, 0.90200095388862937},
    {1, 0.25, 9, -4.3815527646810268, 0.98080656489246025, 0.019193435107539752},
    {-2, 1, 3, -5.1432423513627078, 0.99742410526444084, 0.0025758947355591612},
    {2, 4, 0, -1.9974617758243596, 0.13567923084775267, 0.86432076915224733},
    {2, 4, 40, -5.653195196074133, 0.80179607599886682, 0.19820392400113318},
    {5, 0.0001, 150, -3.4405083399750413, 0.57260040081409168, 0.42739959918590832},
    {5, 0.04, 120, -4.6751599849881935, 0.17157669532191588, 0.82842330467808412},
    {5, 0.04, 200, -5.6395434715310468, 0.92187860071743079, 0.078121399282569206},
    {3, 9, 25, -5.2408750571942281, 0.53164969611700914, 0.46835030388299086},
    {-4, 16, 0, -0.23149865821109265, 0.79334376000226694, 0.20665623999773306},
};

void poisson_lognormal_is_exact(void**) {
  for (const CountCase& c : count_cases) {
    assert_close(log_poisson_lognormal(c.m, c.v, c.count), c.log_probability, 1e-14, 1e-14);
    const CountTails tails = poisson_lognormal_tails(c.m, c.v, c.count);
    assert_near(tails.at_most, c.at_most, 5e-15);
    assert_near(tails.above, c.above, 5e-15);
  }
  // Far from the mode, with counts that no fixed set of nodes would reach.
  assert_close(log_poisson_lognormal(10, 0.25, 20000), -10.148014126242029, 1e-13);
  assert_close(log_poisson_lognormal(13, 0.01, 1000000), -45.681421689004527, 1e-12);
  assert_close(log_poisson_lognormal(0, 0.04, 1000), -587.18690521828038, 1e-13);
}

/// Posteriors so wide that e^f may have any size, against sums of 400,001 terms over f. (The log probability
/// is exact even if the posterior's mean rate overflows.)
void wide_poisson_lognormals_are_exact(void**) {
  struct Case {
    double m, v, count, log_probability;
  };
  for (const Case& c : {Case{-50, 70, 0, -3.30747940147091e-09}, Case{0, 100, 0, -0.739561316996793},
                        Case{300, 100, 0, -452.53459371118}, Case{-50, 400, 0, -0.00685869619858148},
                        Case{30, 1400, 0, -1.57483458900237}, Case{300, 1400, 1, -36.7737549917092},
                        Case{5000, 70, 0, -178342.337379132}, Case{5000, 100, 1, -124854.820750533}})
    assert_close(log_poisson_lognormal(c.m, c.v, c.count), c.log_probability, 1e-12, 1e-16);
  // Half of it is on either side of all counts.
  assert_close(log_poisson_lognormal(0, 1e60, 0), std::log(0.5), 1e-14);
}

/// Where v or the count is large the two ways to sum must still give one distribution.
void poisson_lognormal_tails_add_up(void**) {
  for (const double m : {-3.0, 1.0, 4.0})
    for (const double v : {1e-8, 0.003, 0.3, 2.0, 30.0}) {
      double sum = 0;
      for (double y = 0; y < 400; ++y) {
        sum += std::exp(log_poisson_lognormal(m, v, y));
        const CountTails tails = poisson_lognormal_tails(m, v, y);
        assert_near(tails.at_most, sum, 1e-13);
        assert_near(tails.above, 1 - sum, 1e-13);
      }
    }
}

void poisson_lognormal_agrees_with_monte_carlo(void**) {
  TableRandom random(3);
  constexpr Index samples = 200'000;
  for (const double v : {0.2, 3.0}) {
    double sum = 0, squares = 0;
    for (Index k = 0; k < samples; ++k) {
      const double term = poisson_tails(6, std::exp(1.5 + std::sqrt(v) * random.normal())).at_most;
      sum += term / samples;
      squares += term * term / samples;
    }
    assert_unbiased(sum, poisson_lognormal_tails(1.5, v, 6).at_most,
                    std::sqrt((squares - sum * sum) / samples));
  }
}

}  // namespace

int test_predict_integrals() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(logistic_rule_is_exact),
      cmocka_unit_test(logistic_rule_is_a_normal_distribution),
      cmocka_unit_test(poisson_lognormal_is_exact),
      cmocka_unit_test(wide_poisson_lognormals_are_exact),
      cmocka_unit_test(poisson_lognormal_tails_add_up),
      cmocka_unit_test(poisson_lognormal_agrees_with_monte_carlo),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
