// Where one rank fails, or differs, all ranks leave the call after the same step, and the next one works.
#include <atomic>
#include <string>

#include "rank_user_model.hpp"

namespace {

const RankData data;

Learner learner(const char* options = "", bdl_dtype dtype = BDL_F64, const char* method = "vogn",
                int64_t rank = 0) {
  Learner l(make_mlp(dtype, {RankData::inputs, 5, 2}, BDL_GAUSSIAN), dtype, rank, RankData::rows, method);
  OK(bdl_optimizer_set_text(l.optimizer.get(), (std::string("minibatch=24 ") + options).c_str()));
  return l;
}

bdl_status fit(Learner& l, int64_t epochs = 2, bdl_progress_fn progress = nullptr,
               void* user_data = nullptr) {
  return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), data.targets_of(BDL_GAUSSIAN), epochs,
                           progress, user_data);
}

/// All ranks refuse, say what differs, and have done nothing; alike, they train.
template <class Create, class Call>
void expect_difference(const char* word, Create create, Call call) {
  const auto results = on_ranks(3, create, call);
  assert_all(results, BDL_ERROR_INVALID_ARGUMENT);
  for (const RankResult& result : results) {
    assert_words(result, word);
    assert_words(result, "process 1 of 3");
  }
}

bdl_status fit_two_epochs(Learner& l, int) {
  return fit(l);
}

void differences_are_named(void**) {
  const auto odd = [](const char* options) {
    return [=](int rank) { return learner(rank == 1 ? options : ""); };
  };
  const auto alike = [](int) { return learner(); };
  expect_difference("option \"seed\"", odd("seed=7"), fit_two_epochs);
  expect_difference("option \"learning_rate\"", odd("learning_rate=0.5"), fit_two_epochs);
  expect_difference("option \"shards\"", odd("shards=8"), fit_two_epochs);
  expect_difference(
      "dtype", [](int rank) { return learner("", rank == 1 ? BDL_F32 : BDL_F64); }, fit_two_epochs);
  expect_difference("epochs", alike, [](Learner& l, int rank) { return fit(l, rank == 1 ? 3 : 2); });
  expect_difference("size of data", alike, [](Learner& l, int rank) {
    const int64_t rows = rank == 1 ? 90 : RankData::rows;
    return bdl_optimizer_fit(l.optimizer.get(), bdl_f64(data.x.data(), rows, RankData::inputs),
                             bdl_f64(data.targets.data(), rows, 2), 2, nullptr, nullptr);
  });
  expect_difference("function", alike, [](Learner& l, int rank) {
    if (rank == 1)
      return bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(BDL_GAUSSIAN));
    return fit(l);
  });
  expect_difference("posterior", alike, [](Learner& l, int rank) {
    bdl_optimizer_initialize(l.optimizer.get());
    const std::vector<double> numbers(static_cast<std::size_t>(bdl_posterior_dimension(l.posterior.get())),
                                      2);
    const bdl_matrix row = bdl_f64(numbers.data(), 1, std::ssize(numbers));
    if (rank == 1) bdl_posterior_set_low_rank(l.posterior.get(), row, bdl_none(), row);
    return fit(l);
  });
  expect_difference("prior", alike, [](Learner& l, int rank) {
    const double precision = rank == 1 ? 2 : 3;
    bdl_optimizer_set_prior(l.optimizer.get(), bdl_f64(&precision, 1, 1));
    return fit(l);
  });
  // Threads are each rank's own business.
  assert_all(on_ranks(3, odd("threads=2"), fit_two_epochs), BDL_OK);
}

/// `own` on the rank that fails, BDL_ERROR_PEER with its words on the others.
void expect_peer(const std::vector<RankResult>& results, int failing, bdl_status own, const char* word) {
  for (int r = 0; r < static_cast<int>(results.size()); ++r) {
    const RankResult& result = results[static_cast<std::size_t>(r)];
    const bdl_status expected = r == failing ? own : BDL_ERROR_PEER;
    if (result.status != expected)
      fail_msg("rank %d has %s: %s", r, bdl_status_name(result.status), result.words.c_str());
    assert_words(result, word);
    if (r != failing) assert_words(result, ("process " + std::to_string(failing) + " of").c_str());
    assert_true(result.bytes == results[0].bytes);
  }
}

/// A call that one rank spoils, and the same without: as if the first had not been.
template <class Spoiled>
std::vector<RankResult> spoiled_then_well(int ranks, Spoiled spoiled) {
  std::vector<RankResult> first(static_cast<std::size_t>(ranks));
  Learner alone = learner("shards=4");
  OK(fit(alone));
  const auto second = on_ranks(
      ranks, [](int) { return learner("shards=4"); },
      [&](Learner& l, int rank) {
        RankResult& result = first[static_cast<std::size_t>(rank)];
        result.status = spoiled(l, rank);
        result.words = bdl_last_error();
        result.bytes = bytes_of(l);
        return fit(l);
      });
  assert_all(second, BDL_OK);
  assert_same_bytes(second, bytes_of(alone), "after a failure");
  return first;
}

/// Each rank checks its own rows, and names them by their numbers in all of x.
void one_rank_has_a_bad_row(void**) {
  std::vector<double> bad = data.x;
  bad[40 * RankData::inputs + 1] = NAN;  // of rank 1's shard, rows 24 to 47
  const auto first = spoiled_then_well(4, [&](Learner& l, int) {
    return bdl_optimizer_fit(l.optimizer.get(), bdl_f64(bad.data(), RankData::rows, RankData::inputs),
                             data.targets_of(BDL_GAUSSIAN), 2, nullptr, nullptr);
  });
  expect_peer(first, 1, BDL_ERROR_NOT_FINITE, "row 16, column 1");
  assert_words(first[1], "row 0 being row 24 of all");
}

/// Arguments that are refused before anything begins: the others hear of it at once.
void one_rank_has_bad_arguments(void**) {
  const auto epochs = spoiled_then_well(3, [](Learner& l, int rank) { return fit(l, rank == 2 ? -1 : 2); });
  expect_peer(epochs, 2, BDL_ERROR_INVALID_ARGUMENT, "epochs is -1");
  bdl_dataset* handle = nullptr;
  OK(bdl_dataset_from_arrays(data.inputs_matrix(), data.targets_of(BDL_GAUSSIAN), &handle));
  const Dataset rows(handle);
  const auto missing = spoiled_then_well(3, [&](Learner& l, int rank) {
    return bdl_optimizer_fit_dataset(l.optimizer.get(), rank == 1 ? nullptr : rows.get(), 2, nullptr,
                                     nullptr);
  });
  expect_peer(missing, 1, BDL_ERROR_INVALID_ARGUMENT, "dataset is NULL");
  const auto laplace = on_ranks(
      3, [](int) { return learner(); },
      [&](Learner& l, int rank) {
        if (const bdl_status status = fit(l); status != BDL_OK) return status;
        return bdl_optimizer_laplace_dataset(l.optimizer.get(), rank == 0 ? nullptr : rows.get());
      });
  expect_peer(laplace, 0, BDL_ERROR_INVALID_ARGUMENT, "dataset is NULL");
  const auto shape = spoiled_then_well(3, [](Learner& l, int rank) {
    const bdl_matrix x = rank == 1 ? bdl_none() : data.inputs_matrix();
    return bdl_optimizer_step(l.optimizer.get(), x, data.targets_of(BDL_GAUSSIAN));
  });
  expect_peer(shape, 1, BDL_ERROR_SHAPE, "x");
}

int32_t refuse(void*, const bdl_optimizer*) {
  bdl_set_callback_message("no more");
  return -3;
}

void progress_fails(void**) {
  std::vector<int64_t> steps(3);
  const auto results = on_ranks(
      3, [](int) { return learner("progress_every=2"); },
      [&](Learner& l, int rank) {
        const bdl_status status = fit(l, 2, refuse);
        steps[static_cast<std::size_t>(rank)] = steps_of(l);
        return status;
      });
  expect_peer(results, 0, BDL_ERROR_CALLBACK, "the progress callback returned -3: no more");
  for (const int64_t step : steps) assert_int_equal(step, 2);
}

int32_t always(void*) {
  return 1;
}

/// Interrupts and requests stop all ranks after the same completed step.
void one_rank_stops_all(void**) {
  for (const bool by_interrupt : {true, false}) {
    std::vector<int64_t> steps(3);
    const auto results = on_ranks(
        3, [&](int) { return by_interrupt ? learner("", BDL_F64, "slang", 2) : learner(); },
        [&](Learner& l, int rank) {
          if (rank == 2 && by_interrupt) bdl_set_interrupt(always, nullptr);
          if (rank == 2 && !by_interrupt) bdl_optimizer_request_stop(l.optimizer.get());
          const bdl_status status = fit(l);
          bdl_set_interrupt(nullptr, nullptr);
          steps[static_cast<std::size_t>(rank)] = steps_of(l);
          return status;
        });
    assert_all(results, BDL_STOPPED);
    assert_same_bytes(results, results[0].bytes, "stopped");
    for (const int64_t step : steps) assert_int_equal(step, steps[0]);
  }
}

std::vector<RankResult> with_bad_call(int bad_call, bool infinite, std::vector<int64_t>& steps) {
  std::vector<UserLine> models;
  for (int r = 0; r < 3; ++r) models.push_back({r == 1 ? bad_call : 0, infinite});
  steps.assign(3, -1);
  return on_ranks(
      3,
      [&](int rank) {
        Learner l(line_of(models[static_cast<std::size_t>(rank)]), BDL_F64, 0, RankData::rows, "vogn");
        bdl_optimizer_set_text(l.optimizer.get(), "minibatch=24 guard=0");
        return l;
      },
      [&](Learner& l, int rank) {
        const bdl_status status =
            bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(),
                              bdl_f64(data.targets.data(), RankData::rows, 1), 1, nullptr, nullptr);
        steps[static_cast<std::size_t>(rank)] = steps_of(l);
        return status;
      });
}

/// An infinite number on one rank is divergence on all; a callback that fails is that rank's failure.
void one_rank_fails_in_a_step(void**) {
  std::vector<int64_t> steps;
  for (int bad_call = 1; bad_call <= 3; ++bad_call) {
    const auto refused = with_bad_call(bad_call, false, steps);
    expect_peer(refused, 1, BDL_ERROR_CALLBACK, "outputs callback returned 5");
    for (const int64_t step : steps) assert_int_equal(step, steps[0]);
    const auto infinite = with_bad_call(bad_call, true, steps);
    assert_all(infinite, BDL_ERROR_DIVERGED);
    assert_same_bytes(infinite, infinite[0].bytes, "diverged");
    for (const int64_t step : steps) assert_int_equal(step, steps[0]);
  }
}

void every_message_may_be_lost(void**) {
  assert_messages_may_be_lost([](int) { return learner(); }, fit_two_epochs);
  assert_messages_may_be_lost([](int) { return learner("eigen_method=gram", BDL_F64, "slang", 2); },
                              fit_two_epochs);
}

void methods_that_do_not_shard_say_why(void**) {
  const struct {
    const char *method, *word;
    int64_t rank;
  } cases[] = {{"bong", "stream", 0}};
  for (const auto& [method, word, rank] : cases) {
    const auto results = on_ranks(
        2,
        [&, name = method, of = rank](int) {
          return Learner(make_mlp(BDL_F64, {RankData::inputs, 5, 2}, BDL_GAUSSIAN), BDL_F64, of,
                         RankData::rows, name);
        },
        [](Learner&, int) { return BDL_OK; });
    assert_all(results, BDL_ERROR_UNSUPPORTED);
    assert_words(results[0], word);
  }
  // Nor do they by one rank, where there are more shards than one.
  Learner bong(make_mlp(BDL_F64, {RankData::inputs, 5, 2}, BDL_GAUSSIAN), BDL_F64, 0, RankData::rows, "bong");
  assert_int_equal(bdl_optimizer_set_int(bong.optimizer.get(), "shards", 4), BDL_ERROR_UNSUPPORTED);
}

/// Minibatches without an example of each shard.
void shards_need_examples(void**) {
  const auto results = on_ranks(
      2, [](int) { return learner("shards=32"); }, fit_two_epochs);
  assert_all(results, BDL_ERROR_INVALID_ARGUMENT);
  assert_words(results[0], "24 examples, expected at least one for each of the 32 shards");
}

void bad_arguments(void**) {
  RankThreads threads(1);
  bdl_communicator* handle = nullptr;
  const auto create = [&](int rank, int size, bdl_all_gather_fn gather, bdl_exchange_fn exchange) {
    return bdl_communicator_create(rank, size, gather, exchange, &threads.rank(0), nullptr, &handle);
  };
  assert_int_equal(create(0, 0, RankThreads::all_gather, RankThreads::exchange), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(create(0, 40000, RankThreads::all_gather, RankThreads::exchange),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(create(3, 3, RankThreads::all_gather, RankThreads::exchange), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(create(0, 1, nullptr, RankThreads::exchange), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(create(0, 1, RankThreads::all_gather, nullptr), BDL_ERROR_INVALID_ARGUMENT);
  assert_null(handle);
}

}  // namespace

int test_rank_failure_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(differences_are_named),      cmocka_unit_test(one_rank_has_a_bad_row),
      cmocka_unit_test(one_rank_has_bad_arguments), cmocka_unit_test(progress_fails),
      cmocka_unit_test(one_rank_stops_all),         cmocka_unit_test(one_rank_fails_in_a_step),
      cmocka_unit_test(every_message_may_be_lost),  cmocka_unit_test(methods_that_do_not_shard_say_why),
      cmocka_unit_test(shards_need_examples),       cmocka_unit_test(bad_arguments),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
