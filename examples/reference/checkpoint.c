/* Checkpoints, in files and in memory. */
#include "example.h"

enum { N = 20 };

int main(void) {
  const int64_t sizes[] = {1, 1};
  const char path[] = "example-checkpoint.safetensors";
  double x[N], y[N], mean[2], same[2];
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  for (int i = 0; i < N; ++i) x[i] = 2.0 * i / (N - 1) - 1, y[i] = 3 * x[i];
  CHECK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &q));
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));
  CHECK(bdl_optimizer_fit(opt, bdl_f64(x, N, 1), bdl_f64(y, N, 1), 100,
                          NULL, NULL));
  CHECK(bdl_posterior_mean(q, bdl_f64_out(mean, 1, 2)));

  /* [bdl_save] */
  CHECK(bdl_save(path, NULL, NULL,
                 opt)); /* the optimizer, with its model and posterior */
  /* [bdl_save] */

  /* [bdl_checkpoint_parts] */
  int32_t has_model, needs_user_model, has_posterior, has_optimizer;
  CHECK(bdl_checkpoint_parts(path, &has_model, &needs_user_model,
                             &has_posterior, &has_optimizer));
  printf("model %d, posterior %d, optimizer %d\n", has_model, has_posterior,
         has_optimizer);
  /* [bdl_checkpoint_parts] */
  EXPECT(has_model && !needs_user_model && has_posterior && has_optimizer);

  /* [bdl_load] */
  bdl_model* loaded_model;
  bdl_posterior* loaded; /* the optimizer is not wanted for predictions */
  CHECK(bdl_load(path, NULL, &loaded_model, &loaded, NULL));
  CHECK(bdl_posterior_mean(loaded, bdl_f64_out(same, 1, 2)));
  printf("identical: %d\n", same[0] == mean[0] && same[1] == mean[1]);
  /* [bdl_load] */
  EXPECT(memcmp(mean, same, sizeof mean) == 0);
  bdl_model_free(loaded_model);
  bdl_posterior_free(loaded);

  /* [bdl_save_bytes] */
  int64_t size;
  CHECK(bdl_save_bytes(NULL, NULL, opt, NULL, 0,
                       &size)); /* asks for the size */
  char* bytes = malloc((size_t)size);
  if (!bytes) return 1;
  CHECK(bdl_save_bytes(NULL, NULL, opt, bytes, size, &size));
  /* [bdl_save_bytes] */

  /* [bdl_load_bytes] */
  bdl_optimizer* again;
  CHECK(bdl_load_bytes(bytes, size, NULL, &loaded_model, &loaded, &again));
  CHECK(bdl_posterior_mean(loaded, bdl_f64_out(same, 1, 2)));
  printf("identical: %d\n", same[0] == mean[0] && same[1] == mean[1]);
  /* [bdl_load_bytes] */
  EXPECT(memcmp(mean, same, sizeof mean) == 0);
  free(bytes);
  bdl_optimizer_free(again);
  bdl_posterior_free(loaded);
  bdl_model_free(loaded_model);

  /* A file that holds the model alone. */
  CHECK(bdl_save(path, model, NULL, NULL));
  CHECK(bdl_checkpoint_parts(path, &has_model, &needs_user_model,
                             &has_posterior, &has_optimizer));
  EXPECT(has_model && !needs_user_model && !has_posterior &&
         !has_optimizer);

  /* A posterior without a model keeps its family. */
  const double centre[] = {1, 2}, covariance[] = {2, 1, 1, 1};
  bdl_posterior* moment;
  CHECK(bdl_posterior_create_full_moment(BDL_F32, 2, &moment));
  CHECK(bdl_posterior_set_full_moment(moment, bdl_f64(centre, 1, 2),
                                      bdl_f64(covariance, 2, 2)));
  CHECK(bdl_save(path, NULL, moment, NULL));
  CHECK(bdl_load(path, NULL, NULL, &loaded, NULL));
  CHECK(bdl_posterior_marginal_variance(loaded, bdl_f64_out(same, 1, 2)));
  EXPECT(same[0] == 2 && same[1] == 1);
  CHECK(bdl_posterior_mean(loaded, bdl_f64_out(same, 1, 2)));
  EXPECT(same[0] == 1 && same[1] == 2 &&
         bdl_posterior_family(loaded) == BDL_FULL_MOMENT);
  bdl_posterior_free(moment);
  bdl_posterior_free(loaded);

  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  EXPECT(remove(path) == 0);
  return 0;
}
