// Seeds that linearise class probabilities: H = R J, g = H^T (R + j I)^-1 (y - p), G = -H^T (R + j I)^-1 H
//, as the official BONG code has it, with J the identity.
#include <limits>

#include "curvature/moment_seeds.hpp"
#include "curvature/seeds.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Dense label_covariance(const Dense& p, bool categorical) {
  return categorical ? diagonal_matrix(p) - p * transposed(p)
                     : diagonal_matrix(p) - diagonal_matrix(p) * diagonal_matrix(p);
}

void check(const Likelihood& likelihood, const Dense& f, const Dense& y, double jitter, double tolerance) {
  const Index outputs = likelihood.outputs();
  Dense p(outputs, 1), variance(outputs, 1), hit(outputs, 1);
  likelihood.moments(f.values.data(), p.values.data(), variance.values.data());
  const bool categorical = likelihood.kind() == BDL_CATEGORICAL;
  for (Index c = 0; c < outputs; ++c)
    hit(c, 0) = categorical ? (c == static_cast<Index>(y(0, 0)) ? 1 : 0) : y(c, 0);
  const Dense r = label_covariance(p, categorical), inverse = inverse_of(r + jitter * identity(outputs));
  MomentSeeds seeds(likelihood, jitter);
  seeds.compute(f.values.data(), y.values.data());
  Dense root(outputs, outputs), gradient(outputs, 1), combined(outputs, 1);
  for (Index i = 0; i < outputs; ++i) {
    gradient(i, 0) = seeds.gradient(i);
    for (Index k = 0; k < outputs; ++k) {
      root(i, k) = seeds.root(i, k);
      combined(i, 0) += root(i, k) * seeds.coefficient(k);
    }
  }
  assert_close("A A^T", root * transposed(root), r * inverse * r, tolerance);
  assert_close("gradient", gradient, r * inverse * (p - hit), tolerance);
  assert_close("A z", combined, gradient, tolerance);
}

void seeds_are_those_of_linearised_probabilities(void**) {
  Random random(3);
  for (const double jitter : {1e-5, 0.1}) {
    for (Index outputs : {2, 3, 7})
      for (Index label = 0; label < outputs; ++label)
        check(Likelihood(BDL_CATEGORICAL, outputs), random.normal(outputs, 1),
              Dense(1, 1, static_cast<double>(label)), jitter, 1e-10);
    for (Index outputs : {1, 4}) {
      Dense y(outputs, 1);
      for (Index c = 0; c < outputs; ++c) y(c, 0) = static_cast<double>(c % 2);
      check(Likelihood(BDL_BERNOULLI, outputs), random.normal(outputs, 1), y, jitter, 1e-10);
    }
  }
}

/// Gradients of logits far apart: their squares are no subnormal numbers, and what is dropped is below
/// rounding.
template <class T>
void probabilities_of_nothing_are_dropped(void**) {
  constexpr T rounding = std::numeric_limits<T>::epsilon();
  const Likelihood likelihood(BDL_CATEGORICAL, 5);
  const std::vector<T> f{0, -10, -33, -80, -700}, y{0};
  std::vector<T> e(5), c(1), w(1);
  fill_seeds<T>(likelihood, {CurvatureKind::empirical_fisher, 1, 0}, {f.data(), 5, 1}, {y.data(), 1, 1},
                {e.data(), 5, 1}, c, w);
  const double others = std::exp(-10.0) + std::exp(-33.0), sum = 1 + others;
  for (std::size_t k = 0; k < 5; ++k) {
    const double p = std::exp(static_cast<double>(f[k])) / sum;
    assert_near("gradient", e[k], k == 0 ? -others / sum : p, 2 * rounding);
    assert_true(e[k] == 0 || e[k] * e[k] > std::numeric_limits<T>::min());
  }
  assert_true(e[1] > 0 && e[4] == 0);
}

/// A missing label neither pulls nor pushes, and takes its curvature with it.
void missing_labels_are_left_out(void**) {
  const Likelihood likelihood(BDL_BERNOULLI, 3);
  const std::vector<double> f{0.3, -1, 2}, y{1, std::nan(""), 0};
  MomentSeeds seeds(likelihood, 0.01);
  seeds.compute(f.data(), y.data());
  for (const Index i : {0, 1, 2}) {
    assert_true((seeds.gradient(i) == 0) == (i == 1));
    for (const Index k : {0, 1, 2}) assert_true((seeds.root(i, k) == 0) == (i != k || i == 1));
  }
}

/// As jitter vanishes they become the seeds of the logits.
void small_jitter_changes_little(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 4);
  const Dense f = Random(4).normal(4, 3), y = transposed(Dense(3, 1));
  Dense with(4, 3), without(4, 3), c(3, 1), w(3, 1);
  const auto fill = [&](double jitter, Dense& e) {
    fill_seeds<double>(likelihood, {CurvatureKind::empirical_fisher, 1, jitter}, {f.values.data(), 4, 3},
                       {y.values.data(), 1, 3}, {e.values.data(), 4, 3}, c.values, w.values);
  };
  fill(1e-7, with);
  fill(0, without);
  assert_close("gradients", with, without, 1e-5);
}

}  // namespace

int test_moment_seeds() {
  const CMUnitTest tests[] = {cmocka_unit_test(probabilities_of_nothing_are_dropped<float>),
                              cmocka_unit_test(probabilities_of_nothing_are_dropped<double>),
                              cmocka_unit_test(seeds_are_those_of_linearised_probabilities),
                              cmocka_unit_test(missing_labels_are_left_out),
                              cmocka_unit_test(small_jitter_changes_little)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
