// Posteriors of the families with full covariance in checkpoint files: what is read back is what was written.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

class TemporaryFile {
 public:
  TemporaryFile() {
    const int file = ::mkstemp(path_);
    assert_true(file >= 0 && ::close(file) == 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_); }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/bdl-posterior-XXXXXX";
};

template <class T>
void posteriors_survive_a_file(void**) {
  for (const Family family : {Family::full, Family::full_moment}) {
    Random random(1);
    const auto q = posterior_of<T>(family, random_gaussian<T>(6, random));
    for (const bool blank : {false, true}) {
      const TemporaryFile file;
      q->set_blank(blank);
      save_checkpoint<T>(file.path(), {nullptr, q.get(), nullptr});
      const auto loaded = load_checkpoint<T>(read_archive(file.path()), nullptr).posterior;
      assert_true(loaded->family() == family && loaded->is_blank() == blank);
      const Gaussian got = gaussian_of(*loaded), expected = gaussian_of(*q);
      assert_same("mean", got.mean, expected.mean);
      assert_same("precision", got.precision, expected.precision);
      assert_same("covariance", got.covariance, expected.covariance);
    }
  }
}

template <class T>
void unsymmetric_covariances_are_not_saved(void**) {
  StepProblem<T> problem(Family::full, 4, PriorForm::none, CurvatureForm::few_rows, 2);
  auto step = problem.step(Descent::plain);
  step.unsymmetric = true;
  FullPosterior<T> q(4);
  UpdateWorkspace<T> workspace;
  q.take(step, workspace);
  RecordWriter record;
  expect_error(Status::ERROR_UNSUPPORTED, "not symmetric", [&] { write_posterior<T>(record, q); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_posterior_records() {
  const CMUnitTest tests[] = {BOTH(posteriors_survive_a_file), BOTH(unsymmetric_covariances_are_not_saved)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
