/* Calls that the functions of optimizer.h refuse, options apart. */
#include "refused.h"

enum { D = 17 };

static bdl_status create(bdl_model* m, bdl_posterior* q, const char* method, int64_t data_size) {
  return bdl_optimizer_create(m, q, method, data_size, &out.optimizer);
}
#define CREATE(status, fragment, ...)                                                                   \
  refused_at(status, fragment, create(__VA_ARGS__), "bdl_optimizer_create(" #__VA_ARGS__ ")", __FILE__, \
             __LINE__)

static void test_create(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_posterior *single, *small;
  bdl_predict_method prediction;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F32, D, 2, &single));
  OK(bdl_posterior_create_full(BDL_F64, 16, &small));
  watch(&t);
  CREATE(INVALID, "posterior is NULL", t.model, NULL, "slang", 10);
  CREATE(INVALID, "method is NULL", t.model, t.posterior, NULL, 10);
  CREATE(INVALID, "method is \"slangs\", expected one of \"slang\", \"slang-ggn\"", t.model, t.posterior,
         "slangs", 10);
  CREATE(INVALID, "method is \"\"", t.model, t.posterior, "", 10);
  CREATE(INVALID, "data_size is 0", t.model, t.posterior, "slang", 0);
  CREATE(INVALID, "data_size is -1", t.model, t.posterior, "slang", -1);
  CREATE(INVALID, "data_size is 9223372036854775807", t.model, t.posterior, "slang", INT64_MAX);
  CREATE(BDL_ERROR_SHAPE, "posterior is f32, the model f64", t.model, single, "slang", 10);
  CREATE(BDL_ERROR_SHAPE, "posterior has 16 parameters, the model 17", t.model, small, "slang", 10);
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_create(t.model, t.posterior, "slang", 10, NULL));
  assert_null(bdl_method_name(-1));
  assert_null(bdl_method_name(INT64_MAX));
  REFUSED(INVALID, "name is NULL", bdl_method_describe(NULL, &out.text, NULL, NULL, NULL, NULL, NULL));
  REFUSED(INVALID, "method is \"slangs\", expected one of \"slang\", \"slang-ggn\"",
          bdl_method_describe("slangs", &out.text, NULL, NULL, NULL, NULL, NULL));
  REFUSED(INVALID, "name is NULL", bdl_method_standing(NULL, NULL, &out.text));
  REFUSED(INVALID, "method is \"slangs\", expected one of", bdl_method_standing("slangs", NULL, &out.text));
  REFUSED(INVALID, "name is NULL", bdl_method_suggest(t.model, t.posterior, 0, NULL));
  REFUSED(INVALID, "model is NULL", bdl_method_suggest(NULL, t.posterior, 0, &out.text));
  REFUSED(INVALID, "posterior is NULL", bdl_method_suggest(t.model, NULL, 0, &out.text));
  REFUSED(BDL_ERROR_SHAPE, "posterior has 16 parameters, the model 17",
          bdl_method_suggest(t.model, small, 1, &out.text));
  REFUSED(INVALID, "name is NULL", bdl_method_prediction(NULL, t.model, &prediction));
  REFUSED(INVALID, "model is NULL", bdl_method_prediction("slang", NULL, &prediction));
  REFUSED(INVALID, "prediction is NULL", bdl_method_prediction("slang", t.model, NULL));
  bdl_posterior_free(single);
  bdl_posterior_free(small);
  trained_free(&t);
}

static bdl_status suggest(const bdl_model* m, int64_t examples, const char* method, const char* family) {
  return bdl_training_suggest(m, examples, 0, method, family, &out.text, &out.more, &out.count, &out.doc);
}
#define SUGGESTION(fragment, ...)                                                                         \
  refused_at(INVALID, fragment, suggest(__VA_ARGS__), "bdl_training_suggest(" #__VA_ARGS__ ")", __FILE__, \
             __LINE__)

static void test_suggest(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  SUGGESTION("model is NULL", NULL, 10, "auto", "auto");
  SUGGESTION("examples is 0", t.model, 0, "auto", "auto");
  SUGGESTION("method is NULL", t.model, 10, NULL, "auto");
  SUGGESTION("family is NULL", t.model, 10, "auto", NULL);
  SUGGESTION("method is \"adam\", expected one of", t.model, 10, "adam", "auto");
  SUGGESTION("family is \"any\", expected one of low_rank | diagonal", t.model, 10, "auto", "any");
  REFUSED(INVALID, "index is -1", bdl_default_describe(-1, &out.text, &out.number, &out.doc));
  trained_free(&t);
}

static void test_suggest_noise(void** state) {
  const bdl_matrix y = bdl_none();
  bdl_likelihood noise;
  double distance;
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  REFUSED(INVALID, "optimizer is NULL", bdl_noise_suggest(NULL, 0, 0, y, &noise, &distance));
  REFUSED(INVALID, "noise is NULL", bdl_noise_suggest(t.optimizer, 0, 0, y, NULL, &distance));
  REFUSED(INVALID, "prior_parameters is -1", bdl_noise_suggest(t.optimizer, 0, -1, y, &noise, &distance));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 columns",
          bdl_noise_suggest(t.optimizer, 0, 0, given(4, 3), &noise, &distance));
  REFUSED(BDL_ERROR_NOT_FINITE, "y is inf at row 3, column 1",
          bdl_noise_suggest(t.optimizer, 0, 0, spoiled(4, 2, 3, 1, (double)INFINITY), &noise, &distance));
  trained classes = untrained_create(BDL_F64, BDL_BERNOULLI, 2);
  REFUSED(BDL_ERROR_UNSUPPORTED, "targets have no noise",
          bdl_noise_suggest(classes.optimizer, 0, 0, y, &noise, &distance));
  trained_free(&classes);
  trained_free(&t);
}

static void test_null_optimizer(void** state) {
  const bdl_matrix x = given(4, 2), one = given(1, D);
  (void)state;
  watch(NULL);
  bdl_optimizer_free(NULL);
  bdl_optimizer_request_stop(NULL);
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_set_prior(NULL, one));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_get_prior(NULL, into(1, D)));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_initialize(NULL));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_step(NULL, x, x));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_step_rows(NULL, one));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_laplace(NULL, x, x));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_fit(NULL, x, x, 1, NULL, NULL));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_progress(NULL, &out.count, &out.offset, &out.number));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_running_elbo(NULL, &out.number, &out.other));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_elbo(NULL, x, x, 1, 1, &out.number, &out.other));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_start_noise(NULL, x));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_minibatch(NULL, &out.count));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_memory(NULL, 0, &out.count));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_diagnose(NULL, &out.number, &out.other, &out.text));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_diagnose_answers(NULL, x, x, &out.number, &out.text));
}

static void test_prior(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  REFUSES_PRECISIONS("precision", D, bdl_optimizer_set_prior(t.optimizer, wrong));
  REFUSED(BDL_ERROR_SHAPE, "precision has 2 rows", bdl_optimizer_set_prior(t.optimizer, given(2, D)));
  REFUSES_OUTPUTS("precision", 1, D, bdl_optimizer_get_prior(t.optimizer, wrong));
  trained_free(&t);
}

static void test_step(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_matrix good = given(4, 2);
  (void)state;
  watch(&t);
  REFUSES_INPUTS("x", 4, 2, bdl_optimizer_step(t.optimizer, wrong, good));
  REFUSES_INPUTS("y", 4, 2, bdl_optimizer_step(t.optimizer, good, wrong));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 4", bdl_optimizer_step(t.optimizer, good, given(3, 2)));
  REFUSED(INVALID, "x has 25 rows", bdl_optimizer_step(t.optimizer, given(25, 2), given(25, 2)));
  REFUSES_INPUTS("rows", 4, D, bdl_optimizer_step_rows(t.optimizer, wrong));
  OK(bdl_optimizer_step(t.optimizer, good, good));
  OK(bdl_optimizer_step_rows(t.optimizer, given(4, D)));
  trained_free(&t);
}

static void test_laplace(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_matrix good = given(40, 2); /* more rows than N = 24 */
  (void)state;
  watch(&t);
  REFUSES_INPUTS("x", 40, 2, bdl_optimizer_laplace(t.optimizer, wrong, good));
  REFUSES_INPUTS("y", 40, 2, bdl_optimizer_laplace(t.optimizer, good, wrong));
  REFUSED(BDL_ERROR_SHAPE, "y has 3 rows, expected 40",
          bdl_optimizer_laplace(t.optimizer, good, given(3, 2)));
  OK(bdl_optimizer_laplace(t.optimizer, good, good));
  trained_free(&t);
}

static void test_fit(void** state) {
  trained t = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  const bdl_matrix good = given(9, 2), x = x_of(&t.data), y = y_of(&t.data);
  (void)state;
  watch(&t);
  REFUSES_INPUTS("x", 9, 2, bdl_optimizer_fit(t.optimizer, wrong, good, 1, NULL, NULL));
  REFUSES_INPUTS("y", 9, 2, bdl_optimizer_fit(t.optimizer, good, wrong, 1, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "y has 9 rows, expected 24",
          bdl_optimizer_fit(t.optimizer, x, good, 1, NULL, NULL));
  REFUSED(INVALID, "epochs is -1", bdl_optimizer_fit(t.optimizer, x, y, -1, NULL, NULL));
  REFUSED(INVALID, "epochs is 9223372036854775807",
          bdl_optimizer_fit(t.optimizer, x, y, INT64_MAX, NULL, NULL));
  REFUSED(INVALID, "no interrupted fit", bdl_optimizer_fit(t.optimizer, x, y, 0, NULL, NULL));
  OK(bdl_optimizer_set_int(t.optimizer, "minibatch", 10));
  watch(&t);
  REFUSED(INVALID, "\"minibatch\" is 10, but there are only 9 examples",
          bdl_optimizer_fit(t.optimizer, good, good, 1, NULL, NULL));
  OK(bdl_optimizer_fit(t.optimizer, x, y, 1, NULL, NULL));
  trained_free(&t);
}

static void test_elbo(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const bdl_optimizer* o = t.optimizer;
  const bdl_matrix good = given(4, 2);
  (void)state;
  watch(&t);
  REFUSES_INPUTS("x", 4, 2, bdl_optimizer_elbo(o, wrong, good, 2, 1, &out.number, &out.other));
  REFUSES_INPUTS("y", 4, 2, bdl_optimizer_elbo(o, good, wrong, 2, 1, &out.number, &out.other));
  REFUSED(INVALID, "samples is -1", bdl_optimizer_elbo(o, good, good, -1, 1, &out.number, &out.other));
  REFUSED(BDL_ERROR_UNSUPPORTED, "quadrature needs",
          bdl_optimizer_elbo(o, good, good, 0, 1, &out.number, &out.other));
  OK(bdl_optimizer_elbo(o, good, good, 2, 1, NULL, NULL));
  trained_free(&t);
}

static void test_small_queries(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)state;
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "no step", bdl_optimizer_running_elbo(t.optimizer, &out.number, &out.other));
  REFUSED(INVALID, "bytes is NULL", bdl_optimizer_memory(t.optimizer, 0, NULL));
  REFUSED(INVALID, "minibatch is -1", bdl_optimizer_memory(t.optimizer, -1, &out.count));
  REFUSED(INVALID, "minibatch is 9223372036854775807",
          bdl_optimizer_memory(t.optimizer, INT64_MAX, &out.count));
  OK(bdl_optimizer_progress(t.optimizer, NULL, NULL, NULL));
  OK(bdl_optimizer_diagnose(t.optimizer, NULL, NULL, NULL));
  trained_free(&t);
}

static void test_without_model(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_posterior* q;
  bdl_optimizer* o;
  const bdl_matrix x = given(4, 2);
  (void)state;
  OK(bdl_posterior_copy(t.posterior, &q));
  OK(bdl_optimizer_create(NULL, q, "slang", 10, &o));
  watch(&t);
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_step(o, x, x));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_fit(o, x, x, 1, NULL, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_laplace(o, x, x));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model",
          bdl_optimizer_elbo(o, x, x, 1, 1, &out.number, &out.other));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_running_elbo(o, &out.number, &out.other));
  OK(bdl_optimizer_step_rows(o, given(4, D)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_running_elbo(o, &out.number, &out.other));
  bdl_optimizer_free(o);
  bdl_posterior_free(q);
  trained_free(&t);
}

/* A blank posterior stays blank, N(0, I), if the very first step fails. */
static void test_first_step(void** state) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_matrix huge = spoiled(4, 2, 0, 0, 1.7e308);
  (void)state;
  watch(&t);
  REFUSED(BDL_ERROR_DIVERGED, "", bdl_optimizer_step(t.optimizer, huge, given(4, 2)));
  REFUSED(BDL_ERROR_DIVERGED, "", bdl_optimizer_fit(t.optimizer, huge, given(4, 2), 1, NULL, NULL));
  REFUSED(BDL_ERROR_DIVERGED, "", bdl_optimizer_step_rows(t.optimizer, spoiled(4, D, 0, 0, 1e300)));
  trained_free(&t);
}

/* Neither does a later step that diverges change anything. */
static void test_diverging_steps(void** state) {
  const int64_t ranks[] = {0, 2, FULL};
  (void)state;
  for (int r = 0; r < 3; ++r) {
    trained t = trained_create(r == 0 ? BDL_F32 : BDL_F64, BDL_GAUSSIAN, ranks[r]);
    const double big = r == 0 ? 3e38 : 1.7e308;
    watch(&t);
    REFUSED(BDL_ERROR_DIVERGED, "", bdl_optimizer_step(t.optimizer, given(4, 2), spoiled(4, 2, 3, 1, big)));
    REFUSED(BDL_ERROR_DIVERGED, "", bdl_optimizer_step_rows(t.optimizer, spoiled(4, D, 3, 1, big)));
    OK(bdl_optimizer_step(t.optimizer, given(4, 2), given(4, 2)));
    trained_free(&t);
  }
}

int test_errors_optimizer(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),         cmocka_unit_test(test_suggest),
      cmocka_unit_test(test_suggest_noise),  cmocka_unit_test(test_null_optimizer),
      cmocka_unit_test(test_prior),          cmocka_unit_test(test_step),
      cmocka_unit_test(test_laplace),        cmocka_unit_test(test_fit),
      cmocka_unit_test(test_elbo),           cmocka_unit_test(test_small_queries),
      cmocka_unit_test(test_without_model),  cmocka_unit_test(test_first_step),
      cmocka_unit_test(test_diverging_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
