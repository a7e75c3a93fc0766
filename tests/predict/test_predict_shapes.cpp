// Predictions of links, negative binomial, Gamma and ordinal likelihoods from Gaussian outputs, against sums
// over many draws of the outputs and against each other.
#include <algorithm>

#include "likelihood/formulas.hpp"
#include "predict/predictor_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 3;
constexpr bdl_likelihood kinds[] = {BDL_PROBIT, BDL_CLOGLOG, BDL_NEGATIVE_BINOMIAL, BDL_GAMMA, BDL_ORDINAL};

struct Setting {
  Network<double> model;
  TableBelief<double> b{nullptr, Table(1, 1)};
  Table x;
  Setting(bdl_likelihood kind) : model(network<double>({2, 1}, kind)), x(1, 1) {
    TableRandom random(4);
    b = belief<double>(Kind::full, model.parameters(), 0.4, random);
    x = normal_table(random, rows, 2);
    if (kind == BDL_ORDINAL) model.likelihood.set_shape(std::vector<double>{-1, 0.3, 1.2});
    if (has_shape(kind) && kind != BDL_ORDINAL) model.likelihood.set_shape(std::vector<double>{2.5});
  }
  Query<double> query(bdl_predict_method method = BDL_LINEARIZED, Index samples = 1) const {
    return {model, *b.q, x.array(), {method, samples, 7}};
  }
  const Likelihood& likelihood() const { return model.likelihood; }
};

/// Nodes of f ~ N(m, v) with steps of 1/200.
template <class Add>
void for_nodes(double m, double v, Add add) {
  double total = 0;
  for (double t = -12; t <= 12; t += 0.005) total += std::exp(-t * t / 2);
  for (double t = -12; t <= 12; t += 0.005) add(m + std::sqrt(v) * t, std::exp(-t * t / 2) / total);
}

void moments_and_classes_are_integrals(void**) {
  for (const bdl_likelihood kind : kinds) {
    const Setting s(kind);
    const Index count = s.likelihood().moment_count();
    Table m = output(rows, 1), v = output(rows, 1), mean = output(rows, count),
          epistemic = output(rows, count), noise = output(rows, count), p = output(rows, count),
          entropy = output(rows, 1), information = output(rows, 1);
    predict_output_distribution(s.query(), m.out(), v.out());
    for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_QUADRATURE}) {
      predict_moments(s.query(method), mean.out(), epistemic.out(), noise.out());
      if (s.likelihood().has_classes())
        predict_classes(s.query(method), p.out(), entropy.out(), information.out());
      for (Index i = 0; i < rows; ++i)
        for (Index c = 0; c < count; ++c) {
          double first = 0, second = 0, within = 0, all = 0;
          for_nodes(m(i, 0), v(i, 0), [&](double f, double weight) {
            std::vector<double> means(static_cast<std::size_t>(count)), variances = means;
            s.likelihood().moments(&f, means.data(), variances.data());
            const double one = means[static_cast<std::size_t>(c)];
            first += weight * one;
            second += weight * one * one;
            within += weight * variances[static_cast<std::size_t>(c)];
            all += weight;
          });
          assert_close(mean(i, c), first / all, 1e-9, 1e-9);
          assert_close(noise(i, c), within / all, 1e-8, 1e-8);
          assert_close(epistemic(i, c), second / all - first * first, 1e-6, 1e-6);
          if (s.likelihood().has_classes()) assert_close(p(i, c), mean(i, c), 1e-12, 1e-12);
        }
    }
  }
}

void densities_and_expectations_are_integrals(void**) {
  for (const bdl_likelihood kind : kinds) {
    const Setting s(kind);
    TableRandom random(2);
    Table y(rows, 1), m = output(rows, 1), v = output(rows, 1), log_density = output(rows, 1);
    for (Index i = 0; i < rows; ++i) y(i, 0) = kind == BDL_GAMMA ? 0.7 : static_cast<double>(i % 2);
    predict_output_distribution(s.query(), m.out(), v.out());
    predict_log_density(s.query(), y.array(), log_density.out());
    double expected_sum = 0;
    for (Index i = 0; i < rows; ++i) {
      double sum = 0;
      for_nodes(m(i, 0), v(i, 0), [&](double f, double weight) {
        const double log_p = s.likelihood().log_density(&f, &y.values[static_cast<std::size_t>(i)]);
        sum += weight * std::exp(log_p);
        expected_sum += weight * log_p;
      });
      assert_close(log_density(i, 0), std::log(sum), 1e-10, 1e-10);
    }
    assert_close(expected_log_likelihood(s.query(), y.array()), expected_sum, 1e-9, 1e-9);
  }
}

/// P(Y <= quantile) is the level; of counts it reaches it at the quantile and not before.
void quantiles_invert_the_distribution(void**) {
  for (const bdl_likelihood kind : {BDL_NEGATIVE_BINOMIAL, BDL_GAMMA})
    for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_MONTE_CARLO}) {
      const Setting s(kind);
      Table m = output(rows, 1), v = output(rows, 1), q = output(rows, 3), lower = output(rows, 1),
            upper = output(rows, 1);
      const Table levels(1, 3, {0.02, 0.5, 0.97});
      predict_output_distribution(s.query(), m.out(), v.out());
      predict_quantiles(s.query(method, 4000), levels.array(), q.out());
      predict_interval(s.query(method, 4000), 0.9, lower.out(), upper.out());
      for (Index i = 0; i < rows; ++i)
        for (Index k = 0; k < 3; ++k) {
          const auto at_most = [&](double y) {
            double sum = 0;
            for_nodes(m(i, 0), v(i, 0), [&](double f, double weight) {
              sum += weight * (kind == BDL_GAMMA ? Gamma::tails(2.5, f, y).at_most
                                                 : NegativeBinomial::tails(2.5, f, y).at_most);
            });
            return sum;
          };
          const double slack = method == BDL_LINEARIZED ? 1e-9 : 0.03, level = levels(0, k);
          if (kind == BDL_GAMMA) {
            assert_true(std::abs(at_most(q(i, k)) - level) < slack);
          } else {
            assert_true(at_most(q(i, k)) >= level - slack);
            assert_true(q(i, k) == 0 || at_most(q(i, k) - 1) <= level + slack);
          }
          assert_true(lower(i, 0) <= q(i, 1) && q(i, 1) <= upper(i, 0));
        }
    }
}

/// Draws have the predictive mean; levels their probabilities.
void draws_follow_the_distribution(void**) {
  constexpr Index samples = 20000;
  for (const bdl_likelihood kind : kinds)
    for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_MONTE_CARLO}) {
      const Setting s(kind);
      const Index count = s.likelihood().moment_count();
      Table mean = output(rows, count), epistemic = output(rows, count), noise = output(rows, count),
            draws = output(rows, samples);
      predict_moments(s.query(), mean.out(), epistemic.out(), noise.out());
      predict_draws(s.query(method, samples), draws.out());
      for (Index i = 0; i < rows; ++i)
        for (Index c = 0; c < count; ++c) {
          double sum = 0;
          for (Index k = 0; k < samples; ++k)
            sum += kind == BDL_ORDINAL ? (draws(i, k) == static_cast<double>(c) ? 1 : 0) : draws(i, k);
          const double error = std::sqrt((epistemic(i, c) + noise(i, c)) / samples);
          assert_true(std::abs(sum / samples - mean(i, c)) < 5 * error);
        }
    }
}

void ensembles_of_shapes(void**) {
  const Setting a(BDL_GAMMA);
  Ensemble<double> one, two;
  const PredictSpec spec{BDL_LINEARIZED, 1, 1};
  one.add(a.model, *a.b.q, spec);
  for (int j = 0; j < 2; ++j) two.add(a.model, *a.b.q, spec);
  Table q = output(rows, 2), both = output(rows, 2);
  const Table levels(1, 2, {0.1, 0.8});
  one.quantiles(a.x.array(), levels.array(), q.out());
  two.quantiles(a.x.array(), levels.array(), both.out());
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < 2; ++k) assert_close(both(i, k), q(i, k), 1e-9, 1e-9);
  const Setting b(BDL_ORDINAL);
  Ensemble<double> levels_of;
  for (int j = 0; j < 2; ++j) levels_of.add(b.model, *b.b.q, spec);
  Table p = output(rows, 4), entropy = output(rows, 1), information = output(rows, 1), mean = output(rows, 4);
  levels_of.classes(b.x.array(), p.out(), entropy.out(), information.out());
  levels_of.moments(b.x.array(), mean.out(), {}, {});
  for (Index i = 0; i < rows; ++i) {
    double sum = 0;
    for (Index c = 0; c < 4; ++c) sum += p(i, c);
    assert_close(sum, 1, 1e-12, 1e-12);
  }
}

}  // namespace

int test_predict_shapes() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(moments_and_classes_are_integrals),
      cmocka_unit_test(densities_and_expectations_are_integrals),
      cmocka_unit_test(quantiles_invert_the_distribution),
      cmocka_unit_test(draws_follow_the_distribution),
      cmocka_unit_test(ensembles_of_shapes),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
