// Optimizers in checkpoint files: the averages of a descent are read back as they were written, and wrong
// ones refused; options that a file does not have.
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
  out.kind = has_second ? DescentOption::adam : DescentOption::sgd;
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
      assert_true(got.size == size && got.has_second() == has_second && got.steps == 12);
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

/// Version 0.1 had no option "prior_scaling": its streams of networks go on with the prior that they had.
void files_without_a_scaling_of_the_prior_have_none(void**) {
  const auto model = make_network<double>({2, 3, 1}, Likelihood(BDL_GAUSSIAN, 1));
  Optimizer<double> optimizer(model, make_posterior<double>(13, 1), find_method("lo-fi"), 1);
  assert_true(optimizer.options().prior_scaling == PriorScaling::fan_in);
  RecordWriter record;
  write_optimizer(record, optimizer);
  Metadata metadata = record.metadata();
  const auto load = [&] {
    TensorMap tensors;
    for (const Tensor& tensor : record.tensors()) tensors.emplace(tensor.name, tensor);
    const TensorArchive archive(metadata, tensors, {});
    return read_optimizer<double>(RecordReader(archive), model, make_posterior<double>(13, 1));
  };
  assert_same("as saved", column_of(load()->prior().precision()), column_of(optimizer.prior().precision()));
  assert_int_equal(metadata.erase("option.prior_scaling"), 1);
  const auto old = load();
  assert_true(old->options().prior_scaling == PriorScaling::unit);
  assert_close("without", column_of(old->prior().precision()), Dense(13, 1, 1), 0);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_optimizer_records() {
  const CMUnitTest tests[] = {BOTH(averages_survive_a_file), BOTH(wrong_averages_are_refused),
                              cmocka_unit_test(files_without_a_scaling_of_the_prior_have_none)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
