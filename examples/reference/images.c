/* Dark and bright images, as bytes, by the method and the options that suit them.
 */
#include "example.h"

int main(void) {
  enum { COUNT = 24, PIXELS = 28 * 28 };
  static uint8_t bytes[COUNT][PIXELS];
  int32_t labels[COUNT];
  const char *text, *method, *family, *options;
  int64_t rank;
  double p[COUNT * 2], accuracy;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  for (int i = 0; i < COUNT; ++i) {
    labels[i] = i % 2;
    for (int j = 0; j < PIXELS; ++j)
      bytes[i][j] = (uint8_t)((37 * i + 11 * j) % 100 + 150 * labels[i]);
  }
  const bdl_matrix inputs = bdl_u8(bytes[0], COUNT, PIXELS),
                   targets = bdl_i32(labels, COUNT, 1);
  CHECK(bdl_network_description("lenet5", 1, 28, 28, 2, &text));
  CHECK(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  CHECK(bdl_model_standardize(model, inputs, bdl_none()));
  CHECK(bdl_training_suggest(model, COUNT, 0, "auto", "auto", &method,
                             &family, &rank, &options));
  EXPECT(strcmp(method, "slang") == 0);
  EXPECT(strcmp(options, "initialization=he start_share=0") == 0);
  CHECK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model),
                                      rank, &q));
  CHECK(bdl_optimizer_create(model, q, method, COUNT, &opt));
  CHECK(bdl_optimizer_set_text(opt, options));
  CHECK(bdl_optimizer_fit(opt, inputs, targets, 60, NULL, NULL));
  CHECK(bdl_predict_classes(model, q, inputs, BDL_MONTE_CARLO, 10, 1,
                            bdl_f64_out(p, COUNT, 2), bdl_none_out(),
                            bdl_none_out()));
  CHECK(bdl_metric_accuracy(bdl_f64(p, COUNT, 2), targets, &accuracy));
  printf("accuracy %g by method %s\n", accuracy, method);
  EXPECT(accuracy == 1);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  return 0;
}
