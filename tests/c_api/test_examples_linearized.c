/* Predictions of the linearised model, the way a newcomer would call them. */
#include "c_api_test.h"

enum { N = 3 };

static const double x[N] = {-1, 0, 2};

/* f = w x + b, with w ~ N(2, 0.25) and b ~ N(1, 0.04) independent. */
static void line_create(bdl_likelihood likelihood, bdl_model** model, bdl_posterior** posterior) {
  const int64_t sizes[] = {1, 1};
  const double mean[] = {2, 1}, precision[] = {4, 25};
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood, model));
  OK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, posterior));
  OK(bdl_posterior_set_low_rank(*posterior, bdl_f64(mean, 1, 2), bdl_none(), bdl_f64(precision, 1, 2)));
}

static double line_variance(int i) {
  return 0.25 * x[i] * x[i] + 0.04;
}

/* A filter reads mean and covariance of the model's outputs, before the noise. */
static void example_output_distribution(void** state) {
  double mean[N], covariance[N];
  bdl_model* model;
  bdl_posterior* posterior;
  (void)state;
  line_create(BDL_GAUSSIAN, &model, &posterior);
  OK(bdl_predict_output_distribution(model, posterior, bdl_f64(x, N, 1), bdl_f64_out(mean, N, 1),
                                     bdl_f64_out(covariance, N, 1)));
  for (int i = 0; i < N; ++i) {
    assert_true(fabs(mean[i] - (2 * x[i] + 1)) < 1e-12);
    assert_true(fabs(covariance[i] - line_variance(i)) < 1e-12);
  }
  bdl_model_free(model);
  bdl_posterior_free(posterior);
}

/* A row that is like no row of the training data: its leverage over their mean. */
static void example_leverage(void** state) {
  const double far = 6, noise_precision = 0.5;
  double leverage[N], left_out[N], of_far, mean = 0, limit = 0;
  bdl_model* model;
  bdl_posterior* posterior;
  (void)state;
  line_create(BDL_GAUSSIAN, &model, &posterior);
  OK(bdl_model_set_noise_precision(model, bdl_f64(&noise_precision, 1, 1)));
  OK(bdl_predict_leverage(model, posterior, bdl_f64(x, N, 1), bdl_f64_out(leverage, N, 1),
                          bdl_f64_out(left_out, N, 1)));
  for (int i = 0; i < N; ++i) { /* of the training rows */
    assert_true(fabs(leverage[i] - line_variance(i)) < 1e-12 && left_out[i] > leverage[i]);
    mean += leverage[i] / N;
    limit = fmax(limit, left_out[i]); /* of more rows a quantile */
  }
  OK(bdl_predict_leverage(model, posterior, bdl_f64(&far, 1, 1), bdl_f64_out(&of_far, 1, 1), bdl_none_out()));
  assert_true(leverage[0] / mean < 1 && of_far > limit);
  bdl_model_free(model);
  bdl_posterior_free(posterior);
}

/* The row of an example with C outputs holds the C x C covariance row by row. */
static void example_two_outputs(void** state) {
  const int64_t sizes[] = {1, 4, 2};
  double mean[2 * N], covariance[4 * N];
  bdl_model* model;
  bdl_posterior* posterior;
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 2, &posterior));
  OK(bdl_predict_output_distribution(model, posterior, bdl_f64(x, N, 1), bdl_f64_out(mean, N, 2),
                                     bdl_f64_out(covariance, N, 4)));
  for (int i = 0; i < N; ++i) {
    const double* s = covariance + 4 * i;
    assert_true(s[0] > 0 && s[3] > 0 && s[1] == s[2] && s[1] * s[1] <= s[0] * s[3]);
  }
  bdl_model_free(model);
  bdl_posterior_free(posterior);
}

/* Regression: y ~ N(f, variance of f + noise). */
static void example_closed_form(void** state) {
  const double y[N] = {0, 1, 4}, levels[] = {0.5, 0.8413447460685429}, pi = acos(-1.0);
  double mean[N], epistemic[N], noise[N], density[N], quantiles[2 * N], draws[N * 100];
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  bdl_model* model;
  bdl_posterior* posterior;
  (void)state;
  line_create(BDL_GAUSSIAN, &model, &posterior);
  OK(bdl_predict(model, posterior, inputs, BDL_LINEARIZED, 0, 0, bdl_f64_out(mean, N, 1),
                 bdl_f64_out(epistemic, N, 1), bdl_f64_out(noise, N, 1)));
  OK(bdl_predict_log_density(model, posterior, inputs, targets, BDL_LINEARIZED, 0, 0,
                             bdl_f64_out(density, N, 1)));
  OK(bdl_predict_quantiles(model, posterior, inputs, BDL_LINEARIZED, 0, 0, bdl_f64(levels, 1, 2),
                           bdl_f64_out(quantiles, N, 2)));
  for (int i = 0; i < N; ++i) {
    const double variance = line_variance(i) + 1, error = y[i] - (2 * x[i] + 1);
    assert_true(fabs(epistemic[i] - line_variance(i)) < 1e-12 && noise[i] == 1);
    assert_true(fabs(density[i] + 0.5 * (log(2 * pi * variance) + error * error / variance)) < 1e-12);
    assert_true(fabs(quantiles[2 * i] - mean[i]) < 1e-9);
    assert_true(fabs(quantiles[2 * i + 1] - mean[i] - sqrt(variance)) < 1e-9); /* one standard deviation */
  }
  OK(bdl_predict_draws_by(model, posterior, inputs, BDL_LINEARIZED, 100, 1, bdl_f64_out(draws, N, 100)));
  assert_true(fabs(draws[0] - mean[0]) < 7 * sqrt(epistemic[0] + 1));
  bdl_model_free(model);
  bdl_posterior_free(posterior);
}

/* Classification: the probit approximation, and linearised Monte Carlo that it approximates. */
static void example_probit(void** state) {
  double p[N], entropy[N], information[N], averaged[N];
  const double pi = acos(-1.0);
  const bdl_matrix inputs = bdl_f64(x, N, 1);
  bdl_model* model;
  bdl_posterior* posterior;
  (void)state;
  line_create(BDL_BERNOULLI, &model, &posterior);
  OK(bdl_predict_classes(model, posterior, inputs, BDL_LINEARIZED, 0, 0, bdl_f64_out(p, N, 1),
                         bdl_f64_out(entropy, N, 1), bdl_f64_out(information, N, 1)));
  OK(bdl_predict_classes(model, posterior, inputs, BDL_LINEARIZED_MONTE_CARLO, 20000, 1,
                         bdl_f64_out(averaged, N, 1), bdl_none_out(), bdl_none_out()));
  for (int i = 0; i < N; ++i) {
    const double logit = (2 * x[i] + 1) / sqrt(1 + pi * line_variance(i) / 8);
    assert_true(fabs(p[i] - 1 / (1 + exp(-logit))) < 1e-12);
    assert_true(fabs(p[i] - averaged[i]) < 0.02);
    assert_true(information[i] > 0 && information[i] < entropy[i]);
  }
  bdl_model_free(model);
  bdl_posterior_free(posterior);
}

int test_examples_linearized(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_output_distribution),
                                     cmocka_unit_test(example_two_outputs),
                                     cmocka_unit_test(example_closed_form), cmocka_unit_test(example_probit),
                                     cmocka_unit_test(example_leverage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
