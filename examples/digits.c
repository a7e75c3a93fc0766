/* Handwritten digits, 14 x 14 bytes, by a convolutional network. Run it with `sh examples/run.sh`. */
#include <bdl/bdl.h>
#include <stdio.h>
#define TRY(call) \
  if ((call) != BDL_OK) return fprintf(stderr, "%s\n", bdl_last_error()), 1

int main(int argc, char** argv) {
  enum { n = 1000, m = 500, pixels = 196, classes = 10 };
  static uint8_t data[n + m][1 + pixels]; /* a label, then the image; views of them: */
  static double p[m * classes], entropy[m], accuracy, sure, right;
  const bdl_matrix x = bdl_strided(&data[0][1], BDL_U8, n, pixels, 1 + pixels, 1),
                   y = bdl_strided(data, BDL_U8, n, 1, 1 + pixels, 1),
                   x_test = bdl_strided(&data[n][1], BDL_U8, m, pixels, 1 + pixels, 1),
                   y_test = bdl_strided(data[n], BDL_U8, m, 1, 1 + pixels, 1);
  const char* network = "input 1 14 14; conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2; dense 10";
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  FILE* file = fopen(argc > 1 ? argv[1] : "examples/data/digits.bin", "rb");
  if (!file || fread(data, sizeof data, 1, file) != 1) return fputs("no digits.bin\n", stderr), 1;
  TRY(bdl_model_create_network(BDL_F32, network, BDL_CATEGORICAL, &model));
  TRY(bdl_model_standardize(model, x, bdl_none()));
  TRY(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 5, &q));
  TRY(bdl_optimizer_create(model, q, "slang", n, &optimizer));
  TRY(bdl_optimizer_set_text(optimizer, "initialization=he start_share=0")); /* bdl_training_suggest() */
  TRY(bdl_optimizer_fit(optimizer, x, y, 40, NULL, NULL));
  TRY(bdl_predict_classes(model, q, x_test, BDL_MONTE_CARLO, 50, 1, bdl_f64_out(p, m, classes),
                          bdl_f64_out(entropy, m, 1), bdl_none_out()));
  TRY(bdl_metric_accuracy(bdl_f64(p, m, classes), y_test, &accuracy));
  for (int i = 0; i < m; ++i) {
    const int is_sure = entropy[i] < 0.5; /* nats */
    double hit;
    TRY(bdl_metric_accuracy(bdl_f64(p + classes * i, 1, classes), bdl_u8(data[n + i], 1, 1), &hit));
    sure += is_sure, right += is_sure * hit;
  }
  printf("test accuracy %.3f\n", accuracy);
  printf("sure of %.1f %% of the test images, right on %.1f %% of these\n", 100 * sure / m,
         100 * right / sure);
  bdl_optimizer_free(optimizer), bdl_posterior_free(q), bdl_model_free(model);
  return 0;
}
