// Every function with outputs: two of them in one place, one over an input, and one outside of the address
// space are refused and nothing is written; interleaved ones are what apart ones are.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "handles.hpp"

namespace {

constexpr int64_t inputs = 3, outputs = 2, rows = 6;

struct Size {
  int64_t rows, cols;
};

/// The inputs that a call reads, by name; and its outputs.
struct Case {
  const char* name;
  std::vector<Size> out;
  std::function<bdl_status(const std::vector<bdl_matrix_out>&, bdl_matrix x)> call;
  bool reads_x = true;
};

struct Things {
  Model model, classifier;
  Posterior posterior, of_classifier;
  Optimizer optimizer;
  bdl_predictor *predictor = nullptr, *class_predictor = nullptr;
  Dataset dataset;
  Vector y = Vector(rows * outputs, 0.25), one_zero = Vector(rows), parameters;
  int64_t dimension;

  Things()
      : model(make_mlp(BDL_F64, {inputs, 4, outputs}, BDL_GAUSSIAN)),
        classifier(make_mlp(BDL_F64, {inputs, 4, 3}, BDL_CATEGORICAL)),
        posterior(make_posterior(BDL_F64, bdl_model_parameters(model.get()), 2)),
        of_classifier(make_posterior(BDL_F64, bdl_model_parameters(classifier.get()), 2)),
        optimizer(make_optimizer(model, posterior, rows, "lo-fi")),
        parameters(static_cast<std::size_t>(bdl_model_parameters(model.get())), 0.1),
        dimension(bdl_model_parameters(model.get())) {
    for (std::size_t i = 0; i < one_zero.size(); ++i) one_zero[i] = static_cast<double>(i % 2);
    OK(bdl_optimizer_initialize(optimizer.get()));
    OK(bdl_predictor_create(model.get(), posterior.get(), BDL_MONTE_CARLO, 4, 1, &predictor));
    OK(bdl_predictor_create(classifier.get(), of_classifier.get(), BDL_MONTE_CARLO, 4, 1, &class_predictor));
  }
  ~Things() {
    bdl_predictor_free(predictor);
    bdl_predictor_free(class_predictor);
  }
  Things(const Things&) = delete;
  Things& operator=(const Things&) = delete;
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, outputs); }
  bdl_matrix theta() const { return bdl_f64(parameters.data(), 1, dimension); }
};

std::vector<Case> predictions(Things& t) {
  const Size means{rows, outputs}, ones{rows, 1}, classes{rows, 3}, squares{rows, outputs * outputs};
  const auto *m = t.model.get(), *c = t.classifier.get();
  const auto *q = t.posterior.get(), *r = t.of_classifier.get();
  auto *p = t.predictor, *k = t.class_predictor;
  static const double levels[] = {0.1, 0.9};
  const bdl_matrix at = bdl_f64(levels, 1, 2);
  return {
      {"predict",
       {means, means, means},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict(m, q, x, BDL_MONTE_CARLO, 4, 1, o[0], o[1], o[2]);
       }},
      {"quantiles",
       {{rows, 2 * outputs}},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_quantiles(m, q, x, BDL_PLUG_IN, 0, 1, at, o[0]);
       }},
      {"interval",
       {means, means},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_interval(m, q, x, BDL_PLUG_IN, 0, 1, 0.9, o[0], o[1]);
       }},
      {"classes",
       {classes, ones, ones},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_classes(c, r, x, BDL_MONTE_CARLO, 4, 1, o[0], o[1], o[2]);
       }},
      {"log density",
       {ones},
       [=, &t](const auto& o, bdl_matrix x) {
         return bdl_predict_log_density(m, q, x, t.targets(), BDL_PLUG_IN, 0, 1, o[0]);
       }},
      {"draws",
       {{rows, 3 * outputs}},
       [=](const auto& o, bdl_matrix x) { return bdl_predict_draws(m, q, x, 3, 1, o[0]); }},
      {"draws by",
       {{rows, 3 * outputs}},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_draws_by(m, q, x, BDL_LINEARIZED, 3, 1, o[0]);
       }},
      {"quantiles of the mean",
       {{rows, 2 * outputs}},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_quantiles_of(m, q, x, BDL_LINEARIZED, 0, 1, BDL_QUANTITY_MEAN, at, o[0]);
       }},
      {"draws of the link",
       {{rows, 3 * outputs}},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predict_draws_of(m, q, x, BDL_LINEARIZED, 3, 1, BDL_QUANTITY_LINK, o[0]);
       }},
      {"output distribution",
       {means, squares},
       [=](const auto& o, bdl_matrix x) { return bdl_predict_output_distribution(m, q, x, o[0], o[1]); }},
      {"leverage",
       {ones, ones},
       [=](const auto& o, bdl_matrix x) { return bdl_predict_leverage(m, q, x, o[0], o[1]); }},
      {"predictor's moments",
       {means, means, means},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_moments(p, x, o[0], o[1], o[2]); }},
      {"predictor's quantiles",
       {{rows, 2 * outputs}},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_quantiles(p, x, at, o[0]); }},
      {"predictor's interval",
       {means, means},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_interval(p, x, 0.9, o[0], o[1]); }},
      {"predictor's classes",
       {classes, ones, ones},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_classes(k, x, o[0], o[1], o[2]); }},
      {"predictor's log density",
       {ones},
       [=, &t](const auto& o, bdl_matrix x) { return bdl_predictor_log_density(p, x, t.targets(), o[0]); }},
      {"predictor's draws",
       {{rows, 4 * outputs}},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_draws(p, x, o[0]); }},
      {"predictor's quantiles of the link",
       {{rows, 2 * outputs}},
       [=](const auto& o, bdl_matrix x) {
         return bdl_predictor_quantiles_of(p, x, BDL_QUANTITY_LINK, at, o[0]);
       }},
      {"predictor's draws of the mean",
       {{rows, 4 * outputs}},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_draws_of(p, x, BDL_QUANTITY_MEAN, o[0]); }},
      {"predictor's output distribution",
       {means, squares},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_output_distribution(p, x, o[0], o[1]); }},
      {"predictor's leverage",
       {ones, ones},
       [=](const auto& o, bdl_matrix x) { return bdl_predictor_leverage(p, x, o[0], o[1]); }},
  };
}

std::vector<Case> models_and_posteriors(Things& t) {
  const int64_t d = t.dimension;
  const Size vector{1, d}, means{rows, outputs}, ones{rows, 1}, in{1, inputs}, out{1, outputs};
  const auto* m = t.model.get();
  const auto* q = t.posterior.get();
  auto* o = t.optimizer.get();
  return {
      {"evaluate",
       {means},
       [=, &t](const auto& to, bdl_matrix x) { return bdl_model_evaluate(m, t.theta(), x, to[0]); }},
      {"log likelihood",
       {ones},
       [=, &t](const auto& to, bdl_matrix x) {
         return bdl_model_log_likelihood(m, t.theta(), x, t.targets(), to[0]);
       }},
      {"gradient rows",
       {{rows, d}},
       [=, &t](const auto& to, bdl_matrix x) {
         return bdl_model_gradient_rows(m, t.theta(), x, t.targets(), to[0]);
       }},
      {"Jacobian",
       {{rows * outputs, d}},
       [=, &t](const auto& to, bdl_matrix x) { return bdl_model_jacobian(m, t.theta(), x, to[0]); }},
      {"Hessian product",
       {{1, d}},
       [=, &t](const auto& to, bdl_matrix x) {
         return bdl_model_hessian_vector_product(m, t.theta(), x, t.targets(), t.theta(), to[0]);
       }},
      {"Hessian",
       {{d, d}},
       [=, &t](const auto& to, bdl_matrix x) {
         return bdl_model_hessian(m, t.theta(), x, t.targets(), to[0]);
       }},
      {"standardization",
       {in, in, out, out},
       [=](const auto& to, bdl_matrix) {
         return bdl_model_get_standardization(m, to[0], to[1], to[2], to[3]);
       },
       false},
      {"low rank",
       {{d, 2}, vector},
       [=](const auto& to, bdl_matrix) { return bdl_posterior_get_low_rank(q, to[0], to[1]); },
       false},
      {"mean", {vector}, [=](const auto& to, bdl_matrix) { return bdl_posterior_mean(q, to[0]); }, false},
      {"variance",
       {vector},
       [=](const auto& to, bdl_matrix) { return bdl_posterior_marginal_variance(q, to[0]); },
       false},
      {"precision",
       {vector},
       [=](const auto& to, bdl_matrix) { return bdl_posterior_precision_diagonal(q, to[0]); },
       false},
      {"draws of parameters",
       {{4, d}},
       [=](const auto& to, bdl_matrix) { return bdl_posterior_sample(q, 1, 0, to[0]); },
       false},
      {"tensor",
       {{d, 2}},
       [=](const auto& to, bdl_matrix) { return bdl_posterior_get_tensor(q, 1, to[0]); },
       false},
      {"observe",
       {ones},
       [=, &t](const auto& to, bdl_matrix x) { return bdl_optimizer_observe(o, x, t.targets(), to[0]); }},
      {"calibration curve",
       {{4, 3}},
       [=, &t](const auto& to, bdl_matrix x) {
         bdl_matrix p = x;
         p.cols = 1;
         return bdl_metric_calibration_curve(p, bdl_f64(t.one_zero.data(), rows, 1), to[0]);
       }},
      {"temperature",
       {{rows, inputs}},
       [=](const auto& to, bdl_matrix x) { return bdl_temperature_apply(x, 2, to[0]); }},
      {"ROC curve",
       {{rows + 3, 3}},
       [=](const auto& to, bdl_matrix x) {
         static const double negative[] = {0.3, 0.1};
         bdl_matrix positive = x;
         positive.cols = 1;
         return bdl_metric_roc_curve(positive, bdl_f64(negative, 2, 1), to[0]);
       }},
  };
}

constexpr double poison = -77;

/// Outputs side by side in the rows of one buffer, behind the inputs if there are any.
struct Buffer {
  Vector values;
  std::vector<bdl_matrix_out> out;
  explicit Buffer(const Case& c) {
    int64_t most = rows, width = inputs;
    for (const Size& size : c.out) most = std::max(most, size.rows), width += size.cols;
    values.assign(static_cast<std::size_t>(most * width), poison);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < inputs; ++k)
        values[static_cast<std::size_t>(i * width + k)] = 0.1 * static_cast<double>(i + k);
    int64_t at = inputs;
    for (const Size& size : c.out) {
      out.push_back(bdl_strided_out(values.data() + at, BDL_F64, size.rows, size.cols, width, 1));
      at += size.cols;
    }
    x = bdl_strided(values.data(), BDL_F64, rows, inputs, width, 1);
  }
  bdl_matrix x;
};

Vector read(const bdl_matrix_out& out) {
  Vector values;
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t j = 0; j < out.cols; ++j)
      values.push_back(static_cast<const double*>(out.data)[i * out.row_stride + j * out.col_stride]);
  return values;
}

void refused(const Case& c, Buffer& buffer, const std::vector<bdl_matrix_out>& out, const char* fragment) {
  const Vector before = buffer.values;
  const bdl_status status = c.call(out, buffer.x);
  if (status != BDL_ERROR_SHAPE || !std::strstr(bdl_last_error(), fragment))
    fail_msg("%s: %s: %s, expected %s", c.name, bdl_status_name(status), bdl_last_error(), fragment);
  if (buffer.values != before) fail_msg("%s has written something", c.name);
}

void check(const Case& c) {
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    Buffer buffer(c);
    for (std::size_t other = 0; other < k; ++other) {
      auto out = buffer.out;
      out[k].data = static_cast<double*>(out[other].data) + (out[other].cols - 1);  // its last column
      refused(c, buffer, out, "are outputs that overlap in memory, expected separate memory");
    }
    auto out = buffer.out;
    Vector elsewhere(buffer.values.size() * c.out.size(), poison);
    for (std::size_t other = 0; other < c.out.size(); ++other)
      out[other].data = elsewhere.data() + other * buffer.values.size();
    out[k].data = buffer.values.data() + inputs - 1;
    if (c.reads_x && c.out[k].rows > 0) {
      if (std::string(c.name) == "calibration curve" || std::string(c.name) == "ROC curve")
        out[k].data = buffer.values.data();  // they read the first column
      refused(c, buffer, out, "is an output that overlaps");
    }
    for (const int64_t stride : {INT64_MAX / 2, INT64_MIN / 2, INT64_MAX / 8 - 1}) {
      out = buffer.out;
      if (out[k].rows > 1)
        out[k].row_stride = stride;
      else
        out[k].col_stride = stride;
      refused(c, buffer, out, "outside of the address space");
    }
  }
  Buffer buffer(c), apart(c);
  if (c.call(buffer.out, buffer.x) != BDL_OK) fail_msg("%s: %s", c.name, bdl_last_error());
  if (std::string(c.name) == "observe") return;  // the second one sees another posterior
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    Vector own(static_cast<std::size_t>(c.out[k].rows * c.out[k].cols), poison);
    auto out = apart.out;
    out[k] = bdl_f64_out(own.data(), c.out[k].rows, c.out[k].cols);
    if (c.call(out, apart.x) != BDL_OK) fail_msg("%s: %s", c.name, bdl_last_error());
    const Vector beside = read(buffer.out[k]);  // NaN where a bin is empty
    if (std::memcmp(own.data(), beside.data(), own.size() * sizeof(double)) != 0)
      fail_msg("%s: output %zu is not the same", c.name, k);
  }
}

void outputs_that_overlap_are_refused(void**) {
  Things things;
  for (const Case& c : predictions(things)) check(c);
  for (const Case& c : models_and_posteriors(things)) check(c);
}

void inputs_out_of_the_address_space_are_refused(void**) {
  Things things;
  for (const auto& cases : {predictions(things), models_and_posteriors(things)})
    for (const Case& c : cases) {
      if (!c.reads_x) continue;
      Buffer buffer(c);
      const bdl_matrix x = buffer.x;
      for (const int64_t stride : {INT64_MAX / 2, INT64_MIN / 2, INT64_MAX / 8 - 1}) {
        buffer.x.row_stride = stride;
        refused(c, buffer, buffer.out, "outside of the address space");
      }
      buffer.x = x;
      buffer.x.row_stride = 0;  // one row for all is a view like others
      if (c.call(buffer.out, buffer.x) != BDL_OK) fail_msg("%s: %s", c.name, bdl_last_error());
    }
}

/// An output that is the input itself.
void results_may_take_the_place_of_inputs(void**) {
  Things things;
  Vector logits = {1, 2, 3, 4, 5, 7}, expected(6), vectors = things.parameters, solution(vectors.size());
  OK(bdl_temperature_apply(bdl_f64(logits.data(), 2, 3), 2, bdl_f64_out(expected.data(), 2, 3)));
  OK(bdl_temperature_apply(bdl_f64(logits.data(), 2, 3), 2, bdl_f64_out(logits.data(), 2, 3)));
  assert_true(logits == expected);
  const int64_t d = things.dimension;
  OK(bdl_posterior_solve(things.posterior.get(), bdl_f64(vectors.data(), 1, d),
                         bdl_f64_out(solution.data(), 1, d)));
  OK(bdl_posterior_solve(things.posterior.get(), bdl_f64(vectors.data(), 1, d),
                         bdl_f64_out(vectors.data(), 1, d)));
  assert_true(vectors == solution);
  std::vector<double> twice(static_cast<std::size_t>(2 * d), 0.5);
  assert_int_equal(bdl_posterior_solve(things.posterior.get(), bdl_f64(twice.data(), 1, d),
                                       bdl_f64_out(twice.data() + 1, 1, d)),
                   BDL_ERROR_SHAPE);
  assert_non_null(std::strstr(bdl_last_error(), "solution is an output that overlaps vectors"));
}

void data_sets_are_read_into_two_places(void**) {
  Vector x(rows * inputs, 1), y(rows * outputs, 2), buffer(rows * (inputs + outputs), poison);
  bdl_dataset* made = nullptr;
  OK(bdl_dataset_from_arrays(bdl_f64(x.data(), rows, inputs), bdl_f64(y.data(), rows, outputs), &made));
  const Dataset data(made);
  const int64_t which[] = {0, 2};
  const auto part = [&](int64_t first, int64_t cols) {
    return bdl_strided_out(buffer.data() + first, BDL_F64, 2, cols, inputs + outputs, 1);
  };
  OK(bdl_dataset_read(data.get(), which, 2, part(0, inputs), part(inputs, outputs)));
  assert_true(buffer[2] == 1 && buffer[3] == 2 && buffer[5] == 1 && buffer[9] == 2);
  assert_int_equal(bdl_dataset_read(data.get(), which, 2, part(0, inputs), part(inputs - 1, outputs)),
                   BDL_ERROR_SHAPE);
  double ends[3] = {};
  OK(bdl_dataset_target_range(data.get(), bdl_f64_out(ends, 1, 2), bdl_none_out()));
  assert_int_equal(bdl_dataset_target_range(data.get(), bdl_f64_out(ends, 1, 2), bdl_f64_out(ends + 1, 1, 2)),
                   BDL_ERROR_SHAPE);
}

}  // namespace

int test_overlapping_outputs() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(outputs_that_overlap_are_refused),
      cmocka_unit_test(inputs_out_of_the_address_space_are_refused),
      cmocka_unit_test(results_may_take_the_place_of_inputs),
      cmocka_unit_test(data_sets_are_read_into_two_places),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
