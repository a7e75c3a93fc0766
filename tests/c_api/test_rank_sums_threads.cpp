// Ranks that keep their curvature rows and add up what is made of them: option exchange "sums".
#include <numeric>
#include <string>

#include "rank_cases.hpp"
#include "rank_user_model.hpp"

namespace {

constexpr const char* convolutions = "input 1 2 2\nconv 3 3 pad 1\nrelu\nconv 4 2\nrelu\nflatten\ndense 3\n";
constexpr const char* normalised = "input 4\ndense 8\nbatchnorm\nrelu\ndense 3\n";

const Case cases[] = {
    {"slang", BDL_CATEGORICAL, BDL_F32, "exchange=sums eigen_method=randomized"},
    {"slang", BDL_CATEGORICAL, BDL_F64, "exchange=sums eigen_method=randomized guard=0"},
    {"slang", BDL_GAUSSIAN, BDL_F64,
     "exchange=sums eigen_method=randomized learn_noise=1 learn_prior=1 sample_sharing=shard guard=0.01"},
    {"slang", BDL_CATEGORICAL, BDL_F32, "exchange=sums eigen_method=outer"},
    {"slang-ggn", BDL_GAUSSIAN, BDL_F32, "exchange=sums eigen_method=randomized learn_noise=1 threads=2"},
    {"slang-lin-hess", BDL_CATEGORICAL, BDL_F64, "exchange=sums eigen_method=randomized learn_prior=1"},
    {"slang-lin-ef", BDL_GAUSSIAN, BDL_F32, "exchange=sums"},
    {"slang-online-eig", BDL_CATEGORICAL, BDL_F64, "exchange=sums eigen_method=randomized"},
    {"vogn-full", BDL_CATEGORICAL, BDL_F64, "exchange=sums"},
    {"vogn-full", BDL_GAUSSIAN, BDL_F32, "exchange=sums learn_noise=1"},
    {"slang", BDL_CATEGORICAL, BDL_F32, "exchange=sums eigen_method=randomized", convolutions},
    {"slang", BDL_CATEGORICAL, BDL_F64, "exchange=sums eigen_method=randomized", convolutions},
    {"slang", BDL_CATEGORICAL, BDL_F64, "exchange=sums eigen_method=randomized", normalised},
    {"slang", BDL_GAUSSIAN, BDL_F32, "exchange=sums eigen_method=randomized threads=1",
     "input 4\ndense 1100\ntanh\ndense 2\n"},
};

void bits_do_not_depend_on_the_number_of_ranks(void**) {
  for (const Case& c : cases) assert_same_bits_on_ranks(c, c.network ? 1 : 3);
}

void training_goes_on_with_other_ranks(void**) {
  for (const int k : {0, 2, 8, 11}) assert_goes_on_with_other_ranks(cases[k]);
}

Vector stepped(const char* method, const char* network, const std::string& options,
               const Vector& prior = {}) {
  const Case c{method, BDL_CATEGORICAL, BDL_F64, options.c_str(), network};
  Learner l = learner_of(c);
  if (!prior.empty()) {
    const auto dimension = bdl_posterior_dimension(l.posterior.get());
    Posterior belief = make_posterior(BDL_F64, dimension, 2);
    const Vector mean(prior.begin(), prior.begin() + dimension),
        u(prior.begin(), prior.begin() + 2 * dimension), d(static_cast<std::size_t>(dimension), 2.0);
    OK(bdl_posterior_set_low_rank(belief.get(), bdl_f64(mean.data(), 1, dimension),
                                  bdl_f64(u.data(), dimension, 2), bdl_f64(d.data(), 1, dimension)));
    OK(bdl_optimizer_set_prior_posterior(l.optimizer.get(), belief.get()));
  }
  for (int k = 0; k < 2; ++k)
    OK(bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood)));
  return moments_of(l.posterior);
}

/// Steps by sums are those by rows of the same method, but for rounding.
void sums_are_those_of_the_rows(void**) {
  const struct {
    const char *method, *options;
  } methods[] = {{"slang", "eigen_method=randomized"},
                 {"slang", "eigen_method=randomized guard=0.01"},
                 {"slang", "eigen_method=randomized guard=0 eigen_passes=3"},
                 {"slang", "eigen_method=outer"},
                 {"slang-ggn", "eigen_method=randomized"},
                 {"slang-lin-hess", "eigen_method=randomized"},
                 {"slang-online-eig", "eigen_method=randomized"},
                 {"vogn-full", ""}};
  for (const char* network : {"input 4\ndense 6\ntanh\ndense 3\n", convolutions})
    for (const auto& [method, options] : methods) {
      const Vector rows = stepped(method, network, std::string("exchange=rows ") + options),
                   sums = stepped(method, network, std::string("exchange=sums ") + options);
      for (std::size_t i = 0; i < rows.size(); ++i)
        assert_close(sums[i], rows[i], 1e-8 * (1 + std::fabs(rows[i])), method);
    }
}

/// The columns of a prior of low rank are no shard's.
void a_prior_of_low_rank_is_added_once(void**) {
  Vector numbers(400);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(0.7 * static_cast<double>(i));
  const char* const network = "input 4\ndense 6\ntanh\ndense 3\n";
  const Vector rows = stepped("slang", network, "exchange=rows eigen_method=randomized", numbers),
               sums = stepped("slang", network, "exchange=sums eigen_method=randomized", numbers),
               other = stepped("slang", network, "exchange=sums eigen_method=randomized");
  for (std::size_t i = 0; i < rows.size(); ++i)
    assert_close(sums[i], rows[i], 1e-8 * (1 + std::fabs(rows[i])), "prior");
  assert_true(sums != other);
}

/// Of all ranks together (docs/distributed.md, "How long a step takes").
void bytes_are_those_of_the_formula(void**) {
  const Case c{"slang", BDL_CATEGORICAL, BDL_F32, ""};
  constexpr int64_t hidden = 8, classes = 3, l = 3, samples = 5, columns = l + 8, passes = 2,
                    dimension = hidden * RankData::inputs + classes * hidden;
  for (const int count : {2, 4}) {
    RankThreads threads(count);
    std::vector<int64_t> received(static_cast<std::size_t>(count));
    threads.run([&](RankThreads::Rank& rank) {
      const Learner learner(make_mlp(c.dtype, {RankData::inputs, hidden, classes}, c.likelihood, false),
                            c.dtype, l, RankData::rows, c.method);
      bdl_optimizer_set_text(learner.optimizer.get(),
                             "shards=8 learn_prior=0 samples=5 exchange=sums eigen_method=randomized");
      received[static_cast<std::size_t>(rank.number)] = received_in_second_step(learner, rank, c.likelihood);
    });
    const int64_t ranks = count, exchanges = count == 2 ? 1 : 2;
    const int64_t vectors = 4 * dimension * (2 * passes * columns + 2 * l + 4 + samples + 1),
                  small = 8 * ((passes + 2) * columns * columns + (passes + 1) * columns * l + l * samples +
                               l * l + l),
                  products = ranks * 4 * columns * (columns + 1),
                  numbers = ranks * 8 * (5 + 1 + 1);  // 5, a target, and a group of the prior
    // In front of messages: agreement, four votes, the first sum; the other sums; passes. All but the first
    // sum begin with a vote.
    const int64_t sums = passes + 1 + 1 + 2, shared = (passes + 2) + (passes + 1) + 2 + 1 + 2;
    const int64_t fronts = 64 + 4 * 16 + 16 + (sums + shared) * 2 * 16, swaps = (1 + sums) * 16 * exchanges;
    assert_int_equal(std::accumulate(received.begin(), received.end(), int64_t{0}),
                     (ranks - 1) * (vectors + small + products + numbers + ranks * fronts) + ranks * swaps);
  }
}

/// 1200 rows of a convolutional network: sums are faster, and automatic takes them; not with few rows, one
/// shard, or a method that asks for pairs of rows.
void automatic_depends_on_the_sizes(void**) {
  const char* const wide = "input 1 2 2\nconv 24 2\nrelu\nflatten\ndense 3\n";
  const auto same = [](const char* network, const std::string& options, const char* exchange) {
    return stepped("slang", network, "samples=40 " + options) ==
           stepped("slang", network, "samples=40 " + options + " exchange=" + exchange);
  };
  assert_true(same(wide, "", "sums"));
  assert_false(same(wide, "", "rows"));
  assert_true(same(wide, "eigen_method=gram", "rows"));
  assert_true(same(wide, "samples=2", "rows"));
  assert_true(same(wide, "shards=1", "rows"));
  assert_true(same(wide, "shards=1", "sums"));
}

/// What sums cannot give is refused, and rows are taken where the choice is automatic.
void what_needs_whole_rows_is_refused(void**) {
  const struct {
    const char *method, *options, *word;
  } refused[] = {{"slang", "eigen_method=gram", "pairs of rows"},
                 {"slang", "mean_update=unprojected", "whole rows"},
                 {"slang", "rule=bbb", "plain gradients"},
                 {"kfac", "", "Kronecker"}};
  for (const auto& [method, options, word] : refused) {
    const Case c{method, BDL_CATEGORICAL, BDL_F64, options};
    Learner l = learner_of(c);
    assert_int_equal(bdl_optimizer_set_text(l.optimizer.get(), "exchange=sums"), BDL_ERROR_UNSUPPORTED);
    assert_non_null(std::strstr(bdl_last_error(), word));
    assert_non_null(std::strstr(bdl_last_error(), "\"exchange\""));
    OK(fit(l, c, 1));
  }
}

void ranks_agree_on_it(void**) {
  const auto results = on_ranks(
      3,
      [](int rank) {
        return learner_of({"slang", BDL_CATEGORICAL, BDL_F64, rank == 1 ? "exchange=sums" : "exchange=rows"});
      },
      [](Learner& l, int) { return fit(l, cases[0], 1); });
  assert_all(results, BDL_ERROR_INVALID_ARGUMENT);
  assert_words(results[0], "rank 1 of 3 differs from rank 0 in option \"exchange\"");
}

void every_message_may_be_lost(void**) {
  const Case c{"slang", BDL_GAUSSIAN, BDL_F64, "exchange=sums eigen_method=randomized"};
  assert_messages_may_be_lost([&](int) { return learner_of(c); },
                              [&](Learner& l, int) { return fit(l, c, 1); },
                              [](int call) { return call + 1 + call / 40; });
}

/// Infinity on one rank: training ran away on all, after the same step. Without it: rows of the caller's
/// stay, too, and give the same bits.
void models_of_the_callers(void**) {
  std::string alone;
  for (const int ranks : {1, 2, 3})
    for (const int bad_call : {0, 1, 3}) {
      std::vector<UserLine> lines(static_cast<std::size_t>(ranks));
      if (ranks > 1) lines[1] = {bad_call, true};
      std::vector<int64_t> steps(static_cast<std::size_t>(ranks));
      const auto results = on_ranks(
          ranks,
          [&](int rank) {
            Learner l(line_of(lines[static_cast<std::size_t>(rank)]), BDL_F64, 2, RankData::rows, "slang");
            bdl_optimizer_set_text(l.optimizer.get(),
                                   "minibatch=24 shards=4 guard=0 exchange=sums eigen_method=randomized");
            return l;
          },
          [&](Learner& l, int rank) {
            const bdl_status status =
                bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(),
                                  bdl_f64(data.targets.data(), RankData::rows, 1), 1, nullptr, nullptr);
            steps[static_cast<std::size_t>(rank)] = steps_of(l);
            return status;
          });
      assert_all(results, bad_call > 0 && ranks > 1 ? BDL_ERROR_DIVERGED : BDL_OK);
      for (const int64_t step : steps) assert_int_equal(step, steps[0]);
      if (alone.empty()) alone = results[0].bytes;
      assert_same_bytes(results, bad_call > 0 && ranks > 1 ? results[0].bytes : alone, "user model");
    }
}

}  // namespace

int test_rank_sums_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_the_number_of_ranks),
      cmocka_unit_test(training_goes_on_with_other_ranks),
      cmocka_unit_test(sums_are_those_of_the_rows),
      cmocka_unit_test(a_prior_of_low_rank_is_added_once),
      cmocka_unit_test(bytes_are_those_of_the_formula),
      cmocka_unit_test(automatic_depends_on_the_sizes),
      cmocka_unit_test(what_needs_whole_rows_is_refused),
      cmocka_unit_test(ranks_agree_on_it),
      cmocka_unit_test(every_message_may_be_lost),
      cmocka_unit_test(models_of_the_callers),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
