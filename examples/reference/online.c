/* Streams: a model f = theta x with Gaussian noise of variance 1, whose posteriors
 * are known. */
#include "example.h"

typedef struct stream {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
} stream;

/* The prior is N(0, 1). */
static stream create(const char* method) {
  const int64_t sizes[] = {1, 1};
  const double zero = 0, one = 1;
  stream s;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN,
                             &s.model));
  CHECK(bdl_model_set_noise_precision(s.model, bdl_f64(&one, 1, 1)));
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &s.q));
  CHECK(bdl_posterior_set_full(s.q, bdl_f64(&zero, 1, 1),
                               bdl_f64(&one, 1, 1)));
  CHECK(bdl_optimizer_create(s.model, s.q, method, 1, &s.optimizer));
  return s;
}

static void stream_free(stream* s) {
  bdl_optimizer_free(s->optimizer);
  bdl_posterior_free(s->q);
  bdl_model_free(s->model);
}

static double mean_of(const bdl_posterior* q) {
  double mean = 0;
  CHECK(bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)));
  return mean;
}

static double variance_of(const bdl_posterior* q) {
  double variance = 0;
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)));
  return variance;
}

static void observe(void) {
  const double log_2_pi = 1.8378770664093453;
  stream s = create("bong");
  bdl_optimizer* opt = s.optimizer;
  /* [bdl_optimizer_observe] */
  /* Observations of a constant, from the prior N(0, 1). NaN: the second target is
   * missing. */
  const double x[] = {1, 1, 1, 1}, y[] = {2, NAN, 1, 3};
  double log_density[4];
  CHECK(bdl_optimizer_observe(opt, bdl_f64(x, 4, 1), bdl_f64(y, 4, 1),
                              bdl_f64_out(log_density, 4, 1)));
  printf("mean %g, variance %g\n", mean_of(s.q),
         variance_of(s.q)); /* 6 / 4 and 1 / 4 */
  printf("log p(first observation) = %.3f nats\n", log_density[0]);
  /* [bdl_optimizer_observe] */
  EXPECT(near_to(mean_of(s.q), 6.0 / 4, 1e-14) &&
         near_to(variance_of(s.q), 1.0 / 4, 1e-14));
  /* Before anything was seen, y ~ N(0, 1 + 1). */
  EXPECT(
      near_to(log_density[0], (-log_2_pi - log(2) - 4.0 / 2) / 2, 1e-14));
  EXPECT(isnan(log_density[1]));
  stream_free(&s);
}

/* A random walk: the variance grows by 0.5 a step, and by 0.5 once more before an
 * observation. */
static void forecast(void) {
  const double one = 1;
  stream s = create("ekf");
  bdl_optimizer* opt = s.optimizer;
  /* [bdl_optimizer_forecast] */
  CHECK(bdl_optimizer_set_double(opt, "process_noise",
                                 0.5));  /* theta drifts */
  CHECK(bdl_optimizer_forecast(opt, 2)); /* two steps of time */
  printf("variance %g\n", variance_of(s.q));
  /* [bdl_optimizer_forecast] */
  EXPECT(near_to(variance_of(s.q), 2, 1e-14));
  CHECK(bdl_optimizer_observe(opt, bdl_f64(&one, 1, 1), bdl_f64(&one, 1, 1),
                              bdl_none_out()));
  EXPECT(near_to(variance_of(s.q), 2.0 / 3, 1e-14) &&
         near_to(mean_of(s.q), 2.0 / 3, 1e-14));
  CHECK(bdl_optimizer_observe(opt, bdl_f64(&one, 1, 1), bdl_f64(&one, 1, 1),
                              bdl_none_out()));
  EXPECT(near_to(variance_of(s.q), 7.0 / 13,
                 1e-14)); /* 2/3 + 1/2 = 7/6, then 1 / (6/7 + 1) */
  stream_free(&s);
}

static void process_noise(void) {
  const int64_t sizes[] = {2, 1};
  const double zeros[] = {0, 0}, ones[] = {1, 1};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN,
                             &model));
  CHECK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  CHECK(bdl_posterior_set_diagonal_moment(q, bdl_f64(zeros, 1, 2),
                                          bdl_f64(ones, 1, 2)));
  CHECK(bdl_optimizer_create(model, q, "bong", 1, &opt));
  /* [bdl_optimizer_set_process_noise] */
  const double noise[] = {0, 3}; /* only the second parameter drifts */
  double variance[2];
  CHECK(bdl_optimizer_set_process_noise(opt, bdl_f64(noise, 1, 2)));
  CHECK(bdl_optimizer_forecast(opt, 1));
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 2)));
  printf("variances %g and %g\n", variance[0], variance[1]);
  /* [bdl_optimizer_set_process_noise] */
  EXPECT(variance[0] == 1 && variance[1] == 4);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Means over the stream: each row is scored before it is used. */
static void prequential(void) {
  stream s = create("bong");
  bdl_optimizer* opt = s.optimizer;
  /* [bdl_optimizer_prequential] */
  const double x[] = {1, 1}, y[] = {2, 2};
  double scores[2], log_density, error;
  int64_t count;
  CHECK(bdl_optimizer_observe(opt, bdl_f64(x, 2, 1), bdl_f64(y, 2, 1),
                              bdl_f64_out(scores, 2, 1)));
  CHECK(bdl_optimizer_prequential(opt, &count, &log_density, &error));
  printf("%d rows: log density %.2f nats, root mean squared error %.2f\n",
         (int)count, log_density, error);
  /* [bdl_optimizer_prequential] */
  EXPECT(count == 2 &&
         near_to(log_density, (scores[0] + scores[1]) / 2, 1e-14));
  EXPECT(
      near_to(error, sqrt((4 + 1) / 2.0), 1e-14)); /* predicted 0, then 1 */
  stream_free(&s);
}

/* The covariance step 1 - x^2 of a moment posterior would be negative for x = 2. */
static void shortened_steps(void) {
  const double zero = 0, one = 1, two = 2;
  const bdl_matrix x = bdl_f64(&two, 1, 1), y = bdl_f64(&one, 1, 1);
  stream s = create("bong");
  bdl_optimizer_free(s.optimizer);
  bdl_posterior_free(s.q);
  CHECK(bdl_posterior_create_full_moment(BDL_F64, 1, &s.q));
  CHECK(bdl_posterior_set_full_moment(s.q, bdl_f64(&zero, 1, 1),
                                      bdl_f64(&one, 1, 1)));
  CHECK(bdl_optimizer_create(s.model, s.q, "bong", 1, &s.optimizer));
  bdl_optimizer* opt = s.optimizer;
  CHECK(bdl_optimizer_set_choice(opt, "indefinite", "error"));
  EXPECT(bdl_optimizer_observe(opt, x, y, bdl_none_out()) ==
         BDL_ERROR_DIVERGED);
  EXPECT(variance_of(s.q) == 1 && bdl_optimizer_shortened_steps(opt) == 0);
  CHECK(bdl_optimizer_set_choice(opt, "indefinite", "shorten"));
  /* [bdl_optimizer_shortened_steps] */
  CHECK(bdl_optimizer_observe(
      opt, x, y, bdl_none_out())); /* the variance would be 1 - 2^2 */
  printf("variance %g; %d step was shortened\n", variance_of(s.q),
         (int)bdl_optimizer_shortened_steps(opt));
  /* [bdl_optimizer_shortened_steps] */
  EXPECT(near_to(variance_of(s.q), 0.5, 1e-12) &&
         bdl_optimizer_shortened_steps(opt) == 1);
  stream_free(&s);
}

/* [bdl_optimizer_set_draws] */
/* Samples in pairs: mean + deviation and mean - deviation. Of one parameter. */
static int32_t antithetic(void* user_data, bdl_draw_kind kind, int64_t step,
                          int64_t iteration, const bdl_posterior* q,
                          bdl_matrix_out draws) {
  double mean, variance;
  (void)step, (void)iteration;
  if (kind != BDL_DRAW_PARAMETERS) return 1;
  if (bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)) != BDL_OK) return 1;
  if (bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)) !=
      BDL_OK)
    return 1;
  for (int64_t i = 0; i < draws.rows; ++i)
    ((double*)draws.data)[i * draws.row_stride] =
        mean + (i % 2 ? -1 : 1) * sqrt(variance);
  ++*(int*)user_data;
  return 0;
}
/* [bdl_optimizer_set_draws] */

/* Exact Bayes by Hessians at two samples. */
static void own_draws(void) {
  const double x[] = {1, 2}, y[] = {2, 1};
  stream s = create("rvga");
  bdl_optimizer* opt = s.optimizer;
  /* [bdl_optimizer_set_draws] */
  int calls = 0;
  CHECK(bdl_optimizer_set_int(opt, "samples", 2));
  CHECK(bdl_optimizer_set_draws(opt, antithetic, &calls, NULL));
  CHECK(bdl_optimizer_observe(opt, bdl_f64(x, 2, 1), bdl_f64(y, 2, 1),
                              bdl_none_out()));
  printf("%d calls; mean %.3f, variance %.3f\n", calls, mean_of(s.q),
         variance_of(s.q));
  /* [bdl_optimizer_set_draws] */
  EXPECT(calls == 2);
  EXPECT(near_to(variance_of(s.q), 1.0 / 6, 1e-14)); /* 1 + 1 + 4 */
  EXPECT(near_to(mean_of(s.q), 4.0 / 6, 1e-14));     /* 2 + 2 */
  CHECK(bdl_optimizer_set_draws(
      opt, NULL, NULL, NULL)); /* the library's own streams again */
  CHECK(bdl_optimizer_observe(opt, bdl_f64(x, 1, 1), bdl_f64(y, 1, 1),
                              bdl_none_out()));
  EXPECT(calls == 2);
  stream_free(&s);
}

/* Signs for Hutchinson's estimate of a Hessian's diagonal. */
static int32_t signs(void* user_data, bdl_draw_kind kind, int64_t step,
                     int64_t iteration, const bdl_posterior* q,
                     bdl_matrix_out draws) {
  if (kind == BDL_DRAW_PARAMETERS)
    return bdl_posterior_sample(q, 1, step * 100 + iteration * 10, draws) ==
                   BDL_OK
               ? 0
               : 1;
  for (int64_t i = 0; i < draws.rows; ++i)
    for (int64_t j = 0; j < draws.cols; ++j)
      ((double*)draws.data)[i * draws.row_stride + j * draws.col_stride] =
          (i + j) % 2 ? -1 : 1;
  ++*(int*)user_data;
  return 0;
}

static void probes(void) {
  const int64_t sizes[] = {2, 1};
  const double x[] = {1, 2}, one = 1, zeros[] = {0, 0}, ones[] = {1, 1};
  double variance[2];
  int calls = 0;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 0, BDL_GAUSSIAN,
                             &model));
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&one, 1, 1)));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  CHECK(bdl_posterior_set_low_rank(q, bdl_f64(zeros, 1, 2), bdl_none(),
                                   bdl_f64(ones, 1, 2)));
  CHECK(bdl_optimizer_create(model, q, "bong", 1, &opt));
  CHECK(bdl_optimizer_set_text(opt, "curvature=mc-hess probes=1"));
  CHECK(bdl_optimizer_set_draws(opt, signs, &calls, NULL));
  CHECK(bdl_optimizer_observe(opt, bdl_f64(x, 1, 2), bdl_f64(&one, 1, 1),
                              bdl_none_out()));
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 2)));
  EXPECT(calls == 1);
  /* H = [1 2; 2 4] and z = (1, -1): z * (H z) = (-1, 2). The first precision would
     be 1 - 1 = 0: half of it is left. */
  EXPECT(near_to(variance[0], 2, 1e-12) &&
         near_to(variance[1], 1.0 / 3, 1e-12));
  EXPECT(bdl_optimizer_shortened_steps(opt) == 1);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int main(void) {
  observe();
  forecast();
  process_noise();
  prequential();
  shortened_steps();
  own_draws();
  probes();
  return 0;
}
