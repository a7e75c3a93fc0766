// The linearised model's law and closed forms: against dense references, and against quadrature where the
// model is linear.
#include "linearized_test.hpp"
#include "model/user_model.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr bdl_likelihood all_likelihoods[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON};

/// J^T e_c by central differences of the network.
std::vector<double> differences(const Network<double>& model, const TableBelief<double>& b, const Table& x,
                                Index i, Index c) {
  const Index outputs = model.outputs();
  std::vector<double> theta(b.q->mean().begin(), b.q->mean().end()), row, input,
      f(static_cast<std::size_t>(outputs));
  for (Index j = 0; j < x.cols; ++j) input.push_back(x(i, j));
  Scratch scratch;
  const auto at = [&](double& parameter, double value) {
    const double kept = std::exchange(parameter, value);
    model.forward(theta, {input.data(), x.cols, 1}, {f.data(), outputs, 1}, scratch);
    parameter = kept;
    return f[static_cast<std::size_t>(c)];
  };
  constexpr double h = 1e-3;  // of fourth order, with errors near h^4
  for (double& parameter : theta) {
    const double value = parameter;
    row.push_back((8 * (at(parameter, value + h) - at(parameter, value - h)) -
                   (at(parameter, value + 2 * h) - at(parameter, value - 2 * h))) /
                  (12 * h));
  }
  return row;
}

void output_distribution_is_the_dense_product(void**) {
  TableRandom random(1);
  const auto model = network<double>({3, 4, 3}, BDL_CATEGORICAL);
  const Table x = normal_table(random, 4, 3);
  for (const Kind kind : all_kinds) {
    const auto b = belief<double>(kind, model.parameters(), 0.4, random);
    const Law got = law(linearized(model, b, x));
    const Moments plain = moments(Query<double>{model, *b.q, x.array(), {BDL_PLUG_IN, 0, 0}});
    for (Index i = 0; i < 4; ++i) {
      double top = 0, sum = 0;
      for (Index c = 0; c < 3; ++c) top = std::max(top, got.mean(i, c));
      for (Index c = 0; c < 3; ++c) sum += std::exp(got.mean(i, c) - top);
      for (Index c = 0; c < 3; ++c) {
        assert_close(std::exp(got.mean(i, c) - top) / sum, plain.mean(i, c), 1e-13);
        const std::vector<double> solved = dense_solve(b.precision, differences(model, b, x, i, c));
        for (Index d = 0; d < 3; ++d) {
          const std::vector<double> row = differences(model, b, x, i, d);
          double expected = 0;
          for (std::size_t j = 0; j < row.size(); ++j) expected += row[j] * solved[j];
          assert_near(got.covariance(i, d * 3 + c), expected, 1e-10);
        }
      }
    }
  }
}

/// Of standardised means, and not of what comes out for the noise.
void leverages_are_means_of_the_dense_products(void**) {
  TableRandom random(11);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_CATEGORICAL, BDL_HETEROSCEDASTIC}) {
    auto model = network<double>({3, 4, 4}, kind);
    const Index means = model.likelihood.means();
    assert_int_equal(means, kind == BDL_HETEROSCEDASTIC ? 2 : 4);
    const Table x = normal_table(random, 4, 3);
    for (const Kind family : all_kinds) {
      const auto b = belief<double>(family, model.parameters(), 0.4, random);
      Table got = output(4, 1), in_units = output(4, 1);
      predict_leverage(Query<double>{model, *b.q, x.array(), {BDL_PLUG_IN, 0, 0}}, got.out(), bdl_none_out());
      for (Index i = 0; i < 4; ++i) {
        double expected = 0;
        for (Index c = 0; c < means; ++c) {
          const std::vector<double> row = differences(model, b, x, i, c),
                                    solved = dense_solve(b.precision, row);
          for (std::size_t j = 0; j < row.size(); ++j)
            expected += row[j] * solved[j] / static_cast<double>(means);
        }
        assert_near(got(i, 0), expected, 1e-10);
      }
      if (kind == BDL_CATEGORICAL) continue;
      auto scaled = model;
      const auto targets = static_cast<std::size_t>(means);
      scaled.standardization = {{{0, 0, 0}, {1, 1, 1}},
                                {std::vector<double>(targets, 3), std::vector<double>(targets, 200)}};
      predict_leverage(linearized<double>(scaled, b, x), in_units.out(), bdl_none_out());
      assert_same_bits(in_units, got);
    }
  }
}

/// Without the row, the precision has no w J^T J: the leverage by that posterior, for every likelihood.
void rows_are_left_out_as_by_the_dense_precision(void**) {
  TableRandom random(12);
  for (const bdl_likelihood kind :
       {BDL_GAUSSIAN, BDL_HETEROSCEDASTIC, BDL_STUDENT_T, BDL_BERNOULLI, BDL_POISSON}) {
    auto model = network<double>({3, 4, kind == BDL_HETEROSCEDASTIC ? 2 : 1}, kind);
    const double tau = 2.5, y = 1;
    if (model.likelihood.has_noise_precision()) model.likelihood.set_noise_precision({&tau, 1});
    const Table x = normal_table(random, 3, 3);
    const auto b = belief<double>(Kind::full, model.parameters(), 0.15, random);
    Table got = output(3, 1);
    predict_leverage(linearized<double>(model, b, x), bdl_none_out(), got.out());
    const Law q = law(linearized<double>(model, b, x));
    for (Index i = 0; i < 3; ++i) {
      const std::vector<double> row = differences(model, b, x, i, 0);
      const double f[] = {q.mean(i, 0), kind == BDL_HETEROSCEDASTIC ? q.mean(i, 1) : 0};
      double root[2], coefficient, expected = 0;
      model.likelihood.hessian_root(f, &y, 0, root, &coefficient);
      Table without = b.precision;
      for (Index j = 0; j < without.rows; ++j)
        for (Index k = 0; k < without.cols; ++k)
          without(j, k) -=
              root[0] * root[0] * row[static_cast<std::size_t>(j)] * row[static_cast<std::size_t>(k)];
      const std::vector<double> solved = dense_solve(without, row);
      for (std::size_t j = 0; j < row.size(); ++j) expected += row[j] * solved[j];
      assert_close(got(i, 0), expected, 1e-9);
    }
  }
}

/// A linear model is its own linearisation.
template <class T>
void linear_models_have_their_exact_law(void**) {
  TableRandom random(2);
  constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_POISSON}) {
    auto model = network<T>({3, 1}, kind);
    const double tau = 2.5;
    if (kind == BDL_GAUSSIAN) model.likelihood.set_noise_precision({&tau, 1});
    const Table x = normal_table(random, 6, 3), y = targets(random, model.likelihood, 6),
                levels(1, 3, {0.05, 0.5, 0.99});
    for (const Kind family : all_kinds) {
      const auto b = belief<T>(family, 4, 0.5, random);
      const auto exact = quadrature(model, b, x), closed = linearized<T>(model, b, x);
      const Moments m = moments(exact), n = moments(closed);
      assert_tables_close(n.mean, m.mean, tolerance);
      assert_tables_close(n.epistemic, m.epistemic, tolerance);
      assert_tables_close(n.noise, m.noise, tolerance);
      assert_tables_close(log_density(closed, y), log_density(exact, y), tolerance);
      assert_tables_close(quantiles(closed, levels), quantiles(exact, levels), tolerance);
      assert_close(expected_log_likelihood(closed, y.array()), expected_log_likelihood(exact, y.array()),
                   tolerance);
      const Law q = law(closed);
      for (Index i = 0; i < 6; ++i) {
        const Marginal dense = dense_marginal(b, x, i, true);
        assert_close(q.mean(i, 0), dense.mean, tolerance, tolerance);
        assert_close(q.covariance(i, 0), dense.variance, tolerance);
        if (kind == BDL_GAUSSIAN) assert_close(n.epistemic(i, 0), dense.variance, tolerance);
      }
    }
  }
}

/// Over both outputs jointly: log N(y; f, S + R), quantiles of the marginals.
template <class T>
void regression_uses_the_whole_covariance(void**) {
  TableRandom random(3);
  auto model = network<T>({3, 4, 2}, BDL_GAUSSIAN);
  const double precision[] = {4, 0.5};
  model.likelihood.set_noise_precision(precision);
  const Table x = normal_table(random, 5, 3), y = targets(random, model.likelihood, 5), levels(1, 1, {0.975});
  constexpr double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-13;
  for (const Kind kind : all_kinds) {
    const auto b = belief<T>(kind, model.parameters(), 0.5, random);
    const auto query = linearized<T>(model, b, x);
    const Law q = law(query);
    const Moments m = moments(query);
    const Table density = log_density(query, y), upper = quantiles(query, levels);
    for (Index i = 0; i < 5; ++i) {
      double s[2][2], r[2];
      for (Index c = 0; c < 2; ++c) {
        for (Index d = 0; d < 2; ++d) s[c][d] = q.covariance(i, 2 * c + d) + (c == d ? 1 / precision[c] : 0);
        r[c] = y(i, c) - q.mean(i, c);
        assert_near(m.mean(i, c), q.mean(i, c), 0);
        assert_near(m.epistemic(i, c), q.covariance(i, 3 * c), 0);
        assert_close(m.noise(i, c), 1 / precision[c], 1e-15);
        assert_close(upper(i, c), q.mean(i, c) + 1.959963984540054 * std::sqrt(s[c][c]), tolerance,
                     tolerance);
      }
      const double determinant = s[0][0] * s[1][1] - s[0][1] * s[0][1];
      const double distance =
          (s[1][1] * r[0] * r[0] - 2 * s[0][1] * r[0] * r[1] + s[0][0] * r[1] * r[1]) / determinant;
      assert_close(density(i, 0),
                   -(2 * std::log(2 * std::numbers::pi) + std::log(determinant) + distance) / 2, tolerance,
                   tolerance);
    }
  }
}

/// Neither rows of x nor their chunks change anything but roundings.
void chunks_and_other_rows_do_not_matter(void**) {
  TableRandom random(6);
  const auto model = network<double>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 11, 3);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.3, random);
  for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_LINEARIZED_MONTE_CARLO}) {
    const Query<double> query{model, *b.q, x.array(), {method, 6, 9}};
    std::vector<Table> all;
    const auto collect = [&](const Array& rows, const ChunkLimits& limits, Index first) {
      Query<double> part = query;
      part.x = rows;
      visit_mixtures(
          part,
          [&](Index i, const Mixture& mixture) {
            Table f(mixture.components() + 2, 2);
            for (Index c = 0; c < 2; ++c) {
              for (Index k = 0; k < mixture.components(); ++k) f(k, c) = mixture.f(c, k);
              for (Index d = 0; d < 2 && mixture.is_gaussian(); ++d)
                f(mixture.components() + d, c) = mixture.covariance(d, c);
            }
            if (limits.examples == 11)
              all.push_back(f);
            else
              assert_tables_close(f, all[static_cast<std::size_t>(first + i)], 1e-12, 1e-13);
          },
          limits);
    };
    collect(x.array(), {11, 1 << 20, 1 << 20, 1 << 20}, 0);
    assert_int_equal(all.size(), 11);
    for (const ChunkLimits& limits :
         {ChunkLimits{10, 1, 1, 1}, ChunkLimits{4, 1, 1, 1 << 20}, ChunkLimits{12, 1, 1, 5 * 2 * 2 * 32}})
      collect(x.array(), limits, 0);
    for (Index i = 0; i < 11; ++i) collect(rows_of(x, i, 1).array(), {}, i);
  }
}

/// f_c(x) = (c + 1) theta x, c = 0, 1, by callbacks: one parameter for two outputs.
std::int32_t line_outputs(void*, Array theta, Array x, OutArray f) {
  for (Index i = 0; i < x.rows; ++i) {
    const double value = element(theta, 0, 0) * element(x, i, 0);
    const double both[] = {value, 2 * value};
    scatter(ConstMatrixView<double>(both, 2, 1), f, i);
  }
  return 0;
}
std::int32_t line_gradients(void*, Array, Array x, Array seeds, OutArray rows) {
  for (Index i = 0; i < x.rows; ++i) {
    const double row = (element(seeds, i, 0) + 2 * element(seeds, i, 1)) * element(x, i, 0);
    scatter(ConstMatrixView<double>(&row, 1, 1), rows, i);
  }
  return 0;
}

template <class T>
void user_models_are_linearized(void**) {
  TableRandom random(7);
  const UserModel<T> model(1, 1, Likelihood(BDL_GAUSSIAN, 2), {line_outputs, line_gradients, nullptr});
  const auto b = belief<T>(Kind::full, 1, 0.5, random);
  const Table x = normal_table(random, 4, 1), y = normal_table(random, 4, 2);
  const auto query = linearized<T>(model, b, x);
  const Law q = law(query);
  const Table density = log_density(query, y);
  const double mean = static_cast<double>(b.q->mean()[0]), v = 1 / b.precision(0, 0);
  constexpr double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-13;
  for (Index i = 0; i < 4; ++i) {
    const double s = v * x(i, 0) * x(i, 0), r = y(i, 0) - mean * x(i, 0), t = y(i, 1) - 2 * mean * x(i, 0);
    for (Index k = 0; k < 4; ++k)
      assert_close(q.covariance(i, k), s * (k == 0 ? 1 : k == 3 ? 4 : 2), tolerance);
    // S + I = I + s (1, 2)(1, 2)^T: determinant 1 + 5 s, and Sherman-Morrison.
    const double distance = r * r + t * t - s * (r + 2 * t) * (r + 2 * t) / (1 + 5 * s);
    assert_close(density(i, 0), -(2 * std::log(2 * std::numbers::pi) + std::log1p(5 * s) + distance) / 2,
                 tolerance, tolerance);
  }
  const UserModel<T> values_only(1, 1, Likelihood(BDL_GAUSSIAN, 2), {line_outputs, nullptr, nullptr});
  expect_error(Status::ERROR_UNSUPPORTED, "without a gradients callback",
               [&] { law(linearized<T>(values_only, b, x)); });
}

void what_is_not_defined_is_refused(void**) {
  TableRandom random(8);
  const auto model = network<double>({3, 2}, BDL_CATEGORICAL);
  const auto b = belief<double>(Kind::diagonal, model.parameters(), 0.5, random);
  const Table x = normal_table(random, 2, 3), y(2, 1);
  const auto query = linearized<double>(model, b, x);
  Table p = output(2, 2), information = output(2, 1);
  expect_error(Status::ERROR_UNSUPPORTED, "mutual_information is not given by the probit approximation",
               [&] { predict_classes(query, p.out(), bdl_none_out(), information.out()); });
  expect_error(Status::ERROR_UNSUPPORTED, "the probit approximation has no expected log likelihoods",
               [&] { expected_log_likelihood(query, y.array()); });
  expect_error(Status::ERROR_SHAPE, "leverage has 2 columns, expected 1",
               [&] { predict_leverage(query, Table(2, 2).out(), bdl_none_out()); });
  for (const Table* table : {&p, &information})
    for (const double value : table->values) assert_true(std::isnan(value));
  expect_error(Status::ERROR_SHAPE, "mean has 3 columns, expected 2",
               [&] { predict_output_distribution(query, Table(2, 3).out(), bdl_none_out()); });
  expect_error(Status::ERROR_SHAPE, "covariance has 3 columns, expected 4",
               [&] { predict_output_distribution(query, bdl_none_out(), Table(2, 3).out()); });
}

/// The closed form of all four likelihoods, in single precision near what it is in double.
void single_precision(void**) {
  TableRandom random(9);
  for (const bdl_likelihood kind : all_likelihoods) {
    const auto wide = network<double>({3, 4, 2}, kind);
    const auto narrow = network<float>({3, 4, 2}, kind);
    const Table x = normal_table(random, 5, 3), y = targets(random, wide.likelihood, 5);
    TableRandom one(10), two(10);
    const auto b = belief<double>(Kind::low_rank, wide.parameters(), 0.25, one);
    const auto c = belief<float>(Kind::low_rank, wide.parameters(), 0.25, two);
    const Table got = log_density(linearized<float>(narrow, c, x), y),
                expected = log_density(linearized<double>(wide, b, x), y);
    assert_tables_close(got, expected, 1e-5, 1e-5);
  }
}

}  // namespace

int test_predict_linearized() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(output_distribution_is_the_dense_product),
      cmocka_unit_test(leverages_are_means_of_the_dense_products),
      cmocka_unit_test(rows_are_left_out_as_by_the_dense_precision),
      cmocka_unit_test(linear_models_have_their_exact_law<float>),
      cmocka_unit_test(linear_models_have_their_exact_law<double>),
      cmocka_unit_test(regression_uses_the_whole_covariance<float>),
      cmocka_unit_test(regression_uses_the_whole_covariance<double>),
      cmocka_unit_test(chunks_and_other_rows_do_not_matter),
      cmocka_unit_test(user_models_are_linearized<float>),
      cmocka_unit_test(user_models_are_linearized<double>),
      cmocka_unit_test(what_is_not_defined_is_refused),
      cmocka_unit_test(single_precision),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
