// Networks with convolutions as users meet them: every method that has perceptrons learns them or refuses at
// creation, naming the layer; predictions, metrics, checkpoints, interrupts and searches know them; weights
// that only meet padding stay what the prior says.
#include <chrono>
#include <thread>

#include "fuzz/load_any.hpp"
#include "shape_images.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr const char* families[] = {"low_rank",        "diagonal", "full",          "full_moment",
                                    "diagonal_moment", "dropout",  "layerwise_full"};

bool is_stream(const char* method) {
  int32_t stream = 0;
  OK(bdl_method_describe(method, nullptr, &stream, nullptr, nullptr, nullptr, nullptr));
  return stream != 0;
}

/// Plain gradients learn little in one pass over a stream.
bool is_slow(const std::string& method) {
  return method == "bog" || method == "online-bbb";
}

double accuracy_of(const Model& model, const Posterior& q, const ShapeImages& data,
                   bdl_predict_method method) {
  Vector p(shape_count * shape_kinds);
  double accuracy = 0;
  OK(bdl_predict_classes(model.get(), q.get(), data.x(), method, 30, 1,
                         bdl_f64_out(p.data(), shape_count, shape_kinds), bdl_none_out(), bdl_none_out()));
  OK(bdl_metric_accuracy(bdl_f64(p.data(), shape_count, shape_kinds), data.y(), &accuracy));
  return accuracy;
}

/// Creates what a perceptron has; null, and the message names the layer, where a convolution has not.
Optimizer optimizer_or_refusal(const Model& model, const Posterior& q, const char* method) {
  bdl_optimizer* o = nullptr;
  const bdl_status status = bdl_optimizer_create(model.get(), q.get(), method, shape_count, &o);
  if (status == BDL_OK) return Optimizer(o);
  assert_int_equal(status, BDL_ERROR_UNSUPPORTED);
  if (!strstr(bdl_last_error(), "layer \"conv 4 4 stride 2 pad 1\" (line 2)"))
    fail_msg("%s: %s", method, bdl_last_error());
  return nullptr;
}

void every_method_learns_or_names_the_layer(void**) {
  const ShapeImages data;
  const Model perceptron = make_mlp(BDL_F32, {shape_size, 3, shape_kinds}, BDL_CATEGORICAL);
  int learned = 0;
  std::string refused;
  for (int64_t m = 0; m < bdl_method_count(); ++m)
    for (const char* family : families) {
      const char* const method = bdl_method_name(m);
      bdl_optimizer* other = nullptr;
      const Posterior known = posterior_of(BDL_F32, perceptron, family);
      if (bdl_optimizer_create(perceptron.get(), known.get(), method, shape_count, &other) != BDL_OK)
        continue;
      bdl_optimizer_free(other);
      const Model model = shape_model(BDL_F32, easy_network);
      const Posterior q = posterior_of(BDL_F32, model, family);
      const Optimizer o = optimizer_or_refusal(model, q, method);
      if (!o) {
        refused += std::string(" ") + method;
        continue;
      }
      bdl_predict_method prediction = BDL_PLUG_IN;
      OK(bdl_method_describe(method, nullptr, nullptr, nullptr, &prediction, nullptr, nullptr));
      if (is_stream(method)) {
        OK(bdl_optimizer_set_int(o.get(), "block", 5));
        OK(bdl_optimizer_observe(o.get(), data.x(), data.y(), bdl_none_out()));
      } else {
        OK(bdl_optimizer_set_int(o.get(), "minibatch", 20));
        OK(bdl_optimizer_fit(o.get(), data.x(), data.y(), 25, nullptr, nullptr));
      }
      const double accuracy = accuracy_of(model, q, data, prediction);  // the largest class: 0.4
      if (!(accuracy > (is_slow(method) ? 0.1 : 0.5)))
        fail_msg("%s, %s: accuracy %g", method, family, accuracy);
      ++learned;
    }
  print_message("%d learned; refused:%s\n", learned, refused.c_str());
  assert_true(learned > 40 && refused == " von von-full von-full rvga rvga");
}

Learner trained_learner(bdl_dtype dtype, const char* method, const char* family, const ShapeImages& data,
                        int64_t epochs, const char* description = shape_network) {
  Model model = shape_model(dtype, description);
  Posterior q = posterior_of(dtype, model, family);
  Optimizer o = make_optimizer(model, q, shape_count, method);
  Learner l(std::move(model), std::move(q), std::move(o));
  l.set("minibatch", 24);
  l.set("progress_every", 1);
  if (epochs > 0) l.fit(data.x(), data.y(), epochs);
  return l;
}

/// Ranks 0, 1 and 3 of slang agree in kind: better than chance, whatever the arithmetic.
void ranks_learn(void**) {
  const ShapeImages data;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const char* method : {"slang", "slang-ggn"})
      for (const int64_t rank : {0, 1, 3}) {
        Model model = shape_model(dtype, easy_network);
        Learner l(std::move(model), dtype, rank, shape_count, method);
        l.set("minibatch", 20);
        l.fit(data.x(), data.y(), 60);
        const double accuracy = accuracy_of(l.model, l.posterior, data, BDL_MONTE_CARLO);
        if (!(accuracy > 0.5)) fail_msg("%s, rank %d: accuracy %g", method, static_cast<int>(rank), accuracy);
        double fit = 0, kl = 0;
        OK(bdl_optimizer_elbo(l.optimizer.get(), data.x(), data.y(), 10, 1, &fit, &kl));
        assert_true(std::isfinite(fit) && kl > 0);
      }
}

void every_prediction_and_its_predictor(void**) {
  const ShapeImages data;
  const Learner l = trained_learner(BDL_F64, "slang-ggn", "low_rank", data, 60, easy_network);
  constexpr int64_t n = 37;
  for (const bdl_predict_method method :
       {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED, BDL_LINEARIZED_MONTE_CARLO}) {
    Vector p(n * 3), again(n * 3), density(n), same(n), mean(n * 3), f(n * 3), covariance(n * 9),
        draws(n * 4);
    const bdl_model* const model = l.model.get();
    const bdl_posterior* const q = l.posterior.get();
    OK(bdl_predict_classes(model, q, data.x(n), method, 20, 3, bdl_f64_out(p.data(), n, 3), bdl_none_out(),
                           bdl_none_out()));
    OK(bdl_predict_log_density(model, q, data.x(n), data.y(n), method, 20, 3,
                               bdl_f64_out(density.data(), n, 1)));
    OK(bdl_predict(model, q, data.x(n), method, 20, 3, bdl_f64_out(mean.data(), n, 3), bdl_none_out(),
                   bdl_none_out()));
    bdl_predictor* predictor = nullptr;
    OK(bdl_predictor_create(model, q, method, 20, 3, &predictor));
    OK(bdl_predictor_classes(predictor, data.x(n), bdl_f64_out(again.data(), n, 3), bdl_none_out(),
                             bdl_none_out()));
    OK(bdl_predictor_log_density(predictor, data.x(n), data.y(n), bdl_f64_out(same.data(), n, 1)));
    bdl_predictor_free(predictor);
    assert_true(p == again && density == same);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>(3 * i + c);
        sum += p[at];
        assert_true(p[at] >= 0);
        assert_close(mean[at], p[at], 1e-9, "E[y]");
      }
      assert_close(sum, 1, 1e-9, "sum of probabilities");
      const auto kind = static_cast<std::size_t>(data.kinds[static_cast<std::size_t>(i)]);
      assert_close(density[static_cast<std::size_t>(i)], std::log(p[3 * static_cast<std::size_t>(i) + kind]),
                   1e-9, "log density");
    }
    double brier = 0, ece = 0, lpd = 0;
    OK(bdl_metric_brier(bdl_f64(p.data(), n, 3), data.y(n), &brier));
    OK(bdl_metric_ece(bdl_f64(p.data(), n, 3), data.y(n), 10, &ece));
    OK(bdl_metric_log_predictive_density(bdl_f64(density.data(), n, 1), &lpd, nullptr));
    assert_true(brier < 0.6 && ece < 1 && lpd > -1.1);
  }
  // Quadrature is for other models.
  Vector p(3 * n);
  assert_int_equal(bdl_predict_classes(l.model.get(), l.posterior.get(), data.x(n), BDL_QUADRATURE, 1, 1,
                                       bdl_f64_out(p.data(), n, 3), bdl_none_out(), bdl_none_out()),
                   BDL_ERROR_UNSUPPORTED);
}

/// Linearised predictions of one output are mean and variance by the Jacobian.
void linearised_outputs_are_by_the_jacobian(void**) {
  const ShapeImages data;
  const Learner l = trained_learner(BDL_F64, "slang-ggn", "full", data, 5);
  constexpr int64_t n = 5;
  const int64_t d = bdl_model_parameters(l.model.get());
  Vector theta = mean_of(l.posterior), jacobian(n * 3 * d), f(n * 3), mean(n * 3), covariance(n * 9),
         sigma(d * d);
  OK(bdl_model_jacobian(l.model.get(), bdl_f64(theta.data(), 1, d), data.x(n),
                        bdl_f64_out(jacobian.data(), n * 3, d)));
  OK(bdl_model_evaluate(l.model.get(), bdl_f64(theta.data(), 1, d), data.x(n), bdl_f64_out(f.data(), n, 3)));
  OK(bdl_predict_output_distribution(l.model.get(), l.posterior.get(), data.x(n),
                                     bdl_f64_out(mean.data(), n, 3), bdl_f64_out(covariance.data(), n, 9)));
  std::vector<int64_t> all(static_cast<std::size_t>(d));
  for (int64_t p = 0; p < d; ++p) all[static_cast<std::size_t>(p)] = p;
  OK(bdl_posterior_covariance(l.posterior.get(), all.data(), d, all.data(), d,
                              bdl_f64_out(sigma.data(), d, d)));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t a = 0; a < 3; ++a) {
      assert_close(mean[static_cast<std::size_t>(3 * i + a)], f[static_cast<std::size_t>(3 * i + a)], 1e-10,
                   "f");
      for (int64_t b = 0; b < 3; ++b) {
        double sum = 0;
        const double *ja = &jacobian[static_cast<std::size_t>((3 * i + a) * d)],
                     *jb = &jacobian[static_cast<std::size_t>((3 * i + b) * d)];
        for (int64_t p = 0; p < d; ++p)
          for (int64_t q = 0; q < d; ++q) sum += ja[p] * sigma[static_cast<std::size_t>(p * d + q)] * jb[q];
        assert_close(covariance[static_cast<std::size_t>(9 * i + 3 * a + b)], sum,
                     1e-8 * (1 + std::fabs(sum)), "J Sigma J^T");
      }
      // One parameter moved, of the first convolution.
      constexpr double h = 1e-6;
      Vector moved = theta;
      Vector up(n * 3);
      moved[10] += h;
      OK(bdl_model_evaluate(l.model.get(), bdl_f64(moved.data(), 1, d), data.x(n),
                            bdl_f64_out(up.data(), n, 3)));
      const auto at = static_cast<std::size_t>(3 * i + a);
      assert_close(jacobian[at * static_cast<std::size_t>(d) + 10], (up[at] - f[at]) / h, 1e-4,
                   "df / dtheta");
    }
}

struct Course {
  const char *method, *family;
};
constexpr Course courses[] = {{"slang", "low_rank"},        {"slang-ggn", "diagonal"},
                              {"bbb", "diagonal"},          {"map", "low_rank"},
                              {"mc-dropout", "dropout"},    {"laplace", "layerwise_full"},
                              {"slang", "diagonal_moment"}, {"vogn-full", "full"}};

struct Loaded {
  Model model;
  Posterior q;
  Optimizer o;
};

Loaded reloaded(const Learner& l) {
  int64_t size = 0;
  std::vector<char> bytes(1 << 21);
  OK(bdl_save_bytes(l.model.get(), l.posterior.get(), l.optimizer.get(), bytes.data(),
                    static_cast<int64_t>(bytes.size()), &size));
  bdl_model* m = nullptr;
  bdl_posterior* p = nullptr;
  bdl_optimizer* o = nullptr;
  OK(bdl_load_bytes(bytes.data(), size, nullptr, &m, &p, &o));
  return {Model(m), Posterior(p), Optimizer(o)};
}

int32_t after_seven(void* user_data, const bdl_optimizer*) {
  return ++*static_cast<int*>(user_data) == 7;
}

/// A course that is stopped, saved, loaded and continued gives the results of one that never stopped, on any
/// number of threads.
void checkpoints_resume_bit_by_bit(void**) {
  const ShapeImages data;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const auto& [method, family] : courses) {
      Learner whole = trained_learner(dtype, method, family, data, 0),
              parts = trained_learner(dtype, method, family, data, 0);
      whole.set("threads", 1);
      whole.fit(data.x(), data.y(), 2);
      int calls = 0;
      assert_int_equal(bdl_optimizer_fit(parts.optimizer.get(), data.x(), data.y(), 2, after_seven, &calls),
                       BDL_STOPPED);
      const Loaded loaded = reloaded(parts);
      const char *description = nullptr, *again = nullptr;
      OK(bdl_model_description(parts.model.get(), &description));
      OK(bdl_model_description(loaded.model.get(), &again));
      assert_string_equal(description, again);
      assert_true(numbers_of(loaded.q) == numbers_of(parts.posterior));
      OK(bdl_optimizer_set_int(loaded.o.get(), "threads", 3));
      OK(bdl_optimizer_fit(loaded.o.get(), data.x(), data.y(), 0, nullptr, nullptr));
      if (numbers_of(loaded.q) != numbers_of(whole.posterior)) fail_msg("%s, %s: other bits", method, family);
    }
}

/// One bit changed, of every third byte; of fewer under sanitizers.
void damaged_files_load_or_are_refused(void**) {
  const ShapeImages data;
  for (const char* family : {"dropout", "low_rank"}) {
    const Model model =
        shape_model(BDL_F32, "input 1 8 8; conv 2 3 stride 4; relu; conv 2 1 groups 2; dense 3");
    const Posterior q = posterior_of(BDL_F32, model, family);
    const Optimizer o = make_optimizer(model, q, shape_count, family[0] == 'd' ? "mc-dropout" : "slang");
    OK(bdl_optimizer_fit(o.get(), data.x(), data.y(), 1, nullptr, nullptr));
    int64_t size = 0;
    std::vector<char> bytes(1 << 16);
    OK(bdl_save_bytes(model.get(), q.get(), o.get(), bytes.data(), static_cast<int64_t>(bytes.size()),
                      &size));
    drop_checksums(bytes.data(), static_cast<std::size_t>(size));
    for (int64_t at = 8; at < size; at += 3 * bdl::testing::sanitized_stride) {
      char& byte = bytes[static_cast<std::size_t>(at)];
      byte = static_cast<char>(byte ^ (1 << at % 7));
      if (!fuzz::load_is_right(bytes.data(), size))
        fail_msg("%s, byte %ld: %s", family, static_cast<long>(at), bdl_last_error());
      byte = static_cast<char>(byte ^ (1 << at % 7));
    }
  }
}

/// A step that fails leaves everything as it was, and the next one gives the results that it would have
/// given.
void failed_calls_change_nothing(void**) {
  const ShapeImages data;
  for (const auto& [method, family] : courses) {
    const Learner disturbed = trained_learner(BDL_F64, method, family, data, 0),
                  calm = trained_learner(BDL_F64, method, family, data, 0);
    Vector bad = data.images;
    bad[100] = std::nan("");
    const bdl_matrix x = bdl_f64(bad.data(), 20, shape_size);
    for (const int step : {0, 1}) {
      const Vector before = numbers_of(disturbed.posterior);
      assert_int_not_equal(bdl_optimizer_step(disturbed.optimizer.get(), x, data.y(20)), BDL_OK);
      assert_int_equal(bdl_optimizer_step(disturbed.optimizer.get(), data.x(20), data.y(19)),
                       BDL_ERROR_SHAPE);
      assert_int_equal(
          bdl_optimizer_step(disturbed.optimizer.get(), bdl_f64(bad.data(), 20, shape_size - 1), data.y(20)),
          BDL_ERROR_SHAPE);
      assert_true(numbers_of(disturbed.posterior) == before);
      if (step == 0) assert_true(bdl_posterior_is_blank(disturbed.posterior.get()));
      OK(bdl_optimizer_step(disturbed.optimizer.get(), data.x(20), data.y(20)));
      OK(bdl_optimizer_step(calm.optimizer.get(), data.x(20), data.y(20)));
      assert_true(numbers_of(disturbed.posterior) == numbers_of(calm.posterior));
    }
  }
}

int32_t stop_at_once(void*) {
  return 1;
}

/// In the middle of a fit, which then goes on as if nothing had happened.
void interrupts_stop_a_fit(void**) {
  const ShapeImages data;
  const Learner l = trained_learner(BDL_F64, "slang", "low_rank", data, 1),
                calm = trained_learner(BDL_F64, "slang", "low_rank", data, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(25));  // long enough that the next call asks
  bdl_set_interrupt(stop_at_once, nullptr);
  const bdl_status status = bdl_optimizer_fit(l.optimizer.get(), data.x(), data.y(), 3, nullptr, nullptr);
  bdl_set_interrupt(nullptr, nullptr);
  assert_int_equal(status, BDL_STOPPED);
  OK(bdl_optimizer_fit(calm.optimizer.get(), data.x(), data.y(), 3, nullptr, nullptr));
  assert_true(numbers_of(l.posterior) != numbers_of(calm.posterior));
  OK(bdl_optimizer_fit(l.optimizer.get(), data.x(), data.y(), 0, nullptr, nullptr));
  assert_true(numbers_of(l.posterior) == numbers_of(calm.posterior));
}

void searches_try_options(void**) {
  const ShapeImages data;
  const Learner l = trained_learner(BDL_F64, "slang", "low_rank", data, 0);
  bdl_search* handle = nullptr;
  OK(bdl_search_create(l.optimizer.get(), 2, 2, BDL_MONTE_CARLO, 5, 1, &handle));
  const Search search(handle);
  OK(bdl_search_add_double(handle, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
  OK(bdl_search_run(handle, data.x(80), data.y(80), 2, 1, nullptr, nullptr));
  assert_int_equal(bdl_search_trial_count(handle), 3);
  for (int64_t trial = 0; trial < 3; ++trial) {
    double value = 0, score = 0;
    const char* message = nullptr;
    OK(bdl_search_trial(handle, trial, bdl_f64_out(&value, 1, 1), &score, nullptr, &message));
    assert_true(std::isfinite(score) && message[0] == 0);
  }
}

/// Masks of a convolution belong to its input's channels: a draw is the mean, or 0, for all taps of a
/// channel, in every filter of its group.
void masks_are_those_of_channels(void**) {
  const Model model =
      shape_model(BDL_F64, "input 1 8 8; conv 4 3; relu; conv 6 2 groups 2; relu; globalavgpool; dense 3");
  bdl_posterior* handle = nullptr;
  OK(bdl_posterior_create_dropout(model.get(), 0, 0.5, &handle));
  const Posterior q(handle);
  const int64_t d = bdl_model_parameters(model.get());
  assert_int_equal(d, 4 * 9 + 4 + 6 * 2 * 4 + 6 + 6 * 3 + 3);
  Vector mean(static_cast<std::size_t>(d)), draws(static_cast<std::size_t>(50 * d));
  for (std::size_t p = 0; p < mean.size(); ++p) mean[p] = 1 + 0.01 * static_cast<double>(p);
  OK(bdl_posterior_set_dropout(q.get(), bdl_f64(mean.data(), 1, d)));
  OK(bdl_posterior_sample(q.get(), 3, 0, bdl_f64_out(draws.data(), 50, d)));
  int dropped = 0, all = 0;
  for (int s = 0; s < 50; ++s) {
    const double* const theta = &draws[static_cast<std::size_t>(s * d)];
    for (int64_t p = 0; p < 40; ++p) assert_true(theta[p] == mean[static_cast<std::size_t>(p)]);  // rate 0
    double masks[4] = {-1, -1, -1, -1};
    for (int64_t k = 0; k < 48; ++k) {
      const int64_t filter = k / 8, channel = filter / 3 * 2 + k % 8 / 4;
      const double factor = theta[40 + k] / mean[static_cast<std::size_t>(40 + k)];
      double& mask = masks[channel];
      if (mask < 0) mask = factor < 1 ? 0 : 2;
      assert_close(factor, mask, 1e-14, "mask");
    }
    for (const double mask : masks) dropped += mask == 0, ++all;
    for (int64_t p = 88; p < 94; ++p) assert_true(theta[p] == mean[static_cast<std::size_t>(p)]);  // biases
  }
  assert_true(std::abs(dropped - all / 2) < 40);  // 200 masks: 5.6 standard errors
}

/// 3x3 filters on maps of 1 x 1: the middle taps learn, the others keep the prior's law.
void weights_that_meet_only_padding_stay_at_the_prior(void**) {
  const ShapeImages data;
  for (const char* method : {"slang", "slang-ggn", "vogn"}) {
    Model model =
        shape_model(BDL_F64,
                    "input 1 8 8; conv 4 3 stride 2 pad 1 nobias; relu; maxpool 3 stride 2 pad 1; conv 5 2 "
                    "nobias; relu; residual; conv 5 3 pad 1 nobias; relu; conv 5 3 pad 1 nobias; end; relu; "
                    "globalavgpool; dense 3");
    const int64_t d = bdl_model_parameters(model.get()), first = 36 + 80;
    Learner l(std::move(model), BDL_F64, std::string(method) == "vogn" ? 0 : 2, shape_count, method);
    l.set("learn_prior", 0);
    l.set("prior_precision", 4.0);
    l.set("initial_precision", 4.0);
    l.set("minibatch", 50);
    l.set("momentum", 0.0);
    OK(bdl_optimizer_initialize(l.optimizer.get()));
    const Vector start = mean_of(l.posterior);
    l.fit(data.x(), data.y(), 20);
    const Vector mean = mean_of(l.posterior), variance = variance_of(l.posterior);
    int64_t alive = 0;
    for (int64_t weight = 0; weight < 2 * 5 * 5 * 9; ++weight) {
      const auto p = static_cast<std::size_t>(first + weight);
      if (weight % 9 == 4) {
        alive += variance[p] < 0.249 ? 1 : 0;
        continue;
      }
      assert_close(variance[p], 0.25, 1e-12, "the prior's variance");
      assert_true(std::fabs(mean[p]) <= std::fabs(start[p]) && mean[p] * start[p] >= 0);  // on its way to 0
    }
    assert_true(alive > 5);
    assert_int_equal(d, first + 450 + 18);
  }
}

}  // namespace

int test_api_convolutions() {
  const CMUnitTest tests[] = {cmocka_unit_test(every_method_learns_or_names_the_layer),
                              cmocka_unit_test(ranks_learn),
                              cmocka_unit_test(every_prediction_and_its_predictor),
                              cmocka_unit_test(linearised_outputs_are_by_the_jacobian),
                              cmocka_unit_test(checkpoints_resume_bit_by_bit),
                              cmocka_unit_test(damaged_files_load_or_are_refused),
                              cmocka_unit_test(failed_calls_change_nothing),
                              cmocka_unit_test(interrupts_stop_a_fit),
                              cmocka_unit_test(searches_try_options),
                              cmocka_unit_test(masks_are_those_of_channels),
                              cmocka_unit_test(weights_that_meet_only_padding_stay_at_the_prior)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
