/* Training on data sets has the results of training on arrays, wherever the rows come from, whenever it
 * stops, and whichever read fails. */
#include "training_runs.h"

/* Rows of made-up data through a callback, which fails when it is asked for the `fails_at`-th time. */
typedef struct source {
  const dataset* data;
  int64_t calls, fails_at;
  int destroyed;
} source;

static int32_t read_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                         bdl_matrix_out y) {
  source* s = user_data;
  double *to_x = x.data, *to_y = y.data;
  if (++s->calls == s->fails_at) {
    bdl_set_callback_message("the network is down");
    return 3;
  }
  assert_true(to_x || to_y);
  for (int64_t i = 0; i < count; ++i) {
    assert_in_range(rows[i], 0, ROWS - 1);
    if (to_x) memcpy(to_x + i * x.row_stride, s->data->x + rows[i] * INPUTS, sizeof(double) * INPUTS);
    if (to_y)
      memcpy(to_y + i * y.row_stride, s->data->y + rows[i] * s->data->targets,
             sizeof(double) * (size_t)s->data->targets);
  }
  return 0;
}

static void count_destroy(void* user_data) {
  ++((source*)user_data)->destroyed;
}

static bdl_dataset* from_callback(source* s) {
  bdl_dataset* data;
  OK(bdl_dataset_from_callback(ROWS, INPUTS, s->data->targets, read_rows, s, count_destroy, &data));
  return data;
}

static bdl_dataset* from_arrays(const dataset* d) {
  bdl_dataset* data;
  OK(bdl_dataset_from_arrays(x_of(d), y_of(d), &data));
  return data;
}

static void assert_same(const variant* v, const snapshot* expected, const trained* t) {
  const snapshot now = snapshot_of(t);
  if (memcmp(&now, expected, sizeof now) != 0) fail_msg("variant '%s' came to other bits", v->name);
}

static void test_same_bits(void** state) {
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    for (int from_function = 0; from_function <= 1; ++from_function) {
      trained t = variant_create(&variants[k]);
      source s = {&t.data, 0, 0, 0};
      bdl_dataset* data = from_function ? from_callback(&s) : from_arrays(&t.data);
      OK(bdl_optimizer_fit_dataset(t.optimizer, data, EPOCHS, NULL, NULL));
      assert_same(&variants[k], &expected, &t);
      bdl_dataset_free(data);
      assert_int_equal(s.destroyed, from_function);
      trained_free(&t);
    }
  }
}

static void test_stopped_after_any_step(void** state) {
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    for (int64_t last = 1; last < STEPS; last += 3) {
      trained t = variant_create(&variants[k]);
      source s = {&t.data, 0, 0, 0};
      bdl_dataset* data = from_callback(&s);
      assert_int_equal(bdl_optimizer_fit_dataset(t.optimizer, data, EPOCHS, stop_after, &last), BDL_STOPPED);
      OK(bdl_optimizer_fit_dataset(t.optimizer, data, 0, NULL, NULL));
      assert_same(&variants[k], &expected, &t);
      bdl_dataset_free(data);
      trained_free(&t);
    }
  }
}

/* The k-th read fails: the first leave everything as it was, a later one training after its last step. Before
   the first step, some fits read the data for their scales, or a sample at which to look at the evidence. */
static void test_any_read_fails(void** state) {
  (void)state;
  for (int k = 0; k < VARIANTS; ++k) {
    const snapshot expected = uninterrupted(&variants[k]);
    for (int64_t fails_at = 1; fails_at <= STEPS; fails_at += 2) {
      trained t = variant_create(&variants[k]);
      source s = {&t.data, 0, fails_at, 0};
      bdl_dataset* data = from_callback(&s);
      const snapshot before = snapshot_of(&t);
      int64_t step = 0;
      assert_int_equal(bdl_optimizer_fit_dataset(t.optimizer, data, EPOCHS, NULL, NULL), BDL_ERROR_CALLBACK);
      assert_string_equal(
          bdl_last_error(),
          "bdl_optimizer_fit_dataset: the data set's read callback returned 3, expected 0: the "
          "network is down");
      OK(bdl_optimizer_progress(t.optimizer, &step, NULL, NULL));
      assert_in_range(step, fails_at > 3 ? fails_at - 3 : 0, fails_at - 1);
      if (step == 0) {
        assert_same(&variants[k], &before, &t);
        assert_true(bdl_posterior_is_blank(t.posterior));
      }
      OK(bdl_optimizer_fit_dataset(t.optimizer, data, step == 0 ? EPOCHS : 0, NULL, NULL));
      assert_same(&variants[k], &expected, &t);
      bdl_dataset_free(data);
      trained_free(&t);
    }
  }
}

/* A fault in a row fails the step that reads it, and the message names the row. */
static void test_bad_rows_are_named(void** state) {
  const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  (void)state;
  for (int dtype = BDL_F32; dtype <= BDL_F64; ++dtype)
    for (int k = 0; k < 4; ++k) {
      trained t = untrained_create((bdl_dtype)dtype, k == 3 ? BDL_BERNOULLI : BDL_GAUSSIAN, 2);
      bdl_dataset* data = from_arrays(&t.data);
      const int in_y = k == 1;
      OK(bdl_optimizer_set_int(t.optimizer, "minibatch", 4));
      if (k < 3) (in_y ? t.data.y : t.data.x)[17 * 2 + 1] = bad[k];
      if (k == 3) t.data.y[17 * 2 + 1] = 0.5;
      assert_int_equal(bdl_optimizer_fit_dataset(t.optimizer, data, 1, NULL, NULL),
                       k == 3 ? BDL_ERROR_LABEL : BDL_ERROR_NOT_FINITE);
      if (!strstr(bdl_last_error(), k == 3 ? "y is 0.5 at row 17, column 1 (counting from 0), expected 0 or 1"
                                    : in_y ? "y is not finite at row 17, column 1 (counting from 0): "
                                           : "x is not finite at row 17, column 1 (counting from 0): "))
        fail_msg("%s", bdl_last_error());
      (in_y || k == 3 ? t.data.y : t.data.x)[17 * 2 + 1] = 1;
      OK(bdl_optimizer_fit_dataset(t.optimizer, data, in_y || bdl_posterior_is_blank(t.posterior) ? 1 : 0,
                                   NULL, NULL));
      bdl_dataset_free(data);
      trained_free(&t);
    }
}

/* The noise to start from, and the range of the targets, as from arrays; rows that are not finite are named.
 */
static void test_passes_over_targets(void** state) {
  trained a = untrained_create(BDL_F64, BDL_GAUSSIAN, 2), b = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_dataset* data = from_arrays(&b.data);
  double from_array[2], from_dataset[2], smallest[2], largest[2], least = INFINITY, most = -INFINITY;
  (void)state;
  OK(bdl_optimizer_start_noise(a.optimizer, y_of(&a.data)));
  OK(bdl_optimizer_start_noise_dataset(b.optimizer, data));
  OK(bdl_model_get_noise_precision(a.model, bdl_f64_out(from_array, 1, 2)));
  OK(bdl_model_get_noise_precision(b.model, bdl_f64_out(from_dataset, 1, 2)));
  assert_memory_equal(from_array, from_dataset, sizeof from_array);
  OK(bdl_dataset_target_range(data, bdl_f64_out(smallest, 1, 2), bdl_f64_out(largest, 1, 2)));
  for (int i = 0; i < ROWS; ++i) {
    least = fmin(least, b.data.y[2 * i + 1]);
    most = fmax(most, b.data.y[2 * i + 1]);
  }
  assert_true(smallest[1] == least && largest[1] == most);
  b.data.y[17 * 2 + 1] = (double)NAN;
  assert_int_equal(bdl_dataset_target_range(data, bdl_f64_out(smallest, 1, 2), bdl_none_out()),
                   BDL_ERROR_NOT_FINITE);
  assert_non_null(strstr(bdl_last_error(), "y is not finite at row 17, column 1 (counting from 0)"));
  assert_true(smallest[1] == least);
  bdl_dataset_free(data);
  trained_free(&a);
  trained_free(&b);
}

/* Blocks: other orders, each row once an epoch, and identical results after a stop. */
static void test_blocks(void** state) {
  (void)state;
  for (int64_t window = 1; window <= 3; ++window) {
    snapshot whole, parts;
    for (int with_stops = 0; with_stops <= 1; ++with_stops) {
      trained t = variant_create(&variants[0]);
      source s = {&t.data, 0, 0, 0};
      bdl_dataset* data = from_callback(&s);
      const int64_t every = 2;
      bdl_status status;
      OK(bdl_dataset_set_block(data, 5, window));
      status =
          bdl_optimizer_fit_dataset(t.optimizer, data, EPOCHS, with_stops ? stop_every : NULL, (void*)&every);
      for (; status == BDL_STOPPED;)
        status = bdl_optimizer_fit_dataset(t.optimizer, data, 0, stop_every, (void*)&every);
      OK(status);
      *(with_stops ? &parts : &whole) = snapshot_of(&t);
      bdl_dataset_free(data);
      trained_free(&t);
    }
    assert_same_state(&whole, &parts);
    const snapshot unblocked = uninterrupted(&variants[0]);
    assert_true(memcmp(&whole, &unblocked, sizeof whole) != 0);
  }
}

int test_dataset_training(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits),           cmocka_unit_test(test_stopped_after_any_step),
      cmocka_unit_test(test_any_read_fails),      cmocka_unit_test(test_bad_rows_are_named),
      cmocka_unit_test(test_passes_over_targets), cmocka_unit_test(test_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
