/* Defaults on small data. Linear regressions: the empirical Fisher of an optimistic start would hold the mean
   back. Five rows and fewer: nothing absurd, near the data or far from them. */
#include "c_api/c_api_test.h"

enum { MOST_ROWS = 200, MOST_INPUTS = 5 };

/* Roughly normal: a sum of twelve uniforms. */
static double noise(uint32_t* state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += (double)((*state = *state * 1664525U + 1013904223U) >> 8) / 16777216.0;
  return sum;
}

static void check_regression(const char* method, int64_t rows, int64_t inputs) {
  double x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS], mean[MOST_INPUTS + 1], precision = 0;
  uint32_t state = (uint32_t)(7 * rows + inputs);
  const int64_t sizes[] = {inputs, 1};
  bdl_model* model = NULL;
  bdl_posterior* q = NULL;
  bdl_optimizer* optimizer = NULL;
  for (int64_t i = 0; i < rows; ++i) {
    y[i] = 0.1 * noise(&state);
    for (int64_t j = 0; j < inputs; ++j) y[i] += x[i * inputs + j] = noise(&state);
  }
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, inputs + 1, 1, &q));
  OK(bdl_optimizer_create(model, q, method, rows, &optimizer));
  OK(bdl_optimizer_fit(optimizer, bdl_f64(x, rows, inputs), bdl_f64(y, rows, 1), 120, NULL, NULL));
  OK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, inputs + 1)));
  OK(bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  for (int64_t j = 0; j < inputs; ++j) assert_true(fabs(mean[j] - 1) < 0.15);
  assert_true(1 / sqrt(precision) > 0.05 && 1 / sqrt(precision) < 0.7);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void test_small_regressions(void** unused) {
  const char* const methods[] = {"slang", "slang-ggn"};
  (void)unused;
  for (int m = 0; m < 2; ++m)
    for (int64_t rows = 50; rows <= MOST_ROWS; rows *= 2)
      for (int64_t inputs = 1; inputs <= MOST_INPUTS; inputs += 4) check_regression(methods[m], rows, inputs);
}

enum { NEW_ROWS = 100, SMALL_INPUTS = 4 };

/* The largest predictions of each kind, over NEW_ROWS inputs. */
typedef struct largest {
  double mean, epistemic, noise, reach;
} largest;

static double larger(double a, double b) {
  assert_true(isfinite(b)); /* nothing else, of what is limited */
  return fmax(a, fabs(b));
}

static largest predictions(const bdl_model* m, const bdl_posterior* q, const double* x, bdl_predict_method by,
                           int has_variance) {
  double mean[NEW_ROWS], epistemic[NEW_ROWS], noise[NEW_ROWS], low[NEW_ROWS], high[NEW_ROWS];
  const bdl_matrix inputs = bdl_f64(x, NEW_ROWS, SMALL_INPUTS);
  largest of = {0, 0, 0, 0};
  OK(bdl_predict(m, q, inputs, by, 200, 1, bdl_f64_out(mean, NEW_ROWS, 1),
                 bdl_f64_out(epistemic, NEW_ROWS, 1),
                 has_variance ? bdl_f64_out(noise, NEW_ROWS, 1) : bdl_none_out()));
  OK(bdl_predict_interval(m, q, inputs, by, 200, 1, 0.95, bdl_f64_out(low, NEW_ROWS, 1),
                          bdl_f64_out(high, NEW_ROWS, 1)));
  for (int i = 0; i < NEW_ROWS; ++i) {
    of.mean = larger(of.mean, mean[i]);
    of.epistemic = larger(of.epistemic, sqrt(epistemic[i]));
    if (has_variance) of.noise = larger(of.noise, sqrt(noise[i]));
    of.reach = larger(larger(of.reach, low[i]), high[i]);
  }
  return of;
}

/* Targets 2, 1, 3, 2, 0; n = 1, 2, 3 or 5 of them. */
typedef struct small_case {
  bdl_likelihood kind;
  int has_hidden;
  int64_t n;
  const char* method;
} small_case;

static void check_small(const small_case* c, int64_t* checked) {
  const double y[] = {2, 1, 3, 2, 0};
  const int64_t outputs = c->kind == BDL_HETEROSCEDASTIC ? 2 : 1, wide[] = {SMALL_INPUTS, 50, outputs},
                flat[] = {SMALL_INPUTS, outputs};
  const bdl_predict_method ways[] = {BDL_MONTE_CARLO, BDL_LINEARIZED, BDL_PLUG_IN};
  const int is_count = c->kind == BDL_POISSON;
  double x[5 * SMALL_INPUTS], new_x[NEW_ROWS * SMALL_INPUTS], scale = 1, degrees = 4;
  bdl_model* m = NULL;
  bdl_posterior* q = NULL;
  bdl_optimizer* o = NULL;
  for (int i = 0; i < 5 * SMALL_INPUTS; ++i) x[i] = sin(i * 1.7 + 1);
  OK(bdl_model_create_mlp(BDL_F64, c->has_hidden ? wide : flat, c->has_hidden ? 3 : 2, BDL_RELU, 1, c->kind,
                          &m));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(m), c->has_hidden ? 5 : 1, &q));
  OK(bdl_optimizer_create(m, q, c->method, c->n, &o));
  OK(bdl_model_standardize(m, bdl_f64(x, c->n, SMALL_INPUTS), is_count ? bdl_none() : bdl_f64(y, c->n, 1)));
  OK(bdl_optimizer_fit(o, bdl_f64(x, c->n, SMALL_INPUTS), bdl_f64(y, c->n, 1), 120, NULL, NULL));
  if (!is_count)
    OK(bdl_model_get_standardization(m, bdl_none_out(), bdl_none_out(), bdl_none_out(),
                                     bdl_f64_out(&scale, 1, 1)));
  if (c->kind == BDL_STUDENT_T) OK(bdl_model_get_degrees_of_freedom(m, &degrees));
  for (int far = 0; far < 2; ++far)
    for (int w = 0; w < 3; ++w) {
      if (is_count && !c->has_hidden) continue; /* log-linear by definition, however far */
      for (int i = 0; i < NEW_ROWS * SMALL_INPUTS; ++i) new_x[i] = (far ? 150 : 1.5) * sin(i * 0.9);
      const largest of = predictions(m, q, new_x, ways[w], degrees > 2);
      const double most = is_count ? 10 * (1 + 3) * exp(1) : 1e3 * (far ? 100 : 1);
      if (of.mean > most || of.epistemic > most ||
          of.noise > (is_count ? most : 10 * exp(0.5) * scale * 1.01))
        fail_msg("likelihood %d, hidden %d, n %d, %s, far %d, method %d: mean %g, epistemic %g, noise %g",
                 (int)c->kind, c->has_hidden, (int)c->n, c->method, far, (int)ways[w], of.mean, of.epistemic,
                 of.noise);
      assert_true(of.reach < 10 * most);
      ++*checked;
    }
  bdl_optimizer_free(o);
  bdl_posterior_free(q);
  bdl_model_free(m);
}

static void test_nothing_absurd(void** unused) {
  const bdl_likelihood kinds[] = {BDL_GAUSSIAN, BDL_HETEROSCEDASTIC, BDL_STUDENT_T, BDL_POISSON};
  const char* const methods[] = {"slang-ggn", "slang"};
  const int64_t sizes[] = {1, 2, 3, 5};
  int64_t checked = 0;
  (void)unused;
  for (int k = 0; k < 4; ++k)
    for (int hidden = 0; hidden < 2; ++hidden)
      for (int s = 0; s < 4; ++s)
        for (int m = 0; m < 2; ++m) {
          const small_case c = {kinds[k], hidden, sizes[s], methods[m]};
          check_small(&c, &checked);
        }
  assert_int_equal(checked, (4 * 2 - 1) * 4 * 2 * 6);
}

int test_small_data(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_regressions),
                                     cmocka_unit_test(test_nothing_absurd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
