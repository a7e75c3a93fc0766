/* Hosts with processes and threads: they fork while a call runs, refuse threads, and give small
 * stacks. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "every_method.h"

/* A sanitizer's allocator may be locked over a fork: the child of such a build makes no call. */
#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum { WIDE = 20000, RANK = 20, FORKS = 300 };

static bdl_posterior* wide_posterior(void) {
  bdl_posterior* q = NULL;
  double* const u = malloc(sizeof(double) * WIDE * RANK);
  double* const mean = calloc(WIDE, sizeof(double));
  double* const d = malloc(sizeof(double) * WIDE);
  for (int i = 0; i < WIDE * RANK; ++i) u[i] = sin(i * 0.7);
  for (int i = 0; i < WIDE; ++i) d[i] = 1;
  OK(bdl_posterior_create_low_rank(BDL_F64, WIDE, RANK, &q));
  OK(bdl_posterior_set_low_rank(q, bdl_f64(mean, 1, WIDE), bdl_f64(u, WIDE, RANK), bdl_f64(d, 1, WIDE)));
  free(u);
  free(mean);
  free(d);
  return q;
}

/* Large triangular solves, products and a factorisation. */
static bdl_status work_hard(const bdl_posterior* q, double* out) {
  bdl_status status = bdl_posterior_marginal_variance(q, bdl_f64_out(out, 1, WIDE));
  if (status == BDL_OK) status = bdl_posterior_sample(q, 1, 0, bdl_f64_out(out + WIDE, 1, WIDE));
  return status;
}

typedef struct worker {
  const bdl_posterior* posterior;
  double* out;
  int calls, failed, stop;
} worker;

static void* work(void* argument) {
  worker* const w = argument;
  while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
    if (work_hard(w->posterior, w->out) != BDL_OK) __atomic_add_fetch(&w->failed, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&w->calls, 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Until a call has returned since then, or ten seconds have gone. */
static int returns_after(const worker* w, int calls) {
  const struct timespec pause = {0, 500000};
  for (int i = 0; i < 20000; ++i) {
    if (__atomic_load_n(&w->calls, __ATOMIC_ACQUIRE) != calls) return 1;
    (void)nanosleep(&pause, NULL);
  }
  return 0;
}

static void calls_go_on_when_another_thread_forks(void** state) {
  bdl_posterior* const q = wide_posterior();
  double* const out = malloc(4 * sizeof(double) * WIDE); /* this thread's, the child's */
  worker w = {q, out, 0, 0, 0};
  pthread_t thread;
  int status = 0;
  (void)state;
  assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
  assert_true(returns_after(&w, 0));
  for (int i = 0; i < FORKS; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      (void)alarm(20);
      _exit(SANITIZED || work_hard(q, out + 2 * WIDE) == BDL_OK ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(returns_after(&w, __atomic_load_n(&w.calls, __ATOMIC_ACQUIRE)));
  }
  __atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(w.failed, 0);
  bdl_posterior_free(q);
  free(out);
}

/* In a forked child that gets no thread: returns 0 if results are the parent's and nothing was printed. */
static int works_alone(const bdl_posterior* q, const double* expected, double* out, int printed) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0 || dup2(printed, 1) < 0 || dup2(printed, 2) < 0) return 3;
  if (getuid() == 0 && setuid(54321) != 0) return 4; /* root has no limits */
  if (work_hard(q, out) != BDL_OK) return 5;
  return memcmp(out, expected, 2 * sizeof(double) * WIDE) == 0 ? 0 : 6;
}

static void refused_threads_are_done_without(void** state) {
  bdl_posterior* const q = wide_posterior();
  double* const expected = malloc(2 * sizeof(double) * WIDE);
  double* const out = malloc(2 * sizeof(double) * WIDE);
  FILE* const printed = tmpfile();
  int status = 0;
  (void)state;
  assert_non_null(printed);
  OK(work_hard(q, expected));
  const pid_t child = fork();
  if (child == 0) _exit(works_alone(q, expected, out, fileno(printed)));
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status)); /* no signal */
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_int_equal(lseek(fileno(printed), 0, SEEK_END), 0);
  assert_int_equal(fclose(printed), 0);
  bdl_posterior_free(q);
  free(expected);
  free(out);
}

typedef struct course {
  bdl_status wide;
  int runs, failed;
} course;

/* Every method, predictions and the large solves. */
static void* run_on_a_small_stack(void* argument) {
  course* const c = argument;
  bdl_posterior* const q = wide_posterior();
  double* const out = malloc(2 * sizeof(double) * WIDE);
  const dataset data = data_for(BDL_GAUSSIAN);
  const int64_t sizes[] = {INPUTS, 3, 2};
  c->wide = work_hard(q, out);
  for (int64_t i = 0; bdl_method_name(i); ++i)
    for (int family = 0; family <= FAMILIES; ++family) {
      learner l;
      if (!learner_create(bdl_method_name(i), family, 2, sizes, 3, BDL_GAUSSIAN, ROWS, &l)) continue;
      ++c->runs;
      if (learn(&l, bdl_method_name(i), x_of(&data), y_of(&data), 8) != BDL_OK) {
        print_error("%s, family %d: %s\n", bdl_method_name(i), family, bdl_last_error());
        ++c->failed;
      }
      c->failed += bdl_predict(l.model, l.posterior, x_of(&data), BDL_MONTE_CARLO, 3, 1,
                               bdl_f64_out(out, ROWS, 2), bdl_none_out(), bdl_none_out()) != BDL_OK;
      learner_free(&l);
    }
  bdl_posterior_free(q);
  free(out);
  return NULL;
}

static void small_stacks_suffice(void** state) {
  course c = {BDL_OK, 0, 0};
  pthread_attr_t attributes;
  pthread_t thread;
  (void)state;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, 160 * 1024), 0);
  assert_int_equal(pthread_create(&thread, &attributes, run_on_a_small_stack, &c), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(pthread_attr_destroy(&attributes), 0);
  assert_int_equal(c.wide, BDL_OK);
  assert_true(c.runs > 50);
  assert_int_equal(c.failed, 0);
}

int test_host_threads(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_go_on_when_another_thread_forks),
                                     cmocka_unit_test(refused_threads_are_done_without),
                                     cmocka_unit_test(small_stacks_suffice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
