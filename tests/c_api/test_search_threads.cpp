// Folds on three threads have exactly the scores of one, even if two searches run at once; custom models stay
// on the thread of the call; any thread may stop a search.
#include <array>
#include <atomic>
#include <thread>

#include "search_runs.hpp"

namespace {

Vector searched(bdl_dtype dtype, int64_t threads) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(dtype, BDL_GAUSSIAN, threads);
  const Search search = search_of_three(prototype);
  OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 3, 3, nullptr, nullptr));
  return all_trials(search, 3);
}

void three_threads_have_the_bits_of_one(void**) {
  for (const bdl_dtype dtype : {BDL_F64, BDL_F32}) {
    const Vector expected = searched(dtype, 1);
    std::array<Vector, 3> got;
    got[0] = searched(dtype, 3);
    std::thread first([&] { got[1] = searched(dtype, 3); }), second([&] { got[2] = searched(dtype, 2); });
    first.join();
    second.join();
    for (const Vector& values : got) assert_true(values == expected);
  }
}

struct Plan {
  int64_t workers, parallel_trials;
  std::vector<std::array<int64_t, 2>> runs;  ///< random, Bayesian trials
};

Vector searched(const Plan& plan) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, 2);
  const Search search = search_of_three(prototype);
  OK(bdl_search_set_workers(search.get(), plan.workers));
  OK(bdl_search_set_parallel_trials(search.get(), plan.parallel_trials));
  for (const auto& [random, bayesian] : plan.runs)
    OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), random, bayesian, nullptr, nullptr));
  return all_trials(search, 3);
}

/// Any number of workers, and any runs that a search is made in; Bayesian trials depend on parallel_trials.
void workers_do_not_matter(void**) {
  const Vector alone = searched(Plan{1, 1, {{3, 4}}}), batches = searched(Plan{1, 3, {{3, 4}}});
  assert_true(searched(Plan{4, 1, {{3, 4}}}) == alone);
  assert_true(searched(Plan{0, 1, {{1, 0}, {2, 3}, {0, 1}}}) == alone);
  for (const int64_t workers : {2, 3, 7}) assert_true(searched(Plan{workers, 3, {{3, 4}}}) == batches);
  assert_true(searched(Plan{4, 3, {{2, 0}, {1, 1}, {0, 1}, {0, 2}}}) == batches);
  const std::ptrdiff_t first = 4 * 5;  // the first of a batch is that of no batch
  assert_true(std::equal(alone.begin(), alone.begin() + first, batches.begin()));
  assert_true(alone != batches);
}

struct StopAt {
  int64_t count;
  std::thread::id thread = std::this_thread::get_id();
  int64_t seen = 0;
  bool in_order = true;
};

int32_t stop_at(void* user_data, const bdl_search* search) {
  StopAt& stop = *static_cast<StopAt*>(user_data);
  stop.in_order = stop.in_order && std::this_thread::get_id() == stop.thread &&
                  bdl_search_trial_count(search) == ++stop.seen;
  return stop.seen == stop.count;
}

/// Progress is reported in order on the thread of the call, and its stop leaves as many trials by any number
/// of workers.
void progress_is_in_order(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  const Vector all = searched(Plan{1, 4, {{6, 6}}});
  for (const int64_t workers : {1, 5})
    for (const int64_t count : {2, 9}) {
      const Search search = search_of_three(prototype);
      OK(bdl_search_set_workers(search.get(), workers));
      OK(bdl_search_set_parallel_trials(search.get(), 4));
      StopAt stop{count}, never{100};
      assert_int_equal(bdl_search_run(search.get(), x_of(&data), y_of(&data), 6, 6, stop_at, &stop),
                       BDL_STOPPED);
      assert_true(stop.in_order && stop.seen == count);
      assert_int_equal(bdl_search_trial_count(search.get()), count);
      never.seen = count;
      OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), std::max<int64_t>(6 - count, 0),
                        std::min<int64_t>(12 - count, 6), stop_at, &never));
      assert_true(never.in_order && never.seen == 12);
      assert_true(all_trials(search, 3) == all);
    }
}

/// Failures in several folds at once: the first fold's message, whichever came first.
void messages_do_not_depend_on_threads(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  std::string expected;
  for (const int64_t threads : {1, 3, 3, 3}) {
    Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, threads);
    prototype.set("minibatch", 1000);
    const Search search = make_search(prototype);
    OK(bdl_search_add_double(search.get(), "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
    OK(bdl_search_run(search.get(), x_of(&data), y_of(&data), 1, 0, nullptr, nullptr));
    const std::string message = trial_of(search, 0, 1).message;
    if (expected.empty()) expected = message;
    assert_string_equal(message.c_str(), expected.c_str());
    assert_true(message.find("fold 1 of 3: option \"minibatch\"") == 0);
  }
}

struct Caller {
  std::thread::id thread = std::this_thread::get_id();
  std::atomic<int> calls{0}, elsewhere{0};
};

/// f = theta_0.
int32_t constant_outputs(void* user_data, bdl_matrix theta, bdl_matrix, bdl_matrix_out f) {
  Caller& caller = *static_cast<Caller*>(user_data);
  ++caller.calls;
  caller.elsewhere += std::this_thread::get_id() != caller.thread;
  for (int64_t i = 0; i < f.rows; ++i)
    static_cast<double*>(f.data)[i * f.row_stride] = *static_cast<const double*>(theta.data);
  return 0;
}

int32_t constant_gradients(void* user_data, bdl_matrix, bdl_matrix, bdl_matrix seeds, bdl_matrix_out rows) {
  Caller& caller = *static_cast<Caller*>(user_data);
  caller.elsewhere += std::this_thread::get_id() != caller.thread;
  for (int64_t i = 0; i < rows.rows; ++i)
    static_cast<double*>(rows.data)[i * rows.row_stride] =
        static_cast<const double*>(seeds.data)[i * seeds.row_stride];
  return 0;
}

void callbacks_stay_on_their_thread(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  Caller caller;
  bdl_model* model = nullptr;
  OK(create_user(BDL_F64, INPUTS, 1, 1, BDL_GAUSSIAN, constant_outputs, constant_gradients, &caller, nullptr,
                 &model));
  Learner prototype(Model(model), BDL_F64, 0, ROWS);
  prototype.set("threads", 3);
  const Search search = make_search(prototype);
  OK(bdl_search_set_workers(search.get(), 3));
  OK(bdl_search_add_double(search.get(), "prior_precision", 0.01, 100, BDL_SCALE_LOG));
  OK(bdl_search_run(search.get(), x_of(&data), bdl_strided(data.y, BDL_F64, ROWS, 1, data.targets, 1), 2, 0,
                    nullptr, nullptr));
  assert_string_equal(trial_of(search, 0, 1).message.c_str(), "");
  assert_true(caller.calls > 0);
  assert_int_equal(caller.elsewhere, 0);
}

int32_t started(void* user_data, const bdl_search*) {
  *static_cast<std::atomic<bool>*>(user_data) = true;
  return 0;
}

/// Without the stop this would take days; the trial in training is given up.
void stops_come_from_any_thread(void**) {
  const dataset data = data_for(BDL_GAUSSIAN);
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN, 3);
  const Search search = search_of_three(prototype);
  std::atomic<bool> running{false};
  std::thread stopper([&] {
    while (!running) std::this_thread::yield();
    bdl_search_request_stop(search.get());
  });
  assert_int_equal(bdl_search_run(search.get(), x_of(&data), y_of(&data), 1000000, 0, started, &running),
                   BDL_STOPPED);
  stopper.join();
  assert_true(bdl_search_trial_count(search.get()) >= 1 && bdl_search_trial_count(search.get()) < 1000000);

  bdl_search* handle = nullptr;
  OK(bdl_search_create(prototype.optimizer.get(), folds, 100000000, BDL_MONTE_CARLO, samples, seed, &handle));
  const Search endless(handle);
  OK(bdl_search_add_double(handle, "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    bdl_search_request_stop(handle);
  });
  assert_int_equal(bdl_search_run(handle, x_of(&data), y_of(&data), 1, 0, nullptr, nullptr), BDL_STOPPED);
  later.join();
  assert_int_equal(bdl_search_trial_count(handle), 0);
}

}  // namespace

int test_search_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(three_threads_have_the_bits_of_one),
      cmocka_unit_test(workers_do_not_matter),
      cmocka_unit_test(progress_is_in_order),
      cmocka_unit_test(messages_do_not_depend_on_threads),
      cmocka_unit_test(callbacks_stay_on_their_thread),
      cmocka_unit_test(stops_come_from_any_thread),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
