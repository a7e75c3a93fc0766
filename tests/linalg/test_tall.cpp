// Products with tall matrices against dense ones: rows that are not a multiple of the block, above and below
// it.
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// All arithmetic is in double; only what is stored in T is rounded.
template <class T>
constexpr double rounding = sizeof(T) == 8 ? 1e-12 : 1e-6;

/// A tall U (D x L) and a positive divisor, or none.
template <class T>
struct Problem {
  Index dimension, rank;
  bool divided;
  Random random;
  Padded<T> u, divisor;

  Problem(Index rows, Index cols, bool with_divisor)
      : dimension(rows),
        rank(cols),
        divided(with_divisor),
        random(static_cast<std::uint64_t>(rows + 7 * cols)),
        u(random.normal(rows, cols), 3),
        divisor(random.uniform(rows, 1, 0.5, 4)) {}
  ConstSpan<T> divisor_or_none() const { return divided ? divisor.column() : ConstSpan<T>(); }
  /// diag(divisor^power) U.
  Dense weighted_u(double power) const {
    Dense out = u.dense();
    const Dense d = divided ? divisor.dense() : Dense(dimension, 1, 1);
    for (Index j = 0; j < rank; ++j)
      for (Index i = 0; i < dimension; ++i) out(i, j) *= std::pow(d(i, 0), power);
    return out;
  }
};

template <class T, class Check>
void for_each_problem(Check check) {
  for (const Index dimension : {1, 5, 15, 16, 17, 479, 480, 513, 4200})
    for (const Index rank : {0, 1, 3, 8})
      for (const bool divided : {false, true}) {
        Problem<T> problem(dimension, rank, divided);
        check(problem);
      }
}

template <class T>
void gram_is_u_t_d_inverse_u(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    Scratch scratch;
    Padded<double> gram(poison(p.rank, p.rank), 2);
    tall_gram<T>(p.u.get(), p.divisor_or_none(), gram.view(), scratch);
    assert_close("G", gram.dense(), transposed(p.u.dense()) * p.weighted_u(-1), 1e-12);
  });
}

template <class T>
void projection_is_u_t_d_inverse_x(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    for (const Index columns : {0, 1, 4, 11}) {
      Scratch scratch;
      const Padded<T> x(p.random.normal(p.dimension, columns), 1);
      Padded<double> product(poison(p.rank, columns), 1);
      tall_project<T>(p.u.get(), x.get(), p.divisor_or_none(), Divide::by_d, product.view(), scratch);
      assert_close("P", product.dense(), transposed(p.weighted_u(-1)) * x.dense(), 1e-12);
    }
  });
}

template <class T>
void expansion_adds_u_c(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    for (const Index columns : {0, 1, 4, 11}) {
      Scratch scratch;
      const Padded<T> c(p.random.normal(p.rank, columns), 1);
      Padded<T> y(p.random.normal(p.dimension, columns), 2), product(poison(p.dimension, columns), 1);
      const Dense expected = y.dense() + p.u.dense() * c.dense();
      tall_combine<T>(p.u.get(), c.get(), true, y.view(), scratch);
      assert_close("Y", y.dense(), expected, accuracy<T>);
      tall_combine<T>(p.u.get(), c.get(), false, product.view(), scratch);
      assert_close("U C", product.dense(), p.u.dense() * c.dense(), accuracy<T>);
    }
  });
}

template <class T>
void residuals_are_divided_by_d(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    if (!p.divided) return;
    for (const Index columns : {0, 1, 4, 11}) {
      Scratch scratch;
      const Padded<double> c(p.random.normal(p.rank, columns), 1);
      Padded<T> y(p.random.normal(p.dimension, columns), 2);
      const Dense divisor = p.divisor.dense();
      Dense expected = y.dense() - p.u.dense() * c.dense();
      for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < p.dimension; ++i) expected(i, j) /= divisor(i, 0);
      tall_residual<T>(p.u.get(), c.get(), p.divisor.column(), y.view(), scratch);
      assert_close("Y", y.dense(), expected, rounding<T>);
    }
  });
}

template <class T>
void marginals_go_through_the_triangle(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    if (!p.divided) return;
    Scratch scratch;
    Dense lower(p.rank, p.rank);
    for (Index j = 0; j < p.rank; ++j)
      for (Index i = j; i < p.rank; ++i) lower(i, j) = i == j ? 2 : 0.3 * p.random.normal();
    Padded<T> marginals(poison(p.dimension, 1));
    tall_marginals<T>(p.u.get(), p.divisor.column(), Padded<double>(lower, 1).get(), marginals.column(),
                      scratch);
    const Dense solved = p.weighted_u(-1) * transposed(inverse_of(lower)), divisor = p.divisor.dense();
    Dense expected(p.dimension, 1);
    for (Index i = 0; i < p.dimension; ++i) {
      expected(i, 0) = 1 / divisor(i, 0);
      for (Index j = 0; j < p.rank; ++j) expected(i, 0) -= solved(i, j) * solved(i, j);
    }
    assert_close("marginals", marginals.dense(), expected, rounding<T>);
  });
}

template <class T>
void row_squares_are_added(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    Padded<T> sums(p.random.normal(p.dimension, 1));
    const Dense u = p.u.dense();
    Dense expected = sums.dense();
    for (Index j = 0; j < p.rank; ++j)
      for (Index i = 0; i < p.dimension; ++i) expected(i, 0) -= 0.25 * u(i, j) * u(i, j);
    add_row_squares<T>(p.u.get(), -0.25, sums.column());
    assert_close("sums", sums.dense(), expected, accuracy<T>);
  });
}

/// Floats are multiplied and summed in double, over many blocks, too.
void sums_over_rows_are_accumulated_in_double(void**) {
  constexpr Index dimension = 400'000;
  const Padded<float> ones(Dense(dimension, 1, 1.1));
  Scratch scratch;
  Padded<double> gram(Dense(1, 1)), product(Dense(1, 1));
  tall_gram<float>(ones.get(), {}, gram.view(), scratch);
  tall_project<float>(ones.get(), ones.get(), {}, Divide::by_d, product.view(), scratch);
  const double value = static_cast<double>(1.1f), expected = value * value * static_cast<double>(dimension);
  assert_near("G", gram.dense()(0, 0), expected, 1e-12);
  assert_near("P", product.dense()(0, 0), expected, 1e-12);
}

template <class T>
void coloring_scales_by_the_root(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    if (!p.divided) return;
    for (const Index columns : {0, 1, 4, 11})
      for (const bool centred : {false, true}) {
        Scratch scratch;
        const Padded<double> c(p.random.normal(p.rank, columns), 1);
        const Padded<T> mean(p.random.normal(p.dimension, 1));
        Padded<T> y(p.random.normal(p.dimension, columns), 2);
        const Dense product = p.u.dense() * c.dense(), divisor = p.divisor.dense(), centres = mean.dense();
        Dense expected = y.dense();
        for (Index j = 0; j < columns; ++j)
          for (Index i = 0; i < p.dimension; ++i) {
            const double d = divisor(i, 0), centre = centred ? 0 : centres(i, 0);
            expected(i, j) = centre + expected(i, j) / std::sqrt(d) - product(i, j) / d;
          }
        tall_color<T>(p.u.get(), c.get(), p.divisor.column(), centred ? ConstSpan<T>() : mean.column(),
                      y.view(), scratch);
        assert_close("Y", y.dense(), expected, rounding<T>);
      }
  });
}

template <class T>
void projection_divides_by_the_root(void**) {
  for_each_problem<T>([](Problem<T>& p) {
    Scratch scratch;
    const Padded<T> x(p.random.normal(p.dimension, 3), 1);
    Padded<double> product(poison(p.rank, 3), 1);
    tall_project<T>(p.u.get(), x.get(), p.divisor_or_none(), Divide::by_root_d, product.view(), scratch);
    assert_close("P", product.dense(), transposed(p.weighted_u(-0.5)) * x.dense(), 1e-12);
  });
}

/// Rows beyond one part, which threads divide: identical results for any number of threads.
template <class T>
void results_do_not_depend_on_threads(void**) {
  Problem<T> p(20'011, 5, true);
  const Padded<T> eps(p.random.normal(p.dimension, 3));
  std::vector<Dense> grams, projections, samples;
  for (const Index threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    Scratch scratch;
    Padded<double> gram(poison(p.rank, p.rank)), product(poison(p.rank, 3));
    Padded<T> y = eps;
    tall_gram<T>(p.u.get(), p.divisor.column(), gram.view(), scratch);
    tall_project<T>(p.u.get(), eps.get(), p.divisor.column(), Divide::by_root_d, product.view(), scratch);
    tall_color<T>(p.u.get(), product.get(), p.divisor.column(), {}, y.view(), scratch);
    grams.push_back(gram.dense());
    projections.push_back(product.dense());
    samples.push_back(y.dense());
    assert_same("G", grams.back(), grams.front());
    assert_same("P", projections.back(), projections.front());
    assert_same("Y", samples.back(), samples.front());
  }
  assert_close("G", grams.front(), transposed(p.u.dense()) * p.weighted_u(-1), 1e-12);
}

}  // namespace

int test_tall() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(gram_is_u_t_d_inverse_u<float>),
      cmocka_unit_test(gram_is_u_t_d_inverse_u<double>),
      cmocka_unit_test(projection_is_u_t_d_inverse_x<float>),
      cmocka_unit_test(projection_is_u_t_d_inverse_x<double>),
      cmocka_unit_test(expansion_adds_u_c<float>),
      cmocka_unit_test(expansion_adds_u_c<double>),
      cmocka_unit_test(residuals_are_divided_by_d<float>),
      cmocka_unit_test(residuals_are_divided_by_d<double>),
      cmocka_unit_test(marginals_go_through_the_triangle<float>),
      cmocka_unit_test(marginals_go_through_the_triangle<double>),
      cmocka_unit_test(row_squares_are_added<float>),
      cmocka_unit_test(row_squares_are_added<double>),
      cmocka_unit_test(sums_over_rows_are_accumulated_in_double),
      cmocka_unit_test(coloring_scales_by_the_root<float>),
      cmocka_unit_test(coloring_scales_by_the_root<double>),
      cmocka_unit_test(projection_divides_by_the_root<float>),
      cmocka_unit_test(projection_divides_by_the_root<double>),
      cmocka_unit_test(results_do_not_depend_on_threads<float>),
      cmocka_unit_test(results_do_not_depend_on_threads<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
