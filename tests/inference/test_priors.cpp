// Prior precisions by group of parameters, for the four groupings, times the inputs of layers, and fixed
// parameter by parameter.
#include <algorithm>

#include "prior/prior.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const std::vector<Index> sizes{2, 3, 1};  // weights 6 and 3, biases 3 and 1: D = 13

using enum PriorGroups;

Options with(PriorGroups grouping, double weights, double biases) {
  Options options;
  options.prior_groups = grouping;
  options.prior_precision = weights;
  options.bias_prior_precision = biases;
  return options;
}

template <class T>
Prior<T> make(const Options& options, bool bias = true) {
  Prior<T> prior;
  prior.reset(make_network<T>(sizes, Likelihood(BDL_GAUSSIAN, 1), bias)->blocks(), options);
  return prior;
}

Dense repeated(std::initializer_list<std::pair<Index, double>> parts) {
  std::vector<double> out;
  for (const auto& [count, value] : parts) out.insert(out.end(), static_cast<std::size_t>(count), value);
  return column_of(out);
}

template <class T>
void check(const Prior<T>& prior, std::size_t groups, const Dense& expected) {
  assert_int_equal(prior.groups().size(), groups);
  assert_close("precision", column_of(prior.precision()), rounded<T>(expected), 0);
}

template <class T>
void groups_start_from_the_options(void**) {
  check(make<T>(with(shared, 2, 5)), 1, Dense(13, 1, 2));
  check(make<T>(with(weights_biases, 2, 5)), 2, repeated({{6, 2}, {3, 5}, {3, 2}, {1, 5}}));
  check(make<T>(with(weights_biases, 2, 0)), 2, Dense(13, 1, 2));  // 0: as the weights
  check(make<T>(with(layers, 2, 5)), 2, Dense(13, 1, 2));          // biases are no group of their own
  check(make<T>(with(blocks, 2, 1e-6)), 4, repeated({{6, 2}, {3, 1e-6}, {3, 2}, {1, 1e-6}}));
  check(make<T>(with(weights_biases, 2, 5), false), 1, Dense(9, 1, 2));
  check(make<T>(with(blocks, 2, 5), false), 2, Dense(9, 1, 2));
}

template <class T>
void each_group_has_its_own_precision(void**) {
  const auto set = [](PriorGroups grouping, std::vector<double> values) {
    Prior<T> prior = make<T>(with(grouping, 1, 0));
    prior.set_groups(values);
    assert_true(std::ranges::equal(prior.groups(), values) && !prior.is_fixed());
    return prior;
  };
  check(set(shared, {3}), 1, Dense(13, 1, 3));
  check(set(weights_biases, {3, 4}), 2, repeated({{6, 3}, {3, 4}, {3, 3}, {1, 4}}));
  check(set(layers, {3, 4}), 2, repeated({{9, 3}, {4, 4}}));
  check(set(blocks, {3, 4, 5, 6}), 4, repeated({{6, 3}, {3, 4}, {3, 5}, {1, 6}}));
}

/// Mean of theta^2 over a group's parameters and the samples.
template <class T>
void mean_squares_are_taken_over_groups_and_samples(void**) {
  const Padded<T> thetas(Random(1).normal(13, 4), 2);
  const Index membership[4][13] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                   {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1},
                                   {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
                                   {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3}};
  for (const PriorGroups grouping : {shared, weights_biases, layers, blocks}) {
    const Prior<T> prior = make<T>(with(grouping, 1, 0));
    const Index* const group = membership[static_cast<int>(grouping)];
    Dense got = poison(static_cast<Index>(prior.groups().size()), 1), sum(got.rows, 1), count(got.rows, 1);
    prior.mean_squares(thetas.get(), got.values);
    for (Index i = 0; i < 13; ++i)
      for (Index s = 0; s < 4; ++s) {
        sum(group[i], 0) += std::pow(thetas.dense()(i, s), 2);
        count(group[i], 0) += 1;
      }
    for (Index g = 0; g < got.rows; ++g)
      assert_near("mean square", got(g, 0), sum(g, 0) / count(g, 0), 1e-13);
  }
}

Options by_fan_in(Options options) {
  options.prior_scaling = PriorScaling::fan_in;
  return options;
}

/// Layer 0 has two inputs, layer 1 three; its biases, too.
template <class T>
void precisions_may_count_in_inputs(void**) {
  check(make<T>(by_fan_in(with(shared, 2, 0))), 1, repeated({{9, 4}, {4, 6}}));
  check(make<T>(by_fan_in(with(weights_biases, 2, 5))), 2, repeated({{6, 4}, {3, 10}, {3, 6}, {1, 15}}));
  Prior<T> prior = make<T>(by_fan_in(with(layers, 2, 0)));
  prior.set_groups(std::vector<double>{3, 4});
  check(prior, 2, repeated({{9, 6}, {4, 12}}));
  Prior<T> without_layers;
  without_layers.reset({{"parameters", 0, 7, 1, 0, false}}, by_fan_in(with(shared, 2, 0)));
  check(without_layers, 1, Dense(7, 1, 2));
}

/// In groups that span layers of different sizes, the learned value is best for the scaled precisions.
template <class T>
void learned_precisions_count_in_inputs(void**) {
  const Padded<T> thetas(Random(3).normal(13, 4), 2);
  Prior<T> prior = make<T>(by_fan_in(with(weights_biases, 1, 0)));
  Scales scales;
  learn_prior_from<T>(prior, thetas.get(), 1, scales);
  const auto log_prior = [&](const std::vector<double>& groups) {
    prior.set_groups(groups);
    const Dense precision = column_of(prior.precision());
    double sum = 0;
    for (Index i = 0; i < 13; ++i)
      for (Index s = 0; s < 4; ++s)
        sum += (std::log(precision(i, 0)) - precision(i, 0) * std::pow(thetas.dense()(i, s), 2)) / 2;
    return sum;
  };
  const double best = log_prior(scales.prior);
  for (const std::size_t g : {0, 1})
    for (const double factor : {0.99, 1.01}) {
      std::vector<double> other = scales.prior;
      other[g] *= factor;
      assert_true(log_prior(other) < best);
    }
}

/// Networks with hidden units on streams, and no others, have fan-in scaling by default.
void streams_of_networks_begin_with_fan_in(void**) {
  for (const Method& method : method_table()) {
    for (const bool hidden : {false, true}) {
      Options options, of_classes;
      method.set_defaults(options, {.has_hidden = hidden});
      method.set_defaults(of_classes, {.has_hidden = hidden, .likelihood = BDL_CATEGORICAL});
      assert_true((options.prior_scaling == PriorScaling::fan_in) ==
                  (hidden && method.kind == MethodKind::stream));
      assert_true(of_classes.prior_scaling == options.prior_scaling);
      assert_true(options.initialization == Options().initialization);
      const bool early = hidden && method.kind == MethodKind::stream;
      assert_true(of_classes.initialization == (early ? Initialization::he : Options().initialization));
    }
  }
  const auto start = [](std::shared_ptr<Model<double>> model) {
    auto q = make_posterior<double>(model->parameters(), 0);
    Optimizer<double> optimizer(model, q, find_method("bong"), 1);
    initialize(optimizer);
    return dense_precision(*q);
  };
  assert_close("network", start(make_network<double>(sizes, Likelihood(BDL_GAUSSIAN, 1))),
               diagonal_matrix(repeated({{9, 2}, {4, 3}})), 0);
  assert_close("linear model", start(make_network<double>({3, 2}, Likelihood(BDL_GAUSSIAN, 2))), identity(8),
               0);
}

template <class T>
void fixed_precisions_are_kept_as_given(void**) {
  Prior<T> prior = make<T>(with(weights_biases, 1, 0));
  const Padded<T> precision(Random(2).uniform(13, 1, 0.1, 9));
  prior.fix(precision.column());
  assert_true(prior.is_fixed());
  assert_close("precision", column_of(prior.precision()), precision.dense(), 0);
  prior.reset(make_network<T>(sizes, Likelihood(BDL_GAUSSIAN, 1))->blocks(), with(shared, 2, 0));
  assert_false(prior.is_fixed());
  check(prior, 1, Dense(13, 1, 2));
}

/// Only the options that define the prior regroup it.
void options_regroup_the_prior_when_they_change_it(void**) {
  Optimizer<double> optimizer(make_network<double>(sizes, Likelihood(BDL_GAUSSIAN, 1)),
                              make_posterior<double>(13, 1), find_method("slang"), 100);
  const std::vector<double> learned{3, 4};
  optimizer.prior().set_groups(learned);
  Options options = optimizer.options();
  options.learning_rate = 0.5;
  optimizer.set_options(options);
  check(optimizer.prior(), 2, repeated({{9, 3}, {4, 4}}));
  options.prior_groups = weights_biases;
  optimizer.set_options(options);
  options.prior_precision = 7;
  optimizer.set_options(options);
  check(optimizer.prior(), 2, Dense(13, 1, 7));
  options.prior_groups = layers;
  options.bias_prior_precision = 5;
  optimizer.set_options(options);
  check(optimizer.prior(), 2, Dense(13, 1, 7));
  optimizer.set_options(by_fan_in(options));
  check(optimizer.prior(), 2, repeated({{9, 14}, {4, 21}}));
  Optimizer<double> without_model(nullptr, make_posterior<double>(4, 1), find_method("slang"), 100);
  check(without_model.prior(), 1, Dense(4, 1, 1));
}

/// precision x outputs of dense layers, x input channels of convolutions.
void priors_are_scaled_as_published(void**) {
  const Graph<double> graph("input 3 6 6; conv 4 3 groups 1; tanh; conv 2 3; tanh; dense 5");
  Options options;
  options.prior_precision = 0.25;
  options.prior_scaling = PriorScaling::elrg;
  const Prior<double> prior(graph.blocks(), options);
  const double expected[] = {3, 3, 4, 4, 5, 5};
  for (std::size_t b = 0; b < graph.blocks().size(); ++b)
    for (Index i = 0; i < graph.blocks()[b].size(); ++i)
      assert_near("precision", prior.precision()[at(graph.blocks()[b].offset + i)], 0.25 * expected[b],
                  1e-15);
}

}  // namespace

int test_priors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(groups_start_from_the_options<float>),
      cmocka_unit_test(groups_start_from_the_options<double>),
      cmocka_unit_test(each_group_has_its_own_precision<float>),
      cmocka_unit_test(each_group_has_its_own_precision<double>),
      cmocka_unit_test(mean_squares_are_taken_over_groups_and_samples<float>),
      cmocka_unit_test(mean_squares_are_taken_over_groups_and_samples<double>),
      cmocka_unit_test(precisions_may_count_in_inputs<float>),
      cmocka_unit_test(precisions_may_count_in_inputs<double>),
      cmocka_unit_test(learned_precisions_count_in_inputs<float>),
      cmocka_unit_test(learned_precisions_count_in_inputs<double>),
      cmocka_unit_test(priors_are_scaled_as_published),
      cmocka_unit_test(streams_of_networks_begin_with_fan_in),
      cmocka_unit_test(fixed_precisions_are_kept_as_given<float>),
      cmocka_unit_test(fixed_precisions_are_kept_as_given<double>),
      cmocka_unit_test(options_regroup_the_prior_when_they_change_it),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
