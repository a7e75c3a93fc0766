/* Variational inference by noise of the network's layers. */
#include "refused.h"

enum { IMAGES = 64, SIDE = 6, PIXELS = SIDE * SIDE };

/* Images with a bright left or right half. */
static void draw_images(double* x, double* y) {
  for (int i = 0; i < IMAGES; ++i) {
    y[i] = i % 2;
    for (int p = 0; p < PIXELS; ++p)
      x[i * PIXELS + p] = ((p % SIDE < SIDE / 2) == (i % 2 == 0) ? 1 : 0) + 0.3 * sin(7.1 * i + 1.3 * p);
  }
}

typedef struct classifier {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
} classifier;

static classifier create(const char* method, int64_t rank) {
  classifier c;
  OK(bdl_model_create_network(BDL_F32,
                              "input 1 6 6; conv 4 3; relu; maxpool 2; flatten; dense 8; relu; dense 2",
                              BDL_CATEGORICAL, &c.model));
  OK(bdl_posterior_create_layerwise_low_rank_moment(c.model, rank, &c.q));
  OK(bdl_optimizer_create(c.model, c.q, method, IMAGES, &c.optimizer));
  return c;
}

static void close_classifier(classifier* c) {
  bdl_optimizer_free(c->optimizer);
  bdl_posterior_free(c->q);
  bdl_model_free(c->model);
}

static double accuracy_by(const classifier* c, const double* x, const double* y, bdl_predict_method method) {
  double probabilities[2 * IMAGES], accuracy = 0;
  OK(bdl_predict_classes(c->model, c->q, bdl_f64(x, IMAGES, PIXELS), method, 30, 1,
                         bdl_f64_out(probabilities, IMAGES, 2), bdl_none_out(), bdl_none_out()));
  OK(bdl_metric_accuracy(bdl_f64(probabilities, IMAGES, 2), bdl_f64(y, IMAGES, 1), &accuracy));
  return accuracy;
}

/* Every method, with predictions by samples of the parameters or by separate noise for each example. */
static void test_methods(void** state) {
  static const struct {
    const char* method;
    int64_t rank;
  } methods[] = {{"elrg", 2}, {"elrg-d", 2}, {"mf-vi", 0}, {"low-rank-vi", 1}, {"k-tied", 0}};
  double x[IMAGES * PIXELS], y[IMAGES];
  (void)state;
  draw_images(x, y);
  for (size_t m = 0; m < sizeof methods / sizeof *methods; ++m) {
    classifier c = create(methods[m].method, methods[m].rank);
    OK(bdl_optimizer_set_text(c.optimizer, "learning_rate=0.01 minibatch=16"));
    OK(bdl_optimizer_fit(c.optimizer, bdl_f64(x, IMAGES, PIXELS), bdl_f64(y, IMAGES, 1), 60, NULL, NULL));
    assert_true(accuracy_by(&c, x, y, BDL_MONTE_CARLO) > 0.95);
    assert_true(accuracy_by(&c, x, y, BDL_LOCAL_MONTE_CARLO) > 0.95);
    close_classifier(&c);
  }
}

static void test_refusals(void** state) {
  double x[2 * PIXELS] = {0};
  bdl_posterior* other;
  bdl_optimizer* slang;
  classifier c = create("mf-vi", 0);
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(c.model), 1, &other));
  OK(bdl_optimizer_create(c.model, other, "slang", IMAGES, &slang));
  watch(NULL);
  REFUSED(BDL_ERROR_UNSUPPORTED, "only low-rank-moment posteriors", bdl_optimizer_noise(slang, NULL, NULL));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_noise(NULL, NULL, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "method local_monte_carlo needs a low-rank-moment posterior",
          bdl_predict_classes(c.model, other, bdl_f64(x, 2, PIXELS), BDL_LOCAL_MONTE_CARLO, 3, 1, into(2, 2),
                              bdl_none_out(), bdl_none_out()));
  REFUSED(INVALID, "samples is 0",
          bdl_predict_classes(c.model, c.q, bdl_f64(x, 2, PIXELS), BDL_LOCAL_MONTE_CARLO, 0, 1, into(2, 2),
                              bdl_none_out(), bdl_none_out()));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_as_full(NULL, &out.posterior));
  REFUSED(INVALID, "full is NULL", bdl_posterior_as_full(c.q, NULL));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_as_diagonal(NULL, &out.posterior));
  REFUSED(INVALID, "diagonal is NULL", bdl_posterior_as_diagonal(c.q, NULL));
  bdl_posterior_free(other);
  OK(bdl_posterior_create_dropout(c.model, 0, 0.1, &other));
  REFUSED(BDL_ERROR_UNSUPPORTED, "dropout", bdl_posterior_as_full(other, &out.posterior));
  bdl_optimizer_free(slang);
  bdl_posterior_free(other);
  close_classifier(&c);
}

int test_layer_noise(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_methods),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
