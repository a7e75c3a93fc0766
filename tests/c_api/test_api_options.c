/* Options: the table describes itself, values go in and come out, and the prior and methods follow them. */
#include "c_api_test.h"

static trained t;

static int setup(void** state) {
  (void)state;
  t = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  trained_free(&t);
  return 0;
}

static void check_default(const char* name, bdl_option_type type, const char* text, const char* range) {
  double real = 0;
  int64_t integer = 0;
  const char* word = NULL;
  if (strcmp(name, "curvature") == 0 || strcmp(name, "mean_update") == 0 || strcmp(name, "prior_groups") == 0)
    return; /* the method's own */
  if (type == BDL_OPTION_DOUBLE) {
    OK(bdl_optimizer_get_double(t.optimizer, name, &real));
    assert_true(real == strtod(text, NULL));
    OK(bdl_optimizer_set_double(t.optimizer, name, real));
  } else if (type == BDL_OPTION_INT) {
    OK(bdl_optimizer_get_int(t.optimizer, name, &integer));
    assert_true(integer == strtoll(text, NULL, 10));
    OK(bdl_optimizer_set_int(t.optimizer, name, integer));
  } else {
    OK(bdl_optimizer_get_choice(t.optimizer, name, &word));
    assert_string_equal(word, text);
    assert_non_null(strstr(range, word));
    OK(bdl_optimizer_set_choice(t.optimizer, name, word));
  }
}

static void test_table(void** state) {
  const char *name, *text, *range, *doc, *again;
  bdl_option_type type;
  (void)state;
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    OK(bdl_option_describe(i, &name, &type, &text, &range, &doc));
    assert_true(strlen(name) > 2 && strlen(text) > 0 && strlen(range) > 2 && strlen(doc) > 10);
    assert_in_range(type, BDL_OPTION_DOUBLE, BDL_OPTION_CHOICE);
    check_default(name, type, text, range);
    OK(bdl_option_describe(i, &again, NULL, NULL, NULL, NULL));
    assert_ptr_equal(name, again); /* static */
  }
  assert_true(bdl_option_count() >= 20);
}

/* Words that do not go with this optimizer's low-rank posterior and network. */
static int suits(const char* name, const char* word) {
  if (strcmp(name, "descent") == 0) return strcmp(word, "sgd") == 0 || strcmp(word, "adam") == 0;
  if (strcmp(name, "indefinite") == 0) return strcmp(word, "improved") != 0;
  if (strcmp(name, "evidence") == 0) return strcmp(word, "none") == 0;
  if (strcmp(name, "curvature") != 0) return 1;
  return strcmp(word, "mc-hess") != 0 && strcmp(word, "mc-reparam") != 0 && strcmp(word, "exact-hess") != 0;
}

/* Each word that the range of a choice names is accepted, and read back; or refused, as it does not go with
 * others or nothing reads it. */
static void test_choices(void** state) {
  const char *name, *range;
  bdl_option_type type;
  (void)state;
  OK(bdl_optimizer_set_int(t.optimizer, "learn_prior", 0)); /* which rule "map" does not do */
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    char words[200];
    int count = 0;
    OK(bdl_option_describe(i, &name, &type, NULL, &range, NULL));
    if (type != BDL_OPTION_CHOICE) continue;
    (void)snprintf(words, sizeof words, "%s", range);
    for (char* word = strtok(words, " |"); word; word = strtok(NULL, " |"), ++count) {
      const char* value = NULL;
      if (!suits(name, word)) {
        assert_int_equal(bdl_optimizer_set_choice(t.optimizer, name, word), BDL_ERROR_UNSUPPORTED);
        continue;
      }
      const bdl_status status = bdl_optimizer_set_choice(t.optimizer, name, word);
      if (status == BDL_ERROR_UNSUPPORTED && strstr(bdl_last_error(), "does not read it here")) continue;
      OK(status);
      OK(bdl_optimizer_get_choice(t.optimizer, name, &value));
      assert_string_equal(value, word);
    }
    assert_true(count >= 2);
  }
}

static void test_round_trip(void** state) {
  const int64_t seeds[] = {0, -1, INT64_MAX, -INT64_MAX};
  const double rates[] = {0, 1e-300, 0.1, 1e6};
  double real = -1;
  int64_t integer = -1;
  (void)state;
  for (int i = 0; i < 4; ++i) {
    OK(bdl_optimizer_set_int(t.optimizer, "seed", seeds[i]));
    OK(bdl_optimizer_get_int(t.optimizer, "seed", &integer));
    assert_true(integer == seeds[i]);
    OK(bdl_optimizer_set_double(t.optimizer, "learning_rate", rates[i]));
    OK(bdl_optimizer_get_double(t.optimizer, "learning_rate", &real));
    assert_true(real == rates[i]);
  }
}

enum { D = 17, FAMILIES = 10 };
static const char* const families[FAMILIES] = {
    "low_rank",       "diagonal",        "full",
    "full_moment",    "diagonal_moment", "dropout",
    "layerwise_full", "low_rank_moment", "layerwise_low_rank_moment",
    "kronecker"};

/* A linear model, which suits every method, and a posterior of each family. */
static bdl_model* create_all(bdl_posterior** q) {
  const int64_t sizes[] = {D - 1, 1};
  bdl_model* linear = NULL;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_RELU, 1, BDL_GAUSSIAN, &linear));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 1, &q[0]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 0, &q[1]));
  OK(bdl_posterior_create_full(BDL_F64, D, &q[2]));
  OK(bdl_posterior_create_full_moment(BDL_F64, D, &q[3]));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, D, &q[4]));
  OK(bdl_posterior_create_dropout(linear, 0.1, 0.5, &q[5]));
  OK(bdl_posterior_create_layerwise_full(linear, &q[6]));
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, D, 2, &q[7]));
  OK(bdl_posterior_create_layerwise_low_rank_moment(linear, 1, &q[8]));
  OK(bdl_posterior_create_kronecker(linear, &q[9]));
  return linear;
}

static void free_all(bdl_model* linear, bdl_posterior** q) {
  for (int p = 0; p < FAMILIES; ++p) bdl_posterior_free(q[p]);
  bdl_model_free(linear);
}

/* Is the word one of a list between bars? */
static int lists(const char* text, const char* word) {
  char words[200];
  (void)snprintf(words, sizeof words, "%s", text);
  for (char* each = strtok(words, " |"); each; each = strtok(NULL, " |"))
    if (strcmp(each, word) == 0) return 1;
  return 0;
}

/* Each method is for some families of posteriors, and has a rule and an estimate of the curvature. */
static void test_methods(void** state) {
#define GAUSSIAN "low_rank | diagonal | full | full_moment | diagonal_moment | layerwise_full"
#define DENSE "full | layerwise_full"
#define MOMENTS "layerwise_low_rank_moment | low_rank_moment"
  static const struct {
    const char *name, *rule, *curvature, *families;
  } methods[] = {{"slang", "blr", "mc-ef", GAUSSIAN},
                 {"slang-ggn", "blr", "mc-ggn", GAUSSIAN},
                 {"slang-lin-hess", "blr", "lin-hess", GAUSSIAN},
                 {"slang-lin-ef", "blr", "lin-ef", GAUSSIAN},
                 {"slang-online-eig", "blr", "mc-ef", "low_rank"},
                 {"von", "blr", "mc-hess", "diagonal"},
                 {"vogn", "blr", "mc-ef", "diagonal"},
                 {"ogn", "blr", "lin-ef", "diagonal"},
                 {"ivon", "blr", "mc-reparam", "diagonal"},
                 {"kfac", "blr", "lin-ef", "kronecker"},
                 {"noisy-kfac", "blr", "mc-ef", "kronecker"},
                 {"von-full", "blr", "mc-hess", DENSE},
                 {"vogn-full", "blr", "mc-ef", DENSE},
                 {"slang-exact-hess", "blr", "exact-hess", GAUSSIAN},
                 {"exact-full", "blr", "exact-hess", DENSE},
                 {"exact-diagonal", "blr", "exact-hess", "diagonal"},
                 {"exact-low-rank", "blr", "exact-hess", "low_rank"},
                 {"bbb", "bbb", "mc-reparam", "diagonal"},
                 {"elrg", "bbb", "mc-reparam", MOMENTS},
                 {"elrg-d", "bbb", "mc-reparam", MOMENTS},
                 {"mf-vi", "bbb", "mc-reparam", MOMENTS},
                 {"low-rank-vi", "bbb", "mc-reparam", MOMENTS},
                 {"k-tied", "bbb", "mc-reparam", MOMENTS},
                 {"map", "map", "lin-ef", GAUSSIAN},
                 {"sgd", "map", "lin-ef", GAUSSIAN},
                 {"swag", "map", "lin-ef", "low_rank_moment"},
                 {"mc-dropout", "map", "mc-reparam", "dropout"},
                 {"laplace", "map", "lin-ef", "low_rank | diagonal | full | layerwise_full | kronecker"},
                 {"bong", "bong", "lin-hess", GAUSSIAN},
                 {"blr", "blr", "lin-hess", GAUSSIAN},
                 {"bog", "bog", "lin-hess", GAUSSIAN},
                 {"online-bbb", "bbb", "lin-hess", GAUSSIAN},
                 {"rvga", "bong", "mc-hess", DENSE},
                 {"cm-ekf", "bong", "lin-hess", DENSE},
                 {"ekf", "bong", "lin-hess", DENSE},
                 {"vd-ekf", "bong", "lin-hess", "diagonal"},
                 {"lo-fi", "bong", "lin-hess", "low_rank"}};
  enum { METHODS = sizeof methods / sizeof *methods };
  bdl_posterior* q[FAMILIES];
  bdl_model* const linear = create_all(q);
  (void)state;
  assert_int_equal(bdl_method_count(), METHODS);
  for (int i = 0; i < METHODS; ++i) {
    const char* words = NULL;
    assert_string_equal(bdl_method_name(i), methods[i].name);
    OK(bdl_method_describe(methods[i].name, &words, NULL, NULL, NULL, NULL, NULL));
    assert_string_equal(words, methods[i].families);
    for (int p = 0; p < FAMILIES; ++p) {
      bdl_optimizer* o = NULL;
      const char *rule = NULL, *curvature = NULL;
      const int fits = lists(words, families[p]);
      const bdl_status status = bdl_optimizer_create(linear, q[p], methods[i].name, ROWS, &o);
      assert_int_equal(status, fits ? BDL_OK : BDL_ERROR_UNSUPPORTED);
      if (!fits) {
        assert_null(o);
        assert_non_null(strstr(bdl_last_error(), methods[i].name));
        continue;
      }
      OK(bdl_optimizer_get_choice(o, "rule", &rule));
      OK(bdl_optimizer_get_choice(o, "curvature", &curvature));
      assert_string_equal(rule, methods[i].rule);
      assert_string_equal(curvature, methods[i].curvature);
      bdl_optimizer_free(o);
    }
  }
  assert_null(bdl_method_name(METHODS));
  free_all(linear, q);
}

/* The description of each method is true when it is used. */
/* The network is linearised at the mean in training, or by Laplace's approximation. */
static int sees_the_mean(const char* name) {
  return strcmp(name, "laplace") == 0 || strcmp(name, "kfac") == 0 || strcmp(name, "ogn") == 0 ||
         strncmp(name, "slang-lin-", 10) == 0;
}

static void test_methods_say_what_they_are_for(void** state) {
  bdl_posterior* q[FAMILIES];
  bdl_model* const linear = create_all(q);
  (void)state;
  for (int64_t i = 0; i < bdl_method_count(); ++i) {
    const char *words, *doc, *source, *name = bdl_method_name(i);
    int32_t is_stream, is_exact;
    bdl_predict_method prediction;
    OK(bdl_method_describe(name, &words, &is_stream, &is_exact, &prediction, &doc, &source));
    assert_true(strlen(doc) > 20 && doc[strlen(doc) - 1] == '.' && strlen(source) > 8);
    for (int p = 0; p < FAMILIES; ++p) {
      bdl_optimizer* o = NULL;
      if (!lists(words, families[p])) continue;
      OK(bdl_optimizer_create(linear, q[p], name, ROWS, &o));
      if (is_exact) /* has no steps */
        assert_int_equal(bdl_optimizer_step(o, x_of(&t.data), y_of(&t.data)), BDL_ERROR_UNSUPPORTED);
      bdl_optimizer_free(o);
    }
    assert_int_equal(is_exact, strncmp(name, "exact-", 6) == 0);
    assert_int_equal(prediction, strcmp(name, "map") == 0 || strcmp(name, "sgd") == 0 ? BDL_PLUG_IN
                                 : sees_the_mean(name) || is_stream                   ? BDL_LINEARIZED
                                                                                      : BDL_MONTE_CARLO);
    OK(bdl_method_describe(name, NULL, NULL, NULL, NULL, NULL, NULL));
  }
  free_all(linear, q);
}

/* A caution names the method, its paper, a condition of the bar that it missed, and a method that is no
 * baseline. */
static void test_baselines_say_what_they_are_for(void** state) {
  int baselines = 0;
  (void)state;
  for (int64_t i = 0; i < bdl_method_count(); ++i) {
    const char *source, *caution, *reason, *other, *name = bdl_method_name(i);
    int32_t is_stream, is_baseline, is_other_baseline;
    int held, worst;
    OK(bdl_method_describe(name, NULL, &is_stream, NULL, NULL, NULL, &source));
    OK(bdl_method_standing(name, &is_baseline, &caution));
    OK(bdl_method_standing(name, NULL, NULL));
    if (!is_baseline) {
      assert_string_equal(caution, "");
      continue;
    }
    ++baselines;
    assert_true(strncmp(caution, name, strlen(name)) == 0 && strstr(caution, source) != NULL);
    if (!strstr(caution, "it predicted worse than a constant on some data sets")) {
      assert_non_null(reason = strstr(caution, "had 95 %"));
      assert_int_equal(
          sscanf(reason, "had 95 %% intervals that contained %d %% of the targets on average and %d", &held,
                 &worst),
          2);
      assert_true(held > 0 && held <= 100 && worst >= 0 && worst <= held);
      assert_true(held < 90 || held > 99 || worst < 85);
    }
    other = is_stream ? "lo-fi" : "laplace";
    assert_non_null(strstr(caution, other));
    OK(bdl_method_standing(other, &is_other_baseline, NULL));
    assert_false(is_other_baseline);
  }
  assert_true(baselines > 0 && baselines < bdl_method_count());
}

typedef struct wish {
  int64_t inputs, hidden, outputs, examples;
  bdl_likelihood likelihood;
  int32_t in_blocks;
  const char *method, *family, *suggested, *of_family;
  int64_t rank;
} wish;

static void check_wish(const wish* w) {
  const int64_t sizes[] = {w->inputs, w->hidden, w->outputs}, linear[] = {w->inputs, w->outputs};
  const char *method = NULL, *family = NULL, *options = NULL;
  int64_t rank = -1;
  int32_t is_stream = 0;
  bdl_model* model = NULL;
  OK(bdl_model_create_mlp(BDL_F64, w->hidden ? sizes : linear, w->hidden ? 3 : 2, BDL_RELU, 1, w->likelihood,
                          &model));
  OK(bdl_training_suggest(model, w->examples, w->in_blocks, w->method, w->family, &method, &family, &rank,
                          &options));
  assert_string_equal(method, w->suggested);
  assert_string_equal(family, w->of_family);
  assert_int_equal(rank, w->rank);
  OK(bdl_method_describe(method, NULL, &is_stream, NULL, NULL, NULL, NULL));
  assert_int_equal(strlen(options) > 0, !w->hidden || is_stream);
  assert_int_equal(strstr(options, "stream_scales=learned") != NULL, is_stream);
  bdl_model_free(model);
}

/* The suggestions that estimators use, for networks and for linear models: the family suits the method, and
 * the method the family. */
static void test_suggested_training(void** state) {
  static const wish wishes[] = {
      {3, 5, 1, 100, BDL_GAUSSIAN, 0, "auto", "auto", "slang", "low_rank", 5},
      {3, 5, 1, 100, BDL_POISSON, 0, "auto", "auto", "slang-ggn", "low_rank", 5},
      {3, 5, 3, 100, BDL_CATEGORICAL, 0, "auto", "auto", "slang", "low_rank", 5},
      {1, 1, 1, 100, BDL_GAUSSIAN, 0, "auto", "auto", "slang", "low_rank", 4},
      {3, 5, 1, 100, BDL_GAUSSIAN, 0, "vogn", "auto", "vogn", "diagonal", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 0, "mc-dropout", "auto", "mc-dropout", "dropout", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 0, "auto", "dropout", "mc-dropout", "dropout", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 0, "laplace", "auto", "laplace", "kronecker", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 1, "auto", "auto", "lo-fi", "low_rank", 5},
      {3, 5, 1, 100, BDL_GAUSSIAN, 1, "auto", "full_moment", "bong", "full_moment", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 1, "auto", "dropout", "mc-dropout", "dropout", 0},
      {3, 0, 1, 100, BDL_GAUSSIAN, 0, "auto", "auto", "exact-full", "full", 0},
      {3, 0, 1, 100, BDL_POISSON, 1, "auto", "auto", "ekf", "full", 0},
      {333, 0, 3, 100, BDL_CATEGORICAL, 1, "auto", "auto", "lo-fi", "low_rank", 10},
      {332, 0, 3, 100, BDL_CATEGORICAL, 1, "auto", "auto", "ekf", "full", 0},
      {3, 0, 1, 100, BDL_GAUSSIAN, 1, "auto", "diagonal", "vd-ekf", "diagonal", 0},
      {3, 0, 1, 100, BDL_POISSON, 0, "auto", "layerwise_full", "exact-full", "layerwise_full", 0},
      {3, 5, 1, 100, BDL_GAUSSIAN, 1, "auto", "layerwise_full", "ekf", "layerwise_full", 0},
      {3, 0, 1, 100, BDL_POISSON, 0, "auto", "diagonal", "slang-exact-hess", "diagonal", 0},
      {3, 0, 1, INT64_C(1) << 25, BDL_POISSON, 0, "auto", "auto", "slang-exact-hess", "full", 0},
      {999, 0, 1, 1000, BDL_BERNOULLI, 0, "auto", "auto", "exact-full", "full", 0},
      {999, 0, 1, 999, BDL_BERNOULLI, 0, "auto", "auto", "exact-low-rank", "low_rank", 999},
      {5000, 0, 1, 100, BDL_GAUSSIAN, 0, "auto", "auto", "exact-low-rank", "low_rank", 100},
      {1000, 0, 1, 5000, BDL_BERNOULLI, 0, "auto", "auto", "slang-exact-hess", "low_rank", 10},
      {3, 0, 3, 100, BDL_GAUSSIAN, 0, "auto", "auto", "exact-full", "full", 0},
      {3, 0, 3, 100, BDL_CATEGORICAL, 0, "auto", "auto", "exact-full", "full", 0},
      {332, 0, 3, 100, BDL_CATEGORICAL, 0, "auto", "auto", "exact-full", "full", 0},
      {333, 0, 3, 100, BDL_CATEGORICAL, 0, "auto", "auto", "slang-ggn", "low_rank", 10},
      {3, 0, 5, 200, BDL_CATEGORICAL, 0, "auto", "auto", "exact-full", "full", 0},
      {3, 0, 5, 199, BDL_CATEGORICAL, 0, "auto", "auto", "slang-ggn", "full", 0},
      {3, 0, 1, 100, BDL_GAMMA, 0, "auto", "auto", "exact-full", "full", 0},
      {3, 0, 1, 100, BDL_ORDINAL, 0, "auto", "auto", "exact-full", "full", 0},
      {3, 0, 2, 100, BDL_HETEROSCEDASTIC, 0, "auto", "auto", "slang-ggn", "full", 0},
      {3, 0, 1, 100, BDL_GAUSSIAN, 0, "lo-fi", "auto", "lo-fi", "low_rank", 4},
      {3, 0, 1, 100, BDL_GAUSSIAN, 0, "map", "auto", "map", "full", 0}};
  (void)state;
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; ++i) check_wish(&wishes[i]);
}

/* Every suggestion is one that an optimizer takes, options and all. */
static void test_suggestions_are_valid(void** state) {
  bdl_posterior* q[FAMILIES];
  bdl_model* const linear = create_all(q);
  (void)state;
  for (int64_t i = 0; i < bdl_method_count(); ++i)
    for (int32_t in_blocks = 0; in_blocks < 2; ++in_blocks) {
      const char *method, *family, *options;
      bdl_optimizer* o = NULL;
      int p = 0;
      OK(bdl_training_suggest(linear, ROWS, in_blocks, bdl_method_name(i), "auto", &method, &family, NULL,
                              &options));
      while (strcmp(families[p], family) != 0) ++p;
      OK(bdl_optimizer_create(linear, q[p], method, ROWS, &o));
      OK(bdl_optimizer_set_text(o, options));
      bdl_optimizer_free(o);
    }
  free_all(linear, q);
}

/* As above, for a network with convolutions and each method that learns one. */
static void test_suggestions_for_convolutions(void** state) {
  bdl_model* model;
  int learned = 0;
  (void)state;
  OK(bdl_model_create_network(BDL_F64, "input 1 4 4; conv 2 3; relu; dense 2", BDL_CATEGORICAL, &model));
  for (int64_t i = 0; i < bdl_method_count(); ++i) {
    const char *method, *family, *options;
    bdl_posterior* q;
    bdl_optimizer* o = NULL;
    int32_t is_stream;
    OK(bdl_method_describe(bdl_method_name(i), &family, &is_stream, NULL, NULL, NULL, NULL));
    OK(bdl_training_suggest(model, ROWS, 0, bdl_method_name(i), "auto", &method, &family, NULL, &options));
    const int is_vogn = strcmp(method, "vogn") == 0 || strcmp(method, "ogn") == 0;
    assert_string_equal(options, is_stream                     ? "stream_scales=learned"
                                 : is_vogn                     ? "initialization=he"
                                 : strcmp(method, "ivon") == 0 ? "initialization=he learning_rate=0.02"
                                                               : "initialization=he start_share=0");
    if (strcmp(family, "low_rank") != 0 && strcmp(family, "diagonal") != 0) continue;
    OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), *family == 'l', &q));
    if (bdl_optimizer_create(model, q, method, ROWS, &o) == BDL_OK) {
      OK(bdl_optimizer_set_text(o, options));
      ++learned;
    }
    bdl_optimizer_free(o);
    bdl_posterior_free(q);
  }
  assert_true(learned > 8);
  bdl_model_free(model);
}

/* Of a low-rank posterior, rank 0 for diagonal ones; rank -1 is dropout. */
typedef struct noise_wish {
  const char *network, *method, *options;
  int64_t rank;
  int32_t in_blocks;
  int64_t prior_parameters;
  bdl_likelihood noise;
} noise_wish;

/* Targets -20 to 20, whose median is 0 and whose median absolute deviation is 10, with one `distance` robust
 * standard deviations away; the last row has none. */
static bdl_matrix with_outlier(double distance) {
  static double y[42];
  for (int i = 0; i < 41; ++i) y[i] = i - 20;
  y[distance < 0 ? 0 : 40] = distance * 10 * 1.482602218505602;
  y[41] = (double)NAN;
  return bdl_f64(y, 42, 1);
}

/* A target that would hide all others changes heteroscedastic noise, and no other, unless a prior says what
 * it is. */
static void check_noise_of_outliers(const noise_wish* w, const bdl_optimizer* o) {
  const int far = w->noise == BDL_HETEROSCEDASTIC && w->prior_parameters == 0;
  bdl_likelihood noise = BDL_POISSON;
  double distance = -1;
  OK(bdl_noise_suggest(o, w->in_blocks, w->prior_parameters, with_outlier(990), &noise, &distance));
  assert_int_equal(noise, w->noise);
  assert_true(distance == 0);
  OK(bdl_noise_suggest(o, w->in_blocks, w->prior_parameters, with_outlier(-1010), &noise, &distance));
  assert_int_equal(noise, far ? BDL_STUDENT_T : w->noise);
  assert_true(fabs(distance - (far ? 1010 : 0)) < 1e-6);
}

static void check_noise(const noise_wish* w) {
  bdl_model* model;
  bdl_posterior* q;
  bdl_optimizer* o;
  bdl_likelihood noise = BDL_POISSON;
  OK(bdl_model_create_network(BDL_F32, w->network, BDL_GAUSSIAN, &model));
  if (w->rank < 0)
    OK(bdl_posterior_create_dropout(model, 0, 0.1, &q));
  else
    OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), w->rank, &q));
  OK(bdl_optimizer_create(model, q, w->method, ROWS, &o));
  OK(bdl_optimizer_set_text(o, w->options));
  OK(bdl_noise_suggest(o, w->in_blocks, w->prior_parameters, bdl_none(), &noise, NULL));
  assert_int_equal(noise, w->noise);
  check_noise_of_outliers(w, o);
  bdl_optimizer_free(o);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

/* Heteroscedastic where the evidence can shrink the dependence of the noise on x; and what a prior is of. */
static void test_suggested_noise(void** state) {
  static const char mlp[] = "input 2; dense 3; relu; dense 1", linear[] = "input 2; dense 1",
                    maps[] = "input 1 4 4; conv 2 3; relu; dense 1",
                    norm[] = "input 2; dense 3; batchnorm; relu; dense 1";
  static const noise_wish wishes[] = {{mlp, "slang-ggn", "", 2, 0, 0, BDL_HETEROSCEDASTIC},
                                      {mlp, "vogn", "", 0, 0, 0, BDL_HETEROSCEDASTIC},
                                      {mlp, "laplace", "", 2, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "map", "", 0, 0, 0, BDL_GAUSSIAN},
                                      {maps, "slang-ggn", "", 2, 0, 0, BDL_HETEROSCEDASTIC},
                                      {linear, "slang-ggn", "", 2, 0, 0, BDL_GAUSSIAN},
                                      {linear, "exact-low-rank", "", 2, 0, 0, BDL_GAUSSIAN},
                                      {norm, "vogn", "", 0, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "mc-dropout", "", -1, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "lo-fi", "", 2, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "lo-fi", "", 2, 1, 0, BDL_GAUSSIAN},
                                      {mlp, "slang-ggn", "", 2, 1, 0, BDL_GAUSSIAN},
                                      {mlp, "slang-ggn", "learn_noise=0", 2, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "slang-ggn", "scales=samples", 2, 0, 0, BDL_GAUSSIAN},
                                      {mlp, "slang-ggn", "", 2, 0, 13, BDL_GAUSSIAN},
                                      {mlp, "slang-ggn", "", 2, 0, 17, BDL_HETEROSCEDASTIC},
                                      {mlp, "lo-fi", "", 2, 1, 17, BDL_HETEROSCEDASTIC}};
  (void)state;
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; ++i) check_noise(&wishes[i]);
}

static void test_suggested_predictions(void** state) {
  bdl_posterior* q[FAMILIES];
  bdl_model* const linear = create_all(q);
  trained classes = untrained_create(BDL_F64, BDL_BERNOULLI, 2);
  bdl_predict_method prediction;
  (void)state;
  OK(bdl_method_prediction("exact-full", linear, &prediction));
  assert_int_equal(prediction, BDL_LINEARIZED);
  OK(bdl_method_prediction("mc-dropout", linear, &prediction));
  assert_int_equal(prediction, BDL_MONTE_CARLO);
  OK(bdl_method_prediction("map", classes.model, &prediction));
  assert_int_equal(prediction, BDL_PLUG_IN);
  OK(bdl_method_prediction("slang", classes.model, &prediction));
  assert_int_equal(prediction, BDL_MONTE_CARLO);
  trained_free(&classes);
  free_all(linear, q);
}

static void test_defaults(void** state) {
  (void)state;
  for (int64_t i = 0; i < bdl_default_count(); ++i) {
    const char *name, *doc;
    double value = -1;
    OK(bdl_default_describe(i, &name, &value, &doc));
    assert_true(strlen(name) > 3 && value >= 0 && doc[strlen(doc) - 1] == '.');
  }
  assert_int_equal(bdl_default_describe(bdl_default_count(), NULL, NULL, NULL), BDL_ERROR_INVALID_ARGUMENT);
}

static void check_text(const char* text, bdl_status status, const char* fragment) {
  double rate = 0;
  OK(bdl_optimizer_set_text(t.optimizer, "learning_rate=0.25 samples=3\n schedule=power "));
  assert_int_equal(bdl_optimizer_set_text(t.optimizer, text), status);
  assert_non_null(strstr(bdl_last_error(), fragment));
  OK(bdl_optimizer_get_double(t.optimizer, "learning_rate", &rate));
  assert_true(rate == 0.25);
}

/* Whole or not at all, and the error names the word. */
static void test_text(void** state) {
  const char* word = NULL;
  int64_t samples = 0;
  double prior[MOST_PARAMETERS];
  (void)state;
  check_text("learning_rate=0.5 sample=4", BDL_ERROR_UNKNOWN_OPTION,
             "no option \"sample\", did you mean \"samples\"?");
  check_text("learning_rate=0.5 samples", BDL_ERROR_INVALID_ARGUMENT,
             "\"samples\" is not of the form name=value");
  check_text("learning_rate=0.5 =4", BDL_ERROR_INVALID_ARGUMENT, "\"=4\" is not of the form");
  check_text("learning_rate=0,5", BDL_ERROR_INVALID_ARGUMENT,
             "option \"learning_rate\" is \"0,5\", expected a real");
  check_text("learning_rate=0.5 samples=4.5", BDL_ERROR_INVALID_ARGUMENT, "option \"samples\" is \"4.5\"");
  check_text("learning_rate=0.5 samples=0", BDL_ERROR_INVALID_ARGUMENT, "option \"samples\" is 0");
  check_text("learning_rate=nan", BDL_ERROR_INVALID_ARGUMENT, "option \"learning_rate\" is nan");
  check_text("learning_rate=0.5 schedule=linear", BDL_ERROR_INVALID_ARGUMENT, "cosine | power");
  check_text("learning_rate=0.5 curvature=mc-hess", BDL_ERROR_UNSUPPORTED, "family \"low_rank\"");
  assert_int_equal(bdl_optimizer_set_text(t.optimizer, NULL), BDL_ERROR_INVALID_ARGUMENT);
  OK(bdl_optimizer_set_text(t.optimizer, ""));
  OK(bdl_optimizer_get_int(t.optimizer, "samples", &samples));
  OK(bdl_optimizer_get_choice(t.optimizer, "schedule", &word));
  assert_int_equal(samples, 3);
  assert_string_equal(word, "power");
  OK(bdl_optimizer_set_text(t.optimizer, "prior_precision=4"));
  OK(bdl_optimizer_get_prior(t.optimizer, bdl_f64_out(prior, 1, t.parameters)));
  for (int64_t i = 0; i < t.parameters; ++i) assert_true(prior[i] == 4);
}

/* A way through what does not go together: in one call. */
static void test_text_at_once(void** state) {
  const char* word = NULL;
  bdl_posterior* q[FAMILIES];
  bdl_model* const linear = create_all(q);
  bdl_optimizer* o = NULL;
  (void)state;
  OK(bdl_optimizer_create(linear, q[0], "map", ROWS, &o));
  assert_int_equal(bdl_optimizer_set_choice(o, "rule", "bbb"), BDL_ERROR_UNSUPPORTED); /* by Adam */
  assert_non_null(strstr(bdl_last_error(), "options that only fit together must be set in one call"));
  OK(bdl_optimizer_get_choice(o, "rule", &word));
  assert_string_equal(word, "map");
  OK(bdl_optimizer_set_text(o, "rule=bbb descent=sgd"));
  bdl_optimizer_free(o);
  free_all(linear, q);
}

/* Each target starts from a noise of its own; the minibatch is that of fit. */
static void test_start(void** state) {
  trained two = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  const double y[] = {0, 10, 2, 30, 4, 50};
  double noise[2];
  int64_t size = 0;
  (void)state;
  assert_int_equal(bdl_model_targets(two.model), 2);
  OK(bdl_optimizer_start_noise(two.optimizer, bdl_f64(y, 3, 2)));
  OK(bdl_model_get_noise_precision(two.model, bdl_f64_out(noise, 1, 2)));
  assert_true(fabs(noise[0] - 100 / (8.0 / 3)) < 1e-9 && fabs(noise[1] - 100 / (800.0 / 3)) < 1e-9);
  assert_int_equal(bdl_optimizer_start_noise(two.optimizer, bdl_f64(y, 6, 1)), BDL_ERROR_SHAPE);
  OK(bdl_optimizer_minibatch(two.optimizer, &size));
  assert_int_equal(size, ROWS < 10 ? ROWS : 10);
  OK(bdl_optimizer_set_int(two.optimizer, "minibatch", 3));
  OK(bdl_optimizer_minibatch(two.optimizer, &size));
  assert_int_equal(size, 3);
  trained_free(&two);
}

static void test_suggested_methods(void** state) {
  const char* const batch[] = {"slang", "slang", "slang", "slang", "slang", "mc-dropout"};
  const char* const stream[] = {"lo-fi", "vd-ekf", "ekf", "bong", "bong", NULL};
  trained labels = trained_create(BDL_F64, BDL_BERNOULLI, 2);
  bdl_posterior* q[6];
  const char* name = NULL;
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 1, &q[0]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 0, &q[1]));
  OK(bdl_posterior_create_full(BDL_F64, D, &q[2]));
  OK(bdl_posterior_create_full_moment(BDL_F64, D, &q[3]));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, D, &q[4]));
  OK(bdl_posterior_create_dropout(t.model, 0.1, 0.5, &q[5]));
  for (int p = 0; p < 6; ++p) {
    bdl_optimizer* o = NULL;
    int32_t is_stream;
    OK(bdl_method_suggest(t.model, q[p], 0, &name));
    assert_string_equal(name, batch[p]);
    OK(bdl_optimizer_create(t.model, q[p], name, ROWS, &o));
    bdl_optimizer_free(o);
    if (!stream[p]) break;
    OK(bdl_method_suggest(t.model, q[p], 1, &name));
    assert_string_equal(name, stream[p]);
    OK(bdl_method_describe(name, NULL, &is_stream, NULL, NULL, NULL, NULL));
    assert_true(is_stream);
    OK(bdl_optimizer_create(t.model, q[p], name, ROWS, &o));
    bdl_optimizer_free(o);
  }
  OK(bdl_method_suggest(labels.model, labels.posterior, 0, &name));
  assert_string_equal(name, "slang");
  name = NULL;
  assert_int_equal(bdl_method_suggest(t.model, q[5], 1, &name), BDL_ERROR_UNSUPPORTED);
  assert_null(name);
  for (int p = 0; p < 6; ++p) bdl_posterior_free(q[p]);
  trained_free(&labels);
}

/* The two methods differ in nothing else: option "curvature" turns one into the other. */
static void test_curvature_makes_the_method(void** state) {
  trained ggn = untrained_create(BDL_F64, BDL_GAUSSIAN, 2),
          fisher = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  bdl_optimizer* slang;
  snapshot a, b, c;
  (void)state;
  OK(bdl_optimizer_create(fisher.model, fisher.posterior, "slang", ROWS, &slang));
  bdl_optimizer_free(fisher.optimizer);
  fisher.optimizer = slang;
  OK(bdl_optimizer_fit(ggn.optimizer, x_of(&ggn.data), y_of(&ggn.data), 2, NULL, NULL));
  OK(bdl_optimizer_fit(fisher.optimizer, x_of(&ggn.data), y_of(&ggn.data), 2, NULL, NULL));
  a = snapshot_of(&ggn);
  b = snapshot_of(&fisher);
  assert_memory_not_equal(&a, &b, sizeof a);
  trained_free(&fisher);
  fisher = untrained_create(BDL_F64, BDL_GAUSSIAN, 2);
  OK(bdl_optimizer_set_choice(fisher.optimizer, "curvature", "mc-ef"));
  OK(bdl_optimizer_set_double(fisher.optimizer, "learning_rate", 0.2)); /* of empirical-Fisher regressions */
  OK(bdl_optimizer_fit(fisher.optimizer, x_of(&ggn.data), y_of(&ggn.data), 2, NULL, NULL));
  c = snapshot_of(&fisher);
  assert_same_state(&b, &c);
  trained_free(&ggn);
  trained_free(&fisher);
}

static void read_prior(double* prior) {
  OK(bdl_optimizer_get_prior(t.optimizer, bdl_f64_out(prior, 1, t.parameters)));
}

static void test_prior_groups(void** state) {
  double prior[MOST_PARAMETERS];
  const char* name;
  int64_t offset, rows, cols;
  (void)state;
  OK(bdl_optimizer_set_text(t.optimizer,
                            "prior_precision=4 prior_groups=weights_biases bias_prior_precision=0.25"));
  read_prior(prior);
  for (int64_t k = 0; k < 4; ++k) {
    OK(bdl_model_block(t.model, k, &name, &offset, &rows, &cols));
    for (int64_t i = offset; i < offset + rows * cols; ++i)
      assert_true(prior[i] == (strstr(name, "bias") ? 0.25 : 4));
  }
  OK(bdl_optimizer_set_choice(t.optimizer, "prior_groups", "shared"));
  read_prior(prior);
  for (int64_t i = 0; i < t.parameters; ++i) assert_true(prior[i] == 4);
}

static void test_fixed_prior(void** state) {
  double given[MOST_PARAMETERS], prior[MOST_PARAMETERS];
  (void)state;
  for (int i = 0; i < MOST_PARAMETERS; ++i) given[i] = 1 + i;
  OK(bdl_optimizer_set_prior(t.optimizer, bdl_f64(given, 1, t.parameters)));
  OK(bdl_optimizer_set_double(t.optimizer, "learn_from", 0));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 5, NULL, NULL));
  read_prior(prior);
  assert_memory_equal(prior, given, sizeof(double) * (size_t)t.parameters); /* fixed: it was not learned */
}

static void test_learned_prior(void** state) {
  double prior[MOST_PARAMETERS];
  (void)state;
  OK(bdl_optimizer_set_double(t.optimizer, "learn_from", 0));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 50, NULL, NULL));
  read_prior(prior);
  assert_true(prior[0] != 1 && prior[0] > 1e-3 && prior[0] < 1e3);
  OK(bdl_optimizer_set_int(t.optimizer, "learn_prior", 0));
  OK(bdl_optimizer_initialize(t.optimizer));
  OK(bdl_optimizer_fit(t.optimizer, x_of(&t.data), y_of(&t.data), 5, NULL, NULL));
  read_prior(prior);
  assert_true(prior[0] == 1);
}

int test_api_options(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_table, setup, teardown),
      cmocka_unit_test_setup_teardown(test_choices, setup, teardown),
      cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
      cmocka_unit_test_setup_teardown(test_methods, setup, teardown),
      cmocka_unit_test_setup_teardown(test_methods_say_what_they_are_for, setup, teardown),
      cmocka_unit_test_setup_teardown(test_suggested_methods, setup, teardown),
      cmocka_unit_test(test_baselines_say_what_they_are_for),
      cmocka_unit_test(test_suggested_training),
      cmocka_unit_test(test_suggestions_are_valid),
      cmocka_unit_test(test_suggestions_for_convolutions),
      cmocka_unit_test(test_suggested_noise),
      cmocka_unit_test(test_suggested_predictions),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test_setup_teardown(test_text, setup, teardown),
      cmocka_unit_test(test_text_at_once),
      cmocka_unit_test(test_start),
      cmocka_unit_test(test_curvature_makes_the_method),
      cmocka_unit_test_setup_teardown(test_prior_groups, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fixed_prior, setup, teardown),
      cmocka_unit_test_setup_teardown(test_learned_prior, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
