// Predictors give the results of single predictions, whatever was predicted before and whatever happens to
// model and posterior.
#include "predictor_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
void predictors_give_the_bits_of_single_predictions(void**) {
  for_each_setting<T>([](const PredictorSetting<T>& s) {
    TableRandom random(1);
    Predictor<T> predictor(s.model, *s.b.q, s.spec);
    for (const Index rows : {1, 6, 2, 6}) {
      const Table x = normal_table(random, rows, 3);
      TableRandom same = random;
      Everything got(s, x, random), expected(s, x, same);
      got.predict(predictor.query(x.array()));
      expected.predict(s.query(x));
      got.assert_same(expected);
    }
  });
}

/// More draws than are made at a time, and more examples than are looked at at a time.
template <class T>
void large_predictions_give_the_same_bits(void**) {
  TableRandom random(2);
  const ChunkLimits limits;
  const auto wide = network<T>({300, 100, 1}, BDL_GAUSSIAN);
  const Index samples = limits.parameters / wide.parameters() + 20;
  const auto narrow = network<T>({3, 2, 1}, BDL_GAUSSIAN);
  const auto a = belief<T>(Kind::diagonal, narrow.parameters(), 0.3, random);
  const LowRankPosterior<T> q(wide.parameters(), 3);
  const Table few = normal_table(random, 2, 300), many = normal_table(random, limits.examples + 700, 3);
  const PredictSpec spec{BDL_MONTE_CARLO, samples, 4}, other{BDL_MONTE_CARLO, 3, 4};
  Predictor<T> first(wide, q, spec), second(narrow, *a.q, other);
  for (int repetition = 0; repetition < 2; ++repetition) {
    assert_same_bits(moments(first.query(few.array())).mean,
                     moments(Query<T>{wide, q, few.array(), spec}).mean);
    assert_same_bits(moments(second.query(many.array())).epistemic,
                     moments(Query<T>{narrow, *a.q, many.array(), other}).epistemic);
  }
}

void predictors_are_snapshots(void**) {
  for_each_setting<double>([](PredictorSetting<double>&& s) {
    TableRandom random(3);
    const Table x = normal_table(random, 4, 3);
    TableRandom same = random;
    Everything before(s, x, random), after(s, x, same);
    Predictor<double> predictor(s.model, *s.b.q, s.spec);
    before.predict(s.query(x));
    for (double& value : s.b.q->mean()) value += 1;
    s.b.q->set_isotropic(2);
    s.model.standardization = {};
    if (s.model.likelihood.has_noise_precision())
      s.model.likelihood.set_noise_precision(std::vector<double>{9.0});
    s.b.q.reset();
    after.predict(predictor.query(x.array()));
    after.assert_same(before);
  });
}

/// Refused before anything is computed; a last row that overflows spoils its own numbers only.
void failed_predictions_change_nothing(void**) {
  const std::vector<Index> sizes{3, 5, 2};
  const Network<double> model(sizes, BDL_IDENTITY, true, Likelihood(BDL_GAUSSIAN, 2));
  TableRandom random(4);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.3, random);
  const Table x = normal_table(random, 4, 3);
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO}) {
    Predictor<double> predictor(model, *b.q, {method, 5, 1});
    const auto predict = [&](const Table& inputs) { return moments(predictor.query(inputs.array())).mean; };
    const Table expected = predict(x);
    Table spoiled = x;
    spoiled(3, 1) = quiet_nan;
    expect_error(Status::ERROR_NOT_FINITE, "x is not finite at row 3", [&] { predict(spoiled); });
    spoiled(3, 0) = spoiled(3, 1) = spoiled(3, 2) = 1.7e308;
    const Table far = predict(spoiled);
    for (Index i = 0; i < 4; ++i)
      for (Index c = 0; c < 2; ++c) assert_true(i < 3 ? far(i, c) == expected(i, c) : !std::isnan(far(i, c)));
    assert_same_bits(predict(x), expected);
  }
}

void unsuitable_predictors_are_refused(void**) {
  const PredictorSetting<double> s(BDL_GAUSSIAN, BDL_MONTE_CARLO, Kind::full);
  const auto create = [&](bdl_predict_method method, Index samples) {
    return [&s, method, samples] { Predictor<double>(s.model, *s.b.q, {method, samples, 1}); };
  };
  expect_error(Status::ERROR_UNSUPPORTED, "quadrature", create(BDL_QUADRATURE, 1));
  expect_error(Status::ERROR_INVALID_ARGUMENT, "samples is 0", create(BDL_MONTE_CARLO, 0));
  expect_error(Status::ERROR_INVALID_ARGUMENT, "samples is -1", create(BDL_LINEARIZED_MONTE_CARLO, -1));
  create(BDL_LINEARIZED, 0)();
  create(BDL_PLUG_IN, -1)();
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_predictor() {
  const CMUnitTest tests[] = {
      BOTH(predictors_give_the_bits_of_single_predictions),
      BOTH(large_predictions_give_the_same_bits),
      cmocka_unit_test(predictors_are_snapshots),
      cmocka_unit_test(failed_predictions_change_nothing),
      cmocka_unit_test(unsuitable_predictors_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
