// KL divergences and trace terms between all pairs of families, and to priors, against dense formulas.
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;

/// KL(N(m1, S1) || N(m2, P2^-1)).
double dense_kl(const Dense& mean1, const Dense& precision1, const Dense& mean2, const Dense& precision2) {
  const Dense shift = mean2 - mean1;
  return 0.5 * (trace(precision2 * inverse_of(precision1)) + dot(shift, precision2 * shift) -
                static_cast<double>(mean1.rows) + log_det(precision1) - log_det(precision2));
}

template <class T>
void divergences_between_all_families_agree(void**) {
  for (const Index dimension : {1, 2, 12})
    for (const Belief<T>& q : beliefs<T>(dimension, 8))
      for (const Belief<T>& p : beliefs<T>(dimension, 9)) {
        Scratch scratch;
        const std::string pair = q.name + " || " + p.name;
        assert_near(pair.c_str(), kl(*q.q, *p.q, scratch), dense_kl(q.mean, q.precision, p.mean, p.precision),
                    tolerance<T>);
        assert_near(pair.c_str(), p.q->trace_precision(*q.q, scratch), trace(p.precision * q.covariance),
                    tolerance<T>);
      }
}

template <class T>
void divergence_from_itself_is_zero(void**) {
  for (const Belief<T>& q : beliefs<T>(9, 4)) {
    Scratch scratch;
    assert_near(q.name.c_str(), kl(*q.q, *q.q->clone(), scratch), 0, tolerance<T>);
  }
}

template <class T>
void divergences_from_priors_agree(void**) {
  for (const Index dimension : {1, 3, 21})
    for (const Belief<T>& q : beliefs<T>(dimension, 6)) {
      Scratch scratch;
      const Padded<T> precision(Random(7).uniform(dimension, 1, 0.1, 5));
      const double expected =
          dense_kl(q.mean, q.precision, Dense(dimension, 1), diagonal_matrix(precision.dense()));
      assert_near(q.name.c_str(), kl_to_prior(*q.q, precision.column(), scratch), expected, tolerance<T>);
    }
}

/// Rows beyond one block of the tall products.
void large_posteriors_agree_too(void**) {
  Random random(2);
  const Index dimension = 490;
  const auto q = belief_of<double>(
      "q", low_rank_of<double>(random.normal(dimension, 3), random.uniform(dimension, 1, 1, 3)),
      random.normal(dimension, 1));
  const auto p = belief_of<double>(
      "p", low_rank_of<double>(random.normal(dimension, 4), random.uniform(dimension, 1, 1, 3)),
      random.normal(dimension, 1));
  Scratch scratch;
  assert_near("KL", kl(*q.q, *p.q, scratch), dense_kl(q.mean, q.precision, p.mean, p.precision), 1e-11);
}

}  // namespace

int test_divergences() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(divergences_between_all_families_agree<float>),
      cmocka_unit_test(divergences_between_all_families_agree<double>),
      cmocka_unit_test(divergence_from_itself_is_zero<float>),
      cmocka_unit_test(divergence_from_itself_is_zero<double>),
      cmocka_unit_test(divergences_from_priors_agree<float>),
      cmocka_unit_test(divergences_from_priors_agree<double>),
      cmocka_unit_test(large_posteriors_agree_too),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
