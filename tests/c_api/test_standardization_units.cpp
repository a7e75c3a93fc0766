// Results of a model that standardises are those of one without on standardised data, in the caller's units.
#include "standardized_runs.hpp"

namespace {

constexpr bdl_dtype dtypes[] = {BDL_F64, BDL_F32};
constexpr bdl_predict_method methods[] = {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED_MONTE_CARLO,
                                          BDL_LINEARIZED};
constexpr double tight = 1e-12;

Twins trained_twins(bdl_dtype dtype, bdl_likelihood likelihood = BDL_GAUSSIAN) {
  Twins t(dtype, likelihood);
  t.fit(3);
  t.assert_same_posteriors();
  return t;
}

/// call(learner, x, y, out) of both twins.
template <class Call>
std::pair<Table, Table> both(const Twins& t, int64_t rows, int64_t columns, Call call) {
  Table got = table(rows, columns), expected = got;
  call(t.inside, t.x.view(), t.y.view(), got.out());
  call(t.by_hand, t.x_hand.view(), t.y_hand.view(), expected.out());
  return {std::move(got), std::move(expected)};
}

/// Every column of the first table is a value, variance or likewise of an output.
template <class Call, class Convert>
void assert_converts(const Twins& t, int64_t rows, int64_t columns, Call call, Convert convert,
                     double tolerance, const char* what) {
  const auto [got, expected] = both(t, rows, columns, call);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      assert_relative(got(i, j), convert(i, j, expected(i, j)), tolerance, what);
}

void moments(void**) {
  for (const bdl_dtype dtype : dtypes)
    for (const bdl_predict_method method : methods) {
      const Twins t = trained_twins(dtype);
      for (int part = 0; part < 3; ++part)
        assert_converts(
            t, ROWS, 2,
            [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
              OK(bdl_predict(l.model.get(), l.posterior.get(), x, method, 9, 4,
                             part == 0 ? out : bdl_none_out(), part == 1 ? out : bdl_none_out(),
                             part == 2 ? out : bdl_none_out()));
            },
            [&](int64_t, int64_t c, double v) { return part == 0 ? t.value(c, v) : t.variance(c, c, v); },
            tight, "moments");
    }
}

void quantiles_and_intervals(void**) {
  const double levels[] = {0.01, 0.5, 0.975};
  for (const bdl_dtype dtype : dtypes)
    for (const bdl_predict_method method : methods) {
      const Twins t = trained_twins(dtype);
      assert_converts(
          t, ROWS, 6,
          [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
            OK(bdl_predict_quantiles(l.model.get(), l.posterior.get(), x, method, 9, 4, bdl_f64(levels, 1, 3),
                                     out));
          },
          [&](int64_t, int64_t j, double v) { return t.value(j / 3, v); }, tight, "quantiles");
      for (const bool upper : {false, true})
        assert_converts(
            t, ROWS, 2,
            [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
              Table other = table(ROWS, 2);
              OK(bdl_predict_interval(l.model.get(), l.posterior.get(), x, method, 9, 4, 0.9,
                                      upper ? other.out() : out, upper ? out : other.out()));
            },
            [&](int64_t, int64_t c, double v) { return t.value(c, v); }, tight, "interval");
    }
}

void draws_and_distributions(void**) {
  for (const bdl_dtype dtype : dtypes) {
    const Twins t = trained_twins(dtype);
    for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED})
      assert_converts(
          t, ROWS, 8,
          [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
            OK(bdl_predict_draws_by(l.model.get(), l.posterior.get(), x, method, 4, 5, out));
          },
          [&](int64_t, int64_t j, double v) { return t.value(j / 4, v); }, tight, "draws");
    for (const bool covariance : {false, true})
      assert_converts(
          t, ROWS, covariance ? 4 : 2,
          [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
            OK(bdl_predict_output_distribution(l.model.get(), l.posterior.get(), x,
                                               covariance ? bdl_none_out() : out,
                                               covariance ? out : bdl_none_out()));
          },
          [&](int64_t, int64_t j, double v) {
            return covariance ? t.variance(j / 2, j % 2, v) : t.value(j, v);
          },
          tight, "output distribution");
  }
}

void densities(void**) {
  for (const bdl_dtype dtype : dtypes)
    for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
      const Twins t = trained_twins(dtype, likelihood);
      for (const bdl_predict_method method : methods)
        assert_converts(
            t, ROWS, 1,
            [&](const Learner& l, bdl_matrix x, bdl_matrix y, bdl_matrix_out out) {
              OK(bdl_predict_log_density(l.model.get(), l.posterior.get(), x, y, method, 9, 4, out));
            },
            [&](int64_t, int64_t, double v) { return v - t.log_scale(); }, tight, "log density");
    }
}

/// With the other likelihoods only the inputs have units.
void class_probabilities(void**) {
  for (const bdl_likelihood likelihood : {BDL_BERNOULLI, BDL_CATEGORICAL}) {
    const Twins t = trained_twins(BDL_F32, likelihood);
    assert_converts(
        t, ROWS, t.outputs(),
        [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
          OK(bdl_predict_classes(l.model.get(), l.posterior.get(), x, BDL_MONTE_CARLO, 9, 4, out,
                                 bdl_none_out(), bdl_none_out()));
        },
        [](int64_t, int64_t, double v) { return v; }, 0, "probabilities");
  }
}

/// The functions of a model for given parameters.
void model_functions(void**) {
  for (const bdl_dtype dtype : dtypes) {
    const Twins t = trained_twins(dtype);
    const Vector mean = mean_of(t.inside.posterior);
    const auto d = static_cast<int64_t>(mean.size());
    const bdl_matrix theta = bdl_f64(mean.data(), 1, d);
    const double rounded = dtype == BDL_F64 ? tight : 1e-6;
    const auto same = [](int64_t, int64_t, double v) { return v; };
    assert_converts(
        t, ROWS, 2,
        [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
          OK(bdl_model_evaluate(l.model.get(), theta, x, out));
        },
        [&](int64_t, int64_t c, double v) { return t.value(c, v); }, tight, "outputs");
    assert_converts(
        t, ROWS, 1,
        [&](const Learner& l, bdl_matrix x, bdl_matrix y, bdl_matrix_out out) {
          OK(bdl_model_log_likelihood(l.model.get(), theta, x, y, out));
        },
        [&](int64_t, int64_t, double v) { return v - t.log_scale(); }, tight, "log likelihood");
    assert_converts(
        t, 2 * ROWS, d,
        [&](const Learner& l, bdl_matrix x, bdl_matrix, bdl_matrix_out out) {
          OK(bdl_model_jacobian(l.model.get(), theta, x, out));
        },
        [&](int64_t i, int64_t, double v) { return t.units.y_scale(0, i % 2) * v; }, rounded, "Jacobian");
    assert_converts(
        t, ROWS, d,
        [&](const Learner& l, bdl_matrix x, bdl_matrix y, bdl_matrix_out out) {
          OK(bdl_model_gradient_rows(l.model.get(), theta, x, y, out));
        },
        same, 0, "gradient rows");
    assert_converts(
        t, d, d,
        [&](const Learner& l, bdl_matrix x, bdl_matrix y, bdl_matrix_out out) {
          OK(bdl_model_hessian(l.model.get(), theta, x, y, out));
        },
        same, 0, "Hessian");
    assert_converts(
        t, 1, d,
        [&](const Learner& l, bdl_matrix x, bdl_matrix y, bdl_matrix_out out) {
          OK(bdl_model_hessian_vector_product(l.model.get(), theta, x, y, theta, out));
        },
        same, 0, "products");
  }
}

/// The gradient rows are the derivative of the log likelihood in the caller's units too.
void gradients_are_derivatives(void**) {
  const Twins t = trained_twins(BDL_F64);
  Vector theta = mean_of(t.inside.posterior);
  const auto d = static_cast<int64_t>(theta.size());
  Table rows = table(ROWS, d), above = table(ROWS, 1), below = above;
  OK(bdl_model_gradient_rows(t.inside.model.get(), bdl_f64(theta.data(), 1, d), t.x.view(), t.y.view(),
                             rows.out()));
  const auto evaluate = [&](Table& out) {
    OK(bdl_model_log_likelihood(t.inside.model.get(), bdl_f64(theta.data(), 1, d), t.x.view(), t.y.view(),
                                out.out()));
  };
  for (int64_t k = 0; k < d; ++k) {
    double& parameter = theta[static_cast<std::size_t>(k)];
    const double at = parameter, step = 1e-5;
    parameter = at + step, evaluate(above);
    parameter = at - step, evaluate(below);
    parameter = at;
    for (int64_t i = 0; i < ROWS; ++i)
      assert_close(-(above(i, 0) - below(i, 0)) / (2 * step), rows(i, k), 1e-4 * (1 + std::fabs(rows(i, k))),
                   "derivative");
  }
}

}  // namespace

int test_standardization_units() {
  const CMUnitTest tests[] = {cmocka_unit_test(moments),
                              cmocka_unit_test(quantiles_and_intervals),
                              cmocka_unit_test(draws_and_distributions),
                              cmocka_unit_test(densities),
                              cmocka_unit_test(class_probabilities),
                              cmocka_unit_test(model_functions),
                              cmocka_unit_test(gradients_are_derivatives)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
