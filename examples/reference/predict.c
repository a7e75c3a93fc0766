/* Predictive distributions. */
#include "example.h"

enum { N = 100, M = 3, S = 20 };

/* y = 3 x + noise of standard deviation 0.1, on [-1, 1]. */
static double x[N], y[N];

/* A straight line, learned in 300 epochs. */
static void learn(bdl_likelihood likelihood, const double* targets,
                  bdl_model** model, bdl_posterior** q) {
  const int64_t sizes[] = {1, 1};
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood,
                             model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, q));
  CHECK(bdl_optimizer_create(*model, *q, "slang-ggn", N, &opt));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(targets, N, 1),
                          300, NULL, NULL));
  bdl_optimizer_free(opt);
}

static void regression(void) {
  static double density[N], all_mean[N], lower_all[N], upper_all[N],
      all_draws[N * 200];
  double rmse, coverage, lpd, standard_error, crps;
  bdl_model* model;
  bdl_posterior* q;
  learn(BDL_GAUSSIAN, y, &model, &q);
  /* [bdl_predict] */
  const double new_x[] = {-1, 0.5};
  double mean[2], epistemic[2], noise[2];
  CHECK(bdl_predict(model, q, bdl_f64(new_x, 2, 1), BDL_MONTE_CARLO, 200, 1,
                    bdl_f64_out(mean, 2, 1), bdl_f64_out(epistemic, 2, 1),
                    bdl_f64_out(noise, 2, 1)));
  printf("y(-1) = %.2f +- %.2f (model) +- %.2f (noise)\n", mean[0],
         sqrt(epistemic[0]), sqrt(noise[0]));
  /* [bdl_predict] */
  EXPECT(fabs(mean[0] + 3) < 0.1 && epistemic[0] > 0 &&
         epistemic[0] < noise[0]);

  /* [bdl_predict_quantiles] */
  const double levels[] = {0.05, 0.95};
  double quantiles[2][2]; /* a row for each x, a column for each level */
  CHECK(bdl_predict_quantiles(model, q, bdl_f64(new_x, 2, 1),
                              BDL_QUADRATURE, 0, 0, bdl_f64(levels, 1, 2),
                              bdl_f64_out(quantiles[0], 2, 2)));
  printf("quantiles of y(0.5): %.2f and %.2f\n", quantiles[1][0],
         quantiles[1][1]);
  /* [bdl_predict_quantiles] */

  /* [bdl_predict_interval] */
  double lower[2], upper[2];
  CHECK(bdl_predict_interval(model, q, bdl_f64(new_x, 2, 1), BDL_QUADRATURE,
                             0, 0, 0.9, bdl_f64_out(lower, 2, 1),
                             bdl_f64_out(upper, 2, 1)));
  printf("with probability 0.9, y(0.5) is between %.2f and %.2f\n",
         lower[1], upper[1]);
  /* [bdl_predict_interval] */
  EXPECT(near_to(lower[0], quantiles[0][0], 1e-8) &&
         near_to(upper[0], quantiles[0][1], 1e-8));

  /* [bdl_predict_log_density] */
  const double seen[] = {-3, 1.5}; /* what was observed at new_x */
  double log_density[2];
  CHECK(bdl_predict_log_density(model, q, bdl_f64(new_x, 2, 1),
                                bdl_f64(seen, 2, 1), BDL_MONTE_CARLO, 200,
                                1, bdl_f64_out(log_density, 2, 1)));
  printf("log p(y | x) = %.2f and %.2f nats\n", log_density[0],
         log_density[1]);
  /* [bdl_predict_log_density] */

  /* [bdl_predict_draws] */
  double draws[2][5]; /* five samples of y for each x */
  CHECK(bdl_predict_draws(model, q, bdl_f64(new_x, 2, 1), 5, 1,
                          bdl_f64_out(draws[0], 2, 5)));
  printf("samples of y(-1): %.2f %.2f %.2f ...\n", draws[0][0], draws[0][1],
         draws[0][2]);
  /* [bdl_predict_draws] */

  /* The scores of these predictions on the training data. */
  const bdl_matrix inputs = bdl_f64(x, N, 1), targets = bdl_f64(y, N, 1);
  CHECK(bdl_predict(model, q, inputs, BDL_MONTE_CARLO, 200, 1,
                    bdl_f64_out(all_mean, N, 1), bdl_none_out(),
                    bdl_none_out()));
  CHECK(bdl_metric_rmse(bdl_f64(all_mean, N, 1), targets, &rmse));
  EXPECT(fabs(rmse - 0.1) < 0.03);
  CHECK(bdl_predict_log_density(model, q, inputs, targets, BDL_MONTE_CARLO,
                                200, 1, bdl_f64_out(density, N, 1)));
  CHECK(bdl_metric_log_predictive_density(bdl_f64(density, N, 1), &lpd,
                                          &standard_error));
  EXPECT(fabs(lpd - 0.88) < 0.3 && standard_error > 0 &&
         standard_error < 0.2);
  CHECK(bdl_predict_interval(model, q, inputs, BDL_QUADRATURE, 0, 0, 0.9,
                             bdl_f64_out(lower_all, N, 1),
                             bdl_f64_out(upper_all, N, 1)));
  CHECK(bdl_metric_coverage(bdl_f64(lower_all, N, 1),
                            bdl_f64(upper_all, N, 1), targets, &coverage));
  EXPECT(coverage > 0.8 && coverage <= 1);
  CHECK(bdl_predict_draws(model, q, inputs, 200, 1,
                          bdl_f64_out(all_draws, N, 200)));
  CHECK(bdl_metric_crps(bdl_f64(all_draws, N, 200), targets, &crps));
  EXPECT(crps > 0.03 &&
         crps < 0.08); /* 0.56 standard deviations for a correct Gaussian */
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void classification(void) {
  double positive[N], all[N], all_entropy[N], all_information[N], accuracy,
      brier, ece;
  bdl_model* model;
  bdl_posterior* q;
  for (int i = 0; i < N; ++i) positive[i] = y[i] > 0;
  learn(BDL_BERNOULLI, positive, &model, &q);
  /* [bdl_predict_classes] */
  const double new_x[] = {-1, 0, 1};
  double p[3], entropy[3], information[3];
  CHECK(bdl_predict_classes(model, q, bdl_f64(new_x, 3, 1), BDL_MONTE_CARLO,
                            200, 1, bdl_f64_out(p, 3, 1),
                            bdl_f64_out(entropy, 3, 1),
                            bdl_f64_out(information, 3, 1)));
  for (int i = 0; i < 3; ++i)
    printf("x = %2.0f: P(y = 1) = %.2f, entropy %.2f nats\n", new_x[i],
           p[i], entropy[i]);
  /* [bdl_predict_classes] */
  EXPECT(p[0] < 0.1 && p[2] > 0.9 && entropy[1] > entropy[0] &&
         information[1] <= entropy[1]);
  CHECK(bdl_predict_classes(model, q, bdl_f64(x, N, 1), BDL_MONTE_CARLO,
                            200, 1, bdl_f64_out(all, N, 1),
                            bdl_f64_out(all_entropy, N, 1),
                            bdl_f64_out(all_information, N, 1)));
  CHECK(bdl_metric_accuracy(bdl_f64(all, N, 1), bdl_f64(positive, N, 1),
                            &accuracy));
  CHECK(bdl_metric_brier(bdl_f64(all, N, 1), bdl_f64(positive, N, 1),
                         &brier));
  CHECK(bdl_metric_ece(bdl_f64(all, N, 1), bdl_f64(positive, N, 1), 15,
                       &ece));
  EXPECT(accuracy > 0.9 && brier < 0.2 && ece < 0.3);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* f = w x + b, with w ~ N(2, 0.25) and b ~ N(1, 0.04) independent. */
static const double places[M] = {-1, 0, 2};

static void line(bdl_likelihood likelihood, bdl_model** model,
                 bdl_posterior** q) {
  const int64_t sizes[] = {1, 1};
  const double mean[] = {2, 1}, precision[] = {4, 25};
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1, likelihood,
                             model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, q));
  CHECK(bdl_posterior_set_low_rank(*q, bdl_f64(mean, 1, 2), bdl_none(),
                                   bdl_f64(precision, 1, 2)));
}

static double variance_at(double place) {
  return 0.25 * place * place + 0.04;
}

static void linearized(void) {
  const double targets[M] = {0, 1, 4}, levels[] = {0.5, 0.8413447460685429},
               pi = acos(-1.0);
  double predicted[M], epistemic[M], noise[M], density[M], quantiles[2 * M];
  const bdl_matrix inputs = bdl_f64(places, M, 1);
  bdl_model* model;
  bdl_posterior* q;
  line(BDL_GAUSSIAN, &model, &q);
  /* [bdl_predict_output_distribution] */
  double mean[M], variance[M]; /* of f at three places, before the noise */
  CHECK(bdl_predict_output_distribution(model, q, inputs,
                                        bdl_f64_out(mean, M, 1),
                                        bdl_f64_out(variance, M, 1)));
  for (int i = 0; i < M; ++i)
    printf("f(%g) ~ N(%g, %.2f)\n", places[i], mean[i], variance[i]);
  /* [bdl_predict_output_distribution] */
  CHECK(bdl_predict(
      model, q, inputs, BDL_LINEARIZED, 0, 0, bdl_f64_out(predicted, M, 1),
      bdl_f64_out(epistemic, M, 1), bdl_f64_out(noise, M, 1)));
  CHECK(bdl_predict_log_density(model, q, inputs, bdl_f64(targets, M, 1),
                                BDL_LINEARIZED, 0, 0,
                                bdl_f64_out(density, M, 1)));
  CHECK(bdl_predict_quantiles(model, q, inputs, BDL_LINEARIZED, 0, 0,
                              bdl_f64(levels, 1, 2),
                              bdl_f64_out(quantiles, M, 2)));
  for (int i = 0; i < M; ++i) {
    const double total = variance_at(places[i]) + 1,
                 error = targets[i] - (2 * places[i] + 1);
    EXPECT(near_to(mean[i], 2 * places[i] + 1, 1e-12));
    EXPECT(near_to(variance[i], variance_at(places[i]), 1e-12));
    EXPECT(near_to(epistemic[i], variance_at(places[i]), 1e-12) &&
           noise[i] == 1);
    EXPECT(near_to(density[i],
                   -0.5 * (log(2 * pi * total) + error * error / total),
                   1e-12));
    EXPECT(near_to(quantiles[2 * i], predicted[i], 1e-9));
    EXPECT(near_to(quantiles[2 * i + 1], predicted[i] + sqrt(total),
                   1e-9)); /* one deviation */
  }
  /* [bdl_predict_quantiles_of] */
  const double ends[] = {0.025, 0.975}; /* a 95 % interval of the mean */
  double limits[M][2];
  CHECK(bdl_predict_quantiles_of(model, q, inputs, BDL_LINEARIZED, 0, 0,
                                 BDL_QUANTITY_MEAN, bdl_f64(ends, 1, 2),
                                 bdl_f64_out(limits[0], M, 2)));
  for (int i = 0; i < M; ++i)
    printf("the mean of y(%g) is in [%.2f, %.2f]\n", places[i],
           limits[i][0], limits[i][1]);
  /* [bdl_predict_quantiles_of] */
  for (int i = 0; i < M; ++i)
    EXPECT(near_to(
        limits[i][1],
        predicted[i] + 1.9599639845400542 * sqrt(variance_at(places[i])),
        1e-9));

  /* [bdl_predict_draws_of] */
  double sampled_means[M][100];
  CHECK(bdl_predict_draws_of(model, q, inputs, BDL_MONTE_CARLO, 100, 1,
                             BDL_QUANTITY_MEAN,
                             bdl_f64_out(sampled_means[0], M, 100)));
  printf("samples of the mean of y(-1): %.1f, %.1f, %.1f ...\n",
         sampled_means[0][0], sampled_means[0][1], sampled_means[0][2]);
  /* [bdl_predict_draws_of] */
  EXPECT(fabs(sampled_means[0][0] - predicted[0]) < 7 * sqrt(epistemic[0]));

  /* [bdl_predict_log_likelihood] [bdl_metric_loo] [bdl_metric_waic] */
  double logs[100][M]; /* of each of 100 samples of the parameters */
  CHECK(bdl_predict_log_likelihood(model, q, inputs, bdl_f64(targets, M, 1),
                                   BDL_MONTE_CARLO, 100, 1,
                                   bdl_f64_out(logs[0], 100, M)));
  /* [bdl_predict_log_likelihood] [bdl_metric_loo] [bdl_metric_waic] */
  double log_mean = 0;
  for (int s = 0; s < 100; ++s) log_mean += exp(logs[s][0]) / 100;
  EXPECT(near_to(log(log_mean), density[0], 0.2));

  /* [bdl_metric_loo] */
  double rows[M]
             [3]; /* elpd, effective parameters and Pareto k of each row */
  double elpd, error_of_elpd, effective;
  CHECK(bdl_metric_loo(bdl_f64(logs[0], 100, M), bdl_f64_out(rows[0], M, 3),
                       &elpd, &error_of_elpd, &effective));
  printf("elpd %.1f +- %.1f, %.1f effective parameters, k of row 0: %.2f\n",
         elpd, error_of_elpd, effective, rows[0][2]);
  /* [bdl_metric_loo] */
  EXPECT(near_to(rows[0][0] + rows[1][0] + rows[2][0], elpd, 1e-12));

  /* [bdl_metric_waic] */
  double by_waic;
  CHECK(bdl_metric_waic(bdl_f64(logs[0], 100, M), bdl_none_out(), &by_waic,
                        NULL, NULL));
  printf("elpd by WAIC %.1f\n", by_waic);
  /* [bdl_metric_waic] */
  EXPECT(near_to(by_waic, elpd, 0.5));

  /* [bdl_posterior_coefficients] */
  double coefficients[2], covariance[2][2]; /* intercept and slope */
  CHECK(bdl_posterior_coefficients(q, model, -1,
                                   bdl_f64_out(coefficients, 1, 2),
                                   bdl_f64_out(covariance[0], 2, 2)));
  printf("intercept %.1f +- %.1f, slope %.1f +- %.1f\n", coefficients[0],
         sqrt(covariance[0][0]), coefficients[1], sqrt(covariance[1][1]));
  /* [bdl_posterior_coefficients] */
  EXPECT(coefficients[0] == 1 && near_to(covariance[1][1], 0.25, 1e-12));

  /* [bdl_model_coefficients] [bdl_model_coefficient_count] */
  double parameters[3][2], sampled[3][2]; /* three samples */
  CHECK(bdl_posterior_sample(q, 1, 0, bdl_f64_out(parameters[0], 3, 2)));
  CHECK(bdl_model_coefficients(model, -1, bdl_f64(parameters[0], 3, 2),
                               bdl_f64_out(sampled[0], 3, 2)));
  printf("%d coefficients; a sample: intercept %.1f, slope %.1f\n",
         (int)bdl_model_coefficient_count(model, -1), sampled[0][0],
         sampled[0][1]);
  /* [bdl_model_coefficients] [bdl_model_coefficient_count] */
  EXPECT(sampled[0][0] == parameters[0][1] &&
         sampled[0][1] == parameters[0][0]); /* x and y are not scaled */

  /* [bdl_predict_draws_by] */
  double draws[M][100];
  CHECK(bdl_predict_draws_by(model, q, inputs, BDL_LINEARIZED, 100, 1,
                             bdl_f64_out(draws[0], M, 100)));
  printf("samples of y(-1): %.1f, %.1f, %.1f ...\n", draws[0][0],
         draws[0][1], draws[0][2]);
  /* [bdl_predict_draws_by] */
  EXPECT(fabs(draws[0][0] - predicted[0]) < 7 * sqrt(epistemic[0] + 1));

  /* [bdl_predict_leverage] */
  const double far = 6; /* a row unlike all the training rows */
  double leverage[M], left_out[M], of_far;
  CHECK(bdl_predict_leverage(model, q, inputs, bdl_f64_out(leverage, M, 1),
                             bdl_f64_out(left_out, M, 1)));
  CHECK(bdl_predict_leverage(model, q, bdl_f64(&far, 1, 1),
                             bdl_f64_out(&of_far, 1, 1), bdl_none_out()));
  printf("training rows: %.2f, %.2f, %.2f; the new row: %.2f\n",
         leverage[0], leverage[1], leverage[2], of_far);
  /* [bdl_predict_leverage] */
  for (int i = 0; i < M; ++i)
    EXPECT(near_to(leverage[i], variance_at(places[i]), 1e-12));
  double limit = 0, average = 0;
  const double half = 0.5;
  CHECK(bdl_model_set_noise_precision(model, bdl_f64(&half, 1, 1)));
  CHECK(bdl_predict_leverage(model, q, inputs, bdl_f64_out(leverage, M, 1),
                             bdl_f64_out(left_out, M, 1)));
  for (int i = 0; i < M; ++i) {
    EXPECT(left_out[i] > leverage[i]);
    limit = fmax(limit, left_out[i]);
    average += leverage[i] / M;
  }
  EXPECT(leverage[0] / average < 1 && of_far > limit);
  bdl_model_free(model);
  bdl_posterior_free(q);

  /* The row of an example with two outputs holds their covariance matrix row by
   * row. */
  const int64_t sizes[] = {1, 4, 2};
  double means[2 * M], covariances[M][4];
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN,
                             &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model),
                                      2, &q));
  CHECK(bdl_predict_output_distribution(model, q, inputs,
                                        bdl_f64_out(means, M, 2),
                                        bdl_f64_out(covariances[0], M, 4)));
  for (int i = 0; i < M; ++i) {
    const double* c = covariances[i];
    EXPECT(c[0] > 0 && c[3] > 0 && c[1] == c[2] &&
           c[1] * c[1] <= c[0] * c[3]);
  }
  bdl_model_free(model);
  bdl_posterior_free(q);
}

/* The probit approximation, and linearised Monte Carlo, which it approximates. */
static void probit(void) {
  double p[M], entropy[M], information[M], averaged[M];
  const double pi = acos(-1.0);
  const bdl_matrix inputs = bdl_f64(places, M, 1);
  bdl_model* model;
  bdl_posterior* q;
  line(BDL_BERNOULLI, &model, &q);
  CHECK(bdl_predict_classes(
      model, q, inputs, BDL_LINEARIZED, 0, 0, bdl_f64_out(p, M, 1),
      bdl_f64_out(entropy, M, 1), bdl_f64_out(information, M, 1)));
  CHECK(bdl_predict_classes(model, q, inputs, BDL_LINEARIZED_MONTE_CARLO,
                            20000, 1, bdl_f64_out(averaged, M, 1),
                            bdl_none_out(), bdl_none_out()));
  for (int i = 0; i < M; ++i) {
    const double logit =
        (2 * places[i] + 1) / sqrt(1 + pi * variance_at(places[i]) / 8);
    EXPECT(near_to(p[i], 1 / (1 + exp(-logit)), 1e-12));
    EXPECT(near_to(p[i], averaged[i], 0.02));
    EXPECT(information[i] > 0 && information[i] < entropy[i]);
  }
  bdl_model_free(model);
  bdl_posterior_free(q);
}

/* Many predictions of few rows each. */
static void predictor(void) {
  bdl_model* model;
  bdl_posterior* q;
  learn(BDL_GAUSSIAN, y, &model, &q);
  /* [bdl_predictor_create] [bdl_predictor_free] */
  bdl_predictor*
      predictor; /* a snapshot, with 20 samples; one for each thread */
  CHECK(bdl_predictor_create(model, q, BDL_MONTE_CARLO, S, 1, &predictor));
  /* [bdl_predictor_create] [bdl_predictor_free] */
  const double new_x = 0.5;
  const bdl_matrix row = bdl_f64(&new_x, 1, 1);

  /* [bdl_predictor_moments] */
  double mean, epistemic, noise; /* row is a matrix of one row */
  CHECK(bdl_predictor_moments(predictor, row, bdl_f64_out(&mean, 1, 1),
                              bdl_f64_out(&epistemic, 1, 1),
                              bdl_f64_out(&noise, 1, 1)));
  printf("y(0.5) = %.2f +- %.2f\n", mean, sqrt(epistemic + noise));
  /* [bdl_predictor_moments] */
  double same;
  EXPECT(epistemic > 0 && noise > 0);
  for (int i = 0; i < N; ++i) {
    double one;
    CHECK(bdl_predictor_moments(predictor, bdl_f64(x + i, 1, 1),
                                bdl_f64_out(&one, 1, 1), bdl_none_out(),
                                bdl_none_out()));
    CHECK(bdl_predict(model, q, bdl_f64(x + i, 1, 1), BDL_MONTE_CARLO, S, 1,
                      bdl_f64_out(&same, 1, 1), bdl_none_out(),
                      bdl_none_out()));
    EXPECT(one == same);
  }

  /* [bdl_predictor_quantiles] */
  const double levels[] = {0.05, 0.5, 0.95};
  double quantiles[3];
  CHECK(bdl_predictor_quantiles(predictor, row, bdl_f64(levels, 1, 3),
                                bdl_f64_out(quantiles, 1, 3)));
  printf("quantiles %.2f, %.2f, %.2f\n", quantiles[0], quantiles[1],
         quantiles[2]);
  /* [bdl_predictor_quantiles] */

  /* [bdl_predictor_interval] */
  double lower, upper;
  CHECK(bdl_predictor_interval(predictor, row, 0.9,
                               bdl_f64_out(&lower, 1, 1),
                               bdl_f64_out(&upper, 1, 1)));
  printf("90 %%: %.2f to %.2f\n", lower, upper);
  /* [bdl_predictor_interval] */
  EXPECT(lower < quantiles[1] && quantiles[1] < upper &&
         near_to(lower, quantiles[0], 1e-9));

  /* [bdl_predictor_log_density] */
  const double likely = 1.5, unlikely = 5;
  double log_density[2];
  CHECK(bdl_predictor_log_density(predictor, row, bdl_f64(&likely, 1, 1),
                                  bdl_f64_out(&log_density[0], 1, 1)));
  CHECK(bdl_predictor_log_density(predictor, row, bdl_f64(&unlikely, 1, 1),
                                  bdl_f64_out(&log_density[1], 1, 1)));
  printf("log densities of 1.5 and 5: %.1f and %.0f nats\n", log_density[0],
         log_density[1]);
  /* [bdl_predictor_log_density] */
  EXPECT(log_density[0] > log_density[1]);

  /* [bdl_predictor_draws] */
  double draws[S]; /* one for each sample of the predictor */
  CHECK(bdl_predictor_draws(predictor, row, bdl_f64_out(draws, 1, S)));
  printf("samples of y: %.2f, %.2f, %.2f ...\n", draws[0], draws[1],
         draws[2]);
  /* [bdl_predictor_draws] */
  EXPECT(draws[0] != draws[1]);

  /* [bdl_predictor_quantiles_of] */
  double middle; /* of the mean of y */
  const double half = 0.5;
  CHECK(bdl_predictor_quantiles_of(predictor, row, BDL_QUANTITY_MEAN,
                                   bdl_f64(&half, 1, 1),
                                   bdl_f64_out(&middle, 1, 1)));
  printf("median of the mean of y(0.5): %.2f\n", middle);
  /* [bdl_predictor_quantiles_of] */
  EXPECT(fabs(middle - mean) < 3 * sqrt(epistemic));

  /* [bdl_predictor_draws_of] */
  double means[S];
  CHECK(bdl_predictor_draws_of(predictor, row, BDL_QUANTITY_MEAN,
                               bdl_f64_out(means, 1, S)));
  printf("samples of the mean of y: %.2f, %.2f, %.2f ...\n", means[0],
         means[1], means[2]);
  /* [bdl_predictor_draws_of] */
  EXPECT(means[0] != means[1] && means[0] != draws[0]);

  /* [bdl_predictor_log_likelihood] */
  const double observed = 1.5;
  double logs[S]; /* one for each sample of the predictor */
  CHECK(bdl_predictor_log_likelihood(
      predictor, row, bdl_f64(&observed, 1, 1), bdl_f64_out(logs, S, 1)));
  printf("log likelihoods of 1.5: %.2f, %.2f, %.2f ...\n", logs[0], logs[1],
         logs[2]);
  /* [bdl_predictor_log_likelihood] */
  EXPECT(logs[0] != logs[1]);

  /* [bdl_predictor_output_distribution] */
  double f, variance;
  CHECK(bdl_predictor_output_distribution(
      predictor, row, bdl_f64_out(&f, 1, 1), bdl_f64_out(&variance, 1, 1)));
  printf("f(0.5) ~ N(%.2f, %.5f)\n", f, variance);
  /* [bdl_predictor_output_distribution] */
  EXPECT(variance > 0);

  /* [bdl_predictor_leverage] */
  const double far = 100;
  double here, there;
  CHECK(bdl_predictor_leverage(predictor, row, bdl_f64_out(&here, 1, 1),
                               bdl_none_out()));
  CHECK(bdl_predictor_leverage(predictor, bdl_f64(&far, 1, 1),
                               bdl_f64_out(&there, 1, 1), bdl_none_out()));
  printf("x = 100 is far from the data: %d\n", there > 100 * here);
  /* [bdl_predictor_leverage] */
  EXPECT(0 < here && here < there);

  /* A predictor is a snapshot: more training changes the next one. */
  bdl_optimizer* opt;
  bdl_predictor* newer;
  double after, next;
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));
  CHECK(bdl_optimizer_set_int(opt, "seed", 2));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 2, NULL,
                          NULL));
  CHECK(bdl_predictor_moments(predictor, row, bdl_f64_out(&after, 1, 1),
                              bdl_none_out(), bdl_none_out()));
  CHECK(bdl_predictor_create(model, q, BDL_MONTE_CARLO, S, 1, &newer));
  CHECK(bdl_predictor_moments(newer, row, bdl_f64_out(&next, 1, 1),
                              bdl_none_out(), bdl_none_out()));
  EXPECT(after == mean && next != mean);
  bdl_predictor_free(newer);
  bdl_optimizer_free(opt);
  /* [bdl_predictor_free] */
  bdl_predictor_free(predictor);
  /* [bdl_predictor_free] */

  /* [bdl_predictor_create_ensemble] */
  const bdl_model* const models[] = {
      model, model}; /* of networks trained from two seeds */
  const bdl_posterior* const posteriors[] = {q, q};
  bdl_predictor* ensemble;
  CHECK(bdl_predictor_create_ensemble(models, posteriors, 2,
                                      BDL_MONTE_CARLO, S, 1, &ensemble));
  CHECK(bdl_predictor_moments(ensemble, row, bdl_f64_out(&mean, 1, 1),
                              bdl_none_out(), bdl_none_out()));
  printf("mean of the mixture %.2f\n", mean);
  /* [bdl_predictor_create_ensemble] */
  EXPECT(fabs(mean - 1.5) < 0.1);
  bdl_predictor_free(ensemble);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void predictor_of_classes(void) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_predictor* predictor;
  const double row[] = {0.5, -1};
  CHECK(bdl_model_create_network(BDL_F32, "input 2; dense 4; tanh; dense 3",
                                 BDL_CATEGORICAL, &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model),
                                      0, &q));
  CHECK(bdl_predictor_create(model, q, BDL_MONTE_CARLO, S, 1, &predictor));
  /* [bdl_predictor_classes] */
  double p[3], entropy, information;
  CHECK(bdl_predictor_classes(
      predictor, bdl_f64(row, 1, 2), bdl_f64_out(p, 1, 3),
      bdl_f64_out(&entropy, 1, 1), bdl_f64_out(&information, 1, 1)));
  printf("P = %.2f, %.2f, %.2f; entropy %.2f nats\n", p[0], p[1], p[2],
         entropy);
  /* [bdl_predictor_classes] */
  EXPECT(near_to(p[0] + p[1] + p[2], 1, 1e-6) && entropy >= information &&
         information >= 0);
  bdl_predictor_free(predictor);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static int32_t proportional(void* user_data, bdl_matrix parameters,
                            bdl_matrix inputs, bdl_matrix_out outputs) {
  const double* theta = (const double*)parameters.data;
  (void)user_data;
  for (int64_t i = 0; i < inputs.rows; ++i)
    ((double*)outputs.data)[i * outputs.row_stride] =
        theta[0] * ((const double*)inputs.data)[i * inputs.row_stride];
  return 0;
}

static void count(void* user_data) {
  ++*(int*)user_data;
}

/* Model and posterior may be freed; what a custom model refers to lives as long as
 * the predictor. */
static void predictor_of_user_model(void) {
  const double three = 3;
  double mean = 1;
  int destroyed = 0;
  const bdl_model_callbacks callbacks = {.struct_size = sizeof callbacks,
                                         .outputs = proportional,
                                         .user_data = &destroyed,
                                         .destroy = count};
  bdl_model* model;
  bdl_posterior* q;
  bdl_predictor* predictor;
  CHECK(bdl_model_create_user(BDL_F64, 1, 1, 1, BDL_GAUSSIAN, &callbacks,
                              &model));
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &q));
  CHECK(bdl_predictor_create(model, q, BDL_PLUG_IN, 0, 0, &predictor));
  bdl_model_free(model);
  bdl_posterior_free(q);
  CHECK(bdl_predictor_moments(predictor, bdl_f64(&three, 1, 1),
                              bdl_f64_out(&mean, 1, 1), bdl_none_out(),
                              bdl_none_out()));
  EXPECT(mean == 0 && destroyed == 0); /* theta is 0 before any training */
  bdl_predictor_free(predictor);
  EXPECT(destroyed == 1);
}

int main(void) {
  draw_normal(y, N);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.1 * y[i];
  }
  regression();
  classification();
  linearized();
  probit();
  predictor();
  predictor_of_classes();
  predictor_of_user_model();
  return 0;
}
