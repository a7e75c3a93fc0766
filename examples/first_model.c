/* A first model, and the intervals of its predictions: first_model yacht.csv */
#include <bdl/bdl.h>
#include <stdio.h>
#include <stdlib.h>

enum { features = 6, tests = 77, trains = 231 };

static double x[trains][features], y[trains];
static double x_test[tests][features], y_test[tests];
static double mean[tests], lower[tests], upper[tests];

static void check(bdl_status status) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s\n", bdl_last_error());
  exit(1);
}

/* Reads six features and the resistance per line; every fourth row is a test row. */
static void read_yacht(const char* path) {
  FILE* file = fopen(path, "r");
  int numbers = 0;
  for (int i = 0; file && i < trains + tests; ++i) {
    const int train = i - i / 4 - 1, test = i / 4;
    double* row = i % 4 ? x[train] : x_test[test];
    for (int j = 0; j < features; ++j) numbers += fscanf(file, "%lf,", row + j);
    numbers += fscanf(file, "%lf", i % 4 ? y + train : y_test + test);
  }
  if (file) fclose(file);
  if (numbers == (trains + tests) * (features + 1)) return;
  fprintf(stderr, "%s is not the yacht data\n", path);
  exit(1);
}

int main(int argc, char** argv) {
  read_yacht(argc > 1 ? argv[1] : "yacht.csv");
  const bdl_matrix inputs = bdl_f64(x[0], trains, features);
  const bdl_matrix targets = bdl_f64(y, trains, 1);
  const bdl_matrix new_inputs = bdl_f64(x_test[0], tests, features);

  /* Two outputs: the mean, and the logarithm of the noise's precision. */
  const int64_t sizes[] = {features, 50, 2};
  bdl_model* model;
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_HETEROSCEDASTIC, &model));
  check(bdl_model_standardize(model, inputs, targets));

  const int64_t parameters = bdl_model_parameters(model);
  bdl_posterior* posterior;
  check(bdl_posterior_create_low_rank(BDL_F64, parameters, 5, &posterior));

  bdl_optimizer* optimizer;
  check(bdl_optimizer_create(model, posterior, "slang", trains, &optimizer));
  check(bdl_optimizer_fit(optimizer, inputs, targets, 100, NULL, NULL));

  const bdl_matrix_out mean_out = bdl_f64_out(mean, tests, 1);
  const bdl_matrix_out lower_out = bdl_f64_out(lower, tests, 1);
  const bdl_matrix_out upper_out = bdl_f64_out(upper, tests, 1);
  const bdl_matrix_out none = bdl_none_out();
  check(bdl_predict(model, posterior, new_inputs, BDL_LINEARIZED, 0, 0, mean_out, none, none));
  check(bdl_predict_interval(model, posterior, new_inputs, BDL_LINEARIZED, 0, 0, 0.9, lower_out, upper_out));

  int inside = 0;
  for (int i = 0; i < tests; ++i) inside += lower[i] <= y_test[i] && y_test[i] <= upper[i];
  for (int i = 8; i < 11; ++i)
    printf("%.2f [%.2f, %.2f] measured %.2f\n", mean[i], lower[i], upper[i], y_test[i]);
  printf("%d of %d intervals contain the value\n", inside, tests);

  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
  return 0;
}
