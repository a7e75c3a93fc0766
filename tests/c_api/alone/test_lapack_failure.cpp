// Every call of LAPACK fails once in training, by every method: the library reports it or does without, and
// training that was refused goes on to the same bits. The functions of this program stand in front of
// LAPACK's.
#include <dlfcn.h>
#include <lapacke.h>

#include "c_api/training_starts.hpp"

namespace {

long calls, failing;  // since arm(), and which of them fails

bool fails() {
  return ++calls == failing;
}

template <class F>
F* behind(const char* name) {
  static_assert(sizeof(F*) == sizeof(void*));
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define STAND_IN(name, arguments, values)                                       \
  extern "C" __attribute__((visibility("default"))) lapack_int name arguments { \
    static auto* const own = behind<lapack_int arguments>(#name);               \
    return fails() ? 1 : own values;                                            \
  }

STAND_IN(LAPACKE_dpotrf_work, (int m, char uplo, lapack_int n, double* a, lapack_int lda),
         (m, uplo, n, a, lda))
STAND_IN(LAPACKE_dgetrf_work, (int m, lapack_int r, lapack_int n, double* a, lapack_int lda, lapack_int* p),
         (m, r, n, a, lda, p))
STAND_IN(LAPACKE_dgetri_work,
         (int m, lapack_int n, double* a, lapack_int lda, const lapack_int* p, double* w, lapack_int l),
         (m, n, a, lda, p, w, l))
STAND_IN(LAPACKE_dgeqrf_work,
         (int m, lapack_int r, lapack_int n, double* a, lapack_int lda, double* tau, double* w, lapack_int l),
         (m, r, n, a, lda, tau, w, l))
STAND_IN(LAPACKE_sgeqrf_work,
         (int m, lapack_int r, lapack_int n, float* a, lapack_int lda, float* tau, float* w, lapack_int l),
         (m, r, n, a, lda, tau, w, l))
STAND_IN(LAPACKE_dorgqr_work,
         (int m, lapack_int r, lapack_int n, lapack_int k, double* a, lapack_int lda, const double* tau,
          double* w, lapack_int l),
         (m, r, n, k, a, lda, tau, w, l))
STAND_IN(LAPACKE_sorgqr_work,
         (int m, lapack_int r, lapack_int n, lapack_int k, float* a, lapack_int lda, const float* tau,
          float* w, lapack_int l),
         (m, r, n, k, a, lda, tau, w, l))
STAND_IN(LAPACKE_dsyevr_work,
         (int m, char job, char range, char uplo, lapack_int n, double* a, lapack_int lda, double vl,
          double vu, lapack_int il, lapack_int iu, double tol, lapack_int* found, double* w, double* z,
          lapack_int ldz, lapack_int* support, double* work, lapack_int lwork, lapack_int* iwork,
          lapack_int liwork),
         (m, job, range, uplo, n, a, lda, vl, vu, il, iu, tol, found, w, z, ldz, support, work, lwork, iwork,
          liwork))
STAND_IN(LAPACKE_dstevr_work,
         (int m, char job, char range, lapack_int n, double* d, double* e, double vl, double vu,
          lapack_int il, lapack_int iu, double tol, lapack_int* found, double* w, double* z, lapack_int ldz,
          lapack_int* support, double* work, lapack_int lwork, lapack_int* iwork, lapack_int liwork),
         (m, job, range, n, d, e, vl, vu, il, iu, tol, found, w, z, ldz, support, work, lwork, iwork, liwork))

namespace {

struct Counts {
  long refused = 0, recovered = 0;
};

void assert_finite(const char* method, const fuzz::Parts& parts) {
  const int64_t d = bdl_posterior_dimension(parts.posterior);
  std::vector<double> mean(static_cast<std::size_t>(d));
  OK(bdl_posterior_mean(parts.posterior, bdl_f64_out(mean.data(), 1, d)));
  for (const double value : mean)
    if (!std::isfinite(value)) fail_msg("%s: a mean of %g", method, value);
  assert_true(!fuzz::saved(parts).empty());
}

void fail_each(const char* method, const std::string& start, Counts& counts) {
  const bool stream = is_stream(method);
  fuzz::Parts undisturbed;
  load_start(start, undisturbed);
  const StartData data(undisturbed.model);
  calls = failing = 0;
  OK(train_on(stream, data, undisturbed.optimizer));
  const long all = calls;
  const std::string expected = fuzz::saved(undisturbed);
  for (long k = 1; k <= all; ++k) {
    fuzz::Parts parts;
    load_start(start, parts);
    calls = 0;
    failing = k;
    const bdl_status status = train_on(stream, data, parts.optimizer);
    failing = 0;
    assert_finite(method, parts);
    if (status == BDL_OK) {  // a step was shortened, a run-away taken back, or another way taken
      ++counts.recovered;
      continue;
    }
    ++counts.refused;
    if (status == BDL_STOPPED || !strstr(bdl_last_error(), ": "))
      fail_msg("%s gave %s (%s)", method, bdl_status_name(status), bdl_last_error());
    OK(train_on(stream, data, parts.optimizer));  // training that ran away goes on from its last good state
    if (status != BDL_ERROR_DIVERGED && fuzz::saved(parts) != expected)
      fail_msg("%s, call %ld of LAPACK: other bits after %s", method, k, bdl_last_error());
  }
}

void test_training(void**) {
  Counts counts;
  int combinations = 0;
  for (const char* network : {linear_network, hidden_network, image_network})
    combinations += for_each_start(
        network, [&](const char* method, const std::string& start) { fail_each(method, start, counts); });
  print_message("%d combinations: %ld failures reported, %ld recovered from\n", combinations, counts.refused,
                counts.recovered);
}

}  // namespace

int test_lapack_failure() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_training)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
