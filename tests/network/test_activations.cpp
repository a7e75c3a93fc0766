// All nine activations: values, derivatives by finite differences, behaviour at the ends and at zero.
#include "network/activation.hpp"
#include "support/naive_network.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr bdl_activation all[] = {BDL_IDENTITY, BDL_RELU,    BDL_LEAKY_RELU, BDL_ELU,  BDL_GELU,
                                  BDL_TANH,     BDL_SIGMOID, BDL_SOFTPLUS,   BDL_SWISH};

struct Pair {
  double value, slope;
};

template <class T>
Pair at(bdl_activation kind, double z) {
  Padded<T> value(Dense(1, 1, z)), slope(poison(1, 1));
  activate<T>(kind, value.view(), slope.view());
  return {value.dense()(0, 0), slope.dense()(0, 0)};
}

template <class T>
void values_are_the_definitions(void**) {
  for (const bdl_activation kind : all)
    for (const double z : {-30.0, -5.0, -1.0, -0.3, 0.0, 1e-9, 0.2, 1.0, 4.0, 25.0}) {
      const double held = static_cast<double>(static_cast<T>(z)), expected = phi(kind, held);
      assert_near("phi", at<T>(kind, z).value, expected, sizeof(T) == 8 ? 1e-15 : 1e-6);
    }
}

/// Central differences of step h are off by h^2 |phi'''| / 6 <= 2e-11, away from kinks.
void slopes_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for (const bdl_activation kind : all)
    for (const double z : {-8.0, -2.5, -1.0, -0.4, -0.01, 0.01, 0.3, 1.7, 6.0}) {
      const double difference = (at<double>(kind, z + h).value - at<double>(kind, z - h).value) / (2 * h);
      assert_near("phi'", at<double>(kind, z).slope, difference, 1e-9);
      assert_near("phi'", at<float>(kind, z).slope,
                  at<double>(kind, static_cast<double>(static_cast<float>(z))).slope, 1e-6);
    }
}

template <class T>
double second_at(bdl_activation kind, double z) {
  Padded<T> value(Dense(1, 1, z)), slope(poison(1, 1)), second(poison(1, 1));
  activate<T>(kind, value.view(), slope.view(), second.view());
  const Pair pair = at<T>(kind, z);
  assert_true(value.dense()(0, 0) == pair.value && slope.dense()(0, 0) == pair.slope);
  return second.dense()(0, 0);
}

/// Central differences of phi' are off by h^2 |phi''''| / 6 <= 1e-10.
void second_derivatives_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for (const bdl_activation kind : all)
    for (const double z : {-8.0, -2.5, -1.0, -0.4, -0.01, 0.01, 0.3, 1.7, 6.0}) {
      const double difference = (at<double>(kind, z + h).slope - at<double>(kind, z - h).slope) / (2 * h);
      assert_near("phi''", second_at<double>(kind, z), difference, 1e-9);
      assert_near("phi''", second_at<float>(kind, z),
                  second_at<double>(kind, static_cast<double>(static_cast<float>(z))), 1e-6);
    }
}

template <class T>
void second_derivatives_vanish_far_out(void**) {
  for (const bdl_activation kind : all) {
    for (const double z : {-1e30, -1e4, -700.0, -110.0, 110.0, 700.0, 1e4, 1e30})
      assert_true(std::abs(second_at<T>(kind, z)) < 1e-40);
    assert_true(std::isfinite(second_at<T>(kind, 0)));
  }
  for (const bdl_activation kind : {BDL_IDENTITY, BDL_RELU, BDL_LEAKY_RELU})
    for (const double z : {-2.0, 0.0, 3.0}) assert_true(second_at<T>(kind, z) == 0);
  assert_true(second_at<T>(BDL_ELU, 0) == 1);  // the side whose slope it is
}

/// Small values keep their relative accuracy: no 1 - 1 where z is small or the function saturates.
void small_values_are_relatively_accurate(void**) {
  const auto relative = [](double got, double expected) {
    assert_true(std::abs(got / expected - 1) < 1e-13);
  };
  relative(at<double>(BDL_ELU, -1e-10).value, std::expm1(-1e-10));
  relative(at<double>(BDL_SIGMOID, -300).value, std::exp(-300.0));
  relative(at<double>(BDL_SIGMOID, -300).slope, std::exp(-300.0));
  relative(at<double>(BDL_SIGMOID, 40).slope, std::exp(-40.0));
  relative(at<double>(BDL_SOFTPLUS, -300).value, std::exp(-300.0));
  relative(at<double>(BDL_GELU, -10).value, -10 * std::erfc(10 / std::sqrt(2.0)) / 2);
}

template <class T>
void large_arguments_stay_finite(void**) {
  for (const bdl_activation kind : all)
    for (const double z : {-1e4, -700.0, -90.0, 90.0, 700.0, 1e4}) {
      const Pair pair = at<T>(kind, z);
      assert_true(std::isfinite(pair.value) && std::isfinite(pair.slope));
      if (z > 0) assert_near("phi", pair.value, kind == BDL_TANH || kind == BDL_SIGMOID ? 1 : z, 1e-6);
      const double low = kind == BDL_IDENTITY                  ? z
                         : kind == BDL_LEAKY_RELU              ? 0.01 * z
                         : kind == BDL_ELU || kind == BDL_TANH ? -1
                                                               : 0;
      if (z < 0) assert_near("phi", pair.value, low, 1e-6);
    }
}

/// Dead units: no slope at and below zero.
void relu_kinks_are_one_sided(void**) {
  assert_true(at<double>(BDL_RELU, 0).slope == 0 && at<double>(BDL_RELU, -1).slope == 0);
  assert_true(at<double>(BDL_LEAKY_RELU, 0).slope == 0.01);
  assert_true(at<double>(BDL_ELU, 0).slope == 1);
}

template <class T>
void not_a_number_goes_through(void**) {
  for (const bdl_activation kind : all) assert_true(std::isnan(at<T>(kind, not_a_number).value));
}

template <class T>
void matrices_are_done_column_by_column(void**) {
  for (const bdl_activation kind : all) {
    Random random(3);
    Padded<T> z(random.normal(3, 5), 2), same(z.dense(), 1), slope(poison(3, 5), 4);
    Dense value(3, 5), derivative(3, 5);
    for (Index j = 0; j < 5; ++j)
      for (Index i = 0; i < 3; ++i) {
        value(i, j) = phi(kind, z.dense()(i, j));
        derivative(i, j) = phi_slope(kind, z.dense()(i, j));
      }
    activate<T>(kind, z.view(), slope.view());
    activate<T>(kind, same.view());
    assert_close("phi", z.dense(), value, accuracy<T>);
    assert_close("phi'", slope.dense(), derivative, accuracy<T>);
    assert_same("values without derivatives", same.dense(), z.dense());
  }
}

}  // namespace

int test_activations() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(values_are_the_definitions<float>),
      cmocka_unit_test(values_are_the_definitions<double>),
      cmocka_unit_test(slopes_are_the_finite_differences),
      cmocka_unit_test(second_derivatives_are_the_finite_differences),
      cmocka_unit_test(second_derivatives_vanish_far_out<float>),
      cmocka_unit_test(second_derivatives_vanish_far_out<double>),
      cmocka_unit_test(small_values_are_relatively_accurate),
      cmocka_unit_test(large_arguments_stay_finite<float>),
      cmocka_unit_test(large_arguments_stay_finite<double>),
      cmocka_unit_test(relu_kinks_are_one_sided),
      cmocka_unit_test(not_a_number_goes_through<float>),
      cmocka_unit_test(not_a_number_goes_through<double>),
      cmocka_unit_test(matrices_are_done_column_by_column<float>),
      cmocka_unit_test(matrices_are_done_column_by_column<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
