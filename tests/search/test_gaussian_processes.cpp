// The Gaussian process against dense matrices, its gradients against finite differences, and the scales that
// are fitted.
#include <numbers>

#include "search/gaussian_process.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Three coordinates, of which the last one is a choice among three words.
Observations made_up(Index n) {
  Random random(7);
  Observations data;
  data.coordinates = 3;
  data.is_choice = {0, 0, 1};
  for (Index i = 0; i < n; ++i) {
    const double a = random.uniform(), b = random.uniform(), word = std::floor(3 * random.uniform());
    data.points.insert(data.points.end(), {a, b, (word + 0.5) / 3});
    data.values.push_back(std::sin(3 * a) - b * b + (word == 1 ? 0.7 : 0) + 0.05 * random.normal());
  }
  return data;
}

const LogScales some_scales{0.3, -2.5, -0.9, 0.2, 0.1};

/// Covariance of m + f at two points, written down anew.
double covariance(const LogScales& scales, const double* a, const double* b) {
  const double d0 = (a[0] - b[0]) / std::exp(scales[2]), d1 = (a[1] - b[1]) / std::exp(scales[3]),
               d2 = (a[2] == b[2] ? 0 : 1) / std::exp(scales[4]);
  const double r = std::sqrt(d0 * d0 + d1 * d1 + d2 * d2), root5 = std::sqrt(5.0);
  return 1 + std::exp(scales[0]) * (1 + root5 * r + 5 * r * r / 3) * std::exp(-root5 * r);
}

Dense covariances(const LogScales& scales, ConstMatrixView<double> a, ConstMatrixView<double> b) {
  Dense out(a.cols, b.cols);
  for (Index j = 0; j < b.cols; ++j)
    for (Index i = 0; i < a.cols; ++i) out(i, j) = covariance(scales, a.column_data(i), b.column_data(j));
  return out;
}

Dense of_values(const Observations& data, const LogScales& scales) {
  return covariances(scales, data.matrix(), data.matrix()) + std::exp(scales[1]) * identity(data.size());
}

void evidence_is_the_dense_one(void**) {
  for (const Index n : {1, 2, 15}) {
    GaussianProcess process(made_up(n));
    process.condition(some_scales);
    const Dense y = column_of(process.observations().values),
                k = of_values(process.observations(), some_scales);
    const double expected =
        -(dot(y, inverse_of(k) * y) + log_det(k) + static_cast<double>(n) * std::log(2 * std::numbers::pi)) /
        2;
    assert_near("log evidence", process.log_evidence(), expected, 1e-12);
  }
}

/// Richardson's extrapolation of central differences: errors of order h^4.
template <class Function>
double derivative(Function function, LogScales at, std::size_t k) {
  const auto slope = [&](double h) {
    LogScales up = at, down = at;
    up[k] += h, down[k] -= h;
    return (function(up) - function(down)) / (2 * h);
  };
  return (4 * slope(5e-4) - slope(1e-3)) / 3;
}

void gradient_is_that_of_the_evidence(void**) {
  GaussianProcess process(made_up(15));
  const auto evidence = [&](const LogScales& scales) {
    process.condition(scales);
    return process.log_evidence();
  };
  for (const LogScales& scales :
       {some_scales, LogScales{-1, -4, -1.5, -0.5, -2}, LogScales{2, -0.5, 1, 2, 1}}) {
    std::vector<double> gradient(5, not_a_number);
    process.condition(scales);
    process.log_evidence_gradient(gradient);
    for (std::size_t k = 0; k < 5; ++k)
      assert_near("gradient", gradient[k], derivative(evidence, scales, k), 1e-9);
  }
}

void gradient_of_the_prior(void**) {
  std::vector<double> gradient(5), unused(5);
  log_prior(some_scales, gradient);
  for (std::size_t k = 0; k < 5; ++k)
    assert_near(
        "gradient", gradient[k],
        derivative([&](const LogScales& scales) { return log_prior(scales, unused); }, some_scales, k),
        1e-10);
}

/// k^T K^-1 y and k(x, x) - k^T K^-1 k, also at the points themselves.
void predictions_are_the_dense_ones(void**) {
  const Observations elsewhere = made_up(20);
  GaussianProcess process(made_up(12));
  process.condition(some_scales);
  const Observations& data = process.observations();
  const Dense inverse = inverse_of(of_values(data, some_scales)),
              cross = covariances(some_scales, data.matrix(), elsewhere.matrix());
  const Dense expected = transposed(cross) * (inverse * column_of(data.values)),
              removed = diagonal_of(transposed(cross) * (inverse * cross));
  std::vector<double> mean(20, not_a_number), variance(20, not_a_number);
  process.predict(elsewhere.matrix(), mean, variance);
  assert_close("mean", column_of(mean), expected, 1e-12);
  for (Index i = 0; i < 20; ++i)
    assert_near("variance", variance[static_cast<std::size_t>(i)],
                1 + std::exp(some_scales[0]) - removed(i, 0), 1e-12);
}

/// Without noise to speak of, the values are interpolated and certain, and far away nothing is known but
/// their level.
void interpolates_without_noise(void**) {
  Observations data{1, {0.1, 0.5, 0.8}, {-1, 0.5, 2}, {0}};
  GaussianProcess process(data);
  process.condition({0, -13.8, -0.7});
  std::vector<double> mean(3), variance(3);
  process.predict(data.matrix(), mean, variance);
  for (std::size_t i = 0; i < 3; ++i) {
    assert_near("mean", mean[i], data.values[i], 1e-4);
    assert_true(variance[i] >= 0 && variance[i] < 1e-5);
  }
  process.condition({0, -13.8, -6});  // length scale 0.0025
  const double between[] = {0.3};
  process.predict({between, 1, 1}, {mean.data(), 1}, {variance.data(), 1});
  assert_near("level", mean[0], 1.5 / 4, 1e-5);  // mean m ~ N(0, 1) of three values with variance 1 around it
  assert_near("variance", variance[0], 1 + 0.25, 1e-5);
}

/// At the fitted scales, gradients of evidence and prior cancel; and they are no worse than on a grid.
void scales_are_the_most_probable(void**) {
  GaussianProcess process(made_up(25));
  const LogScales fitted = fit_scales(process);
  std::vector<double> gradient(5), prior(5);
  process.log_evidence_gradient(gradient);
  const auto value = [&](const LogScales& scales) {
    std::vector<double> unused(5);
    process.condition(scales);
    return process.log_evidence() + log_prior(scales, unused);
  };
  log_prior(fitted, prior);
  for (std::size_t k = 0; k < 5; ++k) assert_near("slope", gradient[k], -prior[k], 1e-2);
  const double most = value(fitted);
  for (const double noise : {-8.0, -5.0, -2.0})
    for (const double first : {-2.0, -1.0, 0.0, 1.0})
      for (const double second : {-2.0, -1.0, 0.0, 1.0})
        assert_true(value({0, noise, first, second, 0}) <= most);
  assert_true(std::exp(fitted[1]) < 0.05);  // of the noise, 0.0025
}

/// A coordinate that does not matter gets a longer length scale than one that does.
void idle_coordinates_are_found(void**) {
  Random random(3);
  Observations data{2, {}, {}, {0, 0}};
  for (int i = 0; i < 30; ++i) {
    const double a = random.uniform(), b = random.uniform();
    data.points.insert(data.points.end(), {a, b});
    data.values.push_back(std::sin(6 * b));
  }
  GaussianProcess process(std::move(data));
  const LogScales scales = fit_scales(process);
  assert_true(scales[2] > scales[3] + 1.5);
}

}  // namespace

int test_gaussian_processes() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(evidence_is_the_dense_one),  cmocka_unit_test(gradient_is_that_of_the_evidence),
      cmocka_unit_test(gradient_of_the_prior),      cmocka_unit_test(predictions_are_the_dense_ones),
      cmocka_unit_test(interpolates_without_noise), cmocka_unit_test(scales_are_the_most_probable),
      cmocka_unit_test(idle_coordinates_are_found),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
