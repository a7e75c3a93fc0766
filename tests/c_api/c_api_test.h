/* Shared by the tests of the C API: small data sets and trained handles. Only the public header of libbdl is
 * used.
 */
#ifndef BDL_C_API_TEST_H
#define BDL_C_API_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bdl/bdl.h"

/* Last: it defines fail(). */
#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

/* The call must succeed. */
#define OK(call) ok_at((call), #call, __FILE__, __LINE__)

static inline void ok_at(bdl_status got, const char* call, const char* file, int line) {
  if (got == BDL_OK) return;
  print_error("%s\n  gave %s: %s\n", call, bdl_status_name(got), bdl_last_error());
  _fail(file, line);
}

/* Makes a checkpoint one of a version without checksums, so that what is changed in it reaches the readers of
 * fields. */
static inline void drop_checksums(void* checkpoint, size_t size) {
  const char key[] = "\"crc32c", other[] = "\"former";
  char* const bytes = (char*)checkpoint;
  uint64_t header = 0;
  memcpy(&header, bytes, sizeof header);
  assert_true(header < size - 8);
  for (size_t i = 8; i + sizeof key < 8 + header; ++i)
    if (!memcmp(bytes + i, key, sizeof key - 1)) memcpy(bytes + i, other, sizeof other - 1);
}

/* A custom model of these functions. */
static inline bdl_status create_user(bdl_dtype dtype, int64_t inputs, int64_t outputs, int64_t parameters,
                                     bdl_likelihood likelihood, bdl_outputs_fn outputs_of,
                                     bdl_gradients_fn gradients_of, void* user_data,
                                     void (*destroy)(void* user_data), bdl_model** model) {
  bdl_model_callbacks callbacks;
  callbacks.struct_size = sizeof callbacks;
  callbacks.outputs = outputs_of;
  callbacks.gradients = gradients_of;
  callbacks.user_data = user_data;
  callbacks.destroy = destroy;
  return bdl_model_create_user(dtype, inputs, outputs, parameters, likelihood, &callbacks, model);
}

enum { ROWS = 24, INPUTS = 2, MOST_OUTPUTS = 3, MOST_PARAMETERS = 21 };

/* Made-up data that every likelihood finds something in. */
typedef struct dataset {
  double x[ROWS * INPUTS];
  double y[ROWS * MOST_OUTPUTS];
  int64_t targets;
} dataset;

static inline int64_t outputs_for(bdl_likelihood likelihood) {
  return likelihood == BDL_CATEGORICAL ? 3 : likelihood == BDL_POISSON ? 1 : 2;
}

static inline dataset data_for(bdl_likelihood likelihood) {
  dataset d;
  memset(&d, 0, sizeof d);
  const int is_real =
      likelihood == BDL_GAUSSIAN || likelihood == BDL_HETEROSCEDASTIC || likelihood == BDL_STUDENT_T;
  d.targets = likelihood == BDL_CATEGORICAL       ? 1
              : likelihood == BDL_HETEROSCEDASTIC ? outputs_for(likelihood) / 2
                                                  : outputs_for(likelihood);
  for (int i = 0; i < ROWS; ++i) {
    const double a = sin(1.7 * i + 0.3), b = cos(2.3 * i), f = 1.5 * a - b;
    d.x[i * INPUTS] = a;
    d.x[i * INPUTS + 1] = b;
    for (int64_t t = 0; t < d.targets; ++t) {
      const double target = t == 0 ? f : 0.5 * a + b;
      double* y = &d.y[i * d.targets + t];
      *y = is_real ? target + 0.1 * sin(9.1 * i) : target > 0 ? 1 : 0;
      if (likelihood == BDL_CATEGORICAL && a > 0.5) *y = 2;
      if (likelihood == BDL_POISSON) *y = floor(exp(0.5 * target));
    }
  }
  return d;
}

static inline bdl_matrix x_of(const dataset* d) {
  return bdl_f64(d->x, ROWS, INPUTS);
}
static inline bdl_matrix y_of(const dataset* d) {
  return bdl_f64(d->y, ROWS, d->targets);
}

/* A network with its posterior, after a few steps of training. */
typedef struct trained {
  dataset data;
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  int64_t parameters; /* D */
  int64_t outputs;    /* C */
} trained;

enum { FULL = -1 }; /* as a rank: the full family */

static inline trained untrained_create(bdl_dtype dtype, bdl_likelihood likelihood, int64_t rank) {
  trained t;
  memset(&t, 0, sizeof t);
  t.data = data_for(likelihood);
  t.outputs = outputs_for(likelihood);
  const int64_t sizes[] = {INPUTS, 3, t.outputs};
  OK(bdl_model_create_mlp(dtype, sizes, 3, BDL_TANH, 1, likelihood, &t.model));
  t.parameters = bdl_model_parameters(t.model);
  if (rank == FULL)
    OK(bdl_posterior_create_full(dtype, t.parameters, &t.posterior));
  else
    OK(bdl_posterior_create_low_rank(dtype, t.parameters, rank, &t.posterior));
  OK(bdl_optimizer_create(t.model, t.posterior, "slang-ggn", ROWS, &t.optimizer));
  return t;
}

static inline trained trained_create(bdl_dtype dtype, bdl_likelihood likelihood, int64_t rank) {
  const trained t = untrained_create(dtype, likelihood, rank);
  OK(bdl_optimizer_set_int(t.optimizer, "minibatch", 8));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 2, NULL, NULL));
  return t;
}

static inline void trained_free(trained* t) {
  bdl_optimizer_free(t->optimizer);
  bdl_posterior_free(t->posterior);
  bdl_model_free(t->model);
}

/* All numbers that describe the handles' state; equal bytes mean equal states. */
typedef struct snapshot {
  double mean[MOST_PARAMETERS];
  double variance[MOST_PARAMETERS];
  double prior[MOST_PARAMETERS];
  double noise[MOST_OUTPUTS];
  double epoch, log_likelihood, kl, mean_shift, precision_shift;
  int64_t step, planned;
} snapshot;

static inline snapshot snapshot_of(const trained* t) {
  snapshot s;
  memset(&s, 0, sizeof s);
  OK(bdl_posterior_mean(t->posterior, bdl_f64_out(s.mean, 1, t->parameters)));
  if (bdl_posterior_has_covariance(t->posterior))
    OK(bdl_posterior_marginal_variance(t->posterior, bdl_f64_out(s.variance, 1, t->parameters)));
  OK(bdl_optimizer_get_prior(t->optimizer, bdl_f64_out(s.prior, 1, t->parameters)));
  OK(bdl_optimizer_progress(t->optimizer, &s.step, &s.planned, &s.epoch));
  OK(bdl_optimizer_diagnose(t->optimizer, &s.mean_shift, &s.precision_shift, NULL));
  /* Without a step there is no running ELBO, and without Gaussian noise no precision: zeros then. */
  (void)bdl_optimizer_running_elbo(t->optimizer, &s.log_likelihood, &s.kl);
  if (bdl_model_get_noise_precision(t->model, bdl_f64_out(s.noise, 1, 1)) != BDL_OK)
    (void)bdl_model_get_noise_precision(t->model, bdl_f64_out(s.noise, 1, t->outputs));
  return s;
}

static inline void assert_same_state(const snapshot* a, const snapshot* b) {
  assert_memory_equal(a, b, sizeof *a);
}

#endif
