/* One task after the other, without the data of earlier ones (docs/how-to/task-after-task.md). Every public function that
 * is for this is called once, the way a newcomer would; test_examples.c has the rest. */
#include "c_api_test.h"

enum { N = 60, FEATURES = 2, CLASSES = 4, TASKS = 2, CORESET = 10 };

/* In task t the classes 0 and 1 are apart along feature t; `own` are labels of the task's own, 2 t and 2 t
 * + 1. */
static double x[TASKS][N * FEATURES], y[TASKS][N], own[TASKS][N];
static bdl_model* model;
static int64_t d;

static int setup(void** state) {
  const int64_t sizes[] = {FEATURES, 8, CLASSES};
  (void)state;
  for (int t = 0; t < TASKS; ++t)
    for (int i = 0; i < N; ++i) {
      const int side = i % 2;
      x[t][i * FEATURES + t] = (side ? 1.5 : -1.5) + 0.6 * sin(7.1 * i);
      x[t][i * FEATURES + 1 - t] = 0.5 * cos(3.3 * i);
      y[t][i] = side;
      own[t][i] = 2 * t + side;
    }
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_CATEGORICAL, &model));
  d = bdl_model_parameters(model);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  bdl_model_free(model);
  return 0;
}

static bdl_matrix inputs(int t) {
  return bdl_f64(x[t], N, FEATURES);
}
static bdl_matrix labels(int t) {
  return bdl_f64(y[t], N, 1);
}
static bdl_matrix own_labels(int t) {
  return bdl_f64(own[t], N, 1);
}

/* Learns a task; no prior: that of the options. */
static void learn(bdl_posterior* q, const char* method, const bdl_posterior* prior, bdl_matrix inputs,
                  bdl_matrix labels) {
  bdl_optimizer* optimizer;
  OK(bdl_optimizer_create(model, q, method, N, &optimizer));
  OK(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
  OK(bdl_optimizer_set_choice(optimizer, "evidence", "none")); /* of method "laplace" */
  if (prior) OK(bdl_optimizer_set_prior_posterior(optimizer, prior));
  OK(bdl_optimizer_fit(optimizer, inputs, labels, 100, NULL, NULL));
  bdl_optimizer_free(optimizer);
}

static double part_right(const bdl_posterior* q, bdl_matrix inputs, bdl_matrix labels) {
  static double p[N * CLASSES];
  double part;
  OK(bdl_predict_classes(model, q, inputs, BDL_PLUG_IN, 0, 0, bdl_f64_out(p, N, CLASSES), bdl_none_out(),
                         bdl_none_out()));
  OK(bdl_metric_accuracy(bdl_f64(p, N, CLASSES), labels, &part));
  return part;
}

/* Both tasks. */
static int knows(const bdl_posterior* q) {
  return part_right(q, inputs(0), labels(0)) > 0.9 && part_right(q, inputs(1), labels(1)) > 0.9;
}

static bdl_posterior* create(int64_t rank) {
  bdl_posterior* q;
  OK(bdl_posterior_create_low_rank(BDL_F64, d, rank, &q));
  return q;
}

/* Variational continual learning: what was learned is the next task's prior. */
static void example_posteriors_as_priors(void** state) {
  bdl_posterior *prior = create(2), *q = create(2);
  (void)state;
  learn(prior, "slang-ggn", NULL, inputs(0), labels(0));
  learn(q, "slang-ggn", prior, inputs(1), labels(1));
  assert_true(knows(q));
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* As above, by Laplace's approximation with Kronecker factors, which represents how the weights of a layer
 * depend on each other: training goes on from the last mode. */
static void example_kronecker_posteriors_as_priors(void** state) {
  bdl_posterior *q, *prior;
  (void)state;
  OK(bdl_posterior_create_kronecker(model, &q));
  learn(q, "laplace", NULL, inputs(0), labels(0));
  OK(bdl_posterior_copy(q, &prior));
  learn(q, "laplace", prior, inputs(1), labels(1));
  assert_true(knows(q));
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* In the strict sense, by an ELBO: natural gradients of such a posterior. */
static void example_variational_kronecker_posteriors(void** state) {
  bdl_posterior *q, *prior;
  (void)state;
  OK(bdl_posterior_create_kronecker(model, &q));
  learn(q, "noisy-kfac", NULL, inputs(0), labels(0));
  OK(bdl_posterior_copy(q, &prior));
  learn(q, "noisy-kfac", prior, inputs(1), labels(1));
  assert_true(knows(q));
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* Computes the information of a task about each parameter: Laplace's precision less that of the prior, N
 * times the Fisher information. */
static void information(const bdl_posterior* q, const double* prior, double* fisher) {
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(fisher, 1, d)));
  for (int64_t i = 0; i < d; ++i) fisher[i] = fmax(0, 1 / fisher[i] - prior[i]);
}

/* Elastic weight consolidation (Kirkpatrick et al. 2017): a penalty for each task, all of which are one: with
 * the sum of their precisions, around the mean of their modes that these weigh. The first is the prior N(0,
 * 1). */
static void example_elastic_weight_consolidation(void** state) {
  const double lambda = 100; /* what the penalties are multiplied by, as published */
  bdl_posterior *q = create(0), *penalties = create(0);
  double mode[64], fisher[64], precision[64], anchor[64], before[64];
  (void)state;
  assert_true(d <= 64);
  for (int64_t i = 0; i < d; ++i) precision[i] = before[i] = 1, anchor[i] = 0;
  for (int t = 0; t < TASKS; ++t) {
    learn(q, "laplace", t == 0 ? NULL : penalties, inputs(t), labels(t)); /* goes on from the last mode */
    OK(bdl_posterior_mean(q, bdl_f64_out(mode, 1, d)));
    information(q, before, fisher);
    for (int64_t i = 0; i < d; ++i) {
      const double sum = precision[i] + lambda * fisher[i];
      anchor[i] = (precision[i] * anchor[i] + lambda * fisher[i] * mode[i]) / sum;
      precision[i] = before[i] = sum;
    }
    OK(bdl_posterior_set_low_rank(penalties, bdl_f64(anchor, 1, d), bdl_none(), bdl_f64(precision, 1, d)));
  }
  assert_true(knows(q));
  bdl_posterior_free(q);
  bdl_posterior_free(penalties);
}

/* Online (Schwarz et al. 2018): one penalty, around the last mode; `keep` below 1 forgets. With keep and
 * lambda 1 Laplace's posterior itself is the next prior. */
static void example_online_elastic_weight_consolidation(void** state) {
  const double keep = 0.95, lambda = 1;
  bdl_posterior *q = create(0), *penalty = create(0);
  double mode[64], fisher[64], kept[64], precision[64];
  (void)state;
  for (int64_t i = 0; i < d; ++i) kept[i] = 0, precision[i] = 1;
  for (int t = 0; t < TASKS; ++t) {
    learn(q, "laplace", t == 0 ? NULL : penalty, inputs(t), labels(t));
    OK(bdl_posterior_mean(q, bdl_f64_out(mode, 1, d)));
    information(q, precision, fisher);
    for (int64_t i = 0; i < d; ++i) {
      kept[i] = keep * kept[i] + fisher[i];
      precision[i] = 1 + lambda * kept[i]; /* 1: the prior's */
    }
    OK(bdl_posterior_set_low_rank(penalty, bdl_f64(mode, 1, d), bdl_none(), bdl_f64(precision, 1, d)));
  }
  assert_true(knows(q));
  bdl_posterior_free(q);
  bdl_posterior_free(penalty);
}

/* A coreset is a few examples of each task that training leaves out. Before predictions, what was learned is
 * the prior of their union; the result is for predictions alone. */
static void example_coresets(void** state) {
  bdl_posterior *q = create(2), *prior = NULL, *last;
  bdl_optimizer* optimizer;
  double core_x[TASKS * CORESET * FEATURES], core_y[TASKS * CORESET];
  (void)state;
  for (int t = 0; t < TASKS; ++t) {
    const int64_t rest = N - CORESET;
    OK(bdl_optimizer_create(model, q, "slang-ggn", rest, &optimizer));
    OK(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
    if (prior) OK(bdl_optimizer_set_prior_posterior(optimizer, prior));
    OK(bdl_optimizer_fit(optimizer, bdl_f64(x[t] + CORESET * FEATURES, rest, FEATURES),
                         bdl_f64(y[t] + CORESET, rest, 1), 100, NULL, NULL));
    bdl_optimizer_free(optimizer);
    memcpy(core_x + t * CORESET * FEATURES, x[t], CORESET * FEATURES * sizeof(double));
    memcpy(core_y + t * CORESET, y[t], CORESET * sizeof(double));
    bdl_posterior_free(prior);
    OK(bdl_posterior_copy(q, &prior));
  }
  OK(bdl_posterior_copy(q, &last));
  OK(bdl_optimizer_create(model, last, "slang-ggn", TASKS * CORESET, &optimizer));
  OK(bdl_optimizer_set_prior_posterior(optimizer, prior));
  OK(bdl_optimizer_fit(optimizer, bdl_f64(core_x, TASKS * CORESET, FEATURES),
                       bdl_f64(core_y, TASKS * CORESET, 1), 50, NULL, NULL));
  assert_true(knows(last));
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(last);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* A head for each task: only the classes of the task are there. A caller who gives the task gets the class;
 * the weights of other heads stay what the prior says. */
static void example_heads(void** state) {
  bdl_posterior *prior = create(0), *q = create(0);
  double p[CLASSES], classes[2];
  (void)state;
  for (int t = 0; t < TASKS; ++t) {
    const double head[] = {2 * t, 2 * t + 1};
    OK(bdl_model_set_classes(model, bdl_f64(head, 1, 2)));
    learn(t == 0 ? prior : q, "vogn", t == 0 ? NULL : prior, inputs(t), own_labels(t));
  }
  for (int t = 0; t < TASKS; ++t) {
    const double head[] = {2 * t, 2 * t + 1};
    OK(bdl_model_set_classes(model, bdl_f64(head, 1, 2)));
    assert_true(part_right(q, inputs(t), own_labels(t)) > 0.9);
  }
  assert_int_equal(bdl_model_class_count(model), 2);
  OK(bdl_model_get_classes(model, bdl_f64_out(classes, 1, 2)));
  assert_true(classes[0] == 2 && classes[1] == 3);
  OK(bdl_predict_classes(model, q, bdl_f64(x[1], 1, FEATURES), BDL_MONTE_CARLO, 50, 1,
                         bdl_f64_out(p, 1, CLASSES), bdl_none_out(), bdl_none_out()));
  assert_true(p[0] == 0 && p[1] == 0 && fabs(p[2] + p[3] - 1) < 1e-12);
  OK(bdl_model_set_classes(model, bdl_none())); /* all again: one head */
  assert_int_equal(bdl_model_class_count(model), CLASSES);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

int test_examples_continual(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_posteriors_as_priors),
                                     cmocka_unit_test(example_kronecker_posteriors_as_priors),
                                     cmocka_unit_test(example_variational_kronecker_posteriors),
                                     cmocka_unit_test(example_elastic_weight_consolidation),
                                     cmocka_unit_test(example_online_elastic_weight_consolidation),
                                     cmocka_unit_test(example_coresets),
                                     cmocka_unit_test(example_heads)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
