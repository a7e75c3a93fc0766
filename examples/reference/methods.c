/* What the library offers: methods, options, presets, and suggestions for a model.
 */
#include "example.h"

enum { N = 100 };

static double x[N], y[N];

static void methods(void) {
  /* [bdl_method_count] [bdl_method_name] */
  printf("%d methods:", (int)bdl_method_count());
  for (int64_t i = 0; i < 5; ++i) printf(" %s", bdl_method_name(i));
  printf(" ...\n");
  /* [bdl_method_count] [bdl_method_name] */
  EXPECT(bdl_method_count() >= 5 &&
         strcmp(bdl_method_name(0), "slang") == 0);

  /* [bdl_method_describe] */
  const char *families, *doc, *source;
  int32_t is_stream, is_exact;
  bdl_predict_method prediction;
  CHECK(bdl_method_describe("lo-fi", &families, &is_stream, &is_exact,
                            &prediction, &doc, &source));
  printf("%s\nposterior: %s; for streams: %d; source: %s\n", doc, families,
         is_stream, source);
  /* [bdl_method_describe] */
  EXPECT(strcmp(families, "low_rank") == 0 && is_stream && !is_exact);
  EXPECT(prediction == BDL_LINEARIZED &&
         strcmp(source, "Chang et al. 2023") == 0);

  /* [bdl_method_standing] */
  int32_t is_baseline;
  const char* caution;
  CHECK(bdl_method_standing("bbb", &is_baseline, &caution));
  printf("baseline: %d\n%s\n", is_baseline, caution);
  /* [bdl_method_standing] */
  EXPECT(is_baseline);
  EXPECT(strstr(caution,
                "is a baseline for comparisons (Blundell et al. 2015)") !=
         NULL);
}

static void suggestions(void) {
  const int64_t line[] = {1, 1}, units[] = {1, 8, 1};
  bdl_model *linear, *network;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_mlp(BDL_F64, line, 2, BDL_IDENTITY, 1,
                             BDL_GAUSSIAN, &linear));
  CHECK(bdl_model_create_mlp(BDL_F64, units, 3, BDL_RELU, 1, BDL_GAUSSIAN,
                             &network));
  CHECK(bdl_posterior_create_low_rank(
      BDL_F64, bdl_model_parameters(network), 5, &q));

  /* [bdl_training_suggest] */
  const char *method, *family, *options;
  int64_t rank;
  CHECK(bdl_training_suggest(network, N, 0, "auto", "auto", &method,
                             &family, &rank, &options));
  printf("network: method %s, family %s, rank %d\n", method, family,
         (int)rank);
  CHECK(bdl_training_suggest(linear, N, 0, "auto", "auto", &method, &family,
                             &rank, &options));
  printf("linear model: method %s, family %s\n  options %s\n", method,
         family, options);
  /* [bdl_training_suggest] */
  EXPECT(strcmp(method, "exact-full") == 0 && strcmp(family, "full") == 0);

  /* [bdl_method_suggest] */
  const char* suggested;
  CHECK(bdl_method_suggest(
      network, q, 0,
      &suggested)); /* for a low-rank posterior, in batches */
  printf("in batches: %s\n", suggested);
  CHECK(bdl_method_suggest(network, q, 1, &suggested));
  printf("on a stream: %s\n", suggested);
  /* [bdl_method_suggest] */
  EXPECT(strcmp(suggested, "lo-fi") == 0);
  bdl_posterior* of_line;
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &of_line));
  CHECK(bdl_method_suggest(linear, of_line, 0, &suggested));
  EXPECT(strcmp(suggested, "slang-ggn") == 0);
  bdl_posterior_free(of_line);

  /* [bdl_method_prediction] */
  bdl_predict_method prediction;
  CHECK(bdl_method_prediction("slang-ggn", linear, &prediction));
  printf("exact for a line with Gaussian noise: %d\n",
         prediction == BDL_LINEARIZED);
  /* [bdl_method_prediction] */
  EXPECT(prediction == BDL_LINEARIZED);

  CHECK(bdl_optimizer_create(network, q, "slang-ggn", N, &opt));
  /* [bdl_noise_suggest] */
  bdl_likelihood noise; /* of a regression on these targets */
  CHECK(bdl_noise_suggest(opt, 0, 0, bdl_f64(y, N, 1), &noise, NULL));
  int64_t outputs = noise == BDL_HETEROSCEDASTIC ? 2 : 1;
  const int64_t sizes[] = {1, 8, outputs};
  bdl_model* model;
  CHECK(
      bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, noise, &model));
  printf("heteroscedastic: %d\n", noise == BDL_HETEROSCEDASTIC);
  /* [bdl_noise_suggest] */
  EXPECT(noise == BDL_HETEROSCEDASTIC && bdl_model_targets(model) == 1);
  bdl_model_free(model);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(linear);
  bdl_model_free(network);
}

static void presets(void) {
  /* [bdl_preset_count] [bdl_preset_name] [bdl_preset_describe] */
  const char* name = bdl_preset_name(0); /* 0 to bdl_preset_count() - 1 */
  const char *method, *options, *doc;
  int64_t epochs;
  CHECK(bdl_preset_describe(name, &method, &options, &epochs, &doc));
  printf("%d presets; %s: method %s, %d epochs\n", (int)bdl_preset_count(),
         name, method,
         (int)epochs); /* options is for bdl_optimizer_set_text() */
  /* [bdl_preset_count] [bdl_preset_name] [bdl_preset_describe] */
  EXPECT(bdl_preset_count() > 0 && epochs > 0 &&
         strstr(options, "learning_rate") &&
         bdl_preset_name(bdl_preset_count()) == NULL);

  /* [bdl_default_count] [bdl_default_describe] */
  const char *what, *meaning;
  double value;
  for (int64_t i = 0; i < bdl_default_count(); ++i) {
    CHECK(bdl_default_describe(i, &what, &value, &meaning));
    printf("%s = %g\n", what, value);
  }
  /* [bdl_default_count] [bdl_default_describe] */
  CHECK(bdl_default_describe(0, &what, &value, &meaning));
  EXPECT(strcmp(what, "hidden") == 0 && value == 50 &&
         bdl_default_count() > 1);
}

static void options(void) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* opt;
  CHECK(bdl_model_create_network(BDL_F64, "input 1; dense 1", BDL_GAUSSIAN,
                                 &model));
  CHECK(bdl_posterior_create_low_rank(BDL_F64, 2, 1, &q));
  CHECK(bdl_optimizer_create(model, q, "slang-ggn", N, &opt));

  /* [bdl_option_count] [bdl_option_describe] [bdl_option_readers] */
  const char *name, *default_value, *range, *doc;
  bdl_option_type type;
  CHECK(bdl_option_describe(0, &name, &type, &default_value, &range, &doc));
  printf("%d options; %s: default %s, range %s\n%s\nread by %s\n",
         (int)bdl_option_count(), name, default_value, range, doc,
         bdl_option_readers(0));
  /* [bdl_option_count] [bdl_option_describe] [bdl_option_readers] */
  EXPECT(bdl_option_count() > 20 && strcmp(name, "learning_rate") == 0 &&
         type == BDL_OPTION_DOUBLE);
  EXPECT(strstr(bdl_option_readers(0), "methods for batches") != NULL);
  EXPECT(strcmp(bdl_option_readers(bdl_option_count()), "") == 0);

  /* [bdl_optimizer_set_double] [bdl_optimizer_get_double] */
  double rate;
  CHECK(bdl_optimizer_set_double(opt, "learning_rate", 0.1));
  CHECK(bdl_optimizer_get_double(opt, "learning_rate", &rate));
  printf("learning_rate %g\n", rate);
  /* [bdl_optimizer_set_double] [bdl_optimizer_get_double] */
  EXPECT(rate == 0.1);

  /* [bdl_optimizer_set_int] [bdl_optimizer_get_int] */
  int64_t samples;
  CHECK(bdl_optimizer_set_int(opt, "samples", 8));
  CHECK(bdl_optimizer_get_int(opt, "samples", &samples));
  printf("samples %d\n", (int)samples);
  /* [bdl_optimizer_set_int] [bdl_optimizer_get_int] */
  EXPECT(samples == 8);

  /* [bdl_optimizer_set_choice] [bdl_optimizer_get_choice] */
  const char* schedule;
  CHECK(bdl_optimizer_set_choice(opt, "schedule", "power"));
  CHECK(bdl_optimizer_get_choice(opt, "schedule", &schedule));
  printf("schedule %s\n", schedule);
  /* [bdl_optimizer_set_choice] [bdl_optimizer_get_choice] */
  EXPECT(strcmp(schedule, "power") == 0);

  /* [bdl_optimizer_set_text] */
  CHECK(bdl_optimizer_set_text(
      opt, "learning_rate=0.05 samples=4 schedule=cosine"));
  if (bdl_optimizer_set_text(opt, "samples=2 lerning_rate=1") !=
      BDL_OK) /* none is set */
    printf("%s\n", bdl_last_error());
  /* [bdl_optimizer_set_text] */
  CHECK(bdl_optimizer_get_int(opt, "samples", &samples));
  EXPECT(samples == 4);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

int main(void) {
  draw_normal(y, N);
  for (int i = 0; i < N; ++i) {
    x[i] = 2.0 * i / (N - 1) - 1;
    y[i] = 3 * x[i] + 0.1 * y[i];
  }
  methods();
  suggestions();
  presets();
  options();
  return 0;
}
