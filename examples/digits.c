/* Handwritten digits, 14 x 14 bytes, by a convolutional network. Run it with `sh examples/run.sh`. */
#include <bdl/bdl.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { n = 1000, m = 500, pixels = 196, row = 1 + pixels, classes = 10 };
  static uint8_t data[n + m][row]; /* a label, then the image; views of them: */
  const bdl_matrix x = bdl_strided(&data[0][1], BDL_U8, n, pixels, row, 1),
                   y = bdl_strided(data, BDL_U8, n, 1, row, 1),
                   new_x = bdl_strided(&data[n][1], BDL_U8, m, pixels, row, 1),
                   new_y = bdl_strided(data[n], BDL_U8, m, 1, row, 1);
  const char* network = "input 1 14 14; conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2; dense 10";
  static double p[m][classes], entropy[m], accuracy, sure, right, hit;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  FILE* file = fopen(argc > 1 ? argv[1] : "examples/data/digits.bin", "rb");
  if (!file || fread(data, sizeof data, 1, file) != 1) return fputs("no digits.bin\n", stderr), 1;
  if (BDL_CHECK_VERSION() || bdl_model_create_network(BDL_F32, network, BDL_CATEGORICAL, &model) ||
      bdl_model_standardize(model, x, bdl_none()) ||
      bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 5, &q) ||
      bdl_optimizer_create(model, q, "slang", n, &optimizer) ||
      bdl_optimizer_set_text(optimizer,
                             "initialization=he start_share=0") || /* as bdl_training_suggest() says */
      bdl_optimizer_fit(optimizer, x, y, 40, NULL, NULL) ||
      bdl_predict_classes(model, q, new_x, BDL_MONTE_CARLO, 50, 1, bdl_f64_out(p[0], m, classes),
                          bdl_f64_out(entropy, m, 1), bdl_none_out()) ||
      bdl_metric_accuracy(bdl_f64(p[0], m, classes), new_y, &accuracy))
    return fprintf(stderr, "%s\n", bdl_last_error()), 1;
  for (int i = 0; i < m; ++i)
    if (entropy[i] < 0.5 /* nats */ &&
        !bdl_metric_accuracy(bdl_f64(p[i], 1, classes), bdl_u8(data[n + i], 1, 1), &hit))
      ++sure, right += hit;
  printf("test accuracy %.3f\nsure of %.1f %% of the test images, right on %.1f %% of these\n", accuracy,
         100 * sure / m, 100 * right / sure);
  bdl_optimizer_free(optimizer), bdl_posterior_free(q), bdl_model_free(model);
  return 0;
}
