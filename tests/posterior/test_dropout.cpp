// Dropout's masks: which parameters share one, their moments, and what the posterior makes of its mean.
#include <array>

#include "posterior/dropout/dropout.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Shape {
  std::vector<Index> sizes;
  bool bias;
  double input_rate, hidden_rate;
  std::vector<DropoutLayout::Layer> layers{};  ///< in place of sizes

  DropoutLayout layout() const {
    return layers.empty() ? dropout_layout(sizes, bias, input_rate, hidden_rate)
                          : DropoutLayout{layers, input_rate, hidden_rate};
  }
};

const Shape shapes[] = {
    {{1, 1}, false, 0.3, 0},
    {{3, 1}, true, 0.5, 0.5},
    {{4, 5, 3}, true, 0.1, 0.4},
    {{4, 5, 3}, false, 0, 0.7},
    {{3, 2, 4, 1}, true, 0.25, 0},
    // Convolutions: with groups, one channel each, more channels than weights of a filter.
    {{}, false, 0.2, 0.5, {{3, 4, true, true, 9}, {4, 6, false, false, 4, 2}, {6, 2, true, false}}},
    {{}, false, 0.3, 0.4, {{4, 8, true, true, 1, 4}, {8, 8, true, false, 2, 8}}}};

template <class T>
std::unique_ptr<DropoutPosterior<T>> posterior_of(const Shape& shape, const Dense& mean) {
  auto q = std::make_unique<DropoutPosterior<T>>(shape.layout());
  for (Index i = 0; i < mean.rows; ++i) q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(mean(i, 0));
  return q;
}

template <class T>
Dense draws_of(const Posterior<T>& q, const StreamKey& key, Index count) {
  Padded<T> thetas(Dense(q.dimension(), count), 3);
  Scratch scratch;
  sample(q, key, thetas.view(), scratch);
  return thetas.dense();
}

/// Visits every weight with its place in theta and the number of its unit; biases have none (-1).
template <class Visit>
void for_each_parameter(const Shape& shape, Visit visit) {
  Index at = 0, units = 0;
  for (const DropoutLayout::Layer& layer : shape.layout().layers) {
    const double rate = layer.of_data ? shape.input_rate : shape.hidden_rate;
    const Index outputs = layer.outputs / layer.groups, inputs = layer.inputs / layer.groups;
    for (Index group = 0; group < layer.groups; ++group)
      for (Index o = 0; o < outputs; ++o)
        for (Index i = 0; i < inputs; ++i)
          for (Index tap = 0; tap < layer.taps; ++tap) visit(at++, units + group * inputs + i, rate);
    for (Index o = 0; layer.bias && o < layer.outputs; ++o) visit(at++, Index{-1}, 0.0);
    units += layer.inputs;
  }
}

/// Weights are 0 or 1 / (1 - rate) times the mean, all of a unit alike; biases are the mean. draw_masks()
/// gives the same masks.
template <class T>
void units_share_a_mask(void**) {
  for (const Shape& shape : shapes) {
    const Index dimension = shape.layout().parameters(), count = 40;
    const Dense mean = rounded<T>(Random(1).normal(dimension, 1));
    const auto owner = posterior_of<T>(shape, mean);
    const auto& q = *owner;
    assert_int_equal(q.dimension(), dimension);
    const StreamKey key{5, Stream::user, 2, 7};
    const Dense thetas = draws_of(q, key, count);
    Padded<T> masks(poison(q.units(), count), 2), theta(poison(dimension, 1));
    q.draw_masks(key, masks.view());
    for (Index s = 0; s < count; ++s) {
      for_each_parameter(shape, [&](Index at, Index unit, double rate) {
        const double mask = unit < 0 ? 1 : masks.dense()(unit, s);
        assert_true(unit < 0 || mask == 0 || mask == static_cast<double>(static_cast<T>(1 / (1 - rate))));
        assert_true(mask != 0 || rate > 0);
        assert_near("theta", thetas(at, s), mask * mean(at, 0), accuracy<T>);
      });
      q.apply(masks.get().column(s), q.mean().data(), theta.view().data);
      assert_same("theta by its masks", theta.dense(), columns_of(thetas, s, 1));
    }
  }
}

/// Over n draws the share of dropped units is the rate, and for two units the product: each within 5.5
/// standard errors, which a right program misses once in 3e7 (at most 100 such comparisons: once in 3e5 runs;
/// the seed is fixed).
template <class T>
void masks_have_the_rates_and_are_independent(void**) {
  const Index n = 20000;
  for (const Shape& shape : shapes) {
    const DropoutPosterior<T> q(shape.layout());
    Buffer<T> buffer(q.units() * n);
    const auto masks = buffer.matrix(q.units(), n);
    q.draw_masks({3, Stream::user, 0, 0}, masks);
    std::vector<double> rates(static_cast<std::size_t>(q.units()));
    for_each_parameter(shape, [&](Index, Index unit, double rate) {
      if (unit >= 0) rates[static_cast<std::size_t>(unit)] = rate;
    });
    const auto check = [&](double share, double expected) {
      const double error = std::sqrt(expected * (1 - expected) / static_cast<double>(n));
      if (!(std::abs(share - expected) <= 5.5 * error)) fail_msg("share %g, expected %g", share, expected);
    };
    for (Index a = 0; a < q.units(); ++a)
      for (Index b = a; b < q.units(); ++b) {
        Index both = 0;
        for (Index s = 0; s < n; ++s) both += masks(a, s) == 0 && masks(b, s) == 0;
        const double first = rates[static_cast<std::size_t>(a)], second = rates[static_cast<std::size_t>(b)];
        check(static_cast<double>(both) / static_cast<double>(n), a == b ? first : first * second);
      }
  }
}

/// Cov(theta) = rate / (1 - rate) mean_i mean_j within a unit and 0 else: that is solve(), the marginal
/// variances, and what draws have.
template <class T>
void moments_are_those_of_the_masks(void**) {
  for (const Shape& shape : shapes) {
    const Index dimension = shape.layout().parameters();
    const Dense mean = rounded<T>(Random(2).normal(dimension, 1));
    const auto owner = posterior_of<T>(shape, mean);
    const auto& q = *owner;
    Dense covariance(dimension, dimension);
    for_each_parameter(shape, [&](Index a, Index unit, double rate) {
      for_each_parameter(shape, [&](Index b, Index other, double) {
        if (unit >= 0 && unit == other) covariance(a, b) = rate / (1 - rate) * mean(a, 0) * mean(b, 0);
      });
    });
    Scratch scratch;
    const Dense vectors = rounded<T>(Random(3).normal(dimension, 4));
    Padded<T> x(vectors, 1), same(vectors, 2), variance(poison(dimension, 1));
    std::vector<double> forms(4, not_a_number);
    q.variances(same.view(), forms, scratch);
    const Dense expected = diagonal_of(transposed(vectors) * covariance * vectors);
    if (max_abs(covariance) > 0) assert_close("x^T Sigma x", column_of(forms), expected, 10 * accuracy<T>);
    q.solve(x.view(), scratch);
    if (max_abs(covariance) > 0) assert_close("Sigma x", x.dense(), covariance * vectors, accuracy<T>);
    q.marginal_variance(variance.column(), scratch);
    assert_close("variance", variance.dense(), diagonal_of(covariance), accuracy<T>);
    Padded<T> weighed(poison(dimension, 1));
    const Padded<T> ones(Dense(dimension, 1, 2));
    q.weigh_prior(ones.column(), weighed.column());
    for (Index i = 0; i < dimension; ++i)
      assert_near("2 E[theta^2] / mean^2", weighed.dense()(i, 0),
                  2 * (1 + covariance(i, i) / (mean(i, 0) * mean(i, 0))), 4 * accuracy<T>);
  }
}

/// 1 / (1 - rate) - 1 would have no digit left.
void small_rates_keep_their_variance(void**) {
  const double rate = 1e-7;
  const Shape shape{{1, 1}, false, rate, 0};
  const auto q = posterior_of<float>(shape, Dense(1, 1, 2));
  Scratch scratch;
  Padded<float> x(Dense(1, 1, 3)), variance(poison(1, 1));
  std::vector<double> form(1);
  q->marginal_variance(variance.column(), scratch);
  assert_near("variance", variance.dense()(0, 0), 4 * rate / (1 - rate), 1e-12);
  q->variances(x.view(), form, scratch);
  assert_near("x^T Sigma x", form[0], 36 * rate / (1 - rate), 1e-12);
  q->solve(x.view(), scratch);
  assert_near("Sigma x", x.dense()(0, 0), 12 * rate / (1 - rate), 1e-12);
}

template <class T>
void copies_are_the_same_posterior(void**) {
  const Shape& shape = shapes[2];
  const Index dimension = shape.layout().parameters();
  const auto owner = posterior_of<T>(shape, Random(4).normal(dimension, 1));
  auto& q = *owner;
  q.set_blank(false);
  const auto copy = q.clone();
  const StreamKey key{1, Stream::user, 0, 0};
  assert_false(copy->is_blank());
  assert_same("draws", draws_of<T>(*copy, key, 5), draws_of<T>(q, key, 5));
  q.reset();
  assert_true(q.is_blank() && max_abs(draws_of<T>(q, key, 2)) == 0);
  q.swap(*copy);
  assert_true(!q.is_blank() && max_abs(draws_of<T>(q, key, 2)) > 0);
}

void what_needs_a_density_is_unsupported(void**) {
  DropoutPosterior<double> q(shapes[1].layout());
  Buffer<double> buffer(4);
  const auto vector = buffer.first(4);
  std::ranges::fill(vector, 1.0);
  Scratch scratch;
  Scratch workspace;
  const auto unsupported = [](auto call) {
    expect_error(Status::ERROR_UNSUPPORTED, "a dropout posterior has no", call);
  };
  unsupported([&] { q.precision_diagonal(vector); });
  unsupported([&] { q.multiply_precision(vector, vector, scratch); });
  unsupported([&] { q.quadratic(vector, scratch); });
  unsupported([&] { q.log_det_covariance(); });
  unsupported([&] { q.trace_precision(q, scratch); });
  unsupported([&] { q.set_diagonal(vector, std::nullopt); });
  unsupported([&] { q.update({q}, workspace); });
  unsupported([&] { q.drift(q, {}, workspace); });
  unsupported([&] { log_density<double>(q, vector, scratch); });
  unsupported([&] { kl_to_prior<double>(q, vector, scratch); });
  unsupported([&] { kl<double>(q, q, scratch); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_dropout() {
  const CMUnitTest tests[] = {
      BOTH(units_share_a_mask),
      BOTH(masks_have_the_rates_and_are_independent),
      BOTH(moments_are_those_of_the_masks),
      cmocka_unit_test(small_rates_keep_their_variance),
      BOTH(copies_are_the_same_posterior),
      cmocka_unit_test(what_needs_a_density_is_unsupported),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
