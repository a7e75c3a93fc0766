/* Calls that the functions for posteriors in moment parameters refuse. */
#include "refused.h"

enum { D = 5 };

static void test_create(void** state) {
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "dtype is 0", bdl_posterior_create_full_moment((bdl_dtype)0, 3, &out.posterior));
  REFUSED(INVALID, "dtype is 3", bdl_posterior_create_full_moment(BDL_I32, 3, &out.posterior));
  REFUSED(INVALID, "dimension is 0", bdl_posterior_create_full_moment(BDL_F64, 0, &out.posterior));
  REFUSED(INVALID, "dimension is -3", bdl_posterior_create_full_moment(BDL_F64, -3, &out.posterior));
  REFUSED(INVALID, "dimension is 9223372036854775807",
          bdl_posterior_create_full_moment(BDL_F64, INT64_MAX, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_full_moment(BDL_F32, 3, NULL));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_set_full_moment(NULL, given(1, D), given(D, D)));
  REFUSED(INVALID, "dtype is 0", bdl_posterior_create_diagonal_moment((bdl_dtype)0, 3, &out.posterior));
  REFUSED(INVALID, "dtype is 3", bdl_posterior_create_diagonal_moment(BDL_I32, 3, &out.posterior));
  REFUSED(INVALID, "dimension is 0", bdl_posterior_create_diagonal_moment(BDL_F64, 0, &out.posterior));
  REFUSED(INVALID, "dimension is -3", bdl_posterior_create_diagonal_moment(BDL_F64, -3, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_diagonal_moment(BDL_F32, 3, NULL));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_set_diagonal_moment(NULL, given(1, D), given(1, D)));
}

static void test_create_blocks(void** state) {
  const int64_t sizes[] = {3, 2}, none[] = {3, 0}, many[] = {INT32_MAX, INT32_MAX};
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "model is NULL", bdl_posterior_create_layerwise_full(NULL, &out.posterior));
  REFUSED(INVALID, "sizes is NULL", bdl_posterior_create_blockwise_full(BDL_F64, NULL, 2, &out.posterior));
  REFUSED(INVALID, "size_count is 0", bdl_posterior_create_blockwise_full(BDL_F64, sizes, 0, &out.posterior));
  REFUSED(INVALID, "a size is 0", bdl_posterior_create_blockwise_full(BDL_F64, none, 2, &out.posterior));
  REFUSED(INVALID, "a size is 2147483647, expected 1 to 0",
          bdl_posterior_create_blockwise_full(BDL_F64, many, 2, &out.posterior));
  REFUSED(INVALID, "dtype is 3", bdl_posterior_create_blockwise_full(BDL_I32, sizes, 2, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_blockwise_full(BDL_F32, sizes, 2, NULL));
}

/* Kronecker-factored posteriors need networks whose layers have one matrix each. */
static void test_kronecker(void** state) {
  static const char grouped[] = "input 4 3 3; conv 4 3 groups 2; flatten; dense 1";
  const double x[] = {1, 2, 3};
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "model is NULL", bdl_posterior_create_kronecker(NULL, &out.posterior));
  OK(bdl_model_create_network(BDL_F64, grouped, BDL_GAUSSIAN, &model));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_kronecker(model, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "conv 4 3 groups 2\" (line 2)",
          bdl_posterior_create_kronecker(model, &out.posterior));
  bdl_model_free(model);
  OK(bdl_model_create_network(BDL_F64, "input 2; dense 1; tanh; dense 3 nobias", BDL_GAUSSIAN, &model));
  OK(bdl_posterior_create_kronecker(model, &q));
  REFUSED(BDL_ERROR_UNSUPPORTED, "is for posteriors of family",
          bdl_optimizer_create(model, q, "slang", 10, &out.optimizer));
  OK(bdl_optimizer_create(model, q, "laplace", 10, &opt));
  REFUSED(BDL_ERROR_UNSUPPORTED, "steps by rule \"map\"", bdl_optimizer_set_choice(opt, "rule", "blr"));
  REFUSED(BDL_ERROR_UNSUPPORTED, "such a posterior is learned from a data set",
          bdl_optimizer_observe(opt, bdl_f64(x, 1, 2), bdl_f64(x, 1, 3), bdl_none_out()));
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

static void test_low_rank_moment(void** state) {
  const double mean[] = {0, 0, 0}, w[] = {1, 2, 3}, s[] = {1, 0, 1};
  bdl_posterior *q, *full;
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "rank is -1", bdl_posterior_create_low_rank_moment(BDL_F64, 3, -1, &out.posterior));
  REFUSED(INVALID, "rank is 257", bdl_posterior_create_low_rank_moment(BDL_F64, 3, 257, &out.posterior));
  REFUSED(INVALID, "dimension is 0", bdl_posterior_create_low_rank_moment(BDL_F64, 0, 1, &out.posterior));
  REFUSED(INVALID, "posterior is NULL", bdl_posterior_create_low_rank_moment(BDL_F32, 3, 1, NULL));
  REFUSED(INVALID, "model is NULL", bdl_posterior_create_layerwise_low_rank_moment(NULL, 1, &out.posterior));
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, 3, 1, &q));
  OK(bdl_posterior_create_full(BDL_F64, 3, &full));
  REFUSED(INVALID, "diagonal",
          bdl_posterior_set_low_rank_moment(q, bdl_f64(mean, 1, 3), bdl_f64(w, 3, 1), bdl_f64(s, 1, 3)));
  REFUSED(BDL_ERROR_SHAPE, "low_rank",
          bdl_posterior_set_low_rank_moment(q, bdl_f64(mean, 1, 3), bdl_f64(w, 1, 3), bdl_f64(w, 1, 3)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank-moment",
          bdl_posterior_set_low_rank_moment(full, bdl_f64(mean, 1, 3), bdl_f64(w, 3, 1), bdl_f64(w, 1, 3)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank-moment",
          bdl_posterior_update(q, bdl_f64(w, 1, 3), 1, 0.1, 0.1, bdl_f64(w, 1, 1)));
  assert_true(bdl_posterior_is_blank(q));
  REFUSED(BDL_ERROR_UNSUPPORTED, "is for posteriors of family low_rank",
          bdl_optimizer_create(NULL, q, "slang", 10, &out.optimizer));
  bdl_posterior_free(q);
  bdl_posterior_free(full);
}

/* The numbers of a posterior, by which tests see that refused calls leave it unchanged. */
typedef struct belief {
  double mean[D], variance[D], log_det;
} belief;

static belief belief_of(const bdl_posterior* q) {
  belief b;
  memset(&b, 0, sizeof b);
  OK(bdl_posterior_mean(q, bdl_f64_out(b.mean, 1, D)));
  OK(bdl_posterior_marginal_variance(q, bdl_f64_out(b.variance, 1, D)));
  OK(bdl_posterior_log_det_covariance(q, &b.log_det));
  return b;
}

static void test_set_full_moment(void** state) {
  const bdl_dtype dtypes[] = {BDL_F32, BDL_F64};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    double mean_values[D] = {1, 2, 3, 4, 5}, identity[D * D] = {0}, broken[D * D];
    const bdl_matrix mean = bdl_f64(mean_values, 1, D), s = bdl_f64(identity, D, D),
                     asymmetric = bdl_f64(broken, D, D);
    bdl_posterior* q;
    for (int i = 0; i < D; ++i) identity[i * D + i] = 2;
    OK(bdl_posterior_create_full_moment(dtypes[k], D, &q));
    OK(bdl_posterior_set_full_moment(q, mean, s));
    const belief before = belief_of(q);
    watch(NULL);
    REFUSES_INPUTS("mean", 1, D, bdl_posterior_set_full_moment(q, wrong, s));
    REFUSES_INPUTS("covariance", D, D, bdl_posterior_set_full_moment(q, mean, wrong));
    REFUSED(BDL_ERROR_SHAPE, "covariance has 4 rows",
            bdl_posterior_set_full_moment(q, mean, given(D - 1, D)));
    memcpy(broken, identity, sizeof broken);
    broken[3 * D + 1] = 0.5;
    REFUSED(INVALID, "covariance is not symmetric at row 3, column 1",
            bdl_posterior_set_full_moment(q, mean, asymmetric));
    memcpy(broken, identity, sizeof broken);
    broken[2 * D + 2] = -1;
    REFUSED(INVALID, "covariance is not positive definite",
            bdl_posterior_set_full_moment(q, mean, asymmetric));
    const belief after = belief_of(q);
    assert_memory_equal(&before, &after, sizeof before);
    bdl_posterior_free(q);
  }
}

static void test_set_diagonal_moment(void** state) {
  const bdl_dtype dtypes[] = {BDL_F32, BDL_F64};
  const double mean_values[D] = {1, 2, 3, 4, 5}, variance_values[D] = {5, 4, 3, 2, 1};
  const bdl_matrix mean = bdl_f64(mean_values, 1, D), variance = bdl_f64(variance_values, 1, D);
  (void)state;
  for (int k = 0; k < 2; ++k) {
    bdl_posterior* q;
    OK(bdl_posterior_create_diagonal_moment(dtypes[k], D, &q));
    OK(bdl_posterior_set_diagonal_moment(q, mean, variance));
    const belief before = belief_of(q);
    watch(NULL);
    REFUSES_INPUTS("mean", 1, D, bdl_posterior_set_diagonal_moment(q, wrong, variance));
    REFUSES_PRECISIONS("variance", D, bdl_posterior_set_diagonal_moment(q, mean, wrong));
    REFUSED(BDL_ERROR_SHAPE, "variance has 2 rows", bdl_posterior_set_diagonal_moment(q, mean, given(2, D)));
    const belief after = belief_of(q);
    assert_memory_equal(&before, &after, sizeof before);
    bdl_posterior_free(q);
  }
}

static void test_other_families(void** state) {
  double zeros[D] = {0}, identity[D * D] = {0};
  const bdl_matrix mean = bdl_f64(zeros, 1, D), s = bdl_f64(identity, D, D);
  bdl_posterior *low_rank, *full, *moment, *diagonal;
  (void)state;
  for (int i = 0; i < D; ++i) identity[i * D + i] = 1;
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 2, &low_rank));
  OK(bdl_posterior_create_full(BDL_F64, D, &full));
  OK(bdl_posterior_create_full_moment(BDL_F64, D, &moment));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, D, &diagonal));
  watch(NULL);
  REFUSED(BDL_ERROR_UNSUPPORTED, "diagonal-moment",
          bdl_posterior_set_diagonal_moment(low_rank, mean, given(1, D)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "diagonal-moment",
          bdl_posterior_set_diagonal_moment(moment, mean, given(1, D)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "full-moment", bdl_posterior_set_full_moment(diagonal, mean, s));
  REFUSED(BDL_ERROR_UNSUPPORTED, "full family", bdl_posterior_set_full(diagonal, mean, s));
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank",
          bdl_posterior_set_low_rank(diagonal, mean, bdl_none(), given(1, D)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "full-moment", bdl_posterior_set_full_moment(low_rank, mean, s));
  REFUSED(BDL_ERROR_UNSUPPORTED, "full-moment", bdl_posterior_set_full_moment(full, mean, s));
  REFUSED(BDL_ERROR_UNSUPPORTED, "full family", bdl_posterior_set_full(moment, mean, s));
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank",
          bdl_posterior_set_low_rank(moment, mean, bdl_none(), given(1, D)));
  REFUSED(BDL_ERROR_UNSUPPORTED, "low-rank", bdl_posterior_get_low_rank(moment, bdl_none_out(), into(1, D)));
  bdl_posterior_free(low_rank);
  bdl_posterior_free(full);
  bdl_posterior_free(moment);
  bdl_posterior_free(diagonal);
}

static void test_tensors(void** state) {
  const bdl_dtype dtypes[] = {BDL_F32, BDL_F64};
  const int64_t sizes[] = {3, 2};
  (void)state;
  assert_true(bdl_posterior_tensor_count(NULL) == 0);
  for (int k = 0; k < 2; ++k) {
    double mean_values[D] = {1, 2, 3, 4, 5}, square[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, broken[9];
    const char* names[] = {"mean", "block0.precision"};
    bdl_matrix values[] = {bdl_f64(mean_values, 1, D), bdl_f64(square, 3, 3)};
    const char* name;
    bdl_posterior* q;
    OK(bdl_posterior_create_blockwise_full(dtypes[k], sizes, 2, &q));
    OK(bdl_posterior_set_tensors(q, names, values, 2));
    const belief before = belief_of(q);
    watch(NULL);
    REFUSED(INVALID, "posterior is NULL", bdl_posterior_tensor_describe(NULL, 0, &name, NULL, NULL, NULL));
    REFUSED(INVALID, "index is 5, expected 0 to 4",
            bdl_posterior_tensor_describe(q, 5, &name, NULL, NULL, NULL));
    REFUSED(INVALID, "index is -1", bdl_posterior_get_tensor(q, -1, bdl_f64_out(broken, 1, 1)));
    REFUSED(INVALID, "posterior is NULL", bdl_posterior_get_tensor(NULL, 0, bdl_f64_out(broken, 1, 1)));
    REFUSED(BDL_ERROR_SHAPE, "values has", bdl_posterior_get_tensor(q, 1, bdl_f64_out(broken, 2, 3)));
    bdl_posterior* diagonal;  // its tensor 1 is 5 x 0
    OK(bdl_posterior_create_low_rank(dtypes[k], D, 0, &diagonal));
    OK(bdl_posterior_get_tensor(diagonal, 1, bdl_none_out()));
    REFUSED(BDL_ERROR_SHAPE, "values has", bdl_posterior_get_tensor(diagonal, 1, bdl_f64_out(broken, D, 1)));
    bdl_posterior_free(diagonal);
    REFUSED(INVALID, "posterior is NULL", bdl_posterior_set_tensors(NULL, names, values, 2));
    REFUSED(INVALID, "names is NULL", bdl_posterior_set_tensors(q, NULL, values, 2));
    REFUSED(INVALID, "tensors is NULL", bdl_posterior_set_tensors(q, names, NULL, 2));
    REFUSED(INVALID, "tensor_count is 0", bdl_posterior_set_tensors(q, names, values, 0));
    values[0] = bdl_f64(mean_values, 1, D - 1);
    REFUSED(BDL_ERROR_SHAPE, "mean has 4 columns", bdl_posterior_set_tensors(q, names, values, 2));
    values[0] = bdl_f64(mean_values, 1, D);
    names[1] = "mean";
    REFUSED(INVALID, "names has \"mean\" twice", bdl_posterior_set_tensors(q, names, values, 2));
    names[1] = "covariance";
    REFUSED(INVALID, "names has \"covariance\", which a layerwise_full posterior does not have",
            bdl_posterior_set_tensors(q, names, values, 2));
    names[1] = NULL;
    REFUSED(INVALID, "a name is NULL", bdl_posterior_set_tensors(q, names, values, 2));
    names[1] = "block0.precision";
    memcpy(broken, square, sizeof broken);
    broken[6] = 1;
    values[1] = bdl_f64(broken, 3, 3);
    mean_values[0] = 17;
    REFUSED(INVALID, "block0.precision is not symmetric at row 2, column 0",
            bdl_posterior_set_tensors(q, names, values, 2));
    broken[2] = 1;
    broken[0] = -2;
    REFUSED(INVALID, "block0.precision is not positive definite",
            bdl_posterior_set_tensors(q, names, values, 2));
    broken[0] = NAN;
    REFUSED(BDL_ERROR_NOT_FINITE, "block0.precision is not finite at row 0, column 0",
            bdl_posterior_set_tensors(q, names, values, 2));
    double factor[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mixed[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1};
    names[0] = "block0.factor"; /* whose squares are the matrix's diagonal, and no more */
    values[0] = bdl_f64(factor, 3, 3);
    values[1] = bdl_f64(mixed, 3, 3);
    REFUSED(INVALID, "do not belong together", bdl_posterior_set_tensors(q, names, values, 2));
    factor[3] = 0.5;
    REFUSED(INVALID, "do not belong together", bdl_posterior_set_tensors(q, names, values, 1));
    const belief after = belief_of(q);
    assert_memory_equal(&before, &after, sizeof before);
    bdl_posterior_free(q);
  }
}

int test_errors_posterior_families(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_create),
                                     cmocka_unit_test(test_create_blocks),
                                     cmocka_unit_test(test_low_rank_moment),
                                     cmocka_unit_test(test_tensors),
                                     cmocka_unit_test(test_kronecker),
                                     cmocka_unit_test(test_set_full_moment),
                                     cmocka_unit_test(test_set_diagonal_moment),
                                     cmocka_unit_test(test_other_families)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
