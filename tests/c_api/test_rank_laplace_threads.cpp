// Laplace's approximation on ranks: results are identical for any number of them, at the end of a fit and by
// itself, and equal the approximation from one pass over all data.
#include <string>

#include "rank_runs.hpp"
#include "row_source.hpp"

namespace {

const RankData data;

enum class Family { kronecker, diagonal, full, layerwise_full, low_rank };

struct Case {
  Family family;
  bdl_likelihood likelihood;
  bdl_dtype dtype;
  const char* options = "";
  const char* method = "laplace";
};

Posterior posterior_of(const Case& c, const Model& model) {
  bdl_posterior* q = nullptr;
  const int64_t dimension = bdl_model_parameters(model.get());
  switch (c.family) {
    case Family::kronecker:
      bdl_posterior_create_kronecker(model.get(), &q);
      break;
    case Family::diagonal:
      bdl_posterior_create_low_rank(c.dtype, dimension, 0, &q);
      break;
    case Family::full:
      bdl_posterior_create_full(c.dtype, dimension, &q);
      break;
    case Family::layerwise_full:
      bdl_posterior_create_layerwise_full(model.get(), &q);
      break;
    case Family::low_rank:
      bdl_posterior_create_low_rank(c.dtype, dimension, 2, &q);
      break;
  }
  return Posterior(q);
}

Learner learner_of(const Case& c) {
  Model model =
      make_mlp(c.dtype, {RankData::inputs, 6, c.likelihood == BDL_CATEGORICAL ? 3 : 2}, c.likelihood);
  Posterior q = posterior_of(c, model);
  Optimizer o = make_optimizer(model, q, RankData::rows, c.method);
  OK(bdl_optimizer_set_text(o.get(), (std::string("minibatch=24 shards=8 ") + c.options).c_str()));
  return {std::move(model), std::move(q), std::move(o)};
}

bdl_status fit(Learner& l, const Case& c, int64_t epochs = 2) {
  return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood), epochs,
                           nullptr, nullptr);
}

bdl_status approximate(Learner& l, const Case& c) {
  return bdl_optimizer_laplace(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood));
}

const Case cases[] = {
    {Family::kronecker, BDL_CATEGORICAL, BDL_F64},
    {Family::kronecker, BDL_GAUSSIAN, BDL_F32, "kronecker_eigenvalues=corrected learn_noise=1"},
    {Family::kronecker, BDL_CATEGORICAL, BDL_F64, "fisher=sampled"},
    {Family::kronecker, BDL_CATEGORICAL, BDL_F32, "fisher=empirical"},
    {Family::diagonal, BDL_CATEGORICAL, BDL_F32},
    {Family::diagonal, BDL_GAUSSIAN, BDL_F64, "threads=2"},
    {Family::full, BDL_CATEGORICAL, BDL_F64},
    {Family::full, BDL_GAUSSIAN, BDL_F32},
    {Family::layerwise_full, BDL_CATEGORICAL, BDL_F64},
    {Family::layerwise_full, BDL_GAUSSIAN, BDL_F32},
    // Few rows, which all ranks hold.
    {Family::low_rank, BDL_CATEGORICAL, BDL_F64},
    {Family::low_rank, BDL_CATEGORICAL, BDL_F64, "eigen_method=gram"},
    {Family::low_rank, BDL_GAUSSIAN, BDL_F64, "eigen_method=randomized learn_noise=1"},
    {Family::low_rank, BDL_GAUSSIAN, BDL_F32, "eigen_method=outer"},
};

void bits_do_not_depend_on_the_number_of_ranks(void**) {
  for (const Case& c : cases) {
    Learner alone = learner_of(c);
    OK(fit(alone, c));
    const std::string expected = bytes_of(alone);
    for (const int ranks : rank_counts) {
      const auto results = on_ranks(
          ranks, [&](int) { return learner_of(c); }, [&](Learner& l, int) { return fit(l, c); });
      assert_all(results, BDL_OK);
      assert_same_bytes(results, expected, c.options);
    }
  }
}

/// Laplace's approximation by itself, around the mean of a fit, is that of one shard but for rounding, except
/// with labels that are drawn.
void shards_add_up_to_all_rows(void**) {
  for (Case c : cases) {
    c.method = c.family == Family::kronecker ? "kfac" : "map";
    if (std::string(c.options).find("sampled") != std::string::npos || c.dtype == BDL_F32) continue;
    Learner fitted = learner_of(c);
    OK(fit(fitted, c));
    const std::string saved = bytes_of(fitted);
    const auto moments = [&](int64_t shards) {
      Learner l = loaded(saved);
      l.set("shards", shards);
      OK(approximate(l, c));
      return moments_of(l.posterior);
    };
    const Vector one = moments(1), eight = moments(8), many = moments(200);
    const Vector before = moments_of(loaded(saved).posterior);
    assert_true(one != before);
    for (std::size_t i = 0; i < one.size(); ++i) {
      assert_close(eight[i], one[i], 1e-9 * (1e-3 + std::fabs(one[i])), "8 shards");
      assert_close(many[i], one[i], 1e-9 * (1e-3 + std::fabs(one[i])), "more shards than rows");
    }
    for (const int ranks : {2, 3}) {
      const auto results = on_ranks(
          ranks, [&](int) { return loaded(saved); }, [&](Learner& l, int) { return approximate(l, c); });
      assert_all(results, BDL_OK);
      for (const RankResult& result : results)
        assert_true(moments_of(loaded(result.bytes).posterior) == eight);
    }
  }
}

/// Own rows only; whichever call fails, the approximation is made by all ranks or by none, and is what is
/// left to do of a fit.
void data_sets_fail_on_all(void**) {
  for (const Family family : {Family::kronecker, Family::diagonal, Family::low_rank}) {
    const Case c{family, BDL_CATEGORICAL, BDL_F64, "minibatch=96"};
    Learner alone = learner_of(c);
    OK(fit(alone, c, 1));
    for (int bad_call = 0; bad_call <= 5; ++bad_call) {
      std::vector<RowSource> sources(
          3, {data.x.data(), data.classes.data(), RankData::rows, RankData::inputs, 1});
      sources[2].bad_call = bad_call;
      std::vector<RankResult> first(3);
      const auto second = on_ranks(
          3, [&](int) { return learner_of(c); },
          [&](Learner& l, int rank) {
            const auto r = static_cast<std::size_t>(rank);
            const Dataset rows = read_by(sources[r]);
            first[r].status = bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), 1, nullptr, nullptr);
            first[r].words = first[r].status == BDL_OK ? "" : bdl_last_error();
            first[r].bytes = bytes_of(l);
            if (first[r].status == BDL_OK) return BDL_OK;
            return bdl_optimizer_fit_dataset(l.optimizer.get(), rows.get(), steps_of(l) > 0 ? 0 : 1, nullptr,
                                             nullptr);
          });
      assert_all(second, BDL_OK);
      assert_same_bytes(second, bytes_of(alone), "after a failure");
      assert_int_equal(std::ssize(sources[0].asked), 24);  // 2 of 8 shards
      if (sources[2].calls < bad_call) break;
      for (std::size_t r = 0; r < 3 && bad_call > 0; ++r) {
        assert_int_equal(first[r].status, r == 2 ? BDL_ERROR_CALLBACK : BDL_ERROR_PEER);
        assert_words(first[r], "the disk is gone");
        assert_true(first[r].bytes == first[0].bytes);
      }
    }
  }
}

/// More rows than a Gram matrix is made of, of low-rank posteriors: sums over them are added up, in passes. A
/// prior's columns are more rows.
void many_rows_are_added_up(void**) {
  Vector x, classes;
  for (int copy = 0; copy < 8; ++copy) {
    x.insert(x.end(), data.x.begin(), data.x.end());
    classes.insert(classes.end(), data.classes.begin(), data.classes.end());
  }
  const int64_t rows = std::ssize(classes);
  for (const char* options : {"eigen_method=outer", "eigen_method=randomized", "eigen_method=gram"})
    for (const bool has_prior : {false, true}) {
      const Case c{Family::low_rank, BDL_CATEGORICAL, BDL_F64, options, "map"};
      const auto create = [&](int) {
        Learner l = learner_of(c);
        Learner other = learner_of(c);
        OK(fit(l, c));
        OK(fit(other, c));
        OK(approximate(other, c));
        if (has_prior) OK(bdl_optimizer_set_prior_posterior(l.optimizer.get(), other.posterior.get()));
        return l;
      };
      const auto take = [&](Learner& l, int) {
        return bdl_optimizer_laplace(l.optimizer.get(), bdl_f64(x.data(), rows, RankData::inputs),
                                     bdl_f64(classes.data(), rows, 1));
      };
      const bool by_gram = std::string(options) == "eigen_method=gram";
      Learner eight = create(0), one = create(0);
      one.set("shards", 1);
      if (!by_gram) {
        OK(take(eight, 0));
        OK(take(one, 0));
        const Vector sums = moments_of(eight.posterior), whole = moments_of(one.posterior);
        for (std::size_t i = 0; i < whole.size(); ++i)
          assert_close(sums[i], whole[i], 1e-8 * (1e-3 + std::fabs(whole[i])), options);
      }
      for (const int ranks : rank_counts) {
        const auto results = on_ranks(ranks, create, take);
        assert_all(results, by_gram ? BDL_ERROR_UNSUPPORTED : BDL_OK);
        if (!by_gram) assert_same_bytes(results, bytes_of(eight), options);
      }
    }
}

void blank_posteriors_have_no_approximation(void**) {
  const auto blank = on_ranks(
      2, [&](int) { return learner_of(cases[4]); },
      [&](Learner& l, int) { return approximate(l, cases[4]); });
  assert_all(blank, BDL_ERROR_UNSUPPORTED);
  assert_words(blank[0], "blank");
}

}  // namespace

int test_rank_laplace_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_the_number_of_ranks),
      cmocka_unit_test(shards_add_up_to_all_rows),
      cmocka_unit_test(data_sets_fail_on_all),
      cmocka_unit_test(many_rows_are_added_up),
      cmocka_unit_test(blank_posteriors_have_no_approximation),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
