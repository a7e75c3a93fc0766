// Jacobians of networks and custom models: rows written out in plain loops, and finite differences.
#include "base/array.hpp"
#include "curvature/jacobian.hpp"
#include "model/network.hpp"
#include "model/user_model.hpp"
#include "support/hessian_problem.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
Dense jacobian_of(const Model<T>& model, const Dense& theta, const Dense& x) {
  const Padded<T> parameters(theta), inputs(x, 2);
  Padded<T> out(poison(theta.rows, x.cols * model.outputs()), 1);
  write_jacobian<T>(model, parameters.column(), inputs.get(), out.view());
  return out.dense();
}

template <class T>
void rows_are_those_of_unit_seeds(void**) {
  for_each_hessian_problem([](const HessianProblem& problem) {
    Dense expected(problem.dimension(), 0);
    for (Index i = 0; i < problem.x.cols; ++i)
      for (Index c = 0; c < problem.likelihood.outputs(); ++c)
        expected =
            beside(expected, problem.naive.row(problem.thetas, columns_of(problem.x, i, 1),
                                               columns_of(identity(problem.likelihood.outputs()), c, 1)));
    assert_close("Jacobian", jacobian_of<T>(problem.network<T>(), problem.thetas, problem.x), expected,
                 sizeof(T) == 8 ? 1e-13 : 1e-5);
  });
}

void rows_are_the_finite_differences(void**) {
  constexpr double h = 1e-5;
  for_each_hessian_problem([](const HessianProblem& problem) {
    const Index outputs = problem.likelihood.outputs();
    const Dense got = jacobian_of<double>(problem.network<double>(), problem.thetas, problem.x);
    Dense expected = got;
    for (Index p = 0; p < problem.dimension(); ++p) {
      Dense up = problem.thetas, down = problem.thetas;
      up(p, 0) += h;
      down(p, 0) -= h;
      for (Index i = 0; i < problem.x.cols; ++i) {
        const Dense x = columns_of(problem.x, i, 1),
                    slope = 1 / (2 * h) * (problem.naive.outputs(up, x) - problem.naive.outputs(down, x));
        for (Index c = 0; c < outputs; ++c) expected(p, i * outputs + c) = slope(c, 0);
      }
    }
    assert_close("Jacobian", got, expected, 1e-8);
  });
}

/// More examples than are on the tape at a time.
template <class T>
void many_examples_are_done_in_parts(void**) {
  const HessianProblem problem(gaussian(2, {1}), {3}, BDL_TANH, true, 600);
  const Network<T> network = problem.network<T>();
  const Dense got = jacobian_of<T>(network, problem.thetas, problem.x);
  for (const Index i : {0, 255, 256, 511, 512, 599})
    assert_close("part", columns_of(got, 2 * i, 2),
                 jacobian_of<T>(network, problem.thetas, columns_of(problem.x, i, 1)), accuracy<T>);
}

/// f = (theta_0 x, theta_0 theta_1).
std::int32_t outputs_of(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  const double a = element(theta, 0, 0), b = element(theta, 0, 1);
  for (Index i = 0; i < x.rows; ++i) {
    const double values[] = {a * element(x, i, 0), a * b};
    scatter(ConstMatrixView<double>(values, 2, 1), f, i);
  }
  return 0;
}

std::int32_t gradients_of(void*, bdl_matrix theta, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  const double a = element(theta, 0, 0), b = element(theta, 0, 1);
  for (Index i = 0; i < x.rows; ++i) {
    const double s = element(seeds, i, 0), t = element(seeds, i, 1);
    const double values[] = {s * element(x, i, 0) + t * b, t * a};
    scatter(ConstMatrixView<double>(values, 2, 1), rows, i);
  }
  return 0;
}

void user_models_answer_through_their_callback(void**) {
  const UserModel<double> user(1, 2, Likelihood(BDL_GAUSSIAN, 2), {outputs_of, gradients_of, nullptr});
  Dense theta(2, 1, 3), x(1, 2, 5), expected(2, 4);
  theta(1, 0) = 4;
  x(0, 1) = 6;
  for (Index i = 0; i < 2; ++i) {
    expected(0, 2 * i) = x(0, i);
    expected(0, 2 * i + 1) = 4;
    expected(1, 2 * i + 1) = 3;
  }
  assert_same("Jacobian", jacobian_of<double>(user, theta, x), expected);
  const UserModel<double> blind(1, 2, Likelihood(BDL_GAUSSIAN, 2), {outputs_of, nullptr, nullptr});
  expect_error(Status::ERROR_UNSUPPORTED, "gradients callback",
               [&] { jacobian_of<double>(blind, theta, x); });
}

}  // namespace

int test_jacobians() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_of_unit_seeds<float>),
      cmocka_unit_test(rows_are_those_of_unit_seeds<double>),
      cmocka_unit_test(rows_are_the_finite_differences),
      cmocka_unit_test(many_examples_are_done_in_parts<float>),
      cmocka_unit_test(many_examples_are_done_in_parts<double>),
      cmocka_unit_test(user_models_answer_through_their_callback),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
