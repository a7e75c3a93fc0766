// Draws of the linearised model's outputs and of y. Their moments are those of the closed form; where the
// model is linear they have the law of draws through the parameters.
#include "linearized_test.hpp"
#include "model/user_model.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index many = 40'000;

template <class T>
Query<T> query_by(bdl_predict_method method, const Model<T>& model, const TableBelief<T>& b, const Table& x,
                  Index samples, std::uint64_t seed = 1) {
  return {model, *b.q, x.array(), {method, samples, seed}};
}

/// f of each example, C x K.
template <class T>
std::vector<Table> output_draws(const Query<T>& query) {
  std::vector<Table> all;
  visit_mixtures(query, [&](Index, const Mixture& mixture) {
    assert_false(mixture.is_gaussian());
    Table f(mixture.f.rows, mixture.f.cols);
    for (Index c = 0; c < f.rows; ++c)
      for (Index k = 0; k < f.cols; ++k) f(c, k) = mixture.f(c, k);
    all.push_back(f);
  });
  return all;
}

template <class T>
Table draws(const Query<T>& query) {
  Table result = output(query.x.rows, query.model.likelihood.targets() * query.spec.samples);
  predict_draws(query, result.out());
  return result;
}

/// K rows of C normals have this mean and covariance: a sample covariance has the variance (s_cc s_dd +
/// s_cd^2) / K, and each of the some 100 comparisons of a call exceeds five standard errors with probability
/// 6e-7.
void assert_normal_moments(const Table& f, const Table& mean, const Table& covariance, Index i) {
  const Index outputs = f.rows, count = f.cols;
  const auto number = static_cast<double>(count);
  for (Index c = 0; c < outputs; ++c) {
    double sum = 0;
    for (Index k = 0; k < count; ++k) sum += f(c, k) / number;
    assert_near(sum, mean(i, c),
                most_standard_errors * std::sqrt(covariance(i, c * outputs + c) / number) + 1e-14);
    for (Index d = 0; d < outputs; ++d) {
      double product = 0;
      for (Index k = 0; k < count; ++k) product += (f(c, k) - mean(i, c)) * (f(d, k) - mean(i, d)) / number;
      const double s = covariance(i, c * outputs + d);
      const double spread = covariance(i, c * outputs + c) * covariance(i, d * outputs + d) + s * s;
      assert_near(product, s, most_standard_errors * std::sqrt(spread / number) + 1e-14);
    }
  }
}

template <class T>
void output_draws_have_their_law(void**) {
  TableRandom random(1);
  const auto model = network<T>({3, 4, 3}, BDL_CATEGORICAL);
  const Table x = normal_table(random, 3, 3);
  for (const Kind kind : all_kinds) {
    const auto b = belief<T>(kind, model.parameters(), 0.5, random);
    const auto query = query_by<T>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many);
    const auto [mean, covariance] = law(query);
    const auto f = output_draws(query);
    for (Index i = 0; i < 3; ++i) assert_normal_moments(f[static_cast<std::size_t>(i)], mean, covariance, i);
  }
}

/// Through the parameters or in C dimensions: both have the law of the linear model.
void linear_models_have_one_law(void**) {
  TableRandom random(2);
  const auto model = network<double>({3, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 3, 3);
  for (const Kind kind : all_kinds) {
    const auto b = belief<double>(kind, model.parameters(), 0.5, random);
    const auto query = query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many),
               parameters = monte_carlo(model, b, x, many);
    const auto [mean, covariance] = law(query);
    const auto f = output_draws(query), g = output_draws(parameters);
    for (Index i = 0; i < 3; ++i) {
      assert_normal_moments(f[static_cast<std::size_t>(i)], mean, covariance, i);
      assert_normal_moments(g[static_cast<std::size_t>(i)], mean, covariance, i);
    }
    // The streams are not the same: draws are uncorrelated with those of the parameters.
    double product = 0;
    for (Index k = 0; k < many; ++k)
      product += (f[0](0, k) - mean(0, 0)) * (g[0](0, k) - mean(0, 0)) / covariance(0, 0) / many;
    assert_unbiased(product, 0, 1 / std::sqrt(double{many}));
  }
}

/// (theta x, 2 theta x, theta x): one parameter, three outputs, two of them equal.
std::int32_t line_outputs(void*, Array theta, Array x, OutArray f) {
  for (Index i = 0; i < x.rows; ++i) {
    const double value = element(theta, 0, 0) * element(x, i, 0), all[] = {value, 2 * value, value};
    scatter(ConstMatrixView<double>(all, 3, 1), f, i);
  }
  return 0;
}
std::int32_t line_gradients(void*, Array, Array x, Array seeds, OutArray rows) {
  for (Index i = 0; i < x.rows; ++i) {
    const double row =
        (element(seeds, i, 0) + 2 * element(seeds, i, 1) + element(seeds, i, 2)) * element(x, i, 0);
    scatter(ConstMatrixView<double>(&row, 1, 1), rows, i);
  }
  return 0;
}

/// Fewer parameters than outputs: every draw is a multiple of one vector.
template <class T>
void singular_covariances_have_draws(void**) {
  TableRandom random(3);
  const UserModel<T> model(1, 1, Likelihood(BDL_GAUSSIAN, 3), {line_outputs, line_gradients, nullptr});
  const auto b = belief<T>(Kind::full, 1, 0.5, random);
  const Table x = column({0.7, -1.5, 0.0});
  const auto query = query_by<T>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many);
  const auto [mean, covariance] = law(query);
  const auto f = output_draws(query);
  for (Index i = 0; i < 3; ++i) {
    const Table& all = f[static_cast<std::size_t>(i)];
    assert_normal_moments(all, mean, covariance, i);
    constexpr double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-14;
    for (Index k = 0; k < many; ++k) {
      assert_near(all(1, k), 2 * all(0, k), 10 * tolerance);
      assert_near(all(2, k), all(0, k), 10 * tolerance);
    }
  }
}

/// Moments, log densities and classes are those of the draws, which converge to the closed form.
void averages_approach_the_closed_form(void**) {
  TableRandom random(4);
  auto model = network<double>({3, 4, 2}, BDL_GAUSSIAN);
  const double precision[] = {2, 0.5};
  model.likelihood.set_noise_precision(precision);
  const Table x = normal_table(random, 4, 3), y = normal_table(random, 4, 2);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.4, random);
  const auto sampled = query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many),
             exact = query_by<double>(BDL_LINEARIZED, model, b, x, 0);
  const Moments m = moments(exact), n = moments(sampled);
  const Table closed = log_density(exact, y), averaged = log_density(sampled, y);
  const auto f = output_draws(sampled);
  for (Index i = 0; i < 4; ++i) {
    for (Index c = 0; c < 2; ++c) {
      const double v = m.epistemic(i, c);
      assert_unbiased(n.mean(i, c), m.mean(i, c), std::sqrt(v / many));
      assert_unbiased(n.epistemic(i, c), v, v * std::sqrt(2.0 / many));
      assert_close(n.noise(i, c), m.noise(i, c), 1e-11);
    }
    double squares = 0, mean = std::exp(averaged(i, 0));
    for (Index k = 0; k < many; ++k) {
      const double at[] = {f[static_cast<std::size_t>(i)](0, k), f[static_cast<std::size_t>(i)](1, k)};
      squares +=
          std::pow(std::exp(model.likelihood.log_density(at, &y.values[static_cast<std::size_t>(2 * i)])),
                   2) /
          many;
    }
    assert_unbiased(mean, std::exp(closed(i, 0)), std::sqrt((squares - mean * mean) / many));
  }
}

/// Averaged probabilities of the linear model are those of the quadrature.
void averaged_probabilities_are_exact(void**) {
  TableRandom random(5);
  const auto model = network<double>({3, 1}, BDL_BERNOULLI);
  const Table x = normal_table(random, 4, 3);
  const auto b = belief<double>(Kind::full, 4, 1.5, random);
  const Moments exact = moments(quadrature(model, b, x)),
                sampled = moments(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many));
  for (Index i = 0; i < 4; ++i)
    assert_unbiased(sampled.mean(i, 0), exact.mean(i, 0), std::sqrt(exact.epistemic(i, 0) / many));
}

void draws_depend_on_seed_and_sample_only(void**) {
  TableRandom random(6);
  const auto model = network<double>({3, 4, 2}, BDL_POISSON);
  const Table x = normal_table(random, 6, 3);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.4, random);
  const auto all = output_draws(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, 50));
  for (Index i = 0; i < 6; ++i) {
    const Table alone = rows_of(x, i, 1);
    const Table& expected = all[static_cast<std::size_t>(i)];
    assert_tables_close(output_draws(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, alone, 50))[0],
                        expected, 1e-12, 1e-12);
    const Table fewer = output_draws(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, alone, 7))[0];
    for (Index c = 0; c < 2; ++c)
      for (Index k = 0; k < 7; ++k) assert_close(fewer(c, k), expected(c, k), 1e-12, 1e-12);
  }
  const auto other = output_draws(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, 50, 2));
  assert_true(other[0](0, 0) != all[0](0, 0) && other[0](1, 49) != all[0](1, 49));
}

/// y of regression and counts: the variances of noise and outputs add up.
void draws_of_y_have_the_predictive_moments(void**) {
  TableRandom random(7);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_POISSON}) {
    const auto model = network<double>({3, 4, 2}, kind);
    const Table x = normal_table(random, 3, 3);
    const auto b = belief<double>(Kind::full, model.parameters(), 0.25, random);
    const Moments m = moments(query_by<double>(BDL_LINEARIZED, model, b, x, 0));
    const Table y = draws(query_by<double>(BDL_LINEARIZED, model, b, x, many));
    assert_same_bits(draws(query_by<double>(BDL_LINEARIZED_MONTE_CARLO, model, b, x, many)), y);
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 2; ++c) {
        const double variance = m.epistemic(i, c) + m.noise(i, c);
        double mean = 0, squares = 0, fourth = 0;
        for (Index k = 0; k < many; ++k) {
          const double deviation = y(i, c * many + k) - m.mean(i, c);
          mean += deviation / many;
          squares += deviation * deviation / many;
          fourth += std::pow(deviation, 4) / many;
        }
        assert_unbiased(mean, 0, std::sqrt(variance / many));
        assert_unbiased(squares, variance, std::sqrt((fourth - squares * squares) / many));
      }
  }
}

void draws_of_classes_have_the_probit_probabilities(void**) {
  TableRandom random(8);
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_CATEGORICAL}) {
    const auto model = network<double>({3, 4, 3}, kind);
    const Table x = normal_table(random, 3, 3);
    const auto b = belief<double>(Kind::diagonal, model.parameters(), 1, random);
    const Moments m = moments(query_by<double>(BDL_LINEARIZED, model, b, x, 0));
    const Table y = draws(query_by<double>(BDL_LINEARIZED, model, b, x, many));
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 3; ++c) {
        double frequency = 0;
        for (Index k = 0; k < many; ++k)
          frequency += (kind == BDL_BERNOULLI ? y(i, c * many + k) == 1 : y(i, k) == static_cast<double>(c));
        const double p = m.mean(i, c);
        assert_unbiased(frequency / many, p, std::sqrt(p * (1 - p) / many));
      }
  }
}

}  // namespace

int test_predict_linearized_draws() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(output_draws_have_their_law<float>),
      cmocka_unit_test(output_draws_have_their_law<double>),
      cmocka_unit_test(linear_models_have_one_law),
      cmocka_unit_test(singular_covariances_have_draws<float>),
      cmocka_unit_test(singular_covariances_have_draws<double>),
      cmocka_unit_test(averages_approach_the_closed_form),
      cmocka_unit_test(averaged_probabilities_are_exact),
      cmocka_unit_test(draws_depend_on_seed_and_sample_only),
      cmocka_unit_test(draws_of_y_have_the_predictive_moments),
      cmocka_unit_test(draws_of_classes_have_the_probit_probabilities),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
