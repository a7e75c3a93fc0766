// Links, negative binomial, Gamma and ordinal likelihoods from the side of C: fits at their optimum, learned
// and fixed shapes, streams, threads, checkpoints, and errors.
#include <algorithm>
#include <string>

#include "handles.hpp"

namespace {

constexpr int64_t rows = 120, inputs = 2;
constexpr bdl_likelihood kinds[] = {BDL_PROBIT, BDL_CLOGLOG, BDL_NEGATIVE_BINOMIAL, BDL_GAMMA, BDL_ORDINAL};

/// A number in (0, 1) that looks random.
double uniform(int64_t i) {
  const double value = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
  return std::min(std::max(value - std::floor(value), 1e-6), 1 - 1e-6);
}

struct Data {
  Vector x, y;
  explicit Data(bdl_likelihood kind) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < inputs; ++j) x.push_back(4 * uniform(3 * i + j) - 2);
      const double eta = 0.7 * x[static_cast<size_t>(2 * i)] - 0.4 * x[static_cast<size_t>(2 * i + 1)],
                   u = uniform(7 * i + 5), logistic = std::log(u / (1 - u));
      y.push_back(kind == BDL_PROBIT || kind == BDL_CLOGLOG ? (eta + logistic / 2 > 0 ? 1 : 0)
                  : kind == BDL_ORDINAL                     ? (eta + logistic > 1      ? 2
                                                               : eta + logistic > -0.5 ? 1
                                                                                       : 0)
                  : kind == BDL_GAMMA                       ? std::exp(eta) * -std::log(u)
                                                            : std::floor(2 * std::exp(eta) * -std::log(u)));
    }
  }
  bdl_matrix inputs_matrix() const { return bdl_f64(x.data(), rows, inputs); }
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, 1); }
};

Model linear(bdl_likelihood kind, bdl_dtype dtype = BDL_F64) {
  Model model = make_mlp(dtype, {inputs, 1}, kind);
  if (kind == BDL_ORDINAL) OK(bdl_model_set_levels(model.get(), 3));
  return model;
}

bool has_shape(bdl_likelihood kind) {
  return kind == BDL_NEGATIVE_BINOMIAL || kind == BDL_GAMMA;
}

Vector shape_of(const Model& model) {
  const auto kind = static_cast<bdl_likelihood>(bdl_model_likelihood(model.get()));
  Vector shape(kind == BDL_ORDINAL ? static_cast<size_t>(bdl_model_level_count(model.get()) - 1) : 1);
  if (kind == BDL_ORDINAL)
    OK(bdl_model_get_cut_points(model.get(),
                                bdl_f64_out(shape.data(), 1, static_cast<int64_t>(shape.size()))));
  else if (has_shape(kind))
    OK(bdl_model_get_shape(model.get(), shape.data()));
  return shape;
}

void set_shape(const Model& model, const Vector& shape) {
  if (bdl_model_likelihood(model.get()) == BDL_ORDINAL)
    OK(bdl_model_set_cut_points(model.get(), bdl_f64(shape.data(), 1, static_cast<int64_t>(shape.size()))));
  else
    OK(bdl_model_set_shape(model.get(), shape[0]));
}

double elbo_of(const Learner& learner, const Data& data) {
  double log_likelihood = 0, kl = 0;
  OK(bdl_optimizer_elbo(learner.optimizer.get(), data.inputs_matrix(), data.targets(), 0, 1, &log_likelihood,
                        &kl));
  return log_likelihood - kl;
}

/// No mean, no shape and no cut point nearby has a higher ELBO.
void exact_fits_are_at_their_optimum(void**) {
  for (const bdl_likelihood kind : kinds) {
    const Data data(kind);
    Learner learner(linear(kind), BDL_F64, FULL, rows, "exact-full");
    learner.fit(data.inputs_matrix(), data.targets(), 200);
    const double best = elbo_of(learner, data);
    if (kind == BDL_PROBIT || kind == BDL_CLOGLOG) continue;
    const Vector shape = shape_of(learner.model);
    for (size_t k = 0; k < shape.size(); ++k)
      for (const double step : {1e-3, -1e-3}) {
        Vector moved = shape;
        if (kind == BDL_ORDINAL) {  // their mean belongs to the intercept
          if (k + 1 == shape.size()) continue;
          moved[k] += step;
          moved[k + 1] -= step;
        } else {
          moved[k] *= std::exp(step);
        }
        set_shape(learner.model, moved);
        const double other = elbo_of(learner, data);
        assert_true(other < best);
        assert_true(best - other < 1e-3);
      }
  }
}

/// The intercept alone: Gamma has the mean of y, negative binomial too, levels have their shares.
void intercepts_are_averages(void**) {
  for (const bdl_likelihood kind : {BDL_GAMMA, BDL_NEGATIVE_BINOMIAL, BDL_ORDINAL}) {
    const Data data(kind);
    Model model = make_mlp(BDL_F64, {1, 1}, kind);
    if (kind == BDL_ORDINAL) OK(bdl_model_set_levels(model.get(), 3));
    const Vector zeros(rows, 0.0);
    Learner learner(std::move(model), BDL_F64, FULL, rows, "exact-full");
    learner.set("bias_prior_precision", 1e-8);
    OK(bdl_optimizer_fit(learner.optimizer.get(), bdl_f64(zeros.data(), rows, 1), data.targets(), 200,
                         nullptr, nullptr));
    const double bias = mean_of(learner.posterior)[1];
    if (kind == BDL_ORDINAL) {
      double below = 0;
      for (const double y : data.y) below += y < 0.5 ? 1 : 0;
      const double share = below / rows, cut = shape_of(learner.model)[0] - bias;
      assert_close(cut, std::log(share / (1 - share)), 0.02, "the first cut point");
      continue;
    }
    double mean = 0;
    for (const double y : data.y) mean += y / rows;
    assert_close(bias, std::log(mean), 0.02, "the intercept");
  }
}

void shapes_can_be_fixed(void**) {
  for (const bdl_likelihood kind : {BDL_GAMMA, BDL_NEGATIVE_BINOMIAL, BDL_ORDINAL})
    for (const char* method : {"exact-full", "slang-ggn"}) {
      const Data data(kind);
      Learner learner(linear(kind), BDL_F64, FULL, rows, method);
      const Vector given = kind == BDL_ORDINAL ? Vector{-0.3, 0.9} : Vector{3.25};
      set_shape(learner.model, given);
      learner.set("learn_shape", 0);
      learner.fit(data.inputs_matrix(), data.targets(), 3);
      assert_true(shape_of(learner.model) == given);
      learner.set("learn_shape", 1);
      learner.set_if_read("learn_from=0");
      learner.fit(data.inputs_matrix(), data.targets(), 3);
      assert_true(shape_of(learner.model) != given);
    }
}

/// A network learns its shape from samples, near that of the exact linear model where the data are linear.
void networks_learn_shapes(void**) {
  for (const bdl_likelihood kind : {BDL_GAMMA, BDL_NEGATIVE_BINOMIAL, BDL_ORDINAL}) {
    const Data data(kind);
    Learner exact(linear(kind), BDL_F64, FULL, rows, "exact-full"), steps(linear(kind), BDL_F64, FULL, rows);
    exact.fit(data.inputs_matrix(), data.targets(), 200);
    steps.set("learn_prior", 0);
    steps.set("learn_from", 0.2);
    steps.fit(data.inputs_matrix(), data.targets(), 300);
    const Vector a = shape_of(exact.model), b = shape_of(steps.model);
    for (size_t k = 0; k < a.size(); ++k) assert_close(b[k] / a[k], 1, 0.2, "the shape by steps");
  }
}

/// Streams, threads and a file in the middle: the same numbers.
void streams_threads_and_files(void**) {
  for (const bdl_likelihood kind : kinds)
    for (const char* method : {"exact-full", "slang-ggn", "ekf"}) {
      const Data data(kind);
      const bool stream = std::string(method) == "ekf";
      const auto train = [&](Learner& learner) {
        if (stream)
          OK(bdl_optimizer_observe(learner.optimizer.get(), data.inputs_matrix(), data.targets(),
                                   bdl_none_out()));
        else
          learner.fit(data.inputs_matrix(), data.targets(), 20);
      };
      Vector first;
      for (const int threads : {1, 3}) {
        Learner learner(linear(kind), BDL_F64, FULL, rows, method);
        learner.set("threads", threads);
        if (stream) learner.set("stream_scales", "learned");
        train(learner);
        std::string bytes(1 << 17, '\0');
        int64_t size = 0;
        OK(bdl_save_bytes(nullptr, nullptr, learner.optimizer.get(), bytes.data(),
                          static_cast<int64_t>(bytes.size()), &size));
        bdl_model* m = nullptr;
        bdl_posterior* q = nullptr;
        bdl_optimizer* o = nullptr;
        OK(bdl_load_bytes(bytes.data(), size, nullptr, &m, &q, &o));
        Learner loaded{Model(m), Posterior(q), Optimizer(o)};
        assert_true(shape_of(loaded.model) == shape_of(learner.model));
        train(learner);
        train(loaded);
        assert_true(moments_of(loaded.posterior) == moments_of(learner.posterior));
        assert_true(shape_of(loaded.model) == shape_of(learner.model));
        Vector all = moments_of(learner.posterior);
        for (const double value : shape_of(learner.model)) all.push_back(value);
        if (first.empty()) first = all;
        assert_true(first == all);
        for (const double value : all) assert_true(std::isfinite(value));
      }
    }
}

void errors_say_what_is_expected(void**) {
  const Model gamma = linear(BDL_GAMMA), ordinal = linear(BDL_ORDINAL), gaussian = linear(BDL_GAUSSIAN);
  double number = 0;
  const auto is = [](bdl_status got, bdl_status expected, const char* part) {
    assert_int_equal(got, expected);
    assert_non_null(strstr(bdl_last_error(), part));
  };
  is(bdl_model_set_shape(gamma.get(), 0), BDL_ERROR_INVALID_ARGUMENT, "shape is 0");
  is(bdl_model_set_shape(gamma.get(), NAN), BDL_ERROR_INVALID_ARGUMENT, "expected 1e-6 to 1e6");
  is(bdl_model_set_shape(ordinal.get(), 1), BDL_ERROR_UNSUPPORTED, "negative binomial or Gamma");
  is(bdl_model_get_shape(gaussian.get(), &number), BDL_ERROR_UNSUPPORTED, "negative binomial or Gamma");
  is(bdl_model_set_levels(ordinal.get(), 1), BDL_ERROR_INVALID_ARGUMENT, "levels");
  is(bdl_model_set_levels(gamma.get(), 3), BDL_ERROR_UNSUPPORTED, "not ordinal");
  const double wrong[] = {1, 1}, right[] = {-1, 1, 2};
  is(bdl_model_set_cut_points(ordinal.get(), bdl_f64(wrong, 1, 2)), BDL_ERROR_INVALID_ARGUMENT, "ascending");
  assert_int_equal(bdl_model_level_count(ordinal.get()), 3);
  OK(bdl_model_set_cut_points(ordinal.get(), bdl_f64(right, 1, 3)));
  assert_int_equal(bdl_model_level_count(ordinal.get()), 4);
  assert_int_equal(bdl_model_level_count(gamma.get()), 0);
  bdl_model* model = nullptr;
  const int64_t sizes[] = {2, 3};
  is(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, BDL_ORDINAL, &model), BDL_ERROR_INVALID_ARGUMENT,
     "expected 1");
  Learner learner(linear(BDL_ORDINAL), BDL_F64, FULL, 3, "exact-full");
  const double x[] = {0, 1, 1, 0, 1, 1}, y[] = {0, 1, 3};
  is(bdl_optimizer_fit(learner.optimizer.get(), bdl_f64(x, 3, 2), bdl_f64(y, 3, 1), 1, nullptr, nullptr),
     BDL_ERROR_LABEL, "below the number of levels");
}

}  // namespace

int test_shapes() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(exact_fits_are_at_their_optimum),
      cmocka_unit_test(intercepts_are_averages),
      cmocka_unit_test(shapes_can_be_fixed),
      cmocka_unit_test(networks_learn_shapes),
      cmocka_unit_test(streams_threads_and_files),
      cmocka_unit_test(errors_say_what_is_expected),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
