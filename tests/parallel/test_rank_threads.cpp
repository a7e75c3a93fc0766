// Sums over shards are identical for any number of ranks; ranks leave a call together; lost messages are
// noticed.
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ranks/team.hpp"
#include "ranks/tree_sums.hpp"
#include "support/rank_threads.hpp"
#include "support/verify.hpp"

using namespace bdl;
using namespace bdl::testing;

namespace {

std::shared_ptr<Communicator> communicator_of(RankThreads::Rank& rank) {
  return std::make_shared<Communicator>(
      rank.number, rank.all->size(),
      Communicator::Callbacks{RankThreads::all_gather, RankThreads::exchange, &rank});
}

/// Returns number i of shard v: numbers have many magnitudes, so that any other order rounds differently.
template <class T>
T value(Index v, Index i) {
  const double number = std::sin(static_cast<double>(1 + 7 * v + 13 * i));
  return static_cast<T>(std::ldexp(number, static_cast<int>((v * 5 + i * 3) % 23)));
}

/// Returns the sum by the definition of the tree.
template <class T>
T tree_sum(Index first, Index end, Index i) {
  if (end - first == 1) return value<T>(first, i);
  const Index half = first + (end - first) / 2;
  return tree_sum<T>(first, half, i) + tree_sum<T>(half, end, i);
}

template <class T>
struct Sums {
  std::vector<T> values;
  std::vector<double> numbers;
  CommunicatorStatistics statistics;
  std::string failure;
};

template <class T>
std::vector<Sums<T>> sums_on(int ranks, Index shards, Index size, Index count) {
  RankThreads threads(ranks);
  std::vector<Sums<T>> results(static_cast<std::size_t>(ranks));
  threads.run([&](RankThreads::Rank& rank) {
    Sums<T>& result = results[static_cast<std::size_t>(rank.number)];
    Team team;
    team.join(communicator_of(rank));
    TreeSums<T> sums;
    sums.reserve(rank.number, ranks, shards, size, count);
    try {
      for (int repetition = 0; repetition < 2; ++repetition) {
        sums.add_own([&](Index v, const Summand<T>& out) {
          for (Index i = 0; i < size; ++i) out.values[static_cast<std::size_t>(i)] = value<T>(v, i);
          for (Index i = 0; i < count; ++i) out.numbers[static_cast<std::size_t>(i)] = value<double>(v, i);
        });
        sums.finish(team);
      }
    } catch (const Error& error) {
      result.failure = error.what();
    }
    result.values.assign(sums.values().begin(), sums.values().end());
    result.numbers.assign(sums.numbers().begin(), sums.numbers().end());
    result.statistics = team.communicator()->statistics();
  });
  return results;
}

template <class T>
void sums_are_those_of_the_tree(void**) {
  for (const Index shards : {1, 2, 3, 6, 8, 13})
    for (int ranks = 1; ranks <= std::min<Index>(shards, 8); ++ranks)
      for (const Index size : {0, 1, 7, 64}) {
        for (const Sums<T>& sums : sums_on<T>(ranks, shards, size, 3)) {
          assert_string_equal(sums.failure.c_str(), "");
          for (Index i = 0; i < size; ++i) {
            const T expected = tree_sum<T>(0, shards, i);
            assert_memory_equal(&sums.values[static_cast<std::size_t>(i)], &expected, sizeof expected);
          }
          for (Index i = 0; i < 3; ++i)
            assert_true(sums.numbers[static_cast<std::size_t>(i)] == tree_sum<double>(0, shards, i));
        }
      }
}

/// 2 (R - 1) / R times the numbers, and what each message has in front: log2 R exchanges and a gather.
void bytes_are_those_of_a_reduce_scatter_and_a_gather(void**) {
  for (const int ranks : {2, 4, 8}) {
    const Index size = 640, count = 3, logarithm = ranks == 2 ? 1 : ranks == 4 ? 2 : 3;
    const Index expected =
        2 * (2 * (ranks - 1) * size / ranks * 4 + logarithm * 16 + (ranks - 1) * (16 + count * 8));
    for (const Sums<float>& sums : sums_on<float>(ranks, 8, size, count)) {
      assert_int_equal(sums.statistics.received, expected);
      assert_int_equal(sums.statistics.sent, expected);
      assert_int_equal(sums.statistics.calls, 2 * (logarithm + 1));
    }
  }
}

struct Outcome {
  Status status = Status::OK;
  std::string words;
};

/// Returns the outcome of work(team, rank) on each rank.
std::vector<Outcome> outcomes_of(int ranks, const std::function<void(Team&, int)>& work) {
  RankThreads threads(ranks);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  threads.run([&](RankThreads::Rank& rank) {
    Team team;
    team.join(communicator_of(rank));
    Outcome& outcome = outcomes[static_cast<std::size_t>(rank.number)];
    try {
      team.begin();
      work(team, rank.number);
    } catch (const Error& error) {
      outcome = {error.status(), error.what()};
    } catch (const std::bad_alloc&) {
      outcome = {Status::ERROR_OUT_OF_MEMORY, "own"};
    }
  });
  return outcomes;
}

void failures_reach_all_ranks_at_the_next_message(void**) {
  bool went_on = false;
  const auto outcomes = outcomes_of(3, [&](Team& team, int rank) {
    team.attempt([&] {
      if (rank == 1) throw std::bad_alloc();
    });
    team.vote();
    went_on = true;
  });
  assert_false(went_on);
  assert_true(outcomes[1].status == Status::ERROR_OUT_OF_MEMORY && outcomes[1].words == "own");
  for (const std::size_t r : {0, 2}) {
    assert_true(outcomes[r].status == Status::ERROR_PEER);
    assert_string_equal(outcomes[r].words.c_str(), "process 1 of 3 has failed: out of memory");
  }
}

/// All ranks report divergence, unless another rank has a failure of its own.
void common_failures_are_the_same_for_all(void**) {
  auto outcomes = outcomes_of(3, [&](Team& team, int rank) {
    team.attempt([&] {
      if (rank == 2) (bdl::fail)(Status::ERROR_DIVERGED, "outputs are not finite");
    });
    team.vote();
  });
  for (const Outcome& outcome : outcomes) assert_true(outcome.status == Status::ERROR_DIVERGED);
  assert_string_equal(outcomes[0].words.c_str(), "process 2 of 3 says: outputs are not finite");
  assert_string_equal(outcomes[2].words.c_str(), "outputs are not finite");
  outcomes = outcomes_of(3, [&](Team& team, int rank) {
    team.attempt([&] {
      if (rank == 0) (bdl::fail)(Status::ERROR_DIVERGED, "outputs are not finite");
      if (rank == 2) (bdl::fail)(Status::ERROR_CALLBACK, "no");
    });
    team.vote();
  });
  assert_true(outcomes[0].status == Status::ERROR_PEER && outcomes[1].status == Status::ERROR_PEER);
  assert_true(outcomes[2].status == Status::ERROR_CALLBACK);
  assert_string_equal(outcomes[0].words.c_str(), "process 2 of 3 has failed: no");
}

void one_rank_that_wants_to_stop_is_enough(void**) {
  std::vector<int> stops(3);
  outcomes_of(3, [&](Team& team, int rank) { stops[static_cast<std::size_t>(rank)] = team.vote(rank == 1); });
  for (const int stop : stops) assert_true(stop == 1);
}

const char* option_name(Index i) {
  return i == 1 ? "second" : "other";
}

void differences_are_named(void**) {
  using Change = void (*)(Agreement&);
  const std::pair<Change, const char*> cases[] = {
      {[](Agreement& a) { a.version = 1; }, "version"}, {[](Agreement& a) { a.call = 1; }, "function"},
      {[](Agreement& a) { a.dtype = 1; }, "dtype"},     {[](Agreement& a) { a.shapes = 1; }, "size of data"},
      {[](Agreement& a) { a.shards = 1; }, "shards"},   {[](Agreement& a) { a.options = 1; }, "\"second\""},
      {[](Agreement& a) { a.prior = 1; }, "prior"},     {[](Agreement& a) { a.step = 1; }, "steps taken"},
      {[](Agreement& a) { a.state = 1; }, "posterior"},
  };
  for (const auto& [change, word] : cases)
    for (const Outcome& outcome : outcomes_of(4, [&, change = change](Team&team, int rank) {
           Agreement agreement;
           std::uint32_t options[] = {3, 4, 5};
           if (rank == 2) change(agreement), options[1] = 9;
           team.agree(agreement, options, option_name);
         })) {
      assert_true(outcome.status == Status::ERROR_INVALID_ARGUMENT);
      assert_non_null(std::strstr(outcome.words.c_str(), word));
      assert_non_null(std::strstr(outcome.words.c_str(), "process 2 of 4"));
    }
}

/// Each fault occurs at each call of a callback: every rank ends with an error, and a communicator that has
/// lost a message is not used again.
void every_callback_may_go_wrong(void**) {
  for (const auto fault : {RankThreads::Fault::fails, RankThreads::Fault::garbage})
    for (const int ranks : {3, 4})
      for (int call = 1;; ++call) {
        RankThreads threads(ranks);
        threads.rank(1).fault = fault;
        threads.rank(1).faulty_call = call;
        std::vector<Status> first(static_cast<std::size_t>(ranks), Status::OK), second = first;
        threads.run([&](RankThreads::Rank& rank) {
          Team team;
          team.join(communicator_of(rank));
          const auto collective = [&] {
            try {
              team.begin();
              std::uint32_t options[] = {1};
              team.agree({}, options, option_name);
              TreeSums<double> sums;
              sums.reserve(rank.number, ranks, 8, 40, 2);
              team.vote();
              sums.add_own([](Index v, const Summand<double>& out) {
                std::ranges::fill(out.values, static_cast<double>(v));
                std::ranges::fill(out.numbers, 1.0);
              });
              sums.finish(team);
              return Status::OK;
            } catch (const Error& error) {
              return error.status();
            }
          };
          first[static_cast<std::size_t>(rank.number)] = collective();
          if (first[static_cast<std::size_t>(rank.number)] == Status::OK) return;
          second[static_cast<std::size_t>(rank.number)] = collective();
        });
        if (threads.rank(1).calls < call) break;  // every call has been tried
        assert_true(first[1] == Status::ERROR_COMMUNICATION);
        for (std::size_t r = 0; r < first.size(); ++r)
          assert_true(first[r] == Status::OK || second[r] == Status::ERROR_COMMUNICATION);
      }
}

}  // namespace

int test_rank_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_tree<float>),
      cmocka_unit_test(sums_are_those_of_the_tree<double>),
      cmocka_unit_test(bytes_are_those_of_a_reduce_scatter_and_a_gather),
      cmocka_unit_test(failures_reach_all_ranks_at_the_next_message),
      cmocka_unit_test(common_failures_are_the_same_for_all),
      cmocka_unit_test(one_rank_that_wants_to_stop_is_enough),
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(every_callback_may_go_wrong),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
