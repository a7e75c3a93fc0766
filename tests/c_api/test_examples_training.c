/* Every public function once, in the order of the headers, the way a newcomer would call it: training,
 * predictions, scores, checkpoints. test_examples.c has the rest. */
#include <unistd.h>

#include "c_api_test.h"

enum { N = 100 };

/* y = 3 x + noise of standard deviation 0.1, on [-1, 1]. */
static double x[N], y[N];

typedef struct learner {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} learner;

static int make_data(void** state) {
  static double noise[N];
  bdl_posterior* normal;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &normal));
  OK(bdl_posterior_sample(normal, 1, 0, bdl_f64_out(noise, N, 1)));
  bdl_posterior_free(normal);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.1 * noise[i];
  }
  return 0;
}

/* A straight line y = a x + b, learned in 300 epochs. */
static learner learn(bdl_likelihood likelihood, const double* targets) {
  const int64_t sizes[] = {1, 1};
  learner l;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood, &l.model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(l.model), 1, &l.posterior));
  OK(bdl_optimizer_create(l.model, l.posterior, "slang-ggn", N, &l.optimizer));
  OK(bdl_optimizer_fit(l.optimizer, bdl_f64(x, N, 1), bdl_f64(targets, N, 1), 300, NULL, NULL));
  return l;
}

static void learner_free(learner* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->posterior);
  bdl_model_free(l->model);
}

static void example_methods(void** state) {
  (void)state;
  assert_true(bdl_method_count() >= 2);
  assert_string_equal(bdl_method_name(0), "slang");
}

static void example_what_methods_are_for(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  const char *families, *name, *doc, *source, *caution;
  int32_t is_stream, is_exact, is_baseline;
  bdl_predict_method prediction;
  (void)state;
  OK(bdl_method_describe("lo-fi", &families, &is_stream, &is_exact, &prediction, &doc, &source));
  assert_string_equal(families, "low_rank");
  assert_true(is_stream && !is_exact);
  assert_int_equal(prediction, BDL_LINEARIZED);
  assert_string_equal(source, "Chang et al. 2023");
  OK(bdl_method_standing("bbb", &is_baseline, &caution));
  assert_true(is_baseline);
  assert_non_null(strstr(caution, "is a baseline of Blundell et al. 2015, for comparisons"));
  OK(bdl_method_suggest(l.model, l.posterior, 0, &name));
  assert_string_equal(name, "slang-ggn");                /* of linear models; networks get "slang" */
  OK(bdl_method_prediction(name, l.model, &prediction)); /* exactly: a line with Gaussian noise */
  assert_int_equal(prediction, BDL_LINEARIZED);
  learner_free(&l);
}

/* The defaults of the other languages' estimators. */
static void example_defaults(void** state) {
  const int64_t sizes[] = {1, 1};
  const char *method, *family, *options, *name, *doc;
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  int64_t rank, minibatch;
  double value;
  (void)state;
  OK(bdl_default_describe(0, &name, &value, &doc));
  assert_string_equal(name, "hidden");
  assert_true(value == 50 && bdl_default_count() > 1);
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &model));
  OK(bdl_training_suggest(model, N, 0, "auto", "auto", &method, &family, &rank, &options));
  assert_string_equal(method, "exact-full");
  assert_string_equal(family, "full");
  OK(bdl_posterior_create_full(BDL_F64, bdl_model_parameters(model), &posterior));
  OK(bdl_optimizer_create(model, posterior, method, N, &optimizer));
  OK(bdl_optimizer_set_text(optimizer, options));
  OK(bdl_optimizer_set_text(optimizer, "tolerance=1e-8 prior_precision=0.1"));
  OK(bdl_optimizer_start_noise(optimizer, bdl_f64(y, N, 1)));
  OK(bdl_optimizer_minibatch(optimizer, &minibatch));
  assert_int_equal(minibatch, 10);
  OK(bdl_optimizer_fit(optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100, NULL, NULL));
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

/* A network whose noise is as the estimators take it: asked of the Gaussian one. */
static void example_noise(void** state) {
  const int64_t gaussian[] = {1, 8, 1}, twice[] = {1, 8, 2};
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  bdl_likelihood noise;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, gaussian, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 5, &posterior));
  OK(bdl_optimizer_create(model, posterior, "slang-ggn", N, &optimizer));
  OK(bdl_noise_suggest(optimizer, 0, 0, bdl_f64(y, N, 1), &noise, NULL));
  assert_int_equal(noise, BDL_HETEROSCEDASTIC);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
  OK(bdl_model_create_mlp(BDL_F64, noise == BDL_HETEROSCEDASTIC ? twice : gaussian, 3, BDL_RELU, 1, noise,
                          &model));
  assert_int_equal(bdl_model_targets(model), 1);
  bdl_model_free(model);
}

static void example_options(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  const char *name, *default_value, *range, *doc, *schedule;
  bdl_option_type type;
  double rate;
  int64_t samples;
  (void)state;
  assert_true(bdl_option_count() > 20);
  OK(bdl_option_describe(0, &name, &type, &default_value, &range, &doc));
  assert_string_equal(name, "learning_rate");
  assert_int_equal(type, BDL_OPTION_DOUBLE);
  assert_non_null(strstr(bdl_option_readers(0), "methods for batches"));
  assert_string_equal(bdl_option_readers(bdl_option_count()), "");
  OK(bdl_optimizer_set_double(l.optimizer, name, 0.1));
  OK(bdl_optimizer_get_double(l.optimizer, name, &rate));
  assert_true(rate == 0.1);
  OK(bdl_optimizer_set_int(l.optimizer, "samples", 8));
  OK(bdl_optimizer_get_int(l.optimizer, "samples", &samples));
  assert_int_equal(samples, 8);
  OK(bdl_optimizer_set_choice(l.optimizer, "schedule", "power"));
  OK(bdl_optimizer_get_choice(l.optimizer, "schedule", &schedule));
  assert_string_equal(schedule, "power");
  learner_free(&l);
}

static void example_fit(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  double mean[2], shift, precision_shift, epoch;
  const char* message;
  int64_t step, planned, bytes;
  (void)state;
  OK(bdl_posterior_mean(l.posterior, bdl_f64_out(mean, 1, 2)));
  assert_true(fabs(mean[0] - 3) < 0.1 && fabs(mean[1]) < 0.1);
  OK(bdl_optimizer_progress(l.optimizer, &step, &planned, &epoch));
  assert_true(step == planned && epoch == 300);
  OK(bdl_optimizer_diagnose(l.optimizer, &shift, &precision_shift, &message));
  assert_string_equal(message, ""); /* the posterior has moved from its initialisation */
  OK(bdl_optimizer_memory(l.optimizer, 0, &bytes));
  assert_true(bytes > 0);
  learner_free(&l);
}

/* Training watched from a callback, which may also end it. */
static int32_t stop_after_ten_epochs(void* user_data, const bdl_optimizer* optimizer) {
  double epoch = 0;
  OK(bdl_optimizer_progress(optimizer, NULL, NULL, &epoch));
  ++*(int*)user_data;
  return epoch >= 10;
}

static void example_stopping(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  int calls = 0;
  (void)state;
  OK(bdl_optimizer_initialize(l.optimizer)); /* start again */
  assert_int_equal(bdl_optimizer_fit(l.optimizer, inputs, targets, 20, stop_after_ten_epochs, &calls),
                   BDL_STOPPED);
  assert_int_equal(calls, 10);
  bdl_optimizer_request_stop(l.optimizer); /* from a signal handler or another thread, perhaps */
  assert_int_equal(bdl_optimizer_fit(l.optimizer, inputs, targets, 0, NULL, NULL), BDL_STOPPED);
  OK(bdl_optimizer_fit(l.optimizer, inputs, targets, 0, NULL, NULL)); /* the remaining epochs */
  learner_free(&l);
}

/* Neural networks' own ways: Bayes by Backprop on a diagonal posterior, and the mode alone. */
static void example_first_order_methods(void** state) {
  const char* const methods[] = {"bbb", "map"};
  const int64_t sizes[] = {1, 1};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    double mean[2], variance[2];
    learner l;
    OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, BDL_GAUSSIAN, &l.model));
    OK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &l.posterior)); /* rank 0: diagonal */
    OK(bdl_optimizer_create(l.model, l.posterior, methods[k], N, &l.optimizer));
    OK(bdl_optimizer_set_double(l.optimizer, "learning_rate", 0.05)); /* Adam's */
    OK(bdl_optimizer_fit(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100, NULL, NULL));
    OK(bdl_posterior_mean(l.posterior, bdl_f64_out(mean, 1, 2)));
    assert_true(fabs(mean[0] - 3) < 0.1 && fabs(mean[1]) < 0.1);
    assert_int_equal(bdl_posterior_has_covariance(l.posterior), k == 0); /* the mode has none */
    if (k == 0) OK(bdl_posterior_marginal_variance(l.posterior, bdl_f64_out(variance, 1, 2)));
    assert_true(k == 1 || variance[0] < 0.01);
    learner_free(&l);
  }
}

/* A loop of one's own, and a prior for each parameter. */
static void example_steps(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  double prior[2] = {0.5, 2}, rows[4 * 2] = {0};
  int64_t step;
  (void)state;
  OK(bdl_optimizer_set_prior(l.optimizer, bdl_f64(prior, 1, 2)));
  prior[0] = prior[1] = 0;
  for (int first = 0; first < N; first += 10)
    OK(bdl_optimizer_step(l.optimizer, bdl_f64(x + first, 10, 1), bdl_f64(y + first, 10, 1)));
  OK(bdl_optimizer_step_rows(l.optimizer, bdl_f64(rows, 4, 2))); /* gradients from elsewhere */
  OK(bdl_optimizer_progress(l.optimizer, &step, NULL, NULL));
  assert_int_equal(step, 3000 + 11);
  OK(bdl_optimizer_get_prior(l.optimizer, bdl_f64_out(prior, 1, 2)));
  assert_true(prior[0] == 0.5 && prior[1] == 2);
  learner_free(&l);
}

/* The curvature of all data around the mean: for the bias of a line, N times the noise precision. */
static void example_laplace(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  double precision[2] = {0}, prior[2] = {0}, noise_precision = 0;
  (void)state;
  OK(bdl_optimizer_laplace(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1)));
  OK(bdl_posterior_precision_diagonal(l.posterior, bdl_f64_out(precision, 1, 2)));
  OK(bdl_optimizer_get_prior(l.optimizer, bdl_f64_out(prior, 1, 2)));
  OK(bdl_model_get_noise_precision(l.model, bdl_f64_out(&noise_precision, 1, 1)));
  assert_true(fabs(precision[1] / (N * noise_precision + prior[1]) - 1) < 1e-12);
  learner_free(&l);
}

/* How good are prior and noise? The evidence tells, without other data, and has one optimum. */
static void example_evidence(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  const double weak_prior = 0.01;
  double now, weak, best, effective, gap;
  int64_t steps;
  (void)state;
  OK(bdl_optimizer_laplace(l.optimizer, inputs, targets));
  OK(bdl_optimizer_evidence(l.optimizer, bdl_none(), bdl_none(), &now, NULL, &effective));
  OK(bdl_optimizer_evidence(l.optimizer, bdl_f64(&weak_prior, 1, 1), bdl_none(), &weak, NULL, NULL));
  assert_true(effective > 0 && effective < 2);
  OK(bdl_optimizer_maximize_evidence(l.optimizer, "prior noise", &best, &steps));
  assert_true(best >= now && best >= weak);
  OK(bdl_optimizer_mode_gap(l.optimizer, inputs, targets, &gap));
  assert_true(gap >= 0);
  learner_free(&l);
}

/* Whether a network has learned anything: a line has nothing that could be the same for every row. */
static void example_answers(void** state) {
  double spread;
  const char* message;
  learner l = learn(BDL_GAUSSIAN, y);
  (void)state;
  OK(bdl_optimizer_diagnose_answers(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1), &spread, &message));
  assert_true(isinf(spread));
  assert_string_equal(message, "");
  learner_free(&l);
}

static void example_elbo(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  double running, running_kl, likelihood, kl;
  (void)state;
  OK(bdl_optimizer_running_elbo(l.optimizer, &running, &running_kl));
  OK(bdl_optimizer_elbo(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, 1, &likelihood, &kl));
  assert_true(running_kl == kl);
  /* Noise of standard deviation 0.1: log N(y) is -log(0.1 sqrt(2 pi e)) = 0.88 for each example. */
  assert_true(fabs(likelihood / N - 0.88) < 0.3 && fabs(running / N - 0.88) < 0.3);
  learner_free(&l);
}

static void example_predictions(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  const double levels[] = {0.05, 0.95};
  double mean[N], epistemic[N], noise[N], quantiles[2 * N], lower[N], upper[N], density[N];
  static double draws[N * 200];
  double rmse, coverage, lpd, standard_error, crps;
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  (void)state;
  OK(bdl_predict(l.model, l.posterior, inputs, BDL_MONTE_CARLO, 200, 1, bdl_f64_out(mean, N, 1),
                 bdl_f64_out(epistemic, N, 1), bdl_f64_out(noise, N, 1)));
  assert_true(fabs(mean[0] + 3) < 0.1 && epistemic[0] > 0 && epistemic[0] < noise[0]);
  OK(bdl_predict_quantiles(l.model, l.posterior, inputs, BDL_QUADRATURE, 0, 0, bdl_f64(levels, 1, 2),
                           bdl_f64_out(quantiles, N, 2)));
  OK(bdl_predict_interval(l.model, l.posterior, inputs, BDL_QUADRATURE, 0, 0, 0.9, bdl_f64_out(lower, N, 1),
                          bdl_f64_out(upper, N, 1)));
  assert_true(fabs(lower[0] - quantiles[0]) < 1e-8 && fabs(upper[0] - quantiles[1]) < 1e-8);
  OK(bdl_predict_log_density(l.model, l.posterior, inputs, targets, BDL_MONTE_CARLO, 200, 1,
                             bdl_f64_out(density, N, 1)));
  OK(bdl_predict_draws(l.model, l.posterior, inputs, 200, 1, bdl_f64_out(draws, N, 200)));

  OK(bdl_metric_rmse(bdl_f64(mean, N, 1), targets, &rmse));
  assert_true(fabs(rmse - 0.1) < 0.03);
  OK(bdl_metric_log_predictive_density(bdl_f64(density, N, 1), &lpd, &standard_error));
  assert_true(fabs(lpd - 0.88) < 0.3 && standard_error > 0 && standard_error < 0.2);
  OK(bdl_metric_coverage(bdl_f64(lower, N, 1), bdl_f64(upper, N, 1), targets, &coverage));
  assert_true(coverage > 0.8 && coverage <= 1);
  OK(bdl_metric_crps(bdl_f64(draws, N, 200), targets, &crps));
  assert_true(crps > 0.03 && crps < 0.08); /* 0.56 standard deviations for a correct Gaussian */
  learner_free(&l);
}

static void example_classes(void** state) {
  double positive[N], p[N], entropy[N], information[N], accuracy, brier, ece;
  learner l;
  (void)state;
  for (int i = 0; i < N; ++i) positive[i] = y[i] > 0;
  l = learn(BDL_BERNOULLI, positive);
  OK(bdl_predict_classes(l.model, l.posterior, bdl_f64(x, N, 1), BDL_MONTE_CARLO, 200, 1,
                         bdl_f64_out(p, N, 1), bdl_f64_out(entropy, N, 1), bdl_f64_out(information, N, 1)));
  assert_true(p[0] < 0.1 && p[N - 1] > 0.9);
  assert_true(entropy[N / 2] > entropy[0] && information[N / 2] <= entropy[N / 2]); /* unsure in the middle */
  OK(bdl_metric_accuracy(bdl_f64(p, N, 1), bdl_f64(positive, N, 1), &accuracy));
  OK(bdl_metric_brier(bdl_f64(p, N, 1), bdl_f64(positive, N, 1), &brier));
  OK(bdl_metric_ece(bdl_f64(p, N, 1), bdl_f64(positive, N, 1), 15, &ece));
  assert_true(accuracy > 0.9 && brier < 0.2 && ece < 0.3);
  learner_free(&l);
}

static void example_checkpoint(void** state) {
  char path[] = "/tmp/bdl-example-XXXXXX";
  const int file = mkstemp(path);
  learner l = learn(BDL_GAUSSIAN, y), loaded;
  double mean[2], same[2];
  (void)state;
  assert_true(file >= 0 && close(file) == 0);
  OK(bdl_save(path, NULL, NULL, l.optimizer)); /* with its model and posterior */
  OK(bdl_load(path, NULL, &loaded.model, &loaded.posterior, &loaded.optimizer));
  OK(bdl_posterior_mean(l.posterior, bdl_f64_out(mean, 1, 2)));
  OK(bdl_posterior_mean(loaded.posterior, bdl_f64_out(same, 1, 2)));
  assert_memory_equal(mean, same, sizeof mean);
  learner_free(&l);
  learner_free(&loaded);
  assert_int_equal(unlink(path), 0);
}

/* A checkpoint in memory, and the parts that a file has. */
static void example_checkpoint_in_memory(void** state) {
  char path[] = "/tmp/bdl-example-XXXXXX";
  const int file = mkstemp(path);
  learner l = learn(BDL_GAUSSIAN, y), loaded;
  int64_t size;
  int32_t has_model, needs_user_model, has_posterior, has_optimizer;
  double mean[2], same[2];
  char* bytes;
  (void)state;
  OK(bdl_save_bytes(NULL, NULL, l.optimizer, NULL, 0, &size));
  bytes = (char*)malloc((size_t)size);
  assert_non_null(bytes);
  OK(bdl_save_bytes(NULL, NULL, l.optimizer, bytes, size, &size));
  OK(bdl_load_bytes(bytes, size, NULL, &loaded.model, &loaded.posterior, &loaded.optimizer));
  free(bytes);
  OK(bdl_posterior_mean(l.posterior, bdl_f64_out(mean, 1, 2)));
  OK(bdl_posterior_mean(loaded.posterior, bdl_f64_out(same, 1, 2)));
  assert_memory_equal(mean, same, sizeof mean);

  assert_true(file >= 0 && close(file) == 0);
  OK(bdl_save(path, l.model, NULL, NULL));
  OK(bdl_checkpoint_parts(path, &has_model, &needs_user_model, &has_posterior, &has_optimizer));
  assert_true(has_model && !needs_user_model && !has_posterior && !has_optimizer);
  learner_free(&l);
  learner_free(&loaded);
  assert_int_equal(unlink(path), 0);
}

/* Descriptions of handles, for example of those from an unknown file. */
static void example_descriptions(void** state) {
  learner l = learn(BDL_GAUSSIAN, y);
  (void)state;
  assert_int_equal(bdl_model_dtype(l.model), BDL_F64);
  assert_int_equal(bdl_model_likelihood(l.model), BDL_GAUSSIAN);
  assert_int_equal(bdl_model_activation(l.model), BDL_IDENTITY);
  assert_int_equal(bdl_posterior_dtype(l.posterior), BDL_F64);
  assert_int_equal(bdl_posterior_family(l.posterior), BDL_LOW_RANK);
  assert_false(bdl_posterior_is_blank(l.posterior));
  assert_true(bdl_posterior_has_covariance(l.posterior)); /* method "map" would have found the mean only */
  assert_string_equal(bdl_optimizer_method(l.optimizer), "slang-ggn");
  assert_int_equal(bdl_optimizer_data_size(l.optimizer), N);
  learner_free(&l);
}

/* A program with an event loop, or an interpreter, looks here whether the user wants to go on. */
static int32_t cancelled(void* user_data) {
  return *(const int32_t*)user_data;
}

static void example_interruption(void** state) {
  int32_t user_has_had_enough = 1;
  learner l = learn(BDL_GAUSSIAN, y);
  (void)state;
  bdl_set_interrupt(cancelled, &user_has_had_enough);
  assert_int_equal(bdl_optimizer_fit(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100000, NULL, NULL),
                   BDL_STOPPED); /* it is asked every 10 ms */
  bdl_set_interrupt(NULL, NULL);
  learner_free(&l);
}

int test_examples_training(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_methods),
                                     cmocka_unit_test(example_what_methods_are_for),
                                     cmocka_unit_test(example_defaults),
                                     cmocka_unit_test(example_noise),
                                     cmocka_unit_test(example_options),
                                     cmocka_unit_test(example_fit),
                                     cmocka_unit_test(example_stopping),
                                     cmocka_unit_test(example_first_order_methods),
                                     cmocka_unit_test(example_steps),
                                     cmocka_unit_test(example_laplace),
                                     cmocka_unit_test(example_evidence),
                                     cmocka_unit_test(example_answers),
                                     cmocka_unit_test(example_elbo),
                                     cmocka_unit_test(example_predictions),
                                     cmocka_unit_test(example_classes),
                                     cmocka_unit_test(example_checkpoint),
                                     cmocka_unit_test(example_checkpoint_in_memory),
                                     cmocka_unit_test(example_descriptions),
                                     cmocka_unit_test(example_interruption)};
  return cmocka_run_group_tests(tests, make_data, NULL);
}
