// Continual learning by a head for each task, bdl_model_set_classes(): what is trained, what is left alone,
// what is predicted and saved; and that EWC's penalties are one.
#include "file_fields.hpp"

namespace {

constexpr int64_t features = 2, examples = 40, outputs = 4;

/// Classes `first` and `first` + 1.
struct Task {
  Vector x, y;
  explicit Task(int first) : x(examples * features), y(examples) {
    for (int i = 0; i < examples; ++i) {
      y[static_cast<std::size_t>(i)] = first + i % 2;
      x[static_cast<std::size_t>(features * i)] = std::sin(3.7 * i) + (i % 2 == 0 ? -0.8 : 0.8);
      x[static_cast<std::size_t>(features * i + 1)] = std::cos(1.9 * i * (first + 1));
    }
  }
  bdl_matrix inputs(int64_t rows = examples) const { return bdl_f64(x.data(), rows, features); }
  bdl_matrix labels(int64_t rows = examples) const { return bdl_f64(y.data(), rows, 1); }
};

void set_classes(const Model& model, std::initializer_list<double> classes) {
  OK(bdl_model_set_classes(model.get(), bdl_f64(classes.begin(), 1, static_cast<int64_t>(classes.size()))));
}

Vector probabilities(const Model& model, const Posterior& q, const Task& task, bdl_predict_method method) {
  Vector p(examples * outputs, NAN), entropy(examples, NAN);
  OK(bdl_predict_classes(model.get(), q.get(), task.inputs(), method, 30, 1,
                         bdl_f64_out(p.data(), examples, outputs), bdl_f64_out(entropy.data(), examples, 1),
                         bdl_none_out()));
  for (const double h : entropy) assert_true(h >= 0 && h <= std::log(2.0) + 1e-12);
  return p;
}

/// The outputs that are no classes might not be there: the same training as with those that are.
void test_training_is_that_of_fewer_outputs(void**) {
  const Task task(0);
  Task mapped(0);
  for (double& label : mapped.y) label = label == 0 ? 1 : 3;
  const Model some = make_mlp(BDL_F64, {features, outputs}, BDL_CATEGORICAL),
              whole = make_mlp(BDL_F64, {features, 2}, BDL_CATEGORICAL);
  set_classes(some, {3, 1});
  const int64_t large = bdl_model_parameters(some.get()), small = bdl_model_parameters(whole.get());
  for (const char* method : {"map", "slang-ggn", "vogn", "von"}) {
    Vector means[2];
    for (const bool masked : {false, true}) {
      const Model& model = masked ? some : whole;
      const int64_t d = masked ? large : small;
      const Posterior q = make_posterior(BDL_F64, d, 0);
      const Optimizer optimizer = make_optimizer(model, q, examples, method);
      OK(bdl_optimizer_set_text(optimizer.get(), "learn_prior=0 initialization=zero minibatch=40"));
      OK(bdl_optimizer_set_draws(
          optimizer.get(),  // the mean: draws have as many numbers as there are parameters
          [](void*, bdl_draw_kind, int64_t, int64_t, const bdl_posterior* of, bdl_matrix_out draws) {
            for (int64_t s = 0; s < draws.rows; ++s) {
              bdl_matrix_out row = draws;
              row.rows = 1;
              row.data = static_cast<double*>(draws.data) + s * draws.row_stride;
              if (bdl_posterior_mean(of, row) != BDL_OK) return 1;
            }
            return 0;
          },
          nullptr, nullptr));
      const Task& data = masked ? mapped : task;
      OK(bdl_optimizer_fit(optimizer.get(), data.inputs(), data.labels(), 30, nullptr, nullptr));
      means[masked] = mean_of(q);
    }
    const int rows[] = {1, 3};
    for (std::size_t k = 0; k < 2; ++k) {
      const auto row = static_cast<std::size_t>(rows[k]);
      for (std::size_t j = 0; j < features; ++j)
        assert_close(means[1][row * features + j], means[0][k * features + j], 1e-12, method);
      assert_close(means[1][outputs * features + row], means[0][2 * features + k], 1e-12, method);
    }
  }
}

/// Weights of heads whose task has not come stay what the prior says, exactly, where training goes on from
/// it.
void test_other_heads_stay_at_the_prior(void**) {
  const Model model = make_mlp(BDL_F64, {features, 3, outputs}, BDL_CATEGORICAL);
  const int64_t d = bdl_model_parameters(model.get());
  const std::size_t weights = features * 3 + 3, biases = weights + 3 * outputs;
  Vector mean(static_cast<std::size_t>(d)), precision(mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean[i] = 0.5 * std::sin(5.0 * static_cast<double>(i));
    precision[i] = 1 + 0.5 * std::cos(static_cast<double>(i));
  }
  const Posterior prior = make_posterior(BDL_F64, d, 0);
  OK(bdl_posterior_set_low_rank(prior.get(), bdl_f64(mean.data(), 1, d), bdl_none(),
                                bdl_f64(precision.data(), 1, d)));
  set_classes(model, {0, 1});
  const Task task(0);
  for (const char* method : {"slang-ggn", "von"}) {
    bdl_posterior* copy = nullptr;
    OK(bdl_posterior_copy(prior.get(), &copy));
    const Posterior q(copy);
    const Optimizer optimizer = make_optimizer(model, q, examples, method);
    OK(bdl_optimizer_set_prior_posterior(optimizer.get(), prior.get()));
    OK(bdl_optimizer_fit(optimizer.get(), task.inputs(), task.labels(), 20, nullptr, nullptr));
    const Vector now = mean_of(q), variance = variance_of(q);
    assert_true(std::fabs(now[weights] - mean[weights]) > 1e-3);
    for (const std::size_t head : {std::size_t{2}, std::size_t{3}}) {
      for (std::size_t i = weights + 3 * head; i < weights + 3 * head + 3; ++i) {
        assert_close(now[i], mean[i], 1e-12, method);
        assert_close(variance[i] * precision[i], 1, 1e-12, method);
      }
      assert_close(now[biases + head], mean[biases + head], 1e-12, method);
    }
  }
}

Learner trained_head() {
  Learner l(make_mlp(BDL_F64, {features, 3, outputs}, BDL_CATEGORICAL), BDL_F64, 2, examples);
  set_classes(l.model, {1, 2});
  const Task task(1);
  l.fit(task.inputs(), task.labels(), 5);
  return l;
}

void test_predictions_are_of_the_classes(void**) {
  const Learner l = trained_head();
  const Task task(1);
  for (const bdl_predict_method method :
       {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_LINEARIZED, BDL_LINEARIZED_MONTE_CARLO}) {
    const Vector p = probabilities(l.model, l.posterior, task, method);
    for (std::size_t i = 0; i < examples; ++i) {
      assert_true(p[outputs * i] == 0 && p[outputs * i + 3] == 0);
      assert_close(p[outputs * i + 1] + p[outputs * i + 2], 1, 1e-12, "sum of probabilities");
    }
    if (method == BDL_PLUG_IN) continue;
    Vector draws(examples * 30, NAN);
    OK(bdl_predict_draws_by(l.model.get(), l.posterior.get(), task.inputs(), method, 30, 1,
                            bdl_f64_out(draws.data(), examples, 30)));
    for (const double draw : draws) assert_true(draw == 1 || draw == 2);
  }
  Vector density(examples, NAN);
  OK(bdl_predict_log_density(l.model.get(), l.posterior.get(), task.inputs(), task.labels(), BDL_PLUG_IN, 0,
                             0, bdl_f64_out(density.data(), examples, 1)));
  const Vector p = probabilities(l.model, l.posterior, task, BDL_PLUG_IN);
  for (std::size_t i = 0; i < examples; ++i)
    assert_close(density[i], std::log(p[outputs * i + static_cast<std::size_t>(task.y[i])]), 1e-12, "log p");
  const Task other(0);
  assert_int_equal(bdl_predict_log_density(l.model.get(), l.posterior.get(), other.inputs(), other.labels(),
                                           BDL_PLUG_IN, 0, 0, bdl_f64_out(density.data(), examples, 1)),
                   BDL_ERROR_LABEL);
  assert_int_equal(bdl_optimizer_fit(l.optimizer.get(), other.inputs(), other.labels(), 1, nullptr, nullptr),
                   BDL_ERROR_LABEL);
}

/// A stream learns and scores by them; copies and predictors keep them, files too.
void test_copies_and_files_have_the_classes(void**) {
  const Learner l = trained_head();
  const Task task(1);
  bdl_model* copy = nullptr;
  OK(bdl_model_copy(l.model.get(), &copy));
  const Model copied(copy);
  bdl_predictor* predictor = nullptr;
  OK(bdl_predictor_create(l.model.get(), l.posterior.get(), BDL_PLUG_IN, 0, 0, &predictor));
  int64_t size = 0;
  OK(bdl_save_bytes(l.model.get(), l.posterior.get(), l.optimizer.get(), nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), ' ');
  OK(bdl_save_bytes(l.model.get(), l.posterior.get(), l.optimizer.get(), bytes.data(), size, &size));
  const Vector before = probabilities(l.model, l.posterior, task, BDL_PLUG_IN);
  OK(bdl_model_set_classes(l.model.get(), bdl_none()));
  assert_int_equal(bdl_model_class_count(l.model.get()), outputs);
  bdl_model* read = nullptr;
  bdl_optimizer* resumed = nullptr;
  OK(bdl_load_bytes(bytes.data(), size, nullptr, &read, nullptr, &resumed));
  const Model loaded(read);
  const Optimizer optimizer(resumed);
  for (const Model* model : {&copied, &loaded}) {
    assert_int_equal(bdl_model_class_count(model->get()), 2);
    assert_true(probabilities(*model, l.posterior, task, BDL_PLUG_IN) == before);
  }
  Vector p(examples * outputs, NAN);
  OK(bdl_predictor_classes(predictor, task.inputs(), bdl_f64_out(p.data(), examples, outputs), bdl_none_out(),
                           bdl_none_out()));
  assert_true(p == before);
  bdl_predictor_free(predictor);
  OK(bdl_optimizer_fit(optimizer.get(), task.inputs(), task.labels(), 1, nullptr, nullptr));
  for (const char* wrong : {"", "1", "2 1", "1 1", "1 4", "-1 2", "1 x"})
    assert_loads(with_value(bytes, "model.classes", wrong), false);
  assert_loads(with_value(bytes, "model.classes", "0 1 3"), true);
}

void test_streams_learn_heads(void**) {
  const Model model = make_mlp(BDL_F64, {features, outputs}, BDL_CATEGORICAL);
  constexpr std::size_t d = outputs * (features + 1);
  const Posterior q = make_posterior(BDL_F64, d, FULL);
  Vector zero(d), identity(d * d);
  for (std::size_t i = 0; i < d; ++i) identity[i * (d + 1)] = 1;
  OK(bdl_posterior_set_full(q.get(), bdl_f64(zero.data(), 1, d), bdl_f64(identity.data(), d, d)));
  const Optimizer optimizer = make_optimizer(model, q, 1, "bong");
  for (const int first : {0, 2}) {
    const Task task(first);
    set_classes(model, {static_cast<double>(first), static_cast<double>(first + 1)});
    Vector scores(examples, NAN);
    OK(bdl_optimizer_observe(optimizer.get(), task.inputs(), task.labels(),
                             bdl_f64_out(scores.data(), examples, 1)));
    double last = 0;
    for (std::size_t i = examples / 2; i < examples; ++i) last += scores[i] / (examples / 2);
    assert_close(scores[0], -std::log(2.0), 1e-12, "score of what is not known");
    assert_true(last > -std::log(2.0));
  }
}

/// sum_k (w - w_k)^T F_k (w - w_k) / 2 is, but for a constant, the penalty of their sum around their mean.
void test_merged_penalties_are_their_sum(void**) {
  constexpr int64_t d = 6;
  Vector sum(d), weighed(d), anchor(d);
  std::vector<Posterior> penalties;
  for (int k = 0; k < 3; ++k) {
    Vector mode(d), fisher(d);
    for (std::size_t i = 0; i < d; ++i) {
      mode[i] = std::sin(2.0 * k + static_cast<double>(i));
      fisher[i] = 1 + std::cos(1.0 + k * static_cast<double>(i));
      sum[i] += fisher[i];
      weighed[i] += fisher[i] * mode[i];
      anchor[i] = weighed[i] / sum[i];
    }
    penalties.push_back(make_posterior(BDL_F64, d, 0));
    OK(bdl_posterior_set_low_rank(penalties.back().get(), bdl_f64(mode.data(), 1, d), bdl_none(),
                                  bdl_f64(fisher.data(), 1, d)));
  }
  const Posterior merged = make_posterior(BDL_F64, d, 0);
  OK(bdl_posterior_set_low_rank(merged.get(), bdl_f64(anchor.data(), 1, d), bdl_none(),
                                bdl_f64(sum.data(), 1, d)));
  const auto density = [](const Posterior& q, const Vector& w) {
    double value = NAN;
    OK(bdl_posterior_log_density(q.get(), bdl_f64(w.data(), 1, d), bdl_f64_out(&value, 1, 1)));
    return value;
  };
  const Vector origin(d);
  for (int trial = 0; trial < 5; ++trial) {
    Vector w(d);
    for (std::size_t i = 0; i < d; ++i) w[i] = 3 * std::sin(7.0 * trial + 3.0 * static_cast<double>(i));
    double expected = 0;
    for (const Posterior& penalty : penalties) expected += density(penalty, w) - density(penalty, origin);
    const double got = density(merged, w) - density(merged, origin);
    assert_close(got, expected, 1e-9 * std::fabs(expected), "merged penalty");
  }
}

}  // namespace

int test_heads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_training_is_that_of_fewer_outputs),
      cmocka_unit_test(test_other_heads_stay_at_the_prior),
      cmocka_unit_test(test_predictions_are_of_the_classes),
      cmocka_unit_test(test_copies_and_files_have_the_classes),
      cmocka_unit_test(test_streams_learn_heads),
      cmocka_unit_test(test_merged_penalties_are_their_sum),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
