/* Callbacks that stop, fail, or write what is not a number. */
#include "refused.h"

enum { AFTER = 5 };

typedef struct answer {
  int32_t value;
  int calls;
} answer;

static int32_t give_answer(void* user_data, const bdl_optimizer* optimizer) {
  answer* a = (answer*)user_data;
  int64_t step = 0;
  OK(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  ++a->calls;
  return step >= AFTER ? a->value : 0;
}

/* Trains as far as step AFTER, where the callback returns `value`. */
static snapshot state_after(int32_t value, bdl_status expected) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  answer a = {value, 0};
  snapshot s;
  OK(bdl_optimizer_set_int(t.optimizer, "progress_every", 1));
  OK(bdl_optimizer_set_int(t.optimizer, "minibatch", 4));
  assert_int_equal(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 3, give_answer, &a),
                   expected);
  assert_int_equal(a.calls, AFTER);
  s = snapshot_of(&t);
  assert_int_equal(s.step, AFTER);
  trained_free(&t);
  return s;
}

static void test_progress_answers(void** state) {
  const snapshot stopped = state_after(1, BDL_STOPPED), failed = state_after(-1, BDL_ERROR_CALLBACK);
  (void)state;
  assert_non_null(strstr(bdl_last_error(), "bdl_optimizer_fit: the progress callback returned -1"));
  assert_same_state(&stopped, &failed); /* either way as after the last completed step */
}

/* y = a + b x as a custom model, with faults to order. */
typedef struct faulty {
  int32_t outputs_answer, gradients_answer;
  double outputs_value, gradients_value; /* written to the last element; 0: what is right */
  int destroyed;
} faulty;

static double at(bdl_matrix m, int64_t i, int64_t j) {
  return ((const double*)m.data)[i * m.row_stride + j * m.col_stride];
}
static double* to(bdl_matrix_out m, int64_t i, int64_t j) {
  return (double*)m.data + i * m.row_stride + j * m.col_stride;
}

static int32_t line_outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  const faulty* u = (const faulty*)user_data;
  for (int64_t i = 0; i < x.rows; ++i) *to(f, i, 0) = at(theta, 0, 0) + at(theta, 0, 1) * at(x, i, 0);
  if (u->outputs_value != 0) *to(f, f.rows - 1, 0) = u->outputs_value;
  return u->outputs_answer;
}

static int32_t line_gradients(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds,
                              bdl_matrix_out rows) {
  const faulty* u = (const faulty*)user_data;
  (void)theta;
  for (int64_t i = 0; i < x.rows; ++i) {
    *to(rows, i, 0) = at(seeds, i, 0);
    *to(rows, i, 1) = at(seeds, i, 0) * at(x, i, 0);
  }
  if (u->gradients_value != 0) *to(rows, rows.rows - 1, 1) = u->gradients_value;
  return u->gradients_answer;
}

static void count_destroy(void* user_data) {
  ++((faulty*)user_data)->destroyed;
}

static trained line_create(faulty* u, bdl_gradients_fn gradients) {
  trained t;
  memset(&t, 0, sizeof t);
  t.parameters = 2;
  t.outputs = 1;
  memset(u, 0, sizeof *u);
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, line_outputs, gradients, u, count_destroy, &t.model));
  OK(bdl_posterior_create_full(BDL_F64, 2, &t.posterior));
  OK(bdl_optimizer_create(t.model, t.posterior, "slang-ggn", 8, &t.optimizer));
  return t;
}

static const double line_x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, line_y[8] = {1, 3, 5, 7, 9, 11, 13, 15};

/* Everything that calls the outputs callback fails in the same way and changes nothing. Outputs that are
 * infinite are no failure of predictions, which are infinite then. */
static void outputs_fail(const trained* t, bdl_status status, const char* message) {
  const bdl_matrix x = bdl_f64(line_x, 8, 1), y = bdl_f64(line_y, 8, 1), theta = given(1, 2);
  const bdl_model* m = t->model;
  watch(t);
  REFUSED(status, message, bdl_optimizer_step(t->optimizer, x, y));
  REFUSED(status, message, bdl_optimizer_fit(t->optimizer, x, y, 1, NULL, NULL));
  REFUSED(status, message, bdl_optimizer_elbo(t->optimizer, x, y, 2, 1, &out.number, &out.other));
  REFUSED(status, message, bdl_model_evaluate(m, theta, x, into(8, 1)));
  REFUSED(status, message, bdl_model_log_likelihood(m, theta, x, y, into(8, 1)));
  REFUSED(status, message, bdl_model_gradient_rows(m, theta, x, y, into(8, 2)));
}

static void predictions_fail(const trained* t, bdl_status status, const char* message) {
  const bdl_matrix x = bdl_f64(line_x, 8, 1), y = bdl_f64(line_y, 8, 1);
  const bdl_matrix_out none = bdl_none_out();
  const bdl_model* m = t->model;
  const bdl_posterior* q = t->posterior;
  watch(t);
  REFUSED(status, message, bdl_predict(m, q, x, BDL_PLUG_IN, 1, 1, into(8, 1), none, none));
  REFUSED(status, message, bdl_predict_log_density(m, q, x, y, BDL_MONTE_CARLO, 3, 1, into(8, 1)));
  REFUSED(status, message, bdl_predict_draws(m, q, x, 3, 1, into(8, 3)));
}

static void infinite_outputs_are_predicted(const trained* t) {
  double mean[8], density[8];
  const bdl_matrix x = bdl_f64(line_x, 8, 1), y = bdl_f64(line_y, 8, 1);
  OK(bdl_predict(t->model, t->posterior, x, BDL_PLUG_IN, 1, 1, bdl_f64_out(mean, 8, 1), bdl_none_out(),
                 bdl_none_out()));
  OK(bdl_predict_log_density(t->model, t->posterior, x, y, BDL_MONTE_CARLO, 3, 1,
                             bdl_f64_out(density, 8, 1)));
  for (int i = 0; i < 7; ++i) assert_true(isfinite(mean[i]) && isfinite(density[i]));
  assert_true(isinf(mean[7]) && density[7] == -(double)INFINITY);
}

static void all_work(const trained* t) {
  const bdl_matrix x = bdl_f64(line_x, 8, 1), y = bdl_f64(line_y, 8, 1);
  double mean[8];
  OK(bdl_optimizer_step(t->optimizer, x, y));
  OK(bdl_optimizer_fit(t->optimizer, x, y, 1, NULL, NULL));
  OK(bdl_predict(t->model, t->posterior, x, BDL_PLUG_IN, 1, 1, bdl_f64_out(mean, 8, 1), bdl_none_out(),
                 bdl_none_out()));
}

static void test_user_outputs(void** state) {
  faulty u;
  trained t = line_create(&u, line_gradients);
  (void)state;
  all_work(&t);
  u.outputs_answer = 7;
  outputs_fail(&t, BDL_ERROR_CALLBACK, "outputs callback returned 7");
  predictions_fail(&t, BDL_ERROR_CALLBACK, "outputs callback returned 7");
  u.outputs_answer = -1;
  outputs_fail(&t, BDL_ERROR_CALLBACK, "outputs callback returned -1");
  predictions_fail(&t, BDL_ERROR_CALLBACK, "outputs callback returned -1");
  u.outputs_answer = 0;
  u.outputs_value = (double)NAN;
  outputs_fail(&t, BDL_ERROR_DIVERGED, "(counting from 0) is");
  predictions_fail(&t, BDL_ERROR_DIVERGED, "is NaN");
  u.outputs_value = -(double)INFINITY;
  outputs_fail(&t, BDL_ERROR_DIVERGED, "not finite");
  infinite_outputs_are_predicted(&t);
  u.outputs_value = 0;
  all_work(&t);
  trained_free(&t);
  assert_int_equal(u.destroyed, 1);
}

static void gradients_fail(const trained* t, bdl_status status, const char* message) {
  const bdl_matrix x = bdl_f64(line_x, 8, 1), y = bdl_f64(line_y, 8, 1);
  watch(t);
  REFUSED(status, message, bdl_optimizer_step(t->optimizer, x, y));
  REFUSED(status, message, bdl_optimizer_fit(t->optimizer, x, y, 1, NULL, NULL));
  REFUSED(status, message, bdl_model_gradient_rows(t->model, given(1, 2), x, y, into(8, 2)));
}

static void test_user_gradients(void** state) {
  faulty u;
  trained t = line_create(&u, line_gradients);
  (void)state;
  all_work(&t);
  u.gradients_answer = 3;
  gradients_fail(&t, BDL_ERROR_CALLBACK, "gradients callback returned 3");
  u.gradients_answer = 0;
  u.gradients_value = (double)NAN;
  gradients_fail(&t, BDL_ERROR_DIVERGED, "gradients callback wrote a non-finite row");
  u.gradients_value = (double)INFINITY;
  gradients_fail(&t, BDL_ERROR_DIVERGED, "gradients callback wrote a non-finite row");
  u.gradients_value = 0;
  all_work(&t);
  trained_free(&t);
  assert_int_equal(u.destroyed, 1);
}

/* Faults in the very first step leave the posterior blank: N(0, I). */
static void test_first_step(void** state) {
  faulty u;
  trained t = line_create(&u, line_gradients);
  (void)state;
  u.outputs_answer = 7;
  outputs_fail(&t, BDL_ERROR_CALLBACK, "outputs callback returned 7");
  u.outputs_answer = 0;
  u.gradients_answer = 7;
  gradients_fail(&t, BDL_ERROR_CALLBACK, "gradients callback returned 7");
  trained_free(&t);
}

static void test_predictions_only(void** state) {
  faulty u;
  trained t = line_create(&u, NULL);
  double mean[8];
  const bdl_matrix x = bdl_f64(line_x, 8, 1);
  (void)state;
  OK(bdl_predict(t.model, t.posterior, x, BDL_PLUG_IN, 1, 1, bdl_f64_out(mean, 8, 1), bdl_none_out(),
                 bdl_none_out()));
  gradients_fail(&t, BDL_ERROR_UNSUPPORTED, "without a gradients callback");
  trained_free(&t);
  assert_int_equal(u.destroyed, 1);
}

static int32_t explain(void* user_data, const bdl_optimizer* optimizer) {
  (void)optimizer;
  bdl_set_callback_message((const char*)user_data);
  return user_data ? -2 : 0;
}

static int32_t no_outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  (void)user_data, (void)theta, (void)x, (void)f;
  bdl_set_callback_message("no such simulator");
  return 7;
}

/* Every callback may say why it fails; what one that succeeds has said is forgotten. */
static void test_messages(void** state) {
  char why[] = "the user went home";
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_model* model;
  double f[ROWS];
  (void)state;
  assert_int_equal(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, explain, why),
                   BDL_ERROR_CALLBACK);
  assert_string_equal(bdl_last_error(),
                      "bdl_optimizer_fit: the progress callback returned -2: the user went home");
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, explain, NULL));
  OK(create_user(BDL_F64, INPUTS, 1, 2, BDL_GAUSSIAN, no_outputs, NULL, NULL, NULL, &model));
  assert_int_equal(bdl_model_evaluate(model, given(1, 2), x_of(&t.data), bdl_f64_out(f, ROWS, 1)),
                   BDL_ERROR_CALLBACK);
  assert_non_null(strstr(bdl_last_error(), "outputs callback returned 7, expected 0: no such simulator"));
  bdl_model_free(model);
  trained_free(&t);
}

int test_errors_callbacks(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_progress_answers), cmocka_unit_test(test_user_outputs),
      cmocka_unit_test(test_user_gradients),   cmocka_unit_test(test_first_step),
      cmocka_unit_test(test_predictions_only), cmocka_unit_test(test_messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
