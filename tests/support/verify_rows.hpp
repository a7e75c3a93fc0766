// The row operations against B (D x n), the rows written out.
#pragma once

#include "curvature/blocked_rows.hpp"
#include "curvature/dense_rows.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace bdl::testing {

inline Dense lower_part(Dense a, double above) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = above;
  return a;
}

/// sum, sum_squares and add_outer: what weights the rows.
template <class T>
void check_weighted(Rows<T>& rows, const Dense& b, Random& random, double tolerance) {
  const Padded<T> c(random.normal(b.cols, 1)), w(random.uniform(b.cols, 1, 0.1, 2));
  Padded<T> sum(poison(b.rows, 1)), squares(poison(b.rows, 1));
  rows.sum(c.column(), sum.column());
  rows.sum_squares(w.column(), squares.column());
  assert_close("sum", sum.dense(), b * c.dense(), tolerance);
  const Dense weighted = b * diagonal_matrix(w.dense()) * transposed(b);
  assert_close("sum of squares", squares.dense(), diagonal_of(weighted), tolerance);
  Padded<double> outer(lower_part(Dense(b.rows, b.rows, 1), 7), 2);
  rows.add_outer(w.column(), outer.view());
  assert_close("outer", lower_part(outer.dense(), 0), lower_part(weighted + Dense(b.rows, b.rows, 1), 0),
               tolerance);
  if (b.rows > 1) assert_true(outer.dense()(0, b.rows - 1) == 7);  // the upper triangle is not touched
}

template <class T>
void check_products(Rows<T>& rows, const Dense& b, Random& random, double tolerance) {
  Padded<double> gram(Dense(b.cols, b.cols, not_a_number), 3);
  rows.gram(gram.view());
  assert_close("gram", lower_part(gram.dense(), 0), lower_part(transposed(b) * b, 0), tolerance);
  for (const Index columns : {0, 1, 3}) {
    const Padded<T> u(random.normal(b.rows, columns), 2), weights(random.normal(b.cols, columns), 1);
    Padded<T> projected(poison(columns, b.cols), 2), combined(poison(b.rows, columns), 3);
    rows.project(u.get(), projected.view());
    rows.combine(weights.get(), combined.view());
    assert_close("project", projected.dense(), transposed(u.dense()) * b, tolerance);
    assert_close("combine", combined.dense(), b * weights.dense(), tolerance);
  }
}

/// Parts of equal size: the rows of one sample and seed.
template <class T, template <class> class SomeRows>
void check_parts(SomeRows<T>& rows, Index parts, const Dense& b, Random& random) {
  const Padded<T> c(random.normal(b.cols, 1));
  const Index size = b.cols / parts;
  for (Index part = 0; part < parts; ++part) {
    Padded<T> sum(poison(b.rows, 1));
    rows.sum_part(part, parts, c.column(), sum.column());
    assert_close(
        "sum of a part", sum.dense(),
        columns_of(b, part * size, size) * transposed(columns_of(transposed(c.dense()), part * size, size)),
        sizeof(T) == 8 ? 1e-12 : 3e-5);
  }
}

/// Gradients of single examples: combinations of their seeds' rows.
template <class T>
void check_gradients(ExampleRows<T>& rows, Index seeds, const Dense& b, Random& random) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 3e-5;
  const Index n = b.cols / seeds;
  const Padded<T> z(random.normal(b.cols, 1)), v(random.uniform(b.rows, 1, 0.1, 2));
  Dense gradients(b.rows, n), squares(n, 1);
  for (Index r = 0; r < b.cols; ++r)
    add_multiple(z.dense()(r, 0), b.column(r), gradients.column(r % n), b.rows);
  for (Index j = 0; j < n; ++j)
    for (Index p = 0; p < b.rows; ++p) squares(j, 0) += v.dense()(p, 0) * std::pow(gradients(p, j), 2);
  std::vector<double> found(static_cast<std::size_t>(n), not_a_number);
  rows.gradient_squares(z.column(), v.column(), found);
  assert_close("squares of gradients", column_of(found), squares, tolerance);
  const std::vector<Index> which{n - 1, 0};
  ExampleRows<T>& some = rows.gradients(z.column(), which, n);
  assert_int_equal(some.count(), 2);
  for (Index m = 0; m < 2; ++m) {
    Padded<T> row(poison(b.rows, 1));
    some.write_row(m, 0, row.column());
    assert_close("gradient", row.dense(), columns_of(gradients, which[static_cast<std::size_t>(m)], 1),
                 tolerance);
  }
  const Dense chosen = beside(columns_of(gradients, n - 1, 1), columns_of(gradients, 0, 1));
  const Padded<T> u(random.normal(b.rows, 3));
  Padded<T> projected(poison(3, 2));
  some.project(u.get(), projected.view());
  assert_close("projected gradients", projected.dense(), transposed(u.dense()) * chosen, tolerance);
}

template <class T>
void check_all(Rows<T>& rows, const Dense& b, Random& random) {
  assert_int_equal(rows.dimension(), b.rows);
  assert_int_equal(rows.count(), b.cols);
  assert_int_equal(rows.cost().count, b.cols);
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 3e-5;
  check_weighted(rows, b, random, tolerance);
  check_products(rows, b, random, tolerance);
}

}  // namespace bdl::testing
