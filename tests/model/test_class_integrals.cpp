// Expectations of a categorical likelihood over Gaussian logits, against the one-dimensional integrals of two
// classes and against plain Monte Carlo sums of many points.
#include "likelihood/class_integrals.hpp"
#include "likelihood/expected_loss.hpp"
#include "support/likelihoods.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Found {
  double loss = 0;
  Dense slope, hessian;
};

/// v is the covariance of the contrasts.
Found expectations(const ClassIntegrals& integrals, const Dense& m, Dense v, Index y) {
  const Index classes = integrals.classes();
  Found out{0, Dense(classes, 1), Dense(classes, classes)};
  std::vector<double> memory(static_cast<std::size_t>(integrals.memory()));
  out.loss = integrals.expect(m.column(0), {v.column(0), v.rows, v.cols}, y, out.slope.column(0),
                              {out.hessian.column(0), classes, classes}, memory.data());
  return out;
}

/// The difference of the logits has the variance 2 v.
void two_classes_are_one_integral(void**) {
  const ClassIntegrals integrals(2);
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  for (const double mean : {-8.0, -1.0, 0.0, 2.0})
    for (const double v : {0.0, 1e-6, 0.02, 0.3, 1.0, 4.0, 9.0}) {
      Dense m(2, 1);
      m(0, 0) = 5 - mean;
      m(1, 0) = 5;
      const Found got = expectations(integrals, m, Dense(1, 1, v), 1);
      const ExpectedLoss expected = expected_loss(bernoulli, mean, 2 * v, 1);
      const double tolerance = 1e-9;
      assert_near("E[l]", got.loss, expected.loss, tolerance);
      assert_near("E[l']", got.slope(1, 0), expected.slope, tolerance);
      assert_near("E[l'']", got.hessian(1, 1), expected.curvature, tolerance);
      assert_near("sum of E[l']", got.slope(0, 0) + got.slope(1, 0), 0, 1e-14);
    }
}

/// The largest error of the expectations against a sum of `points` random points, with those of the rule as
/// control variates removed: logits with contrasts of standard deviation s.
double largest_error(Index classes, double s, std::uint64_t seed, Index points) {
  const ClassIntegrals integrals(classes);
  Random random(seed);
  const Dense m = random.normal(classes, 1, 1.5), a = random.normal(classes - 1, classes - 1);
  Dense v = a * transposed(a);
  double trace = 0;
  for (Index k = 0; k + 1 < classes; ++k) trace += v(k, k);
  v = s * s * static_cast<double>(classes - 1) / trace * v;
  const Found got = expectations(integrals, m, v, 0);
  Dense root(v.rows, v.cols);
  for (Index j = 0; j < v.cols; ++j)
    for (Index i = j; i < v.rows; ++i) {
      double sum = v(i, j);
      for (Index k = 0; k < j; ++k) sum -= root(i, k) * root(j, k);
      root(i, j) = i == j ? std::sqrt(sum) : sum / root(j, j);
    }
  Found sums{0, Dense(classes, 1), Dense(classes, classes)};
  for (Index p = 0; p < points; ++p) {
    const Dense z = root * random.normal(classes - 1, 1);
    for (const double sign : {-1.0, 1.0}) {
      Dense f = m;
      for (Index c = 0; c < classes; ++c)
        for (Index k = 0; k + 1 < classes; ++k) f(c, 0) += sign * integrals.contrasts()(c, k) * z(k, 0);
      double total = 0;
      for (Index c = 0; c < classes; ++c) total += std::exp(f(c, 0));
      sums.loss += std::log(total) - f(0, 0);
      for (Index c = 0; c < classes; ++c) {
        const double probability = std::exp(f(c, 0)) / total;
        sums.slope(c, 0) += probability - (c == 0 ? 1 : 0);
        sums.hessian(c, c) += probability * (1 - probability);
      }
    }
  }
  const double count = 2 * static_cast<double>(points);
  double error = std::abs(sums.loss / count - got.loss);
  for (Index c = 0; c < classes; ++c) {
    error = std::max(error, std::abs(sums.slope(c, 0) / count - got.slope(c, 0)));
    error = std::max(error, std::abs(sums.hessian(c, c) / count - got.hessian(c, c)));
  }
  return error;
}

/// Errors that the header states, with three standard errors of the reference.
void errors_are_as_stated(void**) {
  for (const Index classes : {3, 4, 5, 8})
    for (const double s : {0.2, 0.5, 1.0, 3.0}) {
      const double error = largest_error(classes, s, 7, 100000);
      const double stated = classes <= 4 ? (s <= 1 ? 1e-6 : 1e-4) : std::min(0.3 * s * s, 1.0);
      const double of_reference = 0.01 * std::min(1.0, s * s) * std::max(1.0, s);
      if (error > stated + of_reference)
        fail_msg("%ld classes, s = %g: %g", static_cast<long>(classes), s, error);
    }
}

/// A contrast without variance is a constant, and what is not finite is told by numbers that are not.
void degenerate_covariances_have_results(void**) {
  const ClassIntegrals integrals(3);
  Dense m(3, 1);
  m(0, 0) = 0.5;
  const Found got = expectations(integrals, m, Dense(2, 2), 2);
  const double total = std::exp(0.5) + 2;
  assert_near("loss", got.loss, std::log(total), 1e-13);
  assert_near("slope", got.slope(0, 0), std::exp(0.5) / total, 1e-13);
  m(1, 0) = NAN;
  assert_true(std::isnan(expectations(integrals, m, Dense(2, 2), 2).loss));
}

}  // namespace

int test_class_integrals() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(two_classes_are_one_integral),
      cmocka_unit_test(errors_are_as_stated),
      cmocka_unit_test(degenerate_covariances_have_results),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
