/* Calls that learning by gradients through noise refuses, each with its message and without any change. */
#include "refused.h"

enum { RANK = 2 };

static trained untrained_noisy(const char* method) {
  trained t;
  memset(&t, 0, sizeof t);
  t.data = data_for(BDL_GAUSSIAN);
  t.outputs = outputs_for(BDL_GAUSSIAN);
  const int64_t sizes[] = {INPUTS, 3, t.outputs};
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &t.model));
  t.parameters = bdl_model_parameters(t.model);
  OK(bdl_posterior_create_layerwise_low_rank_moment(t.model, RANK, &t.posterior));
  OK(bdl_optimizer_create(t.model, t.posterior, method, ROWS, &t.optimizer));
  return t;
}

static trained trained_noisy(const char* method) {
  const trained t = untrained_noisy(method);
  OK(bdl_optimizer_set_int(t.optimizer, "minibatch", 8));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 2, NULL, NULL));
  return t;
}

#define UNSUPPORTED BDL_ERROR_UNSUPPORTED

static void test_streams_and_rows(void** state) {
  trained t = trained_noisy("elrg");
  const char* const message =
      "the posterior is of family \"layerwise_low_rank_moment\", but such a posterior is learned from a data "
      "set";
  (void)state;
  watch(&t);
  REFUSED(UNSUPPORTED, message,
          bdl_optimizer_observe(t.optimizer, bdl_f64(t.data.x, 1, INPUTS), bdl_f64(t.data.y, 1, t.outputs),
                                bdl_none_out()));
  REFUSED(UNSUPPORTED, message, bdl_optimizer_step_rows(t.optimizer, given(3, t.parameters)));
  trained_free(&t);
}

static void test_laplace(void** state) {
  trained t = trained_noisy("elrg-d");
  const char* const message =
      "Laplace's approximation is for low-rank, diagonal (rank 0), full, layerwise-full and "
      "Kronecker-factored "
      "posteriors";
  (void)state;
  watch(&t);
  REFUSED(UNSUPPORTED, message, bdl_optimizer_laplace(t.optimizer, x_of(&t.data), y_of(&t.data)));
  REFUSED(UNSUPPORTED, message, bdl_optimizer_set_int(t.optimizer, "laplace", 1));
  trained_free(&t);
}

/* Diagonal priors are welcome. */
static void test_posteriors_as_priors(void** state) {
  trained t = untrained_noisy("elrg");
  bdl_posterior *low_rank, *moment, *diagonal;
  const char* const message =
      "low-rank-moment posteriors have diagonal priors: the posterior given as prior is ";
  char text[160];
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, t.parameters, 2, &low_rank));
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, t.parameters, 2, &moment));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, t.parameters, &diagonal));
  const bdl_matrix row = given(1, t.parameters), columns = given(t.parameters, 2);
  OK(bdl_posterior_set_low_rank(low_rank, row, columns, row));
  OK(bdl_posterior_set_low_rank_moment(moment, row, columns, row));
  OK(bdl_posterior_set_diagonal_moment(diagonal, row, row));
  watch(&t);
  for (int number = 0; number < 2; ++number) {
    (void)snprintf(text, sizeof text, "%s%s", message, number == 0 ? "low_rank" : "low_rank_moment");
    REFUSED(UNSUPPORTED, text,
            bdl_optimizer_set_prior_posterior(t.optimizer, number == 0 ? low_rank : moment));
  }
  OK(bdl_optimizer_set_prior_posterior(t.optimizer, diagonal));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, NULL, NULL));
  bdl_posterior_free(low_rank);
  bdl_posterior_free(moment);
  bdl_posterior_free(diagonal);
  trained_free(&t);
}

static int32_t some_draws(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                          const bdl_posterior* q, bdl_matrix_out draws) {
  (void)user_data, (void)kind, (void)step, (void)iteration, (void)q, (void)draws;
  fail_msg("the callback was called");
  return 1;
}

static void test_draws(void** state) {
  trained t = trained_noisy("mf-vi");
  const char* const message =
      "a low-rank-moment posterior draws its noise itself: the draws callback is for others";
  (void)state;
  OK(bdl_optimizer_set_draws(t.optimizer, some_draws, NULL, NULL));
  watch(&t);
  REFUSED(UNSUPPORTED, message, bdl_optimizer_step(t.optimizer, x_of(&t.data), y_of(&t.data)));
  REFUSED(UNSUPPORTED, message, bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, NULL, NULL));
  OK(bdl_optimizer_set_draws(t.optimizer, NULL, NULL, NULL));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 1, NULL, NULL));
  trained_free(&t);
}

static int32_t outputs_of(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs) {
  (void)user_data, (void)parameters, (void)inputs, (void)outputs;
  fail_msg("the callback was called");
  return 1;
}

static int32_t gradients_of(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                            bdl_matrix output_gradients, bdl_matrix_out rows) {
  (void)user_data, (void)parameters, (void)inputs, (void)output_gradients, (void)rows;
  fail_msg("the callback was called");
  return 1;
}

static void test_user_models(void** state) {
  bdl_model* model;
  bdl_posterior* q;
  (void)state;
  OK(create_user(BDL_F64, INPUTS, 1, 3, BDL_GAUSSIAN, outputs_of, gradients_of, NULL, NULL, &model));
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, 3, 1, &q));
  watch(NULL);
  REFUSED(UNSUPPORTED, "its noise is that of layers, and a custom model has no layers",
          bdl_optimizer_create(model, q, "elrg", ROWS, &out.optimizer));
  assert_true(bdl_posterior_is_blank(q));
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void test_options(void** state) {
  trained t = trained_noisy("elrg");
  const char* const pairs = "expected an even number: option \"antithetic\" is 1";
  (void)state;
  watch(&t);
  REFUSED(INVALID, pairs, bdl_optimizer_set_int(t.optimizer, "antithetic", 1));
  OK(bdl_optimizer_set_int(t.optimizer, "samples", 4));
  OK(bdl_optimizer_set_int(t.optimizer, "antithetic", 1));
  watch(&t);
  REFUSED(INVALID, pairs, bdl_optimizer_set_int(t.optimizer, "samples", 3));
  REFUSED(INVALID, "noise_estimator", bdl_optimizer_set_choice(t.optimizer, "noise_estimator", "separate"));
  REFUSED(INVALID, "diagonal_part", bdl_optimizer_set_choice(t.optimizer, "diagonal_part", "none"));
  REFUSED(INVALID, "kl_weight", bdl_optimizer_set_double(t.optimizer, "kl_weight", -1));
  REFUSED(INVALID, "kl_warmup", bdl_optimizer_set_double(t.optimizer, "kl_warmup", 1.5));
  REFUSED(INVALID, "tied_rank", bdl_optimizer_set_int(t.optimizer, "tied_rank", 0));
  REFUSED(UNSUPPORTED,
          "it has steps by rule \"bbb\" with curvature \"mc-reparam\", and by rule \"map\" with any other",
          bdl_optimizer_set_choice(t.optimizer, "rule", "blr"));
  REFUSED(UNSUPPORTED, "by rule \"map\" with any other curvature",
          bdl_optimizer_set_choice(t.optimizer, "rule", "map"));
  trained_free(&t);
}

/* Natural gradients have no weight for the divergence. */
static void test_tempering_of_others(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 1);
  const char* const message = "options \"kl_weight\" and \"kl_warmup\" are for rule \"map\"";
  (void)state;
  watch(&t);
  REFUSED(UNSUPPORTED, message, bdl_optimizer_set_double(t.optimizer, "kl_weight", 0.5));
  REFUSED(UNSUPPORTED, message, bdl_optimizer_set_double(t.optimizer, "kl_warmup", 0.5));
  trained_free(&t);
}

int test_errors_noise(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_streams_and_rows),     cmocka_unit_test(test_laplace),
      cmocka_unit_test(test_posteriors_as_priors), cmocka_unit_test(test_draws),
      cmocka_unit_test(test_user_models),          cmocka_unit_test(test_options),
      cmocka_unit_test(test_tempering_of_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
