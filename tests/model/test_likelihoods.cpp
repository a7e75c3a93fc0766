// Densities, moments and output gradients of every likelihood: direct formulas, finite differences, extreme
// outputs, and the targets each refuses.
#include <numbers>

#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
double density(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  return likelihood.log_density(Padded<T>(f).get().data, Padded<T>(y).get().data);
}

template <class T>
Dense gradient(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  Padded<T> seed(poison(f.rows, 1));
  likelihood.gradient(Padded<T>(f).get().data, Padded<T>(y).get().data, seed.column().data());
  return seed.dense();
}

/// p(y | f) by its textbook formula, for moderate outputs.
double direct_density(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  double p = 1, sum = 0;
  for (Index c = 0; c < f.rows; ++c) sum += std::exp(f(c, 0));
  if (likelihood.kind() == BDL_CATEGORICAL) return std::exp(f(static_cast<Index>(y(0, 0)), 0)) / sum;
  if (likelihood.noise_covariance().given()) {
    const Dense r = correlated_noise(f.rows), residual = y - f;
    return std::exp(-dot(residual, inverse_of(r) * residual) / 2) /
           std::sqrt(std::exp(log_det(2 * std::numbers::pi * r)));
  }
  for (Index c = 0; c < f.rows; ++c) {
    const double target = y(c, 0), output = f(c, 0);
    if (likelihood.kind() == BDL_GAUSSIAN) {
      const double sd = 1 / std::sqrt(likelihood.noise_precision(c));
      p *= std::exp(-std::pow((target - output) / sd, 2) / 2) / (sd * std::sqrt(2 * std::numbers::pi));
    } else if (likelihood.kind() == BDL_BERNOULLI) {
      const double one = 1 / (1 + std::exp(-output));
      p *= target == 1 ? one : 1 - one;
    } else {
      p *= std::exp(-std::exp(output)) * std::pow(std::exp(output), target) / std::tgamma(target + 1);
    }
  }
  return p;
}

template <class Check>
void for_each_point_parameter(Check check) {
  for (const Likelihood& likelihood : all_likelihoods()) {
    Random random(static_cast<std::uint64_t>(31 + likelihood.kind()));
    for (int trial = 0; trial < 20; ++trial) {
      const Dense f = random.normal(likelihood.outputs(), 1, 1.5);
      check(likelihood, f, random_targets(likelihood, random));
    }
  }
}

void densities_are_the_formulas(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    assert_near("log p", density<double>(likelihood, f, y), std::log(direct_density(likelihood, f, y)),
                1e-12);
    assert_near("log p", density<float>(likelihood, f, y),
                density<double>(likelihood, rounded<float>(f), rounded<float>(y)), 1e-12);
  });
}

void gradients_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    Dense expected(f.rows, 1);
    for (Index c = 0; c < f.rows; ++c) {
      Dense up = f, down = f;
      up(c, 0) += h;
      down(c, 0) -= h;
      expected(c, 0) = -(density<double>(likelihood, up, y) - density<double>(likelihood, down, y)) / (2 * h);
    }
    const Dense got = gradient<double>(likelihood, f, y);
    for (Index c = 0; c < f.rows; ++c) assert_near("gradient", got(c, 0), expected(c, 0), 1e-7);
    assert_close("gradient in float", gradient<float>(likelihood, f, y), got, 1e-4);
  });
}

/// E[y] and Var(y) by summing or by the definition of the distribution.
void moments_are_those_of_the_distribution(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense&) {
    Dense mean = poison(f.rows, 1), variance = poison(f.rows, 1), expected = f, spread(f.rows, 1);
    likelihood.moments(f.values.data(), mean.values.data(), variance.values.data());
    double sum = 0;
    for (Index c = 0; c < f.rows; ++c) sum += std::exp(f(c, 0));
    for (Index c = 0; c < f.rows; ++c) {
      const double e = std::exp(f(c, 0)), p = likelihood.kind() == BDL_CATEGORICAL ? e / sum : e / (1 + e);
      if (likelihood.kind() != BDL_GAUSSIAN) expected(c, 0) = likelihood.kind() == BDL_POISSON ? e : p;
      spread(c, 0) = likelihood.noise_covariance().given() ? correlated_noise(f.rows)(c, c)
                     : likelihood.kind() == BDL_GAUSSIAN   ? 1 / likelihood.noise_precision(c)
                     : likelihood.kind() == BDL_POISSON    ? e
                                                           : p * (1 - p);
    }
    assert_close("mean", mean, expected, 1e-12);
    assert_close("variance", variance, spread, 1e-12);
  });
}

template <class T>
double misfit(const Likelihood& likelihood, const Dense& f, const Dense& y) {
  return likelihood.misfit(Padded<T>(f).get().data, Padded<T>(y).get().data);
}

/// Outputs at which the targets are as probable as they can be.
Dense best_outputs(const Likelihood& likelihood, const Dense& y) {
  Dense f(likelihood.outputs(), 1, -700);
  if (likelihood.kind() == BDL_CATEGORICAL) f(static_cast<Index>(y(0, 0)), 0) = 700;
  if (likelihood.kind() == BDL_CATEGORICAL) return f;
  for (Index c = 0; c < y.rows; ++c)
    f(c, 0) = likelihood.kind() == BDL_BERNOULLI ? (y(c, 0) > 0 ? 700 : -700)
              : likelihood.kind() == BDL_POISSON ? (y(c, 0) > 0 ? std::log(y(c, 0)) : -700)
                                                 : y(c, 0);
  return f;
}

void misfits_are_lost_log_densities(void**) {
  for_each_point_parameter([](const Likelihood& likelihood, const Dense& f, const Dense& y) {
    const double lost =
        density<double>(likelihood, best_outputs(likelihood, y), y) - density<double>(likelihood, f, y);
    assert_true(lost > 0);
    assert_near("misfit", misfit<double>(likelihood, f, y), lost, 1e-12);
    assert_near("misfit in float", misfit<float>(likelihood, f, y), lost, 1e-4);
    assert_near("best", misfit<double>(likelihood, best_outputs(likelihood, y), y), 0, 1e-12);
  });
}

void missing_targets_have_no_misfit(void**) {
  for (const bdl_likelihood kind : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON}) {
    const Dense f = column_of(std::vector<double>{0.5, -1}),
                y = column_of(std::vector<double>{not_a_number, 1});
    assert_near("misfit", misfit<double>(Likelihood(kind, 2), f, y),
                misfit<double>(Likelihood(kind, 1), Dense(1, 1, -1), Dense(1, 1, 1)), 1e-15);
  }
}

void misfits_keep_small_and_large_numbers(void**) {
  const auto poisson = [](double f, double y) {
    return misfit<double>(Likelihood(BDL_POISSON, 1), Dense(1, 1, f), Dense(1, 1, y));
  };
  assert_near("near the best", poisson(std::log(3.0) + 1e-6, 3) / 1.5e-12, 1, 1e-5);
  assert_true(poisson(std::log(7.0), 7) >= 0 && poisson(-700, 0) > 0);
  assert_near("no rate", poisson(-700, 2), 2 * (700 + std::log(2.0)) - 2, 1e-12);
  assert_near("confident",
              misfit<double>(Likelihood(BDL_BERNOULLI, 1), Dense(1, 1, 40), Dense(1, 1, 1)) / std::exp(-40.0),
              1, 1e-12);
}

Dense outputs(std::initializer_list<double> values) {
  return column_of(std::vector<double>(values));
}

template <class T>
void extreme_outputs_keep_log_space_accuracy(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1), categorical(BDL_CATEGORICAL, 3);
  assert_near("log p", density<T>(bernoulli, outputs({700}), outputs({0})), -700, 1e-15);
  assert_near("log p", density<T>(bernoulli, outputs({-700}), outputs({1})), -700, 1e-15);
  for (const double f : {10.0, 40.0, 700.0}) {
    assert_true(std::abs(density<T>(bernoulli, outputs({f}), outputs({1})) + std::log1p(std::exp(-f))) <
                1e-13);
    assert_true(std::abs(density<T>(bernoulli, outputs({-f}), outputs({0})) / -std::log1p(std::exp(-f)) - 1) <
                1e-12);
  }
  assert_near("log p", density<T>(categorical, outputs({700, -700, 0}), outputs({1})), -1400, 1e-15);
  assert_near("log p", density<T>(categorical, outputs({-700, -700, -700}), outputs({2})), -std::log(3.0),
              1e-12);
  assert_near("log p", density<T>(Likelihood(BDL_POISSON, 1), outputs({-700}), outputs({2})),
              -1400 - std::log(2.0), 1e-12);
  assert_near("log p", density<T>(gaussian(1, {1e-12}), outputs({1e6}), outputs({0})),
              0.5 * std::log(1e-12 / (2 * std::numbers::pi)) - 0.5, 1e-12);
}

template <class T>
void extreme_gradients_are_finite(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1), categorical(BDL_CATEGORICAL, 3), poisson(BDL_POISSON, 1);
  const auto expect = [](const Dense& got, const Dense& expected) {
    assert_true(max_abs(got - expected) <= 1e-6);
  };
  expect(gradient<T>(bernoulli, outputs({700}), outputs({0})), outputs({1}));
  expect(gradient<T>(bernoulli, outputs({-700}), outputs({1})), outputs({-1}));
  assert_true(gradient<T>(bernoulli, outputs({700}), outputs({1}))(0, 0) == 0);
  expect(gradient<T>(categorical, outputs({700, -700, 0}), outputs({1})), outputs({1, -1, 0}));
  expect(gradient<T>(categorical, outputs({700, -700, 0}), outputs({0})), outputs({0, 0, 0}));
  expect(gradient<T>(poisson, outputs({-700}), outputs({3})), outputs({-3}));
}

void noise_precision_is_shared_or_per_output(void**) {
  Likelihood likelihood(BDL_GAUSSIAN, 3);
  assert_false(likelihood.noise_is_set());
  assert_true(likelihood.noise_precision(2) == 1);
  likelihood.set_noise_precision(std::vector<double>{4});
  assert_true(likelihood.noise_is_set() && likelihood.noise_precision(0) == 4 &&
              likelihood.noise_precision(2) == 4);
  likelihood.set_noise_precision(std::vector<double>{1, 2, 3});
  assert_true(likelihood.noise_precision(0) == 1 && likelihood.noise_precision(2) == 3);
}

/// The residuals L^-1 (y - f) of R = L L^T are independent with variance 1.
template <class T>
void correlated_noise_is_white_noise_of_whitened_outputs(void**) {
  for (const Index count : {1, 2, 5}) {
    const Likelihood likelihood = correlated_gaussian(count), white(BDL_GAUSSIAN, count);
    const Dense lower = cholesky_of(correlated_noise(count)), inverse = inverse_of(lower);
    Random random(static_cast<std::uint64_t>(count));
    for (int trial = 0; trial < 10; ++trial) {
      const Dense f = rounded<T>(random.normal(count, 1)), y = rounded<T>(random.normal(count, 1, 2));
      const Dense f_white = inverse * f, y_white = inverse * y;
      assert_near("log p", density<T>(likelihood, f, y),
                  density<double>(white, f_white, y_white) - log_det(correlated_noise(count)) / 2, 1e-12);
      assert_close("gradient", gradient<T>(likelihood, f, y),
                   transposed(inverse) * gradient<double>(white, f_white, y_white), accuracy<T>);
    }
    assert_close("L", dense_of(likelihood.noise_covariance().root()), lower, 1e-12);
    assert_close("R^-1", dense_of(likelihood.noise_covariance().precision()),
                 inverse_of(correlated_noise(count)), 1e-12);
  }
}

void covariances_are_the_callers_until_a_precision_is_set(void**) {
  Likelihood likelihood = correlated_gaussian(2);
  const Dense r = correlated_noise(2);
  const std::vector<double> learned{7, 8};
  assert_true(likelihood.noise_origin() == NoiseOrigin::caller && likelihood.has_coupled_outputs());
  likelihood.learn_noise_precision(learned);
  likelihood.forget_learned_noise();
  assert_true(likelihood.noise_covariance().given());
  for (Index c = 0; c < 2; ++c) {
    assert_true(likelihood.noise_variance(c) == r(c, c));
    assert_near("marginal precision", likelihood.noise_precision(c), 1 / r(c, c), 1e-15);
  }
  likelihood.set_noise_precision(learned);
  assert_false(likelihood.noise_covariance().given() || likelihood.has_coupled_outputs());
  assert_true(likelihood.noise_variance(1) == 1.0 / 8);
}

void covariances_must_be_positive_definite(void**) {
  const auto refuse = [](const Dense& r) {
    expect_error(Status::ERROR_INVALID_ARGUMENT, "not positive definite", [&] {
      NoiseCovariance({r.values.data(), r.rows, r.rows});
    });
  };
  refuse(Dense(1, 1, 0));
  refuse(Dense(1, 1, -1));
  for (const double value : {0.1, 0.5, 1.0, 3.0}) refuse(Dense(3, 3, value));  // perfectly correlated
  refuse(1e-320 * identity(2));
  Dense indefinite = identity(2);
  indefinite(1, 0) = indefinite(0, 1) = 1.5;
  refuse(indefinite);
}

void unfit_targets_are_refused(void**) {
  const auto refuse = [](bdl_likelihood kind, Index count, Status status, const char* word, Dense y) {
    const Array array = bdl_column_major(y.values.data(), BDL_F64, y.rows, y.cols);
    expect_error(status, word, [&] { Likelihood(kind, count).check_targets(array, 2, "y"); });
  };
  const auto rows = [](double a, double b) { return column_of(std::vector<double>{a, b}); };
  refuse(BDL_GAUSSIAN, 2, Status::ERROR_SHAPE, "y has 1 columns, expected 2", rows(0, 0));
  refuse(BDL_CATEGORICAL, 3, Status::ERROR_SHAPE, "y has 3 columns, expected 1", Dense(2, 3));
  refuse(BDL_GAUSSIAN, 1, Status::ERROR_SHAPE, "y has 3 rows, expected 2", Dense(3, 1));
  refuse(BDL_GAUSSIAN, 1, Status::ERROR_NOT_FINITE, "row 1, column 0", rows(0, infinity));
  refuse(BDL_BERNOULLI, 1, Status::ERROR_LABEL, "y is 2 at row 1, column 0", rows(0, 2));
  refuse(BDL_BERNOULLI, 1, Status::ERROR_LABEL, "expected 0 or 1", rows(0.5, 1));
  refuse(BDL_CATEGORICAL, 3, Status::ERROR_LABEL, "y is 3 at row 0", rows(3, 1));
  refuse(BDL_CATEGORICAL, 3, Status::ERROR_LABEL, "y is -1 at row 1", rows(2, -1));
  refuse(BDL_POISSON, 1, Status::ERROR_LABEL, "y is -1 at row 0", rows(-1, 0));
  refuse(BDL_POISSON, 1, Status::ERROR_LABEL, "expected a count", rows(1e9, 1.5));
  Dense fine = rows(0, 2);
  Likelihood(BDL_CATEGORICAL, 3).check_targets(bdl_f64(fine.values.data(), 2, 1), 2, "y");
  Likelihood(BDL_POISSON, 1).check_targets(bdl_f64(fine.values.data(), 2, 1), 2, "y");
}

}  // namespace

int test_likelihoods() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(densities_are_the_formulas),
      cmocka_unit_test(gradients_are_the_finite_differences),
      cmocka_unit_test(moments_are_those_of_the_distribution),
      cmocka_unit_test(misfits_are_lost_log_densities),
      cmocka_unit_test(missing_targets_have_no_misfit),
      cmocka_unit_test(misfits_keep_small_and_large_numbers),
      cmocka_unit_test(extreme_outputs_keep_log_space_accuracy<float>),
      cmocka_unit_test(extreme_outputs_keep_log_space_accuracy<double>),
      cmocka_unit_test(extreme_gradients_are_finite<float>),
      cmocka_unit_test(extreme_gradients_are_finite<double>),
      cmocka_unit_test(noise_precision_is_shared_or_per_output),
      cmocka_unit_test(correlated_noise_is_white_noise_of_whitened_outputs<float>),
      cmocka_unit_test(correlated_noise_is_white_noise_of_whitened_outputs<double>),
      cmocka_unit_test(covariances_are_the_callers_until_a_precision_is_set),
      cmocka_unit_test(covariances_must_be_positive_definite),
      cmocka_unit_test(unfit_targets_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
