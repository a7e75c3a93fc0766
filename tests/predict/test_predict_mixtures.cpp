// How the components of predictive mixtures arise: which parameters, which weights, in any chunks.
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Collected {
  std::vector<Table> f;  // C x K, of each example
  std::vector<std::vector<double>> weights;
  std::vector<double> spread;
};

template <class T>
Collected collect(const Query<T>& query, const ChunkLimits& limits = {}) {
  Collected all;
  visit_mixtures(
      query,
      [&](Index i, const Mixture& mixture) {
        assert_int_equal(i, all.f.size());
        Table f(mixture.f.rows, mixture.f.cols);
        for (Index c = 0; c < f.rows; ++c)
          for (Index k = 0; k < f.cols; ++k) f(c, k) = mixture.f(c, k);
        all.f.push_back(f);
        all.weights.emplace_back(mixture.weights.begin(), mixture.weights.end());
        all.spread.push_back(mixture.variance(0));
      },
      limits);
  assert_int_equal(all.f.size(), query.x.rows);
  return all;
}

template <class T>
constexpr double rounding = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T>
void samples_are_the_streams_of_the_seed(void**) {
  TableRandom random(1);
  const auto model = network<T>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 4, 3);
  for (const Kind kind : all_kinds) {
    const auto b = belief<T>(kind, model.parameters(), 0.3, random);
    const auto query = monte_carlo(model, b, x, 70, 0x123456789abcdef);
    const Collected all = collect(query);
    const auto expected = slow_outputs(query);
    for (std::size_t i = 0; i < 4; ++i) {
      assert_tables_close(all.f[i], expected[i], rounding<T>, rounding<T>);
      assert_true(all.spread[i] == 0);
      for (const double weight : all.weights[i]) assert_true(weight == 1.0 / 70);
    }
    assert_true(all.f[0](0, 0) != collect(monte_carlo(model, b, x, 1, 2)).f[0](0, 0));
  }
}

void chunks_and_groups_do_not_matter(void**) {
  TableRandom random(2);
  const auto model = network<double>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 11, 3);
  const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.3, random);
  const auto query = monte_carlo(model, b, x, 23);
  const Collected all = collect(query);
  constexpr Index none = 1 << 20;
  for (const auto& [examples, outputs] :
       std::vector<std::pair<Index, Index>>{{none, 1}, {none, 2 * 23 * 3}, {10, none}})
    for (const Index parameters : {Index{1}, 4 * model.parameters(), 23 * model.parameters()}) {
      const Collected chunks = collect(query, {examples, outputs, parameters});
      for (std::size_t i = 0; i < 11; ++i) assert_tables_close(chunks.f[i], all.f[i], 1e-13, 1e-14);
    }
  for (const Index size : {1, 4}) {  // other examples do not matter either
    const Table part = rows_of(x, 3, size);
    const Collected alone = collect(monte_carlo(model, b, part, 23));
    for (std::size_t i = 0; i < alone.f.size(); ++i)
      assert_tables_close(alone.f[i], all.f[i + 3], 1e-13, 1e-14);
  }
}

/// More examples than one tile, and than one chunk, hold.
template <class T>
void many_examples_have_their_own_outputs(void**) {
  TableRandom random(6);
  const auto model = network<T>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 2100, 3);
  const auto b = belief<T>(Kind::low_rank, model.parameters(), 0.3, random);
  const auto query = monte_carlo(model, b, x, 3);
  const auto expected = slow_outputs(query);
  for (const ChunkLimits& limits : {ChunkLimits{}, ChunkLimits{1000, Index{1} << 20, model.parameters()}}) {
    const Collected all = collect(query, limits);
    for (std::size_t i = 0; i < 2100; ++i)
      assert_tables_close(all.f[i], expected[i], rounding<T>, rounding<T>);
  }
}

void equal_queries_give_equal_bits(void**) {
  TableRandom random(3);
  const auto model = network<float>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 50, 3);
  const auto b = belief<float>(Kind::low_rank, model.parameters(), 0.3, random);
  const auto query = monte_carlo(model, b, x, 100);
  const Collected first = collect(query), second = collect(query);
  for (std::size_t i = 0; i < 50; ++i) assert_same_bits(first.f[i], second.f[i]);
}

template <class T>
void plug_in_is_the_mean(void**) {
  TableRandom random(4);
  const auto model = network<T>({3, 5, 2}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 4, 3);
  const auto b = belief<T>(Kind::full, model.parameters(), 0.3, random);
  const Collected all = collect(plug_in(model, b, x), {3, 2, 1});
  Buffer<T> inputs(12), f(8);
  Scratch scratch;
  gather(x.array(), 0, inputs.matrix(3, 4));
  model.forward(b.q->mean(), inputs.matrix(3, 4), f.matrix(2, 4), scratch);
  for (Index i = 0; i < 4; ++i) {
    const auto& mixture = all.f[static_cast<std::size_t>(i)];
    assert_int_equal(mixture.cols, 1);
    for (Index c = 0; c < 2; ++c)
      assert_close(mixture(c, 0), static_cast<double>(f.matrix(2, 4)(c, i)), rounding<T>, rounding<T>);
    assert_true(all.weights[static_cast<std::size_t>(i)] == std::vector<double>{1});
  }
}

template <class T>
void quadrature_has_the_marginals_of_the_output(void**) {
  TableRandom random(5);
  for (const Kind kind : all_kinds)
    for (const bool bias : {true, false})
      for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_POISSON, BDL_BERNOULLI}) {
        const auto model = network<T>({4, 1}, likelihood, bias);
        const Table x = normal_table(random, 5, 4);
        const auto b = belief<T>(kind, model.parameters(), 0.5, random);
        for (const ChunkLimits& limits : {ChunkLimits{}, ChunkLimits{3, 1, 1, 4 * model.parameters()}}) {
          const Collected all = collect(quadrature(model, b, x), limits);
          for (Index i = 0; i < 5; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Marginal exact = dense_marginal(b, x, i, bias);
            double mean = 0, variance = all.spread[at];
            for (std::size_t k = 0; k < all.weights[at].size(); ++k)
              mean += all.weights[at][k] * all.f[at].values[k];
            for (std::size_t k = 0; k < all.weights[at].size(); ++k)
              variance += all.weights[at][k] * std::pow(all.f[at].values[k] - mean, 2);
            assert_close(mean, exact.mean, rounding<T>, rounding<T>);
            assert_close(variance, exact.variance, rounding<T>);
            assert_true((all.spread[at] == 0) == (likelihood == BDL_BERNOULLI));
          }
        }
      }
}

}  // namespace

int test_predict_mixtures() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(samples_are_the_streams_of_the_seed<float>),
      cmocka_unit_test(samples_are_the_streams_of_the_seed<double>),
      cmocka_unit_test(chunks_and_groups_do_not_matter),
      cmocka_unit_test(many_examples_have_their_own_outputs<float>),
      cmocka_unit_test(many_examples_have_their_own_outputs<double>),
      cmocka_unit_test(equal_queries_give_equal_bits),
      cmocka_unit_test(plug_in_is_the_mean<float>),
      cmocka_unit_test(plug_in_is_the_mean<double>),
      cmocka_unit_test(quadrature_has_the_marginals_of_the_output<float>),
      cmocka_unit_test(quadrature_has_the_marginals_of_the_output<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
