// Batch norm as users meet it: every family and method learns with it, what is read of its parameters has no
// variance, predictions know its running statistics, and checkpoints keep all of it.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/load_any.hpp"
#include "handles.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr int64_t rows = 120, inputs = 2;
constexpr const char* text = "input 2; dense 12; batchnorm; tanh; dense 6; batchnorm noaffine; tanh; dense 2";

struct Data {
  std::vector<double> x, y;
  Data() : x(rows * inputs), y(rows) {
    for (int i = 0; i < rows; ++i) {
      x[2 * i] = std::sin(1.7 * i), x[2 * i + 1] = std::cos(2.3 * i + 1);
      y[i] = x[2 * i] * x[2 * i + 1] > 0 ? 1 : 0;
    }
  }
  bdl_matrix inputs_of() const { return bdl_f64(const_cast<double*>(x.data()), rows, inputs); }
  bdl_matrix targets() const { return bdl_f64(const_cast<double*>(y.data()), rows, 1); }
};

Model network(bdl_dtype dtype) {
  bdl_model* model = nullptr;
  OK(bdl_model_create_network(dtype, text, BDL_CATEGORICAL, &model));
  return Model(model);
}

Posterior posterior_of(bdl_dtype dtype, const Model& model, const std::string& family) {
  const int64_t d = bdl_model_parameters(model.get());
  bdl_posterior* q = nullptr;
  if (family == "low_rank") OK(bdl_posterior_create_low_rank(dtype, d, 2, &q));
  if (family == "diagonal") OK(bdl_posterior_create_low_rank(dtype, d, 0, &q));
  if (family == "full") OK(bdl_posterior_create_full(dtype, d, &q));
  if (family == "full_moment") OK(bdl_posterior_create_full_moment(dtype, d, &q));
  if (family == "diagonal_moment") OK(bdl_posterior_create_diagonal_moment(dtype, d, &q));
  if (family == "layerwise") OK(bdl_posterior_create_layerwise_full(model.get(), &q));
  if (family == "dropout") OK(bdl_posterior_create_dropout(model.get(), 0, 0.05, &q));
  return Posterior(q);
}

struct Case {
  const char *method, *family;
  bdl_predict_method prediction;
};
constexpr Case cases[] = {{"slang", "low_rank", BDL_MONTE_CARLO},
                          {"slang", "diagonal", BDL_MONTE_CARLO},
                          {"slang", "full", BDL_MONTE_CARLO},
                          {"slang", "full_moment", BDL_MONTE_CARLO},
                          {"slang", "diagonal_moment", BDL_MONTE_CARLO},
                          {"slang", "layerwise", BDL_MONTE_CARLO},
                          {"slang-online-eig", "low_rank", BDL_MONTE_CARLO},
                          {"vogn", "diagonal", BDL_MONTE_CARLO},
                          {"vogn-full", "full", BDL_MONTE_CARLO},
                          {"bbb", "diagonal", BDL_MONTE_CARLO},
                          {"map", "low_rank", BDL_PLUG_IN},
                          {"map", "full", BDL_PLUG_IN},
                          {"mc-dropout", "dropout", BDL_MONTE_CARLO},
                          {"laplace", "low_rank", BDL_LINEARIZED},
                          {"laplace", "full", BDL_LINEARIZED},
                          {"laplace", "layerwise", BDL_LINEARIZED_MONTE_CARLO}};

double accuracy_of(const Model& model, const Posterior& q, const Data& data, bdl_predict_method method) {
  std::vector<double> p(2 * rows);
  OK(bdl_predict_classes(model.get(), q.get(), data.inputs_of(), method, 50, 1,
                         bdl_f64_out(p.data(), rows, 2), bdl_none_out(), bdl_none_out()));
  double right = 0;
  for (int i = 0; i < rows; ++i) right += (p[2 * i + 1] > 0.5 ? 1 : 0) == data.y[static_cast<size_t>(i)];
  return right / rows;
}

/// All tensors of blocks, filled with one number, and the mean.
void fill_blocks(bdl_posterior* q, double value) {
  std::vector<const char*> names;
  std::vector<std::vector<double>> values;
  std::vector<bdl_matrix> given;
  values.reserve(static_cast<size_t>(bdl_posterior_tensor_count(q)));
  for (int64_t i = 0; i < bdl_posterior_tensor_count(q); ++i) {
    const char* name = nullptr;
    int64_t height = 0, width = 0;
    OK(bdl_posterior_tensor_describe(q, i, &name, &height, &width, nullptr));
    if (std::strncmp(name, "running", 7) == 0) continue;
    values.emplace_back(static_cast<size_t>(height * width), value);
    names.push_back(name);
    given.push_back(bdl_f64(values.back().data(), height, width));
  }
  OK(bdl_posterior_set_tensors(q, names.data(), given.data(), std::ssize(given)));
}

/// One covariance diag(s) + W W^T a layer: points have a mean and nothing else, whatever is set.
void low_rank_covariances_hold_points(void**) {
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    const Model model = network(dtype);
    const int64_t d = bdl_model_parameters(model.get());
    bdl_posterior *handle = nullptr, *loaded = nullptr;
    OK(bdl_posterior_create_layerwise_low_rank_moment(model.get(), 2, &handle));
    const Posterior q(handle);
    fill_blocks(handle, 0.5);
    std::vector<double> variance(static_cast<size_t>(d)), draw(variance.size());
    OK(bdl_posterior_marginal_variance(handle, bdl_f64_out(variance.data(), 1, d)));
    OK(bdl_posterior_sample(handle, 1, 0, bdl_f64_out(draw.data(), 1, d)));
    for (size_t j = 0; j < variance.size(); ++j) {
      const bool is_point = j >= 36 && j < 60;  // scale and shift of the twelve units
      assert_true(variance[j] == (is_point ? 0 : 1) && (draw[j] == 0.5) == is_point);
    }
    std::vector<char> bytes(1 << 16);
    int64_t size = 0;
    OK(bdl_save_bytes(model.get(), handle, nullptr, bytes.data(), std::ssize(bytes), &size));
    OK(bdl_load_bytes(bytes.data(), size, nullptr, nullptr, &loaded, nullptr));
    const Posterior copy(loaded);
    double kl = -1;
    OK(bdl_posterior_kl(handle, loaded, &kl));
    assert_true(std::abs(kl) < (dtype == BDL_F32 ? 1e-5 : 1e-12));
    const double accuracy = accuracy_of(model, copy, Data(), BDL_MONTE_CARLO);
    assert_true(accuracy >= 0 && accuracy <= 1);
  }
}

void every_family_learns(void**) {
  const Data data;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const Case& item : cases) {
      const Model model = network(dtype);
      const Posterior q = posterior_of(dtype, model, item.family);
      const Optimizer o = make_optimizer(model, q, rows, item.method);
      OK(bdl_optimizer_set_int(o.get(), "minibatch", 20));
      OK(bdl_optimizer_fit(o.get(), data.inputs_of(), data.targets(), 120, nullptr, nullptr));
      const double accuracy = accuracy_of(model, q, data, item.prediction);  // the larger class: 0.53
      if (!(accuracy > 0.62)) fail_msg("%s, %s: accuracy %g", item.method, item.family, accuracy);
      double fit = 0, kl = 0;
      if (std::string(item.family) != "dropout" && item.prediction == BDL_MONTE_CARLO) {
        OK(bdl_optimizer_elbo(o.get(), data.inputs_of(), data.targets(), 20, 1, &fit, &kl));
        assert_true(std::isfinite(fit) && kl > 0);
      }
      const char* message = nullptr;
      OK(bdl_optimizer_diagnose(o.get(), nullptr, nullptr, &message));
    }
}

void readers_see_points(void**) {
  const Data data;
  for (const Case& item : cases) {
    const Model model = network(BDL_F64);
    const int64_t d = bdl_model_parameters(model.get()), first = 36, last = 60;
    const Posterior q = posterior_of(BDL_F64, model, item.family);
    const Optimizer o = make_optimizer(model, q, rows, item.method);
    OK(bdl_optimizer_fit(o.get(), data.inputs_of(), data.targets(), 2, nullptr, nullptr));
    std::vector<double> mean(d), variance(d), sample(2 * d), block(4), precision(d);
    OK(bdl_posterior_mean(q.get(), bdl_f64_out(mean.data(), 1, d)));
    const bool has_covariance = bdl_posterior_has_covariance(q.get());
    if (has_covariance) OK(bdl_posterior_marginal_variance(q.get(), bdl_f64_out(variance.data(), 1, d)));
    OK(bdl_posterior_sample(q.get(), 3, 0, bdl_f64_out(sample.data(), 2, d)));
    const int64_t indices[] = {first, 1};
    if (has_covariance)
      OK(bdl_posterior_covariance(q.get(), indices, 2, indices, 2, bdl_f64_out(block.data(), 2, 2)));
    assert_true(block[0] == 0 && block[1] == 0 && block[2] == 0);
    bool moved = false;
    for (int64_t p = first; p < last; ++p) {
      assert_true(variance[p] == 0 && sample[p] == mean[p] && sample[d + p] == mean[p]);
      moved = moved || mean[p] != (p < 48 ? 1 : 0);
    }
    assert_true(moved);
    int tensors = 0;
    for (int64_t t = 0; t < bdl_posterior_tensor_count(q.get()); ++t) {
      const char* name = nullptr;
      int64_t height = 0, width = 0;
      int32_t dtype = 0;
      OK(bdl_posterior_tensor_describe(q.get(), t, &name, &height, &width, &dtype));
      if (std::string(name).find("running_") != 0) continue;
      assert_true(height == 1 && width == 18 && dtype == BDL_F64);
      ++tensors;
    }
    assert_int_equal(tensors, 2);
    // Numbers that callers write leave point parameters and statistics unchanged.
    if (std::string(item.family) != "diagonal") continue;
    const std::vector<double> diagonal(d, 7.0);
    OK(bdl_posterior_set_low_rank(q.get(), bdl_f64(mean.data(), 1, d), bdl_none(),
                                  bdl_f64(const_cast<double*>(diagonal.data()), 1, d)));
    OK(bdl_posterior_marginal_variance(q.get(), bdl_f64_out(variance.data(), 1, d)));
    OK(bdl_posterior_precision_diagonal(q.get(), bdl_f64_out(precision.data(), 1, d)));
    assert_true(variance[0] > 0 && variance[first] == 0 && precision[0] == 7 && std::isinf(precision[first]));
    assert_true(accuracy_of(model, q, data, BDL_PLUG_IN) > 0.3);
    double log_det = 0;
    OK(bdl_posterior_log_det_covariance(q.get(), &log_det));
    assert_true(std::abs(log_det + static_cast<double>(d - 24) * std::log(7.0)) < 1e-9);
  }
}

std::vector<double> numbers_of(const Posterior& q) {
  std::vector<double> all;
  for (int64_t t = 0; t < bdl_posterior_tensor_count(q.get()); ++t) {
    int64_t height = 0, width = 0;
    OK(bdl_posterior_tensor_describe(q.get(), t, nullptr, &height, &width, nullptr));
    std::vector<double> values(static_cast<size_t>(height * width));
    if (!values.empty()) OK(bdl_posterior_get_tensor(q.get(), t, bdl_f64_out(values.data(), height, width)));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Loaded {
  Model model;
  Posterior q;
  Optimizer o;
};

Loaded reloaded(const Model& model, const Posterior& q, const Optimizer& o) {
  int64_t size = 0;
  std::vector<char> bytes(1 << 20);
  OK(bdl_save_bytes(model.get(), q.get(), o.get(), bytes.data(), static_cast<int64_t>(bytes.size()), &size));
  bdl_model* m = nullptr;
  bdl_posterior* p = nullptr;
  bdl_optimizer* other = nullptr;
  OK(bdl_load_bytes(bytes.data(), size, nullptr, &m, &p, &other));
  return {Model(m), Posterior(p), Optimizer(other)};
}

int32_t after_seven(void* user_data, const bdl_optimizer*) {
  return ++*static_cast<int*>(user_data) == 7;
}

/// A course that is stopped, saved, loaded and continued gives the results of one that never stopped.
void checkpoints_keep_points_and_statistics(void**) {
  const Data data;
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64})
    for (const Case& item : cases) {
      const auto start = [&](const Model& model, const Posterior& q) {
        Optimizer o = make_optimizer(model, q, rows, item.method);
        OK(bdl_optimizer_set_int(o.get(), "minibatch", 24));
        OK(bdl_optimizer_set_int(o.get(), "progress_every", 1));
        return o;
      };
      const Model model = network(dtype), twin = network(dtype);
      const Posterior q = posterior_of(dtype, model, item.family),
                      same = posterior_of(dtype, twin, item.family);
      const Optimizer whole = start(model, q), parts = start(twin, same);
      OK(bdl_optimizer_fit(whole.get(), data.inputs_of(), data.targets(), 3, nullptr, nullptr));
      int calls = 0;
      assert_int_equal(
          bdl_optimizer_fit(parts.get(), data.inputs_of(), data.targets(), 3, after_seven, &calls),
          BDL_STOPPED);
      const Loaded loaded = reloaded(twin, same, parts);
      assert_true(numbers_of(loaded.q) == numbers_of(same));
      OK(bdl_optimizer_fit(loaded.o.get(), data.inputs_of(), data.targets(), 0, nullptr, nullptr));
      if (numbers_of(loaded.q) != numbers_of(q)) fail_msg("%s, %s: other bits", item.method, item.family);
      if (!bdl_posterior_has_covariance(loaded.q.get())) continue;
      std::vector<double> variance(bdl_model_parameters(model.get()));
      OK(bdl_posterior_marginal_variance(loaded.q.get(),
                                         bdl_f64_out(variance.data(), 1, bdl_model_parameters(model.get()))));
      assert_true(variance[36] == 0);
    }
}

/// One bit changed, here and there.
void damaged_files_load_or_are_refused(void**) {
  const Data data;
  for (const char* family : {"low_rank", "dropout"}) {
    bdl_model* small = nullptr;
    OK(bdl_model_create_network(BDL_F32, "input 2; dense 2; batchnorm; tanh; dense 2", BDL_CATEGORICAL,
                                &small));
    const Model model(small);
    const Posterior q = posterior_of(BDL_F32, model, family);
    const Optimizer o = make_optimizer(model, q, rows, family[0] == 'd' ? "mc-dropout" : "slang");
    OK(bdl_optimizer_fit(o.get(), data.inputs_of(), data.targets(), 1, nullptr, nullptr));
    int64_t size = 0;
    std::vector<char> bytes(1 << 16);
    OK(bdl_save_bytes(model.get(), q.get(), o.get(), bytes.data(), static_cast<int64_t>(bytes.size()),
                      &size));
    drop_checksums(bytes.data(), static_cast<std::size_t>(size));
    for (int64_t at = 8; at < size; at += bdl::testing::sanitized_stride) {
      bytes[static_cast<size_t>(at)] = static_cast<char>(bytes[static_cast<size_t>(at)] ^ (1 << at % 7));
      if (!fuzz::load_is_right(bytes.data(), size))
        fail_msg("%s, byte %ld: %s", family, static_cast<long>(at), bdl_last_error());
      bytes[static_cast<size_t>(at)] = static_cast<char>(bytes[static_cast<size_t>(at)] ^ (1 << at % 7));
    }
  }
}

void predictions_need_the_statistics(void**) {
  const Data data;
  const Model model = network(BDL_F64);
  const int64_t d = bdl_model_parameters(model.get());
  const Posterior q = posterior_of(BDL_F64, model, "low_rank");
  std::vector<double> p(2 * rows), theta(d), f(2 * rows);
  const auto predict = [&] {
    return bdl_predict_classes(model.get(), q.get(), data.inputs_of(), BDL_PLUG_IN, 1, 1,
                               bdl_f64_out(p.data(), rows, 2), bdl_none_out(), bdl_none_out());
  };
  assert_int_equal(predict(), BDL_ERROR_SHAPE);
  assert_non_null(strstr(bdl_last_error(), "layer \"batchnorm\" (line 3)"));
  assert_int_equal(bdl_model_evaluate(model.get(), bdl_f64(theta.data(), 1, d), data.inputs_of(),
                                      bdl_f64_out(f.data(), rows, 2)),
                   BDL_ERROR_UNSUPPORTED);
  assert_non_null(strstr(bdl_last_error(), "layer \"batchnorm\" (line 3)"));
  std::vector<double> jacobian(2 * rows * d), hessian(d * d), gradients(rows * d);
  const bdl_matrix at = bdl_f64(theta.data(), 1, d);
  const auto refused = [](bdl_status status) {
    assert_int_equal(status, BDL_ERROR_UNSUPPORTED);
    assert_non_null(strstr(bdl_last_error(), "layer \"batchnorm\" (line 3)"));
  };
  refused(bdl_model_jacobian(model.get(), at, data.inputs_of(), bdl_f64_out(jacobian.data(), 2 * rows, d)));
  refused(bdl_model_hessian(model.get(), at, data.inputs_of(), data.targets(),
                            bdl_f64_out(hessian.data(), d, d)));
  refused(bdl_model_gradient_rows(model.get(), at, data.inputs_of(), data.targets(),
                                  bdl_f64_out(gradients.data(), rows, d)));
  const Optimizer o = make_optimizer(model, q, rows, "slang");
  OK(predict());
  OK(bdl_optimizer_fit(o.get(), data.inputs_of(), data.targets(), 5, nullptr, nullptr));
  OK(predict());
  // One example by itself is predicted as in company, and a predictor says the same.
  double alone[2], again[2];
  OK(bdl_predict_classes(model.get(), q.get(), bdl_f64(const_cast<double*>(data.x.data()), 1, 2), BDL_PLUG_IN,
                         1, 1, bdl_f64_out(alone, 1, 2), bdl_none_out(), bdl_none_out()));
  assert_true(std::abs(alone[0] - p[0]) < 1e-12);
  bdl_predictor* predictor = nullptr;
  OK(bdl_predictor_create(model.get(), q.get(), BDL_PLUG_IN, 1, 1, &predictor));
  OK(bdl_predictor_classes(predictor, bdl_f64(const_cast<double*>(data.x.data()), 1, 2),
                           bdl_f64_out(again, 1, 2), bdl_none_out(), bdl_none_out()));
  assert_true(again[0] == alone[0]);
  bdl_predictor_free(predictor);
}

/// The posterior even stays blank; results are identical for any number of threads.
void failed_first_steps_change_nothing(void**) {
  const Data data;
  std::vector<std::vector<double>> results;
  for (const int64_t threads : {1, 3}) {
    const Model model = network(BDL_F64);
    const Posterior q = posterior_of(BDL_F64, model, "low_rank");
    const Optimizer o = make_optimizer(model, q, rows, "slang");
    OK(bdl_optimizer_set_int(o.get(), "threads", threads));
    const std::vector<double> before = numbers_of(q);
    const bdl_matrix x = bdl_f64(const_cast<double*>(data.x.data()), 1, 2),
                     y = bdl_f64(const_cast<double*>(data.y.data()), 1, 1);
    assert_int_equal(bdl_optimizer_step(o.get(), x, y), BDL_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(bdl_last_error(), "layer \"batchnorm\" (line 3)"));
    assert_true(bdl_posterior_is_blank(q.get()) && numbers_of(q) == before);
    OK(bdl_optimizer_fit(o.get(), data.inputs_of(), data.targets(), 3, nullptr, nullptr));
    results.push_back(numbers_of(q));
  }
  assert_true(results[0] == results[1]);
}

}  // namespace

int test_api_batchnorm() {
  const CMUnitTest tests[] = {cmocka_unit_test(low_rank_covariances_hold_points),
                              cmocka_unit_test(every_family_learns),
                              cmocka_unit_test(readers_see_points),
                              cmocka_unit_test(checkpoints_keep_points_and_statistics),
                              cmocka_unit_test(damaged_files_load_or_are_refused),
                              cmocka_unit_test(predictions_need_the_statistics),
                              cmocka_unit_test(failed_first_steps_change_nothing)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
