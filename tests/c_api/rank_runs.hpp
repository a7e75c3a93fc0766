// Training by ranks that are threads of one process (tests/support/rank_threads.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "handles.hpp"
#include "support/rank_threads.hpp"
#include "support/sanitized.hpp"

using bdl::testing::RankThreads;

/// The results of a rank. Assertions are for the thread that has started the others.
struct RankResult {
  bdl_status status = BDL_OK;
  std::string words, bytes;
};

struct FreeCommunicator {
  void operator()(bdl_communicator* handle) const { bdl_communicator_free(handle); }
};
using Ranks = std::unique_ptr<bdl_communicator, FreeCommunicator>;

inline Ranks communicator_of(RankThreads::Rank& rank) {
  bdl_communicator* handle = nullptr;
  bdl_communicator_create(rank.number, rank.all->size(), RankThreads::all_gather, RankThreads::exchange,
                          &rank, nullptr, &handle);
  return Ranks(handle);
}

/// The checkpoint of all there is.
inline std::string bytes_of(const Learner& learner) {
  int64_t size = 0;
  bdl_save_bytes(learner.model.get(), learner.posterior.get(), learner.optimizer.get(), nullptr, 0, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bdl_save_bytes(learner.model.get(), learner.posterior.get(), learner.optimizer.get(), bytes.data(), size,
                 &size);
  return bytes;
}

inline Learner loaded(const std::string& bytes) {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), nullptr, &model, &posterior, &optimizer);
  return {Model(model), Posterior(posterior), Optimizer(optimizer)};
}

inline int64_t steps_of(const Learner& l) {
  int64_t step = -1;
  bdl_optimizer_progress(l.optimizer.get(), &step, nullptr, nullptr);
  return step;
}

inline void assert_words(const RankResult& result, const char* word) {
  if (result.words.find(word) == std::string::npos)
    fail_msg("\"%s\" does not say \"%s\"", result.words.c_str(), word);
}

/// call(learner, rank) for a learner of its own on each rank, and what came of it.
template <class Create, class Call>
std::vector<RankResult> on_ranks(RankThreads& threads, Create create, Call call) {
  std::vector<RankResult> results(static_cast<std::size_t>(threads.size()));
  threads.run([&](RankThreads::Rank& rank) {
    RankResult& result = results[static_cast<std::size_t>(rank.number)];
    Learner learner = create(rank.number);
    const Ranks ranks = communicator_of(rank);
    result.status = bdl_optimizer_set_communicator(learner.optimizer.get(), ranks.get());
    if (result.status == BDL_OK) result.status = call(learner, rank.number);
    if (result.status != BDL_OK) result.words = bdl_last_error();
    result.bytes = bytes_of(learner);
  });
  return results;
}

template <class Create, class Call>
std::vector<RankResult> on_ranks(int count, Create create, Call call) {
  RankThreads threads(count);
  return on_ranks(threads, create, call);
}

inline void assert_all(const std::vector<RankResult>& results, bdl_status status) {
  for (const RankResult& result : results)
    if (result.status != status)
      fail_msg("a rank ended with %s: %s; expected %s", bdl_status_name(result.status), result.words.c_str(),
               bdl_status_name(status));
}

inline void assert_same_bytes(const std::vector<RankResult>& results, const std::string& expected,
                              const char* what) {
  for (std::size_t r = 0; r < results.size(); ++r)
    if (results[r].bytes != expected)
      fail_msg("%s: rank %d of %d has other bits", what, static_cast<int>(r),
               static_cast<int>(results.size()));
}

/// 96 rows of four inputs, with classes, two real targets, the first of them alone, and its sign as 0 or 1.
struct RankData {
  static constexpr int64_t rows = 96, inputs = 4;
  std::vector<double> x, classes, targets, one_target, signs;
  RankData() {
    for (int64_t i = 0; i < rows; ++i) {
      const double t = 0.37 * static_cast<double>(i);
      const double values[] = {std::sin(t), std::cos(2 * t), std::sin(3 * t + 1), std::cos(0.1 * t)};
      x.insert(x.end(), values, values + inputs);
      classes.push_back(values[0] > 0.3 ? 2 : values[1] > 0 ? 1 : 0);
      targets.push_back(values[0] * values[1] + 0.1 * std::sin(17 * t));
      one_target.push_back(targets.back());
      signs.push_back(targets.back() > 0 ? 1 : 0);
      targets.push_back(values[2] - values[3] + 0.1 * std::sin(23 * t));
    }
  }
  bdl_matrix inputs_matrix() const { return bdl_f64(x.data(), rows, inputs); }
  bdl_matrix targets_of(bdl_likelihood likelihood) const {
    return likelihood == BDL_CATEGORICAL ? bdl_f64(classes.data(), rows, 1)
                                         : bdl_f64(targets.data(), rows, 2);
  }
};

/// A progress function: ends at the step that user_data points to.
inline int32_t stop_at(void* user_data, const bdl_optimizer* optimizer) {
  int64_t step = 0;
  bdl_optimizer_progress(optimizer, &step, nullptr, nullptr);
  return step >= *static_cast<int64_t*>(user_data) ? 1 : 0;
}

/// The numbers of ranks whose results are compared.
inline const std::vector<int> rank_counts =
    bdl::testing::sanitized_stride > 1 ? std::vector{2, 3} : std::vector{1, 2, 3, 4, 8};

/// The communicator of rank 2 fails in each of its calls in turn: every rank that has lost a message fails
/// with an error, and none crashes. A rank that had received all it needed may succeed.
template <class Make, class Train>
void assert_messages_may_be_lost(Make make, Train train) {
  for (const auto fault : {RankThreads::Fault::fails, RankThreads::Fault::garbage})
    for (int call = 1;; call += bdl::testing::sanitized_stride) {
      RankThreads threads(3);
      threads.rank(2).fault = fault;
      threads.rank(2).faulty_call = call;
      const auto results = on_ranks(threads, make, train);
      if (threads.rank(2).calls < call) {
        assert_all(results, BDL_OK);
        break;
      }
      if (results[2].status != BDL_ERROR_COMMUNICATION)
        fail_msg("call %d: %s", call, bdl_status_name(results[2].status));
      for (const RankResult& result : results)
        assert_true(result.status == BDL_OK || result.status == BDL_ERROR_COMMUNICATION);
    }
}
