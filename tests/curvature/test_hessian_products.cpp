// Hessian-vector products of networks: central differences of gradients in plain loops, symmetry, linearity,
// Gauss-Newton where it is exact; every activation and likelihood, depths 0 to 2, with and without bias.
#include "support/hessian_problem.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void products_are_differences_of_gradients(void**) {
  for_each_hessian_problem([](const HessianProblem& problem) {
    const auto network = problem.network<double>();
    HessianEstimator<double> estimator(network);
    Random random(5);
    const Dense v = random.normal(problem.dimension(), 3);
    const Dense got = products_of(problem, estimator, 1, v);
    for (Index k = 0; k < v.cols; ++k)
      assert_close("H v", columns_of(got, k, 1), problem.product(problem.thetas, columns_of(v, k, 1)), 1e-7);
  });
}

/// u^T H v = v^T H u, to rounding error.
void products_are_symmetric(void**) {
  for_each_hessian_problem([](const HessianProblem& problem) {
    const auto network = problem.network<double>();
    HessianEstimator<double> estimator(network);
    const Dense h = products_of(problem, estimator, 1, identity(problem.dimension()));
    assert_close("H", h, transposed(h), 1e-13);
  });
}

void float_products_agree_with_double(void**) {
  for_each_hessian_problem([](const HessianProblem& problem) {
    const auto network = problem.network<double>();
    const auto single = problem.network<float>();
    HessianEstimator<double> exact(network);
    HessianEstimator<float> fast(single);
    Random random(6);
    const Dense v = rounded<float>(random.normal(problem.dimension(), 2));
    assert_close("H v", products_of(problem, fast, 1.5, v), products_of(problem, exact, 1.5, v), 2e-5);
  });
}

/// More vectors than are taken together, more examples than are, and both at once, one by one.
template <class T>
void parts_add_up(void**) {
  for (const auto& [examples, vectors] : {std::pair<Index, Index>{2100, 2}, {3, 70}, {1025, 40}}) {
    const HessianProblem problem(Likelihood(BDL_CATEGORICAL, 3), {4}, BDL_TANH, true, examples);
    const auto network = problem.network<T>();
    HessianEstimator<T> estimator(network);
    Random random(7);
    const Dense v = rounded<T>(random.normal(problem.dimension(), vectors));
    const Dense got = products_of(problem, estimator, 1, v);
    Dense expected(problem.dimension(), vectors);
    for (Index first = 0; first < examples; first += 500) {
      HessianProblem part = problem;
      const Index count = std::min<Index>(500, examples - first);
      part.x = columns_of(problem.x, first, count);
      part.y = columns_of(problem.y, first, count);
      for (Index k = 0; k < vectors; ++k) {
        const Dense one = products_of(part, estimator, 1, columns_of(v, k, 1));
        for (Index p = 0; p < problem.dimension(); ++p) expected(p, k) += one(p, 0);
      }
    }
    assert_close("H v", got, expected, sizeof(T) == 8 ? 1e-12 : 1e-4);
  }
}

/// One object, batches and numbers of directions that grow and shrink.
void objects_are_used_again(void**) {
  const HessianProblem problem(Likelihood(BDL_POISSON, 2), {5, 4}, BDL_SWISH, true, 40);
  const auto network = problem.network<double>();
  HessianEstimator<double> estimator(network);
  Random random(8);
  for (const Index examples : {3, 40, 1, 17}) {
    HessianProblem part = problem;
    part.x = columns_of(problem.x, 0, examples);
    part.y = columns_of(problem.y, 0, examples);
    HessianEstimator<double> fresh(network);
    const Dense v = random.normal(problem.dimension(), examples);
    assert_close("H v", products_of(part, estimator, 1, v), products_of(part, fresh, 1, v), 1e-12);
    assert_close("diagonal", diagonal_of(part, estimator, 1), diagonal_of(part, fresh, 1), 1e-12);
  }
}

/// Where the network is locally linear in its parameters, as a deep one is only in each layer's own.
void piecewise_linear_networks_have_a_semidefinite_block_diagonal(void**) {
  const HessianProblem problem(Likelihood(BDL_BERNOULLI, 2), {4, 3}, BDL_RELU, true, 20);
  const auto network = problem.network<double>();
  HessianEstimator<double> estimator(network);
  const Dense h = products_of(problem, estimator, 1, identity(problem.dimension()));
  double lowest = 0;
  for (const double value : diagonal_of(h).values) assert_true(value >= -1e-13);
  for (const double value : eigen_of(h).values) lowest = std::min(lowest, value);
  assert_true(lowest < -0.01);  // the whole is indefinite: layers interact
}

void outputs_that_are_not_finite_are_named(void**) {
  HessianProblem problem(gaussian(2, {1}), {3}, BDL_TANH, true, 3);
  const auto network = problem.network<double>();
  HessianEstimator<double> estimator(network);
  problem.x(1, 2) = not_a_number;
  expect_error(Status::ERROR_DIVERGED, "output 0 for example 2",
               [&] { products_of(problem, estimator, 1, Dense(problem.dimension(), 1, 1)); });
}

}  // namespace

int test_hessian_products() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(products_are_differences_of_gradients),
      cmocka_unit_test(products_are_symmetric),
      cmocka_unit_test(float_products_agree_with_double),
      cmocka_unit_test(parts_add_up<float>),
      cmocka_unit_test(parts_add_up<double>),
      cmocka_unit_test(objects_are_used_again),
      cmocka_unit_test(piecewise_linear_networks_have_a_semidefinite_block_diagonal),
      cmocka_unit_test(outputs_that_are_not_finite_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
