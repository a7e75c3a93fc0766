// Every allocation of a search fails once: the call reports it, leaks nothing, keeps the trials that were
// completed, and the search goes on to the same results when memory is back.
#include <climits>

#include "c_api/failing_allocator.hpp"
#include "c_api/search_runs.hpp"

namespace {

void assert_reported(bdl_status status, const char* function) {
  if (status != BDL_ERROR_OUT_OF_MEMORY || strncmp(bdl_last_error(), function, strlen(function)) != 0 ||
      !strstr(bdl_last_error(), "out of memory"))
    fail_msg("%s gave %s (%s)", function, bdl_status_name(status), bdl_last_error());
}

/// call() succeeds when no allocation fails any more. Returns how many it makes.
template <class Call>
long fail_each(const char* function, bool all_later, Call call) {
  long k = 0;
  for (bdl_status status = BDL_ERROR_INTERNAL; status != BDL_OK;) {
    ++k;
    allocator::arm(k, all_later ? LONG_MAX : k);
    status = call();
    allocator::disarm();
    if (status != BDL_OK) assert_reported(status, function);
    assert_true(k < 10000);
  }
  return k - 1;
}

void small_calls(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, 1);
  for (const bool all_later : {false, true}) {
    bdl_search* handle = nullptr;
    const long live = allocator::live;
    assert_true(fail_each("bdl_search_create", all_later, [&] {
                  const bdl_status status = bdl_search_create(prototype.optimizer.get(), folds, 1,
                                                              BDL_MONTE_CARLO, 1, seed, &handle);
                  assert_int_equal(handle != nullptr, status == BDL_OK);
                  if (!handle) assert_int_equal(allocator::live, live);
                  return status;
                }) > 5);
    const Search search(handle);
    fail_each("bdl_search_add_double", all_later,
              [&] { return bdl_search_add_double(handle, "prior_precision", 0.1, 10, BDL_SCALE_LOG); });
    fail_each("bdl_search_add_int", all_later,
              [&] { return bdl_search_add_int(handle, "samples", 1, 3, BDL_SCALE_LINEAR); });
    fail_each("bdl_search_add_choice", all_later,
              [&] { return bdl_search_add_choice(handle, "prior_groups", "shared | weights_biases"); });
    OK(bdl_search_run(handle, x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
    fail_each("bdl_search_apply", all_later,
              [&] { return bdl_search_apply(handle, 0, prototype.optimizer.get()); });
    Vector fold(ROWS);
    fail_each("bdl_search_folds", all_later,
              [&] { return bdl_search_folds(handle, bdl_f64_out(fold.data(), ROWS, 1)); });
  }
}

Search small_search(const Learner& prototype) {
  bdl_search* handle = nullptr;
  OK(bdl_search_create(prototype.optimizer.get(), 2, 1, BDL_MONTE_CARLO, 1, seed, &handle));
  OK(bdl_search_add_double(handle, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
  return Search(handle);
}

/// The third trial, chosen by expected improvement, fails at every allocation in turn.
void runs(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, 1);
  prototype.set("minibatch", 12);
  prototype.set("samples", 1);
  const Search undisturbed = small_search(prototype);
  OK(bdl_search_run(undisturbed.get(), x_of(&data), y_of(&data), 2, 1, nullptr, nullptr));
  for (const bool all_later : {false, true}) {
    const Search search = small_search(prototype);
    OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 2, 0, nullptr, nullptr));
    const long live = allocator::live;
    const long count = fail_each("bdl_search_run", all_later, [&] {
      const bdl_status status =
          bdl_search_run(search.get(), x_of(&data), y_of(&data), 0, 1, nullptr, nullptr);
      if (status != BDL_OK) {
        assert_int_equal(bdl_search_trial_count(search.get()), 2);
        assert_int_equal(allocator::live, live);
      }
      return status;
    });
    assert_true(count > 50);
    assert_true(all_trials(search, 1) == all_trials(undisturbed, 1));
  }
}

int32_t gather_alone(void*, const void* send, int64_t size, void* receive, const int64_t*) {
  memcpy(receive, send, static_cast<std::size_t>(size));
  return 0;
}

int32_t exchange_alone(void*, int32_t, const void*, int64_t, void*, int64_t) {
  return 1;
}

/// As above, with a batch of two trials, whose points and results are sent to ranks.
void batches_of_ranks(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, 1);
  prototype.set("minibatch", 12);
  prototype.set("samples", 1);
  Vector expected;
  for (const bool all_later : {false, true}) {
    const Search search = small_search(prototype);
    bdl_communicator* ranks = nullptr;
    OK(bdl_communicator_create(0, 1, gather_alone, exchange_alone, nullptr, nullptr, &ranks));
    fail_each("bdl_search_set_communicator", all_later,
              [&] { return bdl_search_set_communicator(search.get(), ranks); });
    bdl_communicator_free(ranks);
    OK(bdl_search_set_parallel_trials(search.get(), 2));
    OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 2, 0, nullptr, nullptr));
    const long count = fail_each("bdl_search_run", all_later, [&] {
      const bdl_status status =
          bdl_search_run(search.get(), x_of(&data), y_of(&data), 0, 2, nullptr, nullptr);
      if (status != BDL_OK) assert_int_equal(bdl_search_trial_count(search.get()), 2);
      return status;
    });
    assert_true(count > 50);
    if (expected.empty()) expected = all_trials(search, 1);
    assert_true(all_trials(search, 1) == expected);
  }
}

}  // namespace

int test_search_allocation() {
  const CMUnitTest tests[] = {cmocka_unit_test(small_calls), cmocka_unit_test(runs),
                              cmocka_unit_test(batches_of_ranks)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
