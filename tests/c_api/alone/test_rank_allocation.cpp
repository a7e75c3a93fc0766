// Every allocation of one rank's training fails once, the messages' own apart: both ranks leave the call,
// with that rank's error, and train when memory is back.
#include <utility>

#include "c_api/failing_allocator.hpp"
#include "c_api/rank_runs.hpp"
#include "support/sanitized.hpp"

namespace {

using bdl::testing::sanitized_stride;

const RankData data;

/// Moving bytes takes memory of its own.
template <class Move>
int32_t moved(Move move) {
  const bool before = std::exchange(allocator::is_exempt, true);
  const int32_t answer = move();
  allocator::is_exempt = before;
  return answer;
}

Ranks communicator(RankThreads::Rank& rank) {
  bdl_communicator* handle = nullptr;
  bdl_communicator_create(
      rank.number, rank.all->size(),
      [](void* user, const void* send, int64_t bytes, void* receive, const int64_t* sizes) {
        return moved([=] { return RankThreads::all_gather(user, send, bytes, receive, sizes); });
      },
      [](void* user, int32_t peer, const void* send, int64_t bytes, void* receive, int64_t received) {
        return moved([=] { return RankThreads::exchange(user, peer, send, bytes, receive, received); });
      },
      &rank, nullptr, &handle);
  return Ranks(handle);
}

struct Run {
  bdl_status first[2] = {}, second[2] = {};
  std::string words[2], bytes[2];
};

/// Allocation `failing` of the second rank's first fit fails; 0: none does.
Run train(const char* method, int64_t posterior_rank, const char* options, long failing) {
  Run run;
  RankThreads threads(2);
  threads.run([&](RankThreads::Rank& rank) {
    const auto r = static_cast<std::size_t>(rank.number);
    allocator::is_exempt = true;
    Learner l(make_mlp(BDL_F32, {RankData::inputs, 6, 3}, BDL_CATEGORICAL), BDL_F32, posterior_rank,
              RankData::rows, method);
    bdl_optimizer_set_text(l.optimizer.get(), (std::string("minibatch=48 shards=4 ") + options).c_str());
    const Ranks ranks = communicator(rank);
    bdl_optimizer_set_communicator(l.optimizer.get(), ranks.get());
    const auto fit = [&] {
      return bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), data.targets_of(BDL_CATEGORICAL), 1,
                               nullptr, nullptr);
    };
    if (rank.number == 1) allocator::arm(failing, failing);
    allocator::is_exempt = rank.number == 0;
    run.first[r] = fit();
    allocator::is_exempt = true;
    run.words[r] = bdl_last_error();
    if (run.first[r] != BDL_OK) run.second[r] = fit();
    run.bytes[r] = bytes_of(l);
  });
  return run;
}

void each_allocation_fails(const char* method, int64_t rank, const char* options) {
  const Run expected = train(method, rank, options, 0);
  assert_int_equal(expected.first[0], BDL_OK);
  assert_true(expected.bytes[0] == expected.bytes[1]);
  const long all = allocator::requests;
  assert_true(all > 20);
  for (long failing = 1; failing <= all; failing += sanitized_stride) {
    const Run run = train(method, rank, options, failing);
    allocator::disarm();
    if (run.first[0] != BDL_OK) {
      if (run.first[1] != BDL_ERROR_OUT_OF_MEMORY || run.first[0] != BDL_ERROR_PEER)
        fail_msg("%s, allocation %ld: %s (%s) and %s (%s)", method, failing, bdl_status_name(run.first[0]),
                 run.words[0].c_str(), bdl_status_name(run.first[1]), run.words[1].c_str());
      assert_int_equal(run.second[0], BDL_OK);
      assert_int_equal(run.second[1], BDL_OK);
    } else {
      assert_int_equal(run.first[1], BDL_OK);  // it was done without
    }
    if (run.bytes[0] != run.bytes[1]) fail_msg("%s, allocation %ld: other bits", method, failing);
  }
}

void steps_on_rows(void**) {
  each_allocation_fails("slang", 2, "eigen_method=gram");
  each_allocation_fails("slang", 2, "eigen_method=randomized guard=0.001");
}

void steps_on_sums(void**) {
  each_allocation_fails("vogn", 0, "");
}

}  // namespace

int test_rank_allocation() {
  const CMUnitTest tests[] = {cmocka_unit_test(steps_on_rows), cmocka_unit_test(steps_on_sums)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
