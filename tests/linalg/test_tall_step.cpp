// The two passes of a projection against dense products; the Gram matrices that the second computes on
// its way are exactly those of tall_gram.
#include "linalg/tall/tall_step.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Sizes with several parts, incomplete blocks, few rows, and columns of every remainder.
struct Size {
  Index rows, rank, prior, fresh;
};
constexpr Size sizes[] = {{5, 2, 0, 1},    {97, 3, 2, 4},   {1000, 10, 0, 1},
                          {9001, 7, 0, 3}, {4500, 5, 5, 2}, {33, 0, 0, 2}};

template <class T>
struct Problem {
  Padded<T> u, u0, x, d, m;
  TallColumns<T> columns;
  Dense a;

  explicit Problem(const Size& size)
      : u(Random(1).normal(size.rows, size.rank), 3),
        u0(Random(2).normal(size.rows, size.prior)),
        x(Random(3).normal(size.rows, size.fresh)),
        d(Random(4).uniform(size.rows, 1, 0.5, 2)),
        m(Random(5).normal(size.rows, 1)),
        columns{{{u.get(), 0.8}, {u0.get(), 0.5}, {x.get(), 1.0}}},
        a(beside(beside(0.8 * u.dense(), 0.5 * u0.dense()), x.dense())) {}
  Dense divided(const Dense& b) const {
    Dense out = b;
    const Dense divisor = d.dense();
    for (Index j = 0; j < out.cols; ++j)
      for (Index i = 0; i < out.rows; ++i) out(i, j) /= divisor(i, 0);
    return out;
  }
};

MatrixView<double> view(Dense& a) {
  return {a.values.data(), a.rows, a.cols};
}

Dense lower(Dense a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = 0;
  return a;
}

template <class T>
void first_passes_match_products(void**) {
  for (const Size& size : sizes) {
    Problem<T> p(size);
    Scratch scratch;
    Dense gram = poison(p.a.cols, p.a.cols), weighted = gram, projected = poison(p.a.cols, 1);
    tall_grams<T>(p.columns, p.d.column(), p.m.column(), view(gram), view(weighted),
                  view(projected).column(0), scratch);
    const Dense at = transposed(p.a);
    assert_close("A^T A", lower(gram), lower(at * p.a), 1e-12);
    assert_close("A^T D^-1 A", lower(weighted), lower(at * p.divided(p.a)), 1e-12);
    assert_close("A^T D^-1 m", projected, at * p.divided(p.m.dense()), 1e-12);

    const Dense all = beside(p.u.dense(), p.x.dense());
    Dense plain = poison(all.cols, size.fresh), divided = poison(all.cols, size.fresh + 1);
    tall_cross<T>(p.u.get(), p.x.get(), p.d.column(), p.m.column(), view(plain), view(divided), scratch);
    assert_close("[U X]^T X", plain, transposed(all) * p.x.dense(), 1e-12);
    assert_close("[U X]^T D^-1 [X m]", divided, transposed(all) * p.divided(beside(p.x.dense(), p.m.dense())),
                 1e-12);
  }
}

Dense row_squares(const Dense& a) {
  Dense sums(a.rows, 1);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) sums(i, 0) += a(i, j) * a(i, j);
  return sums;
}

/// Results of the second pass; d starts as the problem's.
template <class T>
struct Result {
  Padded<T> u, d, step;
  Dense gram, weighted;
  Result(const Problem<T>& p, Index rank)
      : u(poison(p.a.rows, rank), 2),
        d(p.d.dense()),
        step(poison(p.a.rows, 1)),
        gram(rank, rank),
        weighted(rank, rank) {}
  TallUpdate<T> update(const Problem<T>& p) {
    return {u.view(), d.column(), p.m.column(), step.column(), view(gram), view(weighted)};
  }
  /// expected: D x L with the same U U^T, compared by its product with a few vectors.
  void check(const Problem<T>& p, const Dense& c, const Dense& expected, double tolerance) {
    const Dense factor = u.dense(), z = Random(7).normal(factor.rows, 3);
    assert_close("U U^T z", factor * (transposed(factor) * z), expected * (transposed(expected) * z),
                 tolerance);
    assert_close("d", d.dense(), p.d.dense() + row_squares(p.a) - row_squares(expected), tolerance);
    assert_close("step", step.dense(), p.divided(p.m.dense() - p.a * c), tolerance);
    Scratch scratch;
    const Index rank = factor.cols;
    Dense plain(rank, rank), divided(rank, rank);
    tall_gram<T>(u.get(), {}, view(plain), scratch);
    tall_gram<T>(u.get(), d.column(), view(divided), scratch);
    assert_same("U^T U", gram, plain);
    assert_same("U^T D^-1 U", weighted, divided);
  }
};

template <class T>
void second_passes_project(void**) {
  for (const Size& size : sizes) {
    Problem<T> p(size);
    Scratch scratch;
    const Eigen eigen = eigen_of(transposed(p.a) * p.a);
    const Dense c = Random(6).normal(p.a.cols, 1);
    const double tolerance = sizeof(T) == 8 ? 1e-11 : 1e-5;
    const Dense q = columns_of(eigen.vectors, 0, size.rank);
    Result<T> rotated(p, size.rank);
    const Dense both = beside(q, c);
    tall_rotate<T>(p.columns, {both.values.data(), both.rows, both.cols}, rotated.update(p), scratch);
    rotated.check(p, c, p.a * q, tolerance);
    if (size.rank + 1 != p.a.cols) continue;
    const Dense last = columns_of(eigen.vectors, size.rank, 1);
    for (const double sign : {1.0, -1.0}) {
      const Dense direction = sign * last;
      Result<T> dropped(p, size.rank);
      tall_drop<T>(p.columns, direction.values, c.values, dropped.update(p), scratch);
      dropped.check(p, c, p.a * q, tolerance);
    }
  }
}

}  // namespace

int test_tall_step() {
  const CMUnitTest tests[] = {cmocka_unit_test(first_passes_match_products<double>),
                              cmocka_unit_test(first_passes_match_products<float>),
                              cmocka_unit_test(second_passes_project<double>),
                              cmocka_unit_test(second_passes_project<float>)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
