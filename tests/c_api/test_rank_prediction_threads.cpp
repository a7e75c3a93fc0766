// Ranks predict rows of their own, without messages: together what one would predict, by the same seed.
#include <cmath>

#include "rank_runs.hpp"

namespace {

const RankData data;

struct Case {
  bdl_predict_method method;
  bdl_likelihood likelihood;
  double tolerance;  // sums over draws stand in other lanes of a vector: rounding
};

struct Prediction {
  std::vector<double> mean, epistemic, noise;
  explicit Prediction(std::size_t numbers) : mean(numbers), epistemic(numbers), noise(numbers) {}
};

bdl_status predict(const Learner& l, const Case& c, int64_t first, int64_t rows, int64_t classes,
                   Prediction& out) {
  const auto part = [&](std::vector<double>& all) {
    return bdl_f64_out(all.data() + first * classes, rows, classes);
  };
  return bdl_predict(l.model.get(), l.posterior.get(),
                     bdl_f64(data.x.data() + first * RankData::inputs, rows, RankData::inputs), c.method, 40,
                     7, part(out.mean), part(out.epistemic), part(out.noise));
}

void assert_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::fabs(a[i] - b[i]) <= tolerance * std::fabs(b[i]))) fail_msg("%.17g is not %.17g", a[i], b[i]);
}

void expect_parts_of_one(const Case& c, bdl_dtype dtype) {
  const int64_t classes = c.likelihood == BDL_CATEGORICAL ? 3 : 2;
  Learner l(make_mlp(dtype, {RankData::inputs, 6, classes}, c.likelihood), dtype, 2, RankData::rows, "slang");
  OK(bdl_optimizer_fit(l.optimizer.get(), data.inputs_matrix(), data.targets_of(c.likelihood), 5, nullptr,
                       nullptr));
  const auto numbers = static_cast<std::size_t>(RankData::rows * classes);
  Prediction whole(numbers);
  OK(predict(l, c, 0, RankData::rows, classes, whole));
  for (const int ranks : {2, 3, 5}) {
    Prediction parts(numbers);
    RankThreads threads(ranks);
    std::vector<bdl_status> statuses(static_cast<std::size_t>(ranks));
    threads.run([&](RankThreads::Rank& rank) {
      const int64_t first = rank.number * RankData::rows / ranks,
                    end = (rank.number + 1) * RankData::rows / ranks;
      statuses[static_cast<std::size_t>(rank.number)] = predict(l, c, first, end - first, classes, parts);
    });
    for (const bdl_status status : statuses) assert_int_equal(status, BDL_OK);
    assert_close(parts.mean, whole.mean, c.tolerance);
    assert_close(parts.epistemic, whole.epistemic, c.tolerance);
    assert_close(parts.noise, whole.noise, c.tolerance);
  }
}

void parts_are_those_of_one(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const bdl_likelihood likelihood : {BDL_CATEGORICAL, BDL_GAUSSIAN})
      for (const bdl_predict_method method :
           {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED})
        expect_parts_of_one({method, likelihood, dtype == BDL_F64 ? 1e-12 : 1e-5}, dtype);
}

}  // namespace

int test_rank_prediction_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(parts_are_those_of_one)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
