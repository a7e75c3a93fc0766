// Rows with weights are the same as rows that stand in the data so many times; offsets are the same as an
// input whose weight is 1; trials are the same as their single results.
#include <string>

#include "standardized_runs.hpp"

// Behind the headers of the standard library, some of which do not bear CMocka's macros.
#include "every_method.h"

namespace {

constexpr int64_t rows = 24, inputs = 2;

double target(bdl_likelihood likelihood, double signal) {
  switch (likelihood) {
    case BDL_BERNOULLI:
    case BDL_PROBIT:
    case BDL_CLOGLOG:
      return signal > 0 ? 1 : 0;
    case BDL_CATEGORICAL:
    case BDL_ORDINAL:
      return signal > 0.4 ? 2 : signal > -0.4 ? 1 : 0;
    case BDL_POISSON:
    case BDL_NEGATIVE_BINOMIAL:
      return std::floor(2 * std::exp(2 * signal));
    case BDL_GAMMA:
      return std::exp(2 * signal);
    default:
      return 3 + 2 * signal;
  }
}

/// Rows with weights 0, 1, 2 or 3, and the same rows written out.
struct Weighed {
  Table x = table(rows, inputs), y, long_x{inputs, {}}, long_y;
  explicit Weighed(bdl_likelihood likelihood, int64_t targets)
      : y(table(rows, targets + 1)), long_y{targets, {}} {
    uint64_t state = 7;
    const auto uniform = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>(state >> 40) / 16777216;
    };
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < inputs; ++j) x(i, j) = 2 * uniform() - 1;
      for (int64_t c = 0; c < targets; ++c) {
        const double signal = x(i, 0) - static_cast<double>(c) * x(i, 1) + 0.5 * (uniform() - 0.5);
        y(i, c) = target(likelihood, signal);
      }
      const auto weight = i % 4;
      y(i, targets) = static_cast<double>(weight);
      for (int64_t k = 0; k < weight; ++k) {
        long_x.values.insert(long_x.values.end(), &x(i, 0), &x(i, 0) + inputs);
        long_y.values.insert(long_y.values.end(), &y(i, 0), &y(i, 0) + targets);
      }
    }
  }
};

int64_t outputs_of(bdl_likelihood likelihood) {
  return likelihood == BDL_CATEGORICAL ? 3 : likelihood == BDL_HETEROSCEDASTIC ? 2 : 1;
}

/// True of methods whose steps draw something for each example alone.
bool draws_for_examples(const char* method) {
  for (const char* name : {"elrg", "elrg-d", "mf-vi", "k-tied", "low-rank-vi", "mc-dropout"})
    if (strcmp(method, name) == 0) return true;
  return false;
}

/// One of two learners of the same method, with a full-batch step.
bool create(const char* method, int family, bdl_likelihood likelihood, bool hidden, int64_t count,
            bool weighted, learner* l) {
  memset(l, 0, sizeof *l);
  const int64_t outputs = outputs_of(likelihood), deep[] = {inputs, 4, outputs}, flat[] = {inputs, outputs};
  OK(bdl_model_create_mlp(BDL_F64, hidden ? deep : flat, hidden ? 3 : 2, BDL_TANH, 1, likelihood, &l->model));
  OK(bdl_model_set_row_weights(l->model, weighted ? 1 : 0));
  if (likelihood == BDL_ORDINAL) OK(bdl_model_set_levels(l->model, 3));
  if (family_create(l->model, BDL_F64, family, 2, &l->posterior) != BDL_OK ||
      bdl_optimizer_create(l->model, l->posterior, method, count, &l->optimizer) != BDL_OK) {
    learner_free(l);
    return false;
  }
  const std::string all = std::to_string(count);
  for (const std::string& option : {"minibatch=" + all, "block=" + all})
    (void)bdl_optimizer_set_text(l->optimizer, option.c_str());
  return true;
}

Vector state_of(const learner& l) {
  Vector mean(static_cast<std::size_t>(bdl_posterior_dimension(l.posterior)));
  const auto out = [&](Vector& v) { return bdl_f64_out(v.data(), 1, std::ssize(v)); };
  OK(bdl_posterior_mean(l.posterior, out(mean)));
  if (!bdl_posterior_has_covariance(l.posterior)) return mean;
  Vector variance = mean;
  OK(bdl_posterior_marginal_variance(l.posterior, out(variance)));
  for (double& v : variance) v = std::sqrt(v);
  mean.insert(mean.end(), variance.begin(), variance.end());
  return mean;
}

double distance(const Vector& a, const Vector& b) {
  double size = 0, most = 0;
  for (const double v : b) size = std::max(size, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most / size;
}

/// Fits both and compares posteriors; a method that refuses the model refuses both.
void compare(const char* method, int family, bdl_likelihood likelihood, bool hidden) {
  const Weighed data(likelihood, 1);
  learner weighted, plain;
  if (!create(method, family, likelihood, hidden, rows, true, &weighted)) return;
  assert_true(create(method, family, likelihood, hidden, data.long_x.rows(), false, &plain));
  const bdl_status status = learn(&weighted, method, data.x.view(), data.y.view(), 3);
  assert_int_equal(learn(&plain, method, data.long_x.view(), data.long_y.view(), 3), status);
  if (status == BDL_OK) {
    const double off = distance(state_of(weighted), state_of(plain));
    if (!(off <= 1e-9))
      fail_msg("%s, family %d, likelihood %d, %s: weighted rows are %g from repeated ones", method, family,
               likelihood, hidden ? "hidden" : "linear", off);
  }
  learner_free(&weighted);
  learner_free(&plain);
}

void weighted_rows_are_repeated_rows(void**) {
  for (int32_t m = 0; m < bdl_method_count(); ++m) {
    const char* const method = bdl_method_name(m);
    if (draws_for_examples(method)) continue;
    for (const bdl_likelihood likelihood :
         {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON, BDL_HETEROSCEDASTIC, BDL_STUDENT_T,
          BDL_PROBIT, BDL_CLOGLOG, BDL_NEGATIVE_BINOMIAL, BDL_GAMMA, BDL_ORDINAL})
      for (int family = 0; family <= FAMILIES; ++family)
        for (const bool hidden : {false, true}) compare(method, family, likelihood, hidden);
  }
}

void exact_fits_of_two_outputs_take_weights(void**) {
  for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON}) {
    const Weighed data(likelihood, 2);
    Vector states[2];
    for (const int weighted : {0, 1}) {
      Model model = make_mlp(BDL_F64, {inputs, 2}, likelihood);
      OK(bdl_model_set_row_weights(model.get(), weighted));
      const Table &x = weighted ? data.x : data.long_x, &y = weighted ? data.y : data.long_y;
      Learner l(std::move(model), BDL_F64, FULL, x.rows(), "exact-full");
      l.fit(x.view(), y.view(), 500);
      states[weighted] = moments_of(l.posterior);
    }
    assert_true(distance(states[1], states[0]) <= 1e-9);
  }
}

/// Results of trials, row by row, and the same results one by one.
struct Trials {
  Table x = table(8, 1), y = table(8, 2), long_x{1, {}}, long_y{1, {}};
  double log_orders = 0;
  Trials() {
    for (int64_t i = 0; i < x.rows(); ++i) {
      const auto trials = 2 + 3 * i, successes = (5 * i + 1) % (trials + 1);
      x(i, 0) = 0.3 * static_cast<double>(i) - 1;
      y(i, 0) = static_cast<double>(successes) / static_cast<double>(trials);
      y(i, 1) = static_cast<double>(trials);
      for (int64_t k = 0; k < trials; ++k) {
        long_x.values.push_back(x(i, 0));
        long_y.values.push_back(k < successes ? 1 : 0);
      }
      log_orders += std::lgamma(static_cast<double>(trials) + 1) -
                    std::lgamma(static_cast<double>(successes) + 1) -
                    std::lgamma(static_cast<double>(trials - successes) + 1);
    }
  }
};

double log_likelihood_of(const learner& l, const Table& x, const Table& y) {
  double value = 0;
  OK(bdl_optimizer_elbo(l.optimizer, x.view(), y.view(), 0, 1, &value, nullptr));
  return value;
}

double sum_of_log_densities(const learner& l, const Table& x, const Table& y) {
  Vector densities(static_cast<std::size_t>(x.rows()));
  OK(bdl_predict_log_density(l.model, l.posterior, x.view(), y.view(), BDL_MONTE_CARLO, 1, 1,
                             bdl_f64_out(densities.data(), x.rows(), 1)));
  double sum = 0;
  for (const double density : densities) sum += density;
  return sum;
}

/// One draw of the parameters, so that the density of the sum of the trials is the product of their
/// densities.
void trials_are_their_single_results(void**) {
  const Trials data;
  for (const bdl_likelihood likelihood : {BDL_BERNOULLI, BDL_PROBIT, BDL_CLOGLOG})
    for (const char* method : {"exact-full", "slang-ggn", "laplace", "cm-ekf"}) {
      const int64_t sizes[] = {1, 1};
      learner l[2];
      for (const int weighted : {0, 1}) {
        OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, likelihood, &l[weighted].model));
        OK(bdl_model_set_row_weights(l[weighted].model, weighted));
        OK(bdl_posterior_create_full(BDL_F64, 2, &l[weighted].posterior));
        const Table &x = weighted ? data.x : data.long_x, &y = weighted ? data.y : data.long_y;
        if (bdl_optimizer_create(l[weighted].model, l[weighted].posterior, method, x.rows(),
                                 &l[weighted].optimizer) != BDL_OK)
          fail_msg("%s", bdl_last_error());
        const std::string all = std::to_string(x.rows());
        for (const std::string& option : {"minibatch=" + all, "block=" + all})
          (void)bdl_optimizer_set_text(l[weighted].optimizer, option.c_str());
        OK(learn(&l[weighted], method, x.view(), y.view(), 5));
      }
      assert_true(distance(state_of(l[1]), state_of(l[0])) <= 1e-9);
      assert_close(log_likelihood_of(l[1], data.x, data.y),
                   log_likelihood_of(l[0], data.long_x, data.long_y) + data.log_orders, 1e-8,
                   "log likelihood");
      assert_close(sum_of_log_densities(l[1], data.x, data.y),
                   sum_of_log_densities(l[0], data.long_x, data.long_y) + data.log_orders, 1e-8,
                   "log density");
      for (learner& each : l) learner_free(&each);
    }
}

/// Returns x with one more column.
Table with_column(const Table& x, const std::function<double(int64_t)>& value) {
  Table wide = table(x.rows(), x.columns + 1);
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.columns; ++j) wide(i, j) = x(i, j);
    wide(i, x.columns) = value(i);
  }
  return wide;
}

/// With real targets, an offset is the same as the target without it, in units chosen for that.
void offsets_are_taken_from_targets(void**) {
  const auto offset = [](int64_t i) { return 5 * std::sin(static_cast<double>(i)); };
  for (const char* method : {"exact-full", "slang", "laplace", "vogn", "elrg-d", "cm-ekf"}) {
    const Weighed data(BDL_GAUSSIAN, 1);
    const Table x = with_column(data.x, offset);
    Table y = data.y, less = data.y;
    y = table(rows, 1), less = y;
    for (int64_t i = 0; i < rows; ++i) less(i, 0) = data.y(i, 0), y(i, 0) = data.y(i, 0) + offset(i);
    learner l[2];
    Vector mean[2];
    for (const int given : {0, 1}) {
      const bool flat = strcmp(method, "exact-full") == 0;
      const int64_t deep[] = {inputs, 4, 1}, one[] = {inputs, 1};
      OK(bdl_model_create_mlp(BDL_F64, flat ? one : deep, flat ? 2 : 3, BDL_TANH, 1, BDL_GAUSSIAN,
                              &l[given].model));
      OK(bdl_model_set_offsets(l[given].model, given));
      const Table &inputs_of = given ? x : data.x, &targets_of = given ? y : less;
      OK(bdl_model_standardize(l[given].model, inputs_of.view(), targets_of.view()));
      const int family = strcmp(method, "vogn") == 0 ? FAMILIES : strcmp(method, "elrg-d") == 0 ? 6 : 1;
      OK(family_create(l[given].model, BDL_F64, family, 2, &l[given].posterior));
      OK(bdl_optimizer_create(l[given].model, l[given].posterior, method, rows, &l[given].optimizer));
      OK(learn(&l[given], method, inputs_of.view(), targets_of.view(), 5));
      mean[given].resize(static_cast<std::size_t>(rows));
      OK(bdl_predict(l[given].model, l[given].posterior, inputs_of.view(), BDL_MONTE_CARLO, 7, 3,
                     bdl_f64_out(mean[given].data(), rows, 1), bdl_none_out(), bdl_none_out()));
    }
    const double off = distance(state_of(l[1]), state_of(l[0]));
    if (!(off <= 1e-9)) fail_msg("%s: %g from the fit to y less the offset", method, off);
    for (int64_t i = 0; i < rows; ++i)
      assert_close(mean[1][static_cast<std::size_t>(i)], mean[0][static_cast<std::size_t>(i)] + offset(i),
                   1e-8, "predicted mean");
    for (learner& each : l) learner_free(&each);
  }
}

/// An offset that is the same in all rows is the same as that much more bias, whatever the likelihood.
void constant_offsets_are_biases(void**) {
  constexpr double more = 0.7;
  for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON, BDL_HETEROSCEDASTIC,
                                          BDL_STUDENT_T, BDL_PROBIT, BDL_GAMMA}) {
    const Weighed data(likelihood, 1);
    Table y = table(rows, 1);
    for (int64_t i = 0; i < rows; ++i) y(i, 0) = data.y(i, 0);
    const int64_t sizes[] = {inputs, outputs_of(likelihood)};
    const Table x = with_column(data.x, [](int64_t) { return more; });
    bdl_model *with = nullptr, *without = nullptr;
    OK(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_TANH, 1, likelihood, &without));
    OK(bdl_model_copy(without, &with));
    OK(bdl_model_set_offsets(with, 1));
    assert_int_equal(bdl_model_offset_count(with), 1);
    assert_int_equal(bdl_model_inputs(with), inputs);
    const int64_t d = bdl_model_parameters(with);
    Vector theta(static_cast<std::size_t>(d), 0.3), moved = theta;
    moved[static_cast<std::size_t>(inputs * outputs_of(likelihood))] += more;
    Table got = table(rows, d), expected = got;
    OK(bdl_model_gradient_rows(with, bdl_f64(theta.data(), 1, d), x.view(), y.view(), got.out()));
    OK(bdl_model_gradient_rows(without, bdl_f64(moved.data(), 1, d), data.x.view(), y.view(),
                               expected.out()));
    assert_true(distance(got.values, expected.values) < 1e-14);
    Table one = table(rows, 1), other = one;
    OK(bdl_model_log_likelihood(with, bdl_f64(theta.data(), 1, d), x.view(), y.view(), one.out()));
    OK(bdl_model_log_likelihood(without, bdl_f64(moved.data(), 1, d), data.x.view(), y.view(), other.out()));
    assert_true(distance(one.values, other.values) < 1e-14);
    bdl_model_free(with);
    bdl_model_free(without);
  }
}

/// Weights and offsets from arrays and from a callback, saved and loaded, with and without shards.
int32_t read_rows(void* user_data, const int64_t* numbers, int64_t count, bdl_matrix_out x,
                  bdl_matrix_out y) {
  const auto& [from_x, from_y] = *static_cast<const std::pair<Table, Table>*>(user_data);
  const auto copy = [&](const Table& from, const bdl_matrix_out& to) {
    for (int64_t i = 0; i < count && to.data; ++i)
      for (int64_t j = 0; j < from.columns; ++j)
        static_cast<double*>(to.data)[i * to.row_stride + j * to.col_stride] = from(numbers[i], j);
  };
  copy(from_x, x);
  copy(from_y, y);
  return 0;
}

void sources_are_the_same(void**) {
  const Weighed data(BDL_POISSON, 1);
  std::pair<Table, Table> given{
      with_column(data.x, [](int64_t i) { return 0.1 * static_cast<double>(i % 5); }), data.y};
  bdl_dataset* dataset = nullptr;
  OK(bdl_dataset_from_callback(rows, inputs + 1, 2, read_rows, &given, nullptr, &dataset));
  Vector states[3];
  for (const int source : {0, 1, 2}) {
    Learner l(make_mlp(BDL_F64, {inputs, 3, 1}, BDL_POISSON), BDL_F64, 2, rows);
    // The optimizer has the model by now.
    assert_int_equal(bdl_model_set_offsets(l.model.get(), 1), BDL_ERROR_UNSUPPORTED);
    assert_int_equal(bdl_model_set_row_weights(l.model.get(), 1), BDL_ERROR_UNSUPPORTED);
    Model model = make_mlp(BDL_F64, {inputs, 3, 1}, BDL_POISSON);
    OK(bdl_model_set_offsets(model.get(), 1));
    OK(bdl_model_set_row_weights(model.get(), 1));
    Learner fitted(std::move(model), BDL_F64, 2, rows);
    fitted.set("minibatch", 8);
    if (source == 1)
      OK(bdl_optimizer_fit_dataset(fitted.optimizer.get(), dataset, 4, nullptr, nullptr));
    else
      fitted.fit(given.first.view(), given.second.view(), source == 0 ? 4 : 2);
    if (source == 2) {  // the other half after a file
      std::vector<char> bytes(1 << 20);
      int64_t size = 0;
      OK(bdl_save_bytes(fitted.model.get(), fitted.posterior.get(), fitted.optimizer.get(), bytes.data(),
                        std::ssize(bytes), &size));
      bdl_model* m = nullptr;
      bdl_posterior* q = nullptr;
      bdl_optimizer* o = nullptr;
      OK(bdl_load_bytes(bytes.data(), size, nullptr, &m, &q, &o));
      assert_int_equal(bdl_model_offset_count(m), 1);
      assert_int_equal(bdl_model_has_row_weights(m), 1);
      Learner loaded{Model(m), Posterior(q), Optimizer(o)};
      loaded.fit(given.first.view(), given.second.view(), 2);
      fitted.fit(given.first.view(), given.second.view(), 2);
      assert_true(moments_of(loaded.posterior) == moments_of(fitted.posterior));
      continue;
    }
    states[source] = moments_of(fitted.posterior);
  }
  assert_true(states[0] == states[1]);
  bdl_dataset_free(dataset);
}

/// More rows than are read together; weights of 1 are none.
void many_rows_have_weights(void**) {
  constexpr int64_t many = 600;
  Table x = table(many, 1), y = table(many, 1);
  for (int64_t i = 0; i < many; ++i) {
    x(i, 0) = static_cast<double>(i % 7);
    y(i, 0) = static_cast<double>(i % 5) + 2 * x(i, 0);
  }
  const Table weighted = with_column(y, [](int64_t) { return 1.0; });
  Vector states[2];
  for (const int given : {0, 1}) {
    Model model = make_mlp(BDL_F64, {1, 1}, BDL_GAUSSIAN);
    OK(bdl_model_set_row_weights(model.get(), given));
    Learner l(std::move(model), BDL_F64, FULL, many, "exact-full");
    l.fit(x.view(), given ? weighted.view() : y.view(), 100);
    states[given] = moments_of(l.posterior);
  }
  assert_true(distance(states[1], states[0]) <= 1e-12);
}

void wrong_weights_are_refused(void**) {
  const Weighed data(BDL_BERNOULLI, 1);
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_BERNOULLI);
  assert_int_equal(bdl_model_set_row_weights(model.get(), 2), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_set_row_weights(nullptr, 1), BDL_ERROR_INVALID_ARGUMENT);
  assert_int_equal(bdl_model_has_row_weights(nullptr), 0);
  assert_int_equal(bdl_model_offset_count(nullptr), 0);
  OK(bdl_model_set_row_weights(model.get(), 1));
  Learner l(std::move(model), BDL_F64, FULL, rows, "exact-full");
  const auto fit = [&](const Table& y) {
    return bdl_optimizer_fit(l.optimizer.get(), data.x.view(), y.view(), 50, nullptr, nullptr);
  };
  const auto refuse = [&](double target, double weight, bdl_status status, const char* words) {
    Table y = data.y;
    y(3, 0) = target, y(3, 1) = weight;
    assert_int_equal(fit(y), status);
    if (!strstr(bdl_last_error(), words)) fail_msg("%s does not say %s", bdl_last_error(), words);
  };
  refuse(1, -1, BDL_ERROR_INVALID_ARGUMENT, "the weight of row 3");
  refuse(1, NAN, BDL_ERROR_NOT_FINITE, "the weight of row 3");
  refuse(1, INFINITY, BDL_ERROR_NOT_FINITE, "the weight of row 3");
  refuse(1.5, 1, BDL_ERROR_LABEL, "a number between");
  Table y = data.y;
  for (int64_t i = 0; i < rows; ++i) y(i, 1) = 0;
  assert_int_equal(fit(y), BDL_ERROR_INVALID_ARGUMENT);
  assert_true(strstr(bdl_last_error(), "weights of all rows") != nullptr);
  const Table narrow{1, Vector(static_cast<std::size_t>(rows), 1)};
  assert_int_equal(fit(narrow), BDL_ERROR_SHAPE);
  assert_true(bdl_posterior_is_blank(l.posterior.get()));
  OK(fit(data.y));
}

}  // namespace

int test_row_weights() {
  const CMUnitTest tests[] = {cmocka_unit_test(weighted_rows_are_repeated_rows),
                              cmocka_unit_test(exact_fits_of_two_outputs_take_weights),
                              cmocka_unit_test(trials_are_their_single_results),
                              cmocka_unit_test(offsets_are_taken_from_targets),
                              cmocka_unit_test(constant_offsets_are_biases),
                              cmocka_unit_test(sources_are_the_same),
                              cmocka_unit_test(many_rows_have_weights),
                              cmocka_unit_test(wrong_weights_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
