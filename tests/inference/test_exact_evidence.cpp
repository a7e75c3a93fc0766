// Priors that the methods exact-* learn, and posteriors of fewer examples than parameters, against dense
// matrices.
#include "posterior/full/full.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/diagnose.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Progress silent{nullptr, nullptr};
constexpr double of_biases = 1e-4;
constexpr Index usual = 100;

/// Columns are examples.
struct Data {
  Dense x, y;
  Array inputs() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets() const { return bdl_f64(y.values.data(), y.cols, 1); }
};

Data make_data(bdl_likelihood kind, Index features, Index examples) {
  Random random(31);
  Data data{random.normal(features, examples), Dense(1, examples)};
  for (Index i = 0; i < examples; ++i) {
    const double f = 2 * data.x(0, i) - data.x(1, i);
    data.y(0, i) = kind == BDL_GAUSSIAN    ? f + random.normal()
                   : kind == BDL_BERNOULLI ? (f + random.normal() > 0 ? 1 : 0)
                                           : std::floor(std::exp(f / 2) + random.uniform());
  }
  return data;
}

using Learner = std::unique_ptr<Optimizer<double>>;

/// rank -1: exact-full.
Learner make_learner(bdl_likelihood kind, const Data& data, Index rank, bool learns_prior = true) {
  const Index dimension = data.x.rows + 1;
  std::shared_ptr<Posterior<double>> q = std::make_shared<FullPosterior<double>>(dimension);
  if (rank >= 0) q = bdl::testing::make_posterior<double>(dimension, rank);
  auto learner = std::make_unique<Optimizer<double>>(
      make_network<double>({data.x.rows, 1}, Likelihood(kind, 1)), q,
      find_method(rank < 0 ? "exact-full" : "exact-low-rank"), data.x.cols);
  Options options = learner->options();
  options.bias_prior_precision = of_biases;
  options.learn_noise = 1;
  options.learn_prior = learns_prior ? 1 : 0;
  learner->set_options(options);
  return learner;
}

void fit(Optimizer<double>& learner, const Data& data) {
  assert_true(bdl::fit(learner, data.inputs(), data.targets(), usual, silent) == Status::OK);
  if (learner.state.distance != 0)
    fail_msg("%g from the optimum after %ld iterations", learner.state.distance,
             static_cast<long>(learner.state.step));
  assert_string_equal(diagnose(learner).message, "");
}

/// The scales are those at which the evidence has no slope, and the posterior is theirs.
void scales_have_the_largest_evidence(void**) {
  for (const auto& [features, examples] : {std::pair<Index, Index>{3, 40}, {15, 20}, {30, 20}, {80, 20}})
    for (const bool by_rank : {false, true}) {
      if (by_rank && features < examples) continue;
      const Data data = make_data(BDL_GAUSSIAN, features, examples);
      const auto learner = make_learner(BDL_GAUSSIAN, data, by_rank ? examples : -1);
      fit(*learner, data);
      const double lambda = learner->prior().groups()[0],
                   tau = learner->model()->likelihood.noise_precision(0);
      assert_near("prior of the intercept", learner->prior().groups()[1], of_biases, 0);
      Dense precision = lambda * identity(features + 1), target(features + 1, 1);
      precision(features, features) = of_biases;
      for (Index i = 0; i < examples; ++i) {
        Dense x(features + 1, 1, 1);
        for (Index j = 0; j < features; ++j) x(j, 0) = data.x(j, i);
        precision = precision + tau * (x * transposed(x));
        target = target + tau * data.y(0, i) * x;
      }
      const Dense covariance = inverse_of(precision), mean = covariance * target;
      assert_close("mean", column_of(std::as_const(*learner->posterior()).mean()), mean, 1e-8);
      assert_close("precision", dense_precision(*learner->posterior()), precision, 1e-8 * tau);
      double squares = 0, errors = 0;
      for (Index j = 0; j < features; ++j) squares += mean(j, 0) * mean(j, 0) + covariance(j, j);
      for (Index i = 0; i < examples; ++i) {
        Dense x(features + 1, 1, 1);
        for (Index j = 0; j < features; ++j) x(j, 0) = data.x(j, i);
        errors += std::pow(data.y(0, i) - dot(x, mean), 2) + dot(x, covariance * x);
      }
      assert_near("lambda E|theta|^2 / D", lambda * squares / static_cast<double>(features), 1, 1e-5);
      assert_near("tau E|y - f|^2 / N", tau * errors / static_cast<double>(examples), 1, 1e-5);
    }
}

/// Other likelihoods: the slope of the ELBO, and the same optimum in both families.
void other_likelihoods_learn_their_prior(void**) {
  for (const bdl_likelihood kind : {BDL_BERNOULLI, BDL_POISSON})
    for (const auto& [features, examples] : {std::pair<Index, Index>{4, 80}, {40, 30}}) {
      const Data data = make_data(kind, features, examples);
      const auto learner = make_learner(kind, data, -1);
      fit(*learner, data);
      const double lambda = learner->prior().groups()[0];
      const Dense mean = column_of(std::as_const(*learner->posterior()).mean()),
                  covariance = inverse_of(dense_precision(*learner->posterior()));
      double squares = 0;
      for (Index j = 0; j < features; ++j) squares += mean(j, 0) * mean(j, 0) + covariance(j, j);
      assert_near("lambda E|theta|^2 / D", lambda * squares / static_cast<double>(features), 1, 1e-5);
      if (features < examples) continue;
      const auto by_rank = make_learner(kind, data, examples);
      fit(*by_rank, data);
      assert_near("lambda", by_rank->prior().groups()[0] / lambda, 1, 1e-4);
      assert_close("mean", column_of(std::as_const(*by_rank->posterior()).mean()), mean, 1e-4);
    }
}

/// A rank of the number of rows is exact for a given prior, too.
void few_rows_have_a_low_rank(void**) {
  const Data data = make_data(BDL_POISSON, 50, 12);
  const auto full = make_learner(BDL_POISSON, data, -1, false),
             low = make_learner(BDL_POISSON, data, 12, false);
  fit(*full, data);
  fit(*low, data);
  assert_close("mean", column_of(std::as_const(*low->posterior()).mean()),
               column_of(std::as_const(*full->posterior()).mean()), 1e-7);
  assert_close("precision", dense_precision(*low->posterior()), dense_precision(*full->posterior()), 1e-6);
}

}  // namespace

int test_exact_evidence() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(scales_have_the_largest_evidence),
      cmocka_unit_test(other_likelihoods_learn_their_prior),
      cmocka_unit_test(few_rows_have_a_low_rank),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
