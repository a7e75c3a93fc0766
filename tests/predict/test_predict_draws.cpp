// Draws of y: their distribution given the parameters, and which random numbers they take.
#include "likelihood/special_functions.hpp"
#include "predict_test.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
Table draws(const Query<T>& query) {
  Table result = output(query.x.rows, query.model.likelihood.targets() * query.spec.samples);
  predict_draws(query, result.out());
  return result;
}

/// Pearson's statistic has mean = variance / 2 = the degrees of freedom; Wilson and Hilferty make it normal.
void assert_frequencies(const std::vector<double>& counts, const std::vector<double>& expected) {
  double statistic = 0;
  for (std::size_t k = 0; k < counts.size(); ++k)
    statistic += std::pow(counts[k] - expected[k], 2) / expected[k];
  const double freedom = static_cast<double>(counts.size()) - 1, width = 2 / (9 * freedom);
  assert_true((std::cbrt(statistic / freedom) - (1 - width)) / std::sqrt(width) < most_standard_errors);
}

/// A model whose parameters are all but known: every draw has the outputs f.
struct Known {
  Network<double> model;
  TableBelief<double> b;
  Table x{1, 1, {1.0}};

  Known(bdl_likelihood kind, const std::vector<double>& f)
      : model(network<double>({1, static_cast<Index>(f.size())}, kind, false)),
        b(narrow(model.parameters())) {
    std::ranges::copy(f, b.q->mean().begin());
  }
  static TableBelief<double> narrow(Index dimension) {
    TableRandom random(1);
    return belief<double>(Kind::diagonal, dimension, 1e-9, random);
  }
};

constexpr Index many = 100'000;

void normal_draws_have_their_noise(void**) {
  Known known(BDL_GAUSSIAN, {3, -1});
  const double precision[] = {4, 0.25};
  known.model.likelihood.set_noise_precision(precision);
  const Table y = draws(monte_carlo(known.model, known.b, known.x, many));
  double product = 0;
  for (Index t = 0; t < 2; ++t) {
    const double center = t == 0 ? 3 : -1, deviation = 1 / std::sqrt(precision[t]);
    double mean = 0, squares = 0, fourth = 0;
    for (Index k = 0; k < many; ++k) {
      const double z = (y(0, t * many + k) - center) / deviation;
      mean += z / many;
      squares += z * z / many;
      fourth += z * z * z * z / many;
    }
    assert_unbiased(mean, 0, std::sqrt(1.0 / many));
    assert_unbiased(squares, 1, std::sqrt(2.0 / many));
    assert_unbiased(fourth, 3, std::sqrt(96.0 / many));
  }
  for (Index k = 0; k < many; ++k) product += (y(0, k) - 3) * (y(0, many + k) + 1) / many;
  assert_unbiased(product, 0, 0.5 * 2 * std::sqrt(1.0 / many));
}

void class_draws_have_their_probabilities(void**) {
  const std::vector<double> p = {0.5, 0.02, 0.3, 0.18};
  std::vector<double> logits, counts(4), expected;
  for (const double value : p) {
    logits.push_back(std::log(value) + 7);
    expected.push_back(value * many);
  }
  const Known known(BDL_CATEGORICAL, logits);
  const Table y = draws(monte_carlo(known.model, known.b, known.x, many));
  for (const double value : y.values) ++counts.at(static_cast<std::size_t>(value));
  assert_frequencies(counts, expected);

  const Known coins(BDL_BERNOULLI, {std::log(0.2 / 0.8), std::log(0.9 / 0.1)});
  const Table flips = draws(monte_carlo(coins.model, coins.b, coins.x, many));
  for (Index t = 0; t < 2; ++t) {
    std::vector<double> sides(2);
    for (Index k = 0; k < many; ++k) ++sides.at(static_cast<std::size_t>(flips(0, t * many + k)));
    assert_frequencies(sides,
                       t == 0 ? std::vector{0.8 * many, 0.2 * many} : std::vector{0.1 * many, 0.9 * many});
  }
}

void count_draws_have_their_probabilities(void**) {
  for (const double rate : {0.3, 4.0, 60.0, 2000.0}) {
    const Known known(BDL_POISSON, {std::log(rate)});
    const Table y = draws(monte_carlo(known.model, known.b, known.x, many));
    const double first = std::max(0.0, std::floor(rate - 3 * std::sqrt(rate)));
    std::vector<double> counts(static_cast<std::size_t>(std::ceil(6 * std::sqrt(rate)) + 2)),
        expected(counts.size());
    for (const double value : y.values) {
      assert_true(value >= 0 && value == std::floor(value));
      ++counts[static_cast<std::size_t>(
          std::clamp(value - first, 0.0, static_cast<double>(counts.size() - 1)))];
    }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double count = first + static_cast<double>(k);
      const bool lowest = k == 0, highest = k + 1 == counts.size();
      expected[k] = many * (lowest    ? poisson_tails(count, rate).at_most
                            : highest ? poisson_tails(count - 1, rate).above
                                      : std::exp(log_poisson(count, rate)));
    }
    while (expected.back() < 10) {  // merge the rarest into their neighbour
      expected[expected.size() - 2] += expected.back();
      counts[counts.size() - 2] += counts.back();
      expected.pop_back();
      counts.pop_back();
    }
    assert_frequencies(counts, expected);
  }
}

/// Draw k of target t, in column t S + k, is output t under parameters k with noise of a stream of its own.
template <class T>
void draws_come_from_their_parameters(void**) {
  TableRandom random(4);
  auto model = network<T>({3, 4, 2}, BDL_GAUSSIAN);
  const double precision[] = {4, 0.01};
  model.likelihood.set_noise_precision(precision);
  const Table x = normal_table(random, 5, 3);
  const auto b = belief<T>(Kind::low_rank, model.parameters(), 0.5, random);
  const auto query = monte_carlo(model, b, x, 80, 77);
  const Table y = draws(query);
  const auto f = slow_outputs(query);
  constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  for (Index i = 0; i < 5; ++i)
    for (Index t = 0; t < 2; ++t) {
      double noise[80];
      fill_normal<double>(
          {77, Stream::prediction_noise, static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(t)}, 0,
          noise);
      for (Index k = 0; k < 80; ++k)
        assert_near(y(i, t * 80 + k),
                    f[static_cast<std::size_t>(i)](t, k) + noise[k] / std::sqrt(precision[t]), tolerance);
    }
}

/// The variance of draws over parameters and noise is the sum of the predictive variances.
void draws_have_the_predictive_moments(void**) {
  TableRandom random(5);
  const auto model = network<double>({3, 1}, BDL_GAUSSIAN);
  const Table x = normal_table(random, 4, 3);
  const auto b = belief<double>(Kind::full, 4, 0.8, random);
  const Table y = draws(monte_carlo(model, b, x, many));
  const Moments exact = moments(quadrature(model, b, x));
  for (Index i = 0; i < 4; ++i) {
    const double variance = exact.epistemic(i, 0) + exact.noise(i, 0);
    double mean = 0, squares = 0;
    for (Index k = 0; k < many; ++k) {
      mean += y(i, k) / many;
      squares += std::pow(y(i, k) - exact.mean(i, 0), 2) / many;
    }
    assert_unbiased(mean, exact.mean(i, 0), std::sqrt(variance / many));
    assert_unbiased(squares, variance, variance * std::sqrt(2.0 / many));
  }
}

void draws_depend_on_seed_and_example_only(void**) {
  TableRandom random(6);
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON}) {
    const auto model = network<double>({3, 4, 2}, kind);
    const Index targets = model.likelihood.targets();
    const Table x = normal_table(random, 7, 3), fewer = rows_of(x, 0, 3);
    const auto b = belief<double>(Kind::low_rank, model.parameters(), 0.4, random);
    const Table all = draws(monte_carlo(model, b, x, 60)), other = draws(monte_carlo(model, b, x, 60, 2));
    assert_same_bits(draws(monte_carlo(model, b, x, 60)), all);
    assert_tables_close(draws(monte_carlo(model, b, fewer, 60)), rows_of(all, 0, 3), 1e-12, 1e-13);
    const Table first = draws(monte_carlo(model, b, x, 8));
    Index different = 0;
    for (Index i = 0; i < 7; ++i)
      for (Index t = 0; t < targets; ++t)
        for (Index k = 0; k < 60; ++k) {
          if (k < 8) assert_close(first(i, t * 8 + k), all(i, t * 60 + k), 1e-12, 1e-13);
          different += all(i, t * 60 + k) != other(i, t * 60 + k);
        }
    assert_true(different > 7 * targets * 60 / 10);
  }
}

/// Noise of different examples is independent: the same input twice gives different draws.
void noise_differs_between_examples(void**) {
  Known known(BDL_GAUSSIAN, {0});
  known.x = Table(2, 1, {1.0, 1.0});
  const Table y = draws(monte_carlo(known.model, known.b, known.x, many));
  double product = 0;
  for (Index k = 0; k < many; ++k) product += y(0, k) * y(1, k) / many;
  assert_unbiased(product, 0, std::sqrt(1.0 / many));
}

}  // namespace

int test_predict_draws() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(normal_draws_have_their_noise),
      cmocka_unit_test(class_draws_have_their_probabilities),
      cmocka_unit_test(count_draws_have_their_probabilities),
      cmocka_unit_test(draws_come_from_their_parameters<float>),
      cmocka_unit_test(draws_come_from_their_parameters<double>),
      cmocka_unit_test(draws_have_the_predictive_moments),
      cmocka_unit_test(draws_depend_on_seed_and_example_only),
      cmocka_unit_test(noise_differs_between_examples),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
