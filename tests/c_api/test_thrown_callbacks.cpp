// An exception that a C++ callback throws is its failure: the call has the status of a callback that fails
// and the exception's message, and leaves everything as after any other failure.
#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>

#include "handles.hpp"
#include "support/sanitized.hpp"

namespace {

enum { N = 12 };

/// Throws an exception in callbacks of one kind.
struct Thrower {
  std::string kind;
  std::function<void()> act;
  int thrown = 0;
  std::array<double, N> x, y;
  void called(const std::string& callback) {
    if (callback == kind && act) ++thrown, act();
  }
};

double at(bdl_matrix m, int64_t i, int64_t j) {
  return static_cast<const double*>(m.data)[i * m.row_stride + j * m.col_stride];
}
double& at(bdl_matrix_out m, int64_t i, int64_t j) {
  return static_cast<double*>(m.data)[i * m.row_stride + j * m.col_stride];
}
void called(void* user_data, const char* callback) {
  static_cast<Thrower*>(user_data)->called(callback);
}

int32_t outputs(void* user_data, bdl_matrix theta, bdl_matrix x, bdl_matrix_out f) {
  called(user_data, "model's outputs");
  for (int64_t i = 0; i < x.rows; ++i) at(f, i, 0) = at(theta, 0, 0) + at(theta, 0, 1) * at(x, i, 0);
  return 0;
}

int32_t gradients(void* user_data, bdl_matrix, bdl_matrix x, bdl_matrix seeds, bdl_matrix_out rows) {
  called(user_data, "model's gradients");
  for (int64_t i = 0; i < x.rows; ++i) {
    at(rows, i, 0) = at(seeds, i, 0);
    at(rows, i, 1) = at(seeds, i, 0) * at(x, i, 0);
  }
  return 0;
}

int32_t read_rows(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x, bdl_matrix_out y) {
  called(user_data, "data set's read");
  const Thrower& data = *static_cast<Thrower*>(user_data);
  for (int64_t i = 0; i < count; ++i) {
    if (x.data) at(x, i, 0) = data.x[static_cast<std::size_t>(rows[i])];
    if (y.data) at(y, i, 0) = data.y[static_cast<std::size_t>(rows[i])];
  }
  return 0;
}

int32_t draw(void* user_data, bdl_draw_kind, int64_t step, int64_t, const bdl_posterior* q,
             bdl_matrix_out draws) {
  called(user_data, "draws");
  return bdl_posterior_sample(q, 7, step, draws) == BDL_OK ? 0 : 1;
}

int32_t progress(void* user_data, const bdl_optimizer*) {
  called(user_data, "progress");
  return 0;
}

int32_t trial_done(void* user_data, const bdl_search*) {
  called(user_data, "progress");
  return 0;
}

int32_t ask(void* user_data) {
  called(user_data, "interrupt");
  return 0;
}

int32_t gather(void* user_data, const void* send, int64_t bytes, void* receive, const int64_t*) {
  called(user_data, "all_gather");
  std::memcpy(receive, send, static_cast<std::size_t>(bytes));
  return 0;
}

int32_t exchange(void*, int32_t, const void*, int64_t, void*, int64_t) {
  return 1;
}

struct Exception {
  std::function<void()> act;
  const char* words;
};

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all = {
      {[] { throw std::runtime_error("the disk is full"); }, "the disk is full"},
      {[] { throw std::bad_alloc(); }, "std::bad_alloc"},
      {[] { throw std::length_error("too long"); }, "too long"},
      {[] { throw 17; }, "it is not a std::exception"},
      {[] {
         bdl_set_callback_message("the simulator said no");
         throw 17;
       },
       "the simulator said no"}};
  return all;
}

struct Scene {
  Thrower thrower;
  Model model;
  Posterior posterior;
  Optimizer optimizer;
  Dataset dataset;

  Scene() {
    for (std::size_t i = 0; i < N; ++i) {
      thrower.x[i] = std::sin(1.7 * static_cast<double>(i));
      thrower.y[i] = 1 + 2 * thrower.x[i] + 0.1 * std::cos(9.1 * static_cast<double>(i));
    }
    bdl_model* m = nullptr;
    bdl_posterior* q = nullptr;
    bdl_dataset* d = nullptr;
    OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, outputs, gradients, &thrower, nullptr, &m));
    model.reset(m);
    OK(bdl_posterior_create_full(BDL_F64, 2, &q));
    posterior.reset(q);
    optimizer = make_optimizer(model, posterior, N, "slang-ggn");
    OK(bdl_optimizer_set_text(optimizer.get(), "minibatch=5 progress_every=1"));
    OK(bdl_optimizer_set_draws(optimizer.get(), draw, &thrower, nullptr));
    OK(bdl_dataset_from_callback(N, 1, 1, read_rows, &thrower, nullptr, &d));
    dataset.reset(d);
    OK(fit());
  }
  bdl_status fit() {
    return bdl_optimizer_fit_dataset(optimizer.get(), dataset.get(), 2, progress, &thrower);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

void expect_words(bdl_status got, bdl_status expected, const std::string& kind, const char* words) {
  const std::string message = bdl_last_error(), wanted = "the " + kind + " callback threw an exception: ";
  if (got != expected || message.find(wanted) == std::string::npos ||
      message.find(words) == std::string::npos)
    fail_msg("%s: %s, expected %s ... %s", bdl_status_name(got), message.c_str(), wanted.c_str(), words);
}

/// The call fails once, when the callback throws, and works when it does not.
template <class Call>
void throws(Scene& scene, const std::string& kind, bdl_status expected, Call&& call) {
  for (const Exception& exception : exceptions()) {
    scene.thrower.kind = kind;
    scene.thrower.act = exception.act;
    scene.thrower.thrown = 0;
    const bdl_status status = call();
    scene.thrower.act = nullptr;
    expect_words(status, expected, kind, exception.words);
    assert_int_equal(scene.thrower.thrown, 1);
    OK(call());
  }
}

void of_training(void**) {
  Scene scene;
  for (const char* kind : {"progress", "model's outputs", "model's gradients", "data set's read", "draws"})
    throws(scene, kind, BDL_ERROR_CALLBACK, [&] { return scene.fit(); });
}

void of_other_calls(void**) {
  Scene scene;
  double numbers[2 * N], theta[] = {1, 2};
  const bdl_matrix x = bdl_f64(scene.thrower.x.data(), N, 1), y = bdl_f64(scene.thrower.y.data(), N, 1),
                   parameters = bdl_f64(theta, 1, 2);
  const bdl_matrix_out column = bdl_f64_out(numbers, N, 1), none = bdl_none_out();
  const auto* const m = scene.model.get();
  const auto* const q = scene.posterior.get();
  auto* const o = scene.optimizer.get();
  const int64_t row = 3;
  const std::string f = "model's outputs", df = "model's gradients", read = "data set's read";
  const bdl_status failed = BDL_ERROR_CALLBACK;
  throws(scene, f, failed, [&] { return bdl_optimizer_step(o, x, y); });
  throws(scene, f, failed, [&] { return bdl_model_evaluate(m, parameters, x, column); });
  throws(scene, df, failed,
         [&] { return bdl_model_gradient_rows(m, parameters, x, y, bdl_f64_out(numbers, N, 2)); });
  throws(scene, f, failed, [&] { return bdl_predict(m, q, x, BDL_MONTE_CARLO, 3, 1, column, none, none); });
  throws(scene, f, failed, [&] { return bdl_optimizer_elbo(o, x, y, 2, 1, numbers, numbers + 1); });
  throws(scene, df, failed, [&] { return bdl_optimizer_laplace(o, x, y); });
  throws(scene, read, failed, [&] { return bdl_optimizer_laplace_dataset(o, scene.dataset.get()); });
  throws(scene, read, failed,
         [&] { return bdl_dataset_read(scene.dataset.get(), &row, 1, bdl_f64_out(numbers, 1, 1), none); });
  throws(scene, read, failed,
         [&] { return bdl_dataset_target_range(scene.dataset.get(), bdl_f64_out(numbers, 1, 1), none); });
  OK(bdl_optimizer_set_text(o, "rule=bong"));
  throws(scene, f, failed, [&] { return bdl_optimizer_observe(o, x, y, none); });
}

/// The progress of a search; what a custom model throws is the failure of a trial.
void of_searches(void**) {
  Scene scene;
  const bdl_matrix x = bdl_f64(scene.thrower.x.data(), N, 1), y = bdl_f64(scene.thrower.y.data(), N, 1);
  bdl_search* search = nullptr;
  const char* message = nullptr;
  OK(bdl_search_create(scene.optimizer.get(), 3, 1, BDL_MONTE_CARLO, 3, 1, &search));
  const Search owner(search);
  OK(bdl_search_add_double(search, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
  throws(scene, "progress", BDL_ERROR_CALLBACK,
         [&] { return bdl_search_run(search, x, y, 1, 0, trial_done, &scene.thrower); });
  assert_int_equal(bdl_search_trial_count(search), 10);  // those that were reported stay
  scene.thrower.kind = "model's outputs";
  scene.thrower.act = [] { throw std::runtime_error("no such simulator"); };
  OK(bdl_search_run(search, x, y, 1, 0, nullptr, nullptr));
  OK(bdl_search_trial(search, 10, bdl_none_out(), nullptr, nullptr, &message));
  assert_non_null(std::strstr(message, "outputs callback threw an exception: no such simulator"));
}

/// A message between ranks that is not delivered is lost, whatever the reason: so the status is that of a
/// callback that answers so.
void of_communicators(void**) {
  for (const Exception& exception : exceptions()) {
    Scene scene;
    bdl_communicator* ranks = nullptr;
    OK(bdl_communicator_create(0, 1, gather, exchange, &scene.thrower, nullptr, &ranks));
    OK(bdl_optimizer_set_communicator(scene.optimizer.get(), ranks));
    bdl_communicator_free(ranks);
    OK(scene.fit());
    scene.thrower.kind = "all_gather";
    scene.thrower.act = exception.act;
    expect_words(scene.fit(), BDL_ERROR_COMMUNICATION, "all_gather", exception.words);
    scene.thrower.act = nullptr;
    assert_int_equal(scene.fit(), BDL_ERROR_COMMUNICATION);
    OK(bdl_optimizer_set_communicator(scene.optimizer.get(), nullptr));
    OK(scene.fit());
  }
}

/// Where a callback has asked it, and where loops inside a step do.
void of_interrupts(void**) {
  Scene scene;
  bdl_set_interrupt(ask, &scene.thrower);
  throws(scene, "interrupt", BDL_ERROR_CALLBACK, [&] {
    const timespec pause = {0, 25000000};  // so that the next call asks at once
    nanosleep(&pause, nullptr);
    return scene.fit();
  });
  const int64_t n = bdl::testing::sanitized_stride > 1 ? 700 : 2000;  // some hundred milliseconds
  Vector matrix(static_cast<std::size_t>(n * n)), mean(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      matrix[static_cast<std::size_t>(i * n + j)] = i == j ? 2 : 1 / static_cast<double>(n);
  bdl_posterior* q = nullptr;
  OK(bdl_posterior_create_full(BDL_F64, n, &q));
  const Posterior owner(q);
  throws(scene, "interrupt", BDL_ERROR_CALLBACK,
         [&] { return bdl_posterior_set_full(q, bdl_f64(mean.data(), 1, n), bdl_f64(matrix.data(), n, n)); });
  bdl_search* search = nullptr;
  OK(bdl_search_create(scene.optimizer.get(), 3, 1, BDL_MONTE_CARLO, 3, 1, &search));
  const Search searches(search);
  OK(bdl_search_add_double(search, "prior_precision", 0.1, 10, BDL_SCALE_LOG));
  const bdl_matrix x = bdl_f64(scene.thrower.x.data(), N, 1), y = bdl_f64(scene.thrower.y.data(), N, 1);
  throws(scene, "interrupt", BDL_ERROR_CALLBACK, [&] {
    const timespec pause = {0, 25000000};
    nanosleep(&pause, nullptr);
    return bdl_search_run(search, x, y, 1, 0, nullptr, nullptr);
  });
  std::vector<char> file(static_cast<std::size_t>(n * n) * 2 * sizeof(double) + 65536);
  int64_t size = 0;
  throws(scene, "interrupt", BDL_ERROR_CALLBACK, [&] {
    return bdl_save_bytes(nullptr, q, nullptr, file.data(), static_cast<int64_t>(file.size()), &size);
  });
  throws(scene, "interrupt", BDL_ERROR_CALLBACK, [&] {
    bdl_posterior* loaded = nullptr;
    const bdl_status status = bdl_load_bytes(file.data(), size, nullptr, nullptr, &loaded, nullptr);
    bdl_posterior_free(loaded);
    return status;
  });
  bdl_set_interrupt(nullptr, nullptr);
}

/// A call of a thread without an interrupt callback knows nothing of what an earlier one has thrown, nor does
/// one that a callback asks after it.
void of_an_interrupt_that_is_over(void**) {
  Scene scene;
  const timespec pause = {0, 25000000};
  bdl_set_interrupt(ask, &scene.thrower);
  scene.thrower.kind = "interrupt";
  scene.thrower.act = [] { throw std::runtime_error("once"); };
  nanosleep(&pause, nullptr);
  assert_int_equal(scene.fit(), BDL_ERROR_CALLBACK);
  bdl_set_interrupt(nullptr, nullptr);
  OK(scene.fit());
  assert_int_equal(bdl_interrupted(), 0);
  bdl_set_interrupt(ask, &scene.thrower);
  nanosleep(&pause, nullptr);
  assert_int_equal(bdl_interrupted(), 1);
  scene.thrower.act = nullptr;
  nanosleep(&pause, nullptr);
  OK(scene.fit());
  bdl_set_interrupt(nullptr, nullptr);
}

int destroyed = 0;

void destroy_badly(void*) {
  ++destroyed;
  throw std::runtime_error("nobody hears this");
}

/// There is no call that could report it.
void of_destroying(void**) {
  destroyed = 0;
  bdl_model* m = nullptr;
  bdl_dataset* d = nullptr;
  bdl_communicator* c = nullptr;
  Scene scene;
  OK(create_user(BDL_F64, 1, 1, 2, BDL_GAUSSIAN, outputs, gradients, nullptr, destroy_badly, &m));
  bdl_model_free(m);
  OK(bdl_dataset_from_callback(N, 1, 1, read_rows, nullptr, destroy_badly, &d));
  bdl_dataset_free(d);
  OK(bdl_communicator_create(0, 1, gather, exchange, nullptr, destroy_badly, &c));
  bdl_communicator_free(c);
  OK(bdl_optimizer_set_draws(scene.optimizer.get(), draw, nullptr, destroy_badly));
  OK(bdl_optimizer_set_draws(scene.optimizer.get(), nullptr, nullptr, nullptr));
  assert_int_equal(destroyed, 4);
}

}  // namespace

int test_thrown_callbacks() {
  const CMUnitTest tests[] = {cmocka_unit_test(of_training),   cmocka_unit_test(of_other_calls),
                              cmocka_unit_test(of_searches),   cmocka_unit_test(of_communicators),
                              cmocka_unit_test(of_interrupts), cmocka_unit_test(of_an_interrupt_that_is_over),
                              cmocka_unit_test(of_destroying)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
