/* Data that need not fit in memory. */
#include "example.h"

enum { N = 200 };

/* y = 3 x - 1 + noise */
static double x[N], y[N];

typedef struct linear {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} linear;

static linear create(int64_t data_size) {
  const int64_t sizes[] = {1, 1};
  linear l;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &l.model));
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &l.posterior));
  CHECK(bdl_optimizer_create(l.model, l.posterior, "slang-exact-hess",
                             data_size, &l.optimizer));
  return l;
}

static void linear_free(linear* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->posterior);
  bdl_model_free(l->model);
}

/* Predictions at new inputs: about 3 x - 1. */
static int has_learned(const linear* l) {
  const double new_x[] = {9.5, 10.5};
  double mean[2];
  CHECK(bdl_predict(l->model, l->posterior, bdl_f64(new_x, 2, 1),
                    BDL_LINEARIZED, 0, 1, bdl_f64_out(mean, 2, 1),
                    bdl_none_out(), bdl_none_out()));
  return fabs(mean[0] - 27.5) < 0.1 && fabs(mean[1] - 30.5) < 0.1;
}

static void from_arrays(void) {
  linear l = create(N);
  bdl_model* model = l.model;
  bdl_optimizer* opt = l.optimizer;
  /* [bdl_dataset_from_arrays] [bdl_dataset_free] */
  bdl_dataset*
      data; /* x and y are not copied: they must stay where they are */
  CHECK(bdl_dataset_from_arrays(bdl_f64(x, N, 1), bdl_f64(y, N, 1), &data));
  /* [bdl_dataset_from_arrays] [bdl_dataset_free] */

  /* [bdl_dataset_rows] [bdl_dataset_inputs] [bdl_dataset_targets] */
  printf("%d rows, %d input(s), %d target(s)\n",
         (int)bdl_dataset_rows(data), (int)bdl_dataset_inputs(data),
         (int)bdl_dataset_targets(data));
  /* [bdl_dataset_rows] [bdl_dataset_inputs] [bdl_dataset_targets] */
  EXPECT(bdl_dataset_rows(data) == N && bdl_dataset_inputs(data) == 1);
  EXPECT(bdl_dataset_targets(data) == 1);

  /* [bdl_dataset_read] */
  const int64_t rows[] = {7, 0};
  double x_read[2], y_read[2];
  CHECK(bdl_dataset_read(data, rows, 2, bdl_f64_out(x_read, 2, 1),
                         bdl_f64_out(y_read, 2, 1)));
  printf("row 7: x = %.2f, y = %.2f\n", x_read[0], y_read[0]);
  /* [bdl_dataset_read] */
  EXPECT(x_read[0] == x[7] && y_read[1] == y[0]);

  /* [bdl_dataset_target_range] */
  double smallest, largest;
  CHECK(bdl_dataset_target_range(data, bdl_f64_out(&smallest, 1, 1),
                                 bdl_f64_out(&largest, 1, 1)));
  printf("y is between %.1f and %.1f\n", smallest, largest);
  /* [bdl_dataset_target_range] */
  EXPECT(smallest <= y[0] && y[0] <= largest && smallest < largest);

  /* [bdl_model_standardize_dataset] */
  CHECK(bdl_model_standardize_dataset(model, data)); /* one pass */
  /* [bdl_model_standardize_dataset] */
  /* [bdl_optimizer_start_noise_dataset] */
  CHECK(bdl_optimizer_start_noise_dataset(
      opt, data)); /* one noise for each target */
  /* [bdl_optimizer_start_noise_dataset] */
  /* [bdl_optimizer_fit_dataset] */
  CHECK(bdl_optimizer_fit_dataset(opt, data, 200, NULL, NULL));
  /* [bdl_optimizer_fit_dataset] */
  EXPECT(has_learned(&l));

  /* [bdl_optimizer_elbo_dataset] */
  double log_likelihood, kl;
  CHECK(bdl_optimizer_elbo_dataset(opt, data, 0, 1, &log_likelihood, &kl));
  printf("ELBO above 0: %d\n", log_likelihood - kl > 0);
  /* [bdl_optimizer_elbo_dataset] */
  EXPECT(log_likelihood > 0 && kl > 0); /* the noise is small */
  /* [bdl_optimizer_laplace_dataset] */
  CHECK(bdl_optimizer_laplace_dataset(opt, data));
  /* [bdl_optimizer_laplace_dataset] */
  EXPECT(has_learned(&l));
  /* [bdl_dataset_free] */
  bdl_dataset_free(data);
  /* [bdl_dataset_free] */
  linear_free(&l);
}

/* [bdl_dataset_from_callback] */
/* Computes each row from its number. user_data: the number of calls that still
 * succeed. */
static int32_t compute_rows(void* user_data, const int64_t* rows,
                            int64_t count, bdl_matrix_out to_x,
                            bdl_matrix_out to_y) {
  double *x_data = to_x.data, *y_data = to_y.data; /* NULL: not wanted */
  if (--*(int*)user_data < 0) {
    bdl_set_callback_message("nobody answers");
    return 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double value = 10 + sin(37.0 * (double)rows[i]);
    if (x_data) x_data[i] = value;
    if (y_data)
      y_data[i] = 3 * value - 1 + 0.1 * cos(91.0 * (double)rows[i]);
  }
  return 0;
}
/* [bdl_dataset_from_callback] */

static int32_t stop_at_1000(void* user_data,
                            const bdl_optimizer* optimizer) {
  int64_t step;
  (void)user_data;
  CHECK(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  return step >= 1000;
}

static void from_callback(void) {
  const int64_t rows = 1000000000;
  const double input_mean = 10, target_mean = 29, target_scale = 2.1,
               noise = 100;
  linear l = create(rows);
  bdl_optimizer* opt = l.optimizer;
  /* [bdl_dataset_from_callback] */
  int calls = 1000;
  bdl_dataset* data; /* a billion rows of one input and one target */
  CHECK(bdl_dataset_from_callback(1000000000, 1, 1, compute_rows, &calls,
                                  NULL, &data));
  /* [bdl_dataset_from_callback] */
  /* [bdl_dataset_set_block] */
  CHECK(bdl_dataset_set_block(data, 1000000,
                              4)); /* a minibatch reads 4 of 1000 blocks */
  /* [bdl_dataset_set_block] */
  /* Moments and noise, which would else take passes over a billion rows. */
  CHECK(bdl_model_set_standardization(
      l.model, bdl_f64(&input_mean, 1, 1), bdl_none(),
      bdl_f64(&target_mean, 1, 1), bdl_f64(&target_scale, 1, 1)));
  CHECK(bdl_model_set_noise_precision(l.model, bdl_f64(&noise, 1, 1)));
  CHECK(bdl_optimizer_set_int(opt, "progress_every", 1));
  EXPECT(bdl_optimizer_fit_dataset(opt, data, 1, stop_at_1000, NULL) ==
         BDL_STOPPED);
  EXPECT(has_learned(&l));
  EXPECT(bdl_optimizer_fit_dataset(opt, data, 0, NULL, NULL) ==
         BDL_ERROR_CALLBACK);
  EXPECT(strstr(bdl_last_error(), "nobody answers") != NULL);
  bdl_dataset_free(data);
  linear_free(&l);
}

static void write_bytes(FILE* file, const void* bytes, size_t size) {
  EXPECT(file != NULL && fwrite(bytes, 1, size, file) == size);
}

/* Writes a column of doubles as numpy.save() does. */
static void save_npy(const char* path, const double* values) {
  char head[129];
  FILE* file = fopen(path, "wb");
  (void)snprintf(
      head, sizeof head, "%-117s\n",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (200, 1), }");
  write_bytes(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  write_bytes(file, head, 118);
  write_bytes(file, values, N * sizeof *values);
  EXPECT(fclose(file) == 0);
}

static void train(bdl_dataset* data) {
  linear l = create(N);
  CHECK(bdl_model_standardize_dataset(l.model, data));
  CHECK(bdl_optimizer_fit_dataset(l.optimizer, data, 200, NULL, NULL));
  EXPECT(has_learned(&l));
  linear_free(&l);
}

static void from_npy(void) {
  save_npy("example-x.npy", x);
  save_npy("example-y.npy", y);
  /* [bdl_dataset_from_npy] */
  bdl_dataset* data; /* files of numpy.save(), which are mapped, not read */
  CHECK(bdl_dataset_from_npy("example-x.npy", "example-y.npy", &data));
  printf("%d rows\n", (int)bdl_dataset_rows(data));
  /* [bdl_dataset_from_npy] */
  EXPECT(bdl_dataset_rows(data) == N);
  train(data);
  bdl_dataset_free(data);
  EXPECT(remove("example-x.npy") + remove("example-y.npy") == 0);
}

static void from_safetensors(void) {
  const char header[] =
      "{\"x\":{\"dtype\":\"F64\",\"shape\":[200,1],\"data_offsets\":[0,"
      "1600]},"
      "\"y\":{\"dtype\":\"F64\",\"shape\":[200],\"data_offsets\":[1600,"
      "3200]}}     "
      " ";
  const uint64_t length =
      sizeof header - 1; /* a multiple of 8: doubles can be read in place */
  FILE* file = fopen("example-data.safetensors", "wb");
  write_bytes(file, &length, sizeof length);
  write_bytes(file, header, length);
  write_bytes(file, x, sizeof x);
  write_bytes(file, y, sizeof y);
  EXPECT(fclose(file) == 0);
  /* [bdl_dataset_from_safetensors] */
  bdl_dataset* data; /* its tensors "x" and "y" */
  CHECK(bdl_dataset_from_safetensors("example-data.safetensors", "x", "y",
                                     &data));
  printf("%d rows\n", (int)bdl_dataset_rows(data));
  /* [bdl_dataset_from_safetensors] */
  EXPECT(bdl_dataset_rows(data) == N);
  train(data);
  bdl_dataset_free(data);
  EXPECT(remove("example-data.safetensors") == 0);
}

int main(void) {
  for (int i = 0; i < N; ++i) {
    x[i] = 10 + sin(37.0 * i);
    y[i] = 3 * x[i] - 1 + 0.1 * cos(91.0 * i);
  }
  from_arrays();
  from_callback();
  from_npy();
  from_safetensors();
  return 0;
}
