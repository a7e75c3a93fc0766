// Every Cholesky factorisation and eigenproblem fails once in training, by every method: the library reports
// it or does without, and training that was refused goes on to identical results. This program has the
// library's objects, and the linker puts its functions in front of theirs (--wrap).
#include "c_api/training_starts.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/eigen/eigenpairs.hpp"

namespace {

long calls, failing;  // since the start of a training, and which of them fails

bool fails() {
  return ++calls == failing;
}

}  // namespace

#define CHOLESKY "_ZN3bdl8choleskyENS_10MatrixViewIdEE"
#define EIGEN "_ZN3bdl18largest_eigenpairsENS_10MatrixViewIKdEEPdNS0_IdEERNS_7ScratchENS_4SimdE"

namespace bdl {

using Factor = bool(MatrixView<double> a);
using Pairs = bool(ConstMatrixView<double> a, double* values, MatrixView<double> vectors, Scratch& scratch,
                   Simd simd);

Factor own_cholesky __asm__("__real_" CHOLESKY);
Factor stand_in_cholesky __asm__("__wrap_" CHOLESKY);
Pairs own_pairs __asm__("__real_" EIGEN);
Pairs stand_in_pairs __asm__("__wrap_" EIGEN);

bool stand_in_cholesky(MatrixView<double> a) {
  return !fails() && own_cholesky(a);
}
bool stand_in_pairs(ConstMatrixView<double> a, double* values, MatrixView<double> vectors, Scratch& scratch,
                    Simd simd) {
  return !fails() && own_pairs(a, values, vectors, scratch, simd);
}

}  // namespace bdl

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
    if (status == BDL_OK) {  // a step was shortened, a divergence taken back, or another method used
      ++counts.recovered;
      continue;
    }
    ++counts.refused;
    if (status == BDL_STOPPED || !strstr(bdl_last_error(), ": "))
      fail_msg("%s gave %s (%s)", method, bdl_status_name(status), bdl_last_error());
    OK(train_on(stream, data, parts.optimizer));  // training that diverged goes on from its last good state
    if (status != BDL_ERROR_DIVERGED && fuzz::saved(parts) != expected)
      fail_msg("%s, solver %ld: other bits after %s", method, k, bdl_last_error());
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

int test_solver_failure() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_training)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
