// The methods exact-* on ranks: results are identical for any number of them; a rank reads only its own rows;
// if one rank fails or asks to stop, all leave after the same iteration.
#include <string>

#include "rank_runs.hpp"
#include "row_source.hpp"

namespace {

/// Labels, counts and real targets for the inputs of RankData.
struct ExactData : RankData {
  std::vector<double> labels;
  ExactData() {
    for (int64_t i = 0; i < rows; ++i) labels.push_back(std::sin(5 * static_cast<double>(i)) > 0.2 ? 1 : 0);
  }
  bdl_matrix y_of(bdl_likelihood likelihood) const {
    return likelihood == BDL_GAUSSIAN ? bdl_strided(targets.data(), BDL_F64, rows, 1, 2, 1)
                                      : bdl_f64(labels.data(), rows, 1);
  }
};

const ExactData data;

RowSource source_of_labels() {
  return {data.x.data(), data.labels.data(), RankData::rows, RankData::inputs, 1};
}

struct Case {
  const char* method;
  bdl_likelihood likelihood;
  bdl_dtype dtype;
  const char* options = "";
};

Learner learner_of(const Case& c, int64_t rows = RankData::rows) {
  const std::string method = c.method;
  const int64_t rank = method == "exact-full" ? FULL : method == "exact-low-rank" ? 2 : 0;
  Learner l(make_mlp(c.dtype, {RankData::inputs, 1}, c.likelihood), c.dtype, rank, rows, c.method);
  bdl_optimizer_set_text(l.optimizer.get(), (std::string("shards=8 ") + c.options).c_str());
  return l;
}

bdl_status fit(Learner& l, const Case& c, int64_t epochs = 2000, bdl_progress_fn progress = nullptr,
               void* user_data = nullptr) {
  return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), data.y_of(c.likelihood), epochs, progress,
                           user_data);
}

const Case bernoulli{"exact-full", BDL_BERNOULLI, BDL_F64};

/// Expects `own` on the rank that fails, BDL_ERROR_PEER with its message on the others, and the same
/// posterior on all.
void expect_peer(const std::vector<RankResult>& results, int failing, bdl_status own, const char* word) {
  for (int r = 0; r < static_cast<int>(results.size()); ++r) {
    const RankResult& result = results[static_cast<std::size_t>(r)];
    if (result.status != (r == failing ? own : BDL_ERROR_PEER))
      fail_msg("rank %d has %s: %s", r, bdl_status_name(result.status), result.words.c_str());
    assert_words(result, word);
    assert_true(result.bytes == results[0].bytes);
  }
}

void bits_do_not_depend_on_the_number_of_ranks(void**) {
  for (const Case& c : {Case{"exact-full", BDL_BERNOULLI, BDL_F64},
                        {"exact-full", BDL_GAUSSIAN, BDL_F32, "learn_noise=1"},
                        {"exact-full", BDL_POISSON, BDL_F64, "threads=2"},
                        {"exact-diagonal", BDL_GAUSSIAN, BDL_F64, "learn_noise=1"},
                        {"exact-diagonal", BDL_BERNOULLI, BDL_F32},
                        {"exact-low-rank", BDL_BERNOULLI, BDL_F64},
                        {"exact-low-rank", BDL_GAUSSIAN, BDL_F32, "learn_noise=1"},
                        {"exact-low-rank", BDL_POISSON, BDL_F32}}) {
    Learner alone = learner_of(c);
    OK(fit(alone, c));
    assert_true(steps_of(alone) < 2000);
    const std::string expected = bytes_of(alone);
    for (const int ranks : rank_counts) {
      const auto results = on_ranks(
          ranks, [&](int) { return learner_of(c); }, [&](Learner& l, int) { return fit(l, c); });
      assert_all(results, BDL_OK);
      assert_same_bytes(results, expected, c.method);
    }
  }
}

/// More shards than rows: some have none.
void shards_may_be_empty(void**) {
  const auto create = [](int) {
    Learner l = learner_of(bernoulli);
    l.set("shards", 128);
    return l;
  };
  Learner alone = create(0), one = learner_of(bernoulli);
  one.set("shards", 1);
  OK(fit(alone, bernoulli));
  OK(fit(one, bernoulli));
  const Vector got = moments_of(alone.posterior), expected = moments_of(one.posterior);
  for (std::size_t i = 0; i < got.size(); ++i)
    assert_close(got[i], expected[i], 1e-9 * (1 + std::fabs(expected[i])), "one shard");
  const auto results = on_ranks(3, create, [](Learner& l, int) { return fit(l, bernoulli); });
  assert_all(results, BDL_OK);
  assert_same_bytes(results, bytes_of(alone), "128 shards");
}

/// Stopped on four ranks, gone on with by two, and by three.
void training_goes_on_with_other_ranks(void**) {
  Learner alone = learner_of(bernoulli);
  OK(fit(alone, bernoulli));
  std::string saved;
  const auto go_on = [&](int ranks, int64_t epochs, int64_t until, bdl_status expected) {
    const auto results = on_ranks(
        ranks, [&](int) { return saved.empty() ? learner_of(bernoulli) : loaded(saved); },
        [&](Learner& l, int) { return fit(l, bernoulli, epochs, stop_at, &until); });
    assert_all(results, expected);
    assert_same_bytes(results, results[0].bytes, "stopped");
    saved = results[0].bytes;
  };
  go_on(4, 2000, 1, BDL_STOPPED);
  go_on(2, 0, 2, BDL_STOPPED);
  go_on(3, 0, 2000, BDL_OK);
  const Learner last = loaded(saved);
  const Vector got = moments_of(last.posterior), expected = moments_of(alone.posterior);
  for (std::size_t i = 0; i < got.size(); ++i)
    assert_close(got[i], expected[i], 1e-9 * (1 + std::fabs(expected[i])), "gone on with");
}

void own_rows_are_asked_for(void**) {
  Learner alone = learner_of(bernoulli);
  OK(fit(alone, bernoulli));
  for (const int ranks : {1, 2, 4}) {
    std::vector<RowSource> sources(static_cast<std::size_t>(ranks), source_of_labels());
    const auto results = on_ranks(
        ranks, [](int) { return learner_of(bernoulli); },
        [&](Learner& l, int rank) {
          const Dataset rows = read_by(sources[static_cast<std::size_t>(rank)]);
          return bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), 2000, nullptr, nullptr);
        });
    assert_all(results, BDL_OK);
    assert_same_bytes(results, bytes_of(alone), "callback");
    for (int64_t r = 0; r < ranks; ++r) {
      const std::set<int64_t>& asked = sources[static_cast<std::size_t>(r)].asked;
      assert_int_equal(std::ssize(asked), RankData::rows / ranks);
      assert_int_equal(*asked.begin(), r * RankData::rows / ranks);
    }
  }
}

/// Each call of a source fails once, or takes so long that an interrupt is asked: all ranks have done the
/// same iterations, and training that goes on ends at the optimum.
void one_rank_cannot_read(void**) {
  for (const char* method : {"exact-full", "exact-low-rank"}) {
    const Case c{method, BDL_BERNOULLI, BDL_F64};
    Learner whole = learner_of(c);
    OK(fit(whole, c));
    const Vector optimum = moments_of(whole.posterior);
    for (const bool interrupts : {false, true})
      for (const int bad_call :
           strcmp(method, "exact-full") == 0 ? std::vector{1, 2, 3, 4, 5, 8, 11} : std::vector{1, 37}) {
        std::vector<RowSource> sources(3, source_of_labels());
        sources[2].bad_call = bad_call;
        sources[2].interrupts = interrupts;
        std::vector<RankResult> first(3);
        std::vector<int64_t> steps(3);
        const auto second = on_ranks(
            3, [&](int) { return learner_of(c); },
            [&](Learner& l, int rank) {
              const auto r = static_cast<std::size_t>(rank);
              const Dataset rows = read_by(sources[r]);
              bdl_set_interrupt([](void* asked) { return *static_cast<bool*>(asked) ? 1 : 0; },
                                &sources[r].is_asked);
              first[r].status =
                  bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), 2000, nullptr, nullptr);
              bdl_set_interrupt(nullptr, nullptr);
              first[r].words = first[r].status == BDL_OK ? "" : bdl_last_error();
              first[r].bytes = bytes_of(l);
              steps[r] = steps_of(l);
              return first[r].status == BDL_OK
                         ? BDL_OK
                         : bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), steps[r] > 0 ? 0 : 2000,
                                                     nullptr, nullptr);
            });
        assert_all(second, BDL_OK);
        for (const int64_t step : steps) assert_int_equal(step, steps[0]);
        if (first[0].status == BDL_OK) continue;  // it took fewer calls
        if (interrupts)
          assert_all(first, BDL_STOPPED);
        else
          expect_peer(first, 2, BDL_ERROR_CALLBACK, "the disk is gone");
        const Vector got = moments_of(loaded(second[0].bytes).posterior);
        for (std::size_t i = 0; i < got.size(); ++i)
          assert_close(got[i], optimum[i], 1e-7 * (1 + std::fabs(optimum[i])), "gone on with");
      }
  }
}

/// A variance beyond a double in one shard's rows: the ELBO is finite on no rank, and nothing has happened.
void training_runs_away_on_all(void**) {
  const Case c{"exact-diagonal", BDL_POISSON, BDL_F64};
  std::vector<double> x = data.x;
  x[90 * RankData::inputs] = 1e300;
  const auto results = on_ranks(
      3,
      [&](int) {
        Learner l = learner_of(c);
        const std::vector<double> mean(RankData::inputs + 1, 1), precision(RankData::inputs + 1, 1);
        bdl_posterior_set_low_rank(l.posterior.get(), bdl_f64(mean.data(), 1, RankData::inputs + 1),
                                   bdl_none(), bdl_f64(precision.data(), 1, RankData::inputs + 1));
        return l;
      },
      [&](Learner& l, int) {
        return bdl_optimizer_fit(l.optimizer.get(), bdl_f64(x.data(), RankData::rows, RankData::inputs),
                                 data.y_of(c.likelihood), 10, nullptr, nullptr);
      });
  assert_all(results, BDL_ERROR_DIVERGED);
  assert_same_bytes(results, results[0].bytes, "diverged");
  assert_words(results[0], "example 90");
}

int32_t refuse(void*, const bdl_optimizer* optimizer) {
  int64_t step = 0;
  bdl_optimizer_progress(optimizer, &step, nullptr, nullptr);
  if (step < 2) return 0;
  bdl_set_callback_message("no more");
  return -3;
}

void progress_fails(void**) {
  std::vector<int64_t> steps(3);
  const auto results = on_ranks(
      3, [](int) { return learner_of(bernoulli); },
      [&](Learner& l, int rank) {
        const bdl_status status = fit(l, bernoulli, 2000, refuse);
        steps[static_cast<std::size_t>(rank)] = steps_of(l);
        return status;
      });
  expect_peer(results, 0, BDL_ERROR_CALLBACK, "no more");
  for (const int64_t step : steps) assert_int_equal(step, 2);
}

/// Ranks are told of what differs before the first sum.
void differences_are_named(void**) {
  const auto rows = on_ranks(
      3, [](int) { return learner_of(bernoulli); },
      [](Learner& l, int rank) {
        const int64_t n = rank == 1 ? 90 : RankData::rows;
        return bdl_optimizer_fit(l.optimizer.get(), bdl_f64(data.x.data(), n, RankData::inputs),
                                 bdl_f64(data.labels.data(), n, 1), 10, nullptr, nullptr);
      });
  expect_peer(rows, 1, BDL_ERROR_INVALID_ARGUMENT, "x has 90 rows");
  const auto options = on_ranks(
      3,
      [](int rank) {
        Learner l = learner_of(bernoulli);
        if (rank == 1) bdl_optimizer_set_text(l.optimizer.get(), "tolerance=0.001");
        return l;
      },
      [](Learner& l, int) { return fit(l, bernoulli); });
  assert_all(options, BDL_ERROR_INVALID_ARGUMENT);
  assert_words(options[0], "option \"tolerance\"");
}

void every_message_may_be_lost(void**) {
  assert_messages_may_be_lost([](int) { return learner_of(bernoulli); },
                              [](Learner& l, int) { return fit(l, bernoulli, 3); });
}

int64_t received_for(Learner& l, RankThreads::Rank& rank, int64_t epochs) {
  const Ranks ranks = communicator_of(rank);
  bdl_optimizer_set_communicator(l.optimizer.get(), ranks.get());
  int64_t received = 0;
  fit(l, bernoulli, epochs);
  bdl_communicator_statistics(ranks.get(), nullptr, nullptr, &received, nullptr);
  return received;
}

/// An iteration of exact-full on two ranks: slope and matrix, D (D + 1) numbers, are swapped and gathered by
/// halves, with the log likelihood's four nodes in all; agreement, and votes before it, after it, and before
/// the sum.
void bytes_are_those_of_the_formula(void**) {
  int64_t received[2][2] = {};
  for (const int64_t epochs : {1, 2}) {
    RankThreads threads(2);
    threads.run([&](RankThreads::Rank& rank) {
      Learner l = learner_of(bernoulli);
      received[rank.number][epochs - 1] = received_for(l, rank, epochs);
    });
  }
  const int64_t d = RankData::inputs + 1, sum = 8 * d * (d + 1);
  for (const auto& of_rank : received)
    assert_int_equal(of_rank[1] - of_rank[0], sum + 16 + (2 * 16 - 16 + 8) + 64 + 3 * 16);
}

}  // namespace

int test_rank_exact_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_the_number_of_ranks),
      cmocka_unit_test(shards_may_be_empty),
      cmocka_unit_test(training_goes_on_with_other_ranks),
      cmocka_unit_test(own_rows_are_asked_for),
      cmocka_unit_test(one_rank_cannot_read),
      cmocka_unit_test(training_runs_away_on_all),
      cmocka_unit_test(progress_fails),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(every_message_may_be_lost),
      cmocka_unit_test(bytes_are_those_of_the_formula),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
