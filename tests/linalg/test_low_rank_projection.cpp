// The best rank-L part of A A^T by each method, against Jacobi eigenpairs; which method the cost model takes.
#include "linalg/tall/low_rank_projection.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr EigenMethod methods[] = {EigenMethod::gram, EigenMethod::outer, EigenMethod::randomized};

template <class T>
void store(const Dense& from, MatrixView<T> to) {
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i) to(i, j) = static_cast<T>(from(i, j));
}

/// A factor that is there, with products in double.
template <class T>
class DenseFactor final : public Factor<T> {
 public:
  explicit DenseFactor(const Dense& a) : a_(rounded<T>(a)) {}
  const Dense& a() const { return a_; }
  Index rows() const override { return a_.rows; }
  Index cols() const override { return a_.cols; }
  void gram(MatrixView<double> out) override { store(transposed(a_) * a_, out); }
  void outer(MatrixView<double> out) override { store(a_ * transposed(a_), out); }
  void project(ConstMatrixView<T> q, MatrixView<T> out) override { store(transposed(dense_of(q)) * a_, out); }
  void combine(ConstMatrixView<T> w, MatrixView<T> out) override { store(a_ * dense_of(w), out); }

 private:
  Dense a_;
};

/// U (D x L), from a random start where the method needs one.
template <class T>
Dense project(DenseFactor<T>& factor, Index rank, const ProjectionOptions& options) {
  Scratch scratch;
  const ProjectionSize size{factor.rows(), factor.cols(), rank, 1, 1};
  Padded<T> u(poison(factor.rows(), rank), 2);
  project_to_low_rank<T>(factor, size, options, {{}, {77, Stream::range_finder, 0, 0}}, u.view(), scratch);
  return u.dense();
}

/// A (D x m) with singular values decay^0, decay^1, ...
Dense decaying(Random& random, Index rows, Index cols, double decay) {
  const auto basis = [&](Index size) {
    const Dense a = random.normal(size, size);
    return eigen_of(a + transposed(a)).vectors;
  };
  const Dense left = basis(rows), right = basis(cols);
  Dense out(rows, cols);
  for (Index k = 0; k < std::min(rows, cols); ++k)
    out = out + std::pow(decay, static_cast<double>(k)) *
                    (columns_of(left, k, 1) * transposed(columns_of(right, k, 1)));
  return out;
}

template <class T>
void check(const Dense& a, Index rank, const ProjectionOptions& options, double tolerance) {
  DenseFactor<T> factor(a);
  const Dense u = project(factor, rank, options);
  assert_close("U U^T", u * transposed(u), top_part(factor.a() * transposed(factor.a()), rank), tolerance);
}

template <class T>
void exact_methods_give_the_top_eigenpairs(void**) {
  Random random(1);
  const double tolerance = sizeof(T) == 8 ? 1e-11 : 2e-5;
  for (const EigenMethod method : {EigenMethod::gram, EigenMethod::outer})
    for (const auto& [rows, cols] :
         {std::pair<Index, Index>{20, 9}, {9, 20}, {12, 12}, {1, 4}, {4, 1}, {1, 1}})
      for (const Index rank : {Index{0}, Index{1}, rows / 2, rows}) {  // L = D, and L > m
        check<T>(decaying(random, rows, cols, 0.7), rank, {method, 2, 8}, tolerance);
        check<T>(random.normal(rows, cols), rank, {method, 2, 8}, 10 * tolerance);
      }
}

/// The stated accuracy: exact when the rank of A is at most L + oversampling.
template <class T>
void range_finder_is_exact_for_what_its_basis_holds(void**) {
  Random random(2);
  for (const Index rank : {1, 3, 6})
    for (const Index inner : {1, 4, 9}) {
      const Dense a = random.normal(30, inner) * random.normal(inner, 25);
      const Index oversampling = std::max<Index>(0, inner - rank);
      check<T>(a, rank, {EigenMethod::randomized, 1, oversampling}, sizeof(T) == 8 ? 1e-11 : 1e-4);
    }
  check<T>(random.normal(7, 20), 5, {EigenMethod::randomized, 1, 8},
           sizeof(T) == 8 ? 1e-11 : 1e-4);  // L + p > D
}

/// Singular values 2^-k, L = 4, oversampling 8: each pass gains (sigma_13 / sigma_4)^2 = 4^-9 in the basis.
void range_finder_converges_on_decaying_spectra(void**) {
  Random random(3);
  DenseFactor<double> factor(decaying(random, 60, 50, 0.5));
  const Dense expected = top_part(factor.a() * transposed(factor.a()), 4);
  double error = 1;
  for (const Index passes : {1, 2, 3}) {
    const Dense u = project(factor, 4, {EigenMethod::randomized, passes, 8});
    error = max_abs(u * transposed(u) - expected) / max_abs(expected);
    assert_true(error < 10 * std::pow(4.0, -9 * static_cast<double>(passes)) + 1e-13);
  }
}

/// The residual A A^T - U U^T is what the diagonal correction adds: it must not be negative, for any number
/// of passes.
template <class T>
void the_residual_has_a_nonnegative_diagonal(void**) {
  Random random(4);
  for (const EigenMethod method : methods)
    for (const double decay : {0.5, 0.95, 1.0}) {
      DenseFactor<T> factor(decaying(random, 40, 30, decay));
      const Dense u = project(factor, 3, {method, 1, 2}), a = factor.a();
      for (Index i = 0; i < a.rows; ++i) {
        double residual = 0;
        for (Index k = 0; k < a.cols; ++k) residual += a(i, k) * a(i, k);
        for (Index k = 0; k < u.cols; ++k) residual -= u(i, k) * u(i, k);
        if (!(residual >= -accuracy<T>))
          fail_msg("method %d, decay %g: residual %g at %ld", static_cast<int>(method), decay, residual,
                   static_cast<long>(i));
      }
    }
}

template <class T>
void deficient_factors_give_zero_columns(void**) {
  for (const EigenMethod method : methods) {
    DenseFactor<T> zero(Dense(8, 5));
    assert_close("U", project(zero, 3, {method, 2, 8}), Dense(8, 3), 0);
    const Dense column = Random(9).normal(8, 1);
    DenseFactor<T> single(beside(column, beside(-2.0 * column, Dense(8, 2))));
    const Dense u = project(single, 3, {method, 2, 8});
    assert_close("U U^T", u * transposed(u), single.a() * transposed(single.a()), 10 * accuracy<T>);
    DenseFactor<T> narrow(Random(10).normal(8, 2));  // L > m
    const Dense wide = project(narrow, 5, {method, 2, 8});
    assert_close("U U^T", wide * transposed(wide), narrow.a() * transposed(narrow.a()), 10 * accuracy<T>);
  }
}

void factors_of_any_scale_keep_their_directions(void**) {
  Random random(6);
  const Dense a = decaying(random, 15, 10, 0.8);
  for (const EigenMethod method : methods)
    for (const double scale : {1e-12, 1e12}) check<float>(scale * a, 4, {method, 3, 8}, 1e-4);
}

template <class T>
void factors_that_are_not_finite_are_refused(void**) {
  for (const EigenMethod method : methods) {
    Dense a = Random(2).normal(9, 6);
    a(4, 3) = not_a_number;
    DenseFactor<T> factor(a);
    expect_error(Status::ERROR_DIVERGED, "", [&] { project(factor, 2, {method, 1, 2}); });
  }
}

void the_option_forces_the_method(void**) {
  for (const EigenMethod method : methods) {
    assert_true(choose_method({10, 10'000, 2, 1e12, 1}, {method, 2, 8}) == method);
    assert_true(choose_method({1'000'000, 3, 2, 1, 1e12}, {method, 2, 8}) == method);
  }
}

/// D x D side for small D, Gram matrix for few rows, range finder where both sides are long.
void the_cost_model_takes_the_cheapest(void**) {
  const auto dense = [](Index rows, Index count, Index rank) {
    const double d = static_cast<double>(rows), n = static_cast<double>(count), l = static_cast<double>(rank);
    return choose_method({rows, count + rank, rank, n * n * d, 2 * n * d + 2 * d * l}, {});
  };
  assert_true(dense(20, 1000, 5) == EigenMethod::outer);
  assert_true(dense(3, 1, 1) == EigenMethod::outer || dense(3, 1, 1) == EigenMethod::gram);
  assert_true(dense(100'000, 10, 5) == EigenMethod::gram);
  assert_true(dense(1'000'000, 40, 1) == EigenMethod::gram);
  assert_true(dense(50'000, 5000, 2) == EigenMethod::randomized);
  EigenMethod last = EigenMethod::outer;  // once D is too large for its side, it stays so
  for (Index rows = 4; rows < 1'000'000; rows *= 2) {
    const EigenMethod method = dense(rows, 300, 4);
    assert_false(method == EigenMethod::outer && last != EigenMethod::outer);
    last = method;
  }
  assert_true(last != EigenMethod::outer);
}

}  // namespace

int test_low_rank_projection() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(exact_methods_give_the_top_eigenpairs<float>),
      cmocka_unit_test(exact_methods_give_the_top_eigenpairs<double>),
      cmocka_unit_test(range_finder_is_exact_for_what_its_basis_holds<float>),
      cmocka_unit_test(range_finder_is_exact_for_what_its_basis_holds<double>),
      cmocka_unit_test(range_finder_converges_on_decaying_spectra),
      cmocka_unit_test(the_residual_has_a_nonnegative_diagonal<float>),
      cmocka_unit_test(the_residual_has_a_nonnegative_diagonal<double>),
      cmocka_unit_test(deficient_factors_give_zero_columns<float>),
      cmocka_unit_test(deficient_factors_give_zero_columns<double>),
      cmocka_unit_test(factors_of_any_scale_keep_their_directions),
      cmocka_unit_test(factors_that_are_not_finite_are_refused<float>),
      cmocka_unit_test(factors_that_are_not_finite_are_refused<double>),
      cmocka_unit_test(the_option_forces_the_method),
      cmocka_unit_test(the_cost_model_takes_the_cheapest),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
