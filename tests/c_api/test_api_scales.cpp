// Scales that training learns besides the parameters: the noise precision, shared or per output. Queries of
// training: running ELBO, ELBO on data, memory, diagnosis.
#include "handles.hpp"

namespace {

constexpr int64_t N = 300;

/// Two outputs of one input with noise of standard deviations 0.5 and 0.1.
struct NoisyData {
  Vector x = Vector(N), y = Vector(2 * N);
  NoisyData() {
    Vector e(3 * N);
    OK(bdl_posterior_sample(make_posterior(BDL_F64, 3, 0).get(), 4, 0, bdl_f64_out(e.data(), N, 3)));
    for (std::size_t i = 0; i < N; ++i) {
      x[i] = e[3 * i];
      y[2 * i] = 2 * x[i] + 0.5 * e[3 * i + 1];
      y[2 * i + 1] = -x[i] + 0.1 * e[3 * i + 2];
    }
  }
  bdl_matrix inputs() const { return bdl_f64(x.data(), N, 1); }
  bdl_matrix targets() const { return bdl_f64(y.data(), N, 2); }
  bdl_matrix first_target() const { return bdl_strided(y.data(), BDL_F64, N, 1, 2, 1); }
};

Learner linear_learner(int64_t outputs) {
  Learner l(make_mlp(BDL_F64, {1, outputs}, BDL_GAUSSIAN), BDL_F64, FULL, N);
  l.set("minibatch", 30);
  return l;
}

/// 1 / sqrt(2 N) = 4 % is the standard error of a deviation.
void test_shared_noise(void**) {
  const NoisyData d;
  Learner l = linear_learner(2);
  l.fit(d.inputs(), d.targets(), 200);
  double precision = 0;
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&precision, 1, 1)));
  assert_close(1 / precision, (0.25 + 0.01) / 2, 0.04, "noise variance");
}

void test_noise_per_output(void**) {
  const NoisyData d;
  Learner l = linear_learner(2);
  const double start[] = {10, 10};
  OK(bdl_model_set_noise_precision(l.model.get(), bdl_f64(start, 1, 2)));
  l.fit(d.inputs(), d.targets(), 200);
  double precision[2] = {0, 0};
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(precision, 1, 2)));
  assert_close(1 / std::sqrt(precision[0]), 0.5, 0.08, "noise deviation");
  assert_close(1 / std::sqrt(precision[1]), 0.1, 0.016, "noise deviation");
}

void test_fixed_noise(void**) {
  const NoisyData d;
  Learner l = linear_learner(2);
  const double given = 7;
  double precision = 0;
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&precision, 1, 1)));
  assert_true(precision == 1);  // of a new model
  OK(bdl_model_set_noise_precision(l.model.get(), bdl_f64(&given, 1, 1)));
  l.set("learn_noise", 0);
  l.fit(d.inputs(), d.targets(), 20);
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&precision, 1, 1)));
  assert_true(precision == 7);
}

/// Without learning, option initial_noise_precision fixes it in units of 1 / Var(y); a restart follows the
/// option.
void test_fixed_noise_by_option(void**) {
  const NoisyData d;
  Learner l = linear_learner(1);
  double precision = 0, mean = 0, variance = 0;
  for (int i = 0; i < N; ++i) mean += d.y[static_cast<std::size_t>(2 * i)] / N;
  for (int i = 0; i < N; ++i) variance += std::pow(d.y[static_cast<std::size_t>(2 * i)] - mean, 2) / N;
  l.set("learn_noise", 0);
  for (const double option : {30.0, 5.0}) {
    l.set("initial_noise_precision", option);
    OK(bdl_optimizer_initialize(l.optimizer.get()));
    l.fit(d.inputs(), d.first_target(), 3);
    OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&precision, 1, 1)));
    assert_close(precision * variance, option, 1e-12 * option, "noise precision");
  }
}

/// Running averages, Monte Carlo on the data and exact integrals agree; KL is that of the posterior's own
/// function.
void test_elbo(void**) {
  const NoisyData d;
  Learner l = linear_learner(1);
  l.fit(d.inputs(), d.first_target(), 200);
  const bdl_optimizer* o = l.optimizer.get();
  double running = 0, running_kl = 0, sampled = 0, exact = 0, kl = 0, half = 0, prior_kl = 0, evidence = 0;
  OK(bdl_optimizer_running_elbo(o, &running, &running_kl));
  OK(bdl_optimizer_elbo(o, d.inputs(), d.first_target(), 2000, 1, &sampled, &kl));
  OK(bdl_optimizer_elbo(o, d.inputs(), d.first_target(), 0, 1, &exact, nullptr));
  assert_close(sampled, exact, 0.5, "sampled log likelihood");  // its spread over q is about 1, / sqrt(2000)
  assert_close(running, exact, 5, "running log likelihood");
  assert_true(running_kl == kl && kl > 0);

  Vector prior(2);
  OK(bdl_optimizer_get_prior(o, bdl_f64_out(prior.data(), 1, 2)));
  OK(bdl_posterior_kl_prior(l.posterior.get(), bdl_f64(prior.data(), 1, 2), &prior_kl));
  assert_close(kl, prior_kl, 1e-12, "kl");

  // On half of the data: scaled up to N.
  OK(bdl_optimizer_elbo(o, bdl_f64(d.x.data(), N / 2, 1), bdl_strided(d.y.data(), BDL_F64, N / 2, 1, 2, 1), 0,
                        1, &half, nullptr));
  assert_close(half / exact, 1, 0.2, "log likelihood of half the data");

  // Linear regression with a full posterior is exact: the ELBO is the log evidence, to training's precision.
  double noise = 0, a = prior[0], b = 0, c = prior[1], u = 0, v = 0, yy = 0;
  OK(bdl_model_get_noise_precision(l.model.get(), bdl_f64_out(&noise, 1, 1)));
  for (std::size_t i = 0; i < N; ++i) {
    const double x = d.x[i], y = d.y[2 * i];
    a += noise * x * x, b += noise * x, c += noise;
    u += noise * x * y, v += noise * y, yy += noise * y * y;
  }
  const double det = a * c - b * b, quadratic = (c * u * u - 2 * b * u * v + a * v * v) / det;
  evidence = (N * std::log(noise / (2 * M_PI)) + std::log(prior[0] * prior[1] / det) - yy + quadratic) / 2;
  assert_true(exact - kl <= evidence + 1e-9);  // a lower bound
  assert_close(exact - kl, evidence, 0.5, "ELBO");
}

void test_running_elbo_improves(void**) {
  const NoisyData d;
  Learner l = linear_learner(2);
  double early = 0, late = 0, kl = 0;
  OK(bdl_optimizer_step(l.optimizer.get(), d.inputs(), d.targets()));
  OK(bdl_optimizer_running_elbo(l.optimizer.get(), &early, nullptr));
  l.fit(d.inputs(), d.targets(), 50);
  OK(bdl_optimizer_running_elbo(l.optimizer.get(), &late, &kl));
  assert_true(late > early);
}

Learner diagnosed(double learning_rate, double curvature_rate, int64_t epochs) {
  const NoisyData d;
  Learner l = linear_learner(2);
  l.set("learning_rate", learning_rate);
  l.set("curvature_rate", curvature_rate);
  if (epochs > 0) l.fit(d.inputs(), d.targets(), epochs);
  return l;
}

void test_diagnosis(void**) {
  struct Row {
    double learning_rate, curvature_rate;
    int64_t epochs;
    bool mean_moves, precision_moves;
    const char* advice;
  };
  const Row rows[] = {{0.03, 0.02, 0, false, false, "has not begun"},
                      {1e-9, 1e-9, 1, false, false, "learning_rate and curvature_rate"},
                      {1e-9, 0.02, 5, false, true, "raise learning_rate"},
                      {0.03, 0, 5, true, false, "raise curvature_rate"},
                      {0.03, 0.02, 100, true, true, nullptr}};
  for (const Row& row : rows) {
    const Learner l = diagnosed(row.learning_rate, row.curvature_rate, row.epochs);
    double mean = -1, precision = -1;
    const char* message = nullptr;
    OK(bdl_optimizer_diagnose(l.optimizer.get(), &mean, &precision, &message));
    assert_int_equal(mean >= 0.1, row.mean_moves);
    assert_int_equal(precision >= 0.1, row.precision_moves);
    if (row.advice)
      assert_non_null(strstr(message, row.advice));
    else
      assert_string_equal(message, "");
  }
}

/// An estimate before anything is allocated; more examples, samples or rank need more.
void test_memory(void**) {
  const auto bytes = [](int64_t rank, int64_t minibatch, int64_t samples) {
    Learner l(make_mlp(BDL_F64, {10, 50, 1}, BDL_GAUSSIAN), BDL_F64, rank, 10000);
    l.set("samples", samples);
    int64_t estimate = 0;
    OK(bdl_optimizer_memory(l.optimizer.get(), minibatch, &estimate));
    return estimate;
  };
  assert_true(bytes(1, 10, 1) > 601 * 8);
  assert_true(bytes(5, 10, 1) > bytes(1, 10, 1));
  assert_true(bytes(5, 1000, 1) > bytes(5, 10, 1));
  assert_true(bytes(5, 1000, 8) > bytes(5, 1000, 1));
  assert_true(bytes(5, 0, 4) == bytes(5, 50, 4));  // 10000 examples: minibatches of 50 unless told
}

}  // namespace

int test_api_scales() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_noise), cmocka_unit_test(test_noise_per_output),
      cmocka_unit_test(test_fixed_noise),  cmocka_unit_test(test_fixed_noise_by_option),
      cmocka_unit_test(test_elbo),         cmocka_unit_test(test_running_elbo_improves),
      cmocka_unit_test(test_diagnosis),    cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
