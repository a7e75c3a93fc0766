// The noise that streams learn from one-step-ahead residuals: against its recursion in dense matrices, where
// it goes with more and more data, what it follows, and what it leaves alone.
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 3;

Dense filled(Index rows, Index cols, double value) {
  Dense out(rows, cols);
  std::ranges::fill(out.values, value);
  return out;
}

/// f = W x + b with the prior N(0, 1).
Learner<double> linear_stream(Likelihood likelihood, const Options& options) {
  auto model = make_network<double>({inputs, likelihood.outputs()}, likelihood);
  std::shared_ptr<Posterior<double>> q = full_of<double>(identity(model->parameters()));
  q->set_blank(false);
  return {std::move(model), std::move(q), options};
}

Options filter_options() {
  Options options;
  find_method("ekf").set_defaults(options, {});
  return options;
}

/// A noise for each target, from which learning starts.
Likelihood with_noise(bdl_likelihood kind, const std::vector<double>& precision) {
  Likelihood likelihood(kind, static_cast<Index>(precision.size()));
  likelihood.learn_noise_precision(precision);
  return likelihood;
}

/// y = B^T x + noise, x ~ N(0, 1).
struct Line {
  Dense x, y;
  Line(const std::vector<double>& deviations, Index rows, std::uint64_t seed) {
    Random random(seed);
    const auto targets = static_cast<Index>(deviations.size());
    x = random.normal(rows, inputs);
    y = x * random.normal(inputs, targets);
    const Dense noise = random.normal(rows, targets);
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < targets; ++c) y(i, c) += deviations[at(c)] * noise(i, c);
  }
};

double deviation_of(const Learner<double>& stream, Index c = 0) {
  return 1 / std::sqrt(stream.model->likelihood.noise_precision(c));
}

/// The recursion of docs/theory/streams.md beside a Kalman filter in gain form. Its statistic is the
/// expected square of y - f after the observation.
void noise_follows_its_recursion(void**) {
  Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
  const Line line({0.3}, 60, 11);
  Dense mean(inputs + 1, 1), covariance = identity(inputs + 1);
  double noise = 1, information = 4, values = 4, center = 0, variance = 1;
  for (Index t = 0; t < line.x.rows; ++t) {
    const Dense x = rows_of(line.x, t, 1), h = beside(x, filled(1, 1, 1));
    const double y = line.y(t, 0), r = y - (h * mean)(0, 0), s = (h * covariance * transposed(h))(0, 0);
    stream.observe(x, rows_of(line.y, t, 1));
    const Dense gain = (1 / (s + noise)) * (covariance * transposed(h));
    mean = mean + r * gain;
    covariance = covariance - gain * h * covariance;
    const double left = (y - (h * mean)(0, 0)), after = (h * covariance * transposed(h))(0, 0);
    information += std::pow(noise / (s + noise), 2);
    const double from_center = y - center;
    center += from_center / ++values;
    variance += (from_center * from_center - variance) / values;
    const double change = r * r > 25 * (s + noise) ? 24 * (s + noise) : left * left + after - noise;
    noise = std::min(variance, noise + 2 / information * change);
    assert_near("noise", deviation_of(stream), std::sqrt(noise), 1e-11);
    assert_close("mean", stream.mean(), mean, 1e-9);
  }
}

void noise_is_found(void**) {
  for (const double deviation : {1e-3, 0.1, 1.0}) {
    Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
    const Line line({deviation}, 6000, 12);
    stream.observe(line.x, line.y);
    assert_near("found / true", deviation_of(stream) / deviation, 1, 0.03);
  }
}

void targets_share_the_noise_or_not(void**) {
  const Line line({0.1, 1}, 4000, 13);
  Learner<double> own = linear_stream(with_noise(BDL_GAUSSIAN, {1, 1}), filter_options());
  Learner<double> shared = linear_stream(Likelihood(BDL_GAUSSIAN, 2), filter_options());
  own.observe(line.x, line.y);
  shared.observe(line.x, line.y);
  assert_near("first", deviation_of(own, 0) / 0.1, 1, 0.05);
  assert_near("second", deviation_of(own, 1), 1, 0.05);
  assert_int_equal(shared.model->likelihood.noise_precision().size(), 1);
  assert_near("shared", deviation_of(shared) / std::sqrt(1.01 / 2), 1, 0.05);
}

void missing_targets_say_nothing(void**) {
  Line line({0.1, 1}, 200, 14);
  for (Index i = 0; i < 200; ++i) line.y(i, 1) = NAN;
  Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1, 7}), filter_options());
  stream.observe(line.x, line.y);
  assert_true(stream.model->likelihood.noise_precision(1) == 7 && deviation_of(stream) < 0.2);
}

/// With forgetting, 1 / (1 - f) residuals count, so a noise that changes is followed.
void forgetting_follows_the_noise(void**) {
  for (const double forgetting : {0.98, 1.0}) {
    Options options = filter_options();
    options.forgetting = forgetting;
    Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), options);
    Line line({0.1}, 3300, 15);
    Random random(16);
    for (Index i = 3000; i < 3300; ++i) line.y(i, 0) += random.normal(1, 1)(0, 0);
    stream.observe(rows_of(line.x, 0, 3000), rows_of(line.y, 0, 3000));
    assert_near("quiet / true", deviation_of(stream) / 0.1, 1, forgetting < 1 ? 0.3 : 0.03);
    stream.observe(rows_of(line.x, 3000, 300), rows_of(line.y, 3000, 300));
    assert_true(forgetting == 1 ? deviation_of(stream) < 0.6 : std::abs(deviation_of(stream) - 1) < 0.3);
  }
}

/// Noise is never larger than what the targets vary, however bad the predictions, and never 0.
void noise_has_limits(void**) {
  Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
  for (double& value : stream.q->mean()) value = 1e3;
  stream.q->swap(*full_of<double>(1e12 * identity(inputs + 1)));  // sure of what is wrong
  stream.q->set_blank(false);
  for (double& value : stream.q->mean()) value = 1e3;
  const Line line({0.1}, 1000, 16);
  stream.observe(line.x, line.y);
  double square = 0;
  for (const double value : line.y.values) square += value * value / 1000;
  assert_true(deviation_of(stream) < 1.1 * std::sqrt(std::max(1.0, square)));
  Learner<double> exact = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
  const Line without({0}, 20000, 17);
  exact.observe(without.x, without.y);
  assert_true(deviation_of(exact) < 1e-3 && deviation_of(exact) > 1e-5);
}

/// One residual of 10,000 deviations raises it by less than a tenth.
void outliers_are_limited(void**) {
  Line line({0.1}, 2001, 18);
  line.y(2000, 0) += 1000;
  Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
  stream.observe(rows_of(line.x, 0, 2000), rows_of(line.y, 0, 2000));
  const double before = deviation_of(stream);
  stream.observe(rows_of(line.x, 2000, 1), rows_of(line.y, 2000, 1));
  assert_true(deviation_of(stream) > before && deviation_of(stream) < 1.1 * before);
}

/// A shift raises the noise, yet rows after it count half as much as those before it at least: the intercept
/// goes to a third of it in as many rows, where it would stay at 0.
void shifts_are_learned(void**) {
  Line line({0.1}, 1000, 23);
  for (Index i = 500; i < 1000; ++i) line.y(i, 0) += 60;
  Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), filter_options());
  stream.observe(line.x, line.y);
  assert_near("intercept", stream.mean()(inputs, 0), 20, 4);
  assert_near("deviation", deviation_of(stream), 30, 3);
}

void student_noise_is_found(void**) {
  Line line({0}, 6000, 19);
  Random random(20);
  const Dense z = random.normal(6000, 5);
  for (Index i = 0; i < 6000; ++i) {  // a Student-t with 4 degrees of freedom
    double chi = 0;
    for (Index k = 1; k < 5; ++k) chi += z(i, k) * z(i, k) / 4;
    line.y(i, 0) += 0.2 * z(i, 0) / std::sqrt(chi);
  }
  Learner<double> stream = linear_stream(with_noise(BDL_STUDENT_T, {1}), filter_options());
  stream.observe(line.x, line.y);
  assert_near("scale", deviation_of(stream) / 0.2, 1, 0.05);
}

void scores_tell_how_it_is_learned(void**) {
  const Line line({0.1}, 500, 21);
  for (const ScoreKind score : {ScoreKind::none, ScoreKind::plug_in, ScoreKind::linearized}) {
    Options options = filter_options();
    options.score = score;
    Learner<double> stream = linear_stream(with_noise(BDL_GAUSSIAN, {1}), options);
    stream.observe(line.x, line.y);
    assert_near("found / true", deviation_of(stream) / 0.1, 1, 0.2);
  }
}

void noise_that_was_set_stays(void**) {
  const Line line({0.1}, 50, 22);
  Options fixed = filter_options();
  fixed.learn_noise = 0;
  Learner<double> set = linear_stream(gaussian(1, {3}), filter_options()),
                  off = linear_stream(with_noise(BDL_GAUSSIAN, {3}), fixed);
  for (Learner<double>* stream : {&set, &off}) {
    stream->observe(line.x, line.y);
    assert_true(stream->model->likelihood.noise_precision(0) == 3);
  }
  assert_same_belief(set, off);
}

}  // namespace

int test_residual_noise() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(noise_follows_its_recursion),    cmocka_unit_test(noise_is_found),
      cmocka_unit_test(targets_share_the_noise_or_not), cmocka_unit_test(missing_targets_say_nothing),
      cmocka_unit_test(forgetting_follows_the_noise),   cmocka_unit_test(noise_has_limits),
      cmocka_unit_test(outliers_are_limited),           cmocka_unit_test(shifts_are_learned),
      cmocka_unit_test(student_noise_is_found),         cmocka_unit_test(scores_tell_how_it_is_learned),
      cmocka_unit_test(noise_that_was_set_stays),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
