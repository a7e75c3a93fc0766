// usage: bdl_bits [WORD]
// Trains every case (whose name contains the word) on one and on two threads and prints "NAME HASH": one
// number for the bits of everything learned. Two lists from the same machine, before and after a change
// that should not change results, must be the same (with OPENBLAS_NUM_THREADS=1: the sums of BLAS depend on
// its own threads). "NAME refused: STATUS" is a combination that the library does not offer. Fails if a case
// failed in another way or if two threads have other bits than one.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bits/cases.hpp"
#include "bits/learned.hpp"

namespace {

using namespace bits;

struct Outcome {
  bdl_status status;
  std::uint64_t hash;
  bool operator==(const Outcome&) const = default;
};

bool is_refusal(bdl_status status) {
  return status == BDL_ERROR_UNSUPPORTED || status == BDL_ERROR_INVALID_ARGUMENT;
}

/// Observes the rows, and adds the score of each row to the hash.
bdl_status observe(Hash& hash, const Problem& problem, bdl_optimizer* optimizer) {
  std::vector<double> scores(static_cast<std::size_t>(problem.x.rows));
  const bdl_status status = bdl_optimizer_observe(optimizer, problem.x.all(), problem.y.all(),
                                                  bdl_f64_out(scores.data(), problem.x.rows, 1));
  if (status == BDL_OK) hash.add(scores.data(), scores.size() * sizeof(double));
  return status;
}

bdl_status train(Hash& hash, const Case& c, Learner& learner) {
  std::int32_t is_stream = 0, is_exact = 0;
  (void)bdl_method_describe(c.method, nullptr, &is_stream, &is_exact, nullptr, nullptr, nullptr);
  if (is_stream) return observe(hash, *c.problem, learner.optimizer.get());
  return bdl_optimizer_fit(learner.optimizer.get(), c.problem->x.all(), c.problem->y.all(), is_exact ? 20 : 3,
                           nullptr, nullptr);
}

bdl_status prepare(const Case& c, bdl_dtype dtype, int threads, Learner& learner) {
  bdl_status status = learner.create(*c.problem, c.family, dtype, c.method);
  if (status == BDL_OK && c.problem->standardize)
    status = bdl_model_standardize(learner.model.get(), c.problem->x.all(), c.problem->y.all());
  std::int32_t is_stream = 0, is_exact = 0;
  if (status == BDL_OK)
    status = bdl_method_describe(c.method, nullptr, &is_stream, &is_exact, nullptr, nullptr, nullptr);
  const std::string common = "seed=7 threads=" + std::to_string(threads) + " ",
                    batches = is_stream || is_exact ? "" : "minibatch=8 ";
  return status == BDL_OK
             ? bdl_optimizer_set_text(learner.optimizer.get(), (common + batches + c.options).c_str())
             : status;
}

Outcome run(const Case& c, bdl_dtype dtype, int threads) {
  Learner learner;
  Hash hash;
  bdl_status status = prepare(c, dtype, threads, learner);
  if (status == BDL_OK) status = train(hash, c, learner);
  if (status == BDL_OK) add_learned(hash, *c.problem, learner);
  return {status, status == BDL_OK ? hash.value() : 0};
}

void print(const std::string& name, const Outcome& outcome) {
  if (outcome.status == BDL_OK)
    std::printf("%s %016" PRIx64 "\n", name.c_str(), outcome.hash);
  else if (is_refusal(outcome.status))
    std::printf("%s refused: %s\n", name.c_str(), bdl_status_name(outcome.status));
  else
    std::printf("%s failed: %s, %s\n", name.c_str(), bdl_status_name(outcome.status), bdl_last_error());
}

bool is_right(const Case& c, bdl_dtype dtype) {
  const std::string name = c.name() + (dtype == BDL_F64 ? "/f64" : "/f32");
  const Outcome one = run(c, dtype, 1), two = run(c, dtype, 2);
  print(name, one);
  if (one != two) print(name + " on two threads", two);
  return one == two && (one.status == BDL_OK || is_refusal(one.status));
}

}  // namespace

int main(int argc, char** argv) {
  const Cases cases;
  bool all_right = true;
  for (const Case& c : cases.all()) {
    if (argc > 1 && !std::strstr(c.name().c_str(), argv[1])) continue;
    for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) all_right = is_right(c, dtype) && all_right;
  }
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
