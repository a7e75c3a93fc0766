// The exact estimate in one-output generalised linear models against dense matrices and plain sums over the
// normal density: evidence, batch steps and observations of every family; nothing is drawn.
#include "linalg/blas.hpp"
#include "support/exact_reference.hpp"
#include "support/streams.hpp"
#include "support/user_networks.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index inputs = 4;

/// Any draw is a mistake.
class NoDraws final : public DrawSource<double> {
 public:
  void parameters(const Posterior<double>&, DrawPlace, MatrixView<double>, Scratch&) override {
    fail_msg("parameters were drawn");
  }
  void probes(const Posterior<double>&, DrawPlace, MatrixView<double>) override {
    fail_msg("probes were drawn");
  }
};

struct Batch {
  Dense x, y;
  Batch(const Likelihood& likelihood, Index count, std::uint64_t seed) {
    Random random(seed);
    x = random.normal(inputs, count, 0.4);
    for (Index i = 0; i < count; ++i)
      y = i == 0 ? random_targets(likelihood, random) : beside(y, random_targets(likelihood, random));
  }
};

template <class T>
void check_evidence(const Likelihood& likelihood, bool bias, Index count) {
  const auto model = make_network<T>({inputs, 1}, likelihood, bias);
  const Batch batch(likelihood, count, 71);
  const Padded<T> x(batch.x), y(batch.y);
  Options options;
  options.curvature = EstimateKind::exact_hess;
  EvidenceEstimator<T> estimator(*model);
  StreamDraws<T> draws;
  Scratch scratch;
  for (const Belief<T>& belief : beliefs<T>(model->parameters(), 72)) {
    const Reference expected =
        expectations(likelihood, belief.mean, belief.covariance, dense_of(x.get()), dense_of(y.get()), 1.7);
    const Evidence<T> got = estimator.estimate(*belief.q, {x.get(), y.get(), 1.7}, options, draws, scratch);
    const double tolerance = sizeof(T) == 8 ? 3e-13 : 3e-5;
    assert_close("gradient", column_of(gradient_of(got, scratch)), expected.gradient, tolerance);
    Dense hessian(model->parameters(), model->parameters());
    got.curvature.rows->add_outer(got.curvature.w, {hessian.values.data(), hessian.rows, hessian.cols});
    mirror_lower<double>({hessian.values.data(), hessian.rows, hessian.cols});
    assert_close("Hessian", hessian, expected.hessian, tolerance);
    assert_near("log likelihood", got.expected_log_likelihood, expected.log_likelihood, tolerance);
  }
}

template <class T>
void evidence_is_the_expectation(void**) {
  for (const Likelihood& likelihood : one_output())
    for (const bool bias : {false, true}) check_evidence<T>(likelihood, bias, 9);
  check_evidence<T>(Likelihood(BDL_BERNOULLI, 1), true, 1);
}

/// There are so many parameters that the examples come in several blocks.
void blocks_of_examples_agree(void**) {
  const Index wide = 9000, count = 20;
  const auto model = make_network<double>({wide, 1}, Likelihood(BDL_BERNOULLI, 1));
  Random random(73);
  const Dense x = random.normal(wide, count, 0.01);
  Dense y(1, count);
  for (Index i = 0; i < count; ++i) y(0, i) = static_cast<double>(i % 2);
  const auto q = low_rank_of<double>(random.normal(wide + 1, 2), random.uniform(wide + 1, 1, 1, 2));
  ExactEstimator<double> estimator(*model);
  const auto of = [](const Dense& a) { return ConstMatrixView<double>(a.values.data(), a.rows, a.cols); };
  const Estimate<double> all = estimator.estimate(*q, of(x), of(y), 1);
  const Dense c = column_of(all.c), w = column_of(all.w);
  double sum = 0;
  for (Index i = 0; i < count; ++i) {
    const Estimate<double> one = estimator.estimate(*q, of(x).columns(i, 1), of(y).columns(i, 1), 1);
    assert_near("c", c(i, 0), one.c[0], 1e-14);
    assert_near("w", w(i, 0), one.w[0], 1e-14);
    sum += one.expected_log_likelihood;
  }
  assert_near("log likelihood", all.expected_log_likelihood, sum, 1e-13);
}

/// Minibatches of a data set of 30: slang's step with the expectations in place of its averages.
void steps_are_those_of_the_spec(void**) {
  for (const Likelihood& likelihood : one_output())
    for (const Index rank : {-1, 0, 2, 5}) {
      std::shared_ptr<Posterior<double>> q = std::make_shared<FullPosterior<double>>(5);
      if (rank >= 0) q = bdl::testing::make_posterior<double>(5, rank);
      Optimizer<double> optimizer(make_network<double>({inputs, 1}, likelihood), q,
                                  find_method("slang-exact-hess"), 30);
      optimizer.set_draws(std::make_shared<NoDraws>());
      Options options = optimizer.options();
      options.initial_precision = 2;
      options.prior_precision = 0.7;
      options.learning_rate = 0.05;
      options.curvature_rate = 0.2;
      optimizer.set_options(options);
      initialize(optimizer);
      ReferenceStep reference(rank, column_of(std::as_const(*q).mean()), 2, Dense(5, 1, 0.7),
                              options.momentum);
      for (std::uint64_t t = 0; t < 8; ++t) {
        const Batch batch(likelihood, 6, 74 + t);
        const Reference expected = expectations(likelihood, column_of(std::as_const(*q).mean()),
                                                inverse_of(dense_precision(*q)), batch.x, batch.y, 5);
        step_on(optimizer, batch.x, batch.y);
        reference.take(expected.gradient, expected.hessian, 0.05, 0.2);
        assert_close("mean", column_of(std::as_const(*q).mean()), reference.mean, 1e-11);
        assert_close("precision", dense_precision(*q), reference.precision(), 1e-11);
        if (t == 0)
          assert_near("log likelihood", optimizer.state.running_log_likelihood, 5 * expected.log_likelihood,
                      1e-12);
      }
      assert_near("noise",
                  optimizer.model()->likelihood.noise_precision().empty()
                      ? 0
                      : optimizer.model()->likelihood.noise_precision(0),
                  likelihood.noise_precision().empty() ? 0 : likelihood.noise_precision(0), 0);
    }
}

/// R-VGA with exact expectations: Lambda' = Lambda + H, mu' = mu - Sigma' g.
void observations_use_the_expectations(void**) {
  for (const Likelihood& likelihood : one_output()) {
    const auto model = make_network<double>({inputs, 1}, likelihood);
    Learner<double> learner(model, random_prior<double>(full_kind, 5, 75, 3),
                            stream_options(Rule::bong, EstimateKind::exact_hess));
    learner.optimizer.set_draws(std::make_shared<NoDraws>());
    Options options = learner.optimizer.options();
    options.learning_rate = 1;
    learner.optimizer.set_options(options);
    const StreamData data(likelihood, inputs, 6, 76);
    for (Index t = 0; t < 6; ++t) {
      const Dense x = rows_of(data.x, t, 1), y = rows_of(data.y, t, 1);
      const Reference expected =
          expectations(likelihood, learner.mean(), learner.covariance(), transposed(x), y, 1);
      const Dense precision = learner.precision() + expected.hessian;
      const Dense mean = learner.mean() - inverse_of(precision) * expected.gradient;
      learner.observe(x, y);
      assert_close("precision", learner.precision(), precision, 1e-12);
      assert_close("mean", learner.mean(), mean, 1e-12);
    }
  }
}

/// Every rule and family moves, and stays finite.
void every_rule_and_family_observes(void**) {
  const Likelihood bernoulli(BDL_BERNOULLI, 1);
  const StreamData data(bernoulli, inputs, 20, 77);
  for (const FamilyKind& kind : family_kinds)
    for (const Rule rule : rules) {
      Learner<double> learner(make_network<double>({inputs, 1}, bernoulli),
                              random_prior<double>(kind, 5, 78, 3),
                              stream_options(rule, EstimateKind::exact_hess));
      learner.optimizer.set_draws(std::make_shared<NoDraws>());
      const Dense before = learner.precision();
      learner.observe(data.x, data.y);
      assert_true(max_abs(learner.precision() - before) > 1e-6);
    }
}

void other_models_are_refused(void**) {
  const auto refuse = [](const std::shared_ptr<Model<double>>& model) {
    const auto q = bdl::testing::make_posterior<double>(model->parameters(), 1);
    expect_error(Status::ERROR_UNSUPPORTED, "one layer and one output",
                 [&] { Optimizer<double>(model, q, find_method("slang-exact-hess"), 10); });
  };
  refuse(make_network<double>({2, 3, 1}, Likelihood(BDL_BERNOULLI, 1)));
  refuse(make_network<double>({2, 2}, Likelihood(BDL_POISSON, 2)));
  refuse(make_network<double>({2, 3}, Likelihood(BDL_CATEGORICAL, 3)));
  NaiveNetwork network{{2, 1}, BDL_TANH, true};
  refuse(std::shared_ptr<Model<double>>(
      new UserModel<double>(user_network<double>(network, Likelihood(BDL_BERNOULLI, 1)))));
}

/// The step is not taken where a rate e^(m + v / 2) is no double.
void rates_beyond_a_double_are_named(void**) {
  const auto q = bdl::testing::make_posterior<double>(2, 0);
  Optimizer<double> optimizer(make_network<double>({1, 1}, Likelihood(BDL_POISSON, 1)), q,
                              find_method("slang-exact-hess"), 2);
  Dense x(1, 2, 1);
  x(0, 1) = 1e3;
  q->set_blank(false);
  expect_error(Status::ERROR_DIVERGED, "example 1 (counting from 0) is not finite",
               [&] { step_on(optimizer, x, Dense(1, 2, 1)); });
  assert_true(std::as_const(*q).mean()[0] == 0 && optimizer.state.step == 0);
}

}  // namespace

int test_exact_hess() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(evidence_is_the_expectation<double>),
      cmocka_unit_test(evidence_is_the_expectation<float>),
      cmocka_unit_test(blocks_of_examples_agree),
      cmocka_unit_test(steps_are_those_of_the_spec),
      cmocka_unit_test(observations_use_the_expectations),
      cmocka_unit_test(every_rule_and_family_observes),
      cmocka_unit_test(other_models_are_refused),
      cmocka_unit_test(rates_beyond_a_double_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
