// Small searches: what they are made of, and everything that they know afterwards.
#pragma once

#include <string>

#include "handles.hpp"

inline constexpr int64_t folds = 3, epochs = 4, samples = 7;
inline constexpr uint64_t seed = 11;

/// A network on the made-up data of c_api_test.h, with two options that learning would override.
inline Learner prototype_for(bdl_dtype dtype, bdl_likelihood likelihood, int64_t threads = 0) {
  Learner l(make_mlp(dtype, {INPUTS, 3, outputs_for(likelihood)}, likelihood), dtype, 2, ROWS);
  l.set("learn_prior", 0);
  l.set("learn_noise", 0);
  l.set("minibatch", 5);
  l.set("threads", threads);
  return l;
}

inline Search make_search(const Learner& prototype) {
  bdl_search* search = nullptr;
  OK(bdl_search_create(prototype.optimizer.get(), folds, epochs, BDL_MONTE_CARLO, samples, seed, &search));
  return Search(search);
}

/// Makes a search over one option of each type.
inline Search search_of_three(const Learner& prototype) {
  Search search = make_search(prototype);
  OK(bdl_search_add_double(search.get(), "prior_precision", 0.01, 100, BDL_SCALE_LOG));
  OK(bdl_search_add_int(search.get(), "samples", 1, 6, BDL_SCALE_LINEAR));
  OK(bdl_search_add_choice(search.get(), "curvature", "mc-ggn | mc-ef"));
  return search;
}

struct TrialRecord {
  Vector values;
  double score, standard_error;
  std::string message;
};

inline TrialRecord trial_of(const Search& search, int64_t trial, int64_t ranges) {
  TrialRecord record{Vector(static_cast<std::size_t>(ranges)), 0, 0, {}};
  const char* message = nullptr;
  OK(bdl_search_trial(search.get(), trial, bdl_f64_out(record.values.data(), 1, ranges), &record.score,
                      &record.standard_error, &message));
  record.message = message;
  return record;
}

/// Returns all trials as numbers that tests compare exactly: a failed trial has zeros for its scores.
inline Vector all_trials(const Search& search, int64_t ranges) {
  Vector all;
  for (int64_t k = 0; k < bdl_search_trial_count(search.get()); ++k) {
    const TrialRecord record = trial_of(search, k, ranges);
    all.insert(all.end(), record.values.begin(), record.values.end());
    const bool failed = !record.message.empty();
    assert_true(failed == std::isnan(record.score) && failed == std::isnan(record.standard_error));
    all.push_back(failed ? 0 : record.score);
    all.push_back(failed ? 0 : record.standard_error);
  }
  return all;
}
