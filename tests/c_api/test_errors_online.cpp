// Calls that the functions of online.h refuse; a refused call leaves every byte of the optimizer's state as
// it was.
#include "stream_runs.hpp"

namespace {

constexpr bdl_status invalid = BDL_ERROR_INVALID_ARGUMENT;

/// The call fails with this status, and a message of this function that contains the fragment.
template <class Call>
void refused(const StreamLearner* learner, const char* function, bdl_status expected, const char* fragment,
             Call call) {
  const std::string before = learner ? learner->state() : "";
  const bdl_status got = call();
  const std::string message = bdl_last_error();
  if (got != expected || message.rfind(std::string(function) + ": ", 0) != 0 ||
      message.find(fragment) == std::string::npos)
    fail_msg("%s gave %s, '%s'; expected %s, '%s'", function, bdl_status_name(got), message.c_str(),
             bdl_status_name(expected), fragment);
  if (learner && learner->state() != before) fail_msg("%s, '%s': the state changed", function, fragment);
}

struct Row {
  double x[INPUTS] = {0.5, -0.5}, y[MOST_OUTPUTS] = {1, 1, 1};
};

/// Outputs must stay as they were, too.
void observe_refused(StreamLearner& learner, bdl_status expected, const char* fragment, bdl_matrix x,
                     bdl_matrix y) {
  double score[2] = {-77, -77};
  refused(&learner, "bdl_optimizer_observe", expected, fragment, [&] {
    return bdl_optimizer_observe(learner.optimizer.get(), x, y, bdl_f64_out(score, x.rows, 1));
  });
  assert_true(score[0] == -77 && score[1] == -77);
}

void test_null(void**) {
  const Row row;
  const bdl_matrix x = bdl_f64(row.x, 1, 2), y = bdl_f64(row.y, 1, 2);
  const char* const null = "optimizer is NULL";
  refused(nullptr, "bdl_optimizer_observe", invalid, null,
          [&] { return bdl_optimizer_observe(nullptr, x, y, bdl_none_out()); });
  refused(nullptr, "bdl_optimizer_forecast", invalid, null,
          [] { return bdl_optimizer_forecast(nullptr, 1); });
  refused(nullptr, "bdl_optimizer_set_process_noise", invalid, null,
          [&] { return bdl_optimizer_set_process_noise(nullptr, x); });
  refused(nullptr, "bdl_optimizer_set_draws", invalid, null,
          [] { return bdl_optimizer_set_draws(nullptr, nullptr, nullptr, nullptr); });
  int64_t count = -7;
  refused(nullptr, "bdl_optimizer_prequential", invalid, null,
          [&] { return bdl_optimizer_prequential(nullptr, &count, nullptr, nullptr); });
  assert_int_equal(count, -7);
  assert_int_equal(bdl_optimizer_shortened_steps(nullptr), 0);
}

void test_without_model(void**) {
  const Posterior q = make_posterior(BDL_F64, 4, StreamFamily::full);
  bdl_optimizer* created = nullptr;
  OK(bdl_optimizer_create(nullptr, q.get(), "bong", 1, &created));
  const Optimizer o(created);
  const Row row;
  const bdl_matrix x = bdl_f64(row.x, 1, 2);
  const char* const without = "without a model";
  refused(nullptr, "bdl_optimizer_observe", BDL_ERROR_UNSUPPORTED, without,
          [&] { return bdl_optimizer_observe(o.get(), x, x, bdl_none_out()); });
  int64_t count = -7;
  refused(nullptr, "bdl_optimizer_prequential", BDL_ERROR_UNSUPPORTED, without,
          [&] { return bdl_optimizer_prequential(o.get(), &count, nullptr, nullptr); });
  assert_int_equal(count, -7);
  OK(bdl_optimizer_forecast(o.get(), 3));  // time passes without a model, too
}

/// Before the first observation and after some.
template <class Check>
void blank_and_later(bdl_likelihood likelihood, StreamFamily family, Check check) {
  StreamLearner learner(likelihood, family);
  check(learner);
  learner.observe(0, 3);
  check(learner);
  learner.observe(3, 3);
}

void test_data(void**) {
  for (const StreamFamily family : stream_families)
    blank_and_later(BDL_GAUSSIAN, family, [](StreamLearner& learner) {
      Row row;
      const auto good_x = [&] { return bdl_f64(row.x, 1, 2); };
      const auto good_y = [&] { return bdl_f64(row.y, 1, 2); };
      observe_refused(learner, BDL_ERROR_SHAPE, "x has 1 columns", bdl_f64(row.x, 2, 1), good_y());
      observe_refused(learner, BDL_ERROR_SHAPE, "y has 1 columns", good_x(), bdl_f64(row.y, 1, 1));
      observe_refused(learner, BDL_ERROR_SHAPE, "y has 1 rows, expected 2",
                      bdl_strided(row.x, BDL_F64, 2, 2, 0, 1), good_y());
      observe_refused(learner, BDL_ERROR_SHAPE, "x is empty", bdl_none(), good_y());
      double score = -77;
      refused(&learner, "bdl_optimizer_observe", BDL_ERROR_SHAPE, "log_density has 1 rows, expected 2", [&] {
        return bdl_optimizer_observe(learner.optimizer.get(), bdl_strided(row.x, BDL_F64, 2, 2, 0, 1),
                                     bdl_strided(row.y, BDL_F64, 2, 2, 0, 1), bdl_f64_out(&score, 1, 1));
      });
      assert_true(score == -77);
      for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        row.x[1] = bad;
        observe_refused(learner, BDL_ERROR_NOT_FINITE, "x is not finite at row 0, column 1", good_x(),
                        good_y());
        row.x[1] = 0;
      }
      row.y[1] = -static_cast<double>(INFINITY);
      observe_refused(learner, BDL_ERROR_NOT_FINITE, "y is -inf at row 0, column 1", good_x(), good_y());
    });
}

void test_labels(void**) {
  for (const bdl_likelihood likelihood : {BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON})
    blank_and_later(likelihood, StreamFamily::low_rank, [&](StreamLearner& learner) {
      for (const double bad :
           {-1.0, 0.5, likelihood == BDL_POISSON ? -3.0 : 3.0, static_cast<double>(INFINITY)}) {
        Row row;
        row.y[0] = bad;
        observe_refused(learner, BDL_ERROR_LABEL, "y is ", bdl_f64(row.x, 1, 2),
                        bdl_f64(row.y, 1, learner.data.targets));
      }
    });
}

void test_forecast_and_noise(void**) {
  blank_and_later(BDL_GAUSSIAN, StreamFamily::full_moment, [](StreamLearner& learner) {
    bdl_optimizer* const o = learner.optimizer.get();
    for (const int64_t steps : {INT64_C(-1), INT64_MIN, INT64_MAX})
      refused(&learner, "bdl_optimizer_forecast", invalid, "steps is ",
              [&] { return bdl_optimizer_forecast(o, steps); });
    Vector noise(static_cast<std::size_t>(bdl_model_parameters(learner.model.get())), 0.1);
    const auto size = static_cast<int64_t>(noise.size());
    const auto set = [&](bdl_status status, const char* fragment, int64_t rows, int64_t cols) {
      refused(&learner, "bdl_optimizer_set_process_noise", status, fragment,
              [&] { return bdl_optimizer_set_process_noise(o, bdl_f64(noise.data(), rows, cols)); });
    };
    set(BDL_ERROR_SHAPE, "variance has 5 columns", 1, 5);
    set(BDL_ERROR_SHAPE, "variance has 2 rows", 2, 3);
    set(BDL_ERROR_SHAPE, "variance is empty", 0, 0);
    noise[3] = -0.1;
    set(invalid, "variance is -0.1 at column 3", 1, size);
    noise[3] = static_cast<double>(NAN);
    set(BDL_ERROR_NOT_FINITE, "variance is not finite at row 0, column 3", 1, size);
    noise[3] = 1e-3;
    OK(bdl_optimizer_set_process_noise(o, bdl_f64(noise.data(), 1, 1)));
    OK(bdl_optimizer_set_process_noise(o, bdl_f64(noise.data(), 1, size)));
  });
}

/// Overflow while time passes.
void test_diverging_forecasts(void**) {
  for (const StreamFamily family : stream_families) {
    StreamLearner learner(BDL_GAUSSIAN, family);
    learner.set("transition", 1e6);
    refused(&learner, "bdl_optimizer_forecast", BDL_ERROR_DIVERGED, "finite",
            [&] { return bdl_optimizer_forecast(learner.optimizer.get(), 1000); });
  }
}

void test_unsupported(void**) {
  const Row row;
  const bdl_matrix x = bdl_f64(row.x, 1, 2), y = bdl_f64(row.y, 1, 2);
  blank_and_later(BDL_GAUSSIAN, StreamFamily::low_rank, [&](StreamLearner& learner) {
    refused(&learner, "bdl_optimizer_set_choice", BDL_ERROR_UNSUPPORTED, "family \"low_rank\"",
            [&] { return bdl_optimizer_set_choice(learner.optimizer.get(), "curvature", "mc-hess"); });
  });
  blank_and_later(BDL_GAUSSIAN, StreamFamily::diagonal, [&](StreamLearner& learner) {
    for (const char* rule : {"bong", "bog"}) {
      learner.set("rule", rule);
      bdl_optimizer* const o = learner.optimizer.get();
      refused(&learner, "bdl_optimizer_step", BDL_ERROR_UNSUPPORTED, rule,
              [&] { return bdl_optimizer_step(o, x, y); });
      refused(&learner, "bdl_optimizer_fit", BDL_ERROR_UNSUPPORTED, rule,
              [&] { return bdl_optimizer_fit(o, x, y, 1, nullptr, nullptr); });
      const Vector gradient(static_cast<std::size_t>(bdl_model_parameters(learner.model.get())), 1.0);
      refused(&learner, "bdl_optimizer_step_rows", BDL_ERROR_UNSUPPORTED, "observe the data as a stream",
              [&] {
                return bdl_optimizer_step_rows(
                    o, bdl_f64(gradient.data(), 1, static_cast<int64_t>(gradient.size())));
              });
    }
    learner.set("rule", "blr");
    refused(&learner, "bdl_optimizer_set_double", invalid,
            "\"learning_rate\" is 1.01, expected at most 1 for rule \"blr\"",
            [&] { return bdl_optimizer_set_double(learner.optimizer.get(), "learning_rate", 1.01); });
  });
}

/// Only derivatives of first order are known of a custom model.
void test_user_models(void**) {
  const auto outputs = [](void*, bdl_matrix, bdl_matrix inputs, bdl_matrix_out f) {
    for (int64_t i = 0; i < inputs.rows; ++i) static_cast<double*>(f.data)[i * f.row_stride] = 0.5;
    return 0;
  };
  const auto gradients = [](void*, bdl_matrix, bdl_matrix inputs, bdl_matrix, bdl_matrix_out rows) {
    for (int64_t i = 0; i < inputs.rows; ++i)
      for (int64_t j = 0; j < rows.cols; ++j)
        static_cast<double*>(rows.data)[i * rows.row_stride + j * rows.col_stride] = 1;
    return 0;
  };
  bdl_model* created = nullptr;
  OK(create_user(BDL_F64, 2, 1, 3, BDL_GAUSSIAN, outputs, gradients, nullptr, nullptr, &created));
  const Model model(created);
  const Posterior q = make_posterior(BDL_F64, 3, StreamFamily::full);
  bdl_optimizer* none = nullptr;
  refused(nullptr, "bdl_optimizer_create", BDL_ERROR_UNSUPPORTED,
          "the custom model has no exact second derivatives",
          [&] { return bdl_optimizer_create(model.get(), q.get(), "rvga", 1, &none); });
  const Optimizer o = make_optimizer(model, q, 1, "bong");
  const Row row;
  OK(bdl_optimizer_set_choice(o.get(), "curvature", "lin-ef"));
  OK(bdl_optimizer_observe(o.get(), bdl_f64(row.x, 1, 2), bdl_f64(row.y, 1, 1), bdl_none_out()));
}

/// Draws that fail, or leave values unwritten, or are not finite.
void test_draws(void**) {
  for (const StreamFamily family : stream_families)
    blank_and_later(BDL_GAUSSIAN, family, [](StreamLearner& learner) {
      const Row row;
      const bdl_matrix x = bdl_f64(row.x, 1, 2), y = bdl_f64(row.y, 1, 2);
      bdl_optimizer* const o = learner.optimizer.get();
      learner.set("curvature", "mc-ggn");
      OK(bdl_optimizer_set_draws(
          o, [](void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior*, bdl_matrix_out) { return 42; },
          nullptr, nullptr));
      observe_refused(learner, BDL_ERROR_CALLBACK, "returned 42, expected 0", x, y);
      OK(bdl_optimizer_set_draws(
          o,
          [](void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior* q, bdl_matrix_out draws) {
            draws.rows -= 1;
            return bdl_posterior_sample(q, 1, 0, draws) == BDL_OK ? 0 : 1;
          },
          nullptr, nullptr));
      observe_refused(learner, BDL_ERROR_CALLBACK, "left draw 1 (counting from 0) not finite", x, y);
      OK(bdl_optimizer_set_draws(o, nullptr, nullptr, nullptr));
      OK(bdl_optimizer_set_choice(o, "curvature", "lin-hess"));
    });
}

/// Steps that would lose positive definiteness, where they are not to be shortened.
void test_indefinite(void**) {
  for (const StreamFamily family : {StreamFamily::diagonal_moment, StreamFamily::full_moment}) {
    StreamLearner learner(BDL_GAUSSIAN, family);
    const double precision = 1e4;
    OK(bdl_model_set_noise_precision(learner.model.get(), bdl_f64(&precision, 1, 1)));
    learner.set("indefinite", "error");
    observe_refused(learner, BDL_ERROR_DIVERGED, "would leave", learner.x(0, 1), learner.y(0, 1));
    assert_int_equal(bdl_optimizer_shortened_steps(learner.optimizer.get()), 0);
    learner.set("indefinite", "shorten");
    learner.observe(0, 1);
    assert_int_equal(bdl_optimizer_shortened_steps(learner.optimizer.get()), 1);
  }
}

/// An error in the middle of a call leaves the state after the last block that was used whole.
void test_errors_in_the_middle(void**) {
  StreamLearner learner(BDL_GAUSSIAN, StreamFamily::full), other(BDL_GAUSSIAN, StreamFamily::full);
  const double precision = 1e4;
  learner.data.y[5 * 2] = 1e306;  // its gradient is too large for any number
  for (StreamLearner* l : {&learner, &other}) {
    l->set("block", 2);
    OK(bdl_model_set_noise_precision(l->model.get(), bdl_f64(&precision, 1, 1)));
  }
  Vector scores(8, -77);
  const bdl_status status = bdl_optimizer_observe(learner.optimizer.get(), learner.x(0, 8), learner.y(0, 8),
                                                  bdl_f64_out(scores.data(), 8, 1));
  other.observe(0, 4);
  if (status == BDL_OK) fail_msg("got success");
  assert_int_equal(status, BDL_ERROR_DIVERGED);
  assert_true(learner.state() == other.state());
  for (const double score : scores) assert_true(score == -77);
}

}  // namespace

int test_errors_online() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_null),
                              cmocka_unit_test(test_without_model),
                              cmocka_unit_test(test_data),
                              cmocka_unit_test(test_labels),
                              cmocka_unit_test(test_forecast_and_noise),
                              cmocka_unit_test(test_diverging_forecasts),
                              cmocka_unit_test(test_unsupported),
                              cmocka_unit_test(test_user_models),
                              cmocka_unit_test(test_draws),
                              cmocka_unit_test(test_indefinite),
                              cmocka_unit_test(test_errors_in_the_middle)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
