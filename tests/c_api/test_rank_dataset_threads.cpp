// Ranks train on data sets of their own, with the results of arrays; a rank reads only its own rows; if rows
// cannot be read on one rank, all ranks stop after the same step.
#include <string>

#include "rank_runs.hpp"
#include "row_source.hpp"

namespace {

const RankData data;

Dataset of_arrays(bdl_matrix x, bdl_matrix y) {
  bdl_dataset* handle = nullptr;
  bdl_dataset_from_arrays(x, y, &handle);
  return Dataset(handle);
}

RowSource source_of(bdl_likelihood likelihood) {
  const bool has_classes = likelihood == BDL_CATEGORICAL;
  return {data.x.data(), has_classes ? data.classes.data() : data.targets.data(), RankData::rows,
          RankData::inputs, has_classes ? 1 : 2};
}

Learner learner(bdl_likelihood likelihood = BDL_GAUSSIAN, const char* method = "vogn",
                const char* options = "", bdl_dtype dtype = BDL_F64) {
  Learner l(make_mlp(dtype, {RankData::inputs, 5, likelihood == BDL_CATEGORICAL ? 3 : 2}, likelihood), dtype,
            std::string(method) == "slang" ? 2 : 0, RankData::rows, method);
  OK(bdl_optimizer_set_text(l.optimizer.get(), (std::string("minibatch=24 shards=4 ") + options).c_str()));
  return l;
}

bdl_status fit(Learner& l, const Dataset& rows, int64_t epochs = 2) {
  return bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), epochs, nullptr, nullptr);
}

/// Expects `own` on the rank that fails, BDL_ERROR_PEER with its message on the others, and the same
/// posterior on all.
void expect_peer(const std::vector<RankResult>& results, int failing, bdl_status own, const char* word) {
  for (int r = 0; r < static_cast<int>(results.size()); ++r) {
    const RankResult& result = results[static_cast<std::size_t>(r)];
    if (result.status != (r == failing ? own : BDL_ERROR_PEER))
      fail_msg("rank %d has %s: %s", r, bdl_status_name(result.status), result.words.c_str());
    assert_words(result, word);
    if (r != failing) assert_words(result, ("process " + std::to_string(failing) + " of").c_str());
    assert_true(result.bytes == results[0].bytes);
  }
}

/// Rank r of R reads 96 / R consecutive rows of 96 in four shards.
void assert_own_rows(const std::vector<RowSource>& sources) {
  const int64_t each = RankData::rows / std::ssize(sources);
  for (std::size_t r = 0; r < sources.size(); ++r) {
    const std::set<int64_t>& asked = sources[r].asked;
    assert_int_equal(std::ssize(asked), each);
    assert_int_equal(*asked.begin(), static_cast<int64_t>(r) * each);
    assert_int_equal(*asked.rbegin(), static_cast<int64_t>(r + 1) * each - 1);
  }
}

void bits_are_those_of_arrays(void**) {
  const struct {
    const char* method;
    bdl_likelihood likelihood;
    bdl_dtype dtype;
    const char* options;
  } cases[] = {{"map", BDL_CATEGORICAL, BDL_F64, ""},
               {"vogn", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 learn_prior=1"},
               {"bbb", BDL_GAUSSIAN, BDL_F64, "learn_noise=1 sampling=replacement"},
               {"slang", BDL_CATEGORICAL, BDL_F32, ""},
               {"slang", BDL_GAUSSIAN, BDL_F64, "learn_noise=1"}};
  for (const auto& c : cases) {
    const auto create = [&](int) { return learner(c.likelihood, c.method, c.options, c.dtype); };
    Learner alone = create(0);
    alone.fit(data.inputs_matrix(), data.targets_of(c.likelihood), 2);
    for (const int ranks : {1, 2, 4}) {
      std::vector<RowSource> sources(static_cast<std::size_t>(ranks), source_of(c.likelihood));
      const auto called = on_ranks(ranks, create, [&](Learner& l, int rank) {
        return fit(l, read_by(sources[static_cast<std::size_t>(rank)]));
      });
      assert_all(called, BDL_OK);
      assert_same_bytes(called, bytes_of(alone), c.method);
      if (std::string(c.options).find("replacement") == std::string::npos) assert_own_rows(sources);
      const auto held = on_ranks(ranks, create, [&](Learner& l, int) {
        return fit(l, of_arrays(data.inputs_matrix(), data.targets_of(c.likelihood)));
      });
      assert_all(held, BDL_OK);
      assert_same_bytes(held, bytes_of(alone), c.method);
    }
  }
}

/// Each call of a source fails once, in a step or in the pass before the first one, after which nothing has
/// changed; training that goes on from there gives the results of training that never failed.
void one_rank_cannot_read(void**) {
  const auto create = [](int) { return learner(BDL_GAUSSIAN, "vogn", "learn_noise=1"); };
  Learner alone = create(0);
  alone.fit(data.inputs_matrix(), data.targets_of(BDL_GAUSSIAN), 2);
  for (int bad_call = 1;; ++bad_call) {
    std::vector<RowSource> sources(4, source_of(BDL_GAUSSIAN));
    sources[2].bad_call = bad_call;
    std::vector<RankResult> first(4);
    std::vector<int64_t> steps(4);
    const auto second = on_ranks(4, create, [&](Learner& l, int rank) {
      const auto r = static_cast<std::size_t>(rank);
      const Dataset rows = read_by(sources[r]);
      first[r].status = fit(l, rows);
      first[r].words = first[r].status == BDL_OK ? "" : bdl_last_error();
      first[r].bytes = bytes_of(l);
      steps[r] = steps_of(l);
      return first[r].status == BDL_OK ? BDL_OK : fit(l, rows, steps[r] > 0 ? 0 : 2);
    });
    assert_all(second, BDL_OK);
    assert_same_bytes(second, bytes_of(alone), "after a failure");
    if (first[0].status == BDL_OK) {
      assert_true(bad_call > 8);  // a call for each of eight steps, and those of the passes
      return;
    }
    expect_peer(first, 2, BDL_ERROR_CALLBACK, "the disk is gone");
    for (const int64_t step : steps) assert_int_equal(step, steps[0]);
  }
}

/// Rows are checked by who reads them, and named by their numbers in the data set.
void one_rank_has_a_bad_row(void**) {
  std::vector<double> bad = data.x;
  bad[40 * RankData::inputs + 1] = NAN;  // of rank 1's shard, rows 24 to 47
  const auto results = on_ranks(
      4, [](int) { return learner(); },
      [&](Learner& l, int) {
        return fit(l, of_arrays(bdl_f64(bad.data(), RankData::rows, RankData::inputs),
                                data.targets_of(BDL_GAUSSIAN)));
      });
  expect_peer(results, 1, BDL_ERROR_NOT_FINITE, "row 40, column 1");
}

void data_sets_that_differ(void**) {
  const auto alike = [](int) { return learner(); };
  const auto sizes = on_ranks(3, alike, [](Learner& l, int rank) {
    const int64_t rows = rank == 1 ? 90 : RankData::rows;
    return fit(
        l, of_arrays(bdl_f64(data.x.data(), rows, RankData::inputs), bdl_f64(data.targets.data(), rows, 2)));
  });
  assert_all(sizes, BDL_ERROR_INVALID_ARGUMENT);
  for (const RankResult& result : sizes) {
    assert_words(result, "size of data");
    assert_words(result, "process 1 of 3");
  }
  const auto shapes = on_ranks(3, alike, [](Learner& l, int rank) {
    return fit(l, of_arrays(bdl_f64(data.x.data(), RankData::rows, rank == 2 ? 3 : RankData::inputs),
                            data.targets_of(BDL_GAUSSIAN)));
  });
  expect_peer(shapes, 2, BDL_ERROR_SHAPE, "3 columns of x, expected 4");
}

/// Each shard has blocks of its own, the last of them short.
void blocks_have_the_same_bits(void**) {
  const auto create = [](int) { return learner(); };
  const auto fit_in_blocks = [](Learner& l, RowSource& source, int64_t window) {
    const Dataset rows = read_by(source);
    bdl_dataset_set_block(rows.get(), 7, window);
    return fit(l, rows);
  };
  RowSource all = source_of(BDL_GAUSSIAN);
  Learner alone = create(0), shuffled = create(0);
  OK(fit_in_blocks(alone, all, 2));
  assert_int_equal(std::ssize(all.asked), RankData::rows);
  shuffled.fit(data.inputs_matrix(), data.targets_of(BDL_GAUSSIAN), 2);
  assert_true(bytes_of(alone) != bytes_of(shuffled));
  for (const int ranks : {1, 2, 4}) {
    std::vector<RowSource> sources(static_cast<std::size_t>(ranks), source_of(BDL_GAUSSIAN));
    const auto results = on_ranks(ranks, create, [&](Learner& l, int rank) {
      return fit_in_blocks(l, sources[static_cast<std::size_t>(rank)], 2);
    });
    assert_all(results, BDL_OK);
    assert_same_bytes(results, bytes_of(alone), "blocks");
    assert_own_rows(sources);
  }
  std::vector<RowSource> sources(3, source_of(BDL_GAUSSIAN));
  const auto odd = on_ranks(3, create, [&](Learner& l, int rank) {
    return fit_in_blocks(l, sources[static_cast<std::size_t>(rank)], rank == 1 ? 3 : 2);
  });
  assert_all(odd, BDL_ERROR_INVALID_ARGUMENT);
  assert_words(odd[0], "process 1 of 3");
  assert_words(odd[0], "blocks");
}

}  // namespace

int test_rank_dataset_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_arrays),  cmocka_unit_test(one_rank_cannot_read),
      cmocka_unit_test(one_rank_has_a_bad_row),    cmocka_unit_test(data_sets_that_differ),
      cmocka_unit_test(blocks_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
