// Largest eigenpairs and orthonormal bases against Jacobi rotations, matrices of known spectrum, and
// identities.
#include <vector>

#include "linalg/eigen/eigenpairs.hpp"
#include "linalg/tall/low_rank_projection.hpp"
#include "parallel/parallel.hpp"
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

/// Pairs that live until the next call.
class TopEigen {
 public:
  void compute(MatrixView<double> a, Index count, double tolerance = 1e-12) {
    const Scratch::Frame frame(scratch_);
    const EigenPairs pairs = largest_positive_pairs(a, count, tolerance, scratch_);
    values_.assign(pairs.values.begin(), pairs.values.end());
    vectors_.assign(pairs.vectors.data, pairs.vectors.data + pairs.vectors.size());
    rows_ = a.rows;
  }
  ConstSpan<double> values() const { return values_; }
  ConstMatrixView<double> vectors() const { return {vectors_.data(), rows_, std::ssize(values_)}; }

 private:
  Scratch scratch_;
  std::vector<double> values_, vectors_;
  Index rows_ = 0;
};

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

struct Spectrum {
  const char* name;
  double (*value)(double);  // descending, of k = 0, 1, ...
};

constexpr Spectrum spectra[] = {
    {"inverse", [](double k) { return 1 / (k + 1); }},
    {"inverse root", [](double k) { return 1 / std::sqrt(k + 1); }},
    {"slow", [](double k) { return std::pow(k + 1, -0.25); }},
    {"steep", [](double k) { return std::exp2(-k); }},
    {"tens", [](double k) { return std::pow(10.0, -std::floor(k / 4)); }},
    {"nearly equal", [](double k) { return 2 - 1e-13 * k; }},
    {"rank 3", [](double k) { return k < 3 ? 3 - k : 0.0; }},
    {"huge", [](double k) { return 1e30 / (k + 1); }},
    {"tiny", [](double k) { return 1e-30 / (k + 1); }},
    {"squares overflow", [](double k) { return 1e152 / (k + 1); }},
    {"squares underflow", [](double k) { return 1e-165 / (k + 1); }},
    {"zero", [](double) { return 0.0; }},
};

/// H A H with the reflector H = I - 2 v v^T / v^T v.
void reflect(Dense& a, const Dense& v) {
  const Dense av = a * v;
  const double scale = 2 / dot(v, v), shift = scale * scale / 2 * dot(v, av);
  for (Index j = 0; j < a.cols; ++j) {
    add_multiple(2 * shift * v(j, 0) - scale * av(j, 0), v.column(0), a.column(j), a.rows);
    add_multiple(-scale * v(j, 0), av.column(0), a.column(j), a.rows);
  }
}

/// A matrix with this spectrum; its first eigenvectors are about `mixing` away from the first coordinates.
Dense matrix_of(const Spectrum& spectrum, Index size, double mixing) {
  Random random(static_cast<std::uint64_t>(size));
  Dense values(size, 1);
  for (Index k = 0; k < size; ++k) values(k, 0) = spectrum.value(static_cast<double>(k));
  Dense a = diagonal_matrix(values);
  const Dense v = random.normal(size, 1);
  reflect(a, v);
  Dense w = random.normal(size, 1, mixing / std::sqrt(static_cast<double>(size)));
  reflect(a, v + w);
  return a;
}

Dense compute(TopEigen& eigen, const Dense& a, Index count, double tolerance) {
  Padded<double> work = lower_of(a);
  eigen.compute(work.view(), count, tolerance);
  return dense_of(eigen.vectors());
}

/// Values, residuals and the trace that U = A^1/2 V captures, all relative to the largest eigenvalue.
void check_known(TopEigen& eigen, const Spectrum& spectrum, const Dense& a, Index count, double tolerance) {
  const Dense v = compute(eigen, a, count, tolerance);
  const double top = spectrum.value(0), rounding = 1e-13 * std::sqrt(static_cast<double>(a.rows));
  const double loss = std::max(rounding, std::min(tolerance, 1e-8));
  Dense values(count, 1), expected(count, 1);
  for (Index k = 0; k < count; ++k) {
    values(k, 0) = eigen.values()[static_cast<std::size_t>(k)];
    expected(k, 0) = spectrum.value(static_cast<double>(k));
    if (!(std::abs(values(k, 0) - expected(k, 0)) <= loss * top))
      fail_msg("%s, size %d, count %d: value %d is %.17g, expected %.17g", spectrum.name,
               static_cast<int>(a.rows), static_cast<int>(count), static_cast<int>(k), values(k, 0),
               expected(k, 0));
  }
  assert_close("V^T V", transposed(v) * v, identity(count), 1e-12);
  const Dense av = a * v, residual = av - v * diagonal_matrix(values);
  for (Index k = 0; k < count; ++k) {
    const Dense r = columns_of(residual, k, 1);
    if (!(std::sqrt(dot(r, r)) <= std::max(tolerance, 10 * rounding) * top))
      fail_msg("%s, size %d, count %d: residual %d is %.3g of the largest value", spectrum.name,
               static_cast<int>(a.rows), static_cast<int>(count), static_cast<int>(k),
               std::sqrt(dot(r, r)) / top);
  }
  double captured = 0, best = 0;
  for (Index k = 0; k < count; ++k)
    captured += dot(columns_of(v, k, 1), columns_of(av, k, 1)), best += expected(k, 0);
  assert_true(std::abs(captured - best) <= loss * static_cast<double>(count) * top);
}

void small_matrices_of_known_spectrum(void**) {
  TopEigen eigen;
  for (Index size = 1; size <= 130; size += size < 20 ? 1 : 11)
    for (const Spectrum& spectrum : spectra) {
      const Dense a = matrix_of(spectrum, size, 1);
      for (const Index count : {Index{1}, Index{2}, Index{10}, size / 2, size})
        if (count > 0 && count <= size) check_known(eigen, spectrum, a, count, 1e-12);
    }
}

void large_matrices_of_known_spectrum(void**) {
  TopEigen eigen;
  for (const Index size : {200, 333, 500, 832})
    for (const Spectrum& spectrum : spectra)
      for (const double mixing : {0.01, 1.0}) {
        const Dense a = matrix_of(spectrum, size, mixing);
        for (const Index count : {1, 8, 32}) {
          check_known(eigen, spectrum, a, count, 1e-5);
          if (count < 32) check_known(eigen, spectrum, a, count, 1e-11);
        }
      }
}

/// More pairs than Krylov's method is used for; results are identical for any number of threads.
void large_matrices_are_reduced_on_threads(void**) {
  constexpr Index size = 600, count = 150;
  TopEigen eigen;
  std::vector<Dense> results;
  for (const Index threads : {1, 3}) {
    const ThreadLimit limit(threads);
    check_known(eigen, spectra[1], matrix_of(spectra[1], size, 1), count, 1e-12);
    results.push_back(dense_of(eigen.vectors()));
  }
  assert_same("bits", results[0], results[1]);
}

/// The Krylov space of the first coordinates does not contain it.
void a_large_value_elsewhere_is_found(void**) {
  const Index size = 400;
  TopEigen eigen;
  Dense a(size, size);
  for (Index k = 0; k < size; ++k) a(k, k) = k < 8 ? 10.0 - static_cast<double>(k) : 0.01;
  a(300, 300) = 9.5;
  compute(eigen, a, 8, 1e-5);
  const double expected[] = {10, 9.5, 9, 8, 7, 6, 5, 4};
  for (std::size_t k = 0; k < 8; ++k) assert_near("value", eigen.values()[k], expected[k], 1e-9);
}

void results_do_not_depend_on_earlier_calls(void**) {
  TopEigen used;
  for (const Index size : {832, 300, 74, 41})
    for (const Index count : {1, 8}) {
      const Dense a = matrix_of(spectra[0], size, 0.1);
      TopEigen fresh;
      assert_same("vectors", compute(used, a, count, 1e-6), compute(fresh, a, count, 1e-6));
      assert_same("values", column_of(used.values()), column_of(fresh.values()));
    }
}

void every_instruction_set_finds_the_pairs(void**) {
  Scratch scratch;
  for (int set = 0; set <= static_cast<int>(widest_simd()); ++set)
    for (const Index size : {1, 2, 9, 41, 74}) {
      const Dense a = matrix_of(spectra[1], size, 1);
      const Index count = std::min<Index>(size, 10);
      Padded<double> vectors(poison(size, count), 3);
      Dense values(count, 1);
      assert_true(largest_eigenpairs(lower_of(a).view(), values.values.data(), vectors.view(), scratch,
                                     static_cast<Simd>(set)));
      const Dense v = vectors.dense();
      assert_close("A V", a * v, v * diagonal_matrix(values), 1e-12);
      assert_close("V^T V", transposed(v) * v, identity(count), 1e-12);
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

void large_matrices_that_are_not_finite_are_refused(void**) {
  TopEigen eigen;
  for (const double bad : {not_a_number, infinity})
    for (const Index size : {300, 600})
      for (const Index at : {Index{0}, size / 2, size - 1}) {
        Dense a = matrix_of(spectra[0], size, 1);
        a(size - 1, at) = bad;
        expect_error(Status::ERROR_DIVERGED, "not finite", [&] { compute(eigen, a, 4, 1e-6); });
      }
}

template <class T>
void check_basis(const Dense& columns) {
  Scratch scratch;
  Padded<T> q(columns, 3);
  const Dense a = q.dense();
  orthonormalize(q.view(), scratch);
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

int test_eigenpairs() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_largest_pairs_come_first),
      cmocka_unit_test(small_matrices_of_known_spectrum),
      cmocka_unit_test(large_matrices_of_known_spectrum),
      cmocka_unit_test(large_matrices_are_reduced_on_threads),
      cmocka_unit_test(a_large_value_elsewhere_is_found),
      cmocka_unit_test(results_do_not_depend_on_earlier_calls),
      cmocka_unit_test(every_instruction_set_finds_the_pairs),
      cmocka_unit_test(repeated_and_zero_eigenvalues_have_orthonormal_vectors),
      cmocka_unit_test(no_pair_is_nothing),
      cmocka_unit_test(matrices_that_are_not_finite_are_refused),
      cmocka_unit_test(large_matrices_that_are_not_finite_are_refused),
      cmocka_unit_test(bases_are_orthonormal_and_span_the_columns<float>),
      cmocka_unit_test(bases_are_orthonormal_and_span_the_columns<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
