/* Training on more rows than fit in memory: logistic regression on 20 features of ROWS examples, for STEPS
   steps or one epoch, whichever ends first. It prints rows a second, what was learned, and the memory it
   took.

   large_data memory ROWS STEPS              rows in arrays, to compare
   large_data callback ROWS STEPS            each row computed from its number when a minibatch wants it
   large_data npy ROWS STEPS FOLDER          rows in FOLDER/x.npy and FOLDER/y.npy, written first unless they
                                             are there
   large_data blocks ROWS STEPS FOLDER       the same files, read in blocks of 100,000 rows, 4 at a time
   large_data exact ROWS STEPS               rows computed likewise, all of them in each of at most STEPS
                                             iterations to the best Gaussian

   For example `large_data callback 1000000000 20000`, or `large_data exact 100000000 100`. */
#include <bdl/bdl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/dataset.h"

enum { FEATURES = 20, PART = 4096, WARM_UP = 200 };

static void check(bdl_status status) {
  if (status == BDL_OK || status == BDL_STOPPED) return;
  fprintf(stderr, "%s\n", bdl_last_error());
  exit(1);
}

static double coefficient(int feature) {
  return 0.1 * (feature - 9.5);
}

/* A good mixer of 64 bits (splitmix64). */
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double uniform(uint64_t number) {
  return (double)(mixed(number * UINT64_C(0x9e3779b97f4a7c15)) >> 11) * 0x1p-53;
}

/* Row number `row`: features uniform on [-1, 1]; y is 1 with the probability that the coefficients say. */
static void make_row(int64_t row, double* x, double* y) {
  const uint64_t first = (uint64_t)row * (FEATURES + 1);
  double f = 0, value;
  for (int c = 0; c < FEATURES; ++c) {
    value = 2 * uniform(first + (uint64_t)c) - 1;
    f += coefficient(c) * value;
    if (x) x[c] = value;
  }
  if (y) *y = uniform(first + FEATURES) * (1 + exp(-f)) < 1;
}

static int32_t read_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                         bdl_matrix_out y) {
  double *to_x = x.data, *to_y = y.data;
  (void)user_data;
  for (int64_t i = 0; i < count; ++i)
    make_row(rows[i], to_x ? to_x + i * FEATURES : NULL, to_y ? to_y + i : NULL);
  return 0;
}

static bdl_dataset* in_memory(int64_t n) {
  double *x = malloc((size_t)n * FEATURES * sizeof *x), *y = malloc((size_t)n * sizeof *y);
  bdl_dataset* data;
  if (!x || !y) exit(1);
  for (int64_t i = 0; i < n; ++i) make_row(i, x + i * FEATURES, y + i);
  check(bdl_dataset_from_arrays(bdl_f64(x, n, FEATURES), bdl_f64(y, n, 1), &data));
  return data; /* the arrays stay until the program ends */
}

static FILE* begin_npy(const char* path, int64_t n, int columns) {
  char shape[80], header[119];
  FILE* file = fopen(path, "wb");
  if (!file) exit(1);
  (void)snprintf(shape, sizeof shape, "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRId64 ", %d)}",
                 n, columns);
  (void)snprintf(header, sizeof header, "%-117.117s\n", shape);
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
  fwrite(header, 1, 118, file);
  return file;
}

static void write_files(const char* x_path, const char* y_path, int64_t n) {
  static double x[PART * FEATURES], y[PART];
  FILE *to_x = begin_npy(x_path, n, FEATURES), *to_y = begin_npy(y_path, n, 1);
  for (int64_t first = 0; first < n; first += PART) {
    const int64_t count = n - first < PART ? n - first : PART;
    for (int64_t i = 0; i < count; ++i) make_row(first + i, x + i * FEATURES, y + i);
    fwrite(x, sizeof *x * FEATURES, (size_t)count, to_x);
    fwrite(y, sizeof *y, (size_t)count, to_y);
  }
  if (fclose(to_x) != 0 || fclose(to_y) != 0) exit(1);
}

static bdl_dataset* mapped(const char* folder, int64_t n, int in_blocks) {
  char x_path[300], y_path[300];
  bdl_dataset* data;
  FILE* file;
  (void)snprintf(x_path, sizeof x_path, "%s/x.npy", folder);
  (void)snprintf(y_path, sizeof y_path, "%s/y.npy", folder);
  file = fopen(y_path, "rb");
  if (file)
    fclose(file);
  else
    write_files(x_path, y_path, n);
  check(bdl_dataset_from_npy(x_path, y_path, &data));
  if (in_blocks) check(bdl_dataset_set_block(data, 100000, 4));
  return data;
}

/* When the first steps were done, and when all were. */
typedef struct course {
  int64_t warm_up, steps;
  double began, ended, processor; /* seconds; those of the processor are of the steps in between */
} course;

static int32_t watch(void* user_data, const bdl_optimizer* optimizer) {
  course* c = user_data;
  int64_t step;
  check(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  if (step == c->warm_up) {
    c->began = seconds_now();
    c->processor = (double)clock() / CLOCKS_PER_SEC;
  }
  c->ended = seconds_now();
  return step >= c->steps;
}

/* Lines of /proc that say where memory is: RssAnon is ours, RssFile are pages that the system may drop. */
static void print_memory(void) {
  char line[200];
  FILE* file = fopen("/proc/self/status", "r");
  if (!file) return;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, "VmHWM", 5) || !strncmp(line, "RssAnon", 7) || !strncmp(line, "RssFile", 7))
      printf("%s", line);
  fclose(file);
}

int main(int argc, char** argv) {
  const char* source = argc > 3 ? argv[1] : "callback";
  const int64_t n = argc > 3 ? atoll(argv[2]) : 1000000000, sizes[] = {FEATURES, 1};
  const int is_file = !strcmp(source, "npy") || !strcmp(source, "blocks"),
            is_exact = !strcmp(source, "exact");
  course c = {is_exact ? 1 : WARM_UP, argc > 3 ? atoll(argv[3]) : 2000, 0, 0, 0};
  double mean[FEATURES + 1], variance[FEATURES + 1], worst = 0, worst_deviation = 0, epoch;
  const double start = seconds_now();
  int64_t step, size;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  bdl_dataset* data;
  if (is_file)
    data = mapped(argc > 4 ? argv[4] : ".", n, !strcmp(source, "blocks"));
  else if (!strcmp(source, "memory"))
    data = in_memory(n);
  else
    check(bdl_dataset_from_callback(n, FEATURES, 1, read_rows, NULL, NULL, &data));
  check(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_BERNOULLI, &model));
  check(bdl_posterior_create_full(BDL_F64, bdl_model_parameters(model), &q));
  check(bdl_optimizer_create(model, q, is_exact ? "exact-full" : "slang-ggn", n, &optimizer));
  check(bdl_optimizer_set_int(optimizer, "progress_every", 1));
  check(bdl_optimizer_fit_dataset(optimizer, data, is_exact ? c.steps : 1, watch, &c));

  check(bdl_optimizer_progress(optimizer, &step, NULL, &epoch));
  check(bdl_optimizer_minibatch(optimizer, &size));
  if (is_exact) size = n;
  check(bdl_posterior_mean(q, bdl_f64_out(mean, 1, FEATURES + 1)));
  check(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, FEATURES + 1)));
  for (int f = 0; f < FEATURES; ++f) {
    const double error = fabs(mean[f] - coefficient(f));
    worst = fmax(worst, error);
    worst_deviation = fmax(worst_deviation, error / sqrt(variance[f]));
  }
  c.processor = (double)clock() / CLOCKS_PER_SEC - c.processor;
  printf("%s: %" PRId64 " rows, %" PRId64 " steps of %" PRId64 " (%.3g epochs)\n", source, n, step, size,
         epoch);
  printf("%.0f rows a second, %.0f a second of processor time; %.1f s in all\n",
         (double)((step - c.warm_up) * size) / (c.ended - c.began),
         (double)((step - c.warm_up) * size) / c.processor, c.ended - start);
  printf("largest error of a coefficient: %.2g, %.1f posterior standard deviations\n", worst,
         worst_deviation);
  print_memory();
  bdl_dataset_free(data);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return worst < 0.1 && (!is_exact || worst_deviation < 5) ? 0 : 1;
}
