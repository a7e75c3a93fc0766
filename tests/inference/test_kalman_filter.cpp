// Method "ekf" against the extended Kalman filter as textbooks have it: the gain form, prediction then
// correction, in dense matrices. Its variants for diagonal and low-rank posteriors, too.
#include "support/naive_network.hpp"
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const NaiveNetwork naive{{2, 3, 2}, BDL_TANH, true};
constexpr Index outputs = 2, rows = 12;

Dense jacobian_at(const Dense& theta, const Dense& x) {
  Dense out(naive.parameters(), 0);
  for (Index c = 0; c < outputs; ++c) {
    Dense seed(outputs, 1);
    seed(c, 0) = 1;
    out = beside(out, naive.row(theta, x, seed));
  }
  return transposed(out);
}

struct Kalman {
  Dense mean, covariance, noise;  // noise: R
  double gamma = 1, forgetting = 1;
  Dense process_noise;     // diagonal of Q
  double log_density = 0;  // of the last observation, before it

  void predict() {
    mean = gamma * mean;
    covariance = gamma * gamma / forgetting * covariance + diagonal_matrix(process_noise);
  }
  void correct(const Dense& x, const Dense& y) {
    const Dense h = jacobian_at(mean, x), residual = y - naive.outputs(mean, x);
    const Dense s = h * covariance * transposed(h) + noise;
    const Dense gain = covariance * transposed(h) * inverse_of(s);
    const double mahalanobis = dot(residual, inverse_of(s) * residual);
    log_density = -(mahalanobis + log_det(s) + outputs * std::log(2 * std::numbers::pi)) / 2;
    mean = mean + gain * residual;
    covariance = covariance - gain * h * covariance;
  }
};

Options ekf_options() {
  Options options;
  find_method("ekf").set_defaults(options, {});
  return options;
}

Kalman kalman_of(const Learner<double>& stream, const Dense& noise) {
  return {stream.mean(), stream.covariance(), noise, 1, 1, Dense(naive.parameters(), 1)};
}

void assert_follows(Learner<double>& stream, Kalman& kalman, double tolerance) {
  const StreamData data(stream.model->likelihood, 2, rows, 52);
  for (Index t = 0; t < rows; ++t) {
    const Dense x = rows_of(data.x, t, 1), y = rows_of(data.y, t, 1);
    const Dense score = stream.observe(x, y);
    kalman.predict();
    kalman.correct(transposed(x), transposed(y));
    assert_near("log density", score(0, 0), kalman.log_density, tolerance);
    assert_close("mean", stream.mean(), kalman.mean, tolerance);
    assert_close("covariance", stream.covariance(), kalman.covariance, tolerance);
  }
}

std::shared_ptr<Network<double>> network(const Likelihood& likelihood) {
  return make_network<double>(naive.sizes, likelihood);
}

std::shared_ptr<Posterior<double>> full_prior() {
  return random_prior<double>(full_kind, naive.parameters(), 53, 2);
}

void ekf_is_the_extended_kalman_filter(void**) {
  Learner<double> stream(network(gaussian(outputs, {4, 10})), full_prior(), ekf_options());
  Dense noise(2, 2);
  noise(0, 0) = 0.25, noise(1, 1) = 0.1;
  Kalman kalman = kalman_of(stream, noise);
  assert_follows(stream, kalman, 1e-11);
}

void noise_may_be_correlated(void**) {
  Dense noise(2, 2, -0.1);
  noise(0, 0) = 0.3, noise(1, 1) = 0.2;
  Likelihood likelihood(BDL_GAUSSIAN, 2);
  likelihood.set_noise_covariance(NoiseCovariance(MatrixView<double>(noise.values.data(), 2, 2)));
  Learner<double> stream(network(likelihood), full_prior(), ekf_options());
  Kalman kalman = kalman_of(stream, noise);
  assert_follows(stream, kalman, 1e-11);
}

/// One noise for all, one for each parameter, forgetting, and all of it.
void parameters_drift_between_observations(void**) {
  for (int which = 0; which < 4; ++which) {
    Options options = ekf_options();
    options.transition = which == 0 ? 1 : 0.95;
    options.process_noise = which == 0 || which == 3 ? 0.02 : 0;
    options.forgetting = which >= 2 ? 0.97 : 1;
    Learner<double> stream(network(gaussian(outputs, {5})), full_prior(), options);
    Kalman kalman = kalman_of(stream, 0.2 * identity(outputs));
    kalman.gamma = options.transition;
    kalman.forgetting = options.forgetting;
    kalman.process_noise = Dense(naive.parameters(), 1, options.process_noise);
    if (which == 3) {  // the option no longer matters
      kalman.process_noise = Random(54).uniform(naive.parameters(), 1, 0, 0.05);
      stream.optimizer.filter.set_process_noise(kalman.process_noise.values);
    }
    assert_follows(stream, kalman, 1e-10);
  }
}

/// Gain forms: vd-ekf keeps the diagonal of the updated precision, lo-fi projects to low rank. Neither
/// differs from the Kalman filter in the mean of a first observation.
void low_rank_filters_begin_with_the_same_mean(void**) {
  const StreamData data(gaussian(outputs, {5}), 2, 1, 55);
  for (const FamilyKind& kind : {diagonal_kind, low_rank_kind}) {
    Options options;
    find_method(kind.rank > 0 ? "lo-fi" : "vd-ekf").set_defaults(options, {});
    if (kind.rank == 0) options.mean_update = MeanUpdateOption::unprojected;
    Learner<double> stream(network(gaussian(outputs, {5})),
                           random_prior<double>(kind, naive.parameters(), 56, 2), options);
    Kalman kalman = kalman_of(stream, 0.2 * identity(outputs));
    stream.observe(data.x, data.y);
    kalman.correct(transposed(data.x), transposed(data.y));
    assert_close("mean", stream.mean(), kalman.mean, 1e-12);
    assert_close("diagonal", diagonal_of(stream.precision()), diagonal_of(inverse_of(kalman.covariance)),
                 1e-12);
  }
}

/// The passage of time for low-rank and diagonal families, dense: exactly gamma^2 / f Sigma + Q.
void every_family_drifts_exactly(void**) {
  Random random(57);
  for (const FamilyKind& kind : family_kinds)
    for (const double gamma : {1.0, 0.9, 0.0})
      for (const double forgetting : {1.0, 0.9})
        for (const bool own : {false, true}) {
          Options options = stream_options(Rule::bong, EstimateKind::lin_hess);
          options.transition = gamma;
          options.process_noise = 0.3;
          options.forgetting = forgetting;
          Learner<double> stream(network(gaussian(outputs, {5})),
                                 random_prior<double>(kind, naive.parameters(), 58), options);
          Dense noise(naive.parameters(), 1, 0.3);
          if (own) {
            noise = random.uniform(naive.parameters(), 1, gamma > 0 ? 0 : 0.1, 1);
            if (gamma > 0) noise(2, 0) = 0;
            stream.optimizer.filter.set_process_noise(noise.values);
          }
          Dense mean = stream.mean(), covariance = stream.covariance();
          for (const Index steps : {1, 3, 0, 1}) {
            stream.forecast(steps);
            for (Index k = 0; k < steps; ++k) {
              mean = gamma * mean;
              covariance = gamma * gamma / forgetting * covariance + diagonal_matrix(noise);
            }
            assert_close("mean", stream.mean(), mean, 1e-13);
            assert_close("covariance", stream.covariance(), covariance, 1e-12);
            assert_near("log det", stream.q->log_det_covariance(), log_det(covariance), 1e-12);
          }
        }
}

}  // namespace

int test_kalman_filter() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(ekf_is_the_extended_kalman_filter),
      cmocka_unit_test(noise_may_be_correlated),
      cmocka_unit_test(parameters_drift_between_observations),
      cmocka_unit_test(low_rank_filters_begin_with_the_same_mean),
      cmocka_unit_test(every_family_drifts_exactly),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
