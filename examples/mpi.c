/* Several processes train one network of digits: mpirun -n 2 build/release/examples/mpi. Each works on its
 * own shards of the data, and all end with the same posterior, which is identical for any number of
 * processes.
 */
#include <bdl/bdl.h>
#include <bdl/mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { n = 1000, m = 500, pixels = 196, row = 1 + pixels, classes = 10 };
  static uint8_t data[n + m][row]; /* a label, then the image; views of them: */
  const bdl_matrix x = bdl_strided(&data[0][1], BDL_U8, n, pixels, row, 1),
                   y = bdl_strided(data, BDL_U8, n, 1, row, 1),
                   new_x = bdl_strided(&data[n][1], BDL_U8, m, pixels, row, 1),
                   new_y = bdl_strided(data[n], BDL_U8, m, 1, row, 1);
  const int64_t sizes[] = {pixels, 100, classes};
  static double p[m][classes], accuracy;
  int32_t rank, size;
  int64_t received;
  bdl_communicator* ranks;
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* optimizer;
  FILE* file = fopen(argc > 1 ? argv[1] : "examples/data/digits.bin", "rb");
  if (!file || fread(data, sizeof data, 1, file) != 1) return fputs("no digits.bin\n", stderr), 1;
  if (bdl_communicator_world(60, &ranks) || /* starts MPI; waits a minute for a message at most */
      bdl_communicator_size(ranks, &rank, &size) ||
      bdl_model_create_mlp(BDL_F32, sizes, 3, BDL_RELU, 1, BDL_CATEGORICAL, &model) ||
      bdl_model_standardize(model, x, bdl_none()) ||
      bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 0, &q) ||
      bdl_optimizer_create(model, q, "vogn", n, &optimizer) ||
      bdl_optimizer_set_int(optimizer, "shards", 4) || bdl_optimizer_set_communicator(optimizer, ranks) ||
      bdl_optimizer_fit(optimizer, x, y, 40, NULL, NULL) ||
      bdl_predict_classes(model, q, new_x, BDL_MONTE_CARLO, 100, 1, bdl_f64_out(p[0], m, classes),
                          bdl_none_out(), bdl_none_out()) ||
      bdl_metric_accuracy(bdl_f64(p[0], m, classes), new_y, &accuracy) ||
      bdl_communicator_statistics(ranks, NULL, NULL, &received, NULL))
    return fprintf(stderr, "%s\n", bdl_last_error()), 1;
  if (rank == 0) printf("test accuracy %.3f\n", accuracy);
  fprintf(stderr, "process %d of %d has received %.1f MB\n", rank, size, (double)received / 1e6);
  bdl_optimizer_free(optimizer), bdl_posterior_free(q), bdl_model_free(model), bdl_communicator_free(ranks);
  return 0;
}
