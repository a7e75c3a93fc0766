/* Search of hyper-parameters: learning rate, prior precision and noise precision of a network on the yacht
   data, by 5-fold cross-validation, first at random and then by Bayesian optimisation. Run it with `sh
   examples/run.sh`. */
#include <bdl/bdl.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/dataset.h"

enum { EPOCHS = 40, FOLDS = 5, SAMPLES = 100 };

static void check(bdl_status status) {
  if (status == BDL_OK) return;
  fprintf(stderr, "%s\n", bdl_last_error());
  exit(1);
}

static int32_t show_trial(void* data, const bdl_search* search) {
  const int64_t trial = bdl_search_trial_count(search) - 1;
  double value[3] = {0}, score, error;
  const char* message;
  (void)data;
  check(bdl_search_trial(search, trial, bdl_f64_out(value, 1, 3), &score, &error, &message));
  printf("%3d  rate %.4f  prior precision %8.3f  noise precision %7.1f  ", (int)trial, value[0], value[1],
         value[2]);
  if (*message)
    printf("%s\n", message);
  else
    printf("log density %.3f +- %.3f\n", score, error);
  return 0; /* anything else would stop the search */
}

/* Trains with the optimizer's options and prints RMSE and log density of the test rows. */
static void evaluate(const char* name, bdl_model* model, bdl_posterior* posterior, bdl_optimizer* opt,
                     const bdl_matrix data[4]) {
  const int64_t m = data[2].rows;
  double *mean = malloc((size_t)m * 2 * sizeof *mean), *log_density = mean + m, rmse, log_likelihood;
  check(bdl_optimizer_initialize(opt));
  check(bdl_optimizer_fit(opt, data[0], data[1], EPOCHS, NULL, NULL));
  check(bdl_predict(model, posterior, data[2], BDL_MONTE_CARLO, 500, 1, bdl_f64_out(mean, m, 1),
                    bdl_none_out(), bdl_none_out()));
  check(bdl_predict_log_density(model, posterior, data[2], data[3], BDL_MONTE_CARLO, 500, 1,
                                bdl_f64_out(log_density, m, 1)));
  check(bdl_metric_rmse(bdl_f64(mean, m, 1), data[3], &rmse));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density, m, 1), &log_likelihood, NULL));
  printf("%-9s test RMSE %.3f  log density %.3f\n", name, rmse, log_likelihood);
  free(mean);
}

int main(int argc, char** argv) {
  const char* data_path = argc > 2 ? argv[1] : "examples/data/yacht.csv";
  const char* rows_path = argc > 2 ? argv[2] : "examples/data/yacht_test_rows.csv";
  const double start = seconds_now();
  check(BDL_CHECK_VERSION()); /* the library that was found fits the headers */
  dataset all = dataset_read(data_path), train, test;
  dataset_split(&all, rows_path, 0, &train, &test);
  const int64_t n = train.rows, m = test.rows, d = train.cols - 1;
  const bdl_matrix data[4] = {bdl_strided(train.values, BDL_F64, n, d, d + 1, 1),
                              bdl_strided(train.values + d, BDL_F64, n, 1, d + 1, 1),
                              bdl_strided(test.values, BDL_F64, m, d, d + 1, 1),
                              bdl_strided(test.values + d, BDL_F64, m, 1, d + 1, 1)};

  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* opt;
  bdl_search* search;
  const int64_t sizes[] = {d, 50, 1};
  int64_t best;
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  check(bdl_model_standardize(model, data[0], data[1]));
  check(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 1, &posterior));
  check(bdl_optimizer_create(model, posterior, "slang-ggn", n, &opt));
  evaluate("defaults:", model, posterior, opt, data);

  /* Training must not learn what the search chooses. */
  check(bdl_optimizer_set_int(opt, "learn_prior", 0));
  check(bdl_optimizer_set_int(opt, "learn_noise", 0));
  check(bdl_search_create(opt, FOLDS, EPOCHS, BDL_MONTE_CARLO, SAMPLES, 1, &search));
  check(bdl_search_add_double(search, "learning_rate", 0.005, 0.1, BDL_SCALE_LOG));
  check(bdl_search_add_double(search, "prior_precision", 0.01, 100, BDL_SCALE_LOG));
  check(bdl_search_add_double(search, "initial_noise_precision", 1, 10000, BDL_SCALE_LOG));
  check(bdl_search_run(search, data[0], data[1], 5, 10, show_trial, NULL));
  check(bdl_search_best(search, &best));
  printf("best: trial %d\n", (int)best);
  check(bdl_search_apply(search, best, opt));
  evaluate("searched:", model, posterior, opt, data);
  printf("%.2f seconds, peak memory %.0f MB\n", seconds_now() - start, peak_megabytes());

  dataset_free(&all), dataset_free(&train), dataset_free(&test);
  bdl_search_free(search), bdl_optimizer_free(opt), bdl_posterior_free(posterior), bdl_model_free(model);
  return 0;
}
