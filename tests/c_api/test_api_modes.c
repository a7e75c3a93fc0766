/* Modes, of which training learns the mean only: nothing tells the numbers of the start as a covariance. */
#include "c_api_test.h"

enum { EPOCHS = 60 };

/* A network that a method has trained. */
static trained mode_create(const char* method, int64_t rank) {
  trained t = untrained_create(BDL_F64, BDL_GAUSSIAN, rank);
  bdl_optimizer_free(t.optimizer);
  OK(bdl_optimizer_create(t.model, t.posterior, method, ROWS, &t.optimizer));
  assert_true(bdl_posterior_has_covariance(t.posterior)); /* N(0, I) */
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), EPOCHS, NULL, NULL));
  return t;
}

#define NONE(call)                                                  \
  do {                                                              \
    assert_int_equal((call), BDL_ERROR_UNSUPPORTED);                \
    assert_non_null(strstr(bdl_last_error(), "has no covariance")); \
  } while (0)

static void assert_has_none(const bdl_posterior* q, int64_t parameters) {
  double many[2 * MOST_PARAMETERS] = {0}, ones[MOST_PARAMETERS], number;
  const int64_t first[] = {0};
  const bdl_matrix row = bdl_f64(ones, 1, parameters);
  const bdl_matrix_out out = bdl_f64_out(many, 1, parameters);
  for (int i = 0; i < MOST_PARAMETERS; ++i) ones[i] = 1;
  assert_false(bdl_posterior_has_covariance(q));
  NONE(bdl_posterior_precision_diagonal(q, out));
  NONE(bdl_posterior_marginal_variance(q, out));
  NONE(bdl_posterior_covariance(q, first, 1, first, 1, bdl_f64_out(many, 1, 1)));
  NONE(bdl_posterior_solve(q, row, out));
  NONE(bdl_posterior_log_density(q, row, bdl_f64_out(many, 1, 1)));
  NONE(bdl_posterior_log_det_covariance(q, &number));
  NONE(bdl_posterior_entropy(q, &number));
  NONE(bdl_posterior_kl_prior(q, row, &number));
  NONE(bdl_posterior_kl(q, q, &number));
  OK(bdl_posterior_mean(q, out));
  OK(bdl_posterior_sample(q, 1, 0, out));
}

static void test_modes_have_no_covariance(void** state) {
  const char* methods[] = {"map", "sgd"};
  const int64_t ranks[] = {0, 2, FULL};
  (void)state;
  for (int i = 0; i < 2; ++i)
    for (int r = 0; r < 3; ++r) {
      bdl_posterior* copy;
      trained t = mode_create(methods[i], ranks[r]);
      assert_has_none(t.posterior, t.parameters);
      OK(bdl_posterior_copy(t.posterior, &copy));
      assert_has_none(copy, t.parameters);
      assert_int_equal(bdl_optimizer_set_prior_posterior(t.optimizer, copy), BDL_ERROR_UNSUPPORTED);
      bdl_posterior_free(copy);
      trained_free(&t);
    }
  assert_false(bdl_posterior_has_covariance(NULL));
}

/* Predictions of a mode are those of the mean, with the noise, whatever the method of prediction. */
static void test_predictions_of_a_mode_have_the_noise_only(void** state) {
  const bdl_predict_method methods[] = {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED};
  trained t = mode_create("map", 2);
  double mean[2 * ROWS], epistemic[2 * ROWS], noise[2 * ROWS], covariance[4 * ROWS], low[2 * ROWS],
      high[2 * ROWS];
  const bdl_matrix_out means = bdl_f64_out(mean, ROWS, 2);
  (void)state;
  for (int m = 0; m < 3; ++m) {
    OK(bdl_predict(t.model, t.posterior, x_of(&t.data), methods[m], 20, 1, means,
                   bdl_f64_out(epistemic, ROWS, 2), bdl_f64_out(noise, ROWS, 2)));
    OK(bdl_predict_interval(t.model, t.posterior, x_of(&t.data), methods[m], 20, 1, 0.95,
                            bdl_f64_out(low, ROWS, 2), bdl_f64_out(high, ROWS, 2)));
    for (int i = 0; i < 2 * ROWS; ++i) {
      const double half = (high[i] - low[i]) / 2;
      assert_true(epistemic[i] == 0 && noise[i] > 0);
      assert_true(fabs(half - 1.959964 * sqrt(noise[i])) < 1e-4 * half);
    }
  }
  NONE(bdl_predict_output_distribution(t.model, t.posterior, x_of(&t.data), means,
                                       bdl_f64_out(covariance, ROWS, 4)));
  OK(bdl_predict_output_distribution(t.model, t.posterior, x_of(&t.data), means, bdl_none_out()));
  trained_free(&t);
}

static double first_variance(const bdl_posterior* q, int64_t parameters) {
  double variance[MOST_PARAMETERS];
  assert_true(bdl_posterior_has_covariance(q));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, parameters)));
  return variance[0];
}

/* What writes a covariance gives a mode one. */
static void test_a_mode_gets_a_covariance(void** state) {
  trained t = mode_create("map", 0), other = mode_create("laplace", 0), slang = mode_create("map", 0);
  double mean[MOST_PARAMETERS], ones[MOST_PARAMETERS];
  const char *const name = "mean", *const diagonal = "diagonal";
  const bdl_matrix row = bdl_f64(ones, 1, t.parameters);
  (void)state;
  for (int i = 0; i < MOST_PARAMETERS; ++i) ones[i] = 1;
  assert_true(first_variance(other.posterior, t.parameters) > 1e-8);
  OK(bdl_optimizer_laplace(t.optimizer, x_of(&t.data), y_of(&t.data)));
  assert_true(first_variance(t.posterior, t.parameters) > 1e-8);

  bdl_optimizer_free(slang.optimizer);
  OK(bdl_posterior_set_tensors(slang.posterior, &name, &row, 1)); /* still a mode, at another place */
  assert_has_none(slang.posterior, t.parameters);
  OK(bdl_optimizer_create(slang.model, slang.posterior, "slang-ggn", ROWS, &slang.optimizer));
  OK(bdl_optimizer_step(slang.optimizer, x_of(&t.data), y_of(&t.data)));
  (void)first_variance(slang.posterior, t.parameters);

  trained_free(&other);
  other = mode_create("map", 0);
  OK(bdl_posterior_set_tensors(other.posterior, &diagonal, &row, 1));
  assert_true(first_variance(other.posterior, t.parameters) == 1);
  /* What the caller has set stays: training by map moves the mean alone. */
  OK(bdl_optimizer_fit(other.optimizer, x_of(&t.data), y_of(&t.data), 1, NULL, NULL));
  assert_true(first_variance(other.posterior, t.parameters) == 1);
  OK(bdl_posterior_mean(other.posterior, bdl_f64_out(mean, 1, t.parameters)));
  trained_free(&t);
  trained_free(&other);
  trained_free(&slang);
}

static char* saved(const trained* t, size_t* size) {
  int64_t bytes = 0;
  OK(bdl_save_bytes(NULL, NULL, t->optimizer, NULL, 0, &bytes));
  char* const file = malloc((size_t)bytes);
  OK(bdl_save_bytes(NULL, NULL, t->optimizer, file, bytes, &bytes));
  *size = (size_t)bytes;
  return file;
}

static int32_t loaded_has_covariance(const char* file, size_t size) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  OK(bdl_load_bytes(file, (int64_t)size, NULL, &model, &q, &optimizer));
  const int32_t has = bdl_posterior_has_covariance(q);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return has;
}

/* Files from before the field are recognised by the precision that is the start's. */
static void test_checkpoints_know_modes(void** state) {
  const char key[] = "posterior.has_covariance";
  const char* methods[] = {"map", "laplace"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    size_t size, found = 0;
    trained t = mode_create(methods[i], 2);
    char* const file = saved(&t, &size);
    assert_int_equal(loaded_has_covariance(file, size), i);
    drop_checksums(file, size);
    for (size_t b = 0; b + sizeof key < size; ++b)
      if (!memcmp(file + b, key, sizeof key - 1)) file[b] = 'q', ++found;
    assert_int_equal(found, 1);
    assert_int_equal(loaded_has_covariance(file, size), i);
    free(file);
    trained_free(&t);
  }
}

int test_api_modes(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes_have_no_covariance),
                                     cmocka_unit_test(test_predictions_of_a_mode_have_the_noise_only),
                                     cmocka_unit_test(test_a_mode_gets_a_covariance),
                                     cmocka_unit_test(test_checkpoints_know_modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
