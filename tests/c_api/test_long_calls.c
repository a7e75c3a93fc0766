/* Long calls ask the interrupt all the time, inside large steps too, and end soon after the answer; nothing
 * is lost. */
#include "asking_host.h"
#include "every_method.h"

#ifdef SLOW
enum { WIDE_INPUTS = 784 };
#else
enum { WIDE_INPUTS = 2048 };
#endif
enum { LARGE_ROWS = 2000, LARGE_OUTPUTS = 10 };

typedef struct large {
  double *x, *y;
} large;

static large large_data(void) {
  large data = {malloc(sizeof(double) * WIDE_INPUTS * LARGE_ROWS), malloc(sizeof(double) * LARGE_ROWS)};
  for (int i = 0; i < WIDE_INPUTS * LARGE_ROWS; ++i) data.x[i] = sin(0.37 * i) * cos(1e-3 * i);
  for (int i = 0; i < LARGE_ROWS; ++i) data.y[i] = i % LARGE_OUTPUTS;
  return data;
}

static void large_free(large* data) {
  free(data->x);
  free(data->y);
}

typedef struct course {
  const learner* l;
  const char* method;
  bdl_matrix x, y;
} course;

static bdl_status take_course(void* argument) {
  const course* const c = argument;
  return learn(c->l, c->method, c->x, c->y, 1);
}

static bdl_status predict_all(void* argument) {
  const course* const c = argument;
  const int64_t outputs = bdl_model_outputs(c->l->model);
  double* const mean = malloc(sizeof(double) * (size_t)(c->x.rows * outputs));
  const bdl_status status =
      bdl_predict(c->l->model, c->l->posterior, c->x, BDL_MONTE_CARLO, 4, 1,
                  bdl_f64_out(mean, c->x.rows, outputs), bdl_none_out(), bdl_none_out());
  free(mean);
  return status;
}

static bdl_status read_variances(void* argument) {
  const course* const c = argument;
  const int64_t d = bdl_model_parameters(c->l->model);
  double* const out = malloc(sizeof(double) * (size_t)d);
  const bdl_status status = bdl_posterior_marginal_variance(c->l->posterior, bdl_f64_out(out, 1, d));
  free(out);
  return status;
}

/* Small models that are deep enough for everything, all methods and families. */
static void small_problems_ask(void** state) {
  const dataset data = data_for(BDL_CATEGORICAL);
  const int64_t sizes[] = {INPUTS, 3, 3};
  host h = {0};
  (void)state;
  for (int64_t i = 0; bdl_method_name(i); ++i)
    for (int family = 0; family <= FAMILIES; ++family) {
      learner l;
      if (!learner_create(bdl_method_name(i), family, 2, sizes, 3, BDL_CATEGORICAL, ROWS, &l)) continue;
      course c = {&l, bdl_method_name(i), x_of(&data), y_of(&data)};
      (void)timed(&h, bdl_method_name(i), take_course, &c);
      (void)timed(&h, "predict", predict_all, &c);
      learner_free(&l);
    }
  assert_true(h.longest <= longest_gap);
}

typedef struct large_case {
  const char* method;
  int family;
  int64_t rank, inputs, hidden, rows;
  bdl_likelihood likelihood;
} large_case;

/* Single steps that take a good part of a second on one thread. */
static const large_case large_cases[] = {
    {"slang", 0, 8, 784, 40, 1000, BDL_CATEGORICAL},
    {"slang-ggn", 0, 8, 784, 20, 200, BDL_CATEGORICAL},
    {"slang-ggn", 0, 32, 100, 20, 700, BDL_CATEGORICAL},
    {"slang-ggn", 1, 0, 50, 10, 500, BDL_CATEGORICAL},
    {"slang-lin-hess", 1, 0, 40, 8, 300, BDL_CATEGORICAL},
    {"slang-ggn", 1, 0, 170, 10, 100, BDL_CATEGORICAL},
    {"lo-fi", 0, 10, 200, 30, 100, BDL_CATEGORICAL},
    {"cm-ekf", 1, 0, 50, 10, 60, BDL_CATEGORICAL},
    {"noisy-kfac", 7, 0, 300, 60, 500, BDL_CATEGORICAL},
    {"noisy-kfac", 7, 0, 784, 40, 500, BDL_CATEGORICAL},
    {"kfac", 7, 0, 784, 40, 500, BDL_CATEGORICAL},
    {"noisy-kfac", 7, 0, WIDE_INPUTS, 5, 60, BDL_CATEGORICAL},
    {"cm-ekf", 1, 0, 170, 10, 3, BDL_CATEGORICAL},
    {"bong", 2, 0, 170, 10, 3, BDL_CATEGORICAL},
    {"elrg", 6, 5, 784, 40, 1000, BDL_CATEGORICAL},
    {"bbb", 9, 0, 784, 100, 1000, BDL_CATEGORICAL},
    {"laplace", 0, 8, 100, 20, 1000, BDL_CATEGORICAL},
    {"laplace", 7, 0, 784, 40, 1000, BDL_CATEGORICAL},
    {"map", 9, 0, 784, 100, 2000, BDL_CATEGORICAL},
    {"slang-online-eig", 0, 10, 784, 40, 300, BDL_CATEGORICAL},
};

static int large_case_create(const large_case* c, learner* l) {
  const int64_t sizes[] = {c->inputs, c->hidden, LARGE_OUTPUTS};
  if (!learner_create(c->method, c->family, c->rank, sizes, 3, c->likelihood, c->rows, l)) return 0;
  (void)bdl_optimizer_set_int(l->optimizer, "minibatch", c->rows);
  OK(bdl_optimizer_set_int(l->optimizer, "threads", 1));
  return 1;
}

static void large_steps_ask(void** state) {
  large data = large_data();
  host h = {0};
  (void)state;
  for (size_t k = 0; k < sizeof large_cases / sizeof *large_cases; ++k) {
    const large_case* const problem = &large_cases[k];
    learner l;
    if (!large_case_create(problem, &l)) print_error("%s %d\n", problem->method, problem->family);
    course c = {&l, problem->method,
                bdl_strided(data.x, BDL_F64, problem->rows, problem->inputs, WIDE_INPUTS, 1),
                bdl_f64(data.y, problem->rows, 1)};
    const bdl_status status = timed(&h, problem->method, take_course, &c);
    if (status != BDL_OK) print_error("%s: %s\n", problem->method, bdl_last_error());
    (void)timed(&h, "predict", predict_all, &c);
    (void)timed(&h, "marginal variance", read_variances, &c);
    learner_free(&l);
  }
  large_free(&data);
  assert_true(h.longest <= longest_gap);
}

enum { WIDE = 1800, DRAWS = 300 };

typedef struct questions {
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  int64_t rows, d;
  double *from, *to;
} questions;

static bdl_status start(const questions* q) {
  return bdl_optimizer_initialize(q->optimizer);
}
static bdl_status update(const questions* q) {
  const double precision = 1;
  return bdl_posterior_update(q->posterior, bdl_f64(q->from, 100, q->d), 1e-5, 0.01, 0.1,
                              bdl_f64(&precision, 1, 1));
}
static bdl_status draw_many(const questions* q) {
  return bdl_posterior_sample(q->posterior, 1, 0, bdl_f64_out(q->to, q->rows, q->d));
}
static bdl_status solve_many(const questions* q) {
  return bdl_posterior_solve(q->posterior, bdl_f64(q->from, q->rows, q->d),
                             bdl_f64_out(q->to, q->rows, q->d));
}
static bdl_status read_precision(const questions* q) {
  return bdl_posterior_precision_diagonal(q->posterior, bdl_f64_out(q->to, 1, q->d));
}
static bdl_status read_spread(const questions* q) {
  return bdl_posterior_marginal_variance(q->posterior, bdl_f64_out(q->to, 1, q->d));
}
static bdl_status divergence(const questions* q) {
  double kl;
  return bdl_posterior_kl(q->posterior, q->posterior, &kl);
}
static bdl_status copy_one(const questions* q) {
  bdl_posterior* copy = NULL;
  const bdl_status status = bdl_posterior_copy(q->posterior, &copy);
  bdl_posterior_free(copy);
  return status;
}

static const struct {
  const char* name;
  bdl_status (*call)(const questions*);
} question_calls[] = {{"initialize", start},
                      {"update", update},
                      {"draws", draw_many},
                      {"solutions", solve_many},
                      {"precision", read_precision},
                      {"variances", read_spread},
                      {"KL", divergence},
                      {"copy", copy_one}};

typedef struct question {
  const questions* of;
  bdl_status (*call)(const questions*);
} question;

static bdl_status put(void* argument) {
  const question* const q = argument;
  return q->call(q->of);
}

/* Queries of single posteriors, full ones of many parameters among them. */
static void wide_posteriors_ask(void** state) {
  host h = {0};
  (void)state;
  for (int family = 0; family < 3; ++family) {
    bdl_model* model = NULL;
    questions q = {NULL, NULL, DRAWS, family == 0 ? 20 * WIDE : WIDE, NULL, NULL};
    q.from = malloc(sizeof(double) * (size_t)(q.d * DRAWS));
    q.to = malloc(sizeof(double) * (size_t)(q.d * DRAWS));
    for (int64_t i = 0; i < q.d * DRAWS; ++i) q.from[i] = sin(0.37 * (double)i);
    const int64_t sizes[] = {q.d - 1, 1};
    OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_GAUSSIAN, &model));
    OK(family_create(model, BDL_F64, family, 10, &q.posterior));
    OK(bdl_optimizer_create(NULL, q.posterior, family == 2 ? "slang-ggn" : "slang", 1000, &q.optimizer));
    for (size_t c = 0; c < sizeof question_calls / sizeof *question_calls; ++c) {
      question asked = {&q, question_calls[c].call};
      const bdl_status status = timed(&h, question_calls[c].name, put, &asked);
      if (status != BDL_OK) print_error("%s %d: %s\n", question_calls[c].name, family, bdl_last_error());
      assert_int_equal(status, BDL_OK);
    }
    bdl_optimizer_free(q.optimizer);
    bdl_posterior_free(q.posterior);
    bdl_model_free(model);
    free(q.from);
    free(q.to);
  }
  print_message("longest: %.0f ms\n", 1e3 * h.longest);
  assert_true(h.longest <= longest_gap);
}

/* A step is interrupted in its middle: it has changed nothing, and the next fit gives the results of one that
 * was never interrupted. */
static void steps_are_cut(void** state) {
  large data = large_data();
  const large_case problem = {"slang", 0, 8, 784, 40, 1000, BDL_CATEGORICAL};
  learner cut, whole;
  const int64_t d = 784 * 40 + 40 + 40 * LARGE_OUTPUTS + LARGE_OUTPUTS;
  double* const means = malloc(2 * sizeof(double) * (size_t)d);
  host h = {0};
  int64_t step = -1;
  (void)state;
  assert_true(large_case_create(&problem, &cut) && large_case_create(&problem, &whole));
  course a = {&cut, problem.method, bdl_f64(data.x, problem.rows, problem.inputs),
              bdl_f64(data.y, problem.rows, 1)};
  course b = a;
  b.l = &whole;
  h.stop_at = 2;
  assert_int_equal(timed(&h, "a step that is cut", take_course, &a), BDL_STOPPED);
  assert_int_equal(h.asked, 2);
  assert_true(h.last - h.stopped_at <= 2 * longest_gap);
  OK(bdl_optimizer_progress(cut.optimizer, &step, NULL, NULL));
  assert_int_equal(step, 0);
  OK(take_course(&a));
  OK(take_course(&b));
  OK(bdl_posterior_mean(cut.posterior, bdl_f64_out(means, 1, d)));
  OK(bdl_posterior_mean(whole.posterior, bdl_f64_out(means + d, 1, d)));
  assert_memory_equal(means, means + d, sizeof(double) * (size_t)d);
  learner_free(&cut);
  learner_free(&whole);
  free(means);
  large_free(&data);
}

/* Counts under posteriors so wide that sums over them once did not end. */
static void wide_beliefs_end(void** state) {
  const double x[] = {1, 1000}, y[] = {0, 7};
  const int64_t sizes[] = {1, 1};
  host h = {0};
  (void)state;
  for (int k = 0; k < 4; ++k) {
    const double precision = pow(10, -10 * k);
    learner l;
    assert_true(learner_create("bong", 2, 0, sizes, 2, BDL_POISSON, 2, &l));
    OK(bdl_optimizer_set_int(l.optimizer, "learn_prior", 0));
    OK(bdl_optimizer_set_double(l.optimizer, "prior_precision", precision));
    course c = {&l, "bong", bdl_f64(x, 2, 1), bdl_f64(y, 2, 1)};
    const bdl_status status = timed(&h, "counts", take_course, &c);
    assert_true(status == BDL_OK || status == BDL_ERROR_DIVERGED);
    learner_free(&l);
  }
  assert_true(h.longest <= longest_gap);
}

int test_long_calls(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_problems_ask), cmocka_unit_test(large_steps_ask),
                                     cmocka_unit_test(steps_are_cut), cmocka_unit_test(wide_posteriors_ask),
                                     cmocka_unit_test(wide_beliefs_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
