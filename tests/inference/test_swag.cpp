// SWAG against a naive recursion over the means that fit comes by, resumed runs, what it refuses; and
// presets.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "methods/schedule.hpp"
// Last: it includes cmocka.h.
#include "c_api/handles.hpp"

namespace {

constexpr int64_t examples = 60, inputs = 3, rank = 4;
using Vector = std::vector<double>;

struct Data {
  Vector x, y;
  Data() {
    for (int64_t i = 0; i < examples; ++i) {
      const double a = std::sin(1.3 * static_cast<double>(i)), b = std::cos(0.7 * static_cast<double>(i));
      x.insert(x.end(), {a, b, a * b});
      y.push_back(a - 0.5 * b + 0.1 * std::sin(5.1 * static_cast<double>(i)));
    }
  }
  bdl_matrix in() const { return bdl_f64(x.data(), examples, inputs); }
  bdl_matrix out() const { return bdl_f64(y.data(), examples, 1); }
};

struct Learner {
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* optimizer = nullptr;
  explicit Learner(int64_t k = rank,
                   const char* options =
                       "minibatch=15 learning_rate=0.01 learn_noise=0 swag_from=0.5 schedule=power decay=0") {
    const int64_t sizes[] = {inputs, 4, 1};
    OK(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_TANH, 1, BDL_GAUSSIAN, &model));
    OK(bdl_posterior_create_low_rank_moment(BDL_F64, bdl_model_parameters(model), k, &q));
    OK(bdl_optimizer_create(model, q, "swag", examples, &optimizer));
    OK(bdl_optimizer_set_text(optimizer, options));
  }
  Learner(const Learner&) = delete;
  ~Learner() {
    bdl_optimizer_free(optimizer);
    bdl_posterior_free(q);
    bdl_model_free(model);
  }
};

Vector mean_of(const bdl_posterior* q) {
  Vector mean(static_cast<std::size_t>(bdl_posterior_dimension(q)));
  OK(bdl_posterior_mean(q, bdl_f64_out(mean.data(), 1, std::ssize(mean))));
  return mean;
}

/// Sigma, column by column.
Vector covariance_of(const bdl_posterior* q) {
  const int64_t size = bdl_posterior_dimension(q);
  Vector matrix(static_cast<std::size_t>(size * size));
  std::vector<int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  OK(bdl_posterior_covariance(q, all.data(), size, all.data(), size, bdl_f64_out(matrix.data(), size, size)));
  return matrix;
}

struct Walk {
  std::vector<Vector> means;
  const bdl_posterior* q;
  int64_t stop_at;
};

int32_t watch(void* data, const bdl_optimizer* optimizer) {
  auto& walk = *static_cast<Walk*>(data);
  int64_t step = 0;
  OK(bdl_optimizer_progress(optimizer, &step, nullptr, nullptr));
  walk.means.push_back(mean_of(walk.q));
  return step == walk.stop_at ? 1 : 0;
}

/// Once an epoch of 4 steps in the last half of 12 epochs: 6 snapshots, of which 4 deviations stay.
void posterior_is_that_of_the_points(void**) {
  const Data data;
  Learner free, l;
  OK(bdl_optimizer_set_int(l.optimizer, "progress_every", 1));
  Walk walk{{}, l.q, 0};
  OK(bdl_optimizer_fit(l.optimizer, data.in(), data.out(), 12, watch, &walk));
  assert_int_equal(walk.means.size(), 48);
  const Vector mean = mean_of(l.q), covariance = covariance_of(l.q);
  const std::size_t size = mean.size();
  // The last point is what the fit ends at whose course would go on.
  std::vector<Vector> points;
  for (const std::size_t step : {28, 32, 36, 40, 44}) points.push_back(walk.means[step - 1]);
  OK(bdl_optimizer_set_text(free.optimizer, "total_steps=49 swag_from=0.48979591"));
  OK(bdl_optimizer_fit(free.optimizer, data.in(), data.out(), 12, nullptr, nullptr));
  points.push_back(mean_of(free.q));
  Vector t1(size, 0), t2(size, 0);
  std::vector<Vector> deviations;
  for (std::size_t n = 0; n < points.size(); ++n) {
    Vector d(size);
    for (std::size_t i = 0; i < size; ++i) {
      const double k = static_cast<double>(n);
      t1[i] = (k * t1[i] + points[n][i]) / (k + 1);
      t2[i] = (k * t2[i] + points[n][i] * points[n][i]) / (k + 1);
      d[i] = points[n][i] - t1[i];
    }
    deviations.push_back(d);
  }
  for (std::size_t i = 0; i < size; ++i) {
    assert_true(std::abs(mean[i] - t1[i]) < 1e-12);
    for (std::size_t j = 0; j < size; ++j) {
      double expected = i == j ? (t2[i] - t1[i] * t1[i]) / 2 : 0;
      for (std::size_t n = 2; n < 6; ++n)
        expected += deviations[n][i] * deviations[n][j] / (2.0 * (rank - 1));
      assert_true(std::abs(covariance[i * size + j] - expected) < 1e-9);
    }
  }
}

/// Twelve epochs of 4 steps leave 24 for points; five columns and one more take them every 4, which is an
/// epoch. Two epochs leave 4, and one of 2 steps or fewer whatever there is.
void short_courses_have_points(void**) {
  const Data data;
  for (const int64_t epochs : {1, 2, 3}) {
    Learner l;
    OK(bdl_optimizer_fit(l.optimizer, data.in(), data.out(), epochs, nullptr, nullptr));
    const Vector covariance = covariance_of(l.q);
    const std::size_t size = mean_of(l.q).size();
    double trace = 0;
    for (std::size_t i = 0; i < size; ++i) trace += covariance[i * size + i];
    assert_true(trace > 1e-8);
  }
  bdl::Options options;
  options.swag = 1;
  assert_int_equal(bdl::swag_begin(options, {100, 200}), 175);
  assert_int_equal(bdl::swag_begin(options, {100, 104}), 102);
  assert_int_equal(bdl::swag_begin(options, {100, 101}), 100);
  options.swag_every = 1;
  assert_int_equal(bdl::swag_begin(options, {100, 104}), 103);
}

void rates_stay_where_the_last_part_begins(void**) {
  bdl::Options options;
  const bdl::Plan plan{100, 200};
  const double before = bdl::rate_factor(options, plan, 176), after = bdl::rate_factor(options, plan, 190);
  assert_true(after < before);
  options.swag = 1;
  assert_true(bdl::rate_factor(options, plan, 176) == before &&
              bdl::rate_factor(options, plan, 190) == before);
  assert_true(bdl::rate_factor(options, plan, 175) > before);
}

void resumed_runs_give_the_same_bits(void**) {
  const Data data;
  Learner whole, part;
  OK(bdl_optimizer_fit(whole.optimizer, data.in(), data.out(), 12, nullptr, nullptr));
  OK(bdl_optimizer_set_int(part.optimizer, "progress_every", 1));
  Walk walk{{}, part.q, 38};
  assert_int_equal(bdl_optimizer_fit(part.optimizer, data.in(), data.out(), 12, watch, &walk), BDL_STOPPED);
  const std::string path = "/tmp/bdl_test_swag." + std::to_string(getpid());
  OK(bdl_save(path.c_str(), part.model, part.q, part.optimizer));
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* optimizer = nullptr;
  OK(bdl_load(path.c_str(), nullptr, &model, &q, &optimizer));
  unlink(path.c_str());
  OK(bdl_optimizer_fit(optimizer, data.in(), data.out(), 0, nullptr, nullptr));
  assert_true(mean_of(whole.q) == mean_of(q));
  assert_true(covariance_of(whole.q) == covariance_of(q));
  bdl_optimizer_free(optimizer);
  bdl_posterior_free(q);
  bdl_model_free(model);
}

void what_it_cannot_use_is_refused(void**) {
  const Data data;
  Learner l;
  OK(bdl_optimizer_set_int(l.optimizer, "swag_every", 4));
  assert_int_equal(bdl_optimizer_fit(l.optimizer, data.in(), data.out(), 2, nullptr, nullptr),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(std::strstr(bdl_last_error(), "1 snapshots, expected 2 or more"));
  assert_true(bdl_posterior_is_blank(l.q) == 1);  // nothing has happened
  bdl_posterior* narrow = nullptr;
  OK(bdl_posterior_create_low_rank_moment(BDL_F64, bdl_model_parameters(l.model), 1, &narrow));
  bdl_optimizer* made = nullptr;
  assert_int_equal(bdl_optimizer_create(l.model, narrow, "swag", examples, &made), BDL_ERROR_UNSUPPORTED);
  assert_non_null(std::strstr(bdl_last_error(), "of rank 2 or more"));
  bdl_posterior_free(narrow);
  assert_int_equal(bdl_optimizer_set_choice(l.optimizer, "rule", "bbb"), BDL_ERROR_UNSUPPORTED);
}

/// On a network of images, which every preset goes with; elrg's family is another one.
void presets_are_settings_of_their_methods(void**) {
  assert_null(bdl_preset_name(-1));
  assert_null(bdl_preset_name(bdl_preset_count()));
  assert_int_equal(bdl_preset_describe("vogn", nullptr, nullptr, nullptr, nullptr),
                   BDL_ERROR_INVALID_ARGUMENT);
  assert_non_null(std::strstr(bdl_last_error(), "\"vogn-resnet18\""));
  assert_true(bdl_preset_count() >= 13);
  for (int64_t i = 0; i < bdl_preset_count(); ++i) {
    const char *method = nullptr, *options = nullptr, *doc = nullptr;
    int64_t epochs = 0;
    OK(bdl_preset_describe(bdl_preset_name(i), &method, &options, &epochs, &doc));
    assert_true(epochs >= 90 && doc[std::strlen(doc) - 1] == '.');
    bdl_model* model = nullptr;
    bdl_posterior* q = nullptr;
    bdl_optimizer* optimizer = nullptr;
    OK(bdl_model_create_network(BDL_F32, "input 1 8 8\nconv 2 3\nrelu\ndense 3\n", BDL_CATEGORICAL, &model));
    if (std::strcmp(method, "elrg") == 0)
      OK(bdl_posterior_create_layerwise_low_rank_moment(model, 2, &q));
    else
      OK(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model), 0, &q));
    OK(bdl_optimizer_create(model, q, method, 50000, &optimizer));
    OK(bdl_optimizer_set_text(optimizer, options));
    double value = 0;
    if (std::strcmp(bdl_preset_name(i), "vogn-resnet18") == 0) {
      OK(bdl_optimizer_get_double(optimizer, "kl_weight", &value));
      assert_true(value == 0.1);
      OK(bdl_optimizer_get_double(optimizer, "prior_precision", &value));
      assert_true(value == 50);
    }
    bdl_optimizer_free(optimizer);
    bdl_posterior_free(q);
    bdl_model_free(model);
  }
}

}  // namespace

int test_swag() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(posterior_is_that_of_the_points),
      cmocka_unit_test(short_courses_have_points),
      cmocka_unit_test(rates_stay_where_the_last_part_begins),
      cmocka_unit_test(resumed_runs_give_the_same_bits),
      cmocka_unit_test(what_it_cannot_use_is_refused),
      cmocka_unit_test(presets_are_settings_of_their_methods),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
