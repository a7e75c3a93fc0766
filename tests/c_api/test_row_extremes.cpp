// Offsets and weights where they decide what is read: offsets of any sign and size with every likelihood of a
// log mean or a latent variable, and rows of weight 0 that no model could bear.
#include <cmath>

#include "handles.hpp"

namespace {

constexpr int64_t rows = 60, inputs = 2;

double uniform(int64_t i) {
  const double value = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
  return std::min(std::max(value - std::floor(value), 1e-6), 1 - 1e-6);
}

double target(bdl_likelihood likelihood, double eta, double u) {
  const double latent = eta + std::log(u / (1 - u));
  switch (likelihood) {
    case BDL_ORDINAL:
      return latent > 1 ? 2 : latent > -1 ? 1 : 0;
    case BDL_POISSON:
    case BDL_NEGATIVE_BINOMIAL:
      return std::floor(4 * u * std::exp(eta));
    case BDL_GAMMA:
      return std::exp(eta) * (0.2 + 1.6 * u);
    default:
      return latent > 0 ? 1 : 0;
  }
}

/// Inputs, then perhaps an offset; targets, then perhaps a weight.
struct Rows {
  Vector x, y;
  bool has_offset, has_weight;
  Rows(bdl_likelihood likelihood, bool offset, bool weight) : has_offset(offset), has_weight(weight) {
    for (int64_t i = 0; i < rows; ++i) {
      const double a = 2 * uniform(2 * i) - 1, b = 2 * uniform(2 * i + 1) - 1;
      add({a, b}, 3 * a + 1, target(likelihood, a - b, uniform(5 * i + 3)), 1);
    }
  }
  void add(std::initializer_list<double> values, double offset, double value, double weight) {
    x.insert(x.end(), values);
    if (has_offset) x.push_back(offset);
    y.push_back(value);
    if (has_weight) y.push_back(weight);
  }
  int64_t count() const { return std::ssize(y) / (has_weight ? 2 : 1); }
};

constexpr bdl_likelihood kinds[] = {BDL_BERNOULLI,         BDL_PROBIT, BDL_CLOGLOG, BDL_POISSON, BDL_GAMMA,
                                    BDL_NEGATIVE_BINOMIAL, BDL_ORDINAL};

/// The mean of the coefficients, and the cut points or shape if there are any.
Vector fitted(bdl_likelihood likelihood, const Rows& data) {
  Model model = make_mlp(BDL_F64, {inputs, 1}, likelihood);
  if (likelihood == BDL_ORDINAL) OK(bdl_model_set_levels(model.get(), 3));
  OK(bdl_model_set_offsets(model.get(), data.has_offset ? 1 : 0));
  OK(bdl_model_set_row_weights(model.get(), data.has_weight ? 1 : 0));
  Learner learner(std::move(model), BDL_F64, FULL, data.count(), "exact-full");
  learner.set("prior_precision", 1e-10);
  learner.set("bias_prior_precision", 1e-10);
  learner.fit(bdl_f64(data.x.data(), data.count(), std::ssize(data.x) / data.count()),
              bdl_f64(data.y.data(), data.count(), std::ssize(data.y) / data.count()), 500);
  return mean_of(learner.posterior);
}

/// Under a flat prior the offset 3 x_0 + 1 is so much less of the coefficients.
void offsets_move_coefficients(void**) {
  for (const bdl_likelihood likelihood : kinds) {
    const Vector with = fitted(likelihood, {likelihood, true, false}),
                 without = fitted(likelihood, {likelihood, false, false});
    const double moved[] = {3, 0, 1};
    for (std::size_t j = 0; j < with.size(); ++j)
      assert_close(with[j], without[j] - moved[j], 1e-5 * (1 + std::fabs(without[j])), "coefficient");
  }
}

/// Rows of weight 0 are as if they were not there, although their rates overflow.
void rows_of_weight_0_may_be_out_of_range(void**) {
  for (const bdl_likelihood likelihood : kinds) {
    Rows data(likelihood, true, true);
    const Vector expected = fitted(likelihood, data);
    data.add({0.5, -0.5}, 3000, likelihood == BDL_GAMMA ? 2 : 1, 0);
    data.add({0.5, -0.5}, -3000, likelihood == BDL_GAMMA ? 2 : 1, 0);
    const Vector got = fitted(likelihood, data);
    for (std::size_t j = 0; j < got.size(); ++j)
      assert_close(got[j], expected[j], 1e-7 * (1 + std::fabs(expected[j])), "coefficient");
  }
}

/// Predictions and scores of such rows.
void scores_of_weight_0_are_0(void**) {
  Model model = make_mlp(BDL_F64, {inputs, 1}, BDL_POISSON);
  OK(bdl_model_set_offsets(model.get(), 1));
  OK(bdl_model_set_row_weights(model.get(), 1));
  const Posterior q = make_posterior(BDL_F64, inputs + 1, FULL);
  const double zero[] = {0, 0, 0}, identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  OK(bdl_posterior_set_full(q.get(), bdl_f64(zero, 1, 3), bdl_f64(identity, 3, 3)));
  const double x[] = {0, 0, 0.5, 0, 0, 3000}, y[] = {1, 2, 1, 0};
  double density[2], likelihood[2];
  OK(bdl_predict_log_density(model.get(), q.get(), bdl_f64(x, 2, 3), bdl_f64(y, 2, 2), BDL_MONTE_CARLO, 1, 20,
                             bdl_f64_out(density, 2, 1)));
  OK(bdl_predict_log_likelihood(model.get(), q.get(), bdl_f64(x, 2, 3), bdl_f64(y, 2, 2), BDL_MONTE_CARLO, 1,
                                1, bdl_f64_out(likelihood, 1, 2)));
  assert_true(std::isfinite(density[0]) && density[0] < 0);
  assert_true(density[1] == 0);
  assert_true(std::isfinite(likelihood[0]) && likelihood[1] == 0);
}

/// Noise that another method has learned for all outputs together is split, and its covariance learned.
void shared_noise_is_split(void**) {
  Vector x, y;
  for (int64_t i = 0; i < rows; ++i) {
    x.push_back(uniform(3 * i)), x.push_back(uniform(3 * i + 1));
    const double common = uniform(7 * i + 2) - 0.5;
    y.push_back(x[static_cast<std::size_t>(2 * i)] + common);
    y.push_back(2 * common + 0.1 * uniform(11 * i));
  }
  const bdl_matrix inputs_of = bdl_f64(x.data(), rows, 2), targets = bdl_f64(y.data(), rows, 2);
  Learner learner(make_mlp(BDL_F64, {inputs, 2}, BDL_GAUSSIAN), BDL_F64, FULL, rows, "slang-ggn");
  learner.set("learn_noise", 1);
  learner.fit(inputs_of, targets, 5);
  learner.optimizer = make_optimizer(learner.model, learner.posterior, rows, "exact-full");
  learner.set("learn_prior", 0);
  learner.set("learn_noise", 1);
  learner.fit(inputs_of, targets, 200);
  const Vector got = mean_of(learner.posterior);

  Learner fresh(make_mlp(BDL_F64, {inputs, 2}, BDL_GAUSSIAN), BDL_F64, FULL, rows, "exact-full");
  fresh.set("learn_prior", 0);
  fresh.set("learn_noise", 1);
  fresh.fit(inputs_of, targets, 200);
  const Vector expected = mean_of(fresh.posterior);
  for (std::size_t j = 0; j < got.size(); ++j) assert_close(got[j], expected[j], 1e-6, "coefficient");
}

}  // namespace

int test_row_extremes() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(offsets_move_coefficients), cmocka_unit_test(rows_of_weight_0_may_be_out_of_range),
      cmocka_unit_test(scores_of_weight_0_are_0), cmocka_unit_test(shared_noise_is_split)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
