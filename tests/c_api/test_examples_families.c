/* Examples of posteriors in moment parameters and of dropout, as docs show them. */
#include <unistd.h>

#include "c_api_test.h"

/* N(mean, Sigma) with variances 2 and 1 and covariance 1: Sigma^-1 = [1 -1; -1 2], det Sigma = 1. */
static void example_full_moment_posterior(void** state) {
  const double mean[] = {1, 2}, covariance[] = {2, 1, 1, 1}, vectors[] = {1, 0};
  double read[2], solution[2], log_det;
  bdl_posterior *q, *copy;
  (void)state;
  OK(bdl_posterior_create_full_moment(BDL_F64, 2, &q));
  OK(bdl_posterior_set_full_moment(q, bdl_f64(mean, 1, 2), bdl_f64(covariance, 2, 2)));
  assert_true(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 2);
  OK(bdl_posterior_copy(q, &copy));
  bdl_posterior_free(q);

  OK(bdl_posterior_mean(copy, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 1 && read[1] == 2);
  OK(bdl_posterior_marginal_variance(copy, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 2 && read[1] == 1);
  OK(bdl_posterior_precision_diagonal(copy, bdl_f64_out(read, 1, 2)));
  assert_true(fabs(read[0] - 1) < 1e-14 && fabs(read[1] - 2) < 1e-14);
  OK(bdl_posterior_solve(copy, bdl_f64(vectors, 1, 2), bdl_f64_out(solution, 1, 2)));
  assert_true(solution[0] == 2 && solution[1] == 1);
  OK(bdl_posterior_log_det_covariance(copy, &log_det));
  assert_true(fabs(log_det) < 1e-14);
  bdl_posterior_free(copy);
}

/* One Gaussian in two families. */
static void example_families_agree(void** state) {
  const double mean[] = {1, 2}, covariance[] = {2, 1, 1, 1}, precision[] = {1, -1, -1, 2};
  double samples[6], kl;
  bdl_posterior *moment, *full;
  (void)state;
  OK(bdl_posterior_create_full_moment(BDL_F64, 2, &moment));
  OK(bdl_posterior_create_full(BDL_F64, 2, &full));
  OK(bdl_posterior_set_full_moment(moment, bdl_f64(mean, 1, 2), bdl_f64(covariance, 2, 2)));
  OK(bdl_posterior_set_full(full, bdl_f64(mean, 1, 2), bdl_f64(precision, 2, 2)));
  OK(bdl_posterior_kl(moment, full, &kl));
  assert_true(fabs(kl) < 1e-14);
  OK(bdl_posterior_kl(full, moment, &kl));
  assert_true(fabs(kl) < 1e-14);
  OK(bdl_posterior_sample(moment, 1, 0, bdl_f64_out(samples, 3, 2)));
  bdl_posterior_free(moment);
  bdl_posterior_free(full);
}

/* One gradient row g moves N(0, 1): for a covariance v the natural step is v <- v - b v^2 (g^2 + 1 - 1 / v)
 * and mu <- mu - a v g with the old v, here for b = 0.1, a = 1, g = 2. */
static void example_moment_update(void** state) {
  const double row = 2, prior = 1;
  double mean = 0, variance = 0;
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_full_moment(BDL_F64, 1, &q));
  OK(bdl_posterior_update(q, bdl_f64(&row, 1, 1), 1, 1, 0.1, bdl_f64(&prior, 1, 1)));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)));
  OK(bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)));
  assert_true(fabs(variance - 0.6) < 1e-14);
  assert_true(fabs(mean + 2) < 1e-14);
  bdl_posterior_free(q);
}

/* Independent parameters, by their variances. */
static void example_diagonal_moment_posterior(void** state) {
  const double mean[] = {1, 2}, variance[] = {4, 0.25}, vectors[] = {1, 1};
  double read[2], solution[2], log_det;
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  OK(bdl_posterior_set_diagonal_moment(q, bdl_f64(mean, 1, 2), bdl_f64(variance, 1, 2)));
  assert_true(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 0);
  OK(bdl_posterior_mean(q, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 1 && read[1] == 2);
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 4 && read[1] == 0.25);
  OK(bdl_posterior_precision_diagonal(q, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 0.25 && read[1] == 4);
  OK(bdl_posterior_solve(q, bdl_f64(vectors, 1, 2), bdl_f64_out(solution, 1, 2)));
  assert_true(solution[0] == 4 && solution[1] == 0.25);
  OK(bdl_posterior_log_det_covariance(q, &log_det));
  assert_true(fabs(log_det) < 1e-14);
  bdl_posterior_free(q);
}

/* The step v <- v - b v^2 (g^2 + 1 - 1 / v) of each parameter: what full-moment does to N(0, 1). */
static void example_diagonal_moment_update(void** state) {
  const double rows[] = {2, 0}, prior = 1;
  double variance[2], mean[2];
  bdl_posterior* q;
  (void)state;
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  OK(bdl_posterior_update(q, bdl_f64(rows, 1, 2), 1, 1, 0.1, bdl_f64(&prior, 1, 1)));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 2)));
  OK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, 2)));
  assert_true(fabs(variance[0] - 0.6) < 1e-14 && variance[1] == 1);
  assert_true(fabs(mean[0] + 2) < 1e-14 && mean[1] == 0);
  bdl_posterior_free(q);
}

/* A full covariance for each layer: 2-3-1 has 9 and 4 parameters. */
static void example_layerwise_full_posterior(void** state) {
  enum { N = 30 };
  const int64_t sizes[] = {2, 3, 1}, blocks[] = {9, 4}, first[] = {0}, last[] = {12};
  double x[2 * N], y[N], mean[N], epistemic[N], noise[N], across = 0;
  bdl_model* model;
  bdl_posterior *q, *same;
  bdl_optimizer* opt;
  (void)state;
  for (int i = 0; i < N; ++i) {
    x[2 * i] = 2.0 * i / (N - 1) - 1;
    x[2 * i + 1] = 1 - x[2 * i] * x[2 * i];
    y[i] = x[2 * i] + x[2 * i + 1];
  }
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_layerwise_full(model, &q));
  OK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &same)); /* the same by its sizes */
  assert_true(bdl_posterior_family(q) == BDL_LAYERWISE_FULL && bdl_posterior_dimension(same) == 13);
  OK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));
  OK(bdl_optimizer_fit(opt, bdl_f64(x, N, 2), bdl_f64(y, N, 1), 200, NULL, NULL));
  OK(bdl_predict(model, q, bdl_f64(x, N, 2), BDL_MONTE_CARLO, 100, 1, bdl_f64_out(mean, N, 1),
                 bdl_f64_out(epistemic, N, 1), bdl_f64_out(noise, N, 1)));
  assert_true(fabs(mean[0] - y[0]) < 0.3 && epistemic[0] > 0);
  OK(bdl_posterior_covariance(q, first, 1, last, 1, bdl_f64_out(&across, 1, 1))); /* between layers */
  assert_true(across == 0);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_posterior_free(same);
  bdl_model_free(model);
}

/* A covariance diag(s) + W W^T: three parameters that two directions move together. */
static void example_low_rank_moment_posterior(void** state) {
  const double mean[] = {1, 2, 3}, w[] = {1, 0, 1, 2, 0, 0.5}, s[] = {0.1, 0.2, 0.3};
  const int64_t first[] = {0}, second[] = {1};
  double variance[3], covariance, draws[2 * 3], kl;
  bdl_posterior *q, *copy;
  (void)state;
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, 3, 2, &q));
  OK(bdl_posterior_set_low_rank_moment(q, bdl_f64(mean, 1, 3), bdl_f64(w, 3, 2), bdl_f64(s, 1, 3)));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 3)));
  assert_true(fabs(variance[1] - 5.2) < 1e-14);
  OK(bdl_posterior_covariance(q, first, 1, second, 1, bdl_f64_out(&covariance, 1, 1)));
  assert_true(fabs(covariance - 1) < 1e-14);
  OK(bdl_posterior_sample(q, 1, 0, bdl_f64_out(draws, 2, 3)));
  OK(bdl_posterior_copy(q, &copy));
  OK(bdl_posterior_kl(q, copy, &kl));
  assert_true(fabs(kl) < 1e-13 && bdl_posterior_family(copy) == BDL_LOW_RANK_MOMENT);
  bdl_posterior_free(q);
  bdl_posterior_free(copy);
}

/* One such covariance for each layer, of rank 2: 2-3-1 has 9 and 4 parameters. Predictions draw from it, and
   a checkpoint keeps it. */
static void example_layerwise_low_rank_moment_posterior(void** state) {
  const int64_t sizes[] = {2, 3, 1};
  const char* const names[] = {"block1.low_rank", "block1.diagonal"};
  const double w[] = {1, 0, 0, 1, 1, 1, 0, 0}, s[] = {0.1, 0.1, 0.1, 0.1}, x[] = {0.5, -1};
  const bdl_matrix values[] = {bdl_f64(w, 4, 2), bdl_f64(s, 1, 4)};
  char path[] = "/tmp/bdl-example-XXXXXX";
  double mean, epistemic, noise, kl;
  const int file = mkstemp(path);
  bdl_model* model;
  bdl_posterior *q, *loaded;
  (void)state;
  assert_true(file >= 0 && close(file) == 0);
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_layerwise_low_rank_moment(model, 2, &q));
  OK(bdl_posterior_set_tensors(q, names, values, 2)); /* block 0 stays N(0, I) */
  assert_true(bdl_posterior_rank(q) == 2 && bdl_posterior_tensor_count(q) == 5);
  OK(bdl_predict(model, q, bdl_f64(x, 1, 2), BDL_MONTE_CARLO, 50, 1, bdl_f64_out(&mean, 1, 1),
                 bdl_f64_out(&epistemic, 1, 1), bdl_f64_out(&noise, 1, 1)));
  assert_true(epistemic > 0);
  OK(bdl_save(path, model, q, NULL));
  OK(bdl_load(path, NULL, NULL, &loaded, NULL));
  OK(bdl_posterior_kl(q, loaded, &kl));
  assert_true(fabs(kl) < 1e-13 && bdl_posterior_family(loaded) == BDL_LAYERWISE_LOW_RANK_MOMENT);
  bdl_posterior_free(q);
  bdl_posterior_free(loaded);
  bdl_model_free(model);
  (void)unlink(path);
}

/* Laplace's approximation with a Kronecker-factored precision for each layer, of a network whose Adam course
   was short: 2-3-1 has weights and bias of 3 x 3 and 1 x 4 numbers. */
static void example_kronecker_posterior(void** state) {
  const int64_t sizes[] = {2, 3, 1};
  const double x[] = {0, 0, 1, 0, 0, 1, 1, 1}, y[] = {0, 1, 1, 2};
  double mean[4], epistemic[4], vectors[9], precision[9];
  bdl_model* model;
  bdl_posterior *q, *full;
  bdl_optimizer* opt;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_kronecker(model, &q));
  OK(bdl_optimizer_create(model, q, "laplace", 4, &opt));
  OK(bdl_optimizer_set_choice(opt, "kronecker_eigenvalues", "corrected"));
  OK(bdl_optimizer_fit(opt, bdl_f64(x, 4, 2), bdl_f64(y, 4, 1), 200, NULL, NULL));
  OK(bdl_predict(model, q, bdl_f64(x, 4, 2), BDL_LINEARIZED, 1, 1, bdl_f64_out(mean, 4, 1),
                 bdl_f64_out(epistemic, 4, 1), bdl_none_out()));
  assert_true(mean[0] < mean[1] && mean[1] < mean[3] && epistemic[3] > 0);

  /* mean, and of two blocks the eigenvectors of both sides and the precisions along their pairs */
  assert_true(bdl_posterior_family(q) == BDL_KRONECKER && bdl_posterior_tensor_count(q) == 7);
  OK(bdl_posterior_get_tensor(q, 1, bdl_f64_out(vectors, 3, 3)));
  OK(bdl_posterior_get_tensor(q, 3, bdl_f64_out(precision, 3, 3)));
  assert_true(fabs(vectors[0] * vectors[0] + vectors[3] * vectors[3] + vectors[6] * vectors[6] - 1) < 1e-12);
  assert_true(precision[0] > 0);

  OK(bdl_posterior_as_full(q, &full)); /* the same Gaussian, its covariance written out */
  bdl_posterior_free(full);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Copies all numbers of a posterior, by their names, to another one, for any family. */
static void example_tensors(void** state) {
  const int64_t blocks[] = {2, 1};
  const double mean[] = {1, 2, 3}, precision[] = {2, 1, 1, 2};
  const char* const names[] = {"mean", "block0.precision"};
  const bdl_matrix given[] = {bdl_f64(mean, 1, 3), bdl_f64(precision, 2, 2)};
  double variance[3], read[9];
  bdl_posterior *q, *copy;
  (void)state;
  OK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &q));
  OK(bdl_posterior_set_tensors(q, names, given, 2)); /* block 1 stays, N(0, 1) around the new mean */
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 3)));
  assert_true(fabs(variance[0] - 2. / 3) < 1e-15 && variance[2] == 1);

  OK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &copy));
  assert_true(bdl_posterior_tensor_count(q) == 5);
  for (int64_t i = 0; i < bdl_posterior_tensor_count(q); ++i) {
    const char* name;
    int64_t rows, cols;
    int32_t dtype;
    OK(bdl_posterior_tensor_describe(q, i, &name, &rows, &cols, &dtype));
    assert_true(rows * cols <= 9 && dtype == BDL_F64);
    if (strstr(name, "factor")) continue; /* follows from the precision */
    OK(bdl_posterior_get_tensor(q, i, bdl_f64_out(read, rows, cols)));
    const bdl_matrix values = bdl_f64(read, rows, cols);
    OK(bdl_posterior_set_tensors(copy, &name, &values, 1));
  }
  OK(bdl_posterior_kl(q, copy, variance));
  assert_true(fabs(variance[0]) < 1e-14);
  bdl_posterior_free(q);
  bdl_posterior_free(copy);
}

/* The posterior of some data is the prior of the next: y = x with noise of variance 1, seen at x = 1 and
 * 2, has the precision 1 + 1 + 4 from the prior N(0, 1). */
static void example_posterior_as_prior(void** state) {
  const int64_t sizes[] = {1, 1};
  const double x[] = {1, 2}, y[] = {1, 2}, noise_precision = 1;
  double mean = 0, variance = 0;
  bdl_model* model;
  bdl_posterior *first, *second;
  bdl_optimizer* opt;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &model));
  OK(bdl_model_set_noise_precision(model, bdl_f64(&noise_precision, 1, 1)));
  OK(bdl_posterior_create_full(BDL_F64, 1, &first));
  OK(bdl_optimizer_create(model, first, "exact-full", 1, &opt));
  OK(bdl_optimizer_fit(opt, bdl_f64(&x[0], 1, 1), bdl_f64(&y[0], 1, 1), 100, NULL, NULL));
  bdl_optimizer_free(opt);

  OK(bdl_posterior_create_full(BDL_F64, 1, &second));
  OK(bdl_optimizer_create(model, second, "exact-full", 1, &opt));
  OK(bdl_optimizer_set_prior_posterior(opt, first)); /* copied */
  bdl_posterior_free(first);
  OK(bdl_optimizer_fit(opt, bdl_f64(&x[1], 1, 1), bdl_f64(&y[1], 1, 1), 100, NULL, NULL));
  OK(bdl_posterior_marginal_variance(second, bdl_f64_out(&variance, 1, 1)));
  OK(bdl_posterior_mean(second, bdl_f64_out(&mean, 1, 1)));
  assert_true(fabs(variance - 1. / 6) < 1e-9 && fabs(mean - 5. / 6) < 1e-9);
  bdl_optimizer_free(opt);
  bdl_posterior_free(second);
  bdl_model_free(model);
}

/* A checkpoint holds the family. */
static void example_moment_checkpoint(void** state) {
  const double mean[] = {1, 2}, covariance[] = {2, 1, 1, 1};
  char path[] = "/tmp/bdl-families-XXXXXX";
  const int file = mkstemp(path);
  double read[2];
  bdl_posterior *q, *loaded;
  (void)state;
  assert_true(file >= 0 && close(file) == 0);
  OK(bdl_posterior_create_full_moment(BDL_F32, 2, &q));
  OK(bdl_posterior_set_full_moment(q, bdl_f64(mean, 1, 2), bdl_f64(covariance, 2, 2)));
  OK(bdl_save(path, NULL, q, NULL));
  OK(bdl_load(path, NULL, NULL, &loaded, NULL));
  OK(bdl_posterior_marginal_variance(loaded, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 2 && read[1] == 1);
  OK(bdl_posterior_mean(loaded, bdl_f64_out(read, 1, 2)));
  assert_true(read[0] == 1 && read[1] == 2);
  OK(bdl_posterior_set_full_moment(loaded, bdl_f64(mean, 1, 2), bdl_f64(covariance, 2, 2))); /* the family */
  bdl_posterior_free(q);
  bdl_posterior_free(loaded);
  assert_true(remove(path) == 0);
}

/* Dropout: a network's units are dropped at random, in training and in predictions. */
static void example_dropout(void** state) {
  enum { N = 40 };
  const int64_t sizes[] = {1, 20, 1};
  double x[N], y[N], mean[N], epistemic[N], noise[N], theta[61], input_rate, hidden_rate;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  (void)state;
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 2 * x[i];
  }
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_dropout(model, 0, 0.1, &q)); /* inputs stay, a tenth of the hidden units go */
  OK(bdl_posterior_dropout_rates(q, &input_rate, &hidden_rate));
  assert_true(input_rate == 0 && hidden_rate == 0.1);
  OK(bdl_optimizer_create(model, q, "mc-dropout", N, &opt));
  OK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 200, NULL, NULL));
  /* 100 stochastic passes */
  OK(bdl_predict(model, q, bdl_f64(x, N, 1), BDL_MONTE_CARLO, 100, 1, bdl_f64_out(mean, N, 1),
                 bdl_f64_out(epistemic, N, 1), bdl_f64_out(noise, N, 1)));
  assert_true(fabs(mean[N - 1] - 2) < 0.5 && epistemic[N - 1] > 0);
  /* The weights without dropout, for a network elsewhere, and back. */
  OK(bdl_posterior_mean(q, bdl_f64_out(theta, 1, 61)));
  OK(bdl_posterior_set_dropout(q, bdl_f64(theta, 1, 61)));
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int test_examples_families(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_full_moment_posterior),
                                     cmocka_unit_test(example_families_agree),
                                     cmocka_unit_test(example_moment_update),
                                     cmocka_unit_test(example_diagonal_moment_posterior),
                                     cmocka_unit_test(example_diagonal_moment_update),
                                     cmocka_unit_test(example_layerwise_full_posterior),
                                     cmocka_unit_test(example_low_rank_moment_posterior),
                                     cmocka_unit_test(example_layerwise_low_rank_moment_posterior),
                                     cmocka_unit_test(example_kronecker_posterior),
                                     cmocka_unit_test(example_tensors),
                                     cmocka_unit_test(example_posterior_as_prior),
                                     cmocka_unit_test(example_moment_checkpoint),
                                     cmocka_unit_test(example_dropout)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
