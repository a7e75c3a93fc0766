/* Functions that read much data without training ask the interrupt as well: metrics, checkpoints, tensors,
 * the order of millions of rows. */
#include <unistd.h>

#include "asking_host.h"

#ifdef SLOW
enum { SCORED = 100000, WIDE = 20000, ROOT = 300, ORDERED = 1000000 };
#else
enum { SCORED = 3000000, WIDE = 800000, ROOT = 2500, ORDERED = 12000000 };
#endif
enum { CLASSES = 3, RANK = 20 };

typedef struct scores {
  double *first, *second, *probabilities, *labels, *curve;
  double value;
} scores;

static bdl_matrix firsts(const scores* s) {
  return bdl_f64(s->first, SCORED, 1);
}
static bdl_matrix seconds_of(const scores* s) {
  return bdl_f64(s->second, SCORED, 1);
}
static bdl_matrix shares(const scores* s) {
  return bdl_f64(s->probabilities, SCORED, CLASSES);
}
static bdl_matrix classes(const scores* s) {
  return bdl_f64(s->labels, SCORED, 1);
}

static bdl_status rank_scores(scores* s) {
  return bdl_metric_auroc(firsts(s), seconds_of(s), &s->value);
}
static bdl_status find_rate(scores* s) {
  return bdl_metric_fpr(firsts(s), seconds_of(s), 0.95, &s->value, NULL);
}
static bdl_status find_error(scores* s) {
  return bdl_metric_detection_error(firsts(s), seconds_of(s), &s->value);
}
static bdl_status calibrate(scores* s) {
  return bdl_metric_ece(shares(s), classes(s), 15, &s->value);
}
static bdl_status draw_calibration(scores* s) {
  return bdl_metric_calibration_curve(shares(s), classes(s), bdl_f64_out(s->curve, 15, 3));
}
static bdl_status find_entropies(scores* s) {
  return bdl_metric_entropy(shares(s), bdl_f64_out(s->curve, SCORED, 1));
}
static bdl_status count_entropies(scores* s) {
  return bdl_metric_entropy_histogram(shares(s), bdl_f64_out(s->curve, 20, 1));
}
static bdl_status detect(scores* s) {
  bdl_ood_report report = {sizeof report, 0, 0, 0, 0, 0, 0, 0, 0};
  return bdl_metric_ood(shares(s), shares(s), BDL_SCORE_ENTROPY, &report);
}
static bdl_status rank_right(scores* s) {
  return bdl_metric_auroc_correct(shares(s), classes(s), BDL_SCORE_CONFIDENCE, &s->value);
}
static bdl_status hit(scores* s) {
  return bdl_metric_accuracy(shares(s), classes(s), &s->value);
}
static bdl_status score_brier(scores* s) {
  return bdl_metric_brier(shares(s), classes(s), &s->value);
}
static bdl_status score_log(scores* s) {
  return bdl_metric_nll(shares(s), classes(s), &s->value);
}
static bdl_status cool(scores* s) {
  return bdl_temperature_fit(shares(s), classes(s), &s->value);
}
static bdl_status differ(scores* s) {
  return bdl_metric_rmse(firsts(s), seconds_of(s), &s->value);
}
static bdl_status average(scores* s) {
  return bdl_metric_log_predictive_density(firsts(s), &s->value, NULL);
}
static bdl_status cover(scores* s) {
  return bdl_metric_coverage(firsts(s), firsts(s), seconds_of(s), &s->value);
}
static bdl_status score_draws(scores* s) {
  return bdl_metric_crps(bdl_f64(s->first, 3, SCORED / 3), bdl_f64(s->second, 3, 1), &s->value);
}

static const struct {
  const char* name;
  bdl_status (*call)(scores*);
} metrics[] = {{"AUROC", rank_scores},
               {"false positives", find_rate},
               {"detection error", find_error},
               {"calibration error", calibrate},
               {"calibration curve", draw_calibration},
               {"entropies", find_entropies},
               {"histogram", count_entropies},
               {"detection", detect},
               {"AUROC of the right ones", rank_right},
               {"accuracy", hit},
               {"Brier score", score_brier},
               {"log likelihood", score_log},
               {"temperature", cool},
               {"RMSE", differ},
               {"log density", average},
               {"coverage", cover},
               {"CRPS", score_draws}};

typedef struct metric_call {
  scores* of;
  bdl_status (*call)(scores*);
} metric_call;

static bdl_status take(void* argument) {
  const metric_call* const m = argument;
  return m->call(m->of);
}

static scores create_scores(void) {
  const size_t rows = SCORED;
  scores s = {malloc(sizeof(double) * rows),           malloc(sizeof(double) * rows),
              malloc(sizeof(double) * rows * CLASSES), malloc(sizeof(double) * rows),
              malloc(sizeof(double) * rows),           0};
  for (size_t i = 0; i < rows; ++i) {
    const double share = 0.5 + 0.49 * sin(0.37 * (double)i);
    s.first[i] = sin(1.3 * (double)i);
    s.second[i] = sin(1.7 * (double)i + 1);
    s.probabilities[CLASSES * i] = share;
    s.probabilities[CLASSES * i + 1] = s.probabilities[CLASSES * i + 2] = (1 - share) / 2;
    s.labels[i] = (double)(i % CLASSES);
  }
  return s;
}

static void free_scores(scores* s) {
  free(s->first);
  free(s->second);
  free(s->probabilities);
  free(s->labels);
  free(s->curve);
}

static void metrics_ask(void** state) {
  scores s = create_scores();
  host h = {0};
  (void)state;
  for (size_t k = 0; k < sizeof metrics / sizeof *metrics; ++k) {
    metric_call m = {&s, metrics[k].call};
    OK(timed(&h, metrics[k].name, take, &m));
  }
#ifndef SLOW /* there, the scores are so few that the call may end within the 10 ms between two questions */
  h.stop_at = h.asked + 2;
  metric_call cut = {&s, rank_scores};
  s.value = -1;
  assert_int_equal(timed(&h, "an AUROC that is cut", take, &cut), BDL_STOPPED);
  assert_true(s.value == -1);
#endif
  free_scores(&s);
  print_message("longest: %.0f ms\n", 1e3 * h.longest);
  assert_true(h.longest <= longest_gap);
}

/* Wherever a call is told to stop, its output has nothing of the result or all of it. */
static void results_are_whole(void** state) {
  scores s = create_scores();
  host h = {0};
  int stops = 0;
  bdl_status status = BDL_STOPPED;
  (void)state;
  for (; status == BDL_STOPPED; ++stops) {
    metric_call m = {&s, find_entropies};
    size_t written = 0;
    for (size_t i = 0; i < SCORED; ++i) s.curve[i] = -1;
    h.asked = 0;
    h.stop_at = stops + 1;
    status = timed(&h, "entropies that are cut", take, &m);
    for (size_t i = 0; i < SCORED; ++i) written += s.curve[i] != -1;
    assert_true(written == 0 || written == SCORED);
    assert_true(status == BDL_STOPPED || (status == BDL_OK && written == SCORED));
  }
#ifndef SLOW
  assert_true(stops > 2);
#endif
  free_scores(&s);
}

static char path[] = "/tmp/bdl-long-reads-XXXXXX";

typedef struct archive {
  bdl_posterior* posterior;
  void* bytes;
  int64_t size;
} archive;

static bdl_status save(void* argument) {
  return bdl_save(path, NULL, ((archive*)argument)->posterior, NULL);
}
static bdl_status save_bytes(void* argument) {
  archive* const a = argument;
  return bdl_save_bytes(NULL, a->posterior, NULL, a->bytes, a->size, &a->size);
}
static bdl_status load(void* argument) {
  (void)argument;
  bdl_posterior* loaded = NULL;
  const bdl_status status = bdl_load(path, NULL, NULL, &loaded, NULL);
  bdl_posterior_free(loaded);
  return status;
}
static bdl_status load_bytes(void* argument) {
  const archive* const a = argument;
  bdl_posterior* loaded = NULL;
  const bdl_status status = bdl_load_bytes(a->bytes, a->size, NULL, NULL, &loaded, NULL);
  bdl_posterior_free(loaded);
  return status;
}

/* A save that is cut leaves the old file. */
static void checkpoints_ask(void** state) {
  archive a = {NULL, NULL, 0};
  host h = {0};
  (void)state;
  OK(bdl_posterior_create_low_rank(BDL_F64, WIDE, RANK, &a.posterior));
  OK(timed(&h, "save", save, &a));
  OK(timed(&h, "load", load, &a));
#ifndef SLOW
  h.stop_at = h.asked + 1;
  assert_int_equal(timed(&h, "a save that is cut", save, &a), BDL_STOPPED);
#endif
  OK(timed(&h, "load", load, &a));
  OK(bdl_save_bytes(NULL, a.posterior, NULL, NULL, 0, &a.size));
  a.bytes = malloc((size_t)a.size);
  OK(timed(&h, "save in memory", save_bytes, &a));
  OK(timed(&h, "load from memory", load_bytes, &a));
  free(a.bytes);
  bdl_posterior_free(a.posterior);
  print_message("longest: %.0f ms\n", 1e3 * h.longest);
  assert_true(h.longest <= longest_gap);
}

typedef struct given {
  bdl_posterior* posterior;
  const char* names[1];
  bdl_matrix values[1];
} given;

static bdl_status set(void* argument) {
  given* const g = argument;
  return bdl_posterior_set_tensors(g->posterior, g->names, g->values, 1);
}

static void tensors_ask(void** state) {
  const size_t size = (size_t)ROOT * ROOT;
  double* const precision = calloc(size, sizeof(double));
  const char* name = NULL;
  int64_t rows = 0, cols = 0;
  given g = {NULL, {NULL}, {bdl_f64(precision, ROOT, ROOT)}};
  host h = {0};
  (void)state;
  for (size_t i = 0; i < ROOT; ++i) precision[i * ROOT + i] = 2;
  OK(bdl_posterior_create_full(BDL_F64, ROOT, &g.posterior));
  for (int64_t k = 0; k < bdl_posterior_tensor_count(g.posterior) && (rows != ROOT || cols != ROOT); ++k)
    OK(bdl_posterior_tensor_describe(g.posterior, k, &name, &rows, &cols, NULL));
  g.names[0] = name;
  OK(timed(&h, "set tensors", set, &g));
  bdl_posterior_free(g.posterior);
  free(precision);
  print_message("longest: %.0f ms\n", 1e3 * h.longest);
  assert_true(h.longest <= longest_gap);
}

static int32_t read_row(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x,
                        bdl_matrix_out y) {
  (void)user_data;
  for (int64_t i = 0; i < count; ++i) {
    if (x.data) ((double*)x.data)[i * x.row_stride] = (double)(rows[i] % 7);
    if (y.data) ((double*)y.data)[i * y.row_stride] = (double)(rows[i] % 2);
  }
  return 0;
}

static int32_t end_soon(void* user_data, const bdl_optimizer* optimizer) {
  (void)user_data;
  (void)optimizer;
  return 1;
}

typedef struct ordered {
  bdl_dataset* dataset;
  bdl_optimizer* optimizer;
} ordered;

static bdl_status fit(void* argument) {
  const ordered* const o = argument;
  return bdl_optimizer_fit_dataset(o->optimizer, o->dataset, 1, end_soon, NULL);
}

/* An epoch of millions of rows begins with their order. */
static void orders_ask(void** state) {
  const int64_t sizes[] = {1, 1};
  bdl_model* model = NULL;
  bdl_posterior* posterior = NULL;
  ordered o = {NULL, NULL};
  host h = {0};
  (void)state;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_BERNOULLI, &model));
  OK(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), 1, &posterior));
  OK(bdl_optimizer_create(model, posterior, "slang", ORDERED, &o.optimizer));
  OK(bdl_optimizer_set_int(o.optimizer, "minibatch", 100));
  OK(bdl_optimizer_set_int(o.optimizer, "progress_every", 1));
  OK(bdl_dataset_from_callback(ORDERED, 1, 1, read_row, NULL, NULL, &o.dataset));
  assert_int_equal(timed(&h, "fit", fit, &o), BDL_STOPPED);
  bdl_dataset_free(o.dataset);
  bdl_optimizer_free(o.optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
  print_message("longest: %.0f ms\n", 1e3 * h.longest);
  assert_true(h.longest <= longest_gap);
}

int test_long_reads(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(metrics_ask), cmocka_unit_test(results_are_whole),
                                     cmocka_unit_test(checkpoints_ask), cmocka_unit_test(tensors_ask),
                                     cmocka_unit_test(orders_ask)};
  int result;
  const int file = mkstemp(path);
  if (file == -1) return 1;
  (void)close(file);
  result = cmocka_run_group_tests(tests, NULL, NULL);
  (void)unlink(path);
  return result;
}
