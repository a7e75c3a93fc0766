// Largest eigenpairs and orthonormal bases against Jacobi rotations and identities.
#include "linalg/orthonormal.hpp"
#include "linalg/top_eigen.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Dense symmetric(Random& random, Index size) {
  const Dense a = random.normal(size, size);
  return a + transposed(a);
}

/// Only the lower triangle is read.
Padded<double> lower_of(Dense a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = not_a_number;
  return Padded<double>(a, 2);
}

void check_pairs(TopEigen& eigen, const Dense& a, Index count) {
  Padded<double> work = lower_of(a);
  eigen.compute(work.view(), count);
  const Eigen expected = eigen_of(a);
  assert_int_equal(eigen.values().size(), count);
  Dense values(count, 1);
  for (Index k = 0; k < count; ++k) values(k, 0) = expected.values[static_cast<std::size_t>(k)];
  assert_close("eigenvalues", column_of(eigen.values()), values, 1e-12);
  const Dense v = dense_of(eigen.vectors());
  assert_close("V^T V", transposed(v) * v, identity(count), 1e-12);
  const Dense residual = a * v - v * diagonal_matrix(values);
  assert_true(max_abs(residual) <= 1e-12 * std::max(1.0, max_abs(a)));
}

void the_largest_pairs_come_first(void**) {
  TopEigen eigen;  // one object for all sizes: it grows
  for (const Index size : {1, 2, 5, 31})
    for (const Index count : {Index{1}, size / 2, size}) {
      if (count == 0) continue;
      Random random(static_cast<std::uint64_t>(size));
      check_pairs(eigen, symmetric(random, size), count);
    }
}

void repeated_and_zero_eigenvalues_have_orthonormal_vectors(void**) {
  TopEigen eigen;
  check_pairs(eigen, identity(7), 4);
  check_pairs(eigen, Dense(6, 6), 3);
  const Dense ones(9, 2, 1);
  check_pairs(eigen, ones * transposed(ones), 5);
}

void no_pair_is_nothing(void**) {
  TopEigen eigen;
  Padded<double> a(identity(3));
  eigen.compute(a.view(), 0);
  assert_int_equal(eigen.values().size(), 0);
  assert_int_equal(eigen.vectors().cols, 0);
}

void matrices_that_are_not_finite_are_refused(void**) {
  TopEigen eigen;
  for (const double bad : {not_a_number, infinity, -infinity})
    for (Index j = 0; j < 3; ++j)
      for (Index i = j; i < 3; ++i) {
        Padded<double> a(identity(3));
        a.view()(i, j) = bad;
        expect_error(Status::ERROR_DIVERGED, "not finite", [&] { eigen.compute(a.view(), 2); });
      }
}

template <class T>
void check_basis(const Dense& columns) {
  Orthonormalizer<T> orthonormalizer;
  Padded<T> q(columns, 3);
  const Dense a = q.dense();
  orthonormalizer.apply(q.view());
  const double tolerance = 10 * accuracy<T>;
  assert_close("Q^T Q", transposed(q.dense()) * q.dense(), identity(a.cols), tolerance);
  assert_close("Q Q^T A", q.dense() * (transposed(q.dense()) * a), a, tolerance);
}

template <class T>
void bases_are_orthonormal_and_span_the_columns(void**) {
  Random random(21);
  check_basis<T>(random.normal(1, 1));
  check_basis<T>(random.normal(40, 1));
  check_basis<T>(random.normal(40, 13));
  check_basis<T>(random.normal(13, 13));
  const Dense half = random.normal(20, 3);
  check_basis<T>(beside(half, half));  // dependent columns
  check_basis<T>(beside(half, Dense(20, 2)));
  check_basis<T>(Dense(20, 4));  // none at all
  check_basis<T>(Dense(20, 0));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_largest_pairs_come_first),
      cmocka_unit_test(repeated_and_zero_eigenvalues_have_orthonormal_vectors),
      cmocka_unit_test(no_pair_is_nothing),
      cmocka_unit_test(matrices_that_are_not_finite_are_refused),
      cmocka_unit_test(bases_are_orthonormal_and_span_the_columns<float>),
      cmocka_unit_test(bases_are_orthonormal_and_span_the_columns<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
