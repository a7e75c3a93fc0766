// Searches by several ranks: the same trials on any number of ranks and workers; where one rank fails,
// differs or stops, all leave with the same trials, and the search goes on.
#include <atomic>

#include "rank_runs.hpp"
#include "search_runs.hpp"

namespace {

struct SearchResult {
  bdl_status status = BDL_OK;
  std::string words;
  Vector trials;
};

Search search_for_ranks(int64_t parallel_trials = 2) {
  const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
  Search search = search_of_three(prototype);
  OK(bdl_search_set_parallel_trials(search.get(), parallel_trials));
  return search;
}

bdl_status run_on(bdl_search* search, int64_t random, int64_t bayesian,
                  bdl_search_progress_fn progress = nullptr, void* user_data = nullptr) {
  const dataset data = data_for(BDL_GAUSSIAN);
  return bdl_search_run(search, x_of(&data), y_of(&data), random, bayesian, progress, user_data);
}

/// call(search, rank) on each rank.
template <class Create, class Call>
std::vector<SearchResult> search_on(RankThreads& threads, Create create, Call call) {
  std::vector<SearchResult> results(static_cast<std::size_t>(threads.size()));
  threads.run([&](RankThreads::Rank& rank) {
    SearchResult& result = results[static_cast<std::size_t>(rank.number)];
    const Search search = create(rank.number);
    const Ranks ranks = communicator_of(rank);
    result.status = bdl_search_set_communicator(search.get(), ranks.get());
    if (result.status == BDL_OK) result.status = call(search.get(), rank.number);
    if (result.status != BDL_OK) result.words = bdl_last_error();
    result.trials = all_trials(search, 3);
  });
  return results;
}

template <class Create, class Call>
std::vector<SearchResult> search_on(int count, Create create, Call call) {
  RankThreads threads(count);
  return search_on(threads, create, call);
}

Vector alone(int64_t random, int64_t bayesian) {
  const Search search = search_for_ranks();
  OK(run_on(search.get(), random, bayesian));
  return all_trials(search, 3);
}

void assert_results(const std::vector<SearchResult>& results, bdl_status status, const Vector& trials) {
  for (const SearchResult& result : results) {
    if (result.status != status) fail_msg("%s: %s", bdl_status_name(result.status), result.words.c_str());
    assert_true(result.trials == trials);
  }
}

/// `own` and the word on the rank that fails, BDL_ERROR_PEER with its words on the others.
void assert_peer(const std::vector<SearchResult>& results, std::size_t failing, bdl_status own,
                 const char* word, const Vector& trials) {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const SearchResult& result = results[r];
    if (result.status != (r == failing ? own : BDL_ERROR_PEER))
      fail_msg("rank %d has %s: %s", static_cast<int>(r), bdl_status_name(result.status),
               result.words.c_str());
    if (!strstr(result.words.c_str(), word)) fail_msg("%s", result.words.c_str());
    assert_true(result.trials == trials);
  }
}

Search common_search(int) {
  return search_for_ranks();
}

void ranks_and_workers_do_not_matter(void**) {
  const Vector expected = alone(3, 4);
  for (const int count : {1, 2, 3, 4})
    for (const int64_t workers : {1, 2}) {
      const auto results = search_on(count, common_search, [&](bdl_search* search, int rank) {
        bdl_search_set_workers(search, rank == 1 ? 1 : workers);
        const bdl_status status = run_on(search, 2, 0);
        return status == BDL_OK ? run_on(search, 1, 4) : status;
      });
      assert_results(results, BDL_OK, expected);
    }
}

/// Failing trials have the same messages; so has a search that goes on alone.
void failing_trials_are_the_same(void**) {
  const auto create = [](int) {
    Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
    prototype.set("minibatch", 1000);
    return search_of_three(prototype);
  };
  const Search here = create(0);
  OK(run_on(here.get(), 2, 2));
  std::array<std::string, 3> messages;
  const auto results = search_on(3, create, [&](bdl_search* search, int rank) {
    bdl_status status = run_on(search, 2, 0);
    bdl_search_set_communicator(search, nullptr);
    if (status == BDL_OK) status = run_on(search, 0, 2);
    const char* message = "";
    bdl_search_trial(search, 1, bdl_none_out(), nullptr, nullptr, &message);
    messages[static_cast<std::size_t>(rank)] = message;
    return status;
  });
  assert_results(results, BDL_OK, all_trials(here, 3));
  for (const std::string& message : messages)
    assert_string_equal(message.c_str(), trial_of(here, 1, 3).message.c_str());
}

template <class Create, class Call>
void expect_difference(const char* word, Create create, Call call) {
  for (const SearchResult& result : search_on(3, create, call)) {
    if (result.status != BDL_ERROR_INVALID_ARGUMENT || !strstr(result.words.c_str(), word) ||
        !strstr(result.words.c_str(), "process 1 of 3 differs"))
      fail_msg("%s: %s, expected \"%s\"", bdl_status_name(result.status), result.words.c_str(), word);
    assert_true(result.trials.empty());
  }
}

bdl_status run_two(bdl_search* search, int) {
  return run_on(search, 2, 0);
}

void differences_are_named(void**) {
  const auto odd = [](const char* options) {
    return [=](int rank) {
      const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
      if (rank == 1) OK(bdl_optimizer_set_text(prototype.optimizer.get(), options));
      return search_of_three(prototype);
    };
  };
  expect_difference("option \"momentum\"", odd("momentum=0.25"), run_two);
  expect_difference(
      "parallel_trials", [](int rank) { return search_for_ranks(rank == 1 ? 3 : 2); }, run_two);
  expect_difference(
      "seed of the search",
      [](int rank) {
        const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
        bdl_search* search = nullptr;
        OK(bdl_search_create(prototype.optimizer.get(), folds, epochs, BDL_MONTE_CARLO, samples,
                             seed + (rank == 1), &search));
        OK(bdl_search_add_double(search, "momentum", 0, 0.5, BDL_SCALE_LINEAR));
        OK(bdl_search_add_double(search, "learning_rate", 0.01, 0.5, BDL_SCALE_LOG));
        OK(bdl_search_add_double(search, "prior_precision", 0.01, 0.5, BDL_SCALE_LOG));
        return Search(search);
      },
      run_two);
  expect_difference(
      "ranges",
      [](int rank) {
        const Learner prototype = prototype_for(BDL_F64, BDL_GAUSSIAN);
        Search search = make_search(prototype);
        OK(bdl_search_add_double(search.get(), "momentum", 0, 0.5, BDL_SCALE_LINEAR));
        OK(bdl_search_add_int(search.get(), "samples", 1, rank == 1 ? 4 : 5, BDL_SCALE_LINEAR));
        OK(bdl_search_add_double(search.get(), "learning_rate", 0.01, 0.5, BDL_SCALE_LOG));
        return search;
      },
      run_two);
  expect_difference("bayesian_trials", common_search,
                    [](bdl_search* search, int rank) { return run_on(search, 2, rank == 1); });
  expect_difference("numbers in x or y", common_search, [](bdl_search* search, int rank) {
    dataset data = data_for(BDL_GAUSSIAN);
    if (rank == 1) data.x[7] += 1e-9;
    return bdl_search_run(search, x_of(&data), y_of(&data), 2, 0, nullptr, nullptr);
  });
  // Threads and workers are each rank's own business.
  assert_results(search_on(3, odd("threads=2"), run_two), BDL_OK, alone(2, 0));
}

/// Bad data on one rank are its own failure, and the next run is as if nothing had been.
void one_rank_has_bad_data(void**) {
  std::vector<SearchResult> spoiled(3);
  const auto results = search_on(3, common_search, [&](bdl_search* search, int rank) {
    dataset data = data_for(BDL_GAUSSIAN);
    if (rank == 2) data.x[3] = NAN;
    SearchResult& result = spoiled[static_cast<std::size_t>(rank)];
    result.status = bdl_search_run(search, x_of(&data), y_of(&data), 2, 1, nullptr, nullptr);
    result.words = bdl_last_error();
    return run_on(search, 2, 1);
  });
  assert_peer(spoiled, 2, BDL_ERROR_NOT_FINITE, "x ", {});
  assert_results(results, BDL_OK, alone(2, 1));
}

/// Numbers of trials that are refused before anything begins, too.
void one_rank_has_bad_arguments(void**) {
  std::vector<SearchResult> spoiled(3);
  const auto results = search_on(3, common_search, [&](bdl_search* search, int rank) {
    SearchResult& result = spoiled[static_cast<std::size_t>(rank)];
    result.status = run_on(search, rank == 1 ? -1 : 2, 1);
    result.words = bdl_last_error();
    return run_on(search, 2, 1);
  });
  assert_peer(spoiled, 1, BDL_ERROR_INVALID_ARGUMENT, "random_trials is -1", {});
  assert_results(results, BDL_OK, alone(2, 1));
}

struct Asked {
  int calls = 0, at = 0, answer = 0;
  std::atomic<int>* all;
};

int32_t answering(void* user_data, const bdl_search*) {
  Asked& asked = *static_cast<Asked*>(user_data);
  ++*asked.all;
  return ++asked.calls == asked.at ? asked.answer : 0;
}

/// Rank 0 alone is asked; what it says holds for all, and the trials so far are kept.
void progress_is_the_first_ranks(void**) {
  const Vector all = alone(3, 4);
  for (const int answer : {1, -3}) {
    std::atomic<int> calls{0};
    std::vector<SearchResult> stopped(3);
    const auto results = search_on(3, common_search, [&](bdl_search* search, int rank) {
      Asked asked{0, 4, answer, &calls};
      SearchResult& result = stopped[static_cast<std::size_t>(rank)];
      result.status = run_on(search, 3, 4, answering, &asked);
      result.words = bdl_last_error();
      result.trials.resize(5 * static_cast<std::size_t>(bdl_search_trial_count(search)));
      return run_on(search, 0, 3);
    });
    assert_int_equal(calls, 4);
    if (answer > 0)
      assert_results(stopped, BDL_STOPPED, Vector(20));
    else
      assert_peer(stopped, 0, BDL_ERROR_CALLBACK, "the progress callback returned -3", Vector(20));
    assert_results(results, BDL_OK, all);
  }
}

/// Before a run: none is trained. The request of any rank holds for all.
void one_rank_stops_all(void**) {
  for (const int stopping : {0, 2}) {
    std::vector<SearchResult> stopped(3);
    const auto results = search_on(3, common_search, [&](bdl_search* search, int rank) {
      if (rank == stopping) bdl_search_request_stop(search);
      SearchResult& result = stopped[static_cast<std::size_t>(rank)];
      result.status = run_on(search, 3, 0);
      result.trials.resize(5 * static_cast<std::size_t>(bdl_search_trial_count(search)));
      return run_on(search, 3, 1);
    });
    assert_results(stopped, BDL_STOPPED, {});
    assert_results(results, BDL_OK, alone(3, 1));
  }
}

/// Every message is lost once: each rank that lacks one fails with an error, and none crashes.
void every_message_may_be_lost(void**) {
  const Vector expected = alone(1, 2);
  for (const auto fault : {RankThreads::Fault::fails, RankThreads::Fault::garbage})
    for (int call = 1;; ++call) {
      RankThreads threads(2);
      threads.rank(1).fault = fault;
      threads.rank(1).faulty_call = call;
      const auto results =
          search_on(threads, common_search, [](bdl_search* search, int) { return run_on(search, 1, 2); });
      if (threads.rank(1).calls < call) {
        assert_results(results, BDL_OK, expected);
        break;
      }
      assert_int_equal(results[1].status, BDL_ERROR_COMMUNICATION);
      assert_true(results[0].status == BDL_ERROR_COMMUNICATION || results[0].status == BDL_OK);
    }
}

/// One rank alone trains each fold, so methods that do not shard are searched, too.
void any_method_is_searched(void**) {
  const auto create = [](int) {
    Learner prototype(make_mlp(BDL_F64, {INPUTS, 3, 2}, BDL_GAUSSIAN), BDL_F64, 0, ROWS, "von");
    Search search = make_search(prototype);
    OK(bdl_search_add_double(search.get(), "learning_rate", 0.01, 0.1, BDL_SCALE_LOG));
    OK(bdl_search_add_int(search.get(), "samples", 1, 3, BDL_SCALE_LINEAR));
    OK(bdl_search_add_double(search.get(), "momentum", 0, 0.5, BDL_SCALE_LINEAR));
    return search;
  };
  const Search here = create(0);
  OK(run_on(here.get(), 2, 0));
  assert_results(search_on(2, create, run_two), BDL_OK, all_trials(here, 3));
}

}  // namespace

int test_rank_search_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(ranks_and_workers_do_not_matter),
      cmocka_unit_test(failing_trials_are_the_same),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(one_rank_has_bad_data),
      cmocka_unit_test(one_rank_has_bad_arguments),
      cmocka_unit_test(progress_is_the_first_ranks),
      cmocka_unit_test(one_rank_stops_all),
      cmocka_unit_test(every_message_may_be_lost),
      cmocka_unit_test(any_method_is_searched),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
