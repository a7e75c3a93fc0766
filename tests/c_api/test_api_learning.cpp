// Training through the C API finds what the data were made from: every likelihood, both dtypes, every family.
#include "handles.hpp"

namespace {

constexpr int64_t N = 400, inputs = 2;

/// Standard normal inputs from the library's own generator, and uniform numbers for drawing targets.
struct Inputs {
  Vector x = Vector(N * inputs), u = Vector(N);
  Inputs() {
    const Posterior normal = make_posterior(BDL_F64, inputs, 0), one = make_posterior(BDL_F64, 1, 0);
    OK(bdl_posterior_sample(normal.get(), 1, 0, bdl_f64_out(x.data(), N, inputs)));
    OK(bdl_posterior_sample(one.get(), 2, 0, bdl_f64_out(u.data(), N, 1)));
  }
  double linear(std::size_t i, double a, double b, double c) const {
    return a * x[2 * i] + b * x[2 * i + 1] + c;
  }
  double uniform(std::size_t i) const { return std::erfc(-u[i] / std::sqrt(2.0)) / 2; }
  double normal(std::size_t i) const { return u[i]; }
};

const Inputs& data() {
  static const Inputs inputs_;
  return inputs_;
}

using Targets = double (*)(std::size_t);

Learner trained_on(bdl_dtype dtype, int64_t rank, bdl_likelihood likelihood, int64_t outputs,
                   const Vector& y) {
  Learner l(make_mlp(dtype, {inputs, outputs}, likelihood), dtype, rank, N);
  l.set("minibatch", 40);
  l.fit(bdl_f64(data().x.data(), N, inputs), bdl_f64(y.data(), N, 1), 200);
  return l;
}

/// Every coefficient lies within four posterior standard deviations (and the given length) of the truth, and
/// the standard deviations are of the order 1 / sqrt(N).
void assert_recovered(const Learner& l, const Vector& truth, double most) {
  const Vector mean = mean_of(l.posterior), variance = variance_of(l.posterior);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double deviation = std::sqrt(variance[i]);
    assert_close(mean[i], truth[i], std::fmin(4 * deviation, most), "coefficient");
    assert_true(deviation > 0.1 * most / 4 && deviation < most);
  }
}

template <class Check>
void every_family(Check check) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const int64_t rank : {int64_t(0), int64_t(3), int64_t(FULL)}) check(dtype, rank);
}

void test_linear(void**) {
  Vector y(N);
  for (std::size_t i = 0; i < N; ++i) y[i] = data().linear(i, 1.5, -0.7, 0.3) + 0.2 * data().normal(i);
  every_family([&](bdl_dtype dtype, int64_t rank) {
    const Learner l = trained_on(dtype, rank, BDL_GAUSSIAN, 1, y);
    assert_recovered(l, {1.5, -0.7, 0.3}, 0.05);
    double noise = 0;
    OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&noise, 1, 1)));
    assert_close(1 / std::sqrt(noise), 0.2, 0.02, "noise deviation");  // 2.8 standard errors of N = 400
  });
}

void test_logistic(void**) {
  Vector y(N);
  for (std::size_t i = 0; i < N; ++i)
    y[i] = data().uniform(i) < 1 / (1 + std::exp(-data().linear(i, 2, -1, 0.5)));
  every_family([&](bdl_dtype dtype, int64_t rank) {
    assert_recovered(trained_on(dtype, rank, BDL_BERNOULLI, 1, y), {2, -1, 0.5}, 0.8);
  });
}

void test_poisson(void**) {
  Vector y(N);
  for (std::size_t i = 0; i < N; ++i) {
    const double rate = std::exp(data().linear(i, 0.5, -0.3, 0.8));
    double probability = std::exp(-rate), below = probability;
    while (below < data().uniform(i)) below += probability *= rate / ++y[i];
  }
  every_family([&](bdl_dtype dtype, int64_t rank) {
    assert_recovered(trained_on(dtype, rank, BDL_POISSON, 1, y), {0.5, -0.3, 0.8}, 0.2);
  });
}

/// Three sectors of the plane: nearly every example is classified as it was made.
void test_classes(void**) {
  Vector y(N);
  for (std::size_t i = 0; i < N; ++i) {
    const double first = data().linear(i, 3, 0, 0), second = data().linear(i, -1.5, 2.6, 0),
                 third = -first - second;
    y[i] = first > second && first > third ? 0 : second > third ? 1 : 2;
  }
  every_family([&](bdl_dtype dtype, int64_t rank) {
    const Learner l = trained_on(dtype, rank, BDL_CATEGORICAL, 3, y);
    Vector p(N * 3);
    double accuracy = 0;
    OK(bdl_predict_classes(l.model.get(), l.posterior.get(), bdl_f64(data().x.data(), N, inputs),
                           BDL_MONTE_CARLO, 50, 1, bdl_f64_out(p.data(), N, 3), bdl_none_out(),
                           bdl_none_out()));
    OK(bdl_metric_accuracy(bdl_f64(p.data(), N, 3), bdl_f64(y.data(), N, 1), &accuracy));
    assert_true(accuracy > 0.97);
  });
}

/// With everything else fixed, the full posterior of linear regression is the conjugate one.
void test_conjugate(void**) {
  Vector y(N);
  const double noise = 25, prior = 2;
  for (std::size_t i = 0; i < N; ++i) y[i] = data().linear(i, 1, -1, 0) + 0.2 * data().normal(i);
  Learner l(make_mlp(BDL_F64, {inputs, 1}, BDL_GAUSSIAN, false), BDL_F64, FULL, N);
  OK(bdl_model_set_noise_precision(l.model.get(), bdl_f64(&noise, 1, 1)));
  l.set("prior_precision", prior);
  l.set("learn_prior", 0);
  l.set("learn_noise", 0);
  l.set("minibatch", N);
  l.set("learning_rate", 0.3);
  l.set("curvature_rate", 0.3);
  l.fit(bdl_f64(data().x.data(), N, inputs), bdl_f64(y.data(), N, 1), 400);
  double a = prior, b = 0, d = prior, u = 0, v = 0;  // precision [a b; b d], its product with the mean (u, v)
  for (std::size_t i = 0; i < N; ++i) {
    const double x0 = data().x[2 * i], x1 = data().x[2 * i + 1];
    a += noise * x0 * x0, b += noise * x0 * x1, d += noise * x1 * x1;
    u += noise * x0 * y[i], v += noise * x1 * y[i];
  }
  const double determinant = a * d - b * b;
  const Vector mean = mean_of(l.posterior), variance = variance_of(l.posterior);
  assert_close(variance[0] * determinant / d, 1, 1e-6, "variance");
  assert_close(variance[1] * determinant / a, 1, 1e-6, "variance");
  // Posterior samples disturb the mean's last small steps (rate 0.3 * 0.02): a tenth of a standard deviation.
  assert_close(mean[0], (d * u - b * v) / determinant, 0.1 * std::sqrt(variance[0]), "mean");
  assert_close(mean[1], (a * v - b * u) / determinant, 0.1 * std::sqrt(variance[1]), "mean");
}

}  // namespace

int test_api_learning() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_logistic),
                              cmocka_unit_test(test_poisson), cmocka_unit_test(test_classes),
                              cmocka_unit_test(test_conjugate)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
