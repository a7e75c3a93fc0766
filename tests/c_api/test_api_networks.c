/* Networks from descriptions: every method learns one with a sum of branches, mixed activations and a layer
 * without bias; checkpoints keep the text; layers that cannot do what a method needs refuse at once. */
#include "c_api/c_api_test.h"

static const char text[] =
    "input 2\ndense 6\ntanh\nresidual\n  dense 6 nobias\n  softplus\n  dense 6\nend\nsigmoid\ndense 1\n";

typedef struct learner {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
} learner;

static void close_all(learner* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->q);
  bdl_model_free(l->model);
}

static bdl_status create(const char* description, const char* method, const char* family, learner* l) {
  memset(l, 0, sizeof *l);
  OK(bdl_model_create_network(BDL_F64, description, BDL_GAUSSIAN, &l->model));
  const int64_t d = bdl_model_parameters(l->model);
  if (strncmp(family, "full", 4) == 0) /* or layerwise */
    OK(bdl_posterior_create_full(BDL_F64, d, &l->q));
  else if (strcmp(family, "dropout") == 0)
    OK(bdl_posterior_create_dropout(l->model, 0, 0.1, &l->q));
  else if (strncmp(family, "layerwise_low_rank_moment", 25) == 0)
    OK(bdl_posterior_create_layerwise_low_rank_moment(l->model, 2, &l->q));
  else if (strcmp(family, "low_rank_moment") == 0)
    OK(bdl_posterior_create_low_rank_moment(BDL_F64, d, 2, &l->q));
  else if (strcmp(family, "kronecker") == 0)
    OK(bdl_posterior_create_kronecker(l->model, &l->q));
  else
    OK(bdl_posterior_create_low_rank(BDL_F64, d, strcmp(family, "diagonal") == 0 ? 0 : 2, &l->q));
  return bdl_optimizer_create(l->model, l->q, method, ROWS, &l->optimizer);
}

static double error_of(const learner* l, double* x, const double* y) {
  double mean[ROWS], sum = 0;
  OK(bdl_predict(l->model, l->q, bdl_f64(x, ROWS, 2), BDL_PLUG_IN, 1, 1, bdl_f64_out(mean, ROWS, 1),
                 bdl_none_out(), bdl_none_out()));
  for (int i = 0; i < ROWS; ++i) sum += (y[i] - mean[i]) * (y[i] - mean[i]);
  return sqrt(sum / ROWS);
}

static void test_every_method_learns(void** state) {
  double x[ROWS * 2], y[ROWS];
  (void)state;
  for (int i = 0; i < ROWS; ++i) {
    x[2 * i] = sin(1.7 * i), x[2 * i + 1] = cos(2.3 * i);
    y[i] = x[2 * i] - 0.5 * x[2 * i + 1];
  }
  for (int64_t m = 0; bdl_method_name(m); ++m) {
    const char *name = bdl_method_name(m), *family = NULL;
    int32_t is_stream = 0, is_exact = 0;
    bdl_predict_method prediction;
    learner l;
    OK(bdl_method_describe(name, &family, &is_stream, &is_exact, &prediction, NULL, NULL));
    if (is_exact || strcmp(name, "slang-exact-hess") == 0) continue;
    OK(create(text, name, family, &l));
    if (is_stream) {
      OK(bdl_optimizer_observe(l.optimizer, bdl_f64(x, ROWS, 2), bdl_f64(y, ROWS, 1), bdl_none_out()));
    } else {
      OK(bdl_optimizer_fit(l.optimizer, bdl_f64(x, ROWS, 2), bdl_f64(y, ROWS, 1), 300, NULL, NULL));
      const double error = error_of(&l, x, y); /* of a constant: 0.79 */
      if (!(error < 0.77)) fail_msg("%s: RMSE %g", name, error);
    }
    close_all(&l);
  }
}

/* At creation, or when the option is set. */
static void test_refusals(void** state) {
  static const char noisy[] = "input 2; dense 6; tanh; dropout 0.1; dense 1";
  static const struct {
    const char *method, *family;
    bdl_status status;
  } cases[] = {{"slang", "any", BDL_OK},
               {"vogn", "diagonal", BDL_OK},
               {"map", "any", BDL_OK},
               {"bbb", "diagonal", BDL_OK},
               {"laplace", "any", BDL_OK},
               {"mc-dropout", "dropout", BDL_OK},
               {"von", "diagonal", BDL_ERROR_UNSUPPORTED},
               {"von-full", "full", BDL_ERROR_UNSUPPORTED},
               {"lo-fi", "any", BDL_ERROR_UNSUPPORTED},
               {"ekf", "full", BDL_ERROR_UNSUPPORTED},
               {"slang-lin-hess", "any", BDL_ERROR_UNSUPPORTED}};
  learner l;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const bdl_status status = create(noisy, cases[i].method, cases[i].family, &l);
    if (status != cases[i].status) fail_msg("%s gave %s", cases[i].method, bdl_status_name(status));
    if (status != BDL_OK) assert_non_null(strstr(bdl_last_error(), "\"dropout 0.1\" (line 4)"));
    if (status != BDL_OK) assert_null(l.optimizer);
    close_all(&l);
  }
  OK(create(noisy, "slang", "any", &l));
  assert_int_equal(bdl_optimizer_set_choice(l.optimizer, "curvature", "lin-hess"), BDL_ERROR_UNSUPPORTED);
  close_all(&l);
}

static void test_descriptions(void** state) {
  const int64_t sizes[] = {2, 3, 1};
  const char* description = NULL;
  learner l;
  bdl_model *model = NULL, *mlp = NULL;
  char bytes[4096];
  int64_t size = 0;
  (void)state;
  OK(create(text, "slang", "any", &l));
  OK(bdl_model_description(l.model, &description));
  assert_string_equal(description, text);
  assert_int_equal(bdl_model_activation(l.model), 0);
  OK(bdl_save_bytes(l.model, NULL, NULL, bytes, sizeof bytes, &size));
  OK(bdl_load_bytes(bytes, size, NULL, &model, NULL, NULL));
  OK(bdl_model_description(model, &description));
  assert_string_equal(description, text);
  OK(bdl_model_create_mlp(BDL_F32, sizes, 3, BDL_GELU, 1, BDL_GAUSSIAN, &mlp));
  OK(bdl_model_description(mlp, &description));
  assert_string_equal(description, "input 2\ndense 3\ngelu\ndense 1\n");
  assert_int_equal(bdl_model_activation(mlp), BDL_GELU);
  bdl_model_free(mlp);
  bdl_model_free(model);
  model = NULL;
  assert_int_equal(bdl_model_create_network(BDL_F64, NULL, BDL_GAUSSIAN, &model), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_create_network(BDL_F64, "input 2; dense 1", BDL_CATEGORICAL, &model),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_create_network(BDL_F64, "input 2; dense 0", BDL_GAUSSIAN, &model),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(bdl_last_error(), "line 2 of the description: dense 0: OUTPUTS is \"0\""));
  assert_null(model);
  assert_int_equal(bdl_model_description(NULL, &description), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_description(l.model, NULL), BDL_ERROR_INVALID_ARGUMENT);
  close_all(&l);
}

int test_api_networks(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_method_learns),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_descriptions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
