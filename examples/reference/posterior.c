/* Posteriors: Gaussians over the parameters, which need no model. */
#include "example.h"

/* N(mean, Sigma) with Sigma^-1 = u u^T + I and u = (1, 1): variances 2/3,
 * covariance -1/3. */
static void low_rank(void) {
  /* [bdl_posterior_create_low_rank] [bdl_posterior_free] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1,
                                      &q)); /* two parameters, rank 1 */
  /* [bdl_posterior_create_low_rank] [bdl_posterior_free] */

  /* [bdl_posterior_set_low_rank] */
  const double mean[] = {5, 7}, u[] = {1, 1},
               d[] = {1, 1}; /* Sigma^-1 = u u^T + diag(d) */
  CHECK(bdl_posterior_set_low_rank(q, bdl_f64(mean, 1, 2), bdl_f64(u, 2, 1),
                                   bdl_f64(d, 1, 2)));
  /* [bdl_posterior_set_low_rank] */

  /* [bdl_posterior_dimension] [bdl_posterior_rank] [bdl_posterior_dtype] [bdl_posterior_family] */
  printf("%d parameters, rank %d, double precision: %d, low rank: %d\n",
         (int)bdl_posterior_dimension(q), (int)bdl_posterior_rank(q),
         bdl_posterior_dtype(q) == BDL_F64,
         bdl_posterior_family(q) == BDL_LOW_RANK);
  /* [bdl_posterior_dimension] [bdl_posterior_rank] [bdl_posterior_dtype] [bdl_posterior_family] */
  EXPECT(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 1);
  EXPECT(bdl_posterior_dtype(q) == BDL_F64 &&
         bdl_posterior_family(q) == BDL_LOW_RANK);

  /* [bdl_posterior_copy] */
  bdl_posterior* copy;
  CHECK(bdl_posterior_copy(q, &copy));
  bdl_posterior_free(q); /* the copy is independent */
  /* [bdl_posterior_copy] */

  /* [bdl_posterior_mean] */
  double read[2];
  CHECK(bdl_posterior_mean(copy, bdl_f64_out(read, 1, 2)));
  printf("mean (%g, %g)\n", read[0], read[1]);
  /* [bdl_posterior_mean] */
  EXPECT(read[0] == 5 && read[1] == 7);

  /* [bdl_posterior_get_low_rank] */
  double factor[2], diagonal[2];
  CHECK(bdl_posterior_get_low_rank(copy, bdl_f64_out(factor, 2, 1),
                                   bdl_f64_out(diagonal, 1, 2)));
  printf("U = (%g, %g), d = (%g, %g)\n", factor[0], factor[1], diagonal[0],
         diagonal[1]);
  /* [bdl_posterior_get_low_rank] */
  EXPECT(factor[0] == 1 && diagonal[0] == 1);

  /* [bdl_posterior_precision_diagonal] */
  double precision[2];
  CHECK(
      bdl_posterior_precision_diagonal(copy, bdl_f64_out(precision, 1, 2)));
  printf("precisions (%g, %g)\n", precision[0], precision[1]);
  /* [bdl_posterior_precision_diagonal] */
  EXPECT(precision[0] == 2 && precision[1] == 2);

  /* [bdl_posterior_marginal_variance] */
  double variance[2];
  CHECK(bdl_posterior_marginal_variance(copy, bdl_f64_out(variance, 1, 2)));
  printf("variances (%.3f, %.3f)\n", variance[0], variance[1]);
  /* [bdl_posterior_marginal_variance] */
  EXPECT(near_to(variance[0], 2.0 / 3, 1e-14) &&
         near_to(variance[1], 2.0 / 3, 1e-14));

  /* [bdl_posterior_covariance] */
  const int64_t first = 0, second = 1;
  double covariance;
  CHECK(bdl_posterior_covariance(copy, &first, 1, &second, 1,
                                 bdl_f64_out(&covariance, 1, 1)));
  printf("covariance of parameters 0 and 1: %.3f\n", covariance);
  /* [bdl_posterior_covariance] */
  EXPECT(near_to(covariance, -1.0 / 3, 1e-14));

  /* [bdl_posterior_solve] */
  const double vector[] = {3, 0};
  double solution[2]; /* Sigma times the vector */
  CHECK(bdl_posterior_solve(copy, bdl_f64(vector, 1, 2),
                            bdl_f64_out(solution, 1, 2)));
  printf("Sigma (3, 0) = (%g, %g)\n", solution[0], solution[1]);
  /* [bdl_posterior_solve] */
  EXPECT(near_to(solution[0], 2, 1e-14) && near_to(solution[1], -1, 1e-14));

  /* [bdl_posterior_log_det_covariance] */
  double log_det;
  CHECK(bdl_posterior_log_det_covariance(copy, &log_det));
  printf("log det Sigma = %.4f\n", log_det);
  /* [bdl_posterior_log_det_covariance] */
  EXPECT(near_to(log_det, -log(3.0), 1e-14));
  /* [bdl_posterior_free] */
  bdl_posterior_free(copy);
  /* [bdl_posterior_free] */
}

static void full(void) {
  const double pi = acos(-1.0);
  /* [bdl_posterior_create_full] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &q));
  /* [bdl_posterior_create_full] */
  /* [bdl_posterior_is_blank] */
  printf("uninitialised: %d\n", bdl_posterior_is_blank(q));
  /* [bdl_posterior_is_blank] */
  EXPECT(bdl_posterior_is_blank(q) == 1);
  /* [bdl_posterior_set_full] */
  const double mean[] = {1, 2}, precision[] = {2, 1, 1, 2};
  CHECK(bdl_posterior_set_full(q, bdl_f64(mean, 1, 2),
                               bdl_f64(precision, 2, 2)));
  /* [bdl_posterior_set_full] */
  EXPECT(bdl_posterior_is_blank(q) == 0);

  /* [bdl_posterior_has_covariance] */
  printf("has a covariance: %d\n",
         bdl_posterior_has_covariance(q)); /* 0 after method "map" */
  /* [bdl_posterior_has_covariance] */
  EXPECT(bdl_posterior_has_covariance(q) == 1);

  /* [bdl_posterior_log_density] */
  const double points[] = {1, 2, 0, 0}; /* the mean, and the origin */
  double log_density[2];
  CHECK(bdl_posterior_log_density(q, bdl_f64(points, 2, 2),
                                  bdl_f64_out(log_density, 2, 1)));
  printf("log q: %.3f at the mean, %.3f at 0\n", log_density[0],
         log_density[1]);
  /* [bdl_posterior_log_density] */
  EXPECT(near_to(log_density[0], 0.5 * log(3.0) - log(2 * pi), 1e-14));

  /* [bdl_posterior_entropy] */
  double entropy;
  CHECK(bdl_posterior_entropy(q, &entropy));
  printf("entropy %.3f nats\n", entropy);
  /* [bdl_posterior_entropy] */
  EXPECT(near_to(entropy, 1 + log(2 * pi) - 0.5 * log(3.0), 1e-14));
  bdl_posterior_free(q);
}

static void sampling(void) {
  bdl_posterior* q;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 0, &q));
  /* [bdl_posterior_sample] */
  static double samples[4000][2];
  CHECK(bdl_posterior_sample(
      q, 42, 0, bdl_f64_out(samples[0], 4000, 2))); /* seed 42 */
  double seventh[2]; /* sample 7 again, without the others */
  CHECK(bdl_posterior_sample(q, 42, 7, bdl_f64_out(seventh, 1, 2)));
  printf("equal: %d\n",
         seventh[0] == samples[7][0] && seventh[1] == samples[7][1]);
  /* [bdl_posterior_sample] */
  double sum = 0;
  for (int i = 0; i < 4000; ++i) sum += samples[i][0];
  EXPECT(fabs(sum / 4000) < 4 / sqrt(4000.0)); /* four standard errors */
  EXPECT(memcmp(seventh, samples[7], sizeof seventh) == 0);
  bdl_posterior_free(q);
}

/* KL(N(1, 1) || N(0, 1)) = 1/2, against a prior and against another posterior of
 * any family. */
static void divergence(void) {
  const double one = 1;
  bdl_posterior *q, *p;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &q));
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &p)); /* N(0, 1) */
  CHECK(bdl_posterior_set_low_rank(q, bdl_f64(&one, 1, 1), bdl_none(),
                                   bdl_f64(&one, 1, 1)));
  /* [bdl_posterior_kl_prior] */
  const double prior_precision = 1; /* q is N(1, 1), the prior N(0, 1) */
  double kl;
  CHECK(bdl_posterior_kl_prior(q, bdl_f64(&prior_precision, 1, 1), &kl));
  printf("KL(q || prior) = %g nats\n", kl);
  /* [bdl_posterior_kl_prior] */
  EXPECT(near_to(kl, 0.5, 1e-14));
  /* [bdl_posterior_kl] */
  CHECK(bdl_posterior_kl(q, p, &kl)); /* p may be of another family */
  printf("KL(q || p) = %g nats\n", kl);
  /* [bdl_posterior_kl] */
  EXPECT(near_to(kl, 0.5, 1e-14));
  bdl_posterior_free(q);
  bdl_posterior_free(p);
}

/* Sigma^-1 = (1 - b) 1 + b (g^2 + 1) and mu = -a Sigma g for b = 0.5, a = 1, g = 2.
 */
static void update(void) {
  double mean = 0, variance = 0;
  bdl_posterior* q;
  CHECK(bdl_posterior_create_full(BDL_F64, 1, &q));
  /* [bdl_posterior_update] */
  const double row = 2,
               prior = 1; /* one gradient of -log p, from any source */
  CHECK(bdl_posterior_update(q, bdl_f64(&row, 1, 1), 1, 1, 0.5,
                             bdl_f64(&prior, 1, 1)));
  CHECK(bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)));
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(&variance, 1, 1)));
  printf("N(0, 1) has become N(%.3f, %.3f)\n", mean, variance);
  /* [bdl_posterior_update] */
  EXPECT(near_to(variance, 1.0 / 3, 1e-14) &&
         near_to(mean, -2.0 / 3, 1e-14));
  bdl_posterior_free(q);
}

/* N(mean, Sigma) with variances 2 and 1 and covariance 1: Sigma^-1 = [1 -1; -1 2],
 * det Sigma = 1. */
static void full_moment(void) {
  /* [bdl_posterior_create_full_moment] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_full_moment(BDL_F64, 2, &q));
  /* [bdl_posterior_create_full_moment] */
  /* [bdl_posterior_set_full_moment] */
  const double mean[] = {1, 2}, covariance[] = {2, 1, 1, 1};
  CHECK(bdl_posterior_set_full_moment(q, bdl_f64(mean, 1, 2),
                                      bdl_f64(covariance, 2, 2)));
  /* [bdl_posterior_set_full_moment] */
  EXPECT(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 2);
  double read[2], solution[2], log_det, samples[6], kl;
  const double vector[] = {1, 0}, precision[] = {1, -1, -1, 2};
  bdl_posterior *copy, *same;
  CHECK(bdl_posterior_copy(q, &copy));
  CHECK(bdl_posterior_mean(copy, bdl_f64_out(read, 1, 2)));
  EXPECT(read[0] == 1 && read[1] == 2);
  CHECK(bdl_posterior_marginal_variance(copy, bdl_f64_out(read, 1, 2)));
  EXPECT(read[0] == 2 && read[1] == 1);
  CHECK(bdl_posterior_precision_diagonal(copy, bdl_f64_out(read, 1, 2)));
  EXPECT(near_to(read[0], 1, 1e-14) && near_to(read[1], 2, 1e-14));
  CHECK(bdl_posterior_solve(copy, bdl_f64(vector, 1, 2),
                            bdl_f64_out(solution, 1, 2)));
  EXPECT(solution[0] == 2 && solution[1] == 1);
  CHECK(bdl_posterior_log_det_covariance(copy, &log_det));
  EXPECT(near_to(log_det, 0, 1e-14));

  /* The same Gaussian, by its precision. */
  CHECK(bdl_posterior_create_full(BDL_F64, 2, &same));
  CHECK(bdl_posterior_set_full(same, bdl_f64(mean, 1, 2),
                               bdl_f64(precision, 2, 2)));
  CHECK(bdl_posterior_kl(q, same, &kl));
  EXPECT(near_to(kl, 0, 1e-14));
  CHECK(bdl_posterior_kl(same, q, &kl));
  EXPECT(near_to(kl, 0, 1e-14));
  CHECK(bdl_posterior_sample(q, 1, 0, bdl_f64_out(samples, 3, 2)));
  bdl_posterior_free(q);
  bdl_posterior_free(copy);
  bdl_posterior_free(same);

  /* One gradient row: v <- v - b v^2 (g^2 + 1 - 1 / v) and mu <- mu - a v g with
   * the old v. */
  const double row = 2, prior = 1;
  CHECK(bdl_posterior_create_full_moment(BDL_F64, 1, &q));
  CHECK(bdl_posterior_update(q, bdl_f64(&row, 1, 1), 1, 1, 0.1,
                             bdl_f64(&prior, 1, 1)));
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(&read[0], 1, 1)));
  CHECK(bdl_posterior_mean(q, bdl_f64_out(&read[1], 1, 1)));
  EXPECT(near_to(read[0], 0.6, 1e-14) && near_to(read[1], -2, 1e-14));
  bdl_posterior_free(q);
}

/* Independent parameters, by their variances. */
static void diagonal_moment(void) {
  /* [bdl_posterior_create_diagonal_moment] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  /* [bdl_posterior_create_diagonal_moment] */
  /* [bdl_posterior_set_diagonal_moment] */
  const double mean[] = {1, 2}, variance[] = {4, 0.25};
  CHECK(bdl_posterior_set_diagonal_moment(q, bdl_f64(mean, 1, 2),
                                          bdl_f64(variance, 1, 2)));
  /* [bdl_posterior_set_diagonal_moment] */
  double read[2], solution[2], log_det;
  const double vector[] = {1, 1};
  EXPECT(bdl_posterior_dimension(q) == 2 && bdl_posterior_rank(q) == 0);
  CHECK(bdl_posterior_mean(q, bdl_f64_out(read, 1, 2)));
  EXPECT(read[0] == 1 && read[1] == 2);
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(read, 1, 2)));
  EXPECT(read[0] == 4 && read[1] == 0.25);
  CHECK(bdl_posterior_precision_diagonal(q, bdl_f64_out(read, 1, 2)));
  EXPECT(read[0] == 0.25 && read[1] == 4);
  CHECK(bdl_posterior_solve(q, bdl_f64(vector, 1, 2),
                            bdl_f64_out(solution, 1, 2)));
  EXPECT(solution[0] == 4 && solution[1] == 0.25);
  CHECK(bdl_posterior_log_det_covariance(q, &log_det));
  EXPECT(near_to(log_det, 0, 1e-14));
  bdl_posterior_free(q);

  const double rows[] = {2, 0},
               prior = 1; /* a step of each parameter, as of a full one */
  CHECK(bdl_posterior_create_diagonal_moment(BDL_F64, 2, &q));
  CHECK(bdl_posterior_update(q, bdl_f64(rows, 1, 2), 1, 1, 0.1,
                             bdl_f64(&prior, 1, 1)));
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(read, 1, 2)));
  CHECK(bdl_posterior_mean(q, bdl_f64_out(solution, 1, 2)));
  EXPECT(near_to(read[0], 0.6, 1e-14) && read[1] == 1);
  EXPECT(near_to(solution[0], -2, 1e-14) && solution[1] == 0);
  bdl_posterior_free(q);
}

/* A full covariance for each layer: 2-3-1 has 9 and 4 parameters. */
static void layerwise_full(void) {
  enum { N = 30 };
  const int64_t sizes[] = {2, 3, 1};
  double x[2 * N], y[N], mean[N], epistemic[N], noise[N];
  bdl_model* model;
  bdl_optimizer* opt;
  for (int i = 0; i < N; ++i) {
    x[2 * i] = 2.0 * i / (N - 1) - 1;
    x[2 * i + 1] = 1 - x[2 * i] * x[2 * i];
    y[i] = x[2 * i] + x[2 * i + 1];
  }
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN,
                             &model));
  /* [bdl_posterior_create_layerwise_full] */
  bdl_posterior*
      q; /* of a network with 2 inputs, 3 hidden units and 1 output */
  CHECK(bdl_posterior_create_layerwise_full(model, &q));
  printf("%d parameters\n", (int)bdl_posterior_dimension(q));
  /* [bdl_posterior_create_layerwise_full] */
  /* [bdl_posterior_create_blockwise_full] */
  const int64_t blocks[] = {
      9, 4}; /* the layers of that network, by their sizes */
  bdl_posterior* same;
  CHECK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &same));
  printf("%d parameters\n", (int)bdl_posterior_dimension(same));
  /* [bdl_posterior_create_blockwise_full] */
  EXPECT(bdl_posterior_family(q) == BDL_LAYERWISE_FULL &&
         bdl_posterior_dimension(same) == 13);
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 2), bdl_f64(y, N, 1), 200,
                          NULL, NULL));
  CHECK(bdl_predict(model, q, bdl_f64(x, N, 2), BDL_MONTE_CARLO, 100, 1,
                    bdl_f64_out(mean, N, 1), bdl_f64_out(epistemic, N, 1),
                    bdl_f64_out(noise, N, 1)));
  EXPECT(fabs(mean[0] - y[0]) < 0.3 && epistemic[0] > 0);
  const int64_t first = 0, last = 12; /* of different layers */
  double across = 1;
  CHECK(bdl_posterior_covariance(q, &first, 1, &last, 1,
                                 bdl_f64_out(&across, 1, 1)));
  EXPECT(across == 0);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_posterior_free(same);
  bdl_model_free(model);
}

/* A covariance diag(s) + W W^T: three parameters that two directions move together.
 */
static void low_rank_moment(void) {
  /* [bdl_posterior_create_low_rank_moment] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_low_rank_moment(BDL_F64, 3, 2,
                                             &q)); /* W is 3 x 2 */
  /* [bdl_posterior_create_low_rank_moment] */
  /* [bdl_posterior_set_low_rank_moment] */
  const double mean[] = {1, 2, 3}, w[] = {1, 0, 1, 2, 0, 0.5},
               s[] = {0.1, 0.2, 0.3};
  CHECK(bdl_posterior_set_low_rank_moment(
      q, bdl_f64(mean, 1, 3), bdl_f64(w, 3, 2), bdl_f64(s, 1, 3)));
  double variance[3]; /* s + the squares of each row of W */
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 3)));
  printf("variances %.2f, %.2f, %.2f\n", variance[0], variance[1],
         variance[2]);
  /* [bdl_posterior_set_low_rank_moment] */
  EXPECT(near_to(variance[1], 5.2, 1e-14));
  const int64_t first = 0, second = 1;
  double covariance, draws[2 * 3], kl;
  bdl_posterior* copy;
  CHECK(bdl_posterior_covariance(q, &first, 1, &second, 1,
                                 bdl_f64_out(&covariance, 1, 1)));
  EXPECT(near_to(covariance, 1, 1e-14));
  CHECK(bdl_posterior_sample(q, 1, 0, bdl_f64_out(draws, 2, 3)));
  CHECK(bdl_posterior_copy(q, &copy));
  CHECK(bdl_posterior_kl(q, copy, &kl));
  EXPECT(near_to(kl, 0, 1e-13) &&
         bdl_posterior_family(copy) == BDL_LOW_RANK_MOMENT);
  bdl_posterior_free(copy);

  /* [bdl_posterior_as_full] */
  bdl_posterior* dense; /* the same Gaussian, its covariance as a matrix */
  CHECK(bdl_posterior_as_full(q, &dense));
  printf("covariance matrix of %d x %d\n", (int)bdl_posterior_rank(dense),
         (int)bdl_posterior_dimension(dense));
  /* [bdl_posterior_as_full] */
  const int64_t all[] = {0, 1, 2};
  double sigma[9];
  CHECK(bdl_posterior_covariance(dense, all, 3, all, 3,
                                 bdl_f64_out(sigma, 3, 3)));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double expected = w[2 * i] * w[2 * j] + w[2 * i + 1] * w[2 * j + 1] +
                        (i == j ? s[i] : 0);
      EXPECT(near_to(sigma[3 * i + j], expected, 1e-12));
    }
  /* [bdl_posterior_as_diagonal] */
  bdl_posterior* diagonal; /* the same variances, without covariances */
  CHECK(bdl_posterior_as_diagonal(q, &diagonal));
  CHECK(bdl_posterior_marginal_variance(diagonal,
                                        bdl_f64_out(variance, 1, 3)));
  printf("variances %.2f, %.2f, %.2f\n", variance[0], variance[1],
         variance[2]);
  /* [bdl_posterior_as_diagonal] */
  EXPECT(near_to(variance[1], 5.2, 1e-12));
  EXPECT(bdl_posterior_family(dense) == BDL_FULL_MOMENT);
  EXPECT(bdl_posterior_family(diagonal) == BDL_DIAGONAL_MOMENT);
  bdl_posterior_free(dense);
  bdl_posterior_free(diagonal);
  bdl_posterior_free(q);
}

/* One such covariance for each layer. 2-3-1 has 9 and 4 parameters. */
static void layerwise_low_rank_moment(void) {
  const int64_t sizes[] = {2, 3, 1};
  const double x[] = {0.5, -1};
  double mean, epistemic, noise, kl;
  bdl_model* model;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN,
                             &model));
  /* [bdl_posterior_create_layerwise_low_rank_moment] */
  bdl_posterior* q;
  CHECK(bdl_posterior_create_layerwise_low_rank_moment(model, 2,
                                                       &q)); /* rank 2 */
  /* [bdl_posterior_create_layerwise_low_rank_moment] */
  /* [bdl_posterior_set_tensors] */
  /* Sets the second layer; the first one stays N(0, I). */
  const double w[] = {1, 0, 0, 1, 1, 1, 0, 0}, s[] = {0.1, 0.1, 0.1, 0.1};
  const char* const names[] = {"block1.low_rank", "block1.diagonal"};
  const bdl_matrix values[] = {bdl_f64(w, 4, 2), bdl_f64(s, 1, 4)};
  CHECK(bdl_posterior_set_tensors(q, names, values, 2));
  /* [bdl_posterior_set_tensors] */
  EXPECT(bdl_posterior_rank(q) == 2 && bdl_posterior_tensor_count(q) == 5);
  CHECK(bdl_predict(model, q, bdl_f64(x, 1, 2), BDL_MONTE_CARLO, 50, 1,
                    bdl_f64_out(&mean, 1, 1), bdl_f64_out(&epistemic, 1, 1),
                    bdl_f64_out(&noise, 1, 1)));
  EXPECT(epistemic > 0);
  char bytes[10000];
  int64_t size;
  bdl_posterior* loaded;
  CHECK(bdl_save_bytes(model, q, NULL, bytes, sizeof bytes, &size));
  CHECK(bdl_load_bytes(bytes, size, NULL, NULL, &loaded, NULL));
  CHECK(bdl_posterior_kl(q, loaded, &kl));
  EXPECT(near_to(kl, 0, 1e-13) &&
         bdl_posterior_family(loaded) == BDL_LAYERWISE_LOW_RANK_MOMENT);
  bdl_posterior_free(q);
  bdl_posterior_free(loaded);
  bdl_model_free(model);
}

/* Laplace's approximation with a Kronecker-factored precision for each layer. */
static void kronecker(void) {
  const int64_t sizes[] = {2, 3, 1};
  const double x[] = {0, 0, 1, 0, 0, 1, 1, 1}, y[] = {0, 1, 1, 2};
  double mean[4], epistemic[4], vectors[9], precision[9];
  bdl_model* model;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN,
                             &model));
  /* [bdl_posterior_create_kronecker] */
  bdl_posterior *q, *dense;
  CHECK(bdl_posterior_create_kronecker(model, &q));
  CHECK(bdl_optimizer_create(model, q, "laplace", 4, &opt));
  CHECK(
      bdl_optimizer_set_choice(opt, "kronecker_eigenvalues", "corrected"));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, 4, 2), bdl_f64(y, 4, 1), 200,
                          NULL, NULL));
  /* [bdl_posterior_create_kronecker] */
  CHECK(bdl_predict(model, q, bdl_f64(x, 4, 2), BDL_LINEARIZED, 1, 1,
                    bdl_f64_out(mean, 4, 1), bdl_f64_out(epistemic, 4, 1),
                    bdl_none_out()));
  EXPECT(mean[0] < mean[1] && mean[1] < mean[3] && epistemic[3] > 0);
  /* The mean, and of two blocks the eigenvectors of both sides and the precisions
   * along their pairs. */
  EXPECT(bdl_posterior_family(q) == BDL_KRONECKER &&
         bdl_posterior_tensor_count(q) == 7);
  CHECK(bdl_posterior_get_tensor(q, 1, bdl_f64_out(vectors, 3, 3)));
  CHECK(bdl_posterior_get_tensor(q, 3, bdl_f64_out(precision, 3, 3)));
  double length = vectors[0] * vectors[0] + vectors[3] * vectors[3] +
                  vectors[6] * vectors[6];
  EXPECT(near_to(length, 1, 1e-12) && precision[0] > 0);
  CHECK(bdl_posterior_as_full(q, &dense));
  bdl_posterior_free(dense);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Copies all numbers of a posterior, by their names, to another one. */
static void tensors(void) {
  const int64_t blocks[] = {2, 1};
  const double mean[] = {1, 2, 3}, precision[] = {2, 1, 1, 2};
  const char* const names[] = {"mean", "block0.precision"};
  const bdl_matrix given[] = {bdl_f64(mean, 1, 3),
                              bdl_f64(precision, 2, 2)};
  double variance[3], kl;
  bdl_posterior *q, *copy;
  CHECK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &q));
  CHECK(bdl_posterior_set_tensors(
      q, names, given, 2)); /* block 1 stays, N(0, 1) around the new mean */
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(variance, 1, 3)));
  EXPECT(near_to(variance[0], 2. / 3, 1e-15) && variance[2] == 1);
  CHECK(bdl_posterior_create_blockwise_full(BDL_F64, blocks, 2, &copy));
  EXPECT(bdl_posterior_tensor_count(q) == 5);
  /* [bdl_posterior_tensor_count] [bdl_posterior_tensor_describe] [bdl_posterior_get_tensor] */
  for (int64_t i = 0; i < bdl_posterior_tensor_count(q); ++i) {
    const char* name;
    int64_t rows, cols;
    int32_t dtype;
    double values[9];
    CHECK(bdl_posterior_tensor_describe(q, i, &name, &rows, &cols, &dtype));
    CHECK(bdl_posterior_get_tensor(q, i, bdl_f64_out(values, rows, cols)));
    printf("%s: %d x %d, begins with %.3f\n", name, (int)rows, (int)cols,
           values[0]);
    EXPECT(rows * cols <= 9 && dtype == BDL_F64);
  }
  /* [bdl_posterior_tensor_count] [bdl_posterior_tensor_describe] [bdl_posterior_get_tensor] */
  for (int64_t i = 0; i < 4;
       i += i ? 2 : 1) { /* mean and precisions, which the factors follow */
    const char* name;
    int64_t rows, cols;
    double values[9];
    CHECK(bdl_posterior_tensor_describe(q, i, &name, &rows, &cols, NULL));
    CHECK(bdl_posterior_get_tensor(q, i, bdl_f64_out(values, rows, cols)));
    const bdl_matrix read = bdl_f64(values, rows, cols);
    CHECK(bdl_posterior_set_tensors(copy, &name, &read, 1));
  }
  CHECK(bdl_posterior_kl(q, copy, &kl));
  EXPECT(near_to(kl, 0, 1e-14));
  bdl_posterior_free(q);
  bdl_posterior_free(copy);
}

/* Units of a network are left out at random, in training and in predictions. */
static void dropout(void) {
  enum { N = 40 };
  const int64_t sizes[] = {1, 20, 1};
  double x[N], y[N], mean[N], epistemic[N], noise[N];
  bdl_model* model;
  bdl_optimizer* opt;
  for (int i = 0; i < N; ++i) x[i] = 2.0 * i / (N - 1) - 1, y[i] = 2 * x[i];
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN,
                             &model));
  /* [bdl_posterior_create_dropout] */
  bdl_posterior*
      q; /* inputs stay, a tenth of the hidden units is dropped */
  CHECK(bdl_posterior_create_dropout(model, 0, 0.1, &q));
  CHECK(bdl_optimizer_create(model, q, "mc-dropout", N, &opt));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 200,
                          NULL, NULL));
  CHECK(bdl_predict(model, q, bdl_f64(x, N, 1), BDL_MONTE_CARLO, 100, 1,
                    bdl_f64_out(mean, N, 1), bdl_f64_out(epistemic, N, 1),
                    bdl_f64_out(noise, N, 1)));
  printf("at x = 1: %.1f\n", mean[N - 1]);
  /* [bdl_posterior_create_dropout] */
  EXPECT(fabs(mean[N - 1] - 2) < 0.5 && epistemic[N - 1] > 0);

  /* [bdl_posterior_dropout_rates] */
  double input_rate, hidden_rate;
  CHECK(bdl_posterior_dropout_rates(q, &input_rate, &hidden_rate));
  printf("rates %g and %g\n", input_rate, hidden_rate);
  /* [bdl_posterior_dropout_rates] */
  EXPECT(input_rate == 0 && hidden_rate == 0.1);

  /* [bdl_posterior_set_dropout] */
  double theta
      [61]; /* the weights without dropout, to another posterior and back */
  CHECK(bdl_posterior_mean(q, bdl_f64_out(theta, 1, 61)));
  CHECK(bdl_posterior_set_dropout(q, bdl_f64(theta, 1, 61)));
  /* [bdl_posterior_set_dropout] */
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int main(void) {
  low_rank();
  full();
  sampling();
  divergence();
  update();
  full_moment();
  diagonal_moment();
  layerwise_full();
  low_rank_moment();
  layerwise_low_rank_moment();
  kronecker();
  tensors();
  dropout();
  return 0;
}
