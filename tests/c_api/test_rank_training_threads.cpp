// Ranks train together: results are identical for any number of them, for every method that works on shards,
// even if training goes on with another number.
#include <numeric>
#include <string>

#include "rank_cases.hpp"
#include "rank_user_model.hpp"

namespace {

const Case cases[] = {
    {"map", BDL_CATEGORICAL, BDL_F64, ""},
    {"sgd", BDL_GAUSSIAN, BDL_F32, "learning_rate=0.01"},
    {"mc-dropout", BDL_GAUSSIAN, BDL_F64, ""},
    {"mc-dropout", BDL_CATEGORICAL, BDL_F32, "sample_sharing=shard"},
    {"bbb", BDL_CATEGORICAL, BDL_F32, ""},
    {"bbb", BDL_GAUSSIAN, BDL_F64, "sample_sharing=shard threads=2"},
    {"vogn", BDL_CATEGORICAL, BDL_F64, ""},
    {"vogn", BDL_CATEGORICAL, BDL_F32, "sample_sharing=shard learn_prior=1"},
    {"vogn", BDL_GAUSSIAN, BDL_F32, "learn_prior=1 learn_noise=1 sampling=replacement"},
    {"vogn", BDL_STUDENT_T, BDL_F64, "learn_noise=1 sample_groups=2"},
    {"ogn", BDL_GAUSSIAN, BDL_F64, "learn_prior=1 learn_noise=1"},
    {"ivon", BDL_CATEGORICAL, BDL_F32, ""},
    {"ivon", BDL_GAUSSIAN, BDL_F64, "learn_noise=1"},
    {"slang", BDL_CATEGORICAL, BDL_F32, ""},
    {"slang", BDL_CATEGORICAL, BDL_F64, "eigen_method=randomized guard=0"},
    {"slang", BDL_GAUSSIAN, BDL_F64, "learn_noise=1 learn_prior=1 sample_sharing=shard"},
    {"slang", BDL_GAUSSIAN, BDL_F32, "rule=bbb learning_rate=0.001"},
    {"slang-ggn", BDL_CATEGORICAL, BDL_F64, ""},
    {"slang-ggn", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 threads=2"},
    {"slang-lin-hess", BDL_CATEGORICAL, BDL_F64, ""},
    {"slang-lin-ef", BDL_GAUSSIAN, BDL_F32, ""},
    {"slang-online-eig", BDL_CATEGORICAL, BDL_F64, ""},
    // Vectors of several parts, and layers that go to one shard as a whole.
    {"slang", BDL_CATEGORICAL, BDL_F32, "eigen_method=gram threads=1",
     "input 4\ndense 1100\nrelu\ndense 3\n"},
    {"slang", BDL_GAUSSIAN, BDL_F64, "eigen_method=randomized threads=1",
     "input 4\ndense 1100\ntanh\ndense 2\n"},
    {"slang", BDL_CATEGORICAL, BDL_F32, "",
     "input 1 2 2\nconv 3 3 pad 1\nrelu\nconv 4 2\nrelu\nflatten\ndense 3\n"},
    {"vogn-full", BDL_CATEGORICAL, BDL_F64, ""},
    {"vogn-full", BDL_GAUSSIAN, BDL_F32, "learn_noise=1"},
    {"kfac", BDL_CATEGORICAL, BDL_F64, ""},
    {"kfac", BDL_GAUSSIAN, BDL_F32, "learn_noise=1"},
    {"noisy-kfac", BDL_CATEGORICAL, BDL_F32, "fisher=sampled"},
    {"noisy-kfac", BDL_GAUSSIAN, BDL_F64, "fisher=empirical"},
    {"noisy-kfac", BDL_CATEGORICAL, BDL_F64, "eigen_interval=3", nullptr, true},
    {"kfac", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 eigen_interval=4", nullptr, true},
    {"elrg", BDL_CATEGORICAL, BDL_F64, ""},
    {"elrg-d", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 learn_prior=1"},
    {"mf-vi", BDL_CATEGORICAL, BDL_F32, ""},
    {"k-tied", BDL_GAUSSIAN, BDL_F64, ""},
    {"low-rank-vi", BDL_CATEGORICAL, BDL_F64, ""},
    {"von", BDL_CATEGORICAL, BDL_F64, ""},
    {"von", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 guard=0"},
    {"von", BDL_CATEGORICAL, BDL_F32, "probes=3 samples=2 sample_sharing=shard"},
    {"von", BDL_GAUSSIAN, BDL_F64, "curvature=mc-reparam"},
    {"von-full", BDL_CATEGORICAL, BDL_F64, ""},
    {"von-full", BDL_GAUSSIAN, BDL_F32, "learn_noise=1 samples=2"},
    {"swag", BDL_CATEGORICAL, BDL_F64, ""},
    {"swag", BDL_GAUSSIAN, BDL_F32, "learning_rate=0.01"},
    {"slang", BDL_CATEGORICAL, BDL_F64, "eigen_method=randomized", nullptr, true},
    {"slang", BDL_GAUSSIAN, BDL_F32, "learn_noise=1", nullptr, true},
    {"slang", BDL_CATEGORICAL, BDL_F64, "", "input 4\ndense 8\nbatchnorm\nrelu\ndense 3\n"},
};

void bits_do_not_depend_on_the_number_of_ranks(void**) {
  const int most_of_networks = bdl::testing::sanitized_stride > 1 ? 2 : 3;  // they are larger
  for (const Case& c : cases)
    c.network ? assert_same_bits_on_ranks(c, 1, most_of_networks) : assert_same_bits_on_ranks(c, 3);
}

/// Shards do change the order of the rows, and so the results.
void shards_are_a_property_of_the_course(void**) {
  const Case& c = cases[6];
  Learner eight = learner_of(c), one = learner_of(c);
  one.set("shards", 1);
  OK(fit(eight, c, 1));
  OK(fit(one, c, 1));
  assert_true(moments_of(eight.posterior) != moments_of(one.posterior));
}

/// With one rank and one shard, a communicator changes nothing.
void one_rank_trains_as_if_alone(void**) {
  for (const char* method : {"vogn", "slang", "map", "laplace"}) {
    const Case c{method, BDL_CATEGORICAL, BDL_F64, ""};
    const auto create = [&](int) {
      Model model = make_mlp(c.dtype, {RankData::inputs, 6, 3}, c.likelihood);
      return Learner(std::move(model), c.dtype, 0, RankData::rows, method);
    };
    Learner alone = create(0);
    OK(fit(alone, c, 2));
    const auto results = on_ranks(1, create, [&](Learner& l, int) { return fit(l, c, 2); });
    assert_all(results, BDL_OK);
    assert_same_bytes(results, bytes_of(alone), method);
  }
}

/// Option "shards" 0: the least power of two, which stays when training goes on with fewer ranks.
void the_number_of_shards_is_saved(void**) {
  const Case c{"vogn", BDL_CATEGORICAL, BDL_F64, ""};
  const auto create = [&](int) {
    Learner learner = learner_of(c);
    learner.set("shards", 0);
    return learner;
  };
  auto results = on_ranks(3, create, [&](Learner& l, int) { return fit(l, c, 1); });
  assert_all(results, BDL_OK);
  Learner four = learner_of(c);
  four.set("shards", 4);
  OK(fit(four, c, 1));
  four.set("shards", 0);
  assert_same_bytes(results, bytes_of(four), "three ranks");
  const std::string saved = results[0].bytes;
  OK(fit(four, c, 1));
  results = on_ranks(
      2, [&](int) { return loaded(saved); }, [&](Learner& l, int) { return fit(l, c, 1); });
  assert_all(results, BDL_OK);
  assert_same_bytes(results, bytes_of(four), "two ranks");
  // More ranks than shards.
  results = on_ranks(
      6, [&](int) { return loaded(saved); }, [&](Learner& l, int) { return fit(l, c, 1); });
  assert_all(results, BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(std::strstr(results[0].words.c_str(), "6 processes"));
}

void training_goes_on_with_other_ranks(void**) {
  for (const int k : {4, 7, 10, 13, 15, 24, 26, 29, 36, 40, 42}) assert_goes_on_with_other_ranks(cases[k]);
}

/// An interrupted course keeps its shards, even if other steps are taken in between.
void an_interrupted_course_keeps_its_shards(void**) {
  const Case c{"vogn", BDL_CATEGORICAL, BDL_F64, "progress_every=1"};
  Learner l = learner_of(c);
  int64_t until = 2;
  assert_int_equal(fit(l, c, 3, stop_at, &until), BDL_STOPPED);
  l.set("shards", 4);
  const auto step = [&] {
    return bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood));
  };
  assert_int_equal(step(), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(fit(l, c, 0), BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(std::strstr(bdl_last_error(), "the interrupted fit has 8"));
  l.set("shards", 0);
  OK(step());
  OK(fit(l, c, 0));
  l.set("shards", 4);
  OK(fit(l, c, 1));  // a new course may have others
}

/// As above, for steps on the caller's minibatches.
void steps_have_the_same_bits(void**) {
  for (const Case& c : {cases[3], cases[5], cases[8], cases[13], cases[24]}) {
    const auto steps = [&](Learner& l) {
      for (int k = 0; k < 3; ++k)
        if (const bdl_status status =
                bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood));
            status != BDL_OK)
          return status;
      return BDL_OK;
    };
    Learner alone = learner_of(c);
    OK(steps(alone));
    for (const int ranks : rank_counts) {
      const auto results = on_ranks(
          ranks, [&](int) { return learner_of(c); }, [&](Learner& l, int) { return steps(l); });
      assert_all(results, BDL_OK);
      assert_same_bytes(results, bytes_of(alone), c.method);
    }
  }
}

/// The rows of examples that were seen apart are those of the minibatch seen at once: with the same draws,
/// the step is the same but for rounding. Packets of 16 images are cut at shards of 13 or 14.
void joined_rows_are_those_of_the_minibatch(void**) {
  const char* const networks[] = {"input 4\ndense 6\ntanh\ndense 3\n",
                                  "input 1 2 2\nconv 3 3 pad 1\nrelu\nconv 4 2\nrelu\nflatten\ndense 3\n"};
  const struct {
    const char *method, *options;
  } methods[] = {{"slang", ""},
                 {"slang", "guard=0.01"},
                 {"slang-ggn", ""},
                 {"slang-lin-hess", ""},
                 {"vogn-full", ""},
                 {"von", ""},
                 {"von", "guard=0.01"},
                 {"von", "probes=2"},
                 {"von", "curvature=mc-reparam"},
                 {"von-full", ""},
                 {"kfac", ""},
                 {"noisy-kfac", "fisher=empirical"}};
  for (const char* network : networks)
    for (const auto& [method, options] : methods) {
      const bool has_hessian = std::string(method).starts_with("von"), is_dense = network == networks[0];
      if (has_hessian && !is_dense) continue;  // convolutions have none
      const Case c{method, BDL_CATEGORICAL, BDL_F64, options};
      const auto stepped = [&, name = method, with = options](int64_t shards) {
        bdl_model* model = nullptr;
        OK(bdl_model_create_network(c.dtype, network, c.likelihood, &model));
        Model m(model);
        Posterior q = posterior_for(c, m);
        Optimizer o = make_optimizer(m, q, RankData::rows, name);
        OK(bdl_optimizer_set_text(o.get(), with));
        OK(bdl_optimizer_set_int(o.get(), "shards", shards));
        for (int k = 0; k < 2; ++k)
          OK(bdl_optimizer_step(o.get(), data.inputs_matrix(), data.targets_of(c.likelihood)));
        return moments_of(q);
      };
      const Vector whole = stepped(1), joined = stepped(7);
      for (std::size_t i = 0; i < whole.size(); ++i)
        assert_close(joined[i], whole[i], 1e-8 * (1 + std::fabs(whole[i])), method);
    }
}

/// Expectations without samples: results are identical for any number of ranks, and those of one shard but
/// for rounding, if the examples are in the same order.
void exact_expectations(void**) {
  const struct {
    bdl_likelihood likelihood;
    bdl_dtype dtype;
    int64_t rank;
    const char* options;
  } problems[] = {{BDL_BERNOULLI, BDL_F64, 3, ""},
                  {BDL_BERNOULLI, BDL_F64, 2, "guard=0.01 eigen_method=randomized"},
                  {BDL_GAUSSIAN, BDL_F32, 3, "learn_noise=1 learn_prior=1 guard=0"},
                  {BDL_GAUSSIAN, BDL_F64, FULL, ""},
                  {BDL_GAUSSIAN, BDL_F64, 0, "learn_noise=1"}};
  for (const auto& p : problems) {
    const auto create = [&](int) {
      Learner l(make_mlp(p.dtype, {RankData::inputs, 1}, p.likelihood), p.dtype, p.rank, RankData::rows,
                "slang-exact-hess");
      bdl_optimizer_set_text(l.optimizer.get(), (std::string("minibatch=24 shards=8 ") + p.options).c_str());
      return l;
    };
    const Vector& y = p.likelihood == BDL_GAUSSIAN ? data.one_target : data.signs;
    const bdl_matrix targets = bdl_f64(y.data(), RankData::rows, 1);
    const auto train = [&](Learner& l, int) {
      return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), targets, 3, nullptr, nullptr);
    };
    Learner alone = create(0);
    OK(train(alone, 0));
    for (const int ranks : rank_counts) {
      const auto results = on_ranks(ranks, create, train);
      assert_all(results, BDL_OK);
      assert_same_bytes(results, bytes_of(alone), p.options);
    }
    const auto stepped = [&](int64_t shards) {
      Learner l = create(0);
      l.set("shards", shards);
      for (int k = 0; k < 2; ++k) OK(bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), targets));
      return moments_of(l.posterior);
    };
    const Vector whole = stepped(1), joined = stepped(7);
    const double tolerance = p.dtype == BDL_F64 ? 1e-8 : 1e-3;
    for (std::size_t i = 0; i < whole.size(); ++i)
      assert_close(joined[i], whole[i], tolerance * (1 + std::fabs(whole[i])), p.options);
  }
}

/// Models of the user's own, by two callbacks, whose rows are dense.
void models_of_the_users_own(void**) {
  const struct {
    const char* method;
    int64_t rank;
    const char* options;
  } problems[] = {{"map", 0, ""},
                  {"vogn", 0, "learn_noise=1"},
                  {"ivon", 0, ""},
                  {"bbb", 0, "sample_sharing=shard"},
                  {"slang", 2, "learn_noise=1"},
                  {"slang-ggn", 2, "eigen_method=randomized"},
                  {"vogn-full", FULL, "guard=0.01"},
                  {"laplace", 0, ""},
                  {"laplace", 2, "eigen_method=gram"},
                  {"laplace", FULL, ""}};
  const bdl_matrix targets = bdl_f64(data.one_target.data(), RankData::rows, 1);
  for (const auto& p : problems) {
    std::vector<UserLine> lines(8);
    const auto create = [&](int rank) {
      Learner l(line_of(lines[static_cast<std::size_t>(rank)]), BDL_F64, p.rank, RankData::rows, p.method);
      bdl_optimizer_set_text(l.optimizer.get(), (std::string("minibatch=24 shards=8 ") + p.options).c_str());
      return l;
    };
    const auto train = [&](Learner& l, int) {
      return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), targets, 3, nullptr, nullptr);
    };
    Learner alone = create(0);
    OK(train(alone, 0));
    for (const int ranks : rank_counts) {
      const auto results = on_ranks(ranks, create, train);
      assert_all(results, BDL_OK);
      for (const RankResult& result : results) assert_true(result.bytes.size() > 0);
      assert_same_bytes(results, bytes_of(alone), p.method);
    }
  }
}

/// Batch norm normalises by shard; running statistics are averages over the shards. Masks of dropout layers
/// differ from shard to shard.
void networks_that_normalise_and_mask(void**) {
  const char* const text = "input 4\ndense 8\nbatchnorm\nrelu\ndropout 0.3\ndense 3\n";
  for (const char* method : {"vogn", "ivon", "map", "bbb", "swag"}) {
    const Case c{method, BDL_CATEGORICAL, BDL_F64, ""};
    const auto create = [&](int) {
      bdl_model* model = nullptr;
      bdl_model_create_network(c.dtype, text, c.likelihood, &model);
      Model m(model);
      Posterior q = posterior_for(c, m);
      Optimizer o = make_optimizer(m, q, RankData::rows, method);
      bdl_optimizer_set_text(o.get(), "minibatch=32 shards=4");
      return Learner(std::move(m), std::move(q), std::move(o));
    };
    Learner alone = create(0);
    OK(fit(alone, c, 2));
    for (const int ranks : {2, 3}) {
      const auto results = on_ranks(ranks, create, [&](Learner& l, int) { return fit(l, c, 2); });
      assert_all(results, BDL_OK);
      assert_same_bytes(results, bytes_of(alone), method);
    }
  }
}

/// Sums of m numbers are exchanged once and gathered once, (R - 1) / R of 2 m numbers in all. Besides, there
/// are the 16 bytes in front of every message, and a few numbers in double.
void bytes_are_those_of_the_formula(void**) {
  const struct {
    const char* method;
    int64_t vectors;  // of D numbers
  } methods[] = {{"map", 1}, {"vogn", 2}, {"ivon", 2}, {"elrg", 3}, {"elrg-d", 4}, {"mf-vi", 2}};
  for (const auto& [method, vectors] : methods)
    for (const int count : {2, 4}) {
      const Case c{method, BDL_CATEGORICAL, BDL_F32, ""};
      RankThreads threads(count);
      std::vector<int64_t> received(static_cast<std::size_t>(count));
      int64_t dimension = 0;
      threads.run([&](RankThreads::Rank& rank) {
        Model model = make_mlp(c.dtype, {RankData::inputs, 8, 3}, c.likelihood, false);
        Posterior posterior = posterior_for(c, model);
        Optimizer optimizer = make_optimizer(model, posterior, RankData::rows, c.method);
        const Learner l{std::move(model), std::move(posterior), std::move(optimizer)};
        bdl_optimizer_set_text(l.optimizer.get(), "shards=8 learn_prior=0");
        received[static_cast<std::size_t>(rank.number)] = received_in_second_step(l, rank, c.likelihood);
        if (rank.number == 0) dimension = bdl_posterior_dimension(l.posterior.get());
      });
      const int64_t others = count - 1, exchanges = count == 2 ? 1 : 2, summed = vectors * dimension;
      int64_t halves = 0;  // received by rank 0, which keeps the first halves
      for (int64_t size = summed, ranks = count; ranks > 1; ranks /= 2, size /= 2) halves += size / 2;
      assert_int_equal(summed % count, 0);
      const int64_t sums = 4 * (halves + others * summed / count);
      const int64_t agreement = 64 * others, votes = 2 * 16 * others,
                    numbers = others * 8 * (7 + 1 + 1);  // 7, a target, and a group of the prior
      const int64_t expected = sums + agreement + votes + numbers + 16 * (exchanges + others);
      for (const int64_t bytes : received)
        if (bytes != expected)
          fail_msg("%s on %d ranks: %lld bytes, expected %lld", method, count, static_cast<long long>(bytes),
                   static_cast<long long>(expected));
    }
}

/// Bytes of all ranks together. The numbers that rows are made of go to every other rank once: of an example,
/// its inputs and targets, and at each sample the hidden layers' outputs, the sensitivities of all layers,
/// the network's outputs, c and w. So do the parts of what is made of the rows
/// (docs/developers/distributed.md, "How long a step takes").
void bytes_of_rows_are_those_of_the_formula(void**) {
  const Case c{"slang", BDL_CATEGORICAL, BDL_F32, "learn_prior=0"};
  constexpr int64_t inputs = RankData::inputs, hidden = 8, classes = 3, rank_of_posterior = 3, samples = 5,
                    targets = 1, n = RankData::rows * samples, dimension = hidden * inputs + classes * hidden;
  for (const int count : {2, 4}) {
    RankThreads threads(count);
    std::vector<int64_t> received(static_cast<std::size_t>(count));
    threads.run([&](RankThreads::Rank& rank) {
      Learner l(make_mlp(c.dtype, {inputs, hidden, classes}, c.likelihood, false), c.dtype, rank_of_posterior,
                RankData::rows, c.method);
      l.set("shards", 8);
      l.set("learn_prior", 0);
      l.set("samples", samples);
      bdl_optimizer_set_text(l.optimizer.get(), "eigen_method=gram");
      received[static_cast<std::size_t>(rank.number)] = received_in_second_step(l, rank, c.likelihood);
    });
    const int64_t ranks = count, exchanges = count == 2 ? 1 : 2,
                  rows = 4 * (RankData::rows * (inputs + targets) +
                              n * (hidden + (hidden + classes) + classes + 2)),
                  gram = 8 * n * (n + 1) / 2, u = 4 * dimension * rank_of_posterior,
                  vectors = 2 * 4 * dimension,  // gradient and squares
        leverages = 8 * n * ranks, projected = 2 * 4 * rank_of_posterior * n;
    const int64_t numbers = ranks * 8 * (7 + 1 + 1);  // 7, a target, and a group of the prior
    // In front of messages: agreement, two votes, sums and rows; six operations on rows, two of which are
    // sums.
    const int64_t fronts = 64 + 2 * 16 + 2 * 16 + 6 * 2 * 16, swaps = 3 * 16 * exchanges;
    assert_int_equal(
        std::accumulate(received.begin(), received.end(), int64_t{0}),
        (ranks - 1) * (rows + gram + u + vectors + leverages + projected + numbers + ranks * fronts) +
            ranks * swaps);
  }
}

/// Kronecker factors are made of the rows by each rank: of what the rows are made of, only the gradient is
/// swapped besides. Labels of the model's own are more seeds, in the steps that renew the factors.
void bytes_of_kronecker_factors_are_those_of_the_formula(void**) {
  constexpr int64_t inputs = RankData::inputs, hidden = 8, classes = 3, samples = 5, targets = 1,
                    dimension = hidden * inputs + classes * hidden;
  const struct {
    const char *method, *options;
    int64_t samples, seeds;
  } problems[] = {{"kfac", "factor_interval=1 fisher=exact", 1, 1 + classes},
                  {"kfac", "factor_interval=10 fisher=exact", 1, 1},
                  {"noisy-kfac", "factor_interval=1 fisher=sampled", samples, 2},
                  {"noisy-kfac", "factor_interval=1 fisher=empirical", samples, 1}};
  for (const auto& p : problems)
    for (const int count : {2, 4}) {
      RankThreads threads(count);
      std::vector<int64_t> received(static_cast<std::size_t>(count));
      threads.run([&](RankThreads::Rank& rank) {
        const Case c{p.method, BDL_CATEGORICAL, BDL_F32, ""};
        Model model = make_mlp(c.dtype, {inputs, hidden, classes}, c.likelihood, false);
        Posterior posterior = posterior_for(c, model);
        Optimizer optimizer = make_optimizer(model, posterior, RankData::rows, c.method);
        const Learner l{std::move(model), std::move(posterior), std::move(optimizer)};
        bdl_optimizer_set_text(l.optimizer.get(), "shards=8 learn_prior=0 samples=5");
        bdl_optimizer_set_text(l.optimizer.get(), p.options);
        received[static_cast<std::size_t>(rank.number)] = received_in_second_step(l, rank, c.likelihood);
      });
      const int64_t ranks = count, exchanges = count == 2 ? 1 : 2, columns = RankData::rows * p.samples,
                    n = columns * p.seeds;
      const int64_t rows = 4 * (RankData::rows * (inputs + targets) + columns * (hidden + classes) +
                                n * (hidden + classes + 2)),
                    gradient = 4 * dimension, numbers = ranks * 8 * (7 + 1 + 1);
      // In front of messages: agreement, two votes, sums and rows, and the gradient's vote and parts.
      const int64_t fronts = 64 + 2 * 16 + 2 * 16 + 2 * 16, swaps = 16 * exchanges;
      assert_int_equal(std::accumulate(received.begin(), received.end(), int64_t{0}),
                       (ranks - 1) * (rows + gradient + numbers + ranks * fronts) + ranks * swaps);
    }
}

}  // namespace

int test_rank_training_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_the_number_of_ranks),
      cmocka_unit_test(shards_are_a_property_of_the_course),
      cmocka_unit_test(one_rank_trains_as_if_alone),
      cmocka_unit_test(the_number_of_shards_is_saved),
      cmocka_unit_test(training_goes_on_with_other_ranks),
      cmocka_unit_test(an_interrupted_course_keeps_its_shards),
      cmocka_unit_test(steps_have_the_same_bits),
      cmocka_unit_test(joined_rows_are_those_of_the_minibatch),
      cmocka_unit_test(exact_expectations),
      cmocka_unit_test(models_of_the_users_own),
      cmocka_unit_test(networks_that_normalise_and_mask),
      cmocka_unit_test(bytes_are_those_of_the_formula),
      cmocka_unit_test(bytes_of_rows_are_those_of_the_formula),
      cmocka_unit_test(bytes_of_kronecker_factors_are_those_of_the_formula),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
