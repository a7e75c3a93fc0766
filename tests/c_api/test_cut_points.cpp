// Posteriors of ordinal models have integrated their cut points out: their covariance is the block of
// coefficients of the inverse joint Hessian by coefficients and cut points, as polr() in R computes it.
#include <algorithm>
#include <vector>

#include "handles.hpp"

namespace {

constexpr int64_t rows = 60, inputs = 2, levels = 4;
constexpr auto cuts = static_cast<size_t>(levels - 1);
using Number = long double;

double uniform(int64_t i) {
  const double value = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
  return std::min(std::max(value - std::floor(value), 1e-6), 1 - 1e-6);
}

/// Levels with a weight each; large weights make the posterior so narrow that expectations are values at its
/// mean.
struct Data {
  Vector x, y;
  explicit Data(double weight) {
    for (int64_t i = 0; i < rows; ++i) {
      const double u = uniform(7 * i + 5), noise = std::log(u / (1 - u));
      for (int64_t j = 0; j < inputs; ++j) x.push_back(3 * uniform(3 * i + j) - 1);
      const double eta =
          0.9 * x[static_cast<size_t>(2 * i)] - 0.6 * x[static_cast<size_t>(2 * i + 1)] + noise;
      y.push_back(eta > 1.5 ? 3 : eta > 0.5 ? 2 : eta > -0.5 ? 1 : 0);
      y.push_back(weight * (1 + static_cast<double>(i % 3)));
    }
  }
  bdl_matrix inputs_matrix() const { return bdl_f64(x.data(), rows, inputs); }
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, 2); }
};

Learner fitted(const Data& data, bool bias, const char* method = "exact-full") {
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_ORDINAL, bias);
  OK(bdl_model_set_levels(model.get(), levels));
  OK(bdl_model_set_row_weights(model.get(), 1));
  Learner learner(std::move(model), BDL_F64, FULL, rows, method);
  learner.set("prior_precision", 0.7);
  learner.fit(data.inputs_matrix(), data.targets(), 500);
  return learner;
}

Vector cut_points(const Learner& learner) {
  Vector c(cuts);
  OK(bdl_model_get_cut_points(learner.model.get(), bdl_f64_out(c.data(), 1, levels - 1)));
  return c;
}

/// Returns minus the log posterior at theta and cut points, which may lack the prior of the bias: it is far
/// from what the rows tell.
Number loss(const Data& data, const std::vector<Number>& at, bool bias) {
  const size_t coefficients = inputs + (bias ? 1 : 0);
  Number sum = 0.35L * (at[0] * at[0] + at[1] * at[1]);
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(2 * i);
    const Number f = at[0] * data.x[row] + at[1] * data.x[row + 1] + (bias ? at[2] : 0);
    const auto below = [&](size_t k) { return 1 / (1 + std::exp(f - at[coefficients + k])); };
    const auto level = static_cast<size_t>(data.y[row]);
    const Number p = (level < cuts ? below(level) : 1) - (level > 0 ? below(level - 1) : 0);
    sum -= data.y[row + 1] * std::log(p);
  }
  return sum;
}

/// Columns of coordinates: coefficients, then cut points, or changes of them that keep their mean.
std::vector<std::vector<Number>> directions(bool bias) {
  const size_t coefficients = inputs + (bias ? 1 : 0), size = coefficients + cuts;
  std::vector<std::vector<Number>> all;
  for (size_t k = 0; k + (bias ? 1 : 0) < size; ++k) {
    all.emplace_back(size, 0.0L);
    all.back()[k] = 1;
    if (bias && k >= coefficients) all.back()[k + 1] = -1;
  }
  return all;
}

/// Returns the inverse of the loss's Hessian in these coordinates, by differences of the fourth order.
std::vector<std::vector<Number>> joint_covariance(const Data& data, const std::vector<Number>& at,
                                                  bool bias) {
  constexpr Number h = 2e-3L;
  const auto along = directions(bias);
  const size_t size = along.size();
  const auto mixed = [&](size_t a, size_t b, Number step) {
    const auto value = [&](Number s, Number t) {
      std::vector<Number> point = at;
      for (size_t i = 0; i < point.size(); ++i) point[i] += step * (s * along[a][i] + t * along[b][i]);
      return loss(data, point, bias);
    };
    return (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * step * step);
  };
  std::vector<std::vector<Number>> m(size, std::vector<Number>(2 * size, 0.0L));
  for (size_t a = 0; a < size; ++a) {
    for (size_t b = 0; b < size; ++b) m[a][b] = (4 * mixed(a, b, h) - mixed(a, b, 2 * h)) / 3;
    m[a][size + a] = 1;
  }
  for (size_t k = 0; k < size; ++k) {  // Gauss and Jordan
    const Number pivot = m[k][k];
    for (Number& value : m[k]) value /= pivot;
    for (size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const Number factor = m[i][k];
      for (size_t j = 0; j < 2 * size; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (auto& row : m) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(size));
  return m;
}

void covariances_are_those_of_the_joint_hessian(void**) {
  const Data data(1e8);
  for (const bool bias : {true, false}) {
    const Learner learner = fitted(data, bias);
    const Vector mean = mean_of(learner.posterior), c = cut_points(learner);
    std::vector<Number> at(mean.begin(), mean.end());
    at.insert(at.end(), c.begin(), c.end());
    const auto expected = joint_covariance(data, at, bias);
    const auto size = static_cast<int64_t>(mean.size());
    const int64_t all[] = {0, 1, 2};
    Vector sigma(mean.size() * mean.size());
    OK(bdl_posterior_covariance(learner.posterior.get(), all, size, all, size,
                                bdl_f64_out(sigma.data(), size, size)));
    for (size_t i = 0; i < mean.size(); ++i)
      for (size_t j = 0; j < mean.size(); ++j) {
        const auto scale = static_cast<double>(std::sqrt(expected[i][i] * expected[j][j]));
        assert_close(sigma[i * mean.size() + j] / scale, static_cast<double>(expected[i][j]) / scale, 1e-6,
                     "covariance");
      }
  }
}

/// Given the cut points, with learn_shape=0, standard deviations are smaller.
void given_cut_points_are_not_integrated_out(void**) {
  const Data data(1);
  Learner free = fitted(data, false);
  const Vector wide = variance_of(free.posterior);
  free.set("learn_shape", 0);
  free.fit(data.inputs_matrix(), data.targets(), 500);
  const Vector narrow = variance_of(free.posterior);
  for (size_t j = 0; j < wide.size(); ++j) assert_true(narrow[j] < 0.99 * wide[j]);
}

/// Training goes on from the wider posterior to the same optimum, with the same ELBO.
void fits_continue(void**) {
  const Data data(1);
  for (const bool bias : {true, false}) {
    Learner learner = fitted(data, bias);
    const auto state = [&] {
      Vector all = moments_of(learner.posterior);
      for (const double c : cut_points(learner)) all.push_back(c);
      double log_likelihood = 0, kl = 0;
      OK(bdl_optimizer_running_elbo(learner.optimizer.get(), &log_likelihood, &kl));
      all.push_back(log_likelihood - kl);
      return all;
    };
    const Vector first = state();
    learner.fit(data.inputs_matrix(), data.targets(), 500);
    const Vector again = state();
    for (size_t k = 0; k < first.size(); ++k) assert_close(again[k], first[k], 1e-7, "a continued fit");
    // The ELBO at the wider posterior is a little less than that of the optimum.
    double log_likelihood = 0, kl = 0;
    OK(bdl_optimizer_elbo(learner.optimizer.get(), data.inputs_matrix(), data.targets(), 0, 1,
                          &log_likelihood, &kl));
    assert_true(log_likelihood - kl < first.back());
    assert_close(log_likelihood - kl, first.back(), 0.05, "ELBO");
  }
}

/// A fit that ends before the optimum has the posterior of its last iteration.
void unconverged_fits_are_given_the_cut_points(void**) {
  const Data data(1);
  Learner learner = fitted(data, true);
  const Vector wide = variance_of(learner.posterior);
  learner.fit(data.inputs_matrix(), data.targets(), 1);
  learner.fit(data.inputs_matrix(), data.targets(), 500);
  const Vector again = variance_of(learner.posterior);
  for (size_t j = 0; j < wide.size(); ++j) assert_close(again[j] / wide[j], 1, 1e-7, "variance");
}

/// Two inputs that add up to 1 move all levels, as the cut points do.
void confounded_inputs_have_the_prior(void**) {
  const Data data(1);
  Vector x;
  for (int64_t i = 0; i < rows; ++i)
    for (const double value : {i % 2 ? 1.0 : 0.0, i % 2 ? 0.0 : 1.0}) x.push_back(value);
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_ORDINAL, false);
  OK(bdl_model_set_levels(model.get(), levels));
  OK(bdl_model_set_row_weights(model.get(), 1));
  Learner learner(std::move(model), BDL_F64, FULL, rows, "exact-full");
  learner.set("prior_precision", 1e-3);
  learner.fit(bdl_f64(x.data(), rows, inputs), data.targets(), 500);
  const Vector variance = variance_of(learner.posterior);  // the sum has the prior's: 2 / 1e-3
  assert_close(variance[0] / 500, 1, 0.01, "variance");
}

/// A level that no row has changes nothing, at the ends or between others.
void levels_without_rows_change_nothing(void**) {
  for (const bool bias : {true, false}) {
    const auto moments = [&](Data data, int64_t missing) {
      for (size_t i = 0; i < data.y.size(); i += 2) {
        double& level = data.y[i];
        level = std::min(level, 2.0);
        if (missing >= 0 && level >= static_cast<double>(missing)) level += 1;
      }
      Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_ORDINAL, bias);
      OK(bdl_model_set_levels(model.get(), missing < 0 ? 3 : 4));
      OK(bdl_model_set_row_weights(model.get(), 1));
      Learner learner(std::move(model), BDL_F64, FULL, rows, "exact-full");
      learner.set("bias_prior_precision", 1e-9);
      learner.fit(data.inputs_matrix(), data.targets(), 500);
      double shift = 0, change = 0;
      const char* message = "";
      OK(bdl_optimizer_diagnose(learner.optimizer.get(), &shift, &change, &message));
      assert_null(strstr(message, "has ended before the optimum"));
      Vector of_slopes = moments_of(learner.posterior);
      if (bias) {  // the intercept takes the place of the cut points' mean
        of_slopes.erase(of_slopes.begin() + 5);
        of_slopes.erase(of_slopes.begin() + 2);
      }
      return of_slopes;
    };
    const Data data(1);
    const Vector expected = moments(data, -1);
    for (const int64_t missing : {0, 1, 2, 3}) {
      const Vector got = moments(data, missing);
      for (size_t k = 0; k < got.size(); ++k) assert_close(got[k] / expected[k], 1, 1e-5, "a moment");
    }
  }
}

/// A custom model takes the levels and their names from the file, and the columns of rows too unless an
/// optimizer has it.
void custom_models_take_levels_of_files(void**) {
  const auto outputs = [](void*, bdl_matrix, bdl_matrix, bdl_matrix_out f) {
    for (int64_t i = 0; i < f.rows; ++i) static_cast<double*>(f.data)[i * f.row_stride] = 0;
    return 0;
  };
  const auto gradients = [](void*, bdl_matrix, bdl_matrix, bdl_matrix, bdl_matrix_out) { return 1; };
  const auto custom = [&] {
    bdl_model* model = nullptr;
    OK(create_user(BDL_F64, inputs, 1, 3, BDL_ORDINAL, outputs, gradients, nullptr, nullptr, &model));
    return Model(model);
  };
  const Model saved = custom();
  OK(bdl_model_set_levels(saved.get(), 5));
  OK(bdl_model_set_row_weights(saved.get(), 1));
  for (int64_t k = 0; k < 5; ++k)
    OK(bdl_model_set_name(saved.get(), BDL_CLASS, k, k == 2 ? "fair" : "other"));
  int64_t size = 0;
  OK(bdl_save_bytes(saved.get(), nullptr, nullptr, nullptr, 0, &size));
  std::vector<unsigned char> bytes(static_cast<size_t>(size));
  OK(bdl_save_bytes(saved.get(), nullptr, nullptr, bytes.data(), size, &size));

  const Model model = custom();
  bdl_model* loaded = nullptr;
  OK(bdl_load_bytes(bytes.data(), size, model.get(), &loaded, nullptr, nullptr));
  const Model other(loaded);
  const char* name = nullptr;
  OK(bdl_model_get_name(other.get(), BDL_CLASS, 2, &name));
  assert_string_equal(name, "fair");
  assert_int_equal(bdl_model_level_count(other.get()), 5);
  assert_true(bdl_model_has_row_weights(other.get()));

  Model used = custom();
  const bdl_model* const handle = used.get();
  const Learner learner(std::move(used), BDL_F64, FULL, rows, "slang");
  assert_int_equal(bdl_load_bytes(bytes.data(), size, learner.model.get(), &loaded, nullptr, nullptr),
                   BDL_ERROR_UNSUPPORTED);
  assert_int_equal(bdl_model_has_row_weights(handle), 0);
}

}  // namespace

int test_cut_points() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(covariances_are_those_of_the_joint_hessian),
      cmocka_unit_test(given_cut_points_are_not_integrated_out),
      cmocka_unit_test(fits_continue),
      cmocka_unit_test(unconverged_fits_are_given_the_cut_points),
      cmocka_unit_test(confounded_inputs_have_the_prior),
      cmocka_unit_test(levels_without_rows_change_nothing),
      cmocka_unit_test(custom_models_take_levels_of_files),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
