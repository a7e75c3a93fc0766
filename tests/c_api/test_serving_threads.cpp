// Eight threads predict from shared handles, each with a predictor of its own and by the handles themselves,
// while three others train, save and load: answers stay identical.
#include <atomic>
#include <string>
#include <thread>

#include "handles.hpp"

namespace {

constexpr int servers = 8, trainers = 3, repetitions = 6;
constexpr int64_t rows = 20;

struct Served {
  Learner learner;
  Vector x, y;
};

Served learn(const char* method, int64_t rank, int64_t seed) {
  Served s{Learner(make_mlp(BDL_F64, {2, 6, 1}, BDL_GAUSSIAN), BDL_F64, rank, rows, method), {}, {}};
  for (int64_t i = 0; i < rows; ++i) {
    s.x.insert(s.x.end(), {std::sin(static_cast<double>(i + seed)), std::cos(0.7 * static_cast<double>(i))});
    s.y.push_back(std::sin(0.3 * static_cast<double>(i)));
  }
  OK(bdl_optimizer_set_int(s.learner.optimizer.get(), "seed", seed));
  return s;
}

void train(Served& s, int64_t epochs) {
  OK(bdl_optimizer_fit(s.learner.optimizer.get(), bdl_f64(s.x.data(), rows, 2), bdl_f64(s.y.data(), rows, 1),
                       epochs, nullptr, nullptr));
}

std::string bytes_of(const Served& s) {
  int64_t size = 0;
  OK(bdl_save_bytes(nullptr, nullptr, s.learner.optimizer.get(), nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  OK(bdl_save_bytes(nullptr, nullptr, s.learner.optimizer.get(), bytes.data(), size, &size));
  return bytes;
}

/// Predicts by the handles, by a predictor, and by an ensemble that has the same member twice.
Vector answers(const Served& s) {
  const bdl_model* m = s.learner.model.get();
  const bdl_posterior* q = s.learner.posterior.get();
  const bdl_matrix x = bdl_f64(s.x.data(), rows, 2);
  Vector all(static_cast<std::size_t>(4 * rows));
  const auto part = [&](int64_t k) { return bdl_f64_out(all.data() + k * rows, rows, 1); };
  OK(bdl_predict(m, q, x, BDL_MONTE_CARLO, 5, 1, part(0), part(1), bdl_none_out()));
  bdl_predictor* predictor = nullptr;
  OK(bdl_predictor_create(m, q, BDL_MONTE_CARLO, 5, 1, &predictor));
  OK(bdl_predictor_moments(predictor, x, part(2), bdl_none_out(), bdl_none_out()));
  bdl_predictor_free(predictor);
  const bdl_model* models[] = {m, m};
  const bdl_posterior* members[] = {q, q};
  OK(bdl_predictor_create_ensemble(models, members, 2, BDL_LINEARIZED, 1, 1, &predictor));
  OK(bdl_predictor_moments(predictor, x, part(3), bdl_none_out(), bdl_none_out()));
  bdl_predictor_free(predictor);
  return all;
}

void test_serving(void**) {
  Served served = learn("slang-ggn", 2, 1);
  train(served, 5);
  const Vector expected = answers(served);
  std::atomic<int> different{0}, other_bits{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < servers; ++k)
    threads.emplace_back([&] {
      for (int i = 0; i < repetitions; ++i) different += answers(served) != expected;
    });
  for (int k = 0; k < trainers; ++k)
    threads.emplace_back([&, k] {
      std::string first;
      for (int i = 0; i < repetitions; ++i) {
        Served own = learn(k == 0 ? "slang" : k == 1 ? "vogn" : "bbb", k == 0 ? 2 : 0, k + 2);
        train(own, 3);
        const std::string bytes = bytes_of(own);
        if (i == 0) first = bytes;
        other_bits += bytes != first;
      }
    });
  for (std::thread& thread : threads) thread.join();
  assert_int_equal(different, 0);
  assert_int_equal(other_bits, 0);
}

}  // namespace

int test_serving_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_serving)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
