// Functions of LAPACK: eigenpairs of tridiagonal matrices with close eigenvalues, against Jacobi rotations if
// the matrices are small, and against their defining equations if not.
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/lapack.hpp"
#include "parallel/parallel.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Kind {
  const char* name;
  double (*diagonal)(Index i, Index size);
  double (*beside)(Index i, Index size);
};

double hashed(Index i) {
  return std::sin(12.9898 * static_cast<double>(i * i + 1));
}
double real(Index i) {
  return static_cast<double>(i);
}
double glued(Index i, double glue) {
  return i % 21 == 20 ? glue : 1;
}

const Kind kinds[] = {
    {"random", [](Index i, Index) { return hashed(i); }, [](Index i, Index) { return hashed(i + 7); }},
    {"Wilkinson", [](Index i, Index n) { return std::abs(real(2 * i + 1 - n)) / 2; },
     [](Index, Index) { return 1.0; }},
    {"glued", [](Index i, Index) { return std::abs(real(i % 21 - 10)); },
     [](Index i, Index) { return glued(i, 1e-4); }},
    {"glued weakly", [](Index i, Index) { return std::abs(real(i % 21 - 10)); },
     [](Index i, Index) { return glued(i, -1e-9); }},
    {"apart", [](Index i, Index) { return std::abs(real(i % 21 - 10)); },
     [](Index i, Index) { return glued(i, 0); }},
    {"identity", [](Index, Index) { return 1.0; }, [](Index, Index) { return 0.0; }},
    {"near the identity", [](Index i, Index) { return 1 + 1e-13 * hashed(i); },
     [](Index i, Index) { return 1e-13 * hashed(i + 3); }},
    {"identity and three", [](Index i, Index) { return i < 3 ? 2 + real(i) : 1.0; },
     [](Index i, Index) { return i < 3 ? 0.5 : 0.0; }},
    {"zero", [](Index, Index) { return 0.0; }, [](Index, Index) { return 0.0; }},
    {"rank three", [](Index i, Index) { return i < 3 ? 1.0 : 1e-17 * hashed(i); },
     [](Index i, Index) { return i < 3 ? 0.3 : 1e-17 * hashed(i); }},
    {"graded down", [](Index i, Index) { return std::exp2(-real(i) / 4); },
     [](Index i, Index) { return std::exp2(-real(i) / 4 - 2); }},
    {"graded up", [](Index i, Index n) { return std::exp2(-real(n - i) / 4); },
     [](Index i, Index n) { return -std::exp2(-real(n - i) / 4 - 2); }},
    {"second difference", [](Index, Index) { return 2.0; }, [](Index, Index) { return -1.0; }},
    {"no diagonal", [](Index, Index) { return 0.0; },
     [](Index i, Index n) { return std::sqrt(real(i + 1) * real(n - 1 - i)); }},
    {"tiny beside", [](Index i, Index) { return real(i % 5); }, [](Index, Index) { return 1e-160; }},
};

/// A kind of this size, scaled as the method wants it.
struct Problem {
  Index size;
  std::vector<double> diagonal, beside;
  Problem(const Kind& kind, Index size_) : size(size_) {
    double largest = 0;
    for (Index i = 0; i < size; ++i) {
      diagonal.push_back(kind.diagonal(i, size));
      beside.push_back(i + 1 < size ? kind.beside(i, size) : not_a_number);  // the last one is not there
      largest =
          std::max(largest, std::abs(diagonal.back()) + (i + 1 < size ? 2 * std::abs(beside.back()) : 0));
    }
    if (largest == 0) return;
    for (double& value : diagonal) value /= largest;
    for (double& value : beside) value /= largest;
  }
  Dense dense() const {
    Dense a(size, size);
    for (Index i = 0; i < size; ++i) {
      a(i, i) = diagonal[static_cast<std::size_t>(i)];
      if (i + 1 < size) a(i, i + 1) = a(i + 1, i) = beside[static_cast<std::size_t>(i)];
    }
    return a;
  }
};

struct Pairs {
  Dense values, vectors;
};

Pairs solve(Scratch& scratch, const Problem& p, Index count) {
  Pairs pairs{poison(count, 1), poison(p.size, count)};
  Padded<double> vectors(pairs.vectors, 3);
  assert_true(largest_tridiagonal_pairs(p.size, p.diagonal.data(), p.beside.data(),
                                        pairs.values.values.data(), vectors.view(), scratch));
  pairs.vectors = vectors.dense();
  return pairs;
}

MatrixView<double> view_of(Dense& a) {
  return {a.values.data(), a.rows, a.cols};
}

/// |T v - lambda v| and |V^T V - I|, each element, and the order. Vectors of close eigenvalues are orthogonal
/// to some n rounding errors (Dhillon and Parlett 2004).
void check(const char* name, const Problem& p, Pairs& pairs) {
  const double rounding = 2e-12;
  const Dense& v = pairs.vectors;
  double residual = 0, overlap = 0;
  for (Index k = 0; k < v.cols; ++k)
    for (Index i = 0; i < p.size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double r = (p.diagonal[at] - pairs.values(k, 0)) * v(i, k);
      if (i > 0) r += p.beside[at - 1] * v(i - 1, k);
      if (i + 1 < p.size) r += p.beside[at] * v(i + 1, k);
      residual = std::max(residual, std::isfinite(r) ? std::abs(r) : infinity);
    }
  Dense gram(v.cols, v.cols);
  const auto vectors = view_of(pairs.vectors);
  gemm(Op::transpose, Op::none, 1.0, vectors, vectors, 0.0, view_of(gram));
  for (Index j = 0; j < v.cols; ++j)
    for (Index i = 0; i < v.cols; ++i) overlap = std::max(overlap, std::abs(gram(i, j) - (i == j ? 1 : 0)));
  bool descend = true;
  for (Index k = 1; k < v.cols; ++k) descend = descend && pairs.values(k, 0) <= pairs.values(k - 1, 0);
  if (!(residual <= rounding && overlap <= rounding && descend))
    fail_msg("%s, %d of %d: residual %.3g, overlap %.3g, %s", name, static_cast<int>(v.cols),
             static_cast<int>(p.size), residual, overlap, descend ? "descending" : "not descending");
}

void small_problems_have_the_values_of_jacobi(void**) {
  Scratch scratch;  // one object for all sizes: it grows
  for (const Kind& kind : kinds)
    for (Index size = 1; size <= 40; size += size < 12 ? 1 : 7) {
      const Problem p(kind, size);
      const Eigen expected = eigen_of(p.dense());
      for (const Index count : {Index{1}, (size + 1) / 2, size}) {
        Pairs pairs = solve(scratch, p, count);
        check(kind.name, p, pairs);
        for (Index k = 0; k < count; ++k)
          assert_near(kind.name, pairs.values(k, 0), expected.values[static_cast<std::size_t>(k)], 3e-15 * 8);
      }
    }
}

void all_pairs_have_no_residual(void**) {
  Scratch scratch;
  for (const Kind& kind : kinds)
    for (const Index size : {63, 64, 65, 129, 300, 531}) {
      const Problem p(kind, size);
      Pairs pairs = solve(scratch, p, size);
      check(kind.name, p, pairs);
    }
}

void large_problems_have_no_residual(void**) {
  Scratch scratch;
  for (const Kind& kind : kinds) {
    const Problem p(kind, 1500);
    Pairs pairs = solve(scratch, p, 1500);
    check(kind.name, p, pairs);
  }
}

/// Few pairs are the first of all, but for values that are as close as bisection for a part of them looks.
void few_pairs_are_the_largest(void**) {
  Scratch scratch;
  for (const Kind& kind : kinds)
    for (const Index size : {50, 257, 900})
      for (const Index count : {1, 7, 40}) {
        const Problem p(kind, size);
        Pairs few = solve(scratch, p, count);
        check(kind.name, p, few);
        const Pairs all = solve(scratch, p, size);
        for (Index k = 0; k < count; ++k) assert_near(kind.name, few.values(k, 0), all.values(k, 0), 1e-10);
      }
}

void results_do_not_depend_on_earlier_calls(void**) {
  Scratch used;
  for (const Kind& kind : kinds)
    for (const Index size : {700, 90}) {
      const Problem p(kind, size);
      const Pairs first = solve(used, p, size), second = solve(used, p, size);
      Scratch fresh;
      const Pairs third = solve(fresh, p, size);
      for (const Pairs& other : {second, third}) {
        assert_same("values", first.values, other.values);
        assert_same("vectors", first.vectors, other.vectors);
      }
    }
}

void numbers_that_are_not_finite_are_refused(void**) {
  Scratch scratch;
  for (const double bad : {not_a_number, infinity, -infinity})
    for (const Index at : {0, 4, 8}) {
      Problem p(kinds[0], 9);
      p.diagonal[static_cast<std::size_t>(at)] = bad;
      Dense values(9, 1), vectors(9, 9);
      assert_false(largest_tridiagonal_pairs(9, p.diagonal.data(), p.beside.data(), values.values.data(),
                                             view_of(vectors), scratch));
    }
}

}  // namespace

int test_lapack() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_have_the_values_of_jacobi),
      cmocka_unit_test(all_pairs_have_no_residual),
      cmocka_unit_test(large_problems_have_no_residual),
      cmocka_unit_test(few_pairs_are_the_largest),
      cmocka_unit_test(results_do_not_depend_on_earlier_calls),
      cmocka_unit_test(numbers_that_are_not_finite_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
