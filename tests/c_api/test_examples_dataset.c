/* Every function of dataset.h and callback.h once, the way a newcomer would call it. test_examples.c has the
 * rest. */
#include <unistd.h>

#include "c_api_test.h"

enum { N = 200 };

/* y = 3 x - 1 + noise */
static double x[N], y[N];

static int make_data(void** state) {
  (void)state;
  for (int i = 0; i < N; ++i) {
    x[i] = 10 + sin(37.0 * i);
    y[i] = 3 * x[i] - 1 + 0.1 * cos(91.0 * i);
  }
  return 0;
}

/* A linear model and its optimizer. */
typedef struct linear {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} linear;

static linear make_linear(int64_t data_size) {
  const int64_t sizes[] = {1, 1};
  linear l;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &l.model));
  OK(bdl_posterior_create_full(BDL_F64, bdl_model_parameters(l.model), &l.posterior));
  OK(bdl_optimizer_create(l.model, l.posterior, "slang-exact-hess", data_size, &l.optimizer));
  return l;
}

static void free_linear(linear* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->posterior);
  bdl_model_free(l->model);
}

/* Predictions at new inputs: about 3 x - 1. */
static void assert_learned(const linear* l) {
  const double new_x[] = {9.5, 10.5};
  double mean[2];
  OK(bdl_predict(l->model, l->posterior, bdl_f64(new_x, 2, 1), BDL_LINEARIZED, 0, 1, bdl_f64_out(mean, 2, 1),
                 bdl_none_out(), bdl_none_out()));
  assert_true(fabs(mean[0] - 27.5) < 0.1 && fabs(mean[1] - 30.5) < 0.1);
}

static void example_arrays(void** state) {
  const int64_t rows[] = {7, 0};
  double x_read[2], y_read[2], smallest, largest, log_likelihood, kl;
  linear l = make_linear(N);
  bdl_dataset* data;
  (void)state;
  OK(bdl_dataset_from_arrays(bdl_f64(x, N, 1), bdl_f64(y, N, 1),
                             &data)); /* x and y must stay where they are */
  assert_int_equal(bdl_dataset_rows(data), N);
  assert_int_equal(bdl_dataset_inputs(data), 1);
  assert_int_equal(bdl_dataset_targets(data), 1);
  OK(bdl_dataset_read(data, rows, 2, bdl_f64_out(x_read, 2, 1), bdl_f64_out(y_read, 2, 1)));
  assert_true(x_read[0] == x[7] && y_read[1] == y[0]);

  OK(bdl_dataset_target_range(data, bdl_f64_out(&smallest, 1, 1), bdl_f64_out(&largest, 1, 1)));
  assert_true(smallest <= y[0] && y[0] <= largest && smallest < largest);

  OK(bdl_model_standardize_dataset(l.model, data));
  OK(bdl_optimizer_start_noise_dataset(l.optimizer, data)); /* of each target its own */
  OK(bdl_optimizer_fit_dataset(l.optimizer, data, 200, NULL, NULL));
  assert_learned(&l);
  OK(bdl_optimizer_elbo_dataset(l.optimizer, data, 0, 1, &log_likelihood, &kl));
  assert_true(log_likelihood > 0 && kl > 0); /* the noise is small */
  OK(bdl_optimizer_laplace_dataset(l.optimizer, data));
  assert_learned(&l);
  bdl_dataset_free(data);
  free_linear(&l);
}

/* A billion rows, each computed from its number. user_data: the number of reads that still succeed. */
static int32_t compute_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x_out,
                            bdl_matrix_out y_out) {
  double *to_x = x_out.data, *to_y = y_out.data;
  if (--*(int*)user_data < 0) {
    bdl_set_callback_message("nobody answers");
    return 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double value = 10 + sin(37.0 * (double)rows[i]);
    if (to_x) to_x[i] = value;
    if (to_y) to_y[i] = 3 * value - 1 + 0.1 * cos(91.0 * (double)rows[i]);
  }
  return 0;
}

static int32_t stop_at_1000(void* user_data, const bdl_optimizer* optimizer) {
  int64_t step;
  (void)user_data;
  OK(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  return step >= 1000;
}

static void example_callback(void** state) {
  const int64_t rows = 1000000000;
  const double input_mean = 10, target_mean = 29, target_scale = 2.1, noise = 100;
  int reads = 1000;
  linear l = make_linear(rows);
  bdl_dataset* data;
  (void)state;
  OK(bdl_dataset_from_callback(rows, 1, 1, compute_rows, &reads, NULL, &data));
  OK(bdl_dataset_set_block(data, 1000000, 4)); /* each minibatch from 4 of the 1000 blocks */
  /* Sets the moments and the noise's start, which would else take passes over a billion rows. */
  OK(bdl_model_set_standardization(l.model, bdl_f64(&input_mean, 1, 1), bdl_none(),
                                   bdl_f64(&target_mean, 1, 1), bdl_f64(&target_scale, 1, 1)));
  OK(bdl_model_set_noise_precision(l.model, bdl_f64(&noise, 1, 1)));
  OK(bdl_optimizer_set_int(l.optimizer, "progress_every", 1));
  assert_int_equal(bdl_optimizer_fit_dataset(l.optimizer, data, 1, stop_at_1000, NULL), BDL_STOPPED);
  assert_learned(&l);
  assert_int_equal(bdl_optimizer_fit_dataset(l.optimizer, data, 0, NULL, NULL), BDL_ERROR_CALLBACK);
  assert_non_null(strstr(bdl_last_error(), "nobody answers"));
  bdl_dataset_free(data);
  free_linear(&l);
}

/* As numpy.save() writes doubles of one column. */
static void save_npy(const char* path, const double* values) {
  char head[129];
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  (void)snprintf(head, sizeof head, "%-117s\n",
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (200, 1), }");
  assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
  assert_int_equal(fwrite(head, 1, 118, file), 118);
  assert_int_equal(fwrite(values, sizeof *values, N, file), N);
  assert_int_equal(fclose(file), 0);
}

static void example_npy(void** state) {
  char x_path[60], y_path[60];
  linear l = make_linear(N);
  bdl_dataset* data;
  (void)state;
  (void)snprintf(x_path, sizeof x_path, "/tmp/bdl-x-%d.npy", (int)getpid());
  (void)snprintf(y_path, sizeof y_path, "/tmp/bdl-y-%d.npy", (int)getpid());
  save_npy(x_path, x);
  save_npy(y_path, y);
  OK(bdl_dataset_from_npy(x_path, y_path, &data));
  OK(bdl_model_standardize_dataset(l.model, data));
  OK(bdl_optimizer_fit_dataset(l.optimizer, data, 200, NULL, NULL));
  assert_learned(&l);
  bdl_dataset_free(data);
  free_linear(&l);
  assert_int_equal(unlink(x_path) + unlink(y_path), 0);
}

static void example_safetensors(void** state) {
  const char header[] =
      "{\"x\":{\"dtype\":\"F64\",\"shape\":[200,1],\"data_offsets\":[0,1600]},"
      "\"y\":{\"dtype\":\"F64\",\"shape\":[200],\"data_offsets\":[1600,3200]}}      ";
  const uint64_t length = sizeof header - 1; /* a multiple of 8: then the doubles can be read in place */
  char path[60];
  FILE* file;
  linear l = make_linear(N);
  bdl_dataset* data;
  (void)state;
  (void)snprintf(path, sizeof path, "/tmp/bdl-%d.safetensors", (int)getpid());
  file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(&length, sizeof length, 1, file) + fwrite(header, length, 1, file), 2);
  assert_int_equal(fwrite(x, sizeof *x, N, file) + fwrite(y, sizeof *y, N, file), 2 * N);
  assert_int_equal(fclose(file), 0);
  OK(bdl_dataset_from_safetensors(path, "x", "y", &data));
  OK(bdl_model_standardize_dataset(l.model, data));
  OK(bdl_optimizer_fit_dataset(l.optimizer, data, 200, NULL, NULL));
  assert_learned(&l);
  bdl_dataset_free(data);
  free_linear(&l);
  assert_int_equal(unlink(path), 0);
}

int test_examples_dataset(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_arrays), cmocka_unit_test(example_callback),
                                     cmocka_unit_test(example_npy), cmocka_unit_test(example_safetensors)};
  return cmocka_run_group_tests(tests, make_data, NULL);
}
