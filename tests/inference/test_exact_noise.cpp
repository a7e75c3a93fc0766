// Noise that the methods exact-* estimate: degrees of freedom, and the Student t distribution of predictions,
// which are those of linear regression where the prior is flat.
#include "bdl/predict.h"
#include "io/checkpoint.hpp"
#include "likelihood/special_functions.hpp"
#include "posterior/full/full.hpp"
#include "predict/predict.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index features = 2, usual = 100;
constexpr Progress silent{nullptr, nullptr};

/// Columns are examples.
struct Data {
  Dense x, y;
  Array inputs() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets() const { return bdl_f64(y.values.data(), y.cols, 1); }
};

Data make_data(Index examples) {
  Random random(21);
  Data data{random.normal(features, examples), Dense(1, examples)};
  for (Index i = 0; i < examples; ++i)
    data.y(0, i) = 1 + data.x(0, i) - 2 * data.x(1, i) + 0.7 * random.normal();
  return data;
}

using Learner = std::unique_ptr<Optimizer<double>>;

Learner make_learner(Index examples, double prior, bool learns_noise = true) {
  auto learner = std::make_unique<Optimizer<double>>(
      make_network<double>({features, 1}, Likelihood(BDL_GAUSSIAN, 1)),
      std::make_shared<FullPosterior<double>>(features + 1), find_method("exact-full"), examples);
  Options options = learner->options();
  options.prior_precision = options.bias_prior_precision = prior;
  options.learn_noise = learns_noise ? 1 : 0;
  learner->set_options(options);
  return learner;
}

void fit(Optimizer<double>& learner, const Data& data) {
  assert_true(bdl::fit(learner, data.inputs(), data.targets(), usual, silent) == Status::OK);
}

/// Least squares: coefficients [slopes, intercept], (X^T X)^-1 and the residual variance.
struct Regression {
  Dense coefficients, inverse;
  double variance = 0, degrees = 0;
};

Dense row_at(const Dense& x, Index i) {
  Dense row(features + 1, 1, 1);
  for (Index j = 0; j < features; ++j) row(j, 0) = x(j, i);
  return row;
}

Regression regression(const Data& data) {
  const Index dimension = features + 1;
  Dense gram(dimension, dimension), product(dimension, 1);
  for (Index i = 0; i < data.x.cols; ++i) {
    const Dense x = row_at(data.x, i);
    gram = gram + x * transposed(x);
    product = product + data.y(0, i) * x;
  }
  Regression out{Dense(), inverse_of(gram), 0, static_cast<double>(data.x.cols - dimension)};
  out.coefficients = out.inverse * product;
  for (Index i = 0; i < data.x.cols; ++i)
    out.variance += std::pow(data.y(0, i) - dot(row_at(data.x, i), out.coefficients), 2) / out.degrees;
  return out;
}

double quantile_of(double p, double degrees) {
  return p <= 0.5 ? student_t_quantile(p, degrees) : -student_t_quantile(1 - p, degrees);
}

void intervals_are_those_of_regression(void**) {
  const double levels[] = {0.025, 0.2, 0.5, 0.975};
  for (const Index examples : {5, 6, 8, 12, 20, 50}) {
    const Data data = make_data(examples), others = make_data(7);
    const auto learner = make_learner(examples, 1e-12);
    fit(*learner, data);
    const Regression expected = regression(data);
    const Likelihood& likelihood = learner->model()->likelihood;
    assert_near("noise", 1 / likelihood.noise_precision(0), expected.variance, 1e-7 * expected.variance);
    assert_near("degrees", likelihood.noise_degrees(0), expected.degrees, 1e-7);
    const Query<double> query{
        *learner->model(), *learner->posterior(), others.inputs(), {BDL_LINEARIZED, 1, 1}};
    Dense quantiles(4, others.x.cols), density(1, others.x.cols);
    predict_quantiles(query, bdl_f64(levels, 1, 4),
                      bdl_strided_out(quantiles.values.data(), BDL_F64, others.x.cols, 4, 4, 1));
    predict_log_density(query, others.targets(), bdl_f64_out(density.values.data(), others.x.cols, 1));
    for (Index i = 0; i < others.x.cols; ++i) {
      const Dense x = row_at(others.x, i);
      const double center = dot(x, expected.coefficients),
                   scale = std::sqrt(expected.variance * (1 + dot(x, expected.inverse * x)));
      for (Index k = 0; k < 4; ++k)
        assert_near("quantile", quantiles(k, i), center + scale * quantile_of(levels[k], expected.degrees),
                    1e-6 * scale);
      const double t = (others.y(0, i) - center) / scale, nu = expected.degrees,
                   wanted = std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) -
                            std::log(nu * std::numbers::pi) / 2 - std::log(scale) -
                            (nu + 1) / 2 * std::log1p(t * t / nu);
      assert_near("log density", density(0, i), wanted, 1e-6);
    }
  }
}

/// The 97.5 % quantiles of tables.
void quantiles_are_those_of_tables(void**) {
  const double table[][2] = {{1, 12.7062047361747},  {2, 4.30265272974946},  {3, 3.18244630528371},
                             {10, 2.22813885198627}, {30, 2.04227245630124}, {1e3, 1.96233908082641}};
  for (const auto& [degrees, expected] : table)
    assert_near("t", student_t_quantile(0.025, degrees), -expected, 1e-11 * expected);
  for (const double degrees : {0.7, 1.0, 4.5, 300.0, 1e7})
    for (const double p : {1e-200, 1e-12, 0.01, 0.3, 0.499, 0.5}) {
      const double t = student_t_quantile(p, degrees);
      assert_near("P(T <= t)", std::isinf(t) ? p : student_t_cdf(t, degrees) / p, std::isinf(t) ? p : 1,
                  1e-9);
    }
  assert_near("z", student_t_quantile(0.025, HUGE_VAL), normal_quantile(0.025), 0);
  assert_near("t", student_t_quantile(0.025, 1e11), normal_quantile(0.025), 1e-9);
}

/// Noise that is known, or set after the fit, has none; a file keeps them.
void known_noise_has_no_degrees(void**) {
  const Data data = make_data(12);
  const auto known = make_learner(12, 1, false), learned = make_learner(12, 1);
  fit(*known, data);
  fit(*learned, data);
  assert_true(std::isinf(known->model()->likelihood.noise_degrees(0)));
  const double degrees = learned->model()->likelihood.noise_degrees(0);
  assert_true(degrees > 12 - 3 && degrees < 12);
  const SavedParts<double> parts{nullptr, nullptr, learned.get()};
  const auto bytes = serialize_checkpoint(parts);
  const auto loaded = load_checkpoint<double>(parse_archive(bytes), nullptr);
  assert_true(loaded.noise.precision_degrees == std::vector<double>{degrees});
  const double one = 1;
  learned->model()->likelihood.set_noise_precision({&one, 1});
  assert_true(std::isinf(learned->model()->likelihood.noise_degrees(0)));
}

}  // namespace

int test_exact_noise() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(intervals_are_those_of_regression),
      cmocka_unit_test(quantiles_are_those_of_tables),
      cmocka_unit_test(known_noise_has_no_degrees),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
