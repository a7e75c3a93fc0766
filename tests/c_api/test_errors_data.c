/* Data that do not fit the likelihood: every function that takes targets says what is wrong, and where. */
#include "refused.h"

typedef struct label {
  bdl_likelihood likelihood;
  double value;
  const char* expected; /* what the message expects instead; NULL: the label is valid */
} label;

static const label labels[] = {
    {BDL_GAUSSIAN, -3.5, NULL},
    {BDL_BERNOULLI, 1, NULL},
    {BDL_BERNOULLI, 2, "0 or 1"},
    {BDL_BERNOULLI, -1, "0 or 1"},
    {BDL_BERNOULLI, 0.5, "0 or 1"},
    {BDL_BERNOULLI, 1.0000001, "0 or 1"},
    {BDL_CATEGORICAL, 2, NULL},
    {BDL_CATEGORICAL, 3, "class number"},
    {BDL_CATEGORICAL, -1, "class number"},
    {BDL_CATEGORICAL, 1.5, "class number"},
    {BDL_CATEGORICAL, 1e300, "class number"},
    {BDL_POISSON, 7, NULL},
    {BDL_POISSON, -1, "count"},
    {BDL_POISSON, 0.25, "count"},
};

/* All functions with targets on one y, whose bad element is in the given place. */
static void all_refuse(const trained* t, bdl_matrix y, bdl_status status, const char* message) {
  const bdl_matrix x = x_of(&t->data), theta = given(1, t->parameters);
  watch(t);
  REFUSED(status, message, bdl_optimizer_step(t->optimizer, x, y));
  REFUSED(status, message, bdl_optimizer_fit(t->optimizer, x, y, 1, NULL, NULL));
  REFUSED(status, message, bdl_optimizer_elbo(t->optimizer, x, y, 2, 1, &out.number, &out.other));
  REFUSED(status, message, bdl_model_log_likelihood(t->model, theta, x, y, into(ROWS, 1)));
  REFUSED(status, message, bdl_model_gradient_rows(t->model, theta, x, y, into(ROWS, t->parameters)));
  REFUSED(status, message,
          bdl_predict_log_density(t->model, t->posterior, x, y, BDL_MONTE_CARLO, 2, 1, into(ROWS, 1)));
}

static void all_accept(const trained* t, bdl_matrix y) {
  const bdl_matrix x = x_of(&t->data), theta = given(1, t->parameters);
  double rows[ROWS * MOST_PARAMETERS], column[ROWS], value;
  OK(bdl_model_log_likelihood(t->model, theta, x, y, bdl_f64_out(column, ROWS, 1)));
  OK(bdl_model_gradient_rows(t->model, theta, x, y, bdl_f64_out(rows, ROWS, t->parameters)));
  OK(bdl_optimizer_elbo(t->optimizer, x, y, 2, 1, &value, NULL));
  OK(bdl_predict_log_density(t->model, t->posterior, x, y, BDL_MONTE_CARLO, 2, 1,
                             bdl_f64_out(column, ROWS, 1)));
  OK(bdl_optimizer_step(t->optimizer, x, y));
  OK(bdl_optimizer_fit(t->optimizer, x, y, 1, NULL, NULL));
}

static void test_labels(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof labels / sizeof *labels; ++k)
    for (int dtype = BDL_F32; dtype <= BDL_F64; ++dtype) {
      const label* l = &labels[k];
      trained t = trained_create((bdl_dtype)dtype, l->likelihood, 2);
      const int64_t cols = t.data.targets;
      double values[ROWS * MOST_OUTPUTS];
      char message[160];
      memcpy(values, t.data.y, sizeof values);
      values[ROWS * cols - 1] = l->value;
      (void)snprintf(message, sizeof message, "y is %g at row %d, column %d (counting from 0), expected",
                     l->value, ROWS - 1, (int)cols - 1);
      if (l->expected) {
        all_refuse(&t, bdl_f64(values, ROWS, cols), BDL_ERROR_LABEL, message);
        all_refuse(&t, bdl_f64(values, ROWS, cols), BDL_ERROR_LABEL, l->expected);
        memcpy(values, t.data.y, sizeof values);
      }
      all_accept(&t, bdl_f64(values, ROWS, cols));
      trained_free(&t);
    }
}

static void test_integer_labels(void** state) {
  trained t = trained_create(BDL_F64, BDL_CATEGORICAL, 2);
  int32_t classes[ROWS];
  (void)state;
  for (int i = 0; i < ROWS; ++i) classes[i] = i % 3;
  all_accept(&t, bdl_i32(classes, ROWS, 1));
  classes[7] = 3;
  all_refuse(&t, bdl_i32(classes, ROWS, 1), BDL_ERROR_LABEL, "y is 3 at row 7, column 0");
  classes[7] = INT32_MIN;
  all_refuse(&t, bdl_i32(classes, ROWS, 1), BDL_ERROR_LABEL, "y is -2.14748e+09 at row 7");
  trained_free(&t);
}

static void test_not_finite(void** state) {
  const bdl_likelihood all[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON};
  (void)state;
  for (int k = 0; k < 4; ++k) {
    trained t = trained_create(BDL_F64, all[k], 2);
    const int64_t cols = t.data.targets;
    dataset nan = t.data, inf = t.data;
    nan.y[5 * cols] = (double)NAN;
    inf.y[6 * cols] = (double)INFINITY;
    all_refuse(&t, y_of(&nan), BDL_ERROR_NOT_FINITE, "y is not finite at row 5, column 0");
    all_refuse(&t, y_of(&inf), BDL_ERROR_NOT_FINITE, "y is not finite at row 6, column 0");
    all_refuse(&t, bdl_f64(t.data.y, ROWS - 1, cols), BDL_ERROR_SHAPE, "y has 23 rows, expected 24");
    all_refuse(&t, bdl_none(), BDL_ERROR_SHAPE, "y is empty");
    all_accept(&t, y_of(&t.data));
    trained_free(&t);
  }
}

/* Doubles beyond the range of float do not get into a model of floats. */
static void test_float_range(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  dataset huge = t.data;
  (void)state;
  watch(&t);
  huge.y[5] = 1e300;
  huge.x[5] = -1e300;
  REFUSED(BDL_ERROR_NOT_FINITE, "x is not finite at row 2, column 1",
          bdl_optimizer_step(t.optimizer, x_of(&huge), y_of(&t.data)));
  REFUSED(BDL_ERROR_NOT_FINITE, "y is not finite at row 2, column 1",
          bdl_optimizer_step(t.optimizer, x_of(&t.data), y_of(&huge)));
  trained_free(&t);
}

int test_errors_data(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels), cmocka_unit_test(test_integer_labels),
                                     cmocka_unit_test(test_not_finite), cmocka_unit_test(test_float_range)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
