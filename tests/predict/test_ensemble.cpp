// Ensembles: their answers against the members' own, put together by the definition of a mixture; one member
// is exactly a predictor.
#include <cmath>

#include "likelihood/special_functions.hpp"
#include "predict/ensemble.hpp"
#include "predictor_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index members = 3, rows = 4;

/// Members that differ in parameters, seed, noise, degrees of freedom and standardisation.
struct Group {
  std::vector<std::unique_ptr<PredictorSetting<double>>> settings;
  Ensemble<double> ensemble;

  Group(bdl_likelihood kind, bdl_predict_method method, Index count = members) {
    for (Index j = 0; j < count; ++j) {
      settings.push_back(std::make_unique<PredictorSetting<double>>(kind, method, Kind::low_rank));
      PredictorSetting<double>& s = *settings.back();
      s.spec.seed += static_cast<std::uint64_t>(j);
      if (kind == BDL_STUDENT_T) s.model.likelihood.set_degrees_of_freedom(3 + 2 * static_cast<double>(j));
      for (double& value : s.b.q->mean()) value += 0.3 * static_cast<double>(j);
      if (s.model.likelihood.has_noise_precision() && kind != BDL_HETEROSCEDASTIC) {
        const auto targets = static_cast<std::size_t>(s.model.likelihood.targets());
        s.model.likelihood.set_noise_precision(std::vector<double>{1.0 + static_cast<double>(j)});
        const double shift = static_cast<double>(j);
        s.model.standardization = {
            {{1, 0, -1}, {2, 1, 0.5}},
            {std::vector<double>(targets, 3 + shift), std::vector<double>(targets, 2 + shift)}};
      }
      ensemble.add(s.model, *s.b.q, s.spec);
    }
  }
  const Likelihood& likelihood() const { return settings[0]->model.likelihood; }
};

template <class Visit>
void for_each_group(Visit visit) {
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : all_methods)
      if (suits(method, kind)) {
        Group group(kind, method);
        visit(group, method);
      }
}

Table inputs_table() {
  TableRandom random(11);
  return normal_table(random, rows, 3);
}

void moments_obey_the_law_of_total_variance(void**) {
  const Table x = inputs_table();
  for_each_group([&](Group& g, bdl_predict_method) {
    const Index c = g.likelihood().means();
    Table mean = output(rows, c), epistemic = mean, noise = mean, m(rows, c), e = m, v = m, square = m;
    for (const auto& s : g.settings) {
      Table a = output(rows, c), b = a, d = a;
      predict_moments(s->query(x), a.out(), b.out(), d.out());
      for (std::size_t k = 0; k < m.values.size(); ++k) {
        m.values[k] += a.values[k] / members;
        square.values[k] += a.values[k] * a.values[k] / members;
        e.values[k] += b.values[k] / members;
        v.values[k] += d.values[k] / members;
      }
    }
    for (std::size_t k = 0; k < m.values.size(); ++k)
      e.values[k] += square.values[k] - m.values[k] * m.values[k];
    g.ensemble.moments(x.array(), mean.out(), epistemic.out(), noise.out());
    assert_tables_close(mean, m, 1e-12);
    assert_tables_close(epistemic, e, 1e-8, 1e-10);
    assert_tables_close(noise, v, 1e-12);
  });
}

void densities_are_means_of_densities(void**) {
  const Table x = inputs_table();
  for_each_group([&](Group& g, bdl_predict_method) {
    TableRandom random(2);
    const Table y = targets(random, g.likelihood(), rows);
    Table got = output(rows, 1), expected(rows, 1);
    for (const auto& s : g.settings) {
      Table one = output(rows, 1);
      predict_log_density(s->query(x), y.array(), one.out());
      for (Index i = 0; i < rows; ++i) expected(i, 0) += std::exp(one(i, 0)) / members;
    }
    for (double& value : expected.values) value = std::log(value);
    g.ensemble.log_density(x.array(), y.array(), got.out());
    assert_tables_close(got, expected, 1e-10, 1e-10);
  });
}

/// A quantile of the mixture lies between the members' own quantiles, and quantiles rise with their level.
void quantiles_are_those_of_the_mixture(void**) {
  const Table x = inputs_table();
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_HETEROSCEDASTIC, BDL_STUDENT_T, BDL_POISSON})
    for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED}) {
      Group g(kind, method);
      const Index c = g.likelihood().means();
      const Table levels(1, 3, {0.05, 0.5, 0.9});
      Table quantiles = output(rows, 3 * c), lower = output(rows, c), upper = lower;
      g.ensemble.quantiles(x.array(), levels.array(), quantiles.out());
      g.ensemble.interval(x.array(), 0.9, lower.out(), upper.out());
      for (Index i = 0; i < rows; ++i)
        for (Index t = 0; t < c; ++t) {
          assert_close(lower(i, t), quantiles(i, 3 * t), 1e-9, 1e-9);
          assert_true(quantiles(i, 3 * t) <= quantiles(i, 3 * t + 1));
        }
      // Members have each a probability below the ensemble's quantile q: their own quantiles bracket it.
      for (std::size_t k = 0; k < quantiles.values.size(); ++k) {
        double low = infinity, high = -infinity;
        for (const auto& s : g.settings) {
          Table one = output(rows, 3 * c);
          predict_quantiles(s->query(x), levels.array(), one.out());
          low = std::min(low, one.values[k]);
          high = std::max(high, one.values[k]);
        }
        assert_true(quantiles.values[k] >= low - 1e-9 && quantiles.values[k] <= high + 1e-9);
      }
    }
}

/// Closed form: members with no uncertainty are normal or Student-t distributions.
void check_quantiles_add_up(bdl_likelihood kind) {
  Group g(kind, BDL_PLUG_IN);
  const Table x = inputs_table(), levels(1, 2, {0.1, 0.7});
  const Index c = g.likelihood().means();
  Table quantiles = output(rows, 2 * c);
  g.ensemble.quantiles(x.array(), levels.array(), quantiles.out());
  for (Index i = 0; i < rows; ++i)
    for (Index t = 0; t < c; ++t)
      for (Index k = 0; k < 2; ++k) {
        double below = 0;
        for (const auto& s : g.settings) {
          Table mean = output(rows, c), noise = mean;
          predict_moments(s->query(x), mean.out(), bdl_none_out(), noise.out());
          const double away = (quantiles(i, 2 * t + k) - mean(i, t)) / std::sqrt(noise(i, t)),
                       nu = s->model.likelihood.degrees_of_freedom();
          below += (kind == BDL_GAUSSIAN ? std::erfc(-away / std::sqrt(2)) / 2
                                         : student_t_cdf(away * std::sqrt(nu / (nu - 2)), nu)) /
                   members;
        }
        assert_close(below, levels(0, k), 1e-9);
      }
}

void gaussian_quantiles_add_up_to_their_level(void**) {
  check_quantiles_add_up(BDL_GAUSSIAN);
}

void student_t_quantiles_add_up_to_their_level(void**) {
  check_quantiles_add_up(BDL_STUDENT_T);
}

void classes_have_the_mixtures_entropy(void**) {
  const Table x = inputs_table();
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_PLUG_IN}) {
    Group g(BDL_CATEGORICAL, method);
    const Index c = g.likelihood().outputs();
    Table p = output(rows, c), entropy = output(rows, 1), information = entropy, mean(rows, c), own(rows, 1);
    for (const auto& s : g.settings) {
      Table one = output(rows, c), h = output(rows, 1), known = h;
      predict_classes(s->query(x), one.out(), h.out(), known.out());
      for (std::size_t k = 0; k < mean.values.size(); ++k) mean.values[k] += one.values[k] / members;
      for (Index i = 0; i < rows; ++i) own(i, 0) += (h(i, 0) - known(i, 0)) / members;
    }
    g.ensemble.classes(x.array(), p.out(), entropy.out(), information.out());
    assert_tables_close(p, mean, 1e-12);
    for (Index i = 0; i < rows; ++i) {
      double h = 0;
      for (Index k = 0; k < c; ++k) h -= mean(i, k) * std::log(mean(i, k));
      assert_close(entropy(i, 0), h, 1e-12);
      assert_close(information(i, 0), h - own(i, 0), 1e-9, 1e-12);
      assert_true(information(i, 0) > 0);  // members differ, though each is certain of its parameters
    }
  }
}

void draws_are_all_members_draws(void**) {
  const Table x = inputs_table();
  Group g(BDL_GAUSSIAN, BDL_MONTE_CARLO);
  const Index targets = g.likelihood().targets(), s = g.settings[0]->spec.samples;
  Table all = output(rows, targets * s * members);
  g.ensemble.draws(x.array(), all.out());
  for (Index j = 0; j < members; ++j) {
    Table own = output(rows, targets * s);
    predict_draws(g.settings[static_cast<std::size_t>(j)]->query(x), own.out());
    for (Index i = 0; i < rows; ++i)
      for (Index t = 0; t < targets; ++t)
        for (Index k = 0; k < s; ++k) assert_true(all(i, (t * members + j) * s + k) == own(i, t * s + k));
  }
}

void outputs_have_the_mixtures_covariance(void**) {
  const Table x = inputs_table();
  Group g(BDL_GAUSSIAN, BDL_LINEARIZED);
  const Index c = g.likelihood().outputs();
  Table mean = output(rows, c), covariance = output(rows, c * c), m(rows, c), second(rows, c * c);
  for (const auto& s : g.settings) {
    Table one = output(rows, c), v = output(rows, c * c);
    predict_output_distribution(s->query(x), one.out(), v.out());
    for (Index i = 0; i < rows; ++i)
      for (Index a = 0; a < c; ++a) {
        m(i, a) += one(i, a) / members;
        for (Index b = 0; b < c; ++b)
          second(i, a * c + b) += (v(i, a * c + b) + one(i, a) * one(i, b)) / members;
      }
  }
  g.ensemble.output_distribution(x.array(), mean.out(), covariance.out());
  assert_tables_close(mean, m, 1e-12);
  for (Index i = 0; i < rows; ++i)
    for (Index a = 0; a < c; ++a)
      for (Index b = 0; b < c; ++b)
        assert_close(covariance(i, a * c + b), second(i, a * c + b) - m(i, a) * m(i, b), 1e-9, 1e-9);
}

void leverages_are_means_of_the_members(void**) {
  const Table x = inputs_table();
  Group g(BDL_HETEROSCEDASTIC, BDL_MONTE_CARLO);
  Table got = output(rows, 1), left_out = got, expected(rows, 1), without(rows, 1);
  for (const auto& s : g.settings) {
    Table one = output(rows, 1), other = one;
    predict_leverage(s->query(x), one.out(), other.out());
    for (Index i = 0; i < rows; ++i) {
      expected(i, 0) += one(i, 0) / members;
      without(i, 0) += other(i, 0) / members;
    }
  }
  g.ensemble.leverage(x.array(), got.out(), left_out.out());
  assert_tables_close(got, expected, 1e-12);
  assert_tables_close(left_out, without, 1e-12);
}

void one_member_is_a_predictor_to_the_bit(void**) {
  const Table x = inputs_table();
  Group g(BDL_GAUSSIAN, BDL_MONTE_CARLO, 1);
  const Index c = g.likelihood().means();
  const Table levels(1, 1, {0.3});
  Table got = output(rows, c), expected = got;
  g.ensemble.moments(x.array(), bdl_none_out(), got.out(), bdl_none_out());
  predict_moments(g.settings[0]->query(x), bdl_none_out(), expected.out(), bdl_none_out());
  assert_same_bits(got, expected);
  g.ensemble.quantiles(x.array(), levels.array(), got.out());
  predict_quantiles(g.settings[0]->query(x), levels.array(), expected.out());
  assert_same_bits(got, expected);
}

void members_must_be_alike_and_errors_name_them(void**) {
  Group g(BDL_GAUSSIAN, BDL_MONTE_CARLO);
  const PredictorSetting<double> other(BDL_POISSON, BDL_MONTE_CARLO, Kind::full);
  expect_error(Status::ERROR_SHAPE, "as the first member",
               [&] { g.ensemble.add(other.model, *other.b.q, other.spec); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "member 2 (counting from 0): samples is 0",
               [] { in_member(2, 3, [] { check_samples(0); }); });
  Table x = inputs_table(), mean = output(rows, 2);
  x(1, 1) = quiet_nan;
  expect_error(Status::ERROR_NOT_FINITE, "x is not finite at row 1",
               [&] { g.ensemble.moments(x.array(), mean.out(), bdl_none_out(), bdl_none_out()); });
  assert_true(std::isnan(mean(0, 0)));
}

}  // namespace

int test_ensemble() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(moments_obey_the_law_of_total_variance),
      cmocka_unit_test(densities_are_means_of_densities),
      cmocka_unit_test(quantiles_are_those_of_the_mixture),
      cmocka_unit_test(gaussian_quantiles_add_up_to_their_level),
      cmocka_unit_test(student_t_quantiles_add_up_to_their_level),
      cmocka_unit_test(classes_have_the_mixtures_entropy),
      cmocka_unit_test(draws_are_all_members_draws),
      cmocka_unit_test(outputs_have_the_mixtures_covariance),
      cmocka_unit_test(leverages_are_means_of_the_members),
      cmocka_unit_test(one_member_is_a_predictor_to_the_bit),
      cmocka_unit_test(members_must_be_alike_and_errors_name_them),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
