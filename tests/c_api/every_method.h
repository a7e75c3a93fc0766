/* A learner of each method in a family that it learns, and its course on small data. */
#ifndef BDL_EVERY_METHOD_H
#define BDL_EVERY_METHOD_H

#include "c_api_test.h"

enum { FAMILIES = 9 };

static inline bdl_status family_create(const bdl_model* model, bdl_dtype dtype, int family, int64_t rank,
                                       bdl_posterior** posterior) {
  const int64_t d = bdl_model_parameters(model);
  switch (family) {
    case 0:
      return bdl_posterior_create_low_rank(dtype, d, rank, posterior);
    case 1:
      return bdl_posterior_create_full(dtype, d, posterior);
    case 2:
      return bdl_posterior_create_full_moment(dtype, d, posterior);
    case 3:
      return bdl_posterior_create_diagonal_moment(dtype, d, posterior);
    case 4:
      return bdl_posterior_create_layerwise_full(model, posterior);
    case 5:
      return bdl_posterior_create_low_rank_moment(dtype, d, rank, posterior);
    case 6:
      return bdl_posterior_create_layerwise_low_rank_moment(model, rank, posterior);
    case 7:
      return bdl_posterior_create_kronecker(model, posterior);
    case 8:
      return bdl_posterior_create_dropout(model, 0.125, 0.25, posterior);
    default:
      return bdl_posterior_create_low_rank(dtype, d, 0, posterior);
  }
}

typedef struct learner {
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
} learner;

static inline void learner_free(learner* l) {
  bdl_optimizer_free(l->optimizer);
  bdl_posterior_free(l->posterior);
  bdl_model_free(l->model);
  memset(l, 0, sizeof *l);
}

/* Creates a learner with a posterior of the n-th of FAMILIES + 1 families (the last: diagonal). Returns 0 if
 * the method does not learn it. */
static inline int learner_create(const char* method, int family, int64_t rank, const int64_t* sizes,
                                 int32_t layers, bdl_likelihood likelihood, int64_t rows, learner* l) {
  memset(l, 0, sizeof *l);
  OK(bdl_model_create_mlp(BDL_F64, sizes, layers, BDL_TANH, 1, likelihood, &l->model));
  if (family_create(l->model, BDL_F64, family, rank, &l->posterior) == BDL_OK &&
      bdl_optimizer_create(l->model, l->posterior, method, rows, &l->optimizer) == BDL_OK)
    return 1;
  learner_free(l);
  return 0;
}

static inline bdl_status learn(const learner* l, const char* method, bdl_matrix x, bdl_matrix y,
                               int64_t epochs) {
  int32_t is_stream = 0;
  OK(bdl_method_describe(method, NULL, &is_stream, NULL, NULL, NULL, NULL));
  return is_stream ? bdl_optimizer_observe(l->optimizer, x, y, bdl_none_out())
                   : bdl_optimizer_fit(l->optimizer, x, y, epochs, NULL, NULL);
}

#endif
