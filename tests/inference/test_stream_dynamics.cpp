// Time, blocks and missing targets on streams: what must be the same however the observations come.
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Options drifting(Rule rule, EstimateKind estimate) {
  Options options = stream_options(rule, estimate);
  options.transition = 0.97;
  options.process_noise = 0.02;
  options.forgetting = 0.98;
  return options;
}

template <class T>
Learner<T> learner_for(const FamilyKind& kind, const Likelihood& likelihood, const Options& options) {
  auto model = make_network<T>({2, 3, likelihood.outputs()}, likelihood);
  const Index size = model->parameters();
  return {std::move(model), random_prior<T>(kind, size, 61, 4), options};
}

/// check(kind, rule, estimate) for every combination there is.
template <class Check>
void for_each_algorithm(Check check) {
  for (const FamilyKind& kind : family_kinds)
    for (const Rule rule : rules)
      for (const EstimateKind estimate : estimates)
        if (exists(kind, estimate)) check(kind, rule, estimate);
}

/// Results are identical, scores and missing targets included.
template <class T>
void one_call_with_many_rows_is_many_calls(void**) {
  for_each_algorithm([](const FamilyKind& kind, Rule rule, EstimateKind estimate) {
    const Likelihood likelihood = gaussian(2, {3});
    auto together = learner_for<T>(kind, likelihood, drifting(rule, estimate)),
         apart = learner_for<T>(kind, likelihood, drifting(rule, estimate));
    StreamData data(likelihood, 2, 6, 62);
    data.y(2, 0) = data.y(2, 1) = data.y(4, 1) = not_a_number;
    const Dense scores = together.observe(data.x, data.y);
    for (Index t = 0; t < 6; ++t) {
      const Dense score = apart.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
      assert_same("score", score, rows_of(scores, t, 1));
    }
    assert_same_belief(together, apart);
    assert_true(together.optimizer.state.prequential.log_density ==
                apart.optimizer.state.prequential.log_density);
  });
}

/// A call is divided into blocks: k rows are one observation of k outputs.
template <class T>
void a_block_is_one_observation(void**) {
  for_each_algorithm([](const FamilyKind& kind, Rule rule, EstimateKind estimate) {
    const Likelihood likelihood(BDL_CATEGORICAL, 3);
    Options options = drifting(rule, estimate);
    options.block = 3;
    auto together = learner_for<T>(kind, likelihood, options);
    const StreamData data(likelihood, 2, 7, 63);
    together.observe(data.x, data.y);
    options.block = 0;
    auto apart = learner_for<T>(kind, likelihood, options);
    for (const Index first : {0, 3, 6})
      apart.observe(rows_of(data.x, first, std::min<Index>(3, 7 - first)),
                    rows_of(data.y, first, std::min<Index>(3, 7 - first)));
    assert_same_belief(together, apart);
    assert_true(together.optimizer.state.step == 3);
  });
}

/// f = theta^T x for k rows is one row of k outputs: the linear model y = A theta + noise, written in both
/// ways.
void rows_of_a_block_are_outputs_of_one_row(void**) {
  Random random(64);
  constexpr Index size = 4, count = 3;
  const Dense x = random.normal(count, size), y = random.normal(count, 1), noise = identity(count);
  for (const FamilyKind& kind : family_kinds)
    for (const Rule rule : rules)
      for (const EstimateKind estimate : {EstimateKind::lin_hess, EstimateKind::mc_ggn}) {
        Options options = stream_options(rule, estimate);
        options.block = 0;
        options.guard = 0;  // the rule alone: diagonal filters overshoot here
        const auto prior = random_prior<double>(kind, size, 65);
        Learner<double> stream(make_network<double>({size, 1}, gaussian(1, {2}), false),
                               std::shared_ptr<Posterior<double>>(prior->clone()), options);
        stream.optimizer.set_draws(std::make_shared<AntitheticDraws<double>>());
        stream.observe(x, y);
        // The rule itself gives this posterior from one row whose rows b_r are sqrt(2) x_r.
        std::shared_ptr<Posterior<double>> by_hand(prior->clone());
        const Index iterations = has_kl(rule) ? options.iterations : 1;
        Scratch workspace;
        for (Index i = 0; i < iterations; ++i) {
          const Dense mean = column_of(std::as_const(*by_hand).mean());
          Dense at = mean;  // of the gradient: the mean of the draws, antithetic but for the last
          if (estimate == EstimateKind::mc_ggn) {
            Padded<double> draws(Dense(size, options.samples));
            Scratch scratch;
            AntitheticDraws<double>().parameters(*by_hand, {0, i}, draws.view(), scratch);
            at = 1.0 / static_cast<double>(options.samples) * (draws.dense() * Dense(options.samples, 1, 1));
          }
          const Dense lambda_0 = dense_precision(*prior), mean_0 = column_of(std::as_const(*prior).mean());
          Dense m = 2.0 * (transposed(x) * (x * at - y));
          if (has_kl(rule)) m = m + lambda_0 * (mean - mean_0);
          DenseRows<double> rows;
          const Dense columns = std::sqrt(2.0) * transposed(x);
          std::copy(columns.values.begin(), columns.values.end(), rows.resize(size, count).data);
          const Padded<double> w(Dense(count, 1, 1)), slope(m);
          const double rate = rule == Rule::bong ? 1 : options.learning_rate;
          PosteriorStep<double> step{*by_hand};
          step.descent = descent_of(rule);
          step.m = slope.column();
          step.curvature = {&rows, w.column(), {}, {}};
          step.mean_rate = step.curvature_rate = rate;
          step.prior = has_kl(rule) ? prior.get() : nullptr;
          step.mean_update = begin_step(*by_hand, options, true, {}).mean_update;
          std::shared_ptr<Posterior<double>> next(prior->clone());
          next->update(step, workspace);
          by_hand = next;
        }
        assert_close("mean", stream.mean(), column_of(std::as_const(*by_hand).mean()), 1e-11);
        assert_close("precision", stream.precision(), dense_precision(*by_hand), 1e-11);
      }
}

/// forecast() moves time that observe() then does not move again.
template <class T>
void forecasts_take_the_place_of_time_in_observations(void**) {
  for (const FamilyKind& kind : family_kinds) {
    const Likelihood likelihood = gaussian(1, {3});
    const Options options = drifting(Rule::bong, EstimateKind::lin_hess);
    auto plain = learner_for<T>(kind, likelihood, options), ahead = learner_for<T>(kind, likelihood, options);
    const StreamData data(likelihood, 2, 3, 66);
    for (Index t = 0; t < 3; ++t) {
      plain.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
      ahead.forecast(1);
      ahead.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
      assert_same_belief(plain, ahead);
    }
    // Two observations at one time: forecast(0) in between.
    Options still = options;
    still.transition = still.forgetting = 1;
    still.process_noise = 0;
    auto frozen = learner_for<T>(kind, likelihood, still);
    auto moving = learner_for<T>(kind, likelihood, options);
    for (Index t = 0; t < 3; ++t) {
      frozen.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
      moving.forecast(0);
      moving.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
    }
    assert_same_belief(frozen, moving);
    // Rows of one call after the first have their time.
    auto first = learner_for<T>(kind, likelihood, options),
         second = learner_for<T>(kind, likelihood, options);
    first.forecast(1);
    first.observe(data.x, data.y);
    second.observe(data.x, data.y);
    assert_same_belief(first, second);
  }
}

/// k steps at once are k steps.
template <class T>
void forecasts_add_up(void**) {
  for (const FamilyKind& kind : family_kinds)
    for (const bool own : {false, true}) {
      const Options options = drifting(Rule::bong, EstimateKind::lin_hess);
      auto once = learner_for<T>(kind, gaussian(1, {3}), options),
           often = learner_for<T>(kind, gaussian(1, {3}), options);
      const std::vector<double> values = Random(67).uniform(once.q->dimension(), 1, 0, 0.1).values;
      const std::vector<T> noise(values.begin(), values.end());
      if (own)
        for (auto* learner : {&once, &often}) learner->optimizer.filter.set_process_noise(noise);
      once.forecast(7);
      for (int k = 0; k < 7; ++k) often.forecast(1);
      assert_close_belief(once, often, sizeof(T) == 8 ? 1e-12 : 1e-4);
    }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_stream_dynamics() {
  const CMUnitTest tests[] = {
      BOTH(one_call_with_many_rows_is_many_calls),
      BOTH(a_block_is_one_observation),
      cmocka_unit_test(rows_of_a_block_are_outputs_of_one_row),
      BOTH(forecasts_take_the_place_of_time_in_observations),
      BOTH(forecasts_add_up),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
