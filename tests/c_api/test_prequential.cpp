// One-step-ahead scores: what bdl_predict_log_density() says before the observation, at the time of it.
#include <algorithm>

#include "stream_runs.hpp"

namespace {

constexpr bdl_likelihood likelihoods[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON};

struct Scores {
  int64_t count = -1;
  double log_density = -1, error = -1;
};

Scores scores_of(const StreamLearner& learner) {
  Scores s;
  OK(bdl_optimizer_prequential(learner.optimizer.get(), &s.count, &s.log_density, &s.error));
  return s;
}

/// Sum over the targets of what `error` averages, from the prediction at the mean of theta.
double error_of(const StreamLearner& learner, const bdl_posterior* q, bdl_likelihood likelihood, int row) {
  const int64_t outputs = outputs_for(likelihood);
  Vector mean(static_cast<std::size_t>(outputs));
  OK(bdl_predict(learner.model.get(), q, learner.x(row, 1), BDL_PLUG_IN, 1, 1,
                 bdl_f64_out(mean.data(), 1, outputs), bdl_none_out(), bdl_none_out()));
  const double* const y = learner.data.y + row * learner.data.targets;
  if (likelihood == BDL_CATEGORICAL)
    return std::max_element(mean.begin(), mean.end()) - mean.begin() == static_cast<int64_t>(y[0]) ? 0 : 1;
  double sum = 0;
  for (int64_t c = 0; c < outputs; ++c) {
    const double m = mean[static_cast<std::size_t>(c)];
    sum += likelihood == BDL_BERNOULLI ? ((m > 0.5) == (y[c] > 0) ? 0 : 1) : (y[c] - m) * (y[c] - m);
  }
  return sum;
}

void drift(bdl_optimizer* optimizer) {
  OK(bdl_optimizer_set_double(optimizer, "process_noise", 0.01));
  OK(bdl_optimizer_set_double(optimizer, "transition", 0.98));
}

/// A copy of the posterior at the time of the next observation.
Posterior next_belief(const StreamLearner& learner) {
  bdl_posterior* copy = nullptr;
  OK(bdl_posterior_copy(learner.posterior.get(), &copy));
  Posterior q(copy);
  const Optimizer ahead = make_optimizer(learner.model, q, ROWS, "bong");
  drift(ahead.get());
  OK(bdl_optimizer_forecast(ahead.get(), 1));
  return q;
}

void check(bdl_likelihood likelihood, StreamFamily family, bdl_predict_method method, bdl_dtype dtype) {
  StreamLearner learner(likelihood, family, "bong", dtype);
  learner.set("score", method == BDL_PLUG_IN ? "plug_in" : "linearized");
  learner.set("prior_precision", 2.0);
  drift(learner.optimizer.get());
  OK(bdl_optimizer_initialize(learner.optimizer.get()));
  const double tolerance = dtype == BDL_F64 ? 1e-12 : 1e-4;
  double sum = 0, errors = 0;
  for (int row = 0; row < ROWS; ++row) {
    const Posterior q = next_belief(learner);
    double expected = 0;
    OK(bdl_predict_log_density(learner.model.get(), q.get(), learner.x(row, 1), learner.y(row, 1), method, 1,
                               1, bdl_f64_out(&expected, 1, 1)));
    errors += error_of(learner, q.get(), likelihood, row);
    if (row % 2 == 0) OK(bdl_optimizer_forecast(learner.optimizer.get(), 1));
    const double got = learner.observe(row, 1)[0];
    assert_close(got, expected, tolerance * (1 + std::fabs(expected)), "log density");
    sum += got;
    const Scores s = scores_of(learner);
    assert_int_equal(s.count, row + 1);
    assert_close(s.log_density, sum / (row + 1), 1e-12, "mean log density");
    const double mean_error = errors / static_cast<double>((row + 1) * learner.data.targets);
    const bool is_class = likelihood == BDL_BERNOULLI || likelihood == BDL_CATEGORICAL;
    assert_close(s.error, is_class ? mean_error : std::sqrt(mean_error), tolerance * 10, "error");
  }
}

void test_scores_are_predictions_made_before(void**) {
  for (const bdl_likelihood likelihood : likelihoods)
    for (const StreamFamily family : stream_families)
      for (const bdl_predict_method method : {BDL_PLUG_IN, BDL_LINEARIZED})
        for (const bdl_dtype dtype : {BDL_F64, BDL_F32}) check(likelihood, family, method, dtype);
}

/// All rows of a block are scored by the posterior before it.
void test_blocks(void**) {
  for (const bdl_likelihood likelihood : likelihoods) {
    StreamLearner learner(likelihood, StreamFamily::low_rank);
    learner.set("block", 0);
    OK(bdl_optimizer_initialize(learner.optimizer.get()));
    Vector expected(10);
    OK(bdl_predict_log_density(learner.model.get(), learner.posterior.get(), learner.x(0, 10),
                               learner.y(0, 10), BDL_LINEARIZED, 1, 1, bdl_f64_out(expected.data(), 10, 1)));
    const Vector got = learner.observe(0, 10);
    for (std::size_t i = 0; i < 10; ++i) assert_close(got[i], expected[i], 1e-12, "log density");
  }
}

/// Before anything is scored the means are NaN; pointers that are not wanted are NULL; initialisation begins
/// anew; without a score nothing is recorded.
void test_counts(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::diagonal);
  const bdl_optimizer* const o = learner.optimizer.get();
  Scores s = scores_of(learner);
  assert_true(s.count == 0 && std::isnan(s.log_density) && std::isnan(s.error));
  learner.observe(0, 5);
  assert_int_equal(scores_of(learner).count, 5);
  OK(bdl_optimizer_prequential(o, nullptr, nullptr, nullptr));
  Scores one;
  OK(bdl_optimizer_prequential(o, &one.count, nullptr, nullptr));
  OK(bdl_optimizer_prequential(o, nullptr, &one.log_density, nullptr));
  OK(bdl_optimizer_prequential(o, nullptr, nullptr, &one.error));
  s = scores_of(learner);
  assert_true(one.count == s.count && one.log_density == s.log_density && one.error == s.error);
  learner.set("score", "none");
  for (const double score : learner.observe(5, 5)) assert_true(std::isnan(score));
  assert_int_equal(scores_of(learner).count, 5);
  OK(bdl_optimizer_initialize(learner.optimizer.get()));
  assert_int_equal(scores_of(learner).count, 0);
}

/// A missing target is no target; a row with one that is there counts as a row.
void test_missing_targets(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::full);
  OK(bdl_optimizer_initialize(learner.optimizer.get()));
  learner.data.y[0] = NAN;                      // row 0: one of two
  learner.data.y[2] = learner.data.y[3] = NAN;  // row 1: none
  Vector mean(2);
  OK(bdl_predict(learner.model.get(), learner.posterior.get(), learner.x(0, 1), BDL_PLUG_IN, 1, 1,
                 bdl_f64_out(mean.data(), 1, 2), bdl_none_out(), bdl_none_out()));
  const Vector scores = learner.observe(0, 2);
  assert_true(std::isfinite(scores[0]) && std::isnan(scores[1]));
  const Scores s = scores_of(learner);
  assert_true(s.count == 1 && s.log_density == scores[0]);
  assert_close(s.error, std::fabs(learner.data.y[1] - mean[1]), 1e-14, "error");
}

}  // namespace

int test_prequential() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_scores_are_predictions_made_before),
                              cmocka_unit_test(test_blocks), cmocka_unit_test(test_counts),
                              cmocka_unit_test(test_missing_targets)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
