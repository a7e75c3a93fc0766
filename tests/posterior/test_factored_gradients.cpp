// Plain gradient steps of low-rank and diagonal posteriors against derivatives of the loss taken by finite
// differences, with respect to the family's own parameters: no formula of the steps is used. The model is
// linear with Gaussian noise, so the loss is known in closed form.
#include "support/factored_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index size = 4, examples = 3;
constexpr double noise = 0.7, rate = 0.02;

/// -E_q[log p(y | theta)] + [KL] KL(q || prior), constants apart.
struct Loss {
  Dense x, y;
  Factored prior;
  bool kl;

  double operator()(const Factored& q) const {
    const Dense residual = y - transposed(x) * q.mean, covariance = q.covariance();
    const double fit = (dot(residual, residual) + trace(transposed(x) * covariance * x)) / (2 * noise);
    if (!kl) return fit;
    const Dense shift = q.mean - prior.mean, precision = prior.precision();
    return fit + (trace(precision * covariance) + dot(shift, precision * shift) + log_det(q.precision())) / 2;
  }
};

/// The parameters a family's plain gradient is taken in: (mu, d, U); diagonal (mu / v, -1 / (2 v)); moments
/// (mu, v).
Dense parameters_of(Family family, const Factored& q) {
  Dense out = beside(transposed(q.mean), transposed(q.d));
  if (family == Family::low_rank && q.u.cols > 0) {
    Dense u(1, size * q.u.cols);
    u.values = q.u.values;
    return transposed(beside(out, u));
  }
  for (Index i = 0; i < size; ++i) {
    if (family == Family::low_rank) {
      out(0, i) = q.mean(i, 0) * q.d(i, 0);
      out(0, size + i) = -q.d(i, 0) / 2;
    } else {
      out(0, size + i) = 1 / q.d(i, 0);
    }
  }
  return transposed(out);
}

Factored belief_at(Family family, Index rank, const Dense& x) {
  Factored q{Dense(size, 1), Dense(size, rank), Dense(size, 1)};
  for (Index i = 0; i < size; ++i) {
    const double first = x(i, 0), second = x(size + i, 0);
    const bool natural = family == Family::low_rank && rank == 0;
    q.d(i, 0) = natural ? -2 * second : family == Family::low_rank ? second : 1 / second;
    q.mean(i, 0) = natural ? first / q.d(i, 0) : first;
  }
  std::copy(x.values.begin() + 2 * size, x.values.end(), q.u.values.begin());
  return q;
}

Dense gradient_of(const Loss& loss, Family family, const Factored& q) {
  constexpr double h = 1e-5;
  const Dense at = parameters_of(family, q);
  Dense out(at.rows, 1);
  for (Index k = 0; k < at.rows; ++k) {
    Dense high = at, low = at;
    high(k, 0) += h;
    low(k, 0) -= h;
    out(k, 0) = (loss(belief_at(family, q.u.cols, high)) - loss(belief_at(family, q.u.cols, low))) / (2 * h);
  }
  return out;
}

void check(Family family, Index rank, bool kl) {
  Random random(31);
  FactoredProblem<double> p(family, size, rank, examples, 32);
  const Loss loss{p.rows, random.normal(examples, 1), p.prior, kl};
  p.w = Padded<double>(Dense(examples, 1, 1 / noise));
  Dense m = -1 / noise * (loss.x * (loss.y - transposed(loss.x) * p.from.mean));
  if (kl) m = m + p.prior.precision() * (p.from.mean - p.prior.mean);
  p.m = Padded<double>(m);
  p.mean_rate = p.curvature_rate = rate;
  p.loss_prior = kl ? LossPrior::posterior : LossPrior::none;
  Scratch scratch;
  const auto next = posterior_of<double>(family, p.from);
  assert_true(next->update(p.step(Descent::plain), scratch) == 1);
  const Dense moved = parameters_of(family, factored_of(*next)) - parameters_of(family, p.from);
  assert_close("step", moved, -rate * gradient_of(loss, family, p.from), 1e-7);
}

void plain_steps_follow_the_gradient_of_the_loss(void**) {
  for (const bool kl : {false, true}) {
    for (const Index rank : {0, 1, 2, 4}) check(Family::low_rank, rank, kl);
    check(Family::diagonal_moment, 0, kl);
  }
}

}  // namespace

int test_factored_gradients() {
  const CMUnitTest tests[] = {cmocka_unit_test(plain_steps_follow_the_gradient_of_the_loss)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
