// Estimates of the Hessian over samples: dense, diagonal and by probes, against products with unit vectors,
// finite differences, and for generalised linear models the formula written out.
#include "model/user_model.hpp"
#include "support/hessian_problem.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index samples = 2;
constexpr double scale = 1.7;

/// All three forms against differences of gradients, and against products to rounding error.
template <class T>
void forms_agree(void**) {
  constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 5e-5;
  for_each_hessian_problem(
      [](const HessianProblem& problem) {
        const auto network = problem.network<T>();
        HessianEstimator<T> estimator(network);
        const Dense h = products_of(problem, estimator, scale, identity(problem.dimension()));
        const Dense dense = symmetric_of(problem, estimator, scale);
        assert_close("dense", dense, h, tolerance);
        assert_close("diagonal", diagonal_of(problem, estimator, scale), diagonal_of(dense), tolerance);
        if constexpr (sizeof(T) == 8) assert_close("dense", dense, scale * problem.hessian(), 1e-7);
      },
      samples);
}

/// sum_si F_si ⊗ x_i x_i^T with x_i = (x_i, 1), F from its definition: precision, R^-1, p (1 - p), e^f, or
/// diag p - p p^T.
Dense output_hessian(const Likelihood& likelihood, const Dense& f) {
  Dense out(f.rows, f.rows), p = f;
  double sum = 0;
  for (double& value : p.values) sum += value = std::exp(value);
  if (likelihood.noise_covariance().given()) return inverse_of(correlated_noise(f.rows));
  if (likelihood.kind() == BDL_CATEGORICAL)
    return diagonal_matrix(1 / sum * p) - 1 / (sum * sum) * (p * transposed(p));
  for (Index c = 0; c < f.rows; ++c) {
    const double e = p(c, 0);
    out(c, c) = likelihood.kind() == BDL_GAUSSIAN    ? likelihood.noise_precision(c)
                : likelihood.kind() == BDL_BERNOULLI ? e / ((1 + e) * (1 + e))
                                                     : e;
  }
  return out;
}

template <class T>
void linear_models_have_the_explicit_hessian(void**) {
  for (const Likelihood& likelihood : all_likelihoods())
    for (const bool bias : {true, false})
      for (const Index examples : {1, 6, 1030}) {
        const HessianProblem problem(likelihood, {}, BDL_TANH, bias, examples, 3);
        const auto network = problem.network<T>();
        HessianEstimator<T> estimator(network);
        Dense expected(problem.dimension(), problem.dimension());
        for (Index i = 0; i < examples; ++i) {
          const Dense x = columns_of(problem.x, i, 1);
          for (Index s = 0; s < 3; ++s) {
            const Dense f = problem.naive.outputs(columns_of(problem.thetas, s, 1), x);
            Dense jacobian(problem.dimension(), 0);
            for (Index c = 0; c < f.rows; ++c) {
              Dense row(problem.dimension(), 1);
              for (Index j = 0; j < 2; ++j) row(2 * c + j, 0) = x(j, 0);
              if (bias) row(2 * f.rows + c, 0) = 1;
              jacobian = beside(jacobian, row);
            }
            expected = expected + scale * (jacobian * output_hessian(likelihood, f) * transposed(jacobian));
          }
        }
        const double tolerance = sizeof(T) == 8 ? 1e-12 : 5e-5;  // sums of thousands
        assert_close("Hessian", symmetric_of(problem, estimator, scale), expected, tolerance);
        assert_close("diagonal", diagonal_of(problem, estimator, scale), diagonal_of(expected), tolerance);
      }
}

/// Column n holds the signs in the bits of n: over all of them E[z_i z_j] = 0 exactly for i != j.
Dense all_signs(Index dimension) {
  Dense out(dimension, Index{1} << dimension);
  for (Index n = 0; n < out.cols; ++n)
    for (Index p = 0; p < dimension; ++p) out(p, n) = (n >> p) % 2 == 0 ? 1 : -1;
  return out;
}

template <class T>
void all_sign_vectors_give_the_diagonal(void**) {
  for (const bdl_activation activation : {BDL_TANH, BDL_SOFTPLUS}) {
    const HessianProblem problem(Likelihood(BDL_BERNOULLI, 1), {2}, activation, true, 4, samples);
    const auto network = problem.network<T>();
    HessianEstimator<T> estimator(network);
    assert_close("diagonal", probed_diagonal(problem, estimator, scale, all_signs(problem.dimension())),
                 diagonal_of(problem, estimator, scale), sizeof(T) == 8 ? 1e-12 : 2e-5);
  }
}

/// The mean over N random sign vectors has variance sum_{j != i} h_ij^2 / N; 5 standard errors for each of 20
/// parameters reject correct code with probability below 2e-5.
void random_probes_are_unbiased(void**) {
  constexpr Index count = 4000;
  const HessianProblem problem(Likelihood(BDL_CATEGORICAL, 3), {2, 2}, BDL_GELU, true, 5, samples);
  const auto network = problem.network<double>();
  HessianEstimator<double> estimator(network);
  Random random(9);
  Dense signs(problem.dimension(), count);
  for (double& sign : signs.values) sign = random.uniform() < 0.5 ? -1 : 1;
  const Dense got = probed_diagonal(problem, estimator, scale, signs),
              h = symmetric_of(problem, estimator, scale);
  for (Index i = 0; i < h.rows; ++i) {
    double squares = 0;
    for (Index j = 0; j < h.rows; ++j) squares += j == i ? 0 : h(i, j) * h(i, j);
    assert_true(std::abs(got(i, 0) - h(i, i)) <= 5 * std::sqrt(squares / count) + 1e-12);
  }
  Dense mean(problem.dimension(), 1);  // the definition, for the first three
  for (Index n = 0; n < 3; ++n) {
    const Dense z = columns_of(signs, n, 1), image = h * z;
    for (Index i = 0; i < h.rows; ++i) mean(i, 0) += z(i, 0) * image(i, 0) / 3;
  }
  assert_close("probes", probed_diagonal(problem, estimator, scale, columns_of(signs, 0, 3)), mean, 1e-12);
}

/// A wide layer: more units than directions at a time.
void wide_layers_are_done_in_parts(void**) {
  const HessianProblem problem(gaussian(1, {2}), {70, 40}, BDL_TANH, true, 3);
  const auto network = problem.network<double>();
  HessianEstimator<double> estimator(network);
  const Dense diagonal = diagonal_of(problem, estimator, 1), dense = symmetric_of(problem, estimator, 1);
  assert_close("diagonal", diagonal, diagonal_of(dense), 1e-12);
}

void user_models_have_no_hessian(void**) {
  const UserModel<double> user(1, 2, Likelihood(BDL_GAUSSIAN, 1), {nullptr, nullptr, nullptr});
  expect_error(Status::ERROR_UNSUPPORTED, "second derivatives",
               [&] { const HessianEstimator<double> estimator(user); });
}

}  // namespace

int test_hessians() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(forms_agree<float>),
      cmocka_unit_test(forms_agree<double>),
      cmocka_unit_test(linear_models_have_the_explicit_hessian<float>),
      cmocka_unit_test(linear_models_have_the_explicit_hessian<double>),
      cmocka_unit_test(all_sign_vectors_give_the_diagonal<float>),
      cmocka_unit_test(all_sign_vectors_give_the_diagonal<double>),
      cmocka_unit_test(random_probes_are_unbiased),
      cmocka_unit_test(wide_layers_are_done_in_parts),
      cmocka_unit_test(user_models_have_no_hessian),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
