// Identities of rules, estimates and families on streams (docs/theory/streams.md, "What
// coincides"): each algorithm against another that it coincides with, or against Bayes' rule.
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Exact posterior of a linear model y = A(x) theta + noise, in information form.
struct Bayes {
  Dense precision, information;
  void observe(const Dense& design, const Dense& y, const Dense& noise_precision) {
    precision = precision + transposed(design) * noise_precision * design;
    information = information + transposed(design) * (noise_precision * y);
  }
  Dense mean() const { return inverse_of(precision) * information; }
};

/// df / dtheta of one dense layer with bias (include/bdl/model.h): W row by row, then b.
Dense design_of(const Dense& x, Index outputs) {
  const Index inputs = x.cols;
  Dense design(outputs, outputs * (inputs + 1));
  for (Index o = 0; o < outputs; ++o) {
    for (Index i = 0; i < inputs; ++i) design(o, o * inputs + i) = x(0, i);
    design(o, outputs * inputs + o) = 1;
  }
  return design;
}

constexpr Index inputs = 3, outputs = 2, linear_size = outputs * (inputs + 1), observations = 50;

struct LinearNoise {
  Likelihood likelihood;
  Dense precision;
};

std::vector<LinearNoise> linear_noises() {
  std::vector<LinearNoise> out;
  Dense diagonal(2, 2), covariance(2, 2, 0.3);
  diagonal(0, 0) = 2, diagonal(1, 1) = 5;
  covariance(0, 0) = 0.5, covariance(1, 1) = 0.4;
  out.push_back({gaussian(2, {2, 5}), diagonal});
  Likelihood correlated(BDL_GAUSSIAN, 2);
  correlated.set_noise_covariance(NoiseCovariance(MatrixView<double>(covariance.values.data(), 2, 2)));
  out.push_back({correlated, inverse_of(covariance)});
  return out;
}

/// Low rank D counts: nothing is discarded.
void bong_is_exact_bayes_in_conjugate_models(void**) {
  const StreamData data(gaussian(outputs, {1}), inputs, observations, 41);
  for (const LinearNoise& noise : linear_noises())
    for (const FamilyKind& kind : {full_kind, FamilyKind{"rank D", Family::low_rank, linear_size}})
      for (const EstimateKind estimate :
           {EstimateKind::lin_hess, EstimateKind::mc_ggn, EstimateKind::mc_hess})
        for (const Index block : {1, 3, 0}) {
          if (!exists(kind, estimate)) continue;
          Options options = stream_options(Rule::bong, estimate);
          options.block = block;
          options.samples = 4;
          Learner<double> stream(make_network<double>({inputs, outputs}, noise.likelihood),
                                 random_prior<double>(kind, linear_size, 42), options);
          stream.optimizer.set_draws(std::make_shared<AntitheticDraws<double>>());
          Bayes bayes{stream.precision(), stream.precision() * stream.mean()};
          stream.observe(data.x, data.y);
          for (Index t = 0; t < observations; ++t)
            bayes.observe(design_of(rows_of(data.x, t, 1), outputs), transposed(rows_of(data.y, t, 1)),
                          noise.precision);
          assert_close("precision", stream.precision(), bayes.precision, 1e-11);
          assert_close("mean", stream.mean(), bayes.mean(), 1e-11);
        }
}

/// The error of blr shrinks by 1 - rate an iteration.
void blr_converges_to_the_exact_posterior(void**) {
  const StreamData data(gaussian(outputs, {1}), inputs, 1, 43);
  for (const FamilyKind& kind :
       {full_kind, full_moment_kind, FamilyKind{"rank D", Family::low_rank, linear_size}}) {
    Options options = stream_options(Rule::blr, EstimateKind::lin_hess);
    options.learning_rate = kind.family == Family::full_moment ? 0.1 : 0.3;
    const auto model = make_network<double>({inputs, outputs}, gaussian(outputs, {1}));
    Learner<double> exact(model, random_prior<double>(full_kind, linear_size, 44),
                          stream_options(Rule::bong, EstimateKind::lin_hess));
    const Dense precision = exact.precision(), mean = exact.mean();
    exact.observe(data.x, data.y);
    double last = 0;
    for (const Index iterations : {5, 10, 200}) {
      std::shared_ptr<Posterior<double>> q;
      if (kind.family == Family::low_rank)  // U U^T = Lambda - d, of rank D
        q = low_rank_of<double>(cholesky_of(precision - 0.1 * identity(linear_size)),
                                Dense(linear_size, 1, 0.1));
      else if (kind.family == Family::full)
        q = full_of<double>(precision);
      else
        q = full_moment_of<double>(inverse_of(precision));
      std::copy(mean.values.begin(), mean.values.end(), q->mean().begin());
      q->set_blank(false);
      options.iterations = iterations;
      Learner<double> blr(model, q, options);
      blr.observe(data.x, data.y);
      const double error = max_abs(blr.precision() - exact.precision());
      if (iterations == 10 && kind.family != Family::full_moment)
        assert_near("contraction", error / last, std::pow(1 - options.learning_rate, 5), 1e-6);
      last = error;
      if (iterations == 200)
        assert_close_belief(blr, exact, kind.family == Family::full_moment ? 1e-7 : 1e-11);
    }
  }
}

/// Two algorithms on a stream of a tanh network: equal but for rounding after each of six observations.
template <class T>
void assert_equal_algorithms(const FamilyKind& kind, const Likelihood& likelihood, const Options& a,
                             const Options& b, double tolerance) {
  const auto model = make_network<T>({2, 3, likelihood.outputs()}, likelihood);
  Learner<T> first(model, random_prior<T>(kind, model->parameters(), 45, 4), a),
      second(model, random_prior<T>(kind, model->parameters(), 45, 4), b);
  const StreamData data(likelihood, 2, 6, 46);
  for (Index t = 0; t < 6; ++t) {
    first.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
    second.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
    assert_close_belief(first, second, tolerance);
  }
  assert_true(first.optimizer.state.shortened_steps == second.optimizer.state.shortened_steps);
}

/// At the first iteration the KL divergence and its gradient vanish.
template <class T>
void one_iteration_is_the_rule_without_the_divergence(void**) {
  for (const Likelihood& likelihood : {gaussian(2, {3}), Likelihood(BDL_CATEGORICAL, 3)})
    for (const FamilyKind& kind : family_kinds)
      for (const EstimateKind estimate : estimates) {
        if (!exists(kind, estimate)) continue;
        Options bong = stream_options(Rule::bong, estimate), blr = stream_options(Rule::blr, estimate),
                bog = stream_options(Rule::bog, estimate), bbb = stream_options(Rule::bbb, estimate);
        bong.learning_rate = 0.2;  // plays no part
        blr.learning_rate = 1;
        bong.iterations = bog.iterations = 7;  // neither does this
        blr.iterations = bbb.iterations = 1;
        const double tolerance = sizeof(T) == 8 ? 1e-13 : 1e-5;
        assert_equal_algorithms<T>(kind, likelihood, blr, bong, tolerance);
        assert_equal_algorithms<T>(kind, likelihood, bbb, bog, tolerance);
      }
}

/// U has as many columns as there are parameters: nothing is discarded, for any estimate with a factor.
void rank_d_is_the_full_family(void**) {
  const Likelihood likelihood = gaussian(1, {3});
  const auto model = make_network<double>({2, 3, 1}, likelihood);
  const Index size = model->parameters();
  const StreamData data(likelihood, 2, 8, 47);
  for (const Rule rule : {Rule::bong, Rule::blr})
    for (const EstimateKind estimate : estimates) {
      if (estimate == EstimateKind::mc_hess) continue;
      Options options = stream_options(rule, estimate);
      options.iterations = 3;
      const auto low_rank = random_prior<double>({"rank D", Family::low_rank, size}, size, 48, 4);
      const std::shared_ptr<Posterior<double>> full = full_of<double>(dense_precision(*low_rank));
      std::ranges::copy(std::as_const(*low_rank).mean(), full->mean().begin());
      full->set_blank(false);
      Learner<double> a(model, low_rank, options), b(model, full, options);
      for (Learner<double>* stream : {&a, &b})
        stream->optimizer.set_draws(std::make_shared<AntitheticDraws<double>>());
      for (Index t = 0; t < 8; ++t) {
        const Dense x = rows_of(data.x, t, 1), y = rows_of(data.y, t, 1);
        const double log_density = b.observe(x, y)(0, 0);
        assert_near("score", a.observe(x, y)(0, 0), log_density, 1e-11);
        assert_close_belief(a, b, 1e-10);
      }
    }
}

/// The mean moved by the covariance before or after the projection to diagonal matrices: for one output
/// the former is the gain form, mu + V H^T (R + H V H^T)^-1 (y - f).
void unprojected_means_of_diagonal_posteriors_are_those_of_the_gain_form(void**) {
  const Dense x = Random(49).normal(1, inputs), y = Random(50).normal(1, outputs);
  const Dense h = design_of(x, outputs);
  Options options = stream_options(Rule::bong, EstimateKind::lin_hess);
  options.mean_update = MeanUpdateOption::unprojected;
  const auto model = make_network<double>({inputs, outputs}, gaussian(outputs, {4}));
  Learner<double> stream(model, random_prior<double>(diagonal_kind, linear_size, 51), options);
  const Dense v = stream.covariance(), mean = stream.mean(), precision = stream.precision();
  stream.observe(x, y);
  const Dense gain = v * transposed(h) * inverse_of(0.25 * identity(outputs) + h * v * transposed(h));
  assert_close("mean", stream.mean(), mean + gain * (transposed(y) - h * mean), 1e-13);
  assert_close("precision", stream.precision(),
               precision + 4.0 * diagonal_matrix(diagonal_of(transposed(h) * h)), 1e-13);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_stream_identities() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bong_is_exact_bayes_in_conjugate_models),
      cmocka_unit_test(blr_converges_to_the_exact_posterior),
      BOTH(one_iteration_is_the_rule_without_the_divergence),
      cmocka_unit_test(rank_d_is_the_full_family),
      cmocka_unit_test(unprojected_means_of_diagonal_posteriors_are_those_of_the_gain_form),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
