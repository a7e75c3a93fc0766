// Cases that ranks train in tests: a method with options, on the data of rank_runs.hpp.
#pragma once

#include "rank_runs.hpp"

inline const RankData data;

struct Case {
  const char* method;
  bdl_likelihood likelihood;
  bdl_dtype dtype;
  const char* options;
  const char* network = nullptr;  ///< but for six hidden units
  bool has_prior = false;         ///< the posterior of a first course
};

inline Posterior posterior_for(const Case& c, const Model& model) {
  bdl_posterior* posterior = nullptr;
  if (std::string(c.method) == "mc-dropout") {
    bdl_posterior_create_dropout(model.get(), 0.1, 0.2, &posterior);
    return Posterior(posterior);
  }
  const std::string method = c.method;
  const auto dimension = bdl_model_parameters(model.get());
  if (method.ends_with("kfac"))
    bdl_posterior_create_kronecker(model.get(), &posterior);
  else if (method.starts_with("elrg") || method == "mf-vi" || method == "k-tied" || method == "low-rank-vi")
    bdl_posterior_create_layerwise_low_rank_moment(model.get(), method[0] == 'e' || method[0] == 'l' ? 2 : 0,
                                                   &posterior);
  else if (method == "swag")
    bdl_posterior_create_low_rank_moment(c.dtype, dimension, 3, &posterior);
  else if (method.ends_with("-full"))
    bdl_posterior_create_full(c.dtype, dimension, &posterior);
  else
    bdl_posterior_create_low_rank(c.dtype, dimension, method.starts_with("slang") ? 3 : 0, &posterior);
  return Posterior(posterior);
}

inline Learner without_prior(const Case& c) {
  bdl_model* network = nullptr;
  if (c.network) bdl_model_create_network(c.dtype, c.network, c.likelihood, &network);
  Model model = network ? Model(network)
                        : make_mlp(c.dtype, {RankData::inputs, 6, c.likelihood == BDL_CATEGORICAL ? 3 : 2},
                                   c.likelihood);
  Posterior posterior = posterior_for(c, model);
  Optimizer optimizer = make_optimizer(model, posterior, RankData::rows, c.method);
  bdl_optimizer_set_text(optimizer.get(), (std::string("minibatch=24 shards=8 ") + c.options).c_str());
  return {std::move(model), std::move(posterior), std::move(optimizer)};
}

inline Learner learner_of(const Case& c) {
  Learner learner = without_prior(c);
  if (!c.has_prior) return learner;
  const Learner first = without_prior(c);
  bdl_optimizer_fit(first.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood), 1, nullptr,
                    nullptr);
  bdl_optimizer_set_prior_posterior(learner.optimizer.get(), first.posterior.get());
  return learner;
}

inline bdl_status fit(Learner& learner, const Case& c, int64_t epochs, bdl_progress_fn progress = nullptr,
                      void* user_data = nullptr) {
  return bdl_optimizer_fit(learner.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood),
                           epochs, progress, user_data);
}

/// Returns the bytes that one rank receives in the second step.
inline int64_t received_in_second_step(const Learner& l, RankThreads::Rank& rank, bdl_likelihood likelihood) {
  const Ranks ranks = communicator_of(rank);
  bdl_optimizer_set_communicator(l.optimizer.get(), ranks.get());
  int64_t before = 0, after = 0;
  bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(likelihood));
  bdl_communicator_statistics(ranks.get(), nullptr, nullptr, &before, nullptr);
  bdl_optimizer_step(l.optimizer.get(), data.inputs_matrix(), data.targets_of(likelihood));
  bdl_communicator_statistics(ranks.get(), nullptr, nullptr, &after, nullptr);
  return after - before;
}

/// Trains on each of rank_counts that is at most `most`, and expects identical results.
inline void assert_same_bits_on_ranks(const Case& c, int64_t epochs, int most = 8) {
  Learner alone = learner_of(c);
  OK(fit(alone, c, epochs));
  const std::string expected = bytes_of(alone);
  for (const int ranks : rank_counts) {
    if (ranks > most) break;
    const auto results = on_ranks(
        ranks, [&](int) { return learner_of(c); }, [&](Learner& l, int) { return fit(l, c, epochs); });
    assert_all(results, BDL_OK);
    assert_same_bytes(results, expected, c.method);
  }
}

/// Stopped on four ranks, gone on with by two, stopped, gone on with by three.
inline void assert_goes_on_with_other_ranks(Case c) {
  const std::string options = std::string(c.options) + " progress_every=1";
  c.options = options.c_str();
  Learner alone = learner_of(c);
  OK(fit(alone, c, 3));
  std::string saved;
  const auto go_on = [&](int ranks, int64_t epochs, int64_t until, bdl_status expected) {
    const auto results = on_ranks(
        ranks, [&](int) { return saved.empty() ? learner_of(c) : loaded(saved); },
        [&](Learner& l, int) { return fit(l, c, epochs, stop_at, &until); });
    assert_all(results, expected);
    assert_same_bytes(results, results[0].bytes, "stopped");
    saved = results[0].bytes;
  };
  go_on(4, 3, 3, BDL_STOPPED);
  go_on(2, 0, 7, BDL_STOPPED);
  go_on(3, 0, 100, BDL_OK);
  assert_true(saved == bytes_of(alone));
}
