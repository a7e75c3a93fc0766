// Optimizers in checkpoint files: the averages of a descent are read back as they were written, and wrong
// ones refused; options that a file does not have.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/course.hpp"

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

/// Read from what was written, which a file need not be: it may be damaged.
template <class T>
std::shared_ptr<Optimizer<T>> read_back(const Optimizer<T>& optimizer) {
  RecordWriter record;
  write_posterior<T>(record, *optimizer.posterior());
  write_optimizer(record, optimizer);
  const TensorArchive archive = parse_archive(serialize_archive(record.metadata(), record.tensors()));
  return load_checkpoint<T>(archive, nullptr).optimizer;
}

template <class T>
std::shared_ptr<Optimizer<T>> optimizer_with(Moments<T>&& moments) {
  auto optimizer =
      std::make_shared<Optimizer<T>>(nullptr, make_posterior<T>(dimension, 0), find_method("slang"), 10);
  optimizer->state.step = 20;
  optimizer->averages.moments.restore(std::move(moments));
  return optimizer;
}

template <class T>
std::shared_ptr<Optimizer<T>> through_a_file(Moments<T>&& moments) {
  return read_back(*optimizer_with(std::move(moments)));
}

template <class T>
void averages_survive_a_file(void**) {
  for (const Index size : {dimension, 2 * dimension})
    for (const bool has_second : {false, true}) {
      const Moments<T> expected = moments_of<T>(size, has_second, 0);
      const auto loaded = through_a_file(moments_of<T>(size, has_second, 0));
      const Moments<T>& got = loaded->averages.moments.now();
      assert_true(got.size == size && got.has_second() == has_second && got.steps == 12);
      assert_same("first", column_of(got.first.first(size)), column_of(expected.first.first(size)));
      if (has_second)
        assert_same("second", column_of(got.second.first(size)), column_of(expected.second.first(size)));
    }
  Moments<T> none = moments_of<T>(dimension, true, 0);
  none.steps = 0;
  assert_int_equal(through_a_file(std::move(none))->averages.moments.now().steps, 0);
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

/// A state that the reader would refuse is not written, and the old file stays.
template <class T>
void states_that_would_not_load_are_not_saved(void**) {
  char path[] = "/tmp/bdl-moments-XXXXXX";
  const int file = ::mkstemp(path);
  assert_true(file >= 0 && ::close(file) == 0);
  const auto good = optimizer_with(moments_of<T>(dimension, true, 0));
  save_checkpoint<T>(path, {nullptr, nullptr, good.get()});
  const auto refused = [&](const char* why, const Optimizer<T>& optimizer) {
    expect_error(Status::ERROR_INTERNAL, "nothing is written, and an older file stays", [&] {
      save_checkpoint<T>(path, {nullptr, nullptr, &optimizer});
    });
    expect_error(Status::ERROR_INTERNAL, why, [&] {
      serialize_checkpoint<T>({nullptr, nullptr, &optimizer});
    });
    assert_int_equal(load_checkpoint<T>(read_archive(path), nullptr).optimizer->state.step, 20);
  };
  refused("does not fit the mean", *optimizer_with(moments_of<T>(dimension + 1, true, 0)));
  refused("second_moments has a negative value", *optimizer_with(moments_of<T>(dimension, true, -1)));
  good->state.start_weight = 2;
  refused("contradict each other", *good);
  good->state.start_weight = not_a_number;
  refused("state.start_weight is not a number", *good);
  good->state.start_weight = 1;
  good->posterior()->mean()[1] = static_cast<T>(not_a_number);
  refused("tensor mean is not finite", *good);
  std::remove(path);
}

/// Counters of fits that never end, on data sets as large as there may be.
void large_counters_survive_a_file(void**) {
  const Index batches = Index{1} << 31, epochs = (Index{1} << 31) - 1;
  const auto model = make_network<double>({2, 1}, Likelihood(BDL_GAUSSIAN, 1));
  Optimizer<double> optimizer(model, make_posterior<double>(3, 0), find_method("slang"), batches);
  begin_course(optimizer, epochs, batches, batches);
  optimizer.state.epoch = epochs - 2;
  const auto bytes = serialize_checkpoint<double>({nullptr, nullptr, &optimizer});
  const TrainingState state = load_checkpoint<double>(parse_archive(bytes), nullptr).optimizer->state;
  assert_true(state.batches == batches && state.fit_end_epoch == epochs && state.epoch == epochs - 2);
  assert_true(state.plan == optimizer.state.plan && state.plan.end == epochs * batches);
  Optimizer<double> more(model, make_posterior<double>(3, 0), find_method("slang"), batches);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "expected at most 2^62 steps in all",
               [&] { begin_course(more, epochs, 2 * batches + 8, 2 * batches + 8); });
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

/// A checkpoint may say of an option that is no more what this version does; the name never gets a new
/// meaning.
void deleted_options_load_where_they_change_nothing(void**) {
  for (const DeletedOption& option : deleted_options()) {
    expect_error(Status::ERROR_UNKNOWN_OPTION, option.name, [&] { find_option(option.name); });
    const std::string key = std::string("option.") + option.name, name = std::string("\"") + option.name;
    const auto check = [&](const char* value) {
      const Metadata metadata = {{key, value}};
      check_deleted_options(RecordReader(metadata));
    };
    check(option.default_value);
    if (option.same_value) check(option.same_value);
    for (const char* value : {"", "no such value", "\x01"})
      expect_error(Status::ERROR_FORMAT, name.c_str(), [&] { check(value); });
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_optimizer_records() {
  const CMUnitTest tests[] = {BOTH(averages_survive_a_file),
                              BOTH(wrong_averages_are_refused),
                              BOTH(states_that_would_not_load_are_not_saved),
                              cmocka_unit_test(large_counters_survive_a_file),
                              cmocka_unit_test(files_without_a_scaling_of_the_prior_have_none),
                              cmocka_unit_test(deleted_options_load_where_they_change_nothing)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
