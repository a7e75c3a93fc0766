// Dropout through the C API: every function that takes a posterior either works on it or refuses with a
// sentence and changes nothing; runs repeat and resume; files with wrong fields are refused; allocations fail
// one by one.
#include <climits>

#include "c_api/failing_allocator.hpp"
#include "c_api/file_fields.hpp"

namespace {

/// A network 2-3-2 and its dropout posterior, untrained.
struct Net {
  dataset data;
  Model model;
  Posterior posterior;
  Optimizer optimizer;

  explicit Net(bdl_dtype dtype = BDL_F64, bdl_likelihood likelihood = BDL_GAUSSIAN)
      : data(data_for(likelihood)), model(make_mlp(dtype, {INPUTS, 3, outputs_for(likelihood)}, likelihood)) {
    bdl_posterior* q = nullptr;
    OK(bdl_posterior_create_dropout(model.get(), 0.1, 0.3, &q));
    posterior.reset(q);
    optimizer = make_optimizer(model, posterior, ROWS, "mc-dropout");
    OK(bdl_optimizer_set_int(optimizer.get(), "minibatch", 8));
    OK(bdl_optimizer_set_double(optimizer.get(), "learn_from", 0));
  }
  int64_t parameters() const { return bdl_posterior_dimension(posterior.get()); }
  void fit(int64_t epochs) {
    OK(bdl_optimizer_fit(optimizer.get(), x_of(&data), y_of(&data), epochs, nullptr, nullptr));
  }
  std::string state() const { return state_of(optimizer.get()); }
};

double numbers[1024];
bdl_matrix_out out(int64_t rows, int64_t cols, int64_t at = 0) {
  return bdl_f64_out(numbers + at, rows, cols);
}

bdl_matrix in(int64_t rows, int64_t cols) {
  return bdl_f64(numbers, rows, cols);
}

/// Calls that dropout posteriors support, with their values.
void test_supported(void**) {
  Net net;
  bdl_posterior* const q = net.posterior.get();
  const int64_t d = net.parameters();
  assert_true(d == 17 && bdl_posterior_rank(q) == 0);
  double input = 0, hidden = 0;
  OK(bdl_posterior_dropout_rates(q, &input, &hidden));
  OK(bdl_posterior_dropout_rates(q, nullptr, nullptr));
  assert_true(input == 0.1 && hidden == 0.3);
  Vector mean(17);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<double>(i + 1);
  OK(bdl_posterior_set_dropout(q, bdl_f64(mean.data(), 1, d)));
  assert_true(mean_of(net.posterior) == mean);
  bdl_posterior* copy = nullptr;
  OK(bdl_posterior_copy(q, &copy));
  const Posterior owner(copy);
  const Vector variance = variance_of(owner);
  const auto near = [](double got, double expected) {
    assert_true(std::abs(got - expected) < 1e-12 * expected);
  };
  near(variance[0], 0.1 / 0.9 * 1);     // input weight
  assert_true(variance[6] == 0);        // bias
  near(variance[9], 0.3 / 0.7 * 100);   // hidden weight
  const int64_t index[] = {9, 10, 12};  // weights 0, 1 of one output, weight 0 of the other
  OK(bdl_posterior_covariance(copy, index, 1, index, 3, out(1, 3)));
  near(numbers[0], 0.3 / 0.7 * 100);
  assert_true(numbers[1] == 0);
  near(numbers[2], 0.3 / 0.7 * 130);
  Vector unit(17);
  unit[12] = 1;
  OK(bdl_posterior_solve(copy, bdl_f64(unit.data(), 1, d), out(1, d)));
  near(numbers[9], 0.3 / 0.7 * 130);
  Vector draws(5 * 17), again(2 * 17);
  OK(bdl_posterior_sample(copy, 3, 0, bdl_f64_out(draws.data(), 5, d)));
  OK(bdl_posterior_sample(q, 3, 2, bdl_f64_out(again.data(), 2, d)));
  assert_memory_equal(&draws[2 * 17], again.data(), sizeof(double) * again.size());
  int64_t bytes = 0;
  OK(bdl_optimizer_memory(net.optimizer.get(), 8, &bytes));
  assert_true(bytes > 0);
}

/// All Monte-Carlo predictions work; the plug-in prediction is the network without dropout.
void test_predictions(void**) {
  Net net;
  net.fit(3);
  const bdl_model* m = net.model.get();
  const bdl_posterior* q = net.posterior.get();
  Vector mean(2 * ROWS), epistemic(2 * ROWS), noise(2 * ROWS), plug(2 * ROWS), f(2 * ROWS);
  const auto matrix = [](Vector& v) { return bdl_f64_out(v.data(), ROWS, 2); };
  OK(bdl_predict(m, q, x_of(&net.data), BDL_MONTE_CARLO, 200, 1, matrix(mean), matrix(epistemic),
                 matrix(noise)));
  OK(bdl_predict(m, q, x_of(&net.data), BDL_PLUG_IN, 1, 1, matrix(plug), bdl_none_out(), bdl_none_out()));
  const Vector theta = mean_of(net.posterior);
  OK(bdl_model_evaluate(m, bdl_f64(theta.data(), 1, 17), x_of(&net.data), matrix(f)));
  for (std::size_t i = 0; i < f.size(); ++i) {
    assert_true(std::abs(plug[i] - f[i]) < 1e-12);
    assert_true(epistemic[i] > 0);
  }
  const double levels[] = {0.1, 0.9};
  OK(bdl_predict_quantiles(m, q, x_of(&net.data), BDL_MONTE_CARLO, 20, 1, bdl_f64(levels, 1, 2),
                           out(ROWS, 4)));
  OK(bdl_predict_interval(m, q, x_of(&net.data), BDL_MONTE_CARLO, 20, 1, 0.9, out(ROWS, 2),
                          out(ROWS, 2, 100)));
  OK(bdl_predict_log_density(m, q, x_of(&net.data), y_of(&net.data), BDL_MONTE_CARLO, 20, 1, out(ROWS, 1)));
  OK(bdl_predict_draws(m, q, x_of(&net.data), 5, 1, out(ROWS, 10)));
  double likelihood = 0;
  OK(bdl_optimizer_elbo(net.optimizer.get(), x_of(&net.data), y_of(&net.data), 50, 1, &likelihood, nullptr));
  OK(bdl_optimizer_running_elbo(net.optimizer.get(), &likelihood, nullptr));
  assert_true(std::isfinite(likelihood));
  Net classes(BDL_F32, BDL_CATEGORICAL);
  classes.fit(2);
  OK(bdl_predict_classes(classes.model.get(), classes.posterior.get(), x_of(&classes.data), BDL_MONTE_CARLO,
                         20, 1, out(ROWS, 3), out(ROWS, 1, 100), out(ROWS, 1, 200)));
}

/// Samples are stochastic passes: a linear f = w^T x + b has the variance rate / (1 - rate) sum_i w_i^2
/// x_i^2, here of n = 40,000 passes within 5.5 standard errors of mean and variance (a kurtosis below 3: two
/// masks).
void test_passes(void**) {
  const Model model = make_mlp(BDL_F64, {2, 1}, BDL_GAUSSIAN);
  bdl_posterior* q = nullptr;
  OK(bdl_posterior_create_dropout(model.get(), 0.25, 0, &q));
  const Posterior owner(q);
  const double mean[] = {2, -1, 0.5}, x[] = {1, 3, -2, 0.5};
  OK(bdl_posterior_set_dropout(q, bdl_f64(mean, 1, 3)));
  double got[2] = {0, 0}, variance[2] = {0, 0};
  OK(bdl_predict(model.get(), q, bdl_f64(x, 2, 2), BDL_MONTE_CARLO, 40000, 1, bdl_f64_out(got, 2, 1),
                 bdl_f64_out(variance, 2, 1), bdl_none_out()));
  for (int i = 0; i < 2; ++i) {
    const double a = 2 * x[2 * i], b = -x[2 * i + 1], expected = (a * a + b * b) / 3;
    assert_true(std::abs(got[i] - (a + b + 0.5)) < 5.5 * std::sqrt(expected / 40000));
    assert_true(std::abs(variance[i] / expected - 1) < 5.5 * std::sqrt(2.0 / 40000));
  }
}

/// Everything else says that it has no meaning, and changes nothing.
void test_unsupported(void**) {
  Net net;
  net.fit(1);
  bdl_model* const m = net.model.get();
  bdl_posterior* const q = net.posterior.get();
  bdl_optimizer* const o = net.optimizer.get();
  const int64_t d = net.parameters();
  const Vector ones(17 * 17, 1);
  const auto in = [&](int64_t rows, int64_t cols) { return bdl_f64(ones.data(), rows, cols); };
  const bdl_matrix x = x_of(&net.data), y = y_of(&net.data);
  bdl_posterior* low_rank = nullptr;
  OK(bdl_posterior_create_low_rank(BDL_F64, d, 1, &low_rank));
  const Posterior gaussian(low_rank);
  bdl_optimizer* other = nullptr;
  double value = 7;
  const std::string before = net.state();
  const auto refused = [&](bdl_status status, const char* words) {
    if (status != BDL_ERROR_UNSUPPORTED || !strstr(bdl_last_error(), words))
      fail_msg("got %s: %s, expected \"%s\"", bdl_status_name(status), bdl_last_error(), words);
    if (net.state() != before || value != 7 || other) fail_msg("something changed: %s", bdl_last_error());
  };
  const char *const not_gaussian = "a dropout posterior has no", *const not_learned_so = "from a data set";
  refused(bdl_posterior_set_low_rank(q, in(1, d), bdl_none(), in(1, d)), "not of the low-rank family");
  refused(bdl_posterior_set_full(q, in(1, d), in(d, d)), "not of the full family");
  refused(bdl_posterior_set_full_moment(q, in(1, d), in(d, d)), "family");
  refused(bdl_posterior_set_diagonal_moment(q, in(1, d), in(1, d)), "family");
  refused(bdl_posterior_set_dropout(low_rank, in(1, d)), "not of the dropout family");
  refused(bdl_posterior_dropout_rates(low_rank, &value, &value), "not of the dropout family");
  refused(bdl_posterior_get_low_rank(q, bdl_none_out(), out(1, d)), "not of the low-rank family");
  refused(bdl_posterior_precision_diagonal(q, out(1, d)), not_gaussian);
  refused(bdl_posterior_log_density(q, in(1, d), out(1, 1)), not_gaussian);
  refused(bdl_posterior_log_det_covariance(q, &value), not_gaussian);
  refused(bdl_posterior_entropy(q, &value), not_gaussian);
  refused(bdl_posterior_kl_prior(q, in(1, 1), &value), not_gaussian);
  refused(bdl_posterior_kl(q, q, &value), not_gaussian);
  refused(bdl_posterior_kl(q, low_rank, &value), not_gaussian);
  refused(bdl_posterior_kl(low_rank, q, &value), not_gaussian);
  refused(bdl_posterior_update(q, in(2, d), 1, 0.1, 0.1, in(1, 1)), not_gaussian);
  for (int64_t i = 0; bdl_method_name(i); ++i)
    if (strcmp(bdl_method_name(i), "mc-dropout") != 0)
      refused(bdl_optimizer_create(m, q, bdl_method_name(i), ROWS, &other), bdl_method_name(i));
  refused(bdl_optimizer_create(m, low_rank, "mc-dropout", ROWS, &other), "family dropout");
  refused(bdl_optimizer_step_rows(o, in(2, d)), not_learned_so);
  const auto no_draws = [](void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior*, bdl_matrix_out) {
    return 0;
  };
  refused(bdl_optimizer_set_draws(o, no_draws, nullptr, nullptr), "draws its masks itself");
  refused(bdl_optimizer_observe(o, x, y, bdl_none_out()), not_learned_so);
  refused(bdl_optimizer_forecast(o, 1), not_learned_so);
  refused(bdl_optimizer_laplace(o, x, y), "Laplace");
  refused(bdl_optimizer_set_int(o, "laplace", 1), "Laplace");
  refused(bdl_optimizer_running_elbo(o, &value, &value), not_gaussian);
  refused(bdl_optimizer_elbo(o, x, y, 5, 1, &value, &value), not_gaussian);
  for (const bdl_predict_method method : {BDL_LINEARIZED, BDL_LINEARIZED_MONTE_CARLO}) {
    refused(bdl_predict(m, q, x, method, 5, 1, out(ROWS, 2), bdl_none_out(), bdl_none_out()), not_gaussian);
    refused(bdl_predict_log_density(m, q, x, y, method, 5, 1, out(ROWS, 1)), not_gaussian);
    refused(bdl_predict_draws_by(m, q, x, method, 5, 1, out(ROWS, 10)), not_gaussian);
  }
  refused(bdl_predict_output_distribution(m, q, x, out(ROWS, 2), out(ROWS, 4, 100)), not_gaussian);
  refused(bdl_predict_leverage(m, q, x, out(ROWS, 1), bdl_none_out()), not_gaussian);
  const Model linear = make_mlp(BDL_F64, {2, 1}, BDL_BERNOULLI);  // quadrature needs one output
  bdl_posterior* of_linear = nullptr;
  OK(bdl_posterior_create_dropout(linear.get(), 0.5, 0, &of_linear));
  const Posterior owner(of_linear);
  refused(bdl_predict_classes(linear.get(), of_linear, x, BDL_QUADRATURE, 1, 1, out(ROWS, 1), bdl_none_out(),
                              bdl_none_out()),
          not_gaussian);
}

void test_bad_input(void**) {
  Net net;
  bdl_model* const m = net.model.get();
  bdl_posterior* const q = net.posterior.get();
  bdl_posterior* other = nullptr;
  const auto refused = [&](bdl_status got, bdl_status expected, const char* words) {
    if (got != expected || !strstr(bdl_last_error(), words))
      fail_msg("got %s: %s, expected \"%s\"", bdl_status_name(got), bdl_last_error(), words);
    assert_null(other);
  };
  const double nan = NAN;
  refused(bdl_posterior_create_dropout(nullptr, 0.1, 0.1, &other), BDL_ERROR_INVALID_ARGUMENT,
          "model is NULL");
  refused(bdl_posterior_create_dropout(m, 0.1, 0.1, nullptr), BDL_ERROR_INVALID_ARGUMENT,
          "posterior is NULL");
  for (const double rate : {-0.1, 1.0, 2.0, nan}) {
    refused(bdl_posterior_create_dropout(m, rate, 0.1, &other), BDL_ERROR_INVALID_ARGUMENT, "input_rate is");
    refused(bdl_posterior_create_dropout(m, 0.1, rate, &other), BDL_ERROR_INVALID_ARGUMENT, "hidden_rate is");
  }
  refused(bdl_posterior_set_dropout(nullptr, in(1, 17)), BDL_ERROR_INVALID_ARGUMENT, "posterior is NULL");
  refused(bdl_posterior_set_dropout(q, in(1, 16)), BDL_ERROR_SHAPE, "mean has 16 columns");
  refused(bdl_posterior_set_dropout(q, bdl_f64(&nan, 1, 1)), BDL_ERROR_SHAPE, "mean");
  refused(bdl_posterior_dropout_rates(nullptr, nullptr, nullptr), BDL_ERROR_INVALID_ARGUMENT,
          "posterior is NULL");
  bdl_model* user = nullptr;
  OK(create_user(
      BDL_F64, 1, 1, 2, BDL_POISSON, [](void*, bdl_matrix, bdl_matrix, bdl_matrix_out) { return 0; }, nullptr,
      nullptr, nullptr, &user));
  const Model owner(user);
  refused(bdl_posterior_create_dropout(user, 0.1, 0.1, &other), BDL_ERROR_UNSUPPORTED, "no units");
  // 17 parameters in other layers.
  const Model wide = make_mlp(BDL_F64, {16, 1}, BDL_GAUSSIAN);
  bdl_optimizer* o = nullptr;
  refused(bdl_optimizer_create(wide.get(), q, "mc-dropout", ROWS, &o), BDL_ERROR_SHAPE, "other layers");
  refused(
      bdl_predict(wide.get(), q, in(2, 16), BDL_MONTE_CARLO, 5, 1, out(2, 1), bdl_none_out(), bdl_none_out()),
      BDL_ERROR_SHAPE, "other layers");
  assert_null(o);
  Vector bad(17, 1);
  bad[5] = NAN;
  refused(bdl_posterior_set_dropout(q, bdl_f64(bad.data(), 1, 17)), BDL_ERROR_NOT_FINITE, "column 5");
}

/// Half a course, a file, the other half: identical results in both types; other seeds give other results.
void test_resumed(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    Net whole(dtype), again(dtype), half(dtype);
    whole.fit(4);
    again.fit(4);
    assert_true(whole.state() == again.state());
    int64_t stop = 7;
    OK(bdl_optimizer_set_int(half.optimizer.get(), "progress_every", 1));
    const auto stop_at = [](void* at, const bdl_optimizer* o) -> int32_t {
      int64_t step = 0;
      OK(bdl_optimizer_progress(o, &step, nullptr, nullptr));
      return step == *static_cast<int64_t*>(at);
    };
    assert_int_equal(
        bdl_optimizer_fit(half.optimizer.get(), x_of(&half.data), y_of(&half.data), 4, stop_at, &stop),
        BDL_STOPPED);
    const TemporaryFile file;
    OK(bdl_save(file.path(), nullptr, nullptr, half.optimizer.get()));
    bdl_model* model = nullptr;
    bdl_posterior* q = nullptr;
    bdl_optimizer* o = nullptr;
    OK(bdl_load(file.path(), nullptr, &model, &q, &o));
    const Model loaded_model(model);
    const Posterior loaded(q);
    const Optimizer loaded_optimizer(o);
    OK(bdl_optimizer_fit(o, x_of(&half.data), y_of(&half.data), 0, nullptr, nullptr));
    assert_true(mean_of(loaded) == mean_of(whole.posterior));
    double noise[2] = {0, 1};
    OK(bdl_model_get_noise_precision(model, bdl_f64_out(noise, 1, 1)));
    OK(bdl_model_get_noise_precision(whole.model.get(), bdl_f64_out(noise + 1, 1, 1)));
    assert_true(noise[0] == noise[1]);
    double input = 0, hidden = 0;
    OK(bdl_posterior_dropout_rates(q, &input, &hidden));
    assert_true(input == 0.1 && hidden == 0.3);
    Net other(dtype);
    OK(bdl_optimizer_set_int(other.optimizer.get(), "seed", 2));
    other.fit(4);
    assert_true(mean_of(other.posterior) != mean_of(whole.posterior));
  }
}

void test_hostile_files(void**) {
  Net net;
  net.fit(2);
  const std::string good = net.state();
  assert_loads(good, true);
  struct Field {
    const char *key, *value;
  };
  const Field refused[] = {{"posterior.dropout_layers", "2 3 1 1"},
                           {"posterior.dropout_layers", "16 1 1 1"},
                           {"posterior.dropout_layers", "2 -3 1 1 3 2 1 0"},
                           {"posterior.dropout_layers", "2 0 1 1 3 2 1 0 0 8 1 0"},
                           {"posterior.dropout_layers", ""},
                           {"posterior.dropout_layers", "2 3 1 1 3 2 1 0 0"},
                           {"posterior.dropout_layers", "17"},
                           {"posterior.dropout_layers", "2 3 0 1 3 2 1 0"},
                           {"posterior.dropout_layers", "2 3 2 1 3 2 1 0"},
                           {"posterior.dropout_layers", "2 3 1 2 3 2 1 0"},
                           {"posterior.dropout_layers", "2 3 1 0 3 2 1 0"},
                           {"posterior.dropout_input_rate", "1"},
                           {"posterior.dropout_input_rate", "-0.5"},
                           {"posterior.dropout_hidden_rate", "nan"},
                           {"posterior.dropout_hidden_rate", "one"},
                           {"posterior.family", "low_rank"},
                           {"optimizer.method", "slang"},
                           {"state.moment_steps", "0"},
                           {"state.moment_steps", "-1"},
                           {"state.moment_steps", "1.5"},
                           {"model.description", "input 2; dense 3 nobias; dense 2"},
                           {"model.description", "input 2; dense 16"},
                           {"model.description", "input 2; dense"}};
  for (const Field& field : refused) assert_loads(with_value(good, field.key, field.value), false);
  assert_loads(with_value(good, "posterior.dropout_input_rate", "0.25"), true);
}

/// Every allocation of the creation, of a step and of a draw fails once.
void test_failing_allocations(void**) {
  const auto fail_each = [](const char* function, auto call) {
    for (long k = 1;; ++k) {
      Net net;
      net.fit(1);
      OK(bdl_optimizer_set_int(net.optimizer.get(), "samples", 9));  // more memory than before
      const std::string before = net.state();
      bdl_posterior* created = nullptr;
      allocator::arm(k, LONG_MAX);
      const bdl_status status = call(net, &created);
      allocator::disarm();
      if (status == BDL_OK) return bdl_posterior_free(created);
      assert_int_equal(status, BDL_ERROR_OUT_OF_MEMORY);
      assert_true(strncmp(bdl_last_error(), function, strlen(function)) == 0);
      assert_true(net.state() == before);
      assert_true(!created && k < 1000);
    }
  };
  fail_each("bdl_posterior_create_dropout", [](Net& net, bdl_posterior** q) {
    return bdl_posterior_create_dropout(net.model.get(), 0.1, 0.2, q);
  });
  fail_each("bdl_posterior_copy",
            [](Net& net, bdl_posterior** q) { return bdl_posterior_copy(net.posterior.get(), q); });
  fail_each("bdl_posterior_set_dropout", [](Net& net, bdl_posterior**) {
    return bdl_posterior_set_dropout(net.posterior.get(), in(1, 17));
  });
  fail_each("bdl_posterior_sample", [](Net& net, bdl_posterior**) {
    return bdl_posterior_sample(net.posterior.get(), 1, 0, out(3, 17));
  });
  fail_each("bdl_optimizer_step", [](Net& net, bdl_posterior**) {
    return bdl_optimizer_step(net.optimizer.get(), x_of(&net.data), y_of(&net.data));
  });
}

}  // namespace

int test_api_dropout() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_supported),     cmocka_unit_test(test_predictions),
      cmocka_unit_test(test_passes),        cmocka_unit_test(test_unsupported),
      cmocka_unit_test(test_bad_input),     cmocka_unit_test(test_resumed),
      cmocka_unit_test(test_hostile_files), cmocka_unit_test(test_failing_allocations)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
