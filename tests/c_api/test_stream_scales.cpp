// Scales that a stream learns from its first rows: what it has learned is what a filter learns that has known
// them, however the rows arrive; failed calls change nothing; files keep what is needed to go on.
#include <cstring>

#include "stream_runs.hpp"

namespace {

constexpr int columns = 3, most_rows = 60;

/// Rows whose columns have sizes of their own.
struct Rows {
  Vector x, y;
  Rows() : x(columns * most_rows), y(most_rows) {
    for (int i = 0; i < most_rows; ++i) {
      double* const row = x.data() + i * columns;
      row[0] = 5e4 + 1000 * sin(1.7 * i);
      row[1] = cos(2.3 * i + 1);
      row[2] = 1 + 0.01 * sin(0.9 * i * i);
      y[static_cast<std::size_t>(i)] = 2e4 + 3 * (row[0] - 5e4) + 500 * row[1] + 100 * sin(77.0 * i);
    }
  }
  bdl_matrix inputs(int first, int count) const {
    return bdl_f64(x.data() + columns * first, count, columns);
  }
  bdl_matrix targets(int first, int count) const { return bdl_f64(y.data() + first, count, 1); }
};

Learner stream(const char* method = "lo-fi", int64_t hidden = 4) {
  Model model = hidden > 0 ? make_mlp(BDL_F64, {columns, hidden, 1}, BDL_GAUSSIAN)
                           : make_mlp(BDL_F64, {columns, 1}, BDL_GAUSSIAN);
  Learner learner(std::move(model), BDL_F64, hidden > 0 ? 2 : FULL, 1, method);
  learner.set("stream_scales", "learned");
  if (hidden == 0) learner.set("initialization", "zero");
  return learner;
}

Vector observe(Learner& learner, const Rows& rows, int first, int count) {
  Vector scores(static_cast<std::size_t>(count));
  OK(bdl_optimizer_observe(learner.optimizer.get(), rows.inputs(first, count), rows.targets(first, count),
                           bdl_f64_out(scores.data(), count, 1)));
  return scores;
}

struct Scales {
  Vector mean = Vector(columns), scale = Vector(columns);
  double target_mean = 0, target_scale = 0;
};

Scales scales_of(const Learner& learner) {
  Scales s;
  OK(bdl_model_get_standardization(learner.model.get(), bdl_f64_out(s.mean.data(), 1, columns),
                                   bdl_f64_out(s.scale.data(), 1, columns), bdl_f64_out(&s.target_mean, 1, 1),
                                   bdl_f64_out(&s.target_scale, 1, 1)));
  return s;
}

void give(Learner& learner, const Scales& s) {
  OK(bdl_model_set_standardization(learner.model.get(), bdl_f64(s.mean.data(), 1, columns),
                                   bdl_f64(s.scale.data(), 1, columns), bdl_f64(&s.target_mean, 1, 1),
                                   bdl_f64(&s.target_scale, 1, 1)));
}

double noise_of(const Learner& learner) {
  double precision = 0;
  OK(bdl_model_get_noise_precision(learner.model.get(), bdl_f64_out(&precision, 1, 1)));
  return precision;
}

void assert_same(const Learner& got, const Learner& expected) {
  assert_true(moments_of(got.posterior) == moments_of(expected.posterior));
  assert_true(noise_of(got) == noise_of(expected));
}

/// At any time, and whether rows come one by one or not, with the time that passes between them.
void filter_is_one_that_has_known_the_scales(void**) {
  const Rows rows;
  for (const int block : {1, 3, 7, 50})
    for (const char* method : {"lo-fi", "bong"}) {
      Learner learned = stream(method);
      learned.set("process_noise", 1e-4);
      for (int first = 0; first + block <= 55; first += block) {
        if (first % 2 == 1) OK(bdl_optimizer_forecast(learned.optimizer.get(), 2));
        observe(learned, rows, first, block);
        Learner known = stream(method);
        known.set("process_noise", 1e-4);
        give(known, scales_of(learned));
        for (int k = 0; k <= first; k += block) {
          if (k % 2 == 1) OK(bdl_optimizer_forecast(known.optimizer.get(), 2));
          observe(known, rows, k, block);
        }
        assert_same(learned, known);
      }
    }
}

void scales_settle_after_enough_rows(void**) {
  const Rows rows;
  Learner one_by_one = stream(), together = stream(), standardized = stream();
  for (int i = 0; i < 20; ++i) observe(one_by_one, rows, i, 1);
  observe(together, rows, 0, 20);
  OK(bdl_model_standardize(standardized.model.get(), rows.inputs(0, 20), rows.targets(0, 20)));
  const Scales first = scales_of(one_by_one), of_block = scales_of(together),
               of_data = scales_of(standardized);
  for (std::size_t c = 0; c < columns; ++c) {
    assert_true(of_block.mean[c] == of_data.mean[c] && of_block.scale[c] == of_data.scale[c]);
    assert_close(first.scale[c], of_data.scale[c], 1e-12 * of_data.scale[c], "scale");
  }
  observe(one_by_one, rows, 20, 40);
  observe(together, rows, 20, 40);
  assert_true(scales_of(one_by_one).scale == first.scale && scales_of(together).scale == of_block.scale);
  int64_t count = 0;
  OK(bdl_optimizer_prequential(one_by_one.optimizer.get(), &count, nullptr, nullptr));
  assert_int_equal(count, 60);
}

/// A target that does not vary yet is waited for: 100 rows, then it is a constant.
void constant_targets_are_waited_for(void**) {
  Rows rows;
  std::fill_n(rows.y.begin(), 30, 7.0);
  Learner learner = stream();
  for (int i = 0; i < 30; i += 5) observe(learner, rows, i, 5);
  assert_true(scales_of(learner).target_scale == 7);
  observe(learner, rows, 30, 5);
  const double settled = scales_of(learner).target_scale;
  assert_true(settled > 1000);
  observe(learner, rows, 35, 5);
  assert_true(scales_of(learner).target_scale == settled);
  Rows constant;
  std::fill(constant.y.begin(), constant.y.end(), 7.0);
  Learner of_constant = stream();
  for (int i = 0; i < 2; ++i) observe(of_constant, constant, 0, most_rows);
  double mean = 0;
  OK(bdl_predict(of_constant.model.get(), of_constant.posterior.get(), constant.inputs(0, 1), BDL_LINEARIZED,
                 0, 0, bdl_f64_out(&mean, 1, 1), bdl_none_out(), bdl_none_out()));
  assert_close(mean, 7, 1e-6, "mean");
}

/// An input that has been constant has scale 1 until it varies; its scale may rise, and settles.
void late_inputs_get_a_scale(void**) {
  Rows rows;
  for (int i = 0; i < 30; ++i) rows.x[static_cast<std::size_t>(i * columns + 1)] = 5;
  const auto late = [&](int i) -> double& { return rows.x[static_cast<std::size_t>(i * columns + 1)]; };
  for (int i = 30; i < 60; ++i) late(i) = 5 + (i % 2 == 0 ? 300 : -300);
  late(30) = 4;  // less than what follows
  Learner learner = stream();
  observe(learner, rows, 0, 30);
  assert_true(scales_of(learner).scale[1] == 1 && scales_of(learner).mean[1] == 5);
  observe(learner, rows, 30, 1);
  assert_true(scales_of(learner).scale[1] == 1);
  observe(learner, rows, 31, 2);
  assert_close(scales_of(learner).scale[1], 300, 1e-9, "scale");
  observe(learner, rows, 33, 20);
  late(53) = 1e6;
  observe(learner, rows, 53, 1);
  assert_close(scales_of(learner).scale[1], 300, 1e-9, "scale");
}

/// Targets that overflow in float fail after scales were chosen for them.
void failed_calls_change_nothing(void**) {
  Rows rows;
  for (const int before : {0, 5, 40}) {
    Learner learner = stream();
    learner.set("learning_rate", 1.0);
    if (before > 0) observe(learner, rows, 0, before);
    const std::string state = state_of(learner.optimizer.get());
    Vector x(rows.x.begin(), rows.x.begin() + 2 * columns), y = {1e300, -1e300};
    x[1] = 1e200;
    assert_true(bdl_optimizer_observe(learner.optimizer.get(), bdl_f64(x.data(), 2, columns),
                                      bdl_f64(y.data(), 2, 1), bdl_none_out()) != BDL_OK);
    assert_true(state_of(learner.optimizer.get()) == state);
  }
}

void files_keep_the_first_rows(void**) {
  Rows rows;
  for (int i = 0; i < 25; ++i) rows.x[static_cast<std::size_t>(i * columns + 1)] = 5;
  Learner straight = stream(), resumed = stream();
  for (int i = 0; i < 40; ++i) {
    for (Learner* learner : {&straight, &resumed}) {
      if (i % 5 == 3) OK(bdl_optimizer_forecast(learner->optimizer.get(), 1));
      if (learner == &resumed) {
        const TemporaryFile file;
        OK(bdl_save(file.path(), nullptr, nullptr, resumed.optimizer.get()));
        bdl_model* model = nullptr;
        bdl_posterior* q = nullptr;
        bdl_optimizer* o = nullptr;
        OK(bdl_load(file.path(), nullptr, &model, &q, &o));
        resumed = Learner(Model(model), Posterior(q), Optimizer(o));
      }
      observe(*learner, rows, i, 1);
    }
    assert_true(state_of(straight.optimizer.get()) == state_of(resumed.optimizer.get()));
  }
}

/// The model's scales, a posterior that was set, and option "given" are the caller's word.
void given_scales_stay(void**) {
  const Rows rows;
  Learner standardized = stream(), plain = stream(), set = stream("ekf", 0);
  OK(bdl_model_standardize(standardized.model.get(), rows.inputs(0, 5), rows.targets(0, 5)));
  plain.set("stream_scales", "given");
  const Vector zero(columns + 1);
  Vector precision((columns + 1) * (columns + 1));
  for (std::size_t c = 0; c <= columns; ++c) precision[c * (columns + 2)] = 1;
  OK(bdl_posterior_set_full(set.posterior.get(), bdl_f64(zero.data(), 1, columns + 1),
                            bdl_f64(precision.data(), columns + 1, columns + 1)));
  const Scales before = scales_of(standardized);
  for (Learner* learner : {&standardized, &plain, &set}) observe(*learner, rows, 5, 1);
  assert_true(scales_of(standardized).scale == before.scale && scales_of(plain).scale == Vector(columns, 1) &&
              scales_of(set).scale == Vector(columns, 1));
}

/// A linear model's filter by rows and by blocks is the posterior of all rows at once, for a noise that is
/// known: the least squares of the prior, by elimination.
void linear_filter_is_exact(void**) {
  const Rows rows;
  const double precision = 1e-4;
  for (const int block : {1, 4, 60}) {
    Learner learner = stream("ekf", 0);
    learner.set("bias_prior_precision", 0.01);
    OK(bdl_model_set_noise_precision(learner.model.get(), bdl_f64(&precision, 1, 1)));
    for (int i = 0; i < most_rows; i += block) observe(learner, rows, i, block);
    const Scales s = scales_of(learner);
    constexpr int size = columns + 1;
    double a[size][size + 1] = {};
    for (int c = 0; c < size; ++c) a[c][c] = c < columns ? 1 : 0.01;
    const double tau = precision * s.target_scale * s.target_scale;
    for (int i = 0; i < most_rows; ++i) {
      double z[size + 1];
      for (int c = 0; c < columns; ++c) {
        const auto k = static_cast<std::size_t>(c);
        z[c] = (rows.x[static_cast<std::size_t>(i * columns + c)] - s.mean[k]) / s.scale[k];
      }
      z[columns] = 1;
      z[size] = (rows.y[static_cast<std::size_t>(i)] - s.target_mean) / s.target_scale;
      for (int c = 0; c < size; ++c)
        for (int b = 0; b <= size; ++b) a[c][b] += tau * z[c] * z[b];
    }
    for (int c = 0; c < size; ++c)
      for (int r = 0; r < size; ++r)
        if (r != c)
          for (int b = size; b >= c; --b) a[r][b] -= a[r][c] / a[c][c] * a[c][b];
    const Vector mean = mean_of(learner.posterior);
    for (int c = 0; c < size; ++c)
      assert_close(mean[static_cast<std::size_t>(c)], a[c][size] / a[c][c], 1e-9, "mean");
  }
}

}  // namespace

int test_stream_scales() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(filter_is_one_that_has_known_the_scales),
      cmocka_unit_test(scales_settle_after_enough_rows),
      cmocka_unit_test(constant_targets_are_waited_for),
      cmocka_unit_test(late_inputs_get_a_scale),
      cmocka_unit_test(failed_calls_change_nothing),
      cmocka_unit_test(files_keep_the_first_rows),
      cmocka_unit_test(given_scales_stay),
      cmocka_unit_test(linear_filter_is_exact),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
