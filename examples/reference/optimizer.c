/* Optimizers: training, its priors, its progress and what it has learned. */
#include "example.h"

enum { N = 100 };

/* y = 3 x + noise of standard deviation 0.1, on [-1, 1]. */
static double x[N], y[N];

typedef struct learner {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} learner;

/* A straight line y = a x + b and its optimizer. */
static learner create(const char* method, int64_t rank) {
  const int64_t sizes[] = {1, 1};
  learner l;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &l.model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, rank, &l.posterior));
  CHECK(
      bdl_optimizer_create(l.model, l.posterior, method, N, &l.optimizer));
  return l;
}

static learner learn(void) {
  learner l = create("slang-ggn", 1);
  CHECK(bdl_optimizer_fit(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1),
                          300, NULL, NULL));
  return l;
}

static void learner_free(learner* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->posterior);
  bdl_model_free(l->model);
}

static void fit(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  bdl_posterior* posterior;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &posterior));
  /* [bdl_optimizer_create] [bdl_optimizer_free] */
  bdl_optimizer* opt; /* of a model and a posterior, for 100 examples */
  CHECK(bdl_optimizer_create(model, posterior, "slang-ggn", N, &opt));
  /* [bdl_optimizer_create] [bdl_optimizer_free] */

  /* [bdl_optimizer_method] [bdl_optimizer_data_size] */
  printf("%s, N = %d\n", bdl_optimizer_method(opt),
         (int)bdl_optimizer_data_size(opt));
  /* [bdl_optimizer_method] [bdl_optimizer_data_size] */
  EXPECT(strcmp(bdl_optimizer_method(opt), "slang-ggn") == 0 &&
         bdl_optimizer_data_size(opt) == N);

  /* [bdl_optimizer_minibatch] */
  int64_t minibatch;
  CHECK(bdl_optimizer_minibatch(opt, &minibatch));
  printf("%d examples a step\n", (int)minibatch);
  /* [bdl_optimizer_minibatch] */
  EXPECT(minibatch == 10);

  /* [bdl_optimizer_memory] */
  int64_t bytes; /* before anything is allocated */
  CHECK(bdl_optimizer_memory(opt, 0, &bytes));
  printf("training will take up to %d bytes\n", (int)bytes);
  /* [bdl_optimizer_memory] */
  EXPECT(bytes > 0);

  /* [bdl_optimizer_fit] */
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 300,
                          NULL, NULL));
  double mean[2];
  CHECK(bdl_posterior_mean(posterior, bdl_f64_out(mean, 1, 2)));
  printf("slope %.2f, intercept %.2f\n", mean[0], mean[1]);
  /* [bdl_optimizer_fit] */
  EXPECT(fabs(mean[0] - 3) < 0.1 && fabs(mean[1]) < 0.1);

  /* [bdl_optimizer_progress] */
  int64_t step, planned;
  double epoch;
  CHECK(bdl_optimizer_progress(opt, &step, &planned, &epoch));
  printf("step %d of %d, epoch %g\n", (int)step, (int)planned, epoch);
  /* [bdl_optimizer_progress] */
  EXPECT(step == planned && epoch == 300);

  /* [bdl_optimizer_diagnose] */
  double mean_shift, precision_shift;
  const char* message;
  CHECK(
      bdl_optimizer_diagnose(opt, &mean_shift, &precision_shift, &message));
  printf("message: \"%s\"\n", message); /* "": nothing is wrong */
  /* [bdl_optimizer_diagnose] */
  EXPECT(strcmp(message, "") == 0 && mean_shift > 1 &&
         precision_shift > 0.1);

  /* [bdl_optimizer_diagnose_answers] */
  double spread; /* infinite for a model without hidden units */
  CHECK(bdl_optimizer_diagnose_answers(
      opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), &spread, &message));
  printf("spread %g, message: \"%s\"\n", spread, message);
  /* [bdl_optimizer_diagnose_answers] */
  EXPECT(isinf(spread) && strcmp(message, "") == 0);

  /* [bdl_optimizer_guarded_steps] */
  printf("the divergence guard has limited %d steps\n",
         (int)bdl_optimizer_guarded_steps(opt));
  /* [bdl_optimizer_guarded_steps] */
  EXPECT(bdl_optimizer_guarded_steps(opt) >= 0);
  /* [bdl_optimizer_free] */
  bdl_optimizer_free(opt);
  /* [bdl_optimizer_free] */
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

/* [bdl_optimizer_progress] */
/* Watches training, and ends it after ten epochs. */
static int32_t stop_after_ten(void* user_data,
                              const bdl_optimizer* optimizer) {
  double epoch;
  CHECK(bdl_optimizer_progress(optimizer, NULL, NULL, &epoch));
  ++*(int*)user_data;
  return epoch >= 10;
}
/* [bdl_optimizer_progress] */

static void stopping(void) {
  learner l = learn();
  bdl_optimizer* opt = l.optimizer;
  /* [bdl_optimizer_initialize] */
  CHECK(bdl_optimizer_initialize(opt)); /* forgets what it has learned */
  /* [bdl_optimizer_initialize] */
  int calls = 0;
  bdl_status status = bdl_optimizer_fit(
      opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 20, stop_after_ten, &calls);
  EXPECT(status == BDL_STOPPED && calls == 10);

  /* [bdl_optimizer_request_stop] */
  bdl_optimizer_request_stop(
      opt); /* as a signal handler or another thread would */
  status = bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0,
                             NULL, NULL);
  printf("%s\n", bdl_status_name(status));
  /* 0 epochs: finishes the fit that was stopped. */
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, NULL,
                          NULL));
  /* [bdl_optimizer_request_stop] */
  EXPECT(status == BDL_STOPPED);
  learner_free(&l);
}

/* A training loop of the caller. */
static void steps(void) {
  learner l = learn();
  bdl_optimizer* opt = l.optimizer;
  /* [bdl_optimizer_set_prior] */
  const double precision[] = {0.5, 2}; /* of the weight and of the bias */
  CHECK(bdl_optimizer_set_prior(opt, bdl_f64(precision, 1, 2)));
  /* [bdl_optimizer_set_prior] */

  /* [bdl_optimizer_set_prior_normal] */
  const double location = 0, scale[] = {0.5, NAN}; /* the weight's alone */
  CHECK(bdl_optimizer_set_prior_normal(opt, bdl_f64(&location, 1, 1),
                                       bdl_f64(scale, 1, 2)));
  /* [bdl_optimizer_set_prior_normal] */

  /* [bdl_optimizer_set_prior_coefficients] */
  /* [bdl_optimizer_get_prior_coefficients] */
  const double expected[] = {0, 2}, about[] = {INFINITY, 0.5};
  CHECK(bdl_optimizer_set_prior_coefficients(
      opt, /* intercept flat, slope */
      bdl_f64(expected, 1, 2), bdl_f64(about, 1, 2)));
  double locations[2], scales[2]; /* in the units of x and y */
  CHECK(bdl_optimizer_get_prior_coefficients(
      opt, bdl_f64_out(locations, 1, 2), bdl_f64_out(scales, 1, 2)));
  printf("slope: %g +- %g\n", locations[1], scales[1]);
  /* [bdl_optimizer_get_prior_coefficients] */
  /* [bdl_optimizer_set_prior_coefficients] */
  EXPECT(locations[1] == 2 && scales[1] == 0.5);
  CHECK(bdl_optimizer_set_prior(opt, bdl_f64(precision, 1, 2)));

  /* [bdl_optimizer_step] */
  for (int first = 0; first < N; first += 10) /* minibatches of ten rows */
    CHECK(bdl_optimizer_step(opt, bdl_f64(x + first, 10, 1),
                             bdl_f64(y + first, 10, 1)));
  /* [bdl_optimizer_step] */

  /* [bdl_optimizer_step_rows] */
  double rows[4][2] = {
      {0}}; /* gradients of -log p of four examples, from your own code */
  CHECK(bdl_optimizer_step_rows(opt, bdl_f64(rows[0], 4, 2)));
  /* [bdl_optimizer_step_rows] */
  int64_t step;
  CHECK(bdl_optimizer_progress(opt, &step, NULL, NULL));
  EXPECT(step == 3000 + 11);

  /* [bdl_optimizer_get_prior] */
  double prior[2];
  CHECK(bdl_optimizer_get_prior(opt, bdl_f64_out(prior, 1, 2)));
  printf("prior precisions %g and %g\n", prior[0], prior[1]);
  /* [bdl_optimizer_get_prior] */
  EXPECT(prior[0] == 0.5 && prior[1] == 2);
  learner_free(&l);
}

/* The posterior of some data is the prior of the next: y = x with noise of variance
   1, seen at x = 1 and 2, has the precision 1 + 1 + 4 from the prior N(0, 1). */
static void posterior_as_prior(void) {
  const int64_t sizes[] = {1, 1};
  const double seen_x[] = {1, 2}, seen_y[] = {1, 2}, one = 1;
  bdl_model* model;
  bdl_posterior *first, *second;
  bdl_optimizer* opt;
  double mean = 0, variance = 0;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&one, 1, 1)));
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &first));
  CHECK(bdl_optimizer_create(model, first, "exact-full", 1, &opt));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(&seen_x[0], 1, 1),
                          bdl_f64(&seen_y[0], 1, 1), 100, NULL, NULL));
  bdl_optimizer_free(opt);
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &second));
  CHECK(bdl_optimizer_create(model, second, "exact-full", 1, &opt));
  /* [bdl_optimizer_set_prior_posterior] */
  CHECK(bdl_optimizer_set_prior_posterior(
      opt, first)); /* learned from earlier data; copied */
  CHECK(bdl_optimizer_fit(opt, bdl_f64(&seen_x[1], 1, 1),
                          bdl_f64(&seen_y[1], 1, 1), 100, NULL, NULL));
  CHECK(bdl_posterior_mean(second, bdl_f64_out(&mean, 1, 1)));
  CHECK(bdl_posterior_marginal_variance(second,
                                        bdl_f64_out(&variance, 1, 1)));
  printf("mean %.4f, variance %.4f: as from all data at once\n", mean,
         variance);
  /* [bdl_optimizer_set_prior_posterior] */
  EXPECT(near_to(variance, 1. / 6, 1e-9) && near_to(mean, 5. / 6, 1e-9));
  bdl_optimizer_free(opt);
  bdl_posterior_free(first);
  bdl_posterior_free(second);
  bdl_model_free(model);
}

/* Bayes by Backprop on a diagonal posterior, and the mode alone. */
static void first_order_methods(void) {
  const char* const methods[] = {"bbb", "map"};
  for (int k = 0; k < 2; ++k) {
    double mean[2], variance[2] = {0};
    learner l = create(methods[k], 0); /* rank 0: diagonal */
    CHECK(bdl_optimizer_set_double(l.optimizer, "learning_rate",
                                   0.05)); /* Adam's */
    CHECK(bdl_optimizer_fit(l.optimizer, bdl_f64(x, N, 1), bdl_f64(y, N, 1),
                            100, NULL, NULL));
    CHECK(bdl_posterior_mean(l.posterior, bdl_f64_out(mean, 1, 2)));
    EXPECT(fabs(mean[0] - 3) < 0.1 && fabs(mean[1]) < 0.1);
    EXPECT(bdl_posterior_has_covariance(l.posterior) ==
           (k == 0)); /* a mode has none */
    if (k == 0)
      CHECK(bdl_posterior_marginal_variance(l.posterior,
                                            bdl_f64_out(variance, 1, 2)));
    EXPECT(variance[0] < 0.01);
    learner_free(&l);
  }
}

/* The optimum of a generalised linear model. */
static void exact(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &q));
  CHECK(bdl_optimizer_create(model, q, "exact-full", N, &opt));
  CHECK(bdl_optimizer_set_text(
      opt, "bias_prior_precision=1e-4 learn_noise=1 tolerance=1e-8"));
  /* [bdl_optimizer_start_noise] */
  CHECK(bdl_optimizer_start_noise(
      opt, bdl_f64(y, N, 1))); /* from the variance of y */
  double precision;
  CHECK(
      bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  printf("training starts from noise with precision %.2f\n", precision);
  /* [bdl_optimizer_start_noise] */
  EXPECT(precision > 0.1 && precision < 1);
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100,
                          NULL, NULL));
  CHECK(
      bdl_model_get_noise_precision(model, bdl_f64_out(&precision, 1, 1)));
  EXPECT(precision > 50 && precision < 200); /* 1 / 0.1^2 */
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Laplace's approximation. For the bias of a line its precision is N times the
 * noise precision plus the prior. */
static void laplace(void) {
  learner l = learn();
  bdl_optimizer* opt = l.optimizer;
  double precision[2], prior[2], noise_precision;
  /* [bdl_optimizer_laplace] */
  CHECK(bdl_optimizer_laplace(opt, bdl_f64(x, N, 1),
                              bdl_f64(y, N, 1))); /* the mean stays */
  /* [bdl_optimizer_laplace] */
  CHECK(bdl_posterior_precision_diagonal(l.posterior,
                                         bdl_f64_out(precision, 1, 2)));
  CHECK(bdl_optimizer_get_prior(opt, bdl_f64_out(prior, 1, 2)));
  CHECK(bdl_model_get_noise_precision(l.model,
                                      bdl_f64_out(&noise_precision, 1, 1)));
  EXPECT(
      near_to(precision[1] / (N * noise_precision + prior[1]), 1, 1e-12));

  /* [bdl_optimizer_evidence] */
  const double weak =
      0.01; /* another prior precision, in place of the present one */
  double now, with_weak, effective;
  CHECK(bdl_optimizer_evidence(opt, bdl_none(), bdl_none(), &now, NULL,
                               &effective));
  CHECK(bdl_optimizer_evidence(opt, bdl_f64(&weak, 1, 1), bdl_none(),
                               &with_weak, NULL, NULL));
  printf(
      "log evidence %.1f, with a weak prior %.1f; %.2f effective "
      "parameters\n",
      now, with_weak, effective);
  /* [bdl_optimizer_evidence] */
  EXPECT(effective > 0 && effective < 2);

  /* [bdl_optimizer_maximize_evidence] */
  double best;
  int64_t steps;
  CHECK(bdl_optimizer_maximize_evidence(opt, "prior noise", &best, &steps));
  printf("largest log evidence %.1f, after %d steps\n", best, (int)steps);
  /* [bdl_optimizer_maximize_evidence] */
  EXPECT(best >= now && best >= with_weak);

  /* [bdl_optimizer_mode_gap] */
  double gap; /* below 1: the mean is close enough to a mode */
  CHECK(bdl_optimizer_mode_gap(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1),
                               &gap));
  printf("below 1: %d\n", gap < 1);
  /* [bdl_optimizer_mode_gap] */
  EXPECT(gap >= 0);
  learner_free(&l);
}

static void elbo(void) {
  learner l = learn();
  bdl_optimizer* opt = l.optimizer;
  double running, running_kl, likelihood, kl;
  /* [bdl_optimizer_running_elbo] */
  CHECK(bdl_optimizer_running_elbo(
      opt, &running, &running_kl)); /* from the steps so far */
  printf("expected log likelihood %.0f nats, KL %.0f nats\n", running,
         running_kl);
  /* [bdl_optimizer_running_elbo] */
  /* [bdl_optimizer_elbo] */
  CHECK(bdl_optimizer_elbo(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 0, 1,
                           &likelihood, &kl));
  printf("ELBO %.0f nats\n",
         likelihood - kl); /* exact, by quadrature: 0 samples */
  /* [bdl_optimizer_elbo] */
  EXPECT(running_kl == kl);
  /* Noise of standard deviation 0.1: log N(y) is -log(0.1 sqrt(2 pi e)) = 0.88 for
   * each example. */
  EXPECT(fabs(likelihood / N - 0.88) < 0.3 &&
         fabs(running / N - 0.88) < 0.3);
  learner_free(&l);
}

/* Noise of a network's layers. */
static void noise(void) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_network(BDL_F32,
                                 "input 1 6 6; conv 4 3; relu; maxpool 2; "
                                 "flatten; dense 8; relu; dense 2",
                                 BDL_CATEGORICAL, &model));
  CHECK(bdl_posterior_create_layerwise_low_rank_moment(model, 2, &q));
  CHECK(bdl_optimizer_create(model, q, "elrg", 64, &opt));
  /* [bdl_optimizer_noise] */
  int32_t is_exact;
  const char* text;
  CHECK(bdl_optimizer_noise(opt, &is_exact, &text));
  printf("%s", text);
  /* [bdl_optimizer_noise] */
  EXPECT(is_exact == 1);
  EXPECT(strcmp(text,
                "conv 4 3: flipout, exact\ndense 8: local, exact\ndense 2: "
                "local, "
                "exact\n") == 0);
  CHECK(bdl_optimizer_set_choice(opt, "noise_estimator", "local"));
  CHECK(bdl_optimizer_noise(opt, &is_exact, &text));
  EXPECT(is_exact == 0 &&
         strstr(text, "conv 4 3: local, approximate\n") == text);
  CHECK(bdl_optimizer_noise(opt, NULL, NULL));
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int main(void) {
  draw_normal(y, N);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.1 * y[i];
  }
  fit();
  stopping();
  steps();
  posterior_as_prior();
  first_order_methods();
  exact();
  laplace();
  elbo();
  noise();
  return 0;
}
