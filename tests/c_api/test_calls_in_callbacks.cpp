// Callbacks that call back into the library: what would write to a handle that is in use is refused, what
// reads is allowed, and the call that called back ends as if nothing had happened.
#include <thread>

#include "calling_scene.hpp"
#include "every_method.h"

namespace {

using namespace calling;

using Call = std::function<void(Scene&)>;

/// The call on a fresh scene; what there is afterwards. Then all handles work again.
std::string after(const Call& call, bool interferes, std::map<std::string, int>* callbacks = nullptr,
                  std::size_t least_refused = 0) {
  Scene scene;
  scene.use_all();
  scene.interferes = interferes;
  bdl_set_interrupt(go_on, &scene);
  call(scene);
  bdl_set_interrupt(nullptr, nullptr);
  scene.in_use.check();
  scene.interferes = false;
  if (interferes) assert_true(scene.in_use.refused.size() >= least_refused);
  if (callbacks) *callbacks = scene.in_use.callbacks;
  std::string bytes = saved(scene.optimizer.get());
  const double one = 1;
  OK(bdl_optimizer_set_communicator(scene.optimizer.get(), nullptr));
  OK(bdl_optimizer_set_text(scene.optimizer.get(), "minibatch=4 rule=blr"));
  OK(bdl_dataset_set_block(scene.dataset.get(), 3, 2));
  OK(bdl_model_set_noise_precision(scene.model.get(), bdl_f64(&one, 1, 1)));
  OK(bdl_optimizer_fit_dataset(scene.optimizer.get(), scene.dataset.get(), 1, progress, &scene));
  OK(bdl_optimizer_initialize(scene.optimizer.get()));
  return bytes;
}

void unchanged_by_callbacks(const Call& call, std::initializer_list<const char*> kinds) {
  std::map<std::string, int> callbacks;
  const std::string alone = after(call, false, &callbacks);
  for (const char* kind : kinds)
    if (callbacks[kind] == 0) fail_msg("the %s callback was not called", kind);
  // 20 functions of optimizers, 8 of posteriors, 6 of models, and those of data sets and files.
  assert_true(after(call, true, nullptr, 35) == alone);
}

void use_communicator(Scene& scene) {
  bdl_communicator* ranks = nullptr;
  OK(bdl_communicator_create(0, 1, gather, exchange, &scene, nullptr, &ranks));
  OK(bdl_optimizer_set_communicator(scene.optimizer.get(), ranks));
  bdl_communicator_free(ranks);
}

void training_is_not_disturbed(void**) {
  unchanged_by_callbacks(
      [](Scene& s) { OK(bdl_optimizer_fit_dataset(s.optimizer.get(), s.dataset.get(), 2, progress, &s)); },
      {"progress", "outputs", "gradients", "read", "draws", "interrupt"});
  unchanged_by_callbacks(
      [](Scene& s) {
        use_communicator(s);
        OK(bdl_optimizer_fit_dataset(s.optimizer.get(), s.dataset.get(), 2, progress, &s));
      },
      {"progress", "outputs", "gradients", "read", "draws", "all_gather"});
  unchanged_by_callbacks(
      [](Scene& s) { OK(bdl_optimizer_fit(s.optimizer.get(), s.inputs(), s.targets(), 2, progress, &s)); },
      {"progress", "outputs", "gradients", "draws", "interrupt"});
  unchanged_by_callbacks(
      [](Scene& s) {
        for (int k = 0; k < 3; ++k) OK(bdl_optimizer_step(s.optimizer.get(), s.inputs(), s.targets()));
      },
      {"outputs", "gradients", "draws"});
  unchanged_by_callbacks(
      [](Scene& s) {
        OK(bdl_optimizer_step(s.optimizer.get(), s.inputs(), s.targets()));
        OK(bdl_optimizer_laplace_dataset(s.optimizer.get(), s.dataset.get()));
      },
      {"outputs", "gradients", "read"});
  unchanged_by_callbacks(
      [](Scene& s) {
        OK(bdl_optimizer_set_text(s.optimizer.get(), "rule=bong curvature=mc-ggn samples=2 block=4"));
        OK(bdl_optimizer_observe(s.optimizer.get(), s.inputs(), s.targets(), bdl_none_out()));
      },
      {"outputs", "gradients", "draws"});
  unchanged_by_callbacks(
      [](Scene& s) { OK(bdl_optimizer_start_noise_dataset(s.optimizer.get(), s.dataset.get())); }, {"read"});
}

/// A call of another thread, which the callback waits for, is refused as well.
void another_thread_is_refused(void**) {
  const Call call = [](Scene& s) {
    s.in_use.wanted = "in use by a call of another thread";
    const bool interferes = std::exchange(s.interferes, false);
    s.also = [&s, interferes](const std::string& callback) {
      if (interferes && callback != "interrupt") std::thread([&s] { s.in_use.write_to_all(); }).join();
    };
    OK(bdl_optimizer_fit(s.optimizer.get(), s.inputs(), s.targets(), 2, progress, &s));
    s.also = nullptr;
  };
  const std::string alone = after(call, false);
  assert_true(after(call, true, nullptr, 34) == alone);
}

/// A second optimizer may not change handles that it shares with one that is training.
void shared_handles_are_refused(void**) {
  Scene scene, other;
  bdl_communicator* ranks = nullptr;
  bdl_optimizer *same_model = nullptr, *same_posterior = nullptr;
  OK(bdl_optimizer_create(scene.model.get(), other.posterior.get(), "slang-ggn", N, &same_model));
  OK(bdl_optimizer_create(nullptr, scene.posterior.get(), "slang-ggn", N, &same_posterior));
  const Optimizer first(same_model), second(same_posterior);
  OK(bdl_communicator_create(0, 1, gather, exchange, &scene, nullptr, &ranks));
  OK(bdl_optimizer_set_communicator(scene.optimizer.get(), ranks));
  OK(bdl_optimizer_set_communicator(other.optimizer.get(), ranks));
  bdl_communicator_free(ranks);
  const auto rows = bdl_f64(scene.x, 3, 2);
  const auto with_others = [&](const auto& expect) {
    expect("model", bdl_optimizer_step(same_model, scene.inputs(), scene.targets()));
    expect("posterior", bdl_optimizer_step_rows(same_posterior, rows));
    expect("communicator", bdl_optimizer_step(other.optimizer.get(), scene.inputs(), scene.targets()));
  };
  int refused = 0;
  scene.also = [&](const std::string& callback) {
    if (callback != "progress") return;
    OK(bdl_optimizer_set_text(same_model, "minibatch=3"));  // which is not in use
    with_others([&](const char* part, bdl_status status) {
      const std::string wanted = "the optimizer's " + std::string(part) + " is in use";
      if (status == BDL_ERROR_INVALID_ARGUMENT && std::strstr(bdl_last_error(), wanted.c_str())) ++refused;
    });
  };
  OK(bdl_optimizer_fit(scene.optimizer.get(), scene.inputs(), scene.targets(), 1, progress, &scene));
  assert_int_equal(refused, 3 * scene.in_use.callbacks["progress"]);
  scene.also = nullptr;
  with_others([&](const char*, bdl_status status) { OK(status); });
}

/// A callback of a prediction reads model and posterior, and does not change them, nor trains them.
void predictions_are_not_disturbed(void**) {
  Scene scene;
  double mean[N], undisturbed[N];
  OK(bdl_optimizer_fit(scene.optimizer.get(), scene.inputs(), scene.targets(), 2, nullptr, nullptr));
  const auto predict = [&](double* to) {
    OK(bdl_predict(scene.model.get(), scene.posterior.get(), scene.inputs(), BDL_MONTE_CARLO, 5, 1,
                   bdl_f64_out(to, N, 1), bdl_none_out(), bdl_none_out()));
  };
  predict(undisturbed);
  const std::string before = saved(scene.optimizer.get());
  scene.use_all();
  scene.in_use.optimizer = nullptr;  // which is not in use
  scene.interferes = true;
  scene.also = [&](const std::string&) {
    bdl_optimizer* const o = scene.optimizer.get();
    const bdl_matrix x = scene.inputs(), y = scene.targets();
    expect_refused(scene.in_use, "bdl_optimizer_fit", bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr));
    expect_refused(scene.in_use, "bdl_optimizer_step", bdl_optimizer_step(o, x, y));
    expect_refused(scene.in_use, "bdl_optimizer_initialize", bdl_optimizer_initialize(o));
  };
  predict(mean);
  scene.in_use.check();
  assert_memory_equal(mean, undisturbed, sizeof mean);
  assert_true(saved(scene.optimizer.get()) == before);
  assert_true(scene.in_use.refused.size() > 18);
}

void predictors_are_not_disturbed(void**) {
  Scene scene;
  bdl_predictor* predictor = nullptr;
  double mean[N], undisturbed[N];
  OK(bdl_optimizer_fit(scene.optimizer.get(), scene.inputs(), scene.targets(), 2, nullptr, nullptr));
  OK(bdl_predictor_create(scene.model.get(), scene.posterior.get(), BDL_MONTE_CARLO, 5, 1, &predictor));
  const auto predict = [&](double* to) {
    OK(bdl_predictor_moments(predictor, scene.inputs(), bdl_f64_out(to, N, 1), bdl_none_out(),
                             bdl_none_out()));
  };
  predict(undisturbed);
  scene.in_use.predictor = predictor;
  scene.interferes = true;
  predict(mean);
  scene.in_use.check();
  assert_memory_equal(mean, undisturbed, sizeof mean);
  assert_int_equal(scene.in_use.refused.size(), 11);
  scene.interferes = false;
  scene.also = [&](const std::string&) { bdl_predictor_free(predictor); };  // it lives until the call ends
  predict(mean);
  assert_memory_equal(mean, undisturbed, sizeof mean);
}

int32_t trial_done(void* user_data, const bdl_search*) {
  scene_of(user_data).called("progress");
  return 0;
}

void searches_are_not_disturbed(void**) {
  double scores[2];
  for (const bool interferes : {false, true}) {
    Scene scene;
    bdl_search* made = nullptr;
    OK(bdl_search_create(scene.optimizer.get(), 3, 1, BDL_MONTE_CARLO, 3, 1, &made));
    const Search search(made);
    OK(bdl_search_add_double(made, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
    scene.in_use.search = made;
    scene.interferes = interferes;
    OK(bdl_search_run(made, scene.inputs(), scene.targets(), 3, 1, trial_done, &scene));
    scene.in_use.check();
    assert_int_equal(bdl_search_trial_count(made), 4);
    assert_true(scene.in_use.callbacks["outputs"] > 0 && scene.in_use.callbacks["progress"] == 4);
    if (interferes) assert_int_equal(scene.in_use.refused.size(), 7);
    OK(bdl_search_trial(made, 3, bdl_none_out(), &scores[interferes ? 1 : 0], nullptr, nullptr));
    scene.interferes = false;
    OK(bdl_search_set_workers(made, 1));
    bdl_search* second = nullptr;
    OK(bdl_search_create(scene.optimizer.get(), 3, 1, BDL_MONTE_CARLO, 3, 1, &second));
    scene.also = [&](const std::string&) { bdl_search_free(second); };  // it lives until the run ends
    OK(bdl_search_run(second, scene.inputs(), scene.targets(), 1, 0, trial_done, &scene));
  }
  assert_true(scores[0] == scores[1]);
}

/// Handles that a callback frees live until the call ends; those of other objects go at once.
void callbacks_free_handles(void**) {
  for (const std::string kind : {"progress", "outputs", "gradients", "read", "draws"}) {
    std::string states[2];
    for (const bool frees : {false, true}) {
      Scene scene;
      int64_t last = 0;
      bdl_optimizer* const o = scene.optimizer.get();
      if (frees)
        scene.also = [&](const std::string& callback) {
          if (callback != kind) return;
          bdl_model_free(scene.model.release());
          bdl_posterior_free(scene.posterior.release());
          bdl_dataset_free(scene.dataset.release());
          bdl_optimizer_free(scene.optimizer.release());
        };
      struct Seen {
        int64_t& last;
        std::string& state;
        Scene& scene;
      } seen{last, states[frees ? 1 : 0], scene};
      const bdl_progress_fn see = [](void* user_data, const bdl_optimizer* optimizer) {
        Seen& s = *static_cast<Seen*>(user_data);
        s.scene.called("progress");
        s.state = saved(optimizer);
        bdl_optimizer_progress(optimizer, &s.last, nullptr, nullptr);
        return int32_t{0};
      };
      OK(bdl_optimizer_fit_dataset(o, scene.dataset.get(), 2, see, &seen));
      assert_int_equal(last, 6);
      assert_true(frees == !scene.optimizer);
    }
    assert_true(states[0] == states[1]);
  }
}

/// A callback frees the model and the posterior of a prediction, which live until the prediction ends.
void callbacks_free_what_is_read(void**) {
  Scene scene;
  double mean[N], undisturbed[N];
  OK(bdl_optimizer_fit(scene.optimizer.get(), scene.inputs(), scene.targets(), 2, nullptr, nullptr));
  bdl_model* const m = scene.model.get();
  bdl_posterior* const q = scene.posterior.get();
  const auto predict = [&](double* to) {
    OK(bdl_predict(m, q, scene.inputs(), BDL_MONTE_CARLO, 5, 1, bdl_f64_out(to, N, 1), bdl_none_out(),
                   bdl_none_out()));
  };
  predict(undisturbed);
  scene.optimizer.reset();
  scene.also = [&](const std::string&) {
    bdl_model_free(scene.model.release());
    bdl_posterior_free(scene.posterior.release());
  };
  predict(mean);
  assert_memory_equal(mean, undisturbed, sizeof mean);
  assert_true(!scene.model && !scene.posterior);
}

struct Disturbed {
  Interference in_use;
  bool interferes;
};

int32_t disturb(void* user_data, const bdl_optimizer*) {
  auto& d = *static_cast<Disturbed*>(user_data);
  if (d.interferes) d.in_use.write_to_all(), d.in_use.read_all();
  return 0;
}

/// Every method that fits, in every family: its course is the same with every call refused after each step.
void every_method_is_left_alone(void**) {
  const int64_t hidden[] = {INPUTS, 3, 2}, linear[] = {INPUTS, 1};
  const Scene scene;  // its checkpoint
  int courses = 0;
  int64_t calls = 0;
  for (int64_t i = 0; i < bdl_method_count(); ++i)
    for (int family = 0; family < FAMILIES; ++family) {
      const char* const method = bdl_method_name(i);
      int32_t is_stream = 0, is_exact = 0;
      OK(bdl_method_describe(method, nullptr, &is_stream, &is_exact, nullptr, nullptr, nullptr));
      std::string states[2];
      bool learns = !is_stream;
      for (int interferes = 0; interferes < 2 && learns; ++interferes) {
        const bdl_likelihood likelihood = is_exact ? BDL_POISSON : BDL_GAUSSIAN;
        const dataset data = data_for(likelihood);
        learner l;
        learns = learner_create(method, family, 2, is_exact ? linear : hidden, is_exact ? 2 : 3, likelihood,
                                ROWS, &l);
        if (!learns) break;
        Disturbed d{{}, interferes == 1};
        d.in_use.model = l.model;
        d.in_use.posterior = l.posterior;
        d.in_use.optimizer = l.optimizer;
        d.in_use.file = scene.in_use.file;
        d.in_use.bytes = scene.in_use.bytes;
        d.in_use.idle_search = scene.search.get();
        OK(bdl_optimizer_set_int(l.optimizer, "progress_every", 1));
        OK(bdl_optimizer_fit(l.optimizer, x_of(&data), y_of(&data), 2, disturb, &d));
        d.in_use.check();
        calls += d.in_use.calls;
        states[interferes] = saved(l.optimizer);
        learner_free(&l);
      }
      if (!learns) continue;
      ++courses;
      if (states[0] != states[1]) fail_msg("%s in family %d was disturbed", method, family);
    }
  print_message("%d courses, %lld calls refused\n", courses, static_cast<long long>(calls));
  assert_true(courses > 40 && calls > 4000);
}

}  // namespace

int test_calls_in_callbacks() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(training_is_not_disturbed),    cmocka_unit_test(another_thread_is_refused),
      cmocka_unit_test(shared_handles_are_refused),   cmocka_unit_test(predictions_are_not_disturbed),
      cmocka_unit_test(predictors_are_not_disturbed), cmocka_unit_test(searches_are_not_disturbed),
      cmocka_unit_test(callbacks_free_handles),       cmocka_unit_test(callbacks_free_what_is_read),
      cmocka_unit_test(every_method_is_left_alone)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
