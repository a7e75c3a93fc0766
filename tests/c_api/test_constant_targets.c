/* A target that is a constant is predicted as it is, with next to no noise, in all units; one that turns out
   to be none gets a scale when it does. */
#include "c_api/c_api_test.h"

enum { EXAMPLES = 60, FEATURES = 2 };

typedef struct fitted {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} fitted;

static double features[EXAMPLES * FEATURES];

static bdl_matrix examples_of(int64_t first, int64_t rows) {
  return bdl_f64(features + first * FEATURES, rows, FEATURES);
}

static fitted create(bdl_dtype dtype, bdl_likelihood kind, int64_t targets, const char* method,
                     int has_hidden) {
  const int64_t outputs = kind == BDL_HETEROSCEDASTIC ? 2 * targets : targets,
                wide[] = {FEATURES, 50, outputs}, flat[] = {FEATURES, outputs};
  fitted f = {NULL, NULL, NULL};
  for (int i = 0; i < EXAMPLES * FEATURES; ++i) features[i] = sin(i * 1.3 + 0.7 * i * i);
  OK(bdl_model_create_mlp(dtype, has_hidden ? wide : flat, has_hidden ? 3 : 2, BDL_RELU, 1, kind, &f.model));
  if (strcmp(method, "exact-full"))
    OK(bdl_posterior_create_low_rank(dtype, bdl_model_parameters(f.model), has_hidden ? 5 : 1, &f.posterior));
  else
    OK(bdl_posterior_create_full(dtype, bdl_model_parameters(f.model), &f.posterior));
  OK(bdl_optimizer_create(f.model, f.posterior, method, EXAMPLES, &f.optimizer));
  return f;
}

static void destroy(fitted f) {
  bdl_optimizer_free(f.optimizer);
  bdl_posterior_free(f.posterior);
  bdl_model_free(f.model);
}

/* All targets of a column that is `c`, to a millionth of it. */
static void check_constant(const fitted* f, int64_t targets, int64_t column, double c) {
  double mean[2 * EXAMPLES], epistemic[2 * EXAMPLES], noise[2 * EXAMPLES];
  const double most = c == 0 ? 1e-9 : 1e-6 * fabs(c);
  OK(bdl_predict(f->model, f->posterior, examples_of(0, EXAMPLES), BDL_MONTE_CARLO, 100, 1,
                 bdl_f64_out(mean, EXAMPLES, targets), bdl_f64_out(epistemic, EXAMPLES, targets),
                 bdl_f64_out(noise, EXAMPLES, targets)));
  for (int64_t i = column; i < EXAMPLES * targets; i += targets) {
    assert_true(fabs(mean[i] - c) <= most);
    assert_true(sqrt(epistemic[i] + noise[i]) <= most && noise[i] > 0);
  }
}

static const double constants[] = {1e-6, 7.25, 1e6, -3, 0};

static void fits_constants(void** state) {
  const bdl_likelihood kinds[] = {BDL_GAUSSIAN, BDL_HETEROSCEDASTIC};
  const bdl_dtype types[] = {BDL_F64, BDL_F32};
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int t = 0; t < 2; ++t)
      for (int c = 0; c < 5; ++c) {
        double y[EXAMPLES];
        const fitted f = create(types[t], kinds[k], 1, "slang-ggn", 1);
        for (int i = 0; i < EXAMPLES; ++i) y[i] = constants[c];
        OK(bdl_model_standardize(f.model, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 1)));
        OK(bdl_optimizer_fit(f.optimizer, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 1), 30, NULL, NULL));
        check_constant(&f, 1, 0, constants[c]);
        destroy(f);
      }
}

/* Beside a column that varies, and after the way through a file. */
static void fits_one_constant_of_two(void** state) {
  (void)state;
  for (int c = 0; c < 5; ++c) {
    double y[2 * EXAMPLES], rmse = 0, mean[2 * EXAMPLES], again[2 * EXAMPLES];
    int64_t size = 0;
    fitted f = create(BDL_F64, BDL_GAUSSIAN, 2, "slang-ggn", 1), loaded = {NULL, NULL, NULL};
    for (int i = 0; i < EXAMPLES; ++i) {
      y[2 * i] = constants[c];
      y[2 * i + 1] = 5 + 2 * features[FEATURES * i];
    }
    OK(bdl_model_standardize(f.model, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 2)));
    OK(bdl_optimizer_fit(f.optimizer, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 2), 60, NULL, NULL));
    check_constant(&f, 2, 0, constants[c]);
    OK(bdl_save_bytes(f.model, f.posterior, f.optimizer, NULL, 0, &size));
    void* const bytes = malloc((size_t)size);
    OK(bdl_save_bytes(f.model, f.posterior, f.optimizer, bytes, size, &size));
    OK(bdl_load_bytes(bytes, size, NULL, &loaded.model, &loaded.posterior, &loaded.optimizer));
    free(bytes);
    check_constant(&loaded, 2, 0, constants[c]);
    OK(bdl_predict(f.model, f.posterior, examples_of(0, EXAMPLES), BDL_PLUG_IN, 1, 1,
                   bdl_f64_out(mean, EXAMPLES, 2), bdl_none_out(), bdl_none_out()));
    OK(bdl_predict(loaded.model, loaded.posterior, examples_of(0, EXAMPLES), BDL_PLUG_IN, 1, 1,
                   bdl_f64_out(again, EXAMPLES, 2), bdl_none_out(), bdl_none_out()));
    assert_memory_equal(mean, again, sizeof mean);
    for (int i = 0; i < EXAMPLES; ++i) rmse += pow(mean[2 * i + 1] - y[2 * i + 1], 2) / EXAMPLES;
    assert_true(sqrt(rmse) < 0.5);
    destroy(f);
    destroy(loaded);
  }
}

/* The scale is that of the first rows that vary, and rows after them are learned from as ever. */
static void learns_scales_of_streams(void** state) {
  const char* const methods[] = {"lo-fi", "slang-ggn"};
  (void)state;
  for (int m = 0; m < 2; ++m)
    for (int c = 0; c < 5; ++c) {
      double y[EXAMPLES], scale = 0, mean[EXAMPLES], error = 0, spread = 0;
      const double unit = constants[c] == 0 ? 1 : constants[c];
      const fitted f = create(BDL_F64, BDL_GAUSSIAN, 1, methods[m], 0);
      for (int i = 0; i < EXAMPLES; ++i)
        y[i] = constants[c] + (i < 20 ? 0 : unit * (1 + features[FEATURES * i]));
      OK(bdl_model_standardize(f.model, examples_of(0, 20), bdl_f64(y, 20, 1)));
      for (int pass = 0; pass < (m ? 200 : 1); ++pass)
        for (int first = 0; first < EXAMPLES; first += 20) {
          const bdl_matrix rows = bdl_f64(y + first, 20, 1);
          if (m)
            OK(bdl_optimizer_step(f.optimizer, examples_of(first, 20), rows));
          else
            OK(bdl_optimizer_observe(f.optimizer, examples_of(first, 20), rows, bdl_none_out()));
          OK(bdl_model_get_standardization(f.model, bdl_none_out(), bdl_none_out(), bdl_none_out(),
                                           bdl_f64_out(&scale, 1, 1)));
          if (pass == 0 && first == 0)
            assert_true(scale <= 1e-8 * fabs(unit));
          else
            assert_true(scale > 0.5 * fabs(unit) && scale < 3 * fabs(unit));
        }
      OK(bdl_predict(f.model, f.posterior, examples_of(0, EXAMPLES), BDL_PLUG_IN, 1, 1,
                     bdl_f64_out(mean, EXAMPLES, 1), bdl_none_out(), bdl_none_out()));
      for (int i = 20; i < EXAMPLES; ++i) {
        error += pow(mean[i] - y[i], 2);
        spread += pow(unit, 2);
      }
      if (!(error < 0.7 * spread))
        fail_msg("%s, %g: error %g of %g", methods[m], constants[c], error, spread);
      destroy(f);
    }
}

/* Fitted again to targets that vary, by the scale of the fit before. */
static void exact_fits_settle_too(void** state) {
  double y[EXAMPLES], mean[EXAMPLES];
  const fitted f = create(BDL_F64, BDL_GAUSSIAN, 1, "exact-full", 0);
  (void)state;
  for (int i = 0; i < EXAMPLES; ++i) y[i] = 4;
  OK(bdl_model_standardize(f.model, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 1)));
  OK(bdl_optimizer_fit(f.optimizer, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 1), 100, NULL, NULL));
  check_constant(&f, 1, 0, 4);
  for (int i = 0; i < EXAMPLES; ++i) y[i] = 4 + 3 * features[FEATURES * i];
  OK(bdl_optimizer_initialize(f.optimizer));
  OK(bdl_optimizer_fit(f.optimizer, examples_of(0, EXAMPLES), bdl_f64(y, EXAMPLES, 1), 100, NULL, NULL));
  OK(bdl_predict(f.model, f.posterior, examples_of(0, EXAMPLES), BDL_PLUG_IN, 1, 1,
                 bdl_f64_out(mean, EXAMPLES, 1), bdl_none_out(), bdl_none_out()));
  for (int i = 0; i < EXAMPLES; ++i)
    if (!(fabs(mean[i] - y[i]) < 0.2)) fail_msg("row %d is %g, predicted %g", i, y[i], mean[i]);
  destroy(f);
}

int test_constant_targets(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fits_constants), cmocka_unit_test(fits_one_constant_of_two),
      cmocka_unit_test(learns_scales_of_streams), cmocka_unit_test(exact_fits_settle_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
