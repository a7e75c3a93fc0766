/* One course of training, in variants that carry state from step to step in different ways. */
#ifndef BDL_TRAINING_RUNS_H
#define BDL_TRAINING_RUNS_H

#include "c_api_test.h"

typedef struct variant {
  const char* name;
  bdl_dtype dtype;
  bdl_likelihood likelihood;
  int64_t rank;
  const char* sampling;
  const char* eigen_method;
  double momentum;
  const char* prior_groups;
  int per_output_noise;
  const char* rule; /* bbb, map: by Adam */
} variant;

static const variant variants[] = {
    {"shuffled", BDL_F64, BDL_GAUSSIAN, 2, "shuffle", "automatic", 0.9, "weights_biases", 0, "blr"},
    {"with replacement", BDL_F32, BDL_GAUSSIAN, 2, "replacement", "automatic", 0.9, "shared", 0, "blr"},
    {"no momentum", BDL_F64, BDL_BERNOULLI, 3, "shuffle", "gram", 0, "layers", 0, "blr"},
    {"randomized eigenpairs", BDL_F64, BDL_GAUSSIAN, 3, "shuffle", "randomized", 0.9, "blocks", 1, "blr"},
    {"randomized, f32", BDL_F32, BDL_CATEGORICAL, 2, "replacement", "randomized", 0.5, "weights_biases", 0,
     "blr"},
    {"heteroscedastic", BDL_F64, BDL_HETEROSCEDASTIC, 2, "shuffle", "automatic", 0.9, "weights_biases", 0,
     "blr"},
    {"student t", BDL_F64, BDL_STUDENT_T, 2, "shuffle", "automatic", 0.9, "weights_biases", 0, "blr"},
    {"diagonal", BDL_F64, BDL_POISSON, 0, "shuffle", "automatic", 0.9, "weights_biases", 0, "blr"},
    {"full", BDL_F64, BDL_GAUSSIAN, FULL, "shuffle", "automatic", 0.9, "weights_biases", 1, "blr"},
    {"backprop", BDL_F64, BDL_GAUSSIAN, 0, "shuffle", "automatic", 0.9, "weights_biases", 1, "bbb"},
    {"backprop, f32", BDL_F32, BDL_CATEGORICAL, 0, "replacement", "automatic", 0.8, "layers", 0, "bbb"},
    {"mode in a full posterior", BDL_F32, BDL_GAUSSIAN, FULL, "shuffle", "automatic", 0.9, "weights_biases",
     0, "map"},
    {"mode", BDL_F64, BDL_GAUSSIAN, 2, "shuffle", "automatic", 0.9, "weights_biases", 0, "map"},
};
enum { VARIANTS = sizeof variants / sizeof *variants, EPOCHS = 4, MINIBATCH = 7, STEPS = EPOCHS * 4 };

static inline trained variant_create(const variant* v) {
  const double noise[MOST_OUTPUTS] = {4, 9};
  trained t = untrained_create(v->dtype, v->likelihood, v->rank);
  OK(bdl_optimizer_set_int(t.optimizer, "minibatch", MINIBATCH));
  OK(bdl_optimizer_set_int(t.optimizer, "progress_every", 1));
  OK(bdl_optimizer_set_int(t.optimizer, "seed", 17));
  OK(bdl_optimizer_set_choice(t.optimizer, "sampling", v->sampling));
  OK(bdl_optimizer_set_choice(t.optimizer, "eigen_method", v->eigen_method));
  OK(bdl_optimizer_set_choice(t.optimizer, "prior_groups", v->prior_groups));
  OK(bdl_optimizer_set_double(t.optimizer, "momentum", v->momentum));
  OK(bdl_optimizer_set_double(t.optimizer, "learn_from",
                              0.3)); /* scales are learned from the second epoch on */
  OK(bdl_optimizer_set_int(t.optimizer, "learn_prior", strcmp(v->rule, "map") != 0));
  /* fits learn the noise of a mode at the ends of epochs, by passes over the data that steps do not make */
  OK(bdl_optimizer_set_int(t.optimizer, "learn_noise", strcmp(v->rule, "map") != 0));
  OK(bdl_optimizer_set_choice(t.optimizer, "rule", v->rule));
  OK(bdl_optimizer_set_choice(t.optimizer, "descent", strcmp(v->rule, "blr") == 0 ? "sgd" : "adam"));
  if (strcmp(v->rule, "bbb") == 0) OK(bdl_optimizer_set_choice(t.optimizer, "curvature", "mc-reparam"));
  if (v->per_output_noise) OK(bdl_model_set_noise_precision(t.model, bdl_f64(noise, 1, t.outputs)));
  return t;
}

static inline bdl_status variant_fit(trained* t, int64_t epochs, bdl_progress_fn progress, void* user_data) {
  return bdl_optimizer_fit(t->optimizer, x_of(&t->data), y_of(&t->data), epochs, progress, user_data);
}

/* The state after a whole uninterrupted course. */
static inline snapshot uninterrupted(const variant* v) {
  trained t = variant_create(v);
  snapshot s;
  OK(variant_fit(&t, EPOCHS, NULL, NULL));
  s = snapshot_of(&t);
  assert_int_equal(s.step, STEPS);
  assert_true(s.prior[0] != 1 || strcmp(v->rule, "map") == 0); /* the prior was learned */
  trained_free(&t);
  return s;
}

/* user_data: the step to stop after */
static inline int32_t stop_after(void* user_data, const bdl_optimizer* optimizer) {
  int64_t step = 0;
  OK(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  return step == *(const int64_t*)user_data;
}

/* user_data: how many steps lie between stops */
static inline int32_t stop_every(void* user_data, const bdl_optimizer* optimizer) {
  int64_t step = 0;
  OK(bdl_optimizer_progress(optimizer, &step, NULL, NULL));
  return step % *(const int64_t*)user_data == 0;
}

#endif
