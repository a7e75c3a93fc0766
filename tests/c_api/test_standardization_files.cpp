// Standardisation in checkpoints: kept exactly, checked when loaded, and absent if the model has none.
#include "file_fields.hpp"
#include "standardized_runs.hpp"

namespace {

/// A fit that was stopped, saved and loaded goes on with identical results, in the same units.
void checkpoints_resume(void**) {
  for (const bdl_dtype dtype : {BDL_F64, BDL_F32})
    for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_CATEGORICAL}) {
      Twins t(dtype, likelihood);
      t.set("minibatch", 7);
      t.set("progress_every", 1);
      const auto stop = [](void*, const bdl_optimizer* o) {
        int64_t step = 0;
        OK(bdl_optimizer_progress(o, &step, nullptr, nullptr));
        return step == 5 ? 1 : 0;
      };
      assert_int_equal(bdl_optimizer_fit(t.inside.optimizer.get(), t.x.view(), t.y.view(), 4, stop, nullptr),
                       BDL_STOPPED);
      const TemporaryFile file;
      OK(bdl_save(file.path(), nullptr, nullptr, t.inside.optimizer.get()));
      bdl_model* model = nullptr;
      bdl_posterior* q = nullptr;
      bdl_optimizer* o = nullptr;
      OK(bdl_load(file.path(), nullptr, &model, &q, &o));
      const Learner loaded{Model(model), Posterior(q), Optimizer(o)};
      assert_true(units_of(model).x_mean.values == t.units.x_mean.values);
      assert_true(units_of(model).y_scale.values == t.units.y_scale.values);
      OK(bdl_optimizer_fit(o, t.x.view(), t.y.view(), 0, nullptr, nullptr));
      OK(bdl_optimizer_fit(t.inside.optimizer.get(), t.x.view(), t.y.view(), 0, nullptr, nullptr));
      assert_true(state_of(o) == state_of(t.inside.optimizer.get()));
      t.by_hand.fit(t.x_hand.view(), t.y_hand.view(), 4);
      assert_true(moments_of(loaded.posterior) == moments_of(t.by_hand.posterior));
    }
}

/// Swaps two names in the header.
std::string renamed(std::string file, const std::string& a, const std::string& b) {
  const std::size_t at_a = file.find('"' + a + '"'), at_b = file.find('"' + b + '"');
  assert_true(at_a < at_b && at_b != std::string::npos);
  return file.replace(at_b + 1, b.size(), a).replace(at_a + 1, a.size(), b);
}

void hostile_files_are_refused(void**) {
  const double mean[] = {0.25, 0.7654321}, scale[] = {3, 0.123456789}, y_mean = 5, y_scale = 2;
  const Learner l(make_mlp(BDL_F64, {INPUTS, 3, 1}, BDL_GAUSSIAN), BDL_F64, 2, ROWS);
  OK(bdl_model_set_standardization(l.model.get(), bdl_f64(mean, 1, 2), bdl_f64(scale, 1, 2),
                                   bdl_f64(&y_mean, 1, 1), bdl_f64(&y_scale, 1, 1)));
  const std::string good = unchecked(state_of(l.optimizer.get()));
  assert_loads(good, true);
  const auto with_number = [&](double old, double value) {
    std::string file = good;
    const std::size_t at = file.find(std::string(reinterpret_cast<const char*>(&old), sizeof old));
    assert_true(at != std::string::npos);
    memcpy(file.data() + at, &value, sizeof value);
    return file;
  };
  assert_loads(with_number(scale[1], 0.5), true);
  for (const double bad : {0.0, -1.0, 1e-200, 1e200, double{NAN}, double{INFINITY}})
    assert_loads(with_number(scale[1], bad), false);
  for (const double bad : {double{NAN}, -double{INFINITY}}) assert_loads(with_number(mean[1], bad), false);
  assert_loads(renamed(good, "model.input_mean", "model.target_mean"), false);  // 2 numbers, not 1
  assert_loads(renamed(good, "model.input_scale", "model.target_scale"), false);
  assert_loads(with_value(good, "model.likelihood", "poisson"), false);  // has no units of y
  std::string incomplete = good;
  incomplete[good.find("\"model.target_scale") + 1] = 'x';
  assert_loads(incomplete, false);
}

/// Standardisation by 0 and 1 is none, and a file says nothing of one that was never set.
void without_it_nothing_changes(void**) {
  const auto [x, y] = odd_data(BDL_GAUSSIAN);
  Learner plain(make_mlp(BDL_F64, {INPUTS, 3, 2}, BDL_GAUSSIAN), BDL_F64, 2, ROWS),
      trivial(make_mlp(BDL_F64, {INPUTS, 3, 2}, BDL_GAUSSIAN), BDL_F64, 2, ROWS);
  const Table zero = table(1, 2, 0), one = table(1, 2, 1);
  OK(bdl_model_set_standardization(trivial.model.get(), zero.view(), one.view(), zero.view(), one.view()));
  plain.fit(x.view(), y.view(), 3);
  trivial.fit(x.view(), y.view(), 3);
  assert_true(moments_of(plain.posterior) == moments_of(trivial.posterior));
  const std::string file = state_of(plain.optimizer.get());
  assert_true(file.find("input_mean") == std::string::npos && file.find("target_scale") == std::string::npos);
  OK(bdl_model_set_standardization(trivial.model.get(), bdl_none(), bdl_none(), bdl_none(), bdl_none()));
  assert_true(file == state_of(trivial.optimizer.get()));
}

}  // namespace

int test_standardization_files() {
  const CMUnitTest tests[] = {cmocka_unit_test(checkpoints_resume),
                              cmocka_unit_test(hostile_files_are_refused),
                              cmocka_unit_test(without_it_nothing_changes)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
