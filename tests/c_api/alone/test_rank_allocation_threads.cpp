// One rank has no memory left, wherever it asks for some: it says so, the others learn it in time, none has
// done an iteration that another has not, and the next call works.
#include "c_api/failing_allocator.hpp"
#include "c_api/rank_runs.hpp"
#include "support/sanitized.hpp"

namespace {

using bdl::testing::sanitized_stride;

constexpr int64_t most_rows = 22 * RankData::rows;  // too many for a Gram matrix of all

/// Rows over and over, each with one target.
struct Rows {
  Vector x, y;
  Rows() {
    const RankData data;
    for (int64_t i = 0; i < most_rows; ++i) {
      const int64_t row = i % RankData::rows;
      const auto from = data.x.begin() + row * RankData::inputs;
      x.insert(x.end(), from, from + RankData::inputs);
      y.push_back(data.targets[static_cast<std::size_t>(2 * row)]);
    }
  }
};
const Rows data;

/// Calls move(), which moves the bytes, without failing allocations.
template <class Move>
std::int32_t spared(Move move) {
  const bool before = std::exchange(allocator::is_spared, true);
  const std::int32_t answer = move();
  allocator::is_spared = before;
  return answer;
}

std::int32_t all_gather(void* rank, const void* send, std::int64_t bytes, void* receive,
                        const std::int64_t* sizes) {
  return spared([&] { return RankThreads::all_gather(rank, send, bytes, receive, sizes); });
}

std::int32_t exchange(void* rank, std::int32_t peer, const void* send, std::int64_t bytes, void* receive,
                      std::int64_t receive_bytes) {
  return spared([&] { return RankThreads::exchange(rank, peer, send, bytes, receive, receive_bytes); });
}

/// Also what a fit ends with: Laplace's approximation around one step.
bdl_status fit(Learner& l, int64_t rows, int64_t epochs) {
  return bdl_optimizer_fit(l.optimizer.get(), bdl_f64(data.x.data(), rows, RankData::inputs),
                           bdl_f64(data.y.data(), rows, 1), epochs, nullptr, nullptr);
}

struct Outcome {
  bdl_status status = BDL_OK, next = BDL_OK;
  int64_t steps = -1;
  std::string words, bytes;
};

struct Case {
  const char* method;
  int64_t rank, hidden, epochs;
  const char* options;
  int64_t rows = RankData::rows;
};
constexpr int64_t kronecker = -100, swag = -101;
constexpr Case cases[] = {{"exact-full", FULL, 0, 40, ""},
                          {"exact-low-rank", 1, 0, 40, ""},
                          {"vogn", 0, 5, 1, "minibatch=48"},
                          {"slang", 2, 5, 1, "minibatch=48 eigen_method=gram"},
                          {"slang", 2, 5, 1, "minibatch=48 eigen_method=randomized guard=0.001"},
                          {"vogn-full", FULL, 3, 1, "minibatch=48"},
                          {"von-full", FULL, 5, 1, "minibatch=48"},
                          {"slang-exact-hess", 2, 0, 1, "minibatch=48"},
                          {"laplace", kronecker, 0, 1, "minibatch=96"},
                          {"laplace", FULL, 0, 1, "minibatch=96"},
                          {"laplace", 1, 0, 1, "minibatch=96 eigen_method=gram"},
                          {"laplace", 1, 0, 1, "minibatch=2112 eigen_method=randomized", most_rows},
                          {"swag", swag, 0, 1, "minibatch=24 swag_every=1 swag_from=0 learning_rate=0.001"}};

Model model_of(const Case& c) {
  if (c.rank == swag) {
    bdl_model* model = nullptr;
    bdl_model_create_network(BDL_F64, "input 4\nbatchnorm\ndense 1\n", BDL_GAUSSIAN, &model);
    return Model(model);
  }
  return c.hidden > 0 ? make_mlp(BDL_F64, {RankData::inputs, c.hidden, 1}, BDL_GAUSSIAN)
                      : make_mlp(BDL_F64, {RankData::inputs, 1}, BDL_GAUSSIAN);
}

Posterior posterior_of(const Case& c, const Model& model) {
  const int64_t dimension = bdl_model_parameters(model.get());
  bdl_posterior* q = nullptr;
  if (c.rank != kronecker && c.rank != swag) return make_posterior(BDL_F64, dimension, c.rank);
  if (c.rank == kronecker)
    bdl_posterior_create_kronecker(model.get(), &q);
  else
    bdl_posterior_create_low_rank_moment(BDL_F64, dimension, 2, &q);
  return Posterior(q);
}

/// Allocation number k of a fit on rank 1 of 2 fails. Returns false if there were fewer.
bool fails_at(const Case& c, long k, Outcome (&outcomes)[2]) {
  bool has_failed = false;
  RankThreads threads(2);
  threads.run([&](RankThreads::Rank& rank) {
    allocator::is_spared = true;
    Outcome& outcome = outcomes[rank.number];
    Model model = model_of(c);
    Posterior posterior = posterior_of(c, model);
    Optimizer optimizer = make_optimizer(model, posterior, c.rows, c.method);
    Learner l(std::move(model), std::move(posterior), std::move(optimizer));
    OK(bdl_optimizer_set_text(l.optimizer.get(), "shards=2 learn_noise=1"));
    OK(bdl_optimizer_set_text(l.optimizer.get(), c.options));
    bdl_communicator* handle = nullptr;
    bdl_communicator_create(rank.number, 2, all_gather, exchange, &rank, nullptr, &handle);
    const Ranks ranks(handle);
    bdl_optimizer_set_communicator(l.optimizer.get(), handle);
    if (rank.number == 1) allocator::arm(k, k);
    allocator::is_spared = rank.number == 0;
    outcome.status = fit(l, c.rows, c.epochs);
    allocator::is_spared = true;
    if (rank.number == 1) {
      has_failed = allocator::requests >= k;
      allocator::disarm();
    }
    outcome.words = outcome.status == BDL_OK ? "" : bdl_last_error();
    outcome.bytes = bytes_of(l);
    outcome.steps = steps_of(l);
    outcome.next = fit(l, c.rows, 1);
  });
  return has_failed;
}

void every_allocation_may_fail(void**) {
  for (const Case& c : cases) {
    int unnoticed = 0;
    for (long k = 1;; k += (k < 300 ? 1 : 7) * sanitized_stride) {
      Outcome outcomes[2];
      if (!fails_at(c, k, outcomes)) {
        assert_true(k > 50 && unnoticed < 10);
        break;
      }
      const Outcome &spared = outcomes[0], &failed = outcomes[1];
      // Scratch joins its blocks if it can, and takes them anew if not.
      if (failed.status == BDL_OK && spared.status == BDL_OK && spared.bytes == failed.bytes) {
        ++unnoticed;
        continue;
      }
      if (failed.status != BDL_ERROR_OUT_OF_MEMORY || spared.status != BDL_ERROR_PEER)
        fail_msg("%s, allocation %ld: %s and %s: %s", c.method, k, bdl_status_name(spared.status),
                 bdl_status_name(failed.status), spared.words.c_str());
      assert_int_equal(spared.steps, failed.steps);
      if (spared.bytes != failed.bytes) fail_msg("%s, allocation %ld: the ranks differ", c.method, k);
      assert_int_equal(spared.next, BDL_OK);
      assert_int_equal(failed.next, BDL_OK);
    }
  }
}

}  // namespace

int test_rank_allocation_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
