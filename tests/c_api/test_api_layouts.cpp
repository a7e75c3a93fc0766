// The memory order and element type of arrays do not matter: equal numbers give identical results.
#include "handles.hpp"

namespace {

/// One matrix in every layout, each in a block of memory of its own with poison around and between elements.
struct Layouts {
  Vector row_major, column_major, wide, backwards, strided;
  int64_t rows, cols;

  Layouts(const double* values, int64_t n, int64_t m)
      : row_major(n * m),
        column_major(n * m),
        wide(n * (m + 3), poison),
        backwards(n * m),
        strided(4 * n * m, poison),
        rows(n),
        cols(m) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) {
        const double value = values[i * m + j];
        row_major[i * m + j] = column_major[j * n + i] = wide[i * (m + 3) + j] = value;
        backwards[(n - 1 - i) * m + (m - 1 - j)] = strided[(i + 2 * j * n) * 2] = value;
      }
  }

  std::vector<bdl_matrix> views() const {
    return {bdl_f64(row_major.data(), rows, cols), bdl_column_major(column_major.data(), BDL_F64, rows, cols),
            bdl_strided(wide.data(), BDL_F64, rows, cols, cols + 3, 1),
            bdl_strided(backwards.data() + rows * cols - 1, BDL_F64, rows, cols, -cols, -1),
            bdl_strided(strided.data(), BDL_F64, rows, cols, 2, 4 * rows)};
  }

  std::vector<bdl_matrix_out> outputs() {
    return {bdl_f64_out(row_major.data(), rows, cols),
            bdl_column_major_out(column_major.data(), BDL_F64, rows, cols),
            bdl_strided_out(wide.data(), BDL_F64, rows, cols, cols + 3, 1),
            bdl_strided_out(backwards.data() + rows * cols - 1, BDL_F64, rows, cols, -cols, -1),
            bdl_strided_out(strided.data(), BDL_F64, rows, cols, 2, 4 * rows)};
  }

  static constexpr double poison = -1e77;
};

Vector trained_moments(bdl_dtype dtype, bdl_likelihood likelihood, bdl_matrix x, bdl_matrix y) {
  Learner l(make_mlp(dtype, {INPUTS, 3, outputs_for(likelihood)}, likelihood), dtype, 2, ROWS);
  l.set("minibatch", 5);
  l.fit(x, y, 2);
  OK(bdl_optimizer_step(l.optimizer.get(), x, y));
  return moments_of(l.posterior);
}

void test_training_inputs(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
      const dataset d = data_for(likelihood);
      const Layouts x(d.x, ROWS, INPUTS), y(d.y, ROWS, d.targets);
      const Vector expected = trained_moments(dtype, likelihood, x_of(&d), y_of(&d));
      for (std::size_t k = 0; k < x.views().size(); ++k)
        assert_true(trained_moments(dtype, likelihood, x.views()[k], y.views()[k]) == expected);
    }
}

void test_integer_labels(void**) {
  for (const bdl_likelihood likelihood : {BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
    const dataset d = data_for(likelihood);
    const std::vector<int32_t> labels(d.y, d.y + ROWS * d.targets);
    const std::vector<float> floats(d.y, d.y + ROWS * d.targets);
    const Vector expected = trained_moments(BDL_F64, likelihood, x_of(&d), y_of(&d));
    assert_true(trained_moments(BDL_F64, likelihood, x_of(&d), bdl_i32(labels.data(), ROWS, d.targets)) ==
                expected);
    assert_true(trained_moments(BDL_F64, likelihood, x_of(&d), bdl_f32(floats.data(), ROWS, d.targets)) ==
                expected);
  }
}

void test_float_inputs(void**) {
  dataset d = data_for(BDL_GAUSSIAN);
  const std::vector<float> x(d.x, d.x + ROWS * INPUTS), y(d.y, d.y + ROWS * d.targets);
  std::copy(x.begin(), x.end(), d.x);  // doubles that are floats
  std::copy(y.begin(), y.end(), d.y);
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    assert_true(trained_moments(dtype, BDL_GAUSSIAN, bdl_f32(x.data(), ROWS, INPUTS),
                                bdl_f32(y.data(), ROWS, d.targets)) ==
                trained_moments(dtype, BDL_GAUSSIAN, x_of(&d), y_of(&d)));
}

/// A zero stride repeats a value: every example has the same inputs.
void test_zero_strides(void**) {
  const dataset d = data_for(BDL_GAUSSIAN);
  Vector repeated;
  for (int i = 0; i < ROWS; ++i) repeated.insert(repeated.end(), {0.25, 0.5});
  const double once[] = {0.25, 0.5};
  assert_true(
      trained_moments(BDL_F64, BDL_GAUSSIAN, bdl_strided(once, BDL_F64, ROWS, INPUTS, 0, 1), y_of(&d)) ==
      trained_moments(BDL_F64, BDL_GAUSSIAN, bdl_f64(repeated.data(), ROWS, INPUTS), y_of(&d)));
}

using Fill = std::function<bdl_status(bdl_matrix_out)>;

/// Every layout of an output receives the same numbers, and nothing between them is written.
void every_output(int64_t rows, int64_t cols, const Fill& call) {
  Vector expected(rows * cols, Layouts::poison);
  OK(call(bdl_f64_out(expected.data(), rows, cols)));
  for (const double value : expected) assert_true(std::isfinite(value) && value != Layouts::poison);
  const Layouts written(expected.data(), rows, cols);
  const Vector blank(rows * cols, Layouts::poison);
  Layouts target(blank.data(), rows, cols);
  for (const bdl_matrix_out& view : target.outputs()) OK(call(view));
  assert_true(target.row_major == written.row_major && target.column_major == written.column_major);
  assert_true(target.wide == written.wide && target.backwards == written.backwards);
  assert_true(target.strided == written.strided);

  std::vector<float> single(rows * cols);
  OK(call(bdl_f32_out(single.data(), rows, cols)));
  for (std::size_t i = 0; i < single.size(); ++i) assert_true(single[i] == static_cast<float>(expected[i]));
}

void test_outputs(void**) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const int64_t d = t.parameters, c = t.outputs;
  const bdl_matrix x = x_of(&t.data), y = y_of(&t.data);
  const bdl_matrix_out none = bdl_none_out();
  const Vector theta(3 * d, 0.25);
  const bdl_matrix one = bdl_f64(theta.data(), 1, d), three = bdl_f64(theta.data(), 3, d);
  const double levels[] = {0.1, 0.5, 0.9};
  const int64_t indices[] = {0, 4, 9, 2};
  const bdl_model* m = t.model;
  const bdl_posterior* q = t.posterior;
#define EVERY_OUTPUT(rows, cols, call) every_output(rows, cols, [&](bdl_matrix_out out) { return call; })
  EVERY_OUTPUT(1, d, bdl_model_initialize(m, BDL_INIT_UNIFORM_FAN_IN, 1, out));
  EVERY_OUTPUT(ROWS, c, bdl_model_evaluate(m, one, x, out));
  EVERY_OUTPUT(ROWS, 1, bdl_model_log_likelihood(m, one, x, y, out));
  EVERY_OUTPUT(ROWS, d, bdl_model_gradient_rows(m, one, x, y, out));
  EVERY_OUTPUT(1, d, bdl_posterior_mean(q, out));
  EVERY_OUTPUT(d, 2, bdl_posterior_get_low_rank(q, out, none));
  EVERY_OUTPUT(1, d, bdl_posterior_get_low_rank(q, none, out));
  EVERY_OUTPUT(1, d, bdl_posterior_precision_diagonal(q, out));
  EVERY_OUTPUT(1, d, bdl_posterior_marginal_variance(q, out));
  EVERY_OUTPUT(4, 3, bdl_posterior_covariance(q, indices, 4, indices + 1, 3, out));
  EVERY_OUTPUT(3, d, bdl_posterior_solve(q, three, out));
  EVERY_OUTPUT(3, d, bdl_posterior_sample(q, 7, 0, out));
  EVERY_OUTPUT(3, 1, bdl_posterior_log_density(q, three, out));
  EVERY_OUTPUT(1, d, bdl_optimizer_get_prior(t.optimizer, out));
  EVERY_OUTPUT(ROWS, c, bdl_predict(m, q, x, BDL_MONTE_CARLO, 5, 1, out, none, none));
  EVERY_OUTPUT(ROWS, c, bdl_predict(m, q, x, BDL_MONTE_CARLO, 5, 1, none, out, none));
  EVERY_OUTPUT(ROWS, c, bdl_predict(m, q, x, BDL_MONTE_CARLO, 5, 1, none, none, out));
  EVERY_OUTPUT(ROWS, 3 * c,
               bdl_predict_quantiles(m, q, x, BDL_MONTE_CARLO, 5, 1, bdl_f64(levels, 1, 3), out));
  EVERY_OUTPUT(ROWS, 1, bdl_predict_log_density(m, q, x, y, BDL_MONTE_CARLO, 5, 1, out));
  EVERY_OUTPUT(ROWS, 4 * c, bdl_predict_draws(m, q, x, 4, 1, out));
  trained_free(&t);
}

}  // namespace

int test_api_layouts() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_training_inputs), cmocka_unit_test(test_integer_labels),
                              cmocka_unit_test(test_float_inputs), cmocka_unit_test(test_zero_strides),
                              cmocka_unit_test(test_outputs)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
