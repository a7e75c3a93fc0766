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
  if (strcmp(name, "curvature") == 0 || strcmp(name, "mean_update") == 0) return; /* the method's own */
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
  int64_t count = 0;
  (void)state;
  while (bdl_option_describe(count, &name, &type, &text, &range, &doc) == BDL_OK) {
    assert_true(strlen(name) > 2 && strlen(text) > 0 && strlen(range) > 2 && strlen(doc) > 10);
    assert_in_range(type, BDL_OPTION_DOUBLE, BDL_OPTION_CHOICE);
    check_default(name, type, text, range);
    OK(bdl_option_describe(count, &again, NULL, NULL, NULL, NULL));
    assert_ptr_equal(name, again); /* static */
    ++count;
  }
  assert_true(count >= 20);
}

/* Each word that the range of a choice names is accepted, and read back. */
static void test_choices(void** state) {
  const char *name, *range;
  bdl_option_type type;
  (void)state;
  for (int64_t i = 0; bdl_option_describe(i, &name, &type, NULL, &range, NULL) == BDL_OK; ++i) {
    char words[200];
    int count = 0;
    if (type != BDL_OPTION_CHOICE) continue;
    (void)snprintf(words, sizeof words, "%s", range);
    for (char* word = strtok(words, " |"); word; word = strtok(NULL, " |"), ++count) {
      const char* value = NULL;
      OK(bdl_optimizer_set_choice(t.optimizer, name, word));
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

/* Each method is for some family of posteriors, and has a rule and an estimate of the curvature. */
static void test_methods(void** state) {
  static const struct {
    const char *name, *rule, *curvature;
    int full, diagonal, low_rank; /* posteriors it is for; none: dropout */
  } methods[] = {{"slang", "blr", "mc-ef", 1, 1, 1},
                 {"slang-ggn", "blr", "mc-ggn", 1, 1, 1},
                 {"slang-lin-hess", "blr", "lin-hess", 1, 1, 1},
                 {"slang-lin-ef", "blr", "lin-ef", 1, 1, 1},
                 {"slang-online-eig", "blr", "mc-ef", 0, 0, 1},
                 {"von", "blr", "mc-hess", 0, 1, 0},
                 {"vogn", "blr", "mc-ef", 0, 1, 0},
                 {"von-full", "blr", "mc-hess", 1, 0, 0},
                 {"vogn-full", "blr", "mc-ef", 1, 0, 0},
                 {"slang-exact-hess", "blr", "exact-hess", 1, 1, 1},
                 {"exact-full", "blr", "exact-hess", 1, 0, 0},
                 {"exact-diagonal", "blr", "exact-hess", 0, 1, 0},
                 {"exact-low-rank", "blr", "exact-hess", 0, 0, 1},
                 {"bbb", "bbb", "mc-reparam", 0, 1, 0},
                 {"map", "map", "lin-ef", 1, 1, 1},
                 {"mc-dropout", "map", "mc-reparam", 0, 0, 0},
                 {"laplace", "map", "lin-ef", 1, 1, 1},
                 {"bong", "bong", "lin-hess", 1, 1, 1},
                 {"blr", "blr", "lin-hess", 1, 1, 1},
                 {"bog", "bog", "lin-hess", 1, 1, 1},
                 {"online-bbb", "bbb", "lin-hess", 1, 1, 1},
                 {"rvga", "bong", "mc-hess", 1, 0, 0},
                 {"cm-ekf", "bong", "lin-hess", 1, 0, 0},
                 {"ekf", "bong", "lin-hess", 1, 0, 0},
                 {"vd-ekf", "bong", "lin-hess", 0, 1, 0},
                 {"lo-fi", "bong", "lin-hess", 0, 0, 1}};
  enum { METHODS = sizeof methods / sizeof *methods, D = 17 };
  bdl_posterior* posteriors[6];
  (void)state;
  assert_int_equal(bdl_model_parameters(t.model), D);
  OK(bdl_posterior_create_full(BDL_F64, D, &posteriors[0]));
  OK(bdl_posterior_create_full_moment(BDL_F64, D, &posteriors[1]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 0, &posteriors[2]));
  OK(bdl_posterior_create_diagonal_moment(BDL_F64, D, &posteriors[3]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 1, &posteriors[4]));
  OK(bdl_posterior_create_dropout(t.model, 0.1, 0.5, &posteriors[5]));
  for (int i = 0; i < METHODS; ++i) {
    assert_string_equal(bdl_method_name(i), methods[i].name);
    for (int p = 0; p < 6; ++p) {
      const int families = methods[i].full + methods[i].diagonal + methods[i].low_rank;
      const int natural = p == 0 ? methods[i].full : p == 2 ? methods[i].diagonal : methods[i].low_rank;
      const int fits =
          p == 5 ? families == 0
                 : families == 3 || (p != 1 && p != 3 && natural); /* named filters: natural parameters */
      bdl_optimizer* o = NULL;
      const char *rule = NULL, *curvature = NULL;
      const bdl_status status = bdl_optimizer_create(t.model, posteriors[p], methods[i].name, ROWS, &o);
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
  for (int p = 0; p < 6; ++p) bdl_posterior_free(posteriors[p]);
}

/* Whatever a method says of itself is what happens when it is used. */
static void test_methods_say_what_they_are_for(void** state) {
  enum { D = 17 };
  const char *family, *name;
  int32_t is_stream, is_exact;
  bdl_predict_method prediction;
  bdl_posterior* q[4];
  const char* const words[] = {"full", "diagonal", "low_rank", "dropout"};
  (void)state;
  OK(bdl_posterior_create_full(BDL_F64, D, &q[0]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 0, &q[1]));
  OK(bdl_posterior_create_low_rank(BDL_F64, D, 1, &q[2]));
  OK(bdl_posterior_create_dropout(t.model, 0.1, 0.5, &q[3]));
  for (int i = 0; (name = bdl_method_name(i)); ++i) {
    OK(bdl_method_describe(name, &family, &is_stream, &is_exact, &prediction));
    for (int p = 0; p < 4; ++p) {
      bdl_optimizer* o = NULL;
      const int fits = strcmp(family, "any") == 0 ? p < 3 : strcmp(family, words[p]) == 0;
      assert_int_equal(bdl_optimizer_create(t.model, q[p], name, ROWS, &o),
                       fits ? BDL_OK : BDL_ERROR_UNSUPPORTED);
      if (fits && is_exact) /* has no steps */
        assert_int_equal(bdl_optimizer_step(o, x_of(&t.data), y_of(&t.data)), BDL_ERROR_UNSUPPORTED);
      bdl_optimizer_free(o);
    }
    assert_int_equal(is_exact, strncmp(name, "exact-", 6) == 0);
    assert_int_equal(prediction, strcmp(name, "map") == 0       ? BDL_PLUG_IN
                                 : strcmp(name, "laplace") == 0 ? BDL_LINEARIZED
                                                                : BDL_MONTE_CARLO);
    OK(bdl_method_describe(name, NULL, NULL, NULL, NULL));
  }
  for (int p = 0; p < 4; ++p) bdl_posterior_free(q[p]);
}

static void test_suggested_methods(void** state) {
  const char* const batch[] = {"slang-ggn", "slang-ggn", "slang-ggn", "slang-ggn", "slang-ggn", "mc-dropout"};
  const char* const stream[] = {"lo-fi", "vd-ekf", "ekf", "bong", "bong", NULL};
  trained labels = trained_create(BDL_F64, BDL_BERNOULLI, 2);
  const int64_t D = bdl_model_parameters(t.model);
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
    OK(bdl_method_describe(name, NULL, &is_stream, NULL, NULL));
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
  OK(bdl_optimizer_set_double(fisher.optimizer, "learning_rate", 0.1)); /* of empirical-Fisher regressions */
  OK(bdl_optimizer_fit(fisher.optimizer, x_of(&ggn.data), y_of(&ggn.data), 2, NULL, NULL));
  c = snapshot_of(&fisher);
  assert_same_state(&b, &c);
  trained_free(&ggn);
  trained_free(&fisher);
}

static void read_prior(double* prior) {
  OK(bdl_optimizer_get_prior(t.optimizer, bdl_f64(prior, 1, t.parameters)));
}

static void test_prior_groups(void** state) {
  double prior[MOST_PARAMETERS];
  const char* name;
  int64_t offset, rows, cols;
  (void)state;
  OK(bdl_optimizer_set_double(t.optimizer, "prior_precision", 4));
  OK(bdl_optimizer_set_double(t.optimizer, "bias_prior_precision", 0.25));
  read_prior(prior);
  for (int64_t k = 0; k < 4; ++k) { /* weights and biases apart, by default */
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
      cmocka_unit_test(test_curvature_makes_the_method),
      cmocka_unit_test_setup_teardown(test_prior_groups, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fixed_prior, setup, teardown),
      cmocka_unit_test_setup_teardown(test_learned_prior, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
