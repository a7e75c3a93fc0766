// Quantiles and draws of means and linear predictors, and log likelihoods of draws: closed forms for Gaussian
// outputs, samples computed one by one for the others.
#include <algorithm>

#include "likelihood/special_functions.hpp"
#include "predict/overflow.hpp"
#include "predictor_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const Table levels(1, 5, {1e-9, 0.025, 0.5, 0.84, 0.975});
const double z[] = {-5.9978070150076869, -1.9599639845400542, 0, 0.99445788320975315, 1.9599639845400542};

template <class T>
Table quantiles_of(const Query<T>& query, bdl_quantity quantity, const Table& at = levels) {
  Table result = output(query.x.rows, query.model.likelihood.means() * at.cols);
  predict_quantiles_of(query, quantity, at.array(), result.out());
  return result;
}

template <class T>
Table draws_of(const Query<T>& query, bdl_quantity quantity) {
  Table result = output(query.x.rows, query.model.likelihood.means() * query.spec.samples);
  predict_draws_of(query, quantity, result.out());
  return result;
}

double sigmoid(double f) {
  return 1 / (1 + std::exp(-f));
}

/// A linear model's quantiles are mean +- z standard deviations, and those of its means a function of them.
void one_output_has_closed_forms(void**) {
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_STUDENT_T, BDL_BERNOULLI, BDL_POISSON}) {
    Scalar s(kind, 0.7, 0.09);
    const double scale = s.model.likelihood.has_noise_precision() ? 2 : 1, shift = scale == 2 ? 3 : 0;
    if (scale == 2) s.model.standardization = {{}, {{3}, {2}}};
    for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_QUADRATURE}) {
      Query<double> query = quadrature(s.model, s.b, s.x);
      query.spec.method = method;
      const Table link = quantiles_of(query, BDL_QUANTITY_LINK),
                  mean = quantiles_of(query, BDL_QUANTITY_MEAN);
      for (Index k = 0; k < levels.cols; ++k) {
        const double f = shift + scale * (0.7 + 0.3 * z[k]);
        assert_close(link(0, k), f, 1e-13, 1e-13);
        assert_close(mean(0, k),
                     kind == BDL_BERNOULLI ? sigmoid(f)
                     : kind == BDL_POISSON ? std::exp(f)
                                           : f,
                     1e-13, 1e-13);
      }
    }
  }
}

/// The distribution does not depend on the noise.
void noise_does_not_count(void**) {
  Scalar s(BDL_GAUSSIAN, 3, 0.75);
  const Query<double> query = quadrature(s.model, s.b, s.x);
  const Table before = quantiles_of(query, BDL_QUANTITY_MEAN);
  const double tau = 1e-4;
  s.model.likelihood.set_noise_precision({&tau, 1});
  assert_same_bits(quantiles_of(query, BDL_QUANTITY_MEAN), before);
}

/// Returns means or outputs of one sample in the caller's units, by the definition.
std::vector<double> values_of(const Model<double>& model, bdl_quantity quantity, const double* f) {
  const auto outputs = static_cast<std::size_t>(model.outputs());
  std::vector<double> mean(outputs), variance(outputs);
  model.likelihood.moments(f, mean.data(), variance.data());
  const auto means = static_cast<std::size_t>(model.likelihood.means());
  std::vector<double> values(means);
  for (std::size_t c = 0; c < means; ++c)
    values[c] = model.standardization.to_caller(static_cast<Index>(c),
                                                quantity == BDL_QUANTITY_MEAN ? mean[c] : f[c]);
  return values;
}

void samples_are_those_of_the_parameters(void**) {
  TableRandom random(3);
  const Table x = normal_table(random, 3, 3), middle(1, 3, {0.25, 0.5, 0.9});
  for (const bdl_likelihood kind : all_likelihoods) {
    const PredictorSetting<double> s(kind, BDL_MONTE_CARLO, Kind::low_rank, 21);
    const Query<double> query = s.query(x);
    Table scaled = x;
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) scaled(i, j) = s.model.standardization.inputs().apply(j, x(i, j));
    const auto f = slow_outputs(Query<double>{s.model, *s.b.q, scaled.array(), s.spec});
    for (const bdl_quantity quantity : {BDL_QUANTITY_MEAN, BDL_QUANTITY_LINK}) {
      const Table draws = draws_of(query, quantity), quantiles = quantiles_of(query, quantity, middle);
      const Index means = s.model.likelihood.means(), samples = s.spec.samples;
      for (Index i = 0; i < 3; ++i)
        for (Index c = 0; c < means; ++c) {
          std::vector<double> sorted;
          for (Index k = 0; k < samples; ++k) {
            std::vector<double> one;
            for (Index o = 0; o < s.model.outputs(); ++o) one.push_back(f[static_cast<std::size_t>(i)](o, k));
            const double value = values_of(s.model, quantity, one.data())[static_cast<std::size_t>(c)];
            assert_close(draws(i, c * samples + k), value, 1e-12, 1e-12);
            sorted.push_back(draws(i, c * samples + k));
          }
          std::ranges::sort(sorted);  // 21 samples: places 5, 10 and 18 have these levels
          assert_close(quantiles(i, 3 * c), sorted[5], 1e-14);
          assert_close(quantiles(i, 3 * c + 1), sorted[10], 1e-14);
          assert_close(quantiles(i, 3 * c + 2), sorted[18], 1e-14);
        }
    }
  }
}

/// Levels between two samples are interpolated, from either end alike.
void levels_between_samples_are_interpolated(void**) {
  const std::vector<double> sorted = {0, 1, 3, 7};
  const auto at = [&](double level) { return sorted_quantile(sorted, tail_at(level)); };
  assert_close(at(0.5), 2, 1e-15);
  assert_close(at(1.0 / 6), 0.5, 1e-15);
  assert_close(at(0.9), 5.8, 1e-14);
  const double infinities[] = {1, infinity, infinity};
  assert_true(sorted_quantile(infinities, tail_at(0.9)) == infinity);
  assert_true(sorted_quantile({sorted.data(), 1}, tail_at(0.3)) == 0);
}

/// Moments of draws of the closed form: |z| > 5 has probability 6e-7 for a mean; that of the variance of S
/// normal numbers has the standard error v sqrt(2 / (S - 1)).
void draws_have_the_moments(void**) {
  constexpr Index samples = 4000;
  for (const bdl_predict_method method :
       {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED, BDL_QUADRATURE}) {
    Scalar s(BDL_BERNOULLI, 0.7, 0.25);
    Query<double> query = quadrature(s.model, s.b, s.x);
    query.spec = {method, samples, 5};
    const Table link = draws_of(query, BDL_QUANTITY_LINK), mean = draws_of(query, BDL_QUANTITY_MEAN);
    double sum = 0, squares = 0;
    for (Index k = 0; k < samples; ++k) {
      sum += link(0, k) / samples;
      assert_close(mean(0, k), sigmoid(link(0, k)), 1e-14);
    }
    for (Index k = 0; k < samples; ++k) squares += std::pow(link(0, k) - sum, 2) / (samples - 1);
    assert_unbiased(sum, 0.7, 0.5 / std::sqrt(samples));
    assert_unbiased(squares, 0.25, 0.25 * std::sqrt(2.0 / (samples - 1)));
  }
}

void plug_in_has_one_value(void**) {
  Scalar s(BDL_POISSON, 0.7, 0.25);
  Query<double> query = plug_in(s.model, s.b, s.x);
  query.spec.samples = 3;
  const Table draws = draws_of(query, BDL_QUANTITY_MEAN), quantiles = quantiles_of(query, BDL_QUANTITY_MEAN);
  for (Index k = 0; k < 3; ++k) assert_close(draws(0, k), std::exp(0.7), 1e-15);
  for (Index k = 0; k < 5; ++k) assert_close(quantiles(0, k), std::exp(0.7), 1e-15);
}

/// Probabilities of classes are between 0 and 1, and a linearised model's come from its samples.
void classes_have_quantiles_by_samples(void**) {
  TableRandom random(4);
  const Table x = normal_table(random, 4, 3);
  PredictorSetting<double> s(BDL_CATEGORICAL, BDL_LINEARIZED, Kind::full, 50);
  const Table closed = quantiles_of(s.query(x), BDL_QUANTITY_MEAN);
  s.spec.method = BDL_LINEARIZED_MONTE_CARLO;
  assert_same_bits(quantiles_of(s.query(x), BDL_QUANTITY_MEAN), closed);
  for (const double p : closed.values) assert_true(p > 0 && p < 1);
  s.spec = {BDL_LINEARIZED, 0, 1};
  expect_error(Status::ERROR_INVALID_ARGUMENT, "samples is 0",
               [&] { quantiles_of(s.query(x), BDL_QUANTITY_MEAN); });
  assert_true(quantiles_of(s.query(x), BDL_QUANTITY_LINK)(0, 0) < 0);
}

void log_likelihoods_are_those_of_the_draws(void**) {
  TableRandom random(6);
  const Table x = normal_table(random, 4, 3);
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO}) {
      const PredictorSetting<double> s(kind, method, Kind::low_rank, 9);
      const Table y = targets(random, s.model.likelihood, 4);
      Table logs = output(9, 4);
      predict_log_likelihood(s.query(x), y.array(), logs.out());
      const Table joint = log_density(s.query(x), y);
      for (Index i = 0; i < 4; ++i) {  // p(y | x) is the mean over the draws
        double sum = 0;
        for (Index k = 0; k < 9; ++k) sum += std::exp(logs(k, i) - joint(i, 0)) / 9;
        assert_close(sum, 1, 1e-12);
      }
      if (kind == BDL_HETEROSCEDASTIC || kind == BDL_CATEGORICAL) continue;
      const Table link = draws_of(s.query(x), BDL_QUANTITY_LINK);
      const Index outputs = s.model.outputs();
      for (Index i = 0; i < 4; ++i)
        for (Index k = 0; k < 9; ++k) {
          double f[2], target[2];
          for (Index c = 0; c < outputs; ++c) {
            const double scale = s.model.standardization.target_scale(c);
            const double center = s.model.standardization.to_caller(c, 0);
            f[c] = (link(i, c * 9 + k) - center) / scale;
            target[c] = (y(i, c) - center) / scale;
          }
          assert_close(logs(k, i),
                       s.model.likelihood.log_density(f, target) - s.model.standardization.log_scale(), 1e-11,
                       1e-11);
        }
    }
}

void rows_that_overflow_are_told(void**) {
  Table x(2, 1, {1, 1e308});
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON}) {
    Scalar s(kind, 10, 0.25);
    Query<double> query = quadrature(s.model, s.b, x);
    const Table link = quantiles_of(query, BDL_QUANTITY_LINK), mean = quantiles_of(query, BDL_QUANTITY_MEAN);
    assert_true(std::isfinite(link(0, 0)) && link(1, 4) == infinity);
    assert_true(mean(1, 4) == (kind == BDL_BERNOULLI ? 1 : infinity));
    query.spec = {BDL_MONTE_CARLO, 3, 1};
    assert_true(draws_of(query, BDL_QUANTITY_LINK)(1, 0) == infinity);
    assert_true(draws_of(query, BDL_QUANTITY_MEAN)(1, 2) == (kind == BDL_BERNOULLI ? 0.5 : infinity));
  }
}

void modes_have_no_quantiles(void**) {
  Scalar s(BDL_GAUSSIAN, 1, 1);
  s.b.q->set_has_covariance(false);
  const Query<double> query = quadrature(s.model, s.b, s.x);
  for (const bdl_quantity quantity : {BDL_QUANTITY_MEAN, BDL_QUANTITY_LINK})
    expect_error(Status::ERROR_UNSUPPORTED, "has no covariance", [&] { quantiles_of(query, quantity); });
  assert_true(quantiles_of(query, BDL_QUANTITY_Y)(0, 4) > 0);
}

/// A predictor's answers are those of single predictions; an ensemble's come from the draws of its members.
void predictors_and_ensembles(void**) {
  TableRandom random(8);
  const Table x = normal_table(random, 5, 3);
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : all_methods) {
      if (!suits(method, kind)) continue;
      const PredictorSetting<double> s(kind, method, Kind::low_rank);
      const Index means = s.model.likelihood.means();
      const Table y = targets(random, s.model.likelihood, 5);
      Ensemble<double> one, two;
      one.add(s.model, *s.b.q, s.spec);
      two.add(s.model, *s.b.q, s.spec);
      two.add(s.model, *s.b.q, {method, s.spec.samples, s.spec.seed + 1});
      const Query<double> query = s.query(x);
      for (const bdl_quantity quantity : {BDL_QUANTITY_MEAN, BDL_QUANTITY_LINK})
        for (int repeat = 0; repeat < 2; ++repeat) {
          Table draws = output(5, 7 * means), quantiles = output(5, 5 * means), both = output(5, 14 * means);
          one.draws_of(x.array(), quantity, draws.out());
          one.quantiles_of(x.array(), quantity, levels.array(), quantiles.out());
          assert_same_bits(draws, draws_of(query, quantity));
          assert_same_bits(quantiles, quantiles_of(query, quantity));
          two.draws_of(x.array(), quantity, both.out());
          two.quantiles_of(x.array(), quantity, levels.array(), quantiles.out());
          for (Index i = 0; i < 5; ++i)
            for (Index c = 0; c < means; ++c) {
              std::vector<double> pooled(both.values.begin() + i * both.cols + c * 14,
                                         both.values.begin() + i * both.cols + (c + 1) * 14);
              assert_true(pooled[0] == draws(i, 7 * c));
              std::ranges::sort(pooled);
              for (Index k = 0; k < 5; ++k)
                assert_true(quantiles(i, 5 * c + k) == sorted_quantile(pooled, tail_at(levels(0, k))));
            }
        }
      if (method == BDL_PLUG_IN || method == BDL_QUADRATURE) continue;
      Table logs = output(7, 5), once = output(7, 5), both = output(14, 5);
      one.log_likelihood(x.array(), y.array(), logs.out());
      predict_log_likelihood(query, y.array(), once.out());
      assert_same_bits(logs, once);
      two.log_likelihood(x.array(), y.array(), both.out());
      assert_true(std::equal(logs.values.begin(), logs.values.end(), both.values.begin()));
    }
}

}  // namespace

int test_predict_quantities() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(one_output_has_closed_forms),
      cmocka_unit_test(noise_does_not_count),
      cmocka_unit_test(samples_are_those_of_the_parameters),
      cmocka_unit_test(levels_between_samples_are_interpolated),
      cmocka_unit_test(draws_have_the_moments),
      cmocka_unit_test(plug_in_has_one_value),
      cmocka_unit_test(classes_have_quantiles_by_samples),
      cmocka_unit_test(log_likelihoods_are_those_of_the_draws),
      cmocka_unit_test(rows_that_overflow_are_told),
      cmocka_unit_test(modes_have_no_quantiles),
      cmocka_unit_test(predictors_and_ensembles),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
