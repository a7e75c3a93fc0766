/* Examples of networks known by name and of images, as the comments of model.h and docs/reference/networks.md say. */
#include "c_api/c_api_test.h"

enum { COUNT = 24, SIDE = 28, PIXELS = SIDE * SIDE };

static void example_published_network(void** state) {
  const char *name, *doc, *source, *text, *again;
  int64_t channels, rows, columns, outputs;
  bdl_model* model;
  (void)state;
  assert_int_equal(bdl_network_count(), 4);
  OK(bdl_network_describe(0, &name, &channels, &rows, &columns, &outputs, &doc, &source));
  assert_string_equal(name, "lenet5");
  assert_true(channels == 1 && rows == SIDE && columns == SIDE && outputs == 10);
  assert_non_null(strstr(source, "LeCun"));
  OK(bdl_network_describe(3, NULL, NULL, NULL, NULL, NULL, &doc, NULL));
  OK(bdl_network_description(name, channels, rows, columns, outputs, &text));
  OK(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  assert_int_equal(bdl_model_parameters(model), 44426);
  OK(bdl_model_description(model, &again));
  assert_string_equal(again, text);
  bdl_model_free(model);
  OK(bdl_network_description(name, channels, rows, columns, outputs, &again));
  assert_ptr_equal(again, text);
}

/* Dark and bright images, as bytes, by the method that suits. */
static void example_images(void** state) {
  static uint8_t images[COUNT][PIXELS];
  int32_t labels[COUNT];
  const char *text, *method, *family, *options;
  int64_t rank;
  double p[COUNT * 2], accuracy;
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  (void)state;
  for (int i = 0; i < COUNT; ++i) {
    labels[i] = i % 2;
    for (int j = 0; j < PIXELS; ++j) images[i][j] = (uint8_t)((37 * i + 11 * j) % 100 + 150 * labels[i]);
  }
  const bdl_matrix x = bdl_u8(images[0], COUNT, PIXELS), y = bdl_i32(labels, COUNT, 1);
  OK(bdl_network_description("lenet5", 1, SIDE, SIDE, 2, &text));
  OK(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  OK(bdl_model_standardize(model, x, bdl_none()));
  OK(bdl_training_suggest(model, COUNT, 0, "auto", "auto", &method, &family, &rank, &options));
  assert_string_equal(method, "slang");
  assert_string_equal(options, "initialization=he start_share=0");
  OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), rank, &posterior));
  OK(bdl_optimizer_create(model, posterior, method, COUNT, &optimizer));
  OK(bdl_optimizer_set_text(optimizer, options));
  OK(bdl_optimizer_fit(optimizer, x, y, 60, NULL, NULL));
  OK(bdl_predict_classes(model, posterior, x, BDL_MONTE_CARLO, 10, 1, bdl_f64_out(p, COUNT, 2),
                         bdl_none_out(), bdl_none_out()));
  OK(bdl_metric_accuracy(bdl_f64(p, COUNT, 2), y, &accuracy));
  assert_true(accuracy == 1);
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

int test_examples_networks(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example_published_network),
                                     cmocka_unit_test(example_images)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
