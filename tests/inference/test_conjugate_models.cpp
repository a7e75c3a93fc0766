// Linear regression with known noise has its posterior in closed form: Gauss-Newton training on all data
// reaches it.
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 40;

struct Regression {
  Dense x, y, tau, prior;  // columns are examples; tau per output
  Index outputs;

  explicit Regression(Index count) : outputs(count) {
    Random random(31);
    x = random.normal(3, examples);
    const Dense weights = random.normal(outputs, 3);
    y = weights * x + random.normal(outputs, examples, 0.3);
    tau = random.uniform(outputs, 1, 5, 12);
  }
  /// Features [x, 1] of an example under output c, in the layout of theta.
  Dense row(Index example, Index c) const {
    Dense out(4 * outputs, 1);
    for (Index i = 0; i < 3; ++i) out(c * 3 + i, 0) = x(i, example);
    out(3 * outputs + c, 0) = 1;
    return out;
  }
  Dense precision(double lambda) const {
    Dense out = lambda * identity(4 * outputs);
    for (Index i = 0; i < examples; ++i)
      for (Index c = 0; c < outputs; ++c) out = out + tau(c, 0) * (row(i, c) * transposed(row(i, c)));
    return out;
  }
  Dense mean(double lambda) const {
    Dense sum(4 * outputs, 1);
    for (Index i = 0; i < examples; ++i)
      for (Index c = 0; c < outputs; ++c) sum = sum + tau(c, 0) * y(c, i) * row(i, c);
    return inverse_of(precision(lambda)) * sum;
  }
};

/// With constant rate alpha the mean ends as mu* plus noise of covariance below alpha / ((2 - alpha) S)
/// Sigma, so that each |mu_i - mu*_i| stays below 6 sd's of it but for a probability of 2e-9.
template <class T>
void check_limit(Index outputs, Index rank, Index samples) {
  const Regression data(outputs);
  const Index dimension = 4 * outputs;
  std::shared_ptr<Posterior<T>> q = make_posterior<T>(dimension, std::max<Index>(rank, 0));
  if (rank < 0) q = std::make_shared<FullPosterior<T>>(dimension);
  Options options = plain_options();
  options.curvature = EstimateKind::mc_ggn;
  options.learning_rate = options.curvature_rate = 0.05;
  options.momentum = 0;
  options.samples = samples;
  options.prior_precision = 0.5;
  const auto model = make_network<T>({3, outputs}, gaussian(outputs, data.tau.values));
  Optimizer<T> optimizer(model, q, find_method("slang-ggn"), examples);
  optimizer.set_options(options);
  for (int step = 0; step < 650; ++step) step_on(optimizer, data.x, data.y);  // 0.95^650 = 3e-15
  const Dense precision = data.precision(0.5), covariance = inverse_of(precision), mean = data.mean(0.5);
  assert_close("precision", dense_precision(*q), precision, sizeof(T) == 8 ? 1e-12 : 1e-5);
  const double noise = 0.05 / (1.95 * static_cast<double>(samples));
  for (Index i = 0; i < dimension; ++i) {
    const double got = static_cast<double>(std::as_const(*q).mean()[static_cast<std::size_t>(i)]);
    assert_true(std::abs(got - mean(i, 0)) < 6 * std::sqrt(noise * covariance(i, i)));
  }
}

void one_output_reaches_the_closed_form(void**) {
  check_limit<double>(1, -1, 500);
  check_limit<double>(1, 4, 500);
  check_limit<float>(1, 4, 500);
}

/// Rows of different outputs do not merge: n = M S C.
void several_outputs_reach_the_closed_form(void**) {
  check_limit<double>(2, 8, 10);
  check_limit<double>(2, -1, 10);
}

/// Rank L < D: the diagonal of the precision is that of the exact posterior, since its correction loses
/// nothing.
void low_ranks_reach_the_diagonal_of_the_closed_form(void**) {
  const Regression data(1);
  for (const Index rank : {0, 1, 2}) {
    const auto q = make_posterior<double>(4, rank);
    Options options = plain_options();
    options.learning_rate = options.curvature_rate = 0.05;
    options.prior_precision = 0.5;
    Optimizer<double> optimizer(make_network<double>({3, 1}, gaussian(1, data.tau.values)), q,
                                find_method("slang-ggn"), examples);
    options.curvature = EstimateKind::mc_ggn;
    optimizer.set_options(options);
    for (int step = 0; step < 650; ++step) step_on(optimizer, data.x, data.y);
    assert_close("diagonal", diagonal_of(dense_precision(*q)), diagonal_of(data.precision(0.5)), 1e-12);
  }
}

}  // namespace

int test_conjugate_models() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(one_output_reaches_the_closed_form),
      cmocka_unit_test(several_outputs_reach_the_closed_form),
      cmocka_unit_test(low_ranks_reach_the_diagonal_of_the_closed_form),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
