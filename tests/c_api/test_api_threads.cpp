// Distinct handles are independent; const calls may run concurrently on one handle; a stop comes from any
// thread.
#include <atomic>
#include <string>
#include <thread>

#include "handles.hpp"
#include "training_runs.h"

namespace {

constexpr int threads = 4, repetitions = 5;

/// work(k) in four threads at once.
template <class Work>
void in_parallel(Work work) {
  std::vector<std::thread> running;
  std::atomic<int> waiting{threads};
  for (int k = 0; k < threads; ++k)
    running.emplace_back([&, k] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      work(k);
    });
  for (std::thread& thread : running) thread.join();
}

snapshot train(int k) {
  trained t = variant_create(&variants[k % VARIANTS]);
  OK(bdl_optimizer_set_int(t.optimizer, "seed", k));
  OK(variant_fit(&t, 3, nullptr, nullptr));
  const snapshot s = snapshot_of(&t);
  trained_free(&t);
  return s;
}

void test_distinct_handles(void**) {
  for (int first = 0; first < VARIANTS; first += threads) {
    snapshot sequential[threads], concurrent[threads];
    for (int k = 0; k < threads; ++k) sequential[k] = train(first + k);
    in_parallel([&](int k) { concurrent[k] = train(first + k); });
    for (int k = 0; k < threads; ++k) assert_same_state(&sequential[k], &concurrent[k]);
  }
}

/// Results of every const call on the handles, one after another.
Vector read_all(const trained& t) {
  Vector all;
  const auto room = [&](int64_t rows, int64_t cols) {
    all.resize(all.size() + static_cast<std::size_t>(rows * cols));
    return bdl_f64_out(all.data() + all.size() - rows * cols, rows, cols);
  };
  const auto number = [&] { return static_cast<double*>(room(1, 1).data); };
  const int64_t d = t.parameters, c = t.outputs, indices[] = {0, 3};
  const bdl_matrix x = x_of(&t.data), y = y_of(&t.data);
  const bdl_matrix_out none = bdl_none_out();
  const double levels[] = {0.1, 0.9};
  const Vector theta(MOST_PARAMETERS, 0.25), ones(MOST_PARAMETERS, 1.0);
  const bdl_matrix p = bdl_f64(theta.data(), 1, d), one = bdl_f64(ones.data(), 1, d);
  OK(bdl_model_evaluate(t.model, p, x, room(ROWS, c)));
  OK(bdl_model_log_likelihood(t.model, p, x, y, room(ROWS, 1)));
  OK(bdl_model_gradient_rows(t.model, p, x, y, room(ROWS, d)));
  OK(bdl_posterior_mean(t.posterior, room(1, d)));
  OK(bdl_posterior_marginal_variance(t.posterior, room(1, d)));
  OK(bdl_posterior_covariance(t.posterior, indices, 2, indices, 2, room(2, 2)));
  OK(bdl_posterior_solve(t.posterior, one, room(1, d)));
  OK(bdl_posterior_sample(t.posterior, 3, 0, room(5, d)));
  OK(bdl_posterior_log_density(t.posterior, p, room(1, 1)));
  OK(bdl_posterior_kl_prior(t.posterior, one, number()));
  OK(bdl_posterior_kl(t.posterior, t.posterior, number()));
  OK(bdl_posterior_entropy(t.posterior, number()));
  OK(bdl_optimizer_elbo(t.optimizer, x, y, 3, 1, number(), nullptr));
  OK(bdl_optimizer_running_elbo(t.optimizer, number(), nullptr));
  OK(bdl_optimizer_diagnose(t.optimizer, number(), nullptr, nullptr));
  OK(bdl_predict(t.model, t.posterior, x, BDL_MONTE_CARLO, 6, 1, room(ROWS, c), none, none));
  OK(bdl_predict_quantiles(t.model, t.posterior, x, BDL_MONTE_CARLO, 6, 1, bdl_f64(levels, 1, 2),
                           room(ROWS, 2 * c)));
  OK(bdl_predict_log_density(t.model, t.posterior, x, y, BDL_MONTE_CARLO, 6, 1, room(ROWS, 1)));
  OK(bdl_predict_draws(t.model, t.posterior, x, 6, 1, room(ROWS, 6 * c)));
  return all;
}

void test_const_calls(void**) {
  for (const int64_t rank : {int64_t(0), int64_t(2), int64_t(FULL)}) {
    const trained t = trained_create(rank == 0 ? BDL_F32 : BDL_F64, BDL_GAUSSIAN, rank);
    const Vector expected = read_all(t);
    std::atomic<int> different{0};
    in_parallel([&](int) {
      for (int i = 0; i < repetitions; ++i) different += read_all(t) != expected;
    });
    assert_int_equal(different, 0);
    trained copy = t;
    trained_free(&copy);
  }
}

/// Four threads at once ask how a network's layers make noise: each gets the text and the answer of one
/// thread.
void test_noise_texts(void**) {
  const int64_t sizes[] = {3, 4, 2};
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_CATEGORICAL, &model));
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, bdl_model_parameters(model), 1, &posterior));
  OK(bdl_optimizer_create(model, posterior, "elrg", 20, &optimizer));
  for (const std::string word : {"local", "weights", "flipout"}) {
    OK(bdl_optimizer_set_choice(optimizer, "noise_estimator", word.c_str()));
    std::atomic<int> different{0};
    in_parallel([&](int) {
      const char* text = nullptr;
      int32_t is_exact = 0;
      OK(bdl_optimizer_noise(optimizer, &is_exact, &text));
      different += is_exact != 1 || text != "dense 4: " + word + ", exact\ndense 2: " + word + ", exact\n";
    });
    assert_int_equal(different, 0);
  }
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(posterior);
  bdl_model_free(model);
}

/// Saving only reads: four files at once.
void test_saving(void**) {
  trained t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  std::vector<std::string> paths(threads);
  for (std::string& path : paths) {
    char name[] = "/tmp/bdl-threads-XXXXXX";
    const int file = mkstemp(name);
    assert_true(file >= 0);
    path = name;
  }
  in_parallel([&](int k) {
    OK(bdl_save(paths[static_cast<std::size_t>(k)].c_str(), nullptr, nullptr, t.optimizer));
  });
  const Vector expected = read_all(t);
  for (const std::string& path : paths) {
    trained loaded = t;
    OK(bdl_load(path.c_str(), nullptr, &loaded.model, &loaded.posterior, &loaded.optimizer));
    assert_true(read_all(loaded) == expected);
    trained_free(&loaded);
    assert_int_equal(remove(path.c_str()), 0);
  }
  trained_free(&t);
}

int32_t started(void* user_data, const bdl_optimizer*) {
  *static_cast<std::atomic<bool>*>(user_data) = true;
  return 0;
}

void test_stop_during_fit(void**) {
  trained t = variant_create(&variants[0]);
  std::atomic<bool> running{false};
  std::thread stopper([&] {
    while (!running) std::this_thread::yield();
    bdl_optimizer_request_stop(t.optimizer);
  });
  // Without the stop this would take hours.
  assert_int_equal(variant_fit(&t, 100000000, started, &running), BDL_STOPPED);
  stopper.join();
  trained_free(&t);
}

void test_last_error(void**) {
  assert_int_equal(bdl_model_block(nullptr, 0, nullptr, nullptr, nullptr, nullptr),
                   BDL_ERROR_INVALID_ARGUMENT);
  const std::string before = bdl_last_error();
  std::vector<std::string> seen(threads), fresh(threads);
  in_parallel([&](int k) {
    fresh[static_cast<std::size_t>(k)] = bdl_last_error();
    for (int i = 0; i < 100; ++i) {
      bdl_posterior* q = nullptr;
      const bool refused = bdl_posterior_create_full(BDL_F64, -1 - k, &q) == BDL_ERROR_INVALID_ARGUMENT;
      if (refused) seen[static_cast<std::size_t>(k)] = bdl_last_error();
    }
  });
  for (int k = 0; k < threads; ++k) {
    assert_string_equal(fresh[static_cast<std::size_t>(k)].c_str(), "");
    const std::string own = "dimension is -" + std::to_string(1 + k) + ",";
    assert_true(seen[static_cast<std::size_t>(k)].find(own) != std::string::npos);
  }
  assert_string_equal(bdl_last_error(), before.c_str());
}

/// The library's tables are built at first use, perhaps by several threads at once: first test of the
/// program.
void test_first_use(void**) {
  std::atomic<int64_t> options{0};
  in_parallel([&](int) {
    const char* text = nullptr;
    int64_t i = 0;
    while (bdl_option_describe(i, nullptr, nullptr, &text, nullptr, nullptr) == BDL_OK && text) ++i;
    options += i;
    if (strlen(bdl_build_info()) == 0) options = -1000;
  });
  assert_true(options > 0 && options % threads == 0);
}

}  // namespace

int test_api_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_first_use),   cmocka_unit_test(test_distinct_handles),
                              cmocka_unit_test(test_const_calls), cmocka_unit_test(test_noise_texts),
                              cmocka_unit_test(test_saving),      cmocka_unit_test(test_stop_during_fit),
                              cmocka_unit_test(test_last_error)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
