#include "streams.hpp"

#include <cmath>
#include <limits>

#include "support/dataset.h"

namespace bong {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Row measure(const Learner& learner, const Judgement& judgement, bool diverged) {
  std::vector<Score> scores(3, {nothing, nothing});
  double log_density = nothing, error = nothing;
  if (!diverged) {
    const Data& test = *judgement.held_out;
    scores[0] = evaluate(learner, test, BDL_PLUG_IN, 1);
    if (judgement.samples > 0) {
      scores[1] = evaluate(learner, test, learner.regression() ? BDL_LINEARIZED : BDL_LINEARIZED_MONTE_CARLO,
                           judgement.samples);
      scores[2] = evaluate(learner, test, BDL_MONTE_CARLO, judgement.samples);
    }
    int64_t count = 0;
    check(bdl_optimizer_prequential(learner.optimizer(), &count, &log_density, &error));
  }
  Row row;
  for (const Score& score : scores) row.push_back(number(score.nlpd));
  for (const Score& score : scores) row.push_back(number(score.error));
  row.push_back(number(-log_density));
  row.push_back(number(error));
  row.push_back(std::to_string(bdl_optimizer_shortened_steps(learner.optimizer())));
  return row;
}

}  // namespace

const Row run_header = {"data",       "rule",          "curvature",
                        "family",     "prior",         "rate",
                        "iterations", "length",        "seed",
                        "n",          "nlpd_plug_in",  "nlpd_linearized",
                        "nlpd_mc",    "error_plug_in", "error_linearized",
                        "error_mc",   "prequential",   "prequential_error",
                        "shortened",  "seconds"};

Row key_of(const Run& run) {
  const Algorithm& a = run.algorithm;
  return {run.task->name,
          a.rule,
          a.curvature,
          a.family,
          number(a.prior_precision),
          number(a.rate),
          std::to_string(a.iterations),
          std::to_string(run.length),
          std::to_string(a.seed)};
}

void run_stream(const Run& run, const Judgement& judgement, Table& table) {
  const Row key = key_of(run);
  if (table.done(key)) return;
  const Data data = stream_of(*run.task, run.algorithm.seed, run.length);
  const Learner learner(run.task->network, run.algorithm, "plug_in");
  std::vector<Row> rows;
  bool alive = true;
  double seconds = 0;
  int64_t seen = 0;
  std::vector<int64_t> after = judgement.after;
  std::erase_if(after, [&](int64_t n) { return n >= run.length; });
  after.push_back(run.length);
  for (const int64_t n : after) {
    const double start = seconds_now();
    alive = alive && learner.observe(data, seen, n - seen);
    seconds += seconds_now() - start;
    seen = n;
    rows.push_back(key);
    rows.back().push_back(std::to_string(n));
    for (std::string& field : measure(learner, judgement, !alive)) rows.back().push_back(std::move(field));
    rows.back().push_back(number(seconds));
  }
  table.add(rows);
}

}  // namespace bong
