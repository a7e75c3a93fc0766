/* Quickstart: a Bayesian neural network on the yacht data (308 x 6), one published split, default options.
   Run it with `sh examples/run.sh`. */
#include <bdl/bdl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/dataset.h"

static void check(bdl_status status) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s\n", bdl_last_error());
  exit(1);
}

static int32_t show_progress(void* data, const bdl_optimizer* opt) {
  double epoch, log_likelihood, kl;
  (void)data;
  check(bdl_optimizer_progress(opt, NULL, NULL, &epoch));
  if ((int)epoch % 20) return 0;
  check(bdl_optimizer_running_elbo(opt, &log_likelihood, &kl));
  printf("epoch %3.0f  expected log likelihood %8.1f  KL %7.1f  ELBO %8.1f\n", epoch, log_likelihood, kl,
         log_likelihood - kl);
  return 0; /* anything else would stop training */
}

int main(int argc, char** argv) {
  const char* data_path = argc > 2 ? argv[1] : "examples/data/yacht.csv";
  const char* rows_path = argc > 2 ? argv[2] : "examples/data/yacht_test_rows.csv";
  const double start = seconds_now();
  check(BDL_CHECK_VERSION()); /* the library that was found fits the headers */
  dataset all = dataset_read(data_path), train, test;
  dataset_split(&all, rows_path, 0, &train, &test);
  const int64_t n = train.rows, m = test.rows, d = train.cols - 1;
  /* Views, not copies: the features are the first d columns, the target is the last. */
  const bdl_matrix x = bdl_strided(train.values, BDL_F64, n, d, d + 1, 1),
                   y = bdl_strided(train.values + d, BDL_F64, n, 1, d + 1, 1);
  const bdl_matrix x_test = bdl_strided(test.values, BDL_F64, m, d, d + 1, 1),
                   y_test = bdl_strided(test.values + d, BDL_F64, m, 1, d + 1, 1);

  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* opt;
  const int64_t sizes[] = {d, 50, 2}; /* outputs: the mean, and the logarithm of the noise's precision */
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_HETEROSCEDASTIC, &model));
  check(bdl_model_standardize(model, x, y)); /* in and out of the model everything keeps its units */
  check(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5, &posterior));
  check(bdl_optimizer_create(model, posterior, "slang", n, &opt));
  check(bdl_optimizer_fit(opt, x, y, 100, show_progress, NULL));

  double *mean = malloc((size_t)m * 5 * sizeof *mean), *lower = mean + m, *upper = mean + 2 * m,
         *log_density = mean + 3 * m, *noise = mean + 4 * m;
  double rmse, log_likelihood, coverage;
  check(bdl_predict(model, posterior, x_test, BDL_LINEARIZED, 500, 1, bdl_f64_out(mean, m, 1), bdl_none_out(),
                    bdl_f64_out(noise, m, 1)));
  check(bdl_predict_log_density(model, posterior, x_test, y_test, BDL_LINEARIZED, 500, 1,
                                bdl_f64_out(log_density, m, 1)));
  check(bdl_metric_rmse(bdl_f64(mean, m, 1), y_test, &rmse));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density, m, 1), &log_likelihood, NULL));
  printf("test RMSE %.3f  log likelihood %.3f  (in the target's units)\n", rmse, log_likelihood);
  for (int percent = 50; percent < 100; percent += percent == 50 ? 40 : 5) {
    check(bdl_predict_interval(model, posterior, x_test, BDL_LINEARIZED, 500, 1, percent / 100.0,
                               bdl_f64_out(lower, m, 1), bdl_f64_out(upper, m, 1)));
    check(bdl_metric_coverage(bdl_f64(lower, m, 1), bdl_f64(upper, m, 1), y_test, &coverage));
    printf("%d %% intervals hold %.0f %% of the test targets\n", percent, 100 * coverage);
  }
  double least = noise[0], most = noise[0]; /* variances */
  for (int64_t i = 1; i < m; ++i) least = fmin(least, noise[i]), most = fmax(most, noise[i]);
  printf("learned noise: standard deviations from %.3f to %.3f\n", sqrt(least), sqrt(most));
  printf("%.2f seconds, peak memory %.0f MB\n", seconds_now() - start, peak_megabytes());
  free(mean), dataset_free(&all), dataset_free(&train), dataset_free(&test);
  bdl_optimizer_free(opt), bdl_posterior_free(posterior), bdl_model_free(model);
  return 0;
}
