// The averages of a descent in checkpoint files: what is read back is what was written, and wrong ones are
// refused.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index dimension = 5;

template <class T>
Moments<T> moments_of(Index size, bool has_second, double lowest) {
  Moments<T> out;
  out.first.reserve(size);
  out.second.reserve(size);
  for (Index i = 0; i < size; ++i) {
    out.first.data()[i] = static_cast<T>(std::sin(static_cast<double>(i)));
    out.second.data()[i] = static_cast<T>(lowest + static_cast<double>(i));
  }
  out.size = size;
  out.has_second = has_second;
  out.steps = 12;
  return out;
}

template <class T>
std::shared_ptr<Optimizer<T>> through_a_file(Moments<T>&& moments) {
  char path[] = "/tmp/bdl-moments-XXXXXX";
  const int file = ::mkstemp(path);
  assert_true(file >= 0 && ::close(file) == 0);
  Optimizer<T> optimizer(nullptr, make_posterior<T>(dimension, 0), find_method("slang"), 10);
  optimizer.state.step = 20;
  optimizer.first_order().restore(std::move(moments));
  save_checkpoint<T>(path, {nullptr, nullptr, &optimizer});
  const TensorArchive archive = read_archive(path);
  std::remove(path);
  return load_checkpoint<T>(archive, nullptr).optimizer;
}

template <class T>
void averages_survive_a_file(void**) {
  for (const Index size : {dimension, 2 * dimension})
    for (const bool has_second : {false, true}) {
      const Moments<T> expected = moments_of<T>(size, has_second, 0);
      const auto loaded = through_a_file(moments_of<T>(size, has_second, 0));
      const Moments<T>& got = loaded->first_order().moments();
      assert_true(got.size == size && got.has_second == has_second && got.steps == 12);
      assert_same("first", column_of(got.first.first(size)), column_of(expected.first.first(size)));
      if (has_second)
        assert_same("second", column_of(got.second.first(size)), column_of(expected.second.first(size)));
    }
  Moments<T> none = moments_of<T>(dimension, true, 0);
  none.steps = 0;
  assert_int_equal(through_a_file(std::move(none))->first_order().moments().steps, 0);
}

template <class T>
void wrong_averages_are_refused(void**) {
  expect_error(Status::ERROR_FORMAT, "does not fit the mean",
               [] { through_a_file(moments_of<T>(dimension + 1, true, 0)); });
  expect_error(Status::ERROR_FORMAT, "second_moments has a negative value",
               [] { through_a_file(moments_of<T>(dimension, true, -1)); });
  expect_error(Status::ERROR_FORMAT, "second_moments",
               [] { through_a_file(moments_of<T>(dimension, true, not_a_number)); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int main() {
  const CMUnitTest tests[] = {BOTH(averages_survive_a_file), BOTH(wrong_averages_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
