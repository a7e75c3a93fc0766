// Symmetric roots of positive semi-definite matrices of every rank.
#include "linalg/eigen/eigenpairs.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double negligible = 1e-14;

Dense root_of(const Dense& a) {
  Scratch scratch;
  Padded<double> root(poison(a.rows, a.rows), 1);
  assert_true(symmetric_root({a.values.data(), a.rows, a.rows}, negligible, root.view(), scratch));
  return root.dense();
}

void roots_multiply_to_their_matrix(void**) {
  Random random(1);
  for (const Index size : {1, 2, 3, 7, 20, 65})
    for (const Index rank : {Index{0}, Index{1}, size / 2, size}) {
      const Dense factor = random.normal(size, rank), a = factor * transposed(factor), root = root_of(a);
      assert_close("R R", root * root, a, 1e-13);
      assert_close("R^T", transposed(root), root, 1e-15);
      const auto values = eigen_of(root).values;
      assert_true(values.back() >= -1e-13 * std::max(1.0, values.front()));
    }
  assert_close("root of I", root_of(4.0 * identity(5)), 2.0 * identity(5), 1e-15);
}

/// Two equal outputs stay equal; directions without variance get none.
void singular_matrices_keep_their_null_space(void**) {
  Dense equal(3, 3, 2);
  for (Index k = 0; k < 2; ++k) equal(2, k) = equal(k, 2) = 0.5;
  equal(2, 2) = 1;
  const Dense root = root_of(equal);
  for (Index k = 0; k < 3; ++k) assert_near("equal rows", root(0, k), root(1, k), 1e-15);
  assert_near("a variance that rounding made negative", root_of(Dense(1, 1, -1e-18))(0, 0), 0, 0);
}

/// Ties between variances do not decide anything: a change of 1e-12 changes the root by as much.
void roots_are_continuous(void**) {
  Random random(2);
  const Dense noise = random.normal(6, 6, 1e-12);
  const Dense near = identity(6) + noise + transposed(noise);
  assert_close("root", root_of(near), identity(6), 1e-11);
}

void nothing_but_numbers(void**) {
  Scratch scratch;
  for (const Index size : {1, 3}) {
    Dense a = identity(size), root(size, size);
    a(size - 1, 0) = not_a_number;
    assert_false(
        symmetric_root({a.values.data(), size, size}, negligible, {root.values.data(), size, size}, scratch));
  }
}

}  // namespace

int test_symmetric_root() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(roots_multiply_to_their_matrix),
      cmocka_unit_test(singular_matrices_keep_their_null_space),
      cmocka_unit_test(roots_are_continuous),
      cmocka_unit_test(nothing_but_numbers),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
