// BLAS wrappers and Cholesky functions against naive loops: every operation, sizes 0, 1 and odd, padded
// columns.
#include <array>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "parallel/parallel.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index sizes[] = {0, 1, 2, 5, 17};

/// Sizes of triangular matrices: below, at and above those that are solved without products, and odd halves.
constexpr Index triangles[] = {0, 1, 2, 5, 8, 9, 16, 17, 33, 64, 101};

Dense apply(Op op, const Dense& a) {
  return op == Op::none ? a : transposed(a);
}

template <class T>
Padded<T> operand(Random& random, Op op, Index rows, Index cols, Index padding) {
  return op == Op::none ? Padded<T>(random.normal(rows, cols), padding)
                        : Padded<T>(random.normal(cols, rows), padding);
}

template <class T>
void check_gemm(Op op_a, Op op_b, Index m, Index n, Index k, T beta) {
  Random random(static_cast<std::uint64_t>(1 + m + 20 * n + 400 * k));
  const auto a = operand<T>(random, op_a, m, k, 3), b = operand<T>(random, op_b, k, n, 2);
  Padded<T> c(beta == 0 ? poison(m, n) : random.normal(m, n), 1);
  Dense expected = 0.5 * (apply(op_a, a.dense()) * apply(op_b, b.dense()));
  if (beta != 0) expected = expected + static_cast<double>(beta) * c.dense();
  gemm(op_a, op_b, T(0.5), a.get(), b.get(), beta, c.view());
  assert_close("C", c.dense(), expected, accuracy<T>);
}

template <class T>
void gemm_is_alpha_ab_plus_beta_c(void**) {
  for (const Op op_a : {Op::none, Op::transpose})
    for (const Op op_b : {Op::none, Op::transpose})
      for (const Index m : sizes)
        for (const Index n : sizes)
          for (const Index k : sizes)
            for (const T beta : {T(0), T(1), T(-0.75)}) check_gemm<T>(op_a, op_b, m, n, k, beta);
}

/// Few rows or columns: vectors, inner products, tiles that take more of the rest.
template <class T>
void thin_products_are_products(void**) {
  for (const Op op_a : {Op::none, Op::transpose})
    for (const Op op_b : {Op::none, Op::transpose})
      for (const auto& [m, n, k] : {std::array<Index, 3>{1, 40, 300},
                                    {40, 1, 300},
                                    {3, 5, 257},
                                    {7, 90, 31},
                                    {150, 3, 70},
                                    {130, 2, 1000},
                                    {1, 3, 4000},
                                    {700, 1, 33},
                                    {1, 3000, 5},
                                    {2, 2, 70000}})
        for (const T beta : {T(0), T(-0.75)}) check_gemm<T>(op_a, op_b, m, n, k, beta);
}

/// Sizes of tiles, around the widths and the depth of what is multiplied at a time.
template <class T>
void small_products_are_products(void**) {
  for (const Op op_a : {Op::none, Op::transpose})
    for (const Op op_b : {Op::none, Op::transpose})
      for (const auto& [m, n, k] : {std::array<Index, 3>{8, 64, 40},
                                    {15, 33, 70},
                                    {16, 32, 127},
                                    {17, 31, 128},
                                    {31, 9, 129},
                                    {32, 16, 300},
                                    {33, 17, 257},
                                    {4, 4, 4},
                                    {4, 4, 5},
                                    {64, 32, 129},
                                    {65, 39, 16},
                                    {65, 40, 17},
                                    {70, 71, 20},
                                    {257, 33, 2},
                                    {100, 10, 30}})
        for (const T beta : {T(0), T(1), T(-0.75)}) check_gemm<T>(op_a, op_b, m, n, k, beta);
}

/// Products that are divided by rows and columns, against references; results are identical for any number of
/// threads.
template <class T>
void products_in_parts_are_products(void**) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{300, 60, 300},
                                {9, 1700, 60},
                                {200, 900, 30},
                                {600, 40, 257},
                                {5, 700, 900},
                                {700, 3, 900}})
    for (const Op op_a : {Op::none, Op::transpose}) {
      Random random(static_cast<std::uint64_t>(m));
      const auto a = operand<T>(random, op_a, m, k, 3), b = operand<T>(random, Op::transpose, k, n, 2);
      std::vector<Dense> results;
      for (const Index threads : {1, 3}) {
        const ThreadLimit limit(threads);
        Padded<T> c(poison(m, n), 1);
        gemm(op_a, Op::transpose, T(1), a.get(), b.get(), T(0), c.view());
        results.push_back(c.dense());
      }
      assert_same("bits", results[0], results[1]);
      assert_close("C", results[0], apply(op_a, a.dense()) * transposed(b.dense()), accuracy<T>);
    }
}

Dense lower_part(Dense a, double above) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = above;
  return a;
}

template <class T>
void syrk_writes_the_lower_triangle_only(void**) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Index n : {0, 1, 2, 5, 17, 31, 32, 33, 64, 70, 97, 160})
      for (const Index k : {1, 2, 7, 50, 130}) {
        Random random(static_cast<std::uint64_t>(7 + n));
        const auto a = operand<T>(random, op, n, k, 1);
        Padded<T> c(Dense(n, n, 5), 2);
        syrk(op, T(2), a.get(), T(0), c.view());
        const Dense product = 2.0 * (apply(op, a.dense()) * transposed(apply(op, a.dense())));
        assert_close("C", c.dense(), lower_part(product, 5), accuracy<T>);
        const Dense before = c.dense();
        syrk(op, T(2), a.get(), T(-3), c.view());
        assert_close("C", c.dense(), lower_part(-2.0 * product, 5), accuracy<T>);
      }
}

/// More columns than one part has.
template <class T>
void large_lower_triangles_are_written_in_parts(void**) {
  Random random(5);
  const ThreadLimit threads(3);
  const Padded<T> a(random.normal(40, 1600), 1);
  Padded<T> c(Dense(1600, 1600, 5));
  syrk(Op::transpose, T(1), a.get(), T(0), c.view());
  assert_close("C", c.dense(), lower_part(transposed(a.dense()) * a.dense(), 5), accuracy<T>);
}

template <class T>
void empty_inner_sizes_only_scale(void**) {
  Padded<T> c(Dense(3, 3, 4), 1);
  syrk(Op::none, T(2), Padded<T>(Dense(3, 0)).get(), T(0.5), c.view());
  assert_close("lower triangle", Dense(1, 1, c.dense()(2, 0)), Dense(1, 1, 2), 0);
  Padded<T> nan(poison(3, 3), 1);
  syrk(Op::transpose, T(2), Padded<T>(Dense(0, 3)).get(), T(0), nan.view());
  assert_true(nan.dense()(1, 0) == 0 && nan.dense()(2, 2) == 0);
}

/// Keeps solutions of random triangles small.
double width(Index n) {
  return std::max(1.0, static_cast<double>(n) / 8);
}

void triangular_solves_from_the_right(void**) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Index n : triangles)
      for (const Index m : {0, 1, 2, 5, 17, 300}) {
        Random random(static_cast<std::uint64_t>(3 + n));
        Dense lower = lower_part(random.uniform(n, n, -0.5 / width(n), 0.5 / width(n)),
                                 99);  // what is above must not be read
        for (Index i = 0; i < n; ++i) lower(i, i) = 1.5 + 0.1 * static_cast<double>(i);
        const Padded<double> factor(lower, 2);
        Padded<double> b(random.normal(m, n), 1);
        const Dense before = b.dense();
        solve_lower_right(op, factor.get(), b.view());
        assert_close("B op(L)^-1 op(L)", b.dense() * apply(op, lower_part(factor.dense(), 0)), before,
                     10 * accuracy<double>);
      }
}

void triangular_solves_from_the_left(void**) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Index n : triangles)
      for (const Index m : {0, 1, 2, 5, 17, 300}) {
        Random random(static_cast<std::uint64_t>(3 + n));
        Dense lower = lower_part(random.uniform(n, n, -0.5 / width(n), 0.5 / width(n)), 99);
        for (Index i = 0; i < n; ++i) lower(i, i) = 1.5;
        Padded<double> b(random.normal(n, m), 1);
        const Dense before = b.dense();
        solve_lower_left(op, Padded<double>(lower, 2).get(), b.view());
        assert_close("op(L) op(L)^-1 B", apply(op, lower_part(lower, 0)) * b.dense(), before, 1e-12);
      }
}

template <class T>
void mirroring_copies_below_to_above(void**) {
  for (const Index n : sizes) {
    Padded<T> a(Random(4).normal(n, n), 1);
    const Dense before = a.dense();
    mirror_lower(a.view());
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) assert_true(a.dense()(i, j) == before(std::max(i, j), std::min(i, j)));
  }
}

void cholesky_factors_solves_and_inverts(void**) {
  for (const Index n : triangles) {
    Random random(static_cast<std::uint64_t>(11 + n));
    const Dense root = random.normal(n, n + 2), a = root * transposed(root) + identity(n);
    Padded<double> lower(lower_part(a, not_a_number), 3);  // only the lower triangle is read
    assert_true(cholesky(lower.view()));
    assert_close("L", lower.dense(), cholesky_of(a), 1e-12);
    assert_near("log det", log_det_from_cholesky(lower.get()), log_det(a), 1e-12);
    Padded<double> x(random.normal(n, 3), 1), inverse(poison(n, n), 1);
    const Dense b = x.dense();
    cholesky_solve(lower.get(), x.view());
    assert_close("A X", a * x.dense(), b, 1e-12);
    cholesky_inverse(lower.get(), inverse.view());
    assert_close("A^-1", inverse.dense(), inverse_of(a), 1e-12);
  }
}

void cholesky_refuses_what_is_not_positive_definite(void**) {
  for (const double bad : {-1.0, 0.0, not_a_number, infinity})
    for (Index where = 0; where < 3; ++where) {
      Dense a = identity(3);
      a(where, where) = bad;
      Padded<double> factor(a);
      assert_false(cholesky(factor.view()));
    }
  Dense a = identity(2);
  a(1, 0) = not_a_number;
  Padded<double> factor(a);
  assert_false(cholesky(factor.view()));
}

}  // namespace

int test_blas() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(gemm_is_alpha_ab_plus_beta_c<float>),
      cmocka_unit_test(gemm_is_alpha_ab_plus_beta_c<double>),
      cmocka_unit_test(thin_products_are_products<float>),
      cmocka_unit_test(thin_products_are_products<double>),
      cmocka_unit_test(small_products_are_products<float>),
      cmocka_unit_test(small_products_are_products<double>),
      cmocka_unit_test(products_in_parts_are_products<float>),
      cmocka_unit_test(products_in_parts_are_products<double>),
      cmocka_unit_test(large_lower_triangles_are_written_in_parts<float>),
      cmocka_unit_test(large_lower_triangles_are_written_in_parts<double>),
      cmocka_unit_test(syrk_writes_the_lower_triangle_only<float>),
      cmocka_unit_test(syrk_writes_the_lower_triangle_only<double>),
      cmocka_unit_test(empty_inner_sizes_only_scale<float>),
      cmocka_unit_test(empty_inner_sizes_only_scale<double>),
      cmocka_unit_test(triangular_solves_from_the_right),
      cmocka_unit_test(triangular_solves_from_the_left),
      cmocka_unit_test(mirroring_copies_below_to_above<float>),
      cmocka_unit_test(mirroring_copies_below_to_above<double>),
      cmocka_unit_test(cholesky_factors_solves_and_inverts),
      cmocka_unit_test(cholesky_refuses_what_is_not_positive_definite),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
