// A predictor's later predictions allocate nothing, if they are of no more rows than an earlier one.
#include "predict/predictor_test.hpp"
#include "support/counting_allocator.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void later_predictions_allocate_nothing(void**) {
  for_each_setting<T>([](const PredictorSetting<T>& s) {
    TableRandom random(1);
    Predictor<T> predictor(s.model, *s.b.q, s.spec);
    std::vector<Everything> predictions;
    for (const Index rows : {6, 1, 6, 3})
      predictions.emplace_back(s, normal_table(random, rows, 3, rows == 3 ? 5 : 1), random);
    predictions.front().predict(predictor.query(predictions.front().x().array()));
    for (Everything& later : predictions) {
      const std::size_t before = counting::calls;
      later.predict(predictor.query(later.x().array()));
      if (counting::calls != before)
        fail_msg("likelihood %d, method %d: %zu allocations for %d rows",
                 static_cast<int>(s.model.likelihood.kind()), static_cast<int>(s.spec.method),
                 counting::calls - before, static_cast<int>(later.x().rows));
    }
  });
}

/// Draws, the copies of model and posterior, and what one row takes.
void predictors_hold_their_draws(void**) {
  constexpr Index samples = 100;
  const auto model = network<double>({13, 50, 1}, BDL_GAUSSIAN);
  const LowRankPosterior<double> q(model.parameters(), 1);
  const std::size_t before = counting::live_bytes;
  const Predictor<double> predictor(model, q, {BDL_MONTE_CARLO, samples, 1});
  const double held = static_cast<double>(counting::live_bytes - before),
               draws = static_cast<double>(samples * model.parameters()) * sizeof(double);
  assert_true(held >= draws && held < 1.2 * draws);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_predictor_memory() {
  const CMUnitTest tests[] = {
      BOTH(later_predictions_allocate_nothing),
      cmocka_unit_test(predictors_hold_their_draws),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
