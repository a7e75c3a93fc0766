// The methods exact-*: posteriors that satisfy the stationarity conditions of the ELBO in dense matrices, and
// closed forms where there are some.
#include "posterior/full/full.hpp"
#include "support/exact_reference.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 5, dimension = 6, examples = 60;
constexpr Progress silent{nullptr, nullptr};

/// Correlated inputs, and targets that a linear predictor explains in part.
struct Data {
  Dense x, y;  // columns are examples
  explicit Data(const Likelihood& likelihood, Index features = inputs, Index count = examples) {
    Random random(91);
    const Dense mixing = random.normal(features, features, 0.6) + identity(features);
    x = 0.5 * (mixing * random.normal(features, count));
    const Dense theta = random.normal(1, features, 0.8), noise = random.normal(1, count);
    const Dense f = theta * x;
    y = Dense(1, count);
    for (Index i = 0; i < count; ++i)
      if (likelihood.kind() == BDL_GAUSSIAN)
        y(0, i) = f(0, i) + 0.5 * noise(0, i);
      else if (likelihood.kind() == BDL_BERNOULLI)
        y(0, i) = random.uniform() < 1 / (1 + std::exp(-f(0, i))) ? 1 : 0;
      else
        y(0, i) = std::floor(std::exp(f(0, i)) * 2 * random.uniform());
  }
  Array inputs_array() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets_array() const { return bdl_f64(y.values.data(), y.cols, 1); }
};

std::vector<Likelihood> likelihoods() {
  return {gaussian(1, {4}), Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)};
}

const char* method_for(Index rank) {
  return rank < 0 ? "exact-full" : rank == 0 ? "exact-diagonal" : "exact-low-rank";
}

/// Weights have precision 0.7, the bias 0.2; rank -1 is the full family.
template <class T>
std::unique_ptr<Optimizer<T>> make_optimizer(const Likelihood& likelihood, Index rank, Index count = examples,
                                             Index features = inputs) {
  std::shared_ptr<Posterior<T>> q;
  if (rank < 0)
    q = std::make_shared<FullPosterior<T>>(features + 1);
  else
    q = bdl::testing::make_posterior<T>(features + 1, rank);
  auto optimizer = std::make_unique<Optimizer<T>>(make_network<T>({features, 1}, likelihood), q,
                                                  find_method(method_for(rank)), count);
  Options options = optimizer->options();
  options.prior_precision = 0.7;
  options.bias_prior_precision = 0.2;
  optimizer->set_options(options);
  return optimizer;
}

template <class T>
Index fit_whole(Optimizer<T>& optimizer, const Data& data, Index epochs = 3000) {
  assert_true(fit(optimizer, data.inputs_array(), data.targets_array(), epochs, silent) == Status::OK);
  return optimizer.state.step;
}

Dense prior_of(Index features) {
  Dense out(features + 1, 1, 0.7);
  out(features, 0) = 0.2;
  return out;
}

template <class T>
Dense mean_of(const Optimizer<T>& optimizer) {
  return column_of(std::as_const(*optimizer.posterior()).mean());
}

struct Conditions {
  Dense mean, precision, covariance, slope, target;  // slope: m; target: H + Lambda_0
  double elbo;
};

/// Returns the conditions of the optimum by the reference's integrals.
Conditions conditions_at(const Likelihood& likelihood, const Data& data, const Dense& mean,
                         const Dense& precision) {
  const Index size = mean.rows;
  const Dense covariance = inverse_of(precision), prior = prior_of(size - 1);
  const Reference expected = expectations(likelihood, mean, covariance, data.x, data.y, 1);
  Conditions out{mean,
                 precision,
                 covariance,
                 expected.gradient,
                 expected.hessian + diagonal_matrix(prior),
                 expected.log_likelihood};
  double kl = -static_cast<double>(size) + log_det(precision);
  for (Index i = 0; i < size; ++i) {
    out.slope(i, 0) += prior(i, 0) * mean(i, 0);
    kl += prior(i, 0) * (covariance(i, i) + mean(i, 0) * mean(i, 0)) - std::log(prior(i, 0));
  }
  out.elbo -= kl / 2;
  return out;
}

Conditions conditions_of(const Optimizer<double>& optimizer, const Data& data) {
  return conditions_at(optimizer.model()->likelihood, data, mean_of(optimizer),
                       dense_precision(*optimizer.posterior()));
}

/// |m| in posterior standard deviations.
void assert_mean_stationary(const Conditions& at) {
  assert_true(std::sqrt(dot(at.slope, at.covariance * at.slope)) < 1e-9);
}

void full_optimum_is_stationary(void**) {
  for (const Likelihood& likelihood : likelihoods()) {
    const Data data(likelihood);
    const auto optimizer = make_optimizer<double>(likelihood, -1);
    fit_whole(*optimizer, data);
    const Conditions at = conditions_of(*optimizer, data);
    assert_mean_stationary(at);
    assert_close("precision", at.precision, at.target, 1e-9);
  }
}

void diagonal_optimum_is_stationary(void**) {
  for (const Likelihood& likelihood : likelihoods()) {
    const Data data(likelihood);
    const auto optimizer = make_optimizer<double>(likelihood, 0);
    fit_whole(*optimizer, data);
    const Conditions at = conditions_of(*optimizer, data);
    assert_mean_stationary(at);
    assert_close("precision", diagonal_of(at.precision), diagonal_of(at.target), 1e-9);
  }
}

/// T = Sigma (H + Lambda_0) Sigma - Sigma has T U = 0 and diag(T) = 0, but where d_j belongs at 0.
void low_rank_optimum_is_stationary(void**) {
  for (const Likelihood& likelihood : likelihoods())
    for (const Index rank : {1, 2}) {
      const Data data(likelihood);
      const auto optimizer = make_optimizer<double>(likelihood, rank);
      fit_whole(*optimizer, data);
      const Conditions at = conditions_of(*optimizer, data);
      assert_mean_stationary(at);
      const auto& q = as_low_rank(*optimizer->posterior());
      const Dense t = at.covariance * at.target * at.covariance - at.covariance, u = dense_of(q.u());
      assert_true(max_abs(u) > 0.1);
      // In units of the precision: 1 is the size of a change worth noticing.
      assert_true(max_abs(t * u) * max_abs(u) < 2e-9);
      for (Index i = 0; i < dimension; ++i) {
        const double d = q.d()[static_cast<std::size_t>(i)];
        if (d > 1e-3)
          assert_true(std::abs(t(i, i)) * d < 2e-9);
        else
          assert_true(t(i, i) < 0);  // at its bound: less would be better
      }
    }
}

/// The stationary point is a maximum among its neighbours, and what the method reports is its ELBO.
void optima_are_maxima(void**) {
  for (const Likelihood& likelihood : likelihoods())
    for (const Index rank : {-1, 0, 2}) {
      const Data data(likelihood);
      const auto optimizer = make_optimizer<double>(likelihood, rank);
      fit_whole(*optimizer, data);
      const Conditions best = conditions_of(*optimizer, data);
      assert_near("ELBO", optimizer->state.running_log_likelihood - kl_from_prior(*optimizer), best.elbo,
                  1e-12);
      Random random(92);
      for (int trial = 0; trial < 10; ++trial) {
        Dense precision = best.precision;
        if (rank < 0) {
          const Dense change = random.normal(dimension, dimension, 0.05);
          precision = (identity(dimension) + change) * precision * transposed(identity(dimension) + change);
        } else {
          const auto& q = as_low_rank(*optimizer->posterior());
          Dense u = dense_of(q.u()), d = column_of(q.d());
          for (double& value : u.values) value *= 1 + 0.05 * random.normal();
          for (double& value : d.values) value *= 1 + 0.05 * random.normal();
          precision = u * transposed(u) + diagonal_matrix(d);
        }
        const Dense shift = 0.05 * (cholesky_of(best.covariance) * random.normal(dimension, 1));
        assert_true(conditions_at(likelihood, data, best.mean + shift, precision).elbo < best.elbo);
        assert_true(conditions_at(likelihood, data, best.mean, precision).elbo < best.elbo);
        assert_true(conditions_at(likelihood, data, best.mean + shift, best.precision).elbo < best.elbo);
      }
    }
}

struct LinearPosterior {
  Dense precision, mean;
  explicit LinearPosterior(const Data& data) : precision(diagonal_matrix(prior_of(inputs))) {
    Dense sum(dimension, 1);
    for (Index i = 0; i < examples; ++i) {
      Dense row(dimension, 1, 1);
      for (Index j = 0; j < inputs; ++j) row(j, 0) = data.x(j, i);
      precision = precision + 4.0 * (row * transposed(row));
      sum = sum + 4 * data.y(0, i) * row;
    }
    mean = inverse_of(precision) * sum;
  }
};

/// The full optimum is the exact posterior, the best diagonal has its mean and diag(precision).
void linear_models_have_closed_forms(void**) {
  const Likelihood likelihood = gaussian(1, {4});
  const Data data(likelihood);
  const LinearPosterior exact(data);
  const auto full = make_optimizer<double>(likelihood, -1), diagonal = make_optimizer<double>(likelihood, 0);
  assert_int_equal(fit_whole(*full, data), 2);  // one to get there, one to see it
  assert_close("full precision", dense_precision(*full->posterior()), exact.precision, 1e-13);
  assert_close("full mean", mean_of(*full), exact.mean, 1e-12);
  fit_whole(*diagonal, data);
  assert_close("diagonal precision", diagonal_of(dense_precision(*diagonal->posterior())),
               diagonal_of(exact.precision), 1e-10);
  assert_close("diagonal mean", mean_of(*diagonal), exact.mean, 1e-9);
}

/// More rank, more ELBO; rank D has that of the full family. slang's projection comes close, from below.
void ranks_rise_to_the_full_optimum(void**) {
  for (const Likelihood& likelihood : likelihoods()) {
    const Data data(likelihood);
    const auto full = make_optimizer<double>(likelihood, -1);
    fit_whole(*full, data);
    const Conditions top = conditions_of(*full, data);
    double last = -HUGE_VAL;
    for (const Index rank : {0, 1, 2, 3}) {
      const auto optimizer = make_optimizer<double>(likelihood, rank);
      fit_whole(*optimizer, data);
      const double elbo = conditions_of(*optimizer, data).elbo;
      assert_true(elbo > last && elbo < top.elbo);
      last = elbo;
      if (rank != 1) continue;
      Optimizer<double> slang(optimizer->model(), bdl::testing::make_posterior<double>(dimension, 1),
                              find_method("slang-exact-hess"), examples);
      Options options = slang.options();
      options.prior_precision = 0.7;
      options.bias_prior_precision = 0.2;
      options.learning_rate = options.curvature_rate = 0.1;
      options.momentum = 0;
      options.learn_prior = options.learn_noise = 0;
      slang.set_options(options);
      for (int step = 0; step < 400; ++step) step_on(slang, data.x, data.y);
      const double projected = conditions_of(slang, data).elbo;
      assert_true(projected < elbo && projected > elbo - 3);
    }
    const auto whole = make_optimizer<double>(likelihood, dimension);
    fit_whole(*whole, data);
    const Conditions at = conditions_of(*whole, data);
    assert_near("ELBO", at.elbo, top.elbo, 1e-12);
    assert_close("mean", at.mean, top.mean, 1e-7);
    assert_close("precision", at.precision, top.precision, 1e-6);
  }
}

/// Inputs in large units are those in small ones with another prior, and a start far below their precision
/// (10 N) is left: the ELBO is the same.
void units_do_not_matter(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  const auto elbo_of = [&](Index rank, double scale) {
    Data data(bernoulli);
    data.x = scale * data.x;
    const auto optimizer = make_optimizer<double>(bernoulli, rank);
    Options options = optimizer->options();
    options.prior_precision *= scale * scale;
    optimizer->set_options(options);
    fit_whole(*optimizer, data);
    return optimizer->state.running_log_likelihood - kl_from_prior(*optimizer);
  };
  const double diagonal = elbo_of(0, 1), low_rank = elbo_of(1, 1);
  assert_true(low_rank > diagonal + 1e-3);
  for (const double scale : {1e4, 1e6}) {
    assert_near("diagonal", elbo_of(0, scale), diagonal, 1e-9);
    assert_near("rank 1", elbo_of(1, scale), low_rank, 1e-9);
  }
}

/// Relative to posterior standard deviations; covariances relative to those of the tighter run.
void default_tolerance_is_tight(void**) {
  for (const Likelihood& likelihood : likelihoods())
    for (const Index rank : {-1, 0, 1, 2}) {
      const Data data(likelihood);
      const auto loose = make_optimizer<double>(likelihood, rank),
                 tight = make_optimizer<double>(likelihood, rank);
      Options options = tight->options();
      options.tolerance = 1e-14;
      tight->set_options(options);
      fit_whole(*loose, data);
      fit_whole(*tight, data);
      const Conditions got = conditions_of(*loose, data), best = conditions_of(*tight, data);
      for (Index i = 0; i < dimension; ++i)
        assert_true(std::abs(got.mean(i, 0) - best.mean(i, 0)) < 1e-8 * std::sqrt(best.covariance(i, i)));
      assert_close("covariance", got.covariance, best.covariance, 1e-8);
    }
}

/// A float model ends where the double one does, rounded; and the same seed gives identical results.
void float_models_and_repetitions(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  const Data data(bernoulli);
  for (const Index rank : {-1, 0, 2}) {
    const auto one = make_optimizer<double>(bernoulli, rank), two = make_optimizer<double>(bernoulli, rank);
    const auto single = make_optimizer<float>(bernoulli, rank);
    fit_whole(*one, data);
    fit_whole(*two, data);
    fit_whole(*single, data);
    assert_same("means", mean_of(*one), mean_of(*two));
    assert_same("precisions", dense_precision(*one->posterior()), dense_precision(*two->posterior()));
    assert_close("mean", mean_of(*single), mean_of(*one), 1e-6);
    assert_close("precision", dense_precision(*single->posterior()), dense_precision(*one->posterior()),
                 1e-6);
  }
}

/// Few examples and a rank near D: some d_j belong at 0, where the search has a bound (1e-6 of the diagonal).
void vanishing_diagonals_end_at_their_bound(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  constexpr Index features = 7, count = 12;
  const Data data(bernoulli, features, count);
  const auto full = make_optimizer<double>(bernoulli, -1, count, features);
  fit_whole(*full, data);
  const double top = conditions_of(*full, data).elbo;
  for (const Index rank : {5, 6, 7}) {
    const auto optimizer = make_optimizer<double>(bernoulli, rank, count, features);
    fit_whole(*optimizer, data);
    const Conditions at = conditions_of(*optimizer, data);
    assert_mean_stationary(at);
    assert_true(at.elbo < top + 1e-10 && at.elbo > top - 0.05);
    for (const double d : as_low_rank(*optimizer->posterior()).d()) assert_true(d >= 1e-6 * 0.2);
  }
}

}  // namespace

int test_exact_methods() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(full_optimum_is_stationary),
      cmocka_unit_test(diagonal_optimum_is_stationary),
      cmocka_unit_test(low_rank_optimum_is_stationary),
      cmocka_unit_test(optima_are_maxima),
      cmocka_unit_test(linear_models_have_closed_forms),
      cmocka_unit_test(ranks_rise_to_the_full_optimum),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(default_tolerance_is_tight),
      cmocka_unit_test(float_models_and_repetitions),
      cmocka_unit_test(vanishing_diagonals_end_at_their_bound),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
