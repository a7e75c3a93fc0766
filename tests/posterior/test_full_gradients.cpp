// Steps of the families with full covariance against derivatives of the loss taken by finite differences: no
// formula of the steps is used. The model is linear with Gaussian noise, so the loss is known in closed form.
#include <functional>

#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index size = 3, examples = 4, coordinates = size + size * (size + 1) / 2;
constexpr double noise = 0.7, rate = 0.02;

/// A vector and the lower triangle of a symmetric matrix, one after the other.
Dense pack(const Dense& vector, const Dense& matrix) {
  Dense out(coordinates, 1);
  Index at = 0;
  for (Index i = 0; i < size; ++i) out(at++, 0) = vector(i, 0);
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i) out(at++, 0) = matrix(i, j);
  return out;
}

std::pair<Dense, Dense> unpack(const Dense& x) {
  Dense vector(size, 1), matrix(size, size);
  Index at = 0;
  for (Index i = 0; i < size; ++i) vector(i, 0) = x(at++, 0);
  for (Index j = 0; j < size; ++j)
    for (Index i = j; i < size; ++i) matrix(i, j) = matrix(j, i) = x(at++, 0);
  return {vector, matrix};
}

/// (Sigma^-1 mu, -1/2 Sigma^-1) or (mu, Sigma).
Dense parameters_of(Family family, const Gaussian& q) {
  return family == Family::full ? pack(q.precision * q.mean, -0.5 * q.precision) : pack(q.mean, q.covariance);
}

Gaussian gaussian_at(Family family, const Dense& x) {
  const auto [vector, matrix] = unpack(x);
  if (family == Family::full_moment) return {vector, inverse_of(matrix), matrix};
  const Dense precision = -2.0 * matrix, covariance = inverse_of(precision);
  return {covariance * vector, precision, covariance};
}

double divergence(const Gaussian& q, const Gaussian& p) {
  const Dense shift = q.mean - p.mean;
  return (trace(p.precision * q.covariance) + dot(shift, p.precision * shift) - static_cast<double>(size) -
          log_det(p.precision) + log_det(q.precision)) /
         2;
}

Dense gradient_of(const std::function<double(const Dense&)>& f, const Dense& at) {
  constexpr double h = 1e-5;
  Dense out(coordinates, 1);
  for (Index k = 0; k < coordinates; ++k) {
    Dense high = at, low = at;
    high(k, 0) += h;
    low(k, 0) -= h;
    out(k, 0) = (f(high) - f(low)) / (2 * h);
  }
  return out;
}

Dense hessian_of(const std::function<double(const Dense&)>& f, const Dense& at) {
  constexpr double h = 1e-4;
  Dense out(coordinates, coordinates);
  for (Index k = 0; k < coordinates; ++k)
    for (Index l = 0; l < coordinates; ++l)
      for (const double s : {1.0, -1.0})
        for (const double t : {1.0, -1.0}) {
          Dense x = at;
          x(k, 0) += s * h;
          x(l, 0) += t * h;
          out(k, l) += s * t * f(x) / (4 * h * h);
        }
  return out;
}

/// The model's data and the loss -E_q[log p(y | theta)] + [KL] KL(q || prior), by which m and M are chosen.
struct Model {
  Dense x, y;
  Gaussian q, prior;
  bool kl;

  Model(std::uint64_t seed, bool with_kl) : kl(with_kl) {
    Random random(seed);
    x = random.normal(size, examples);
    y = random.normal(examples, 1);
    q = random_gaussian<double>(size, random);
    prior = random_gaussian<double>(size, random);
  }
  double loss(const Gaussian& at) const {
    const Dense residual = y - transposed(x) * at.mean;
    const double fit = (dot(residual, residual) + trace(transposed(x) * at.covariance * x)) / (2 * noise);
    return kl ? fit + divergence(at, prior) : fit;
  }
  Dense m() const {
    const Dense fit = -1 / noise * (x * (y - transposed(x) * q.mean));
    return kl ? fit + prior.precision * (q.mean - prior.mean) : fit;
  }
};

std::unique_ptr<Posterior<double>> stepped(const Model& model, Family family, Descent descent) {
  const auto old = posterior_of<double>(family, model.q), prior = posterior_of<double>(family, model.prior);
  DenseRows<double> rows;
  rows.view({model.x.values.data(), size, examples});
  const Padded<double> w(Dense(examples, 1, 1 / noise)), m(model.m());
  auto step = step_from<double>(*old, descent, m.column());
  step.curvature.rows = &rows;
  step.curvature.w = w.column();
  step.mean_rate = step.curvature_rate = rate;
  if (model.kl) step.prior = prior.get();
  Scratch scratch;
  auto next = posterior_of<double>(family, model.q);
  assert_true(next->update(step, scratch) == 1);
  return next;
}

/// Returns the change of the family's parameters in a step.
Dense step_taken(const Model& model, Family family, Descent descent) {
  const auto next = stepped(model, family, descent);
  return parameters_of(family, gaussian_of(*next)) - parameters_of(family, model.q);
}

void for_each_model(const std::function<void(const Model&, Family)>& check) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const bool kl : {false, true})
      for (const std::uint64_t seed : {1, 2, 3}) check(Model(seed, kl), family);
}

/// The gradient with respect to a symmetric matrix: an element beside the diagonal moves two of them.
void plain_steps_descend_the_gradient(void**) {
  for_each_model([](const Model& model, Family family) {
    const auto loss = [&](const Dense& x) { return model.loss(gaussian_at(family, x)); };
    const Dense gradient = gradient_of(loss, parameters_of(family, model.q));
    auto [vector, matrix] = unpack(gradient);
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < size; ++i) matrix(i, j) *= i == j ? 1 : 0.5;
    assert_close("plain step", step_taken(model, family, Descent::plain), -rate * pack(vector, matrix), 1e-8);
  });
}

/// Fisher's information is the second derivative of KL(q' || q) at q' = q.
void natural_steps_descend_the_natural_gradient(void**) {
  for_each_model([](const Model& model, Family family) {
    const Dense at = parameters_of(family, model.q);
    const auto loss = [&](const Dense& x) { return model.loss(gaussian_at(family, x)); };
    const auto distance = [&](const Dense& x) { return divergence(gaussian_at(family, x), model.q); };
    const Dense direction = inverse_of(hessian_of(distance, at)) * gradient_of(loss, at);
    assert_close("natural step", step_taken(model, family, Descent::natural), -rate * direction, 1e-5);
  });
}

}  // namespace

int test_full_gradients() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(plain_steps_descend_the_gradient),
      cmocka_unit_test(natural_steps_descend_the_natural_gradient),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
