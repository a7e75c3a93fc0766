// Filters of full covariance under process noise, which keep the covariance itself: against the Kalman filter
// in dense matrices, for any outputs, blocks and missing targets; that reading changes nothing; and that the
// covariance stays positive definite where rounding could take that away.
#include "io/checkpoint.hpp"
#include "io/record.hpp"
#include "posterior/families.hpp"
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 5;

/// The rows sqrt(precision_c) dx_c / dtheta of a linear model without biases, as columns.
Dense rows_at(const Dense& x, const std::vector<double>& precision, const Dense& y) {
  const Index outputs = y.cols;
  Dense rows(inputs * outputs, 0);
  for (Index i = 0; i < x.rows; ++i)
    for (Index c = 0; c < outputs; ++c) {
      if (std::isnan(y(i, c))) continue;
      Dense row(inputs * outputs, 1);
      for (Index k = 0; k < inputs; ++k)
        row(c * inputs + k, 0) = x(i, k) * std::sqrt(precision[static_cast<std::size_t>(c)]);
      rows = beside(rows, row);
    }
  return rows;
}

struct Reference {
  Dense mean, covariance;
  bool moment;

  /// Observes the loss |scaled residual|^2 / 2 with rows X: a full posterior by Bayes' rule, a full-moment
  /// one by
  /// its step.
  void observe(const Dense& x, const Dense& residual) {
    const Dense gradient = -1.0 * (x * residual), columns = covariance * x;
    if (moment) {
      mean = mean - covariance * gradient;
      covariance = covariance - columns * transposed(columns);
      return;
    }
    const Dense gain = columns * inverse_of(identity(x.cols) + transposed(x) * columns);
    covariance = covariance - gain * transposed(columns);
    mean = mean - covariance * gradient;
  }
};

template <class T>
void check_against_dense_matrices(const FamilyKind& kind, Index outputs, Index block, bool misses) {
  const std::vector<double> precision =
      outputs == 1 ? std::vector<double>{0.3} : std::vector<double>{0.3, 0.1, 0.2};
  const Likelihood likelihood = gaussian(outputs, precision);
  const auto model = make_network<T>({inputs, outputs}, likelihood, false);
  Options options = stream_options(Rule::bong, EstimateKind::lin_hess);
  options.transition = 0.98, options.forgetting = 0.97, options.block = block, options.guard = 0;
  Learner<T> stream(model, random_prior<T>(kind, model->parameters(), 71, 8), options);
  const Dense noise = Random(72).uniform(model->parameters(), 1, 0, 0.01);
  const std::vector<T> q(noise.values.begin(), noise.values.end());
  stream.optimizer.filter.set_process_noise(q);
  Reference reference{stream.mean(), stream.covariance(), kind.family == Family::full_moment};
  StreamData data(likelihood, inputs, 24, 73);
  data.x = 0.5 * data.x;
  for (Index i = 0; misses && i < 24; i += 5) data.y(i, i % outputs) = not_a_number;
  for (Index first = 0; first < 24; first += block) {
    const Dense x = rows_of(data.x, first, block), y = rows_of(data.y, first, block);
    stream.observe(x, y);
    reference.mean = 0.98 * reference.mean;
    reference.covariance = 0.98 * 0.98 / 0.97 * reference.covariance + diagonal_matrix(noise);
    const Dense rows = rows_at(x, precision, y);
    Dense residual(rows.cols, 1);
    for (Index i = 0, at = 0; i < x.rows; ++i)
      for (Index c = 0; c < outputs; ++c)
        if (!std::isnan(y(i, c)))
          residual(at++, 0) = std::sqrt(precision[static_cast<std::size_t>(c)]) * y(i, c);
    residual = residual - transposed(rows) * reference.mean;
    if (rows.cols > 0) reference.observe(rows, residual);
    const double tolerance = sizeof(T) == 8 ? 1e-11 : 2e-4;
    assert_close("mean", stream.mean(), reference.mean, tolerance);
    assert_close("covariance", stream.covariance(), reference.covariance, tolerance);
    assert_true(stream.q->keeps_covariance() == (block * outputs < model->parameters()));
  }
  assert_int_equal(stream.optimizer.state.shortened_steps, 0);
}

template <class T>
void filters_are_those_of_dense_matrices(void**) {
  for (const FamilyKind& kind : {full_kind, full_moment_kind})
    for (const Index outputs : {1, 3})
      for (const Index block : {1, 2, 4, 8})
        for (const bool misses : {false, true}) {
          if (kind.family == Family::full_moment && block == 8) continue;  // would be shortened
          check_against_dense_matrices<T>(kind, outputs, block, misses);
        }
}

/// Two streams, one of which is read, copied and saved all the time.
template <class T>
void reading_changes_nothing(void**) {
  const Likelihood likelihood = gaussian(2, {3});
  const StreamData data(likelihood, 3, 20, 74);
  for (const Family family : {Family::full, Family::full_moment, Family::layerwise_full})
    for (const Rule rule : rules)
      for (const EstimateKind estimate :
           {EstimateKind::lin_hess, EstimateKind::lin_ef, EstimateKind::mc_ef}) {
        const auto model = make_network<T>({3, 4, 2}, likelihood);
        Options options = stream_options(rule, estimate);
        options.iterations = rule == Rule::bbb ? 2 : 1;
        options.learning_rate = 0.01;
        const auto learner = [&] {
          std::vector<Index> blocks;
          if (family == Family::layerwise_full) blocks = {16, 10};
          std::shared_ptr<Posterior<T>> q =
              create_posterior<T>({family, model->parameters(), 0, blocks, {}, {}, {}});
          q->set_isotropic(20);
          for (T& value : q->mean()) value = static_cast<T>(0.3);
          q->set_blank(false);
          return std::make_unique<Learner<T>>(model, q, options);
        };
        const auto plain = learner(), read = learner();
        Scratch scratch;
        for (Index t = 0; t < 20; ++t) {
          options.process_noise = t / 5 % 2 == 0 ? 1e-3 : 0;  // comes and goes
          options.forgetting = t % 7 == 0 ? 0.9 : 1;
          for (auto* one : {plain.get(), read.get()}) one->optimizer.set_options(options);
          plain->observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
          read->observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
          const bool natural = rule == Rule::bong || rule == Rule::blr;
          if (options.process_noise > 0 && natural) assert_true(read->q->keeps_covariance());
          std::ignore = read->q->log_det_covariance();
          assert_true(tensors_of<T>(*read->q).size() > 2);
          RecordWriter record;
          write_posterior<T>(record, *read->q, "");
          const auto archive = parse_archive(serialize_archive(record.metadata(), record.tensors()));
          const auto loaded = read_posterior<T>(RecordReader(archive), "");
          assert_true(loaded->keeps_covariance() == read->q->keeps_covariance());
          read->q->assign(t % 2 == 0 ? *loaded : *read->q->clone());
        }
        assert_same_belief(*read, *plain);
      }
}

/// After an observation, an output's variance is at most the observation's, to rounding of the numbers that
/// make it up.
template <class T>
void assert_knows(const Posterior<T>& q, const Dense& x, double observed_variance) {
  std::vector<T> row(x.values.begin(), x.values.end()), marginal(row.size());
  Scratch scratch;
  double variance = 0, size = 0;
  q.variances({row.data(), q.dimension(), 1}, {&variance, 1}, scratch);
  q.marginal_variance(marginal, scratch);
  for (std::size_t i = 0; i < row.size(); ++i)
    size += static_cast<double>(row[i]) * static_cast<double>(row[i]) * static_cast<double>(marginal[i]);
  if (!(variance <= observed_variance + (sizeof(T) == 8 ? 1e-9 : 1e-5) * size))
    fail_msg("variance %g after an observation of variance %g, terms %g", variance, observed_variance, size);
}

/// Almost exact observations of few directions, noise for some parameters only or for none but one, and
/// numbers that differ by orders of magnitude: what is held can be factorised, and says what is known.
template <class T>
void covariances_stay_positive_definite(void**) {
  for (const FamilyKind& kind : {full_kind, full_moment_kind})
    for (const double precision : {1e-2, sizeof(T) == 8 ? 1e4 : 1.0, sizeof(T) == 8 ? 1e8 : 10.0})
      for (const int noisy : {0, 1, 2}) {
        constexpr Index size = 20;
        const Likelihood likelihood = gaussian(1, {precision});
        const auto model = make_network<T>({size, 1}, likelihood, false);
        Options options = stream_options(Rule::bong, EstimateKind::lin_hess);
        options.score = ScoreKind::none;
        Learner<T> stream(model, random_prior<T>(kind, size, 75), options);
        std::vector<T> q(size);
        for (std::size_t i = 0; i < q.size(); ++i)
          q[i] = static_cast<T>(noisy == 0 || i == 0 ? 1e-7 : noisy == 1 && i % 3 == 0 ? 1e-20 : 0);
        stream.optimizer.filter.set_process_noise(q);
        Random random(76);
        const Dense directions = random.normal(3, size);
        for (int t = 0; t < 4000; ++t) {
          Dense x = rows_of(directions, t % 3, 1);
          if (t % 10 == 9) x = random.normal(1, size);
          for (Index k = 0; k < size; k += 4) x(0, k) *= 1e3;
          std::ignore = stream.observe(x, Dense(1, 1, std::sin(t)));
          if (kind.family == full_kind.family) assert_knows(*stream.q, x, 1 / precision);
          if (t % 97 == 0) stream.q->complete();
        }
        stream.q->complete();
        std::vector<T> variance(size);
        Scratch scratch;
        stream.q->marginal_variance(variance, scratch);
        for (const T value : variance) assert_true(value > 0 && value < 3);
      }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_noisy_filters() {
  const CMUnitTest tests[] = {
      BOTH(filters_are_those_of_dense_matrices),
      BOTH(reading_changes_nothing),
      BOTH(covariances_stay_positive_definite),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
