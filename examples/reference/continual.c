/* Continual learning: one task after the other, without the data of earlier ones.
 */
#include "example.h"

enum { N = 60, FEATURES = 2, CLASSES = 4, TASKS = 2, CORESET = 10 };

/* In task t the classes 0 and 1 are apart along feature t; heads[t] are the same
 * labels as classes 2 t and 2 t + 1. */
static double x[TASKS][N * FEATURES], y[TASKS][N], heads[TASKS][N];
static bdl_model* model;
static int64_t d;

static void setup(void) {
  const int64_t sizes[] = {FEATURES, 8, CLASSES};
  for (int t = 0; t < TASKS; ++t)
    for (int i = 0; i < N; ++i) {
      const int side = i % 2;
      x[t][i * FEATURES + t] = (side ? 1.5 : -1.5) + 0.6 * sin(7.1 * i);
      x[t][i * FEATURES + 1 - t] = 0.5 * cos(3.3 * i);
      y[t][i] = side;
      heads[t][i] = 2 * t + side;
    }
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1,
                             BDL_CATEGORICAL, &model));
  d = bdl_model_parameters(model);
}

static bdl_matrix inputs(int t) {
  return bdl_f64(x[t], N, FEATURES);
}
static bdl_matrix labels(int t) {
  return bdl_f64(y[t], N, 1);
}
static bdl_matrix head_labels(int t) {
  return bdl_f64(heads[t], N, 1);
}

/* Learns a task. Without a prior, the prior is that of the options. */
static void learn(bdl_posterior* q, const char* method,
                  const bdl_posterior* prior, bdl_matrix inputs,
                  bdl_matrix labels) {
  bdl_optimizer* optimizer;
  CHECK(bdl_optimizer_create(model, q, method, N, &optimizer));
  CHECK(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
  CHECK(bdl_optimizer_set_choice(optimizer, "evidence",
                                 "none")); /* of method "laplace" */
  if (prior) CHECK(bdl_optimizer_set_prior_posterior(optimizer, prior));
  CHECK(bdl_optimizer_fit(optimizer, inputs, labels, 100, NULL, NULL));
  bdl_optimizer_free(optimizer);
}

static double part_right(const bdl_posterior* q, bdl_matrix inputs,
                         bdl_matrix labels) {
  static double p[N * CLASSES];
  double part;
  CHECK(bdl_predict_classes(model, q, inputs, BDL_PLUG_IN, 0, 0,
                            bdl_f64_out(p, N, CLASSES), bdl_none_out(),
                            bdl_none_out()));
  CHECK(bdl_metric_accuracy(bdl_f64(p, N, CLASSES), labels, &part));
  return part;
}

/* After both tasks the network must still know the first. */
static void report(const char* name, const bdl_posterior* q) {
  const double first = part_right(q, inputs(0), labels(0)),
               second = part_right(q, inputs(1), labels(1));
  printf("%s: accuracy %.2f in the first task, %.2f in the second\n", name,
         first, second);
  EXPECT(first > 0.9 && second > 0.9);
}

static bdl_posterior* create(int64_t rank) {
  bdl_posterior* q;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, d, rank, &q));
  return q;
}

/* Variational continual learning: the posterior of one task is the prior of the
 * next. */
static void posteriors_as_priors(void) {
  bdl_posterior *prior = create(2), *q = create(2);
  learn(prior, "slang-ggn", NULL, inputs(0), labels(0));
  learn(q, "slang-ggn", prior, inputs(1), labels(1));
  report("variational, low rank", q);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* The same by Laplace's approximation with Kronecker factors, which represents how
   the weights of a layer depend on each other. Training goes on from the last mode.
 */
static void kronecker_posteriors_as_priors(void) {
  bdl_posterior *q, *prior;
  CHECK(bdl_posterior_create_kronecker(model, &q));
  learn(q, "laplace", NULL, inputs(0), labels(0));
  CHECK(bdl_posterior_copy(q, &prior));
  learn(q, "laplace", prior, inputs(1), labels(1));
  report("Laplace, Kronecker factors", q);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* The same by an ELBO: natural gradients of a Kronecker-factored posterior. */
static void variational_kronecker_posteriors(void) {
  bdl_posterior *q, *prior;
  CHECK(bdl_posterior_create_kronecker(model, &q));
  learn(q, "noisy-kfac", NULL, inputs(0), labels(0));
  CHECK(bdl_posterior_copy(q, &prior));
  learn(q, "noisy-kfac", prior, inputs(1), labels(1));
  report("variational, Kronecker factors", q);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* Computes the information of a task about each parameter, N times the Fisher
   information: Laplace's precision minus that of the prior. */
static void information(const bdl_posterior* q, const double* prior,
                        double* fisher) {
  CHECK(bdl_posterior_marginal_variance(q, bdl_f64_out(fisher, 1, d)));
  for (int64_t i = 0; i < d; ++i)
    fisher[i] = fmax(0, 1 / fisher[i] - prior[i]);
}

/* Elastic weight consolidation (Kirkpatrick et al. 2017) has a penalty for each
   task. Together they are one Gaussian: its precision is the sum of theirs, and its
   mean the mean of their modes, weighted by their precisions. The first penalty is
   the prior N(0, 1). */
static void elastic_weight_consolidation(void) {
  const double lambda = 100; /* factor of the penalties, as published */
  bdl_posterior *q = create(0), *penalties = create(0);
  double mode[64], fisher[64], precision[64], anchor[64], before[64];
  EXPECT(d <= 64);
  for (int64_t i = 0; i < d; ++i)
    precision[i] = before[i] = 1, anchor[i] = 0;
  for (int t = 0; t < TASKS; ++t) {
    learn(q, "laplace", t == 0 ? NULL : penalties, inputs(t),
          labels(t)); /* goes on from the last mode */
    CHECK(bdl_posterior_mean(q, bdl_f64_out(mode, 1, d)));
    information(q, before, fisher);
    for (int64_t i = 0; i < d; ++i) {
      const double sum = precision[i] + lambda * fisher[i];
      anchor[i] =
          (precision[i] * anchor[i] + lambda * fisher[i] * mode[i]) / sum;
      precision[i] = before[i] = sum;
    }
    CHECK(bdl_posterior_set_low_rank(penalties, bdl_f64(anchor, 1, d),
                                     bdl_none(), bdl_f64(precision, 1, d)));
  }
  report("elastic weight consolidation", q);
  bdl_posterior_free(q);
  bdl_posterior_free(penalties);
}

/* Online elastic weight consolidation (Schwarz et al. 2018) has one penalty, around
   the last mode; `keep` below 1 forgets. With keep = lambda = 1 the prior of the
   next task is Laplace's posterior itself. */
static void online_elastic_weight_consolidation(void) {
  const double keep = 0.95, lambda = 1;
  bdl_posterior *q = create(0), *penalty = create(0);
  double mode[64], fisher[64], kept[64], precision[64];
  for (int64_t i = 0; i < d; ++i) kept[i] = 0, precision[i] = 1;
  for (int t = 0; t < TASKS; ++t) {
    learn(q, "laplace", t == 0 ? NULL : penalty, inputs(t), labels(t));
    CHECK(bdl_posterior_mean(q, bdl_f64_out(mode, 1, d)));
    information(q, precision, fisher);
    for (int64_t i = 0; i < d; ++i) {
      kept[i] = keep * kept[i] + fisher[i];
      precision[i] = 1 + lambda * kept[i]; /* 1: the prior's */
    }
    CHECK(bdl_posterior_set_low_rank(penalty, bdl_f64(mode, 1, d),
                                     bdl_none(), bdl_f64(precision, 1, d)));
  }
  report("online elastic weight consolidation", q);
  bdl_posterior_free(q);
  bdl_posterior_free(penalty);
}

/* A coreset is a few examples of each task that training leaves out. Before
   predictions, the network learns all coresets, with its posterior as the prior.
   That result is for predictions only. */
static void coresets(void) {
  bdl_posterior *q = create(2), *prior = NULL, *last;
  bdl_optimizer* optimizer;
  double core_x[TASKS * CORESET * FEATURES], core_y[TASKS * CORESET];
  for (int t = 0; t < TASKS; ++t) {
    const int64_t rest = N - CORESET;
    CHECK(bdl_optimizer_create(model, q, "slang-ggn", rest, &optimizer));
    CHECK(bdl_optimizer_set_int(optimizer, "learn_prior", 0));
    if (prior) CHECK(bdl_optimizer_set_prior_posterior(optimizer, prior));
    CHECK(bdl_optimizer_fit(
        optimizer, bdl_f64(x[t] + CORESET * FEATURES, rest, FEATURES),
        bdl_f64(y[t] + CORESET, rest, 1), 100, NULL, NULL));
    bdl_optimizer_free(optimizer);
    memcpy(core_x + t * CORESET * FEATURES, x[t],
           CORESET * FEATURES * sizeof(double));
    memcpy(core_y + t * CORESET, y[t], CORESET * sizeof(double));
    bdl_posterior_free(prior);
    CHECK(bdl_posterior_copy(q, &prior));
  }
  CHECK(bdl_posterior_copy(q, &last));
  CHECK(bdl_optimizer_create(model, last, "slang-ggn", TASKS * CORESET,
                             &optimizer));
  CHECK(bdl_optimizer_set_prior_posterior(optimizer, prior));
  CHECK(bdl_optimizer_fit(
      optimizer, bdl_f64(core_x, TASKS * CORESET, FEATURES),
      bdl_f64(core_y, TASKS * CORESET, 1), 50, NULL, NULL));
  report("coresets", last);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(last);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

/* A head for each task: the softmax goes over the classes of the task only. The
 * caller has to know the task. */
static void one_head_for_each_task(void) {
  bdl_posterior *prior = create(0), *q = create(0);
  double p[CLASSES], classes[2];
  for (int t = 0; t < TASKS; ++t) {
    const double head[] = {2 * t, 2 * t + 1};
    CHECK(bdl_model_set_classes(model, bdl_f64(head, 1, 2)));
    learn(t == 0 ? prior : q, "vogn", t == 0 ? NULL : prior, inputs(t),
          head_labels(t));
  }
  for (int t = 0; t < TASKS; ++t) {
    const double head[] = {2 * t, 2 * t + 1};
    CHECK(bdl_model_set_classes(model, bdl_f64(head, 1, 2)));
    EXPECT(part_right(q, inputs(t), head_labels(t)) > 0.9);
  }
  EXPECT(bdl_model_class_count(model) == 2);
  CHECK(bdl_model_get_classes(model, bdl_f64_out(classes, 1, 2)));
  EXPECT(classes[0] == 2 && classes[1] == 3);
  CHECK(bdl_predict_classes(
      model, q, bdl_f64(x[1], 1, FEATURES), BDL_MONTE_CARLO, 50, 1,
      bdl_f64_out(p, 1, CLASSES), bdl_none_out(), bdl_none_out()));
  EXPECT(p[0] == 0 && p[1] == 0 && fabs(p[2] + p[3] - 1) < 1e-12);
  CHECK(bdl_model_set_classes(model, bdl_none())); /* all again: one head */
  EXPECT(bdl_model_class_count(model) == CLASSES);
  bdl_posterior_free(prior);
  bdl_posterior_free(q);
}

int main(void) {
  setup();
  posteriors_as_priors();
  kronecker_posteriors_as_priors();
  variational_kronecker_posteriors();
  elastic_weight_consolidation();
  online_elastic_weight_consolidation();
  coresets();
  one_head_for_each_task();
  bdl_model_free(model);
  return 0;
}
