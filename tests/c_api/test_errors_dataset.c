/* Every function of dataset.h with everything that can be wrong in its arguments. */
#include "refused.h"

static bdl_dataset* set; /* untouched by failing calls */

static int32_t no_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                       bdl_matrix_out y) {
  (void)user_data, (void)rows, (void)count, (void)x, (void)y;
  return 1;
}

static int destroyed;
static void destroy(void* user_data) {
  (void)user_data;
  ++destroyed;
}

static void test_creation(void** state) {
  bdl_dataset* const before = set;
  (void)state;
  watch(NULL);
  for (int number = 0; number < BAD_SHAPES; ++number) {
    if (number == 4) continue; /* any number of columns is fine here */
    const bad_matrix b = bad_shape(number, given(3, 2), "x");
    REFUSED(b.status, b.fragment, bdl_dataset_from_arrays(b.matrix, given(3, 1), &set));
    if (number == 0) continue; /* y may be missing */
    const bad_matrix c = bad_shape(number, given(3, 1), "y");
    REFUSED(c.status, c.fragment, bdl_dataset_from_arrays(given(3, 2), c.matrix, &set));
  }
  REFUSED(BDL_ERROR_SHAPE, "y has 4 rows, expected 3",
          bdl_dataset_from_arrays(given(3, 2), given(4, 1), &set));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_from_arrays(given(3, 2), given(3, 1), NULL));

  REFUSED(INVALID, "rows is 0, expected 1 to 4503599627370496",
          bdl_dataset_from_callback(0, 1, 1, no_rows, NULL, destroy, &set));
  REFUSED(INVALID, "rows is 4503599627370497",
          bdl_dataset_from_callback((INT64_C(1) << 52) + 1, 1, 1, no_rows, NULL, destroy, &set));
  REFUSED(INVALID, "inputs is 0, expected 1 to",
          bdl_dataset_from_callback(9, 0, 1, no_rows, NULL, destroy, &set));
  REFUSED(INVALID, "targets is -1, expected 0 to",
          bdl_dataset_from_callback(9, 1, -1, no_rows, NULL, destroy, &set));
  REFUSED(INVALID, "read is NULL", bdl_dataset_from_callback(9, 1, 1, NULL, NULL, destroy, &set));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_from_callback(9, 1, 1, no_rows, NULL, destroy, NULL));
  assert_int_equal(destroyed, 0);

  REFUSED(INVALID, "x_path is NULL", bdl_dataset_from_npy(NULL, "y.npy", &set));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_from_npy("x.npy", "y.npy", NULL));
  REFUSED(BDL_ERROR_FILE, "/nowhere/x.npy: cannot open for reading",
          bdl_dataset_from_npy("/nowhere/x.npy", NULL, &set));
  REFUSED(BDL_ERROR_FILE, "/dev: is a directory", bdl_dataset_from_npy("/dev", NULL, &set));
  REFUSED(INVALID, "path is NULL", bdl_dataset_from_safetensors(NULL, "x", "y", &set));
  REFUSED(INVALID, "x_name is NULL", bdl_dataset_from_safetensors("data", NULL, "y", &set));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_from_safetensors("data", "x", "y", NULL));
  REFUSED(BDL_ERROR_FILE, "/nowhere/data: cannot open for reading",
          bdl_dataset_from_safetensors("/nowhere/data", "x", "y", &set));
  assert_ptr_equal(set, before);
}

static void test_reading(void** state) {
  const int64_t rows[] = {0, 23}, low[] = {0, -1}, high[] = {24};
  (void)state;
  watch(NULL);
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_read(NULL, rows, 2, into(2, 2), into(2, 2)));
  REFUSED(INVALID, "rows is NULL", bdl_dataset_read(set, NULL, 2, into(2, 2), into(2, 2)));
  REFUSED(INVALID, "count is 0, expected 1 to", bdl_dataset_read(set, rows, 0, into(2, 2), into(2, 2)));
  REFUSED(INVALID, "rows[1] is -1, expected 0 to 23", bdl_dataset_read(set, low, 2, into(2, 2), into(2, 2)));
  REFUSED(INVALID, "rows[0] is 24, expected 0 to 23", bdl_dataset_read(set, high, 1, into(1, 2), into(1, 2)));
  REFUSED(BDL_ERROR_SHAPE, "x has 3 columns, expected 2",
          bdl_dataset_read(set, rows, 2, into(2, 3), into(2, 2)));
  REFUSED(BDL_ERROR_SHAPE, "y has 1 rows, expected 2",
          bdl_dataset_read(set, rows, 2, into(2, 2), into(1, 2)));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_target_range(NULL, into(1, 2), into(1, 2)));
  REFUSED(BDL_ERROR_SHAPE, "smallest has 1 columns, expected 2",
          bdl_dataset_target_range(set, into(1, 1), into(1, 2)));
  REFUSED(BDL_ERROR_SHAPE, "largest has 2 rows, expected 1",
          bdl_dataset_target_range(set, into(1, 2), into(2, 2)));
  OK(bdl_dataset_target_range(set, bdl_none_out(), bdl_none_out()));
  REFUSED(INVALID, "dataset is NULL", bdl_dataset_set_block(NULL, 2, 1));
  REFUSED(INVALID, "rows_in_block is -1", bdl_dataset_set_block(set, -1, 1));
  REFUSED(INVALID, "window is 0, expected 1 to", bdl_dataset_set_block(set, 2, 0));
  assert_int_equal(bdl_dataset_rows(NULL) + bdl_dataset_inputs(NULL) + bdl_dataset_targets(NULL), 0);
}

static void test_too_many_windows(void** state) {
  bdl_dataset* large;
  (void)state;
  OK(bdl_dataset_from_callback(INT64_C(1) << 40, 1, 1, no_rows, NULL, NULL, &large));
  watch(NULL);
  REFUSED(INVALID, "may make at most 2^31 - 1 windows", bdl_dataset_set_block(large, 2, 2));
  OK(bdl_dataset_set_block(large, 1 << 20, 2));
  bdl_dataset_free(large);
}

static void test_training(void** state) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_dataset *wide, *inputs, *failing;
  bdl_posterior* blank;
  bdl_optimizer* without_model;
  (void)state;
  OK(bdl_dataset_from_arrays(given(ROWS, 3), y_of(&t.data), &wide));
  OK(bdl_dataset_from_arrays(x_of(&t.data), bdl_none(), &inputs));
  OK(bdl_dataset_from_callback(ROWS, INPUTS, 2, no_rows, NULL, destroy, &failing));
  OK(bdl_posterior_create_low_rank(BDL_F64, t.parameters, 2, &blank));
  OK(bdl_optimizer_create(NULL, blank, "slang-ggn", ROWS, &without_model));
  watch(&t);
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_fit_dataset(NULL, set, 1, NULL, NULL));
  REFUSED(INVALID, "dataset is NULL", bdl_optimizer_fit_dataset(t.optimizer, NULL, 1, NULL, NULL));
  REFUSED(INVALID, "epochs is -1", bdl_optimizer_fit_dataset(t.optimizer, set, -1, NULL, NULL));
  REFUSED(INVALID, "no interrupted fit", bdl_optimizer_fit_dataset(t.optimizer, set, 0, NULL, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model",
          bdl_optimizer_fit_dataset(without_model, set, 1, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "dataset has 3 columns of x, expected 2",
          bdl_optimizer_fit_dataset(t.optimizer, wide, 1, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "dataset has 0 columns of y, expected 2",
          bdl_optimizer_fit_dataset(t.optimizer, inputs, 1, NULL, NULL));
  REFUSED(BDL_ERROR_CALLBACK, "read callback returned 1",
          bdl_optimizer_fit_dataset(t.optimizer, failing, 1, NULL, NULL));
  REFUSED(BDL_ERROR_SHAPE, "0 columns of y", bdl_dataset_target_range(inputs, into(1, 1), into(1, 1)));
  REFUSED(BDL_ERROR_CALLBACK, "returned 1",
          bdl_dataset_target_range(failing, into(1, 2), bdl_f64_out(out.matrix + 2, 1, 2)));
  REFUSED(INVALID, "optimizer is NULL", bdl_optimizer_start_noise_dataset(NULL, set));
  REFUSED(INVALID, "dataset is NULL", bdl_optimizer_start_noise_dataset(t.optimizer, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_start_noise_dataset(without_model, set));
  REFUSED(BDL_ERROR_SHAPE, "0 columns of y", bdl_optimizer_start_noise_dataset(t.optimizer, inputs));
  REFUSED(INVALID, "dataset is NULL", bdl_optimizer_laplace_dataset(t.optimizer, NULL));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model", bdl_optimizer_laplace_dataset(without_model, set));
  REFUSED(BDL_ERROR_SHAPE, "0 columns of y", bdl_optimizer_laplace_dataset(t.optimizer, inputs));
  REFUSED(BDL_ERROR_CALLBACK, "returned 1", bdl_optimizer_laplace_dataset(t.optimizer, failing));
  REFUSED(INVALID, "dataset is NULL",
          bdl_optimizer_elbo_dataset(t.optimizer, NULL, 2, 1, &out.number, &out.other));
  REFUSED(BDL_ERROR_UNSUPPORTED, "without a model",
          bdl_optimizer_elbo_dataset(without_model, set, 2, 1, &out.number, &out.other));
  REFUSED(BDL_ERROR_SHAPE, "3 columns of x",
          bdl_optimizer_elbo_dataset(t.optimizer, wide, 2, 1, &out.number, &out.other));
  REFUSED(BDL_ERROR_CALLBACK, "returned 1",
          bdl_optimizer_elbo_dataset(t.optimizer, failing, 2, 1, &out.number, &out.other));
  REFUSED(INVALID, "samples", bdl_optimizer_elbo_dataset(t.optimizer, set, -1, 1, &out.number, &out.other));
  REFUSED(INVALID, "model is NULL", bdl_model_standardize_dataset(NULL, set));
  REFUSED(INVALID, "dataset is NULL", bdl_model_standardize_dataset(t.model, NULL));
  REFUSED(BDL_ERROR_SHAPE, "3 columns of x, expected 2", bdl_model_standardize_dataset(t.model, wide));
  REFUSED(BDL_ERROR_CALLBACK, "returned 1", bdl_model_standardize_dataset(t.model, failing));
  OK(bdl_dataset_set_block(set, 4, 2));
  OK(bdl_optimizer_set_choice(t.optimizer, "sampling", "replacement"));
  REFUSED(BDL_ERROR_UNSUPPORTED, "\"sampling\" is \"replacement\", but a data set in blocks",
          bdl_optimizer_fit_dataset(t.optimizer, set, 1, NULL, NULL));
  OK(bdl_dataset_set_block(set, 0, 0));
  destroyed = 0;
  bdl_dataset_free(failing);
  assert_int_equal(destroyed, 1);
  bdl_dataset_free(wide);
  bdl_dataset_free(inputs);
  bdl_dataset_free(NULL);
  bdl_optimizer_free(without_model);
  bdl_posterior_free(blank);
  trained_free(&t);
}

static dataset numbers;

static int make_set(void** state) {
  (void)state;
  numbers = data_for(BDL_GAUSSIAN);
  OK(bdl_dataset_from_arrays(x_of(&numbers), y_of(&numbers), &set));
  return 0;
}

static int free_set(void** state) {
  (void)state;
  bdl_dataset_free(set);
  return 0;
}

int test_errors_dataset(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_creation), cmocka_unit_test(test_reading),
                                     cmocka_unit_test(test_too_many_windows),
                                     cmocka_unit_test(test_training)};
  return cmocka_run_group_tests(tests, make_set, free_set);
}
