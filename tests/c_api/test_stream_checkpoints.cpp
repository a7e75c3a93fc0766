// A stream saved anywhere and loaded again goes on to the results of one that never stopped; damaged fields
// of its state are refused.
#include <cstring>

#include "file_fields.hpp"

namespace {

constexpr const char* methods[] = {"bong", "blr", "bog", "online-bbb"};

/// State beyond the posterior: drift, scores, inner iterations, samples, missing targets.
void prepare(StreamLearner& learner, const char* curvature) {
  learner.set("curvature", curvature);
  learner.set("process_noise", 0.01);
  learner.set("transition", 0.99);
  learner.set("forgetting", 0.99);
  const std::string method = bdl_optimizer_method(learner.optimizer.get());
  if (method == "blr" || method == "online-bbb") learner.set("iterations", 2);
  learner.set("samples", 2);
  learner.set("block", 2);
  learner.set("seed", 5);
  learner.data.y[4 * learner.data.targets] = NAN;
}

Vector process_noise_for(const StreamLearner& learner) {
  Vector noise(static_cast<std::size_t>(bdl_model_parameters(learner.model.get())));
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = 0.001 * static_cast<double>(i);
  return noise;
}

/// Everything in memory goes; only the file stays.
void reload(StreamLearner& learner) {
  const TemporaryFile file;
  OK(bdl_save(file.path(), nullptr, nullptr, learner.optimizer.get()));
  const std::string before = file.bytes();
  learner.optimizer.reset();
  learner.posterior.reset();
  learner.model.reset();
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* o = nullptr;
  OK(bdl_load(file.path(), nullptr, &model, &q, &o));
  learner.model.reset(model);
  learner.posterior.reset(q);
  learner.optimizer.reset(o);
  assert_true(learner.state() == before);
}

void check(StreamFamily family, const char* rule, const char* curvature, bdl_dtype dtype) {
  StreamLearner straight(BDL_GAUSSIAN, family, rule, dtype), resumed(BDL_GAUSSIAN, family, rule, dtype);
  for (StreamLearner* learner : {&straight, &resumed}) {
    prepare(*learner, curvature);
    const Vector noise = process_noise_for(*learner);
    OK(bdl_optimizer_set_process_noise(learner->optimizer.get(),
                                       bdl_f64(noise.data(), 1, static_cast<int64_t>(noise.size()))));
  }
  reload(resumed);  // still blank
  for (int first = 0; first < ROWS; first += 4) {
    Vector scores[2];
    for (StreamLearner* learner : {&straight, &resumed}) {
      const bool reloads = learner == &resumed;
      if (reloads) reload(*learner);
      if (first % 8 == 0) OK(bdl_optimizer_forecast(learner->optimizer.get(), 2));
      if (reloads) reload(*learner);  // time has been moved on
      scores[reloads] = learner->observe(first, 4);
    }
    for (std::size_t i = 0; i < 4; ++i)
      assert_true(scores[0][i] == scores[1][i] || (std::isnan(scores[0][i]) && std::isnan(scores[1][i])));
    assert_true(straight.state() == resumed.state());
  }
  int64_t count[2] = {-1, -1};
  double log_density[2], error[2];
  OK(bdl_optimizer_prequential(straight.optimizer.get(), &count[0], &log_density[0], &error[0]));
  OK(bdl_optimizer_prequential(resumed.optimizer.get(), &count[1], &log_density[1], &error[1]));
  assert_true(count[0] == count[1] && count[0] >= ROWS - 1);
  assert_true(log_density[0] == log_density[1] && error[0] == error[1]);
  assert_int_equal(bdl_optimizer_shortened_steps(straight.optimizer.get()),
                   bdl_optimizer_shortened_steps(resumed.optimizer.get()));
}

void test_resumed_streams(void**) {
  for (const StreamFamily family : stream_families)
    for (const char* method : methods) check(family, method, "lin-hess", BDL_F64);
  for (const StreamFamily family : stream_families) check(family, "blr", "mc-ef", BDL_F32);
  check(StreamFamily::diagonal, "bong", "mc-hess", BDL_F64);
  check(StreamFamily::full_moment, "bong", "mc-hess", BDL_F64);
}

/// Parameters enough that one output changes a full posterior's Cholesky factor by a rotation: it is not what
/// a new factorisation of the matrix would give, and must come back as it was.
void test_resumed_rotations(void**) {
  for (const StreamFamily family : {StreamFamily::full, StreamFamily::full_moment})
    for (const bdl_dtype dtype : {BDL_F64, BDL_F32}) {
      StreamLearner straight(BDL_GAUSSIAN, family, "bong", dtype),
          resumed(BDL_GAUSSIAN, family, "bong", dtype);
      for (StreamLearner* learner : {&straight, &resumed}) {
        learner->model = make_mlp(dtype, {INPUTS, 30, outputs_for(BDL_GAUSSIAN)}, BDL_GAUSSIAN);
        learner->posterior = make_posterior(dtype, bdl_model_parameters(learner->model.get()), family);
        learner->optimizer = make_optimizer(learner->model, learner->posterior, ROWS, "bong");
        learner->set("forgetting", 0.99);
        learner->set("prior_precision", 1000.0);
      }
      for (int first = 0; first < ROWS; ++first) {
        straight.observe(first, 1);
        resumed.observe(first, 1);
        if (first % 3 == 0) reload(resumed);
        assert_true(straight.state() == resumed.state());
      }
    }
}

/// A density beyond any number is refused, and its observation with it; where nobody asks for densities it is
/// an observation like others.
void test_infinite_scores(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::diagonal);
  const double x[INPUTS] = {0, 0}, far[] = {1e200, 0};
  const auto observe = [&] {
    return bdl_optimizer_observe(learner.optimizer.get(), bdl_f64(x, 1, INPUTS), bdl_f64(far, 1, 2),
                                 bdl_none_out());
  };
  const auto before = learner.state();
  assert_int_equal(observe(), BDL_ERROR_DIVERGED);
  assert_non_null(std::strstr(bdl_last_error(), "log density"));
  assert_true(learner.state() == before);
  OK(bdl_optimizer_set_choice(learner.optimizer.get(), "score", "none"));
  OK(observe());
  reload(learner);
}

void test_hostile_values(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::low_rank);
  prepare(learner, "lin-hess");
  const Vector noise = process_noise_for(learner);
  OK(bdl_optimizer_set_process_noise(learner.optimizer.get(),
                                     bdl_f64(noise.data(), 1, static_cast<int64_t>(noise.size()))));
  learner.observe(0, 6);
  const std::string good = learner.state();
  assert_loads(good, true);
  struct Field {
    const char *key, *value;
  };
  const Field accepted[] = {{"state.is_ahead", "1"}, {"state.shortened_steps", "7"}, {"option.rule", "bbb"}};
  for (const Field& field : accepted) assert_loads(with_value(good, field.key, field.value), true);
  const Field refused[] = {{"state.is_ahead", "2"},          {"state.is_ahead", "-1"},
                           {"state.is_ahead", "yes"},        {"state.is_ahead", ""},
                           {"state.shortened_steps", "-1"},  {"state.shortened_steps", "9223372036854775808"},
                           {"state.shortened_steps", "1.5"}, {"state.scored_examples", "-3"},
                           {"state.scored_targets", "many"}, {"state.scored_log_density", "nan"},
                           {"state.scored_log_density", ""}, {"state.scored_error", "nan"},
                           {"option.rule", "bang"},          {"option.curvature", "gauss_newton"},
                           {"option.iterations", "0"},       {"option.iterations", "1001"},
                           {"option.forgetting", "0"},       {"option.forgetting", "1.01"},
                           {"option.transition", "-1"},      {"option.process_noise", "-0.1"},
                           {"option.process_noise", "inf"},  {"option.block", "-1"},
                           {"option.score", "best"},         {"option.indefinite", ""},
                           {"optimizer.method", "ekf"},  // not for low rank
                           {"optimizer.method", "vd-ekf"}};
  for (const Field& field : refused) assert_loads(with_value(good, field.key, field.value), false);
}

/// Tensors of the wrong sign: the last eight bytes of the noise are its last element.
void test_hostile_noise(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::diagonal);
  Vector noise(static_cast<std::size_t>(bdl_model_parameters(learner.model.get())), 0.25);
  noise.back() = 0.123456789;
  OK(bdl_optimizer_set_process_noise(learner.optimizer.get(),
                                     bdl_f64(noise.data(), 1, static_cast<int64_t>(noise.size()))));
  const std::string good = learner.state();
  const std::string last(reinterpret_cast<const char*>(&noise.back()), sizeof(double));
  const std::size_t at = good.find(last);
  assert_true(at != std::string::npos && good.find(last, at + 1) == std::string::npos);
  for (const double bad : {-1e-3, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    std::string damaged = unchecked(good);
    memcpy(damaged.data() + at, &bad, sizeof bad);
    assert_loads(damaged, false);
  }
}

}  // namespace

int test_stream_checkpoints() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_resumed_streams),
                              cmocka_unit_test(test_resumed_rotations),
                              cmocka_unit_test(test_infinite_scores), cmocka_unit_test(test_hostile_values),
                              cmocka_unit_test(test_hostile_noise)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
