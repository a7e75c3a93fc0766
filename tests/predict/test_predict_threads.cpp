// Const handles may be used concurrently: four threads that predict with one model and one posterior get the
// results of one thread.
#include <atomic>
#include <thread>

#include "predict/ensemble.hpp"
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 12, samples = 30;

/// Everything that can be predicted, one table after the other.
template <class T>
std::vector<Table> everything(const Query<T>& query, const Table& y) {
  const Likelihood& likelihood = query.model.likelihood;
  const Index outputs = likelihood.outputs(), targets = likelihood.targets();
  const bool numbers = likelihood.kind() == BDL_GAUSSIAN || likelihood.kind() == BDL_POISSON;
  const bool closed = query.spec.method == BDL_LINEARIZED;
  const Moments m = moments(query);
  std::vector<Table> all = {m.mean, m.epistemic, m.noise, log_density(query, y)};
  if (numbers || !closed) all.emplace_back(1, 1, std::vector{expected_log_likelihood(query, y.array())});
  if (numbers) {
    all.push_back(quantiles(query, Table(1, 3, {0.05, 0.5, 0.9})));
  } else {
    Table p = output(rows, outputs), entropy = output(rows, targets), information = output(rows, targets);
    const bool informative = !closed || likelihood.kind() == BDL_BERNOULLI;
    predict_classes(query, p.out(), entropy.out(), informative ? information.out() : bdl_none_out());
    all.insert(all.end(), {p, entropy, information});
  }
  if (closed) {
    Table mean = output(rows, outputs), covariance = output(rows, outputs * outputs);
    predict_output_distribution(query, mean.out(), covariance.out());
    Table leverage = output(rows, 1), left_out = leverage;
    predict_leverage(query, leverage.out(), left_out.out());
    all.insert(all.end(), {mean, covariance, leverage, left_out});
  }
  if (query.spec.samples > 0) {
    Table draws = output(rows, targets * samples);
    predict_draws(query, draws.out());
    all.push_back(draws);
  }
  return all;
}

bool same_bits(const std::vector<Table>& a, const std::vector<Table>& b) {
  return std::ranges::equal(a, b, [](const Table& s, const Table& t) {
    return s.values.size() == t.values.size() &&
           std::memcmp(s.values.data(), t.values.data(), s.values.size() * sizeof(double)) == 0;
  });
}

template <class T>
void assert_concurrent(const Query<T>& query, const Table& y) {
  const std::vector<Table> expected = everything(query, y);
  std::atomic<int> equal{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int repetition = 0; repetition < 3; ++repetition)
        equal += same_bits(everything(query, y), expected);
    });
  for (std::thread& thread : threads) thread.join();
  assert_int_equal(equal, 12);
}

template <class T>
void one_model_serves_many_threads(void**) {
  TableRandom random(1);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON})
    for (const Kind family : all_kinds) {
      const auto model = network<T>({3, 5, 2}, kind);
      const auto b = belief<T>(family, model.parameters(), 0.3, random);
      const Table x = normal_table(random, rows, 3), y(rows, model.likelihood.targets());
      assert_concurrent(monte_carlo(model, b, x, samples), y);
      assert_concurrent(plug_in(model, b, x), y);
      for (const bdl_predict_method method : {BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED})
        assert_concurrent(Query<T>{model, *b.q, x.array(), {method, samples, 1}}, y);
      if (kind == BDL_CATEGORICAL) continue;
      const auto linear = network<T>({3, 1}, kind);
      const auto c = belief<T>(family, 4, 0.3, random);
      assert_concurrent(quadrature(linear, c, x), Table(rows, 1));
    }
}

/// A predictor serves one thread; several of one model and posterior, made at the same time, one each.
void predictors_serve_a_thread_each(void**) {
  TableRandom random(2);
  const auto model = network<double>({3, 5, 2}, BDL_GAUSSIAN);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.3, random);
  const Table x = normal_table(random, rows, 3), y(rows, 2);
  for (const bdl_predict_method method : {BDL_MONTE_CARLO, BDL_LINEARIZED_MONTE_CARLO}) {
    const PredictSpec spec{method, samples, 1};
    const std::vector<Table> expected = everything(Query<double>{model, *b.q, x.array(), spec}, y);
    std::atomic<int> equal{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        Predictor<double> predictor(model, *b.q, spec);
        for (int repetition = 0; repetition < 3; ++repetition)
          equal += same_bits(everything(predictor.query(x.array()), y), expected);
      });
    for (std::thread& thread : threads) thread.join();
    assert_int_equal(equal, 12);
  }
}

}  // namespace

int test_predict_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(one_model_serves_many_threads<float>),
      cmocka_unit_test(one_model_serves_many_threads<double>),
      cmocka_unit_test(predictors_serve_a_thread_each),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
