/* BDL_OK means finite: results that overflow, or do not fit a float output, are BDL_ERROR_DIVERGED and leave
   outputs alone. Of predictions, a row that overflows is infinite. */
#include "c_api_test.h"

static const double unwritten = -7;

typedef struct room {
  double d, e;
  float f;
} room;

static room empty_room(void) {
  const room r = {unwritten, unwritten, (float)unwritten};
  return r;
}

/* The call is refused with this text and writes nothing to `r`. */
#define OVERFLOWS(text, call)                          \
  do {                                                 \
    room r = empty_room();                             \
    assert_int_equal((call), BDL_ERROR_DIVERGED);      \
    assert_non_null(strstr(bdl_last_error(), text));   \
    assert_true(r.d == unwritten && r.e == unwritten); \
    assert_true(r.f == (float)unwritten);              \
  } while (0)
/* As above, for functions that compute in place. */
#define OVERFLOWS_IN_PLACE(text, call)               \
  do {                                               \
    room r = empty_room();                           \
    assert_int_equal((call), BDL_ERROR_DIVERGED);    \
    assert_non_null(strstr(bdl_last_error(), text)); \
  } while (0)

#define D_OUT bdl_f64_out(&r.d, 1, 1)
#define F_OUT bdl_f32_out(&r.f, 1, 1)

static const double one = 1, big = 1e200, larger = 1e300, zero = 0;

static bdl_matrix number(const double* value) {
  return bdl_f64(value, 1, 1);
}

/* f = theta x. */
static bdl_model* line(void) {
  const int64_t sizes[] = {1, 1};
  bdl_model* m = NULL;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_GAUSSIAN, &m));
  return m;
}

static bdl_posterior* normal(double mean, double precision) {
  bdl_posterior* q = NULL;
  OK(bdl_posterior_create_low_rank(BDL_F64, 1, 0, &q));
  OK(bdl_posterior_set_low_rank(q, number(&mean), bdl_none(), number(&precision)));
  return q;
}

static void models_overflow(void** state) {
  bdl_model* const m = line();
  const double wide = 1e25, steep = 1e60;
  (void)state;
  OVERFLOWS("outputs would be 1e+200", bdl_model_evaluate(m, number(&big), number(&one), F_OUT));
  OVERFLOWS("", bdl_model_evaluate(m, number(&big), number(&big), D_OUT));
  OVERFLOWS("", bdl_model_log_likelihood(m, number(&big), number(&one), number(&zero), D_OUT));
  OVERFLOWS("", bdl_model_gradient_rows(m, number(&big), number(&big), number(&zero), D_OUT));
  OVERFLOWS("hessian would be 1e+50",
            bdl_model_hessian(m, number(&one), number(&wide), number(&zero), F_OUT));
  OVERFLOWS("products would be 1e+50", bdl_model_hessian_vector_product(m, number(&one), number(&wide),
                                                                        number(&zero), number(&one), F_OUT));
  OVERFLOWS("jacobian would be 1e+60", bdl_model_jacobian(m, number(&one), number(&steep), F_OUT));
  OK(bdl_model_set_noise_precision(m, number(&steep)));
  OVERFLOWS("precision would be 1e+60", bdl_model_get_noise_precision(m, F_OUT));
  bdl_model_free(m);
}

static void posteriors_overflow(void** state) {
  bdl_posterior *flat = normal(1, 1e-60), *sharp = normal(1, 1e60), *far = normal(1e200, 1);
  (void)state;
  OVERFLOWS("variance would be 1e+60", bdl_posterior_marginal_variance(flat, F_OUT));
  OVERFLOWS("log_density would be -inf", bdl_posterior_log_density(flat, number(&larger), D_OUT));
  OVERFLOWS("diagonal would be 1e+60", bdl_posterior_precision_diagonal(sharp, F_OUT));
  OVERFLOWS("mean would be 1e+200", bdl_posterior_mean(far, F_OUT));
  OVERFLOWS("samples would be 1e+200", bdl_posterior_sample(far, 1, 0, F_OUT));
  OVERFLOWS("diagonal would be 1e+60", bdl_posterior_get_low_rank(sharp, bdl_none_out(), F_OUT));
  OVERFLOWS("would be", bdl_posterior_get_tensor(sharp, bdl_posterior_tensor_count(sharp) - 1, F_OUT));
  OVERFLOWS("kl would be inf", bdl_posterior_kl(far, sharp, &r.d));
  OVERFLOWS("kl would be inf", bdl_posterior_kl_prior(far, number(&one), &r.d));
  OVERFLOWS_IN_PLACE("solution would be inf", bdl_posterior_solve(flat, number(&larger), D_OUT));
  {
    room r = empty_room(); /* it has room for it */
    OK(bdl_posterior_solve(flat, number(&big), D_OUT));
    assert_true(fabs(r.d / 1e260 - 1) < 1e-12);
  }
  bdl_posterior_free(flat);
  bdl_posterior_free(sharp);
  bdl_posterior_free(far);
}

static void predictions_overflow(void** state) {
  bdl_model* const m = line();
  bdl_posterior *const q = normal(1e200, 1), *const steep = normal(1e5, 1);
  const double rows[] = {1, 1e36, 2};
  float mean[3];
  (void)state;
  OVERFLOWS("has no meaning",
            bdl_predict(m, q, number(&one), BDL_PLUG_IN, 1, 1, F_OUT, bdl_none_out(), bdl_none_out()));
  OK(bdl_predict(m, steep, bdl_f64(rows, 3, 1), BDL_PLUG_IN, 1, 1, bdl_f32_out(mean, 3, 1), bdl_none_out(),
                 bdl_none_out()));
  assert_true(mean[0] == 1e5f && isinf(mean[1]) && mean[1] > 0 && mean[2] == 2e5f);
  bdl_posterior_free(steep);
  bdl_model_free(m);
  bdl_posterior_free(q);
}

static void metrics_overflow(void** state) {
  const double mean[] = {1e300, 1e300}, y[] = {-1e300, 0}, draws[] = {1.7e308, -1.7e308};
  const double densities[] = {-1.7e308, 1.7e308, -1.7e308};
  (void)state;
  OVERFLOWS("rmse would be inf", bdl_metric_rmse(bdl_f64(mean, 2, 1), bdl_f64(y, 2, 1), &r.d));
  OVERFLOWS("crps would be", bdl_metric_crps(bdl_f64(draws, 1, 2), number(&one), &r.d));
  OVERFLOWS("would be", bdl_metric_log_predictive_density(bdl_f64(densities, 3, 1), &r.d, &r.e));
}

/* A row whose density is not a number is refused before the posterior changes. */
static void streams_overflow(void** state) {
  bdl_model* const m = line();
  bdl_posterior* const q = normal(0, 1);
  bdl_optimizer* o = NULL;
  double mean = unwritten;
  (void)state;
  OK(bdl_optimizer_create(m, q, "vd-ekf", 1, &o));
  OVERFLOWS("", bdl_optimizer_observe(o, number(&one), number(&big), D_OUT));
  OK(bdl_posterior_mean(q, bdl_f64_out(&mean, 1, 1)));
  assert_true(mean == 0);
  bdl_optimizer_free(o);
  bdl_posterior_free(q);
  bdl_model_free(m);
}

int test_results(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(models_overflow), cmocka_unit_test(posteriors_overflow),
                                     cmocka_unit_test(predictions_overflow),
                                     cmocka_unit_test(metrics_overflow), cmocka_unit_test(streams_overflow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
