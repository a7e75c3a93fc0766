// Factors under rank-one terms, and the matrices with their factors, against dense references.
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "linalg/dense/positive_matrix.hpp"
#include "parallel/parallel.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Dense positive(Index size, Random& random) {
  const Dense root = random.normal(size, size);
  return root * transposed(root) + identity(size);
}

Dense signs(Index added, Index count) {
  Dense out(count, 1, -1);
  for (Index k = 0; k < added; ++k) out(k, 0) = 1;
  return out;
}

void factors_follow_additions_and_subtractions(void**) {
  Random random(1);
  for (const Index size : {1, 2, 7, 33})
    for (const Index count : {0, 1, 4})
      for (const Index added : {Index{0}, count / 2, count}) {
        const Dense z = random.normal(size, count, 0.3), sign = signs(added, count);
        const Dense a = positive(size, random), target = a + z * diagonal_matrix(sign) * transposed(z);
        Padded<double> lower(cholesky_of(a), 3), columns(z, 2);
        if (log_det(target) != log_det(target)) continue;  // not positive definite
        assert_true(update_cholesky(lower.view(), columns.view(), added));
        assert_close("factor", lower.dense(), cholesky_of(target), 1e-12);
      }
}

/// More columns than are rotated together, and enough rows for several threads, whose number does not matter.
void large_factors_are_rotated_on_threads(void**) {
  constexpr Index size = 2100, count = 70, added = 50;
  const Dense z = Random(7).normal(size, count, 0.01);
  std::vector<double> first;
  for (const Index threads : {1, 3}) {
    const ThreadLimit limit(threads);
    Padded<double> columns(z);
    PositiveMatrix updated(size), anew(size);
    assert_true(update_cholesky(updated.lower(), columns.view(), added));
    const ConstMatrixView<double> all(z.values.data(), size, count);
    syrk(Op::none, 1.0, all.columns(0, added), 1.0, anew.matrix());
    syrk(Op::none, -1.0, all.columns(added, count - added), 1.0, anew.matrix());
    assert_true(anew.factorize());
    double largest = 0;
    for (Index j = 0; j < size; ++j)
      for (Index i = j; i < size; ++i)
        largest = std::max(largest, std::abs(updated.lower()(i, j) - anew.lower()(i, j)));
    assert_true(largest < 1e-13);
    const std::vector<double> values(updated.lower().data, updated.lower().data + size * size);
    if (first.empty()) first = values;
    assert_true(values == first);
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < j; ++i) assert_true(anew.matrix()(i, j) == anew.matrix()(j, i));
  }
}

/// Taking away what was added leaves the factor as it was.
void additions_can_be_taken_back(void**) {
  Random random(2);
  const Dense lower = cholesky_of(positive(20, random)), z = random.normal(20, 2, 3);
  Padded<double> factor(lower), up(z), down(z);
  assert_true(update_cholesky(factor.view(), up.view(), 2));
  assert_true(update_cholesky(factor.view(), down.view(), 0));
  assert_close("factor", factor.dense(), lower, 1e-12);
}

/// A - s^2 x x^T for x = C e is positive definite if and only if s |e| < 1.
void lost_definiteness_is_found(void**) {
  Random random(3);
  for (const Index size : {1, 6, 25}) {
    const Dense lower = cholesky_of(positive(size, random)), e = random.normal(size, 1);
    for (const double left : {0.5, 1e-3, 1e-9, -1e-9, -1e-3, -4.0}) {
      const double scale = std::sqrt((1 - left) / dot(e, e));
      Padded<double> factor(lower), z(scale * (lower * e));
      const bool kept = update_cholesky(factor.view(), z.view(), 0);
      assert_int_equal(kept, left > 0);
      if (kept && left > 1e-6)
        assert_near("log det", 2 * log_det(factor.dense() * transposed(factor.dense())),
                    2 * (log_det(lower * transposed(lower)) + std::log(left)), 1e-9);
    }
  }
}

void values_that_are_not_finite_are_found(void**) {
  Random random(4);
  for (const Index added : {0, 1})
    for (const Index at : {0, 2, 4})
      for (const double bad : {not_a_number, infinity}) {
        Dense column = random.normal(5, 1, 0.1);
        column(at, 0) = bad;
        Padded<double> factor(cholesky_of(positive(5, random))), z(column);
        assert_false(update_cholesky(factor.view(), z.view(), added));
      }
}

void smallest_relative_eigenvalues_are_those_of_the_pencil(void**) {
  Random random(5);
  for (const Index size : {1, 2, 9, 70}) {
    const Dense a = positive(size, random), lower = cholesky_of(a);
    const Dense root = random.normal(size, size), b = root + transposed(root);
    Padded<double> matrix(b);
    Scratch scratch;
    const Dense inverse = inverse_of(lower);
    const auto values = eigen_of(inverse * b * transposed(inverse)).values;
    const double got = smallest_relative_eigenvalue(Padded<double>(lower).get(), matrix.view(), scratch);
    assert_near("smallest", got, values.back(), 1e-11);
    Padded<double> broken(b);
    broken.view()(size - 1, 0) = broken.view()(0, size - 1) = not_a_number;
    const double none = smallest_relative_eigenvalue(Padded<double>(lower).get(), broken.view(), scratch);
    assert_true(std::isnan(none));
  }
}

void matrices_answer_by_their_factors(void**) {
  Random random(6);
  for (const Index size : {1, 5, 40, 70}) {
    const Dense a = positive(size, random), inverse = inverse_of(a), x = random.normal(size, 1);
    PositiveMatrix matrix(size), doubled(size);
    std::copy(a.values.begin(), a.values.end(), matrix.matrix().data);
    assert_true(matrix.factorize() && doubled.set_multiple(matrix, 2));
    assert_near("log det", doubled.log_det(), log_det(2.0 * a), 1e-12);
    assert_close("double", dense_of(doubled.lower()), cholesky_of(2.0 * a), 1e-12);
    Dense y(size, 1), solution = x, diagonal(size, 1), root = x;
    matrix.multiply(x.values.data(), y.values.data());
    matrix.solve(solution.values.data());
    Scratch scratch;
    matrix.inverse_diagonal<double>(diagonal.values, scratch);
    assert_close("A x", y, a * x, 1e-12);
    assert_close("A^-1 x", solution, inverse * x, 1e-10);
    assert_close("diag A^-1", diagonal, diagonal_of(inverse), 1e-10);
    assert_near("x^T A x", matrix.quadratic(x.values.data()), dot(x, a * x), 1e-12);
    assert_near("x^T A^-1 x", matrix.inverse_quadratic(root.values.data()), dot(x, inverse * x), 1e-10);
    assert_false(doubled.set_multiple(matrix, 0) || doubled.set_isotropic(-1) ||
                 doubled.set_isotropic(infinity));
  }
}

/// One wrong element of a factor from a file is noticed, in matrices of any size and of any units.
void factors_belong_to_their_matrices(void**) {
  Random random(8);
  for (const Index size : {1, 5, 70, 500}) {
    const Dense a = positive(size, random), units = random.normal(size, 1);
    PositiveMatrix matrix(size);
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < size; ++i)
        matrix.matrix()(i, j) = a(i, j) * std::exp(5 * (units(i, 0) + units(j, 0)));
    assert_true(matrix.factorize() && matrix.accept_kept_factor());
    for (const Index j : {Index{0}, size / 3}) {
      const Index i = size - 1;
      double& element = matrix.lower()(i, j);
      const double right = element;
      element += 1e-4 * std::sqrt(matrix.matrix()(i, i));
      assert_false(matrix.accept_kept_factor());
      element = right;
    }
    assert_true(matrix.accept_kept_factor());
  }
}

}  // namespace

int test_cholesky_update() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(factors_follow_additions_and_subtractions),
      cmocka_unit_test(large_factors_are_rotated_on_threads),
      cmocka_unit_test(additions_can_be_taken_back),
      cmocka_unit_test(lost_definiteness_is_found),
      cmocka_unit_test(values_that_are_not_finite_are_found),
      cmocka_unit_test(smallest_relative_eigenvalues_are_those_of_the_pencil),
      cmocka_unit_test(matrices_answer_by_their_factors),
      cmocka_unit_test(factors_belong_to_their_matrices),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
