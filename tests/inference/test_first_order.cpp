// Rules bbb and map by SGD and Adam: gradients against finite differences of the loss with the same draws,
// steps against the published recursion.
#include "support/first_order.hpp"
#include "support/user_networks.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr FamilyKind diagonal_kinds[] = {diagonal_kind, diagonal_moment_kind};

Dense sigma_of(const Posterior<double>& q) {
  Dense out = diagonal_of(inverse_of(dense_precision(q)));
  for (double& value : out.values) value = std::sqrt(value);
  return out;
}

std::vector<Examples> problems() {
  const NaiveNetwork shapes[] = {{{2, 1}, BDL_TANH, true},
                                 {{3, 1}, BDL_TANH, false},
                                 {{2, 3}, BDL_TANH, true},
                                 {{2, 3, 1}, BDL_TANH, true},
                                 {{3, 4, 2, 3}, BDL_SOFTPLUS, false}};
  std::vector<Examples> out;
  for (const Likelihood& likelihood : all_likelihoods())
    for (const NaiveNetwork& shape : shapes) {
      if (shape.sizes.back() != likelihood.outputs()) continue;
      out.emplace_back(shape, likelihood, 4, 90 + out.size());
      out.back().scale = 2.5;
    }
  return out;
}

/// The evidence of one minibatch by mc-reparam.
template <class T>
struct Reparametrized {
  Dense gradient, h;
  double log_likelihood;

  Reparametrized(const Model<T>& model, const Posterior<T>& q, const Examples& data, Index samples) {
    EvidenceEstimator<T> estimator(model);
    KnownDraws<T> draws;
    Scratch scratch;
    Options options = plain_options();
    options.samples = samples;
    options.curvature = EstimateKind::mc_reparam;
    const Padded<T> x(data.x), y(data.y);
    const Evidence<T> evidence =
        estimator.estimate(q, {x.get(), y.get(), data.scale}, options, draws, scratch);
    assert_true(!evidence.curvature.rows && !evidence.curvature.matrix.data);
    gradient = column_of(evidence.gradient);
    h = column_of(evidence.curvature.diagonal);
    log_likelihood = evidence.expected_log_likelihood;
  }
};

/// dE/dmu is the gradient, dE/dsigma is sigma H: to the error of the differences.
void reparametrized_gradients_are_the_differences(void**) {
  for (const Examples& data : problems())
    for (const FamilyKind& kind : diagonal_kinds)
      for (const Index samples : {1, 3}) {
        const auto model =
            make_network<double>(data.naive.sizes, data.likelihood, data.naive.bias, data.naive.activation);
        const auto q = random_prior<double>(kind, model->parameters(), 91);
        const Dense mean = column_of(std::as_const(*q).mean()), sigma = sigma_of(*q);
        const Dense eps = normals_of(0, mean.rows, samples);
        const Reparametrized<double> got(*model, *q, data, samples);
        assert_close("gradient", got.gradient,
                     differences([&](const Dense& at) { return data.expected(at, sigma, eps); }, mean), 1e-7);
        Dense slope = got.h;
        for (Index i = 0; i < slope.rows; ++i) slope(i, 0) *= sigma(i, 0);
        assert_close("gradient of sigma", slope,
                     differences([&](const Dense& at) { return data.expected(mean, at, eps); }, sigma), 1e-7);
        assert_near("log likelihood", -data.scale * got.log_likelihood, data.expected(mean, sigma, eps),
                    1e-12);
      }
}

/// In float the same numbers to its precision; from a custom model the same as from the network it is.
void floats_and_user_models_agree(void**) {
  for (const Examples& data : problems()) {
    const auto model =
        make_network<double>(data.naive.sizes, data.likelihood, data.naive.bias, data.naive.activation);
    const auto single =
        make_network<float>(data.naive.sizes, data.likelihood, data.naive.bias, data.naive.activation);
    const Reparametrized<double> expected(
        *model, *random_prior<double>(diagonal_kind, model->parameters(), 92), data, 3);
    const Reparametrized<float> got(*single, *random_prior<float>(diagonal_kind, model->parameters(), 92),
                                    data, 3);
    assert_close("gradient in float", got.gradient, expected.gradient, 2e-5);
    assert_close("curvature in float", got.h, expected.h, 2e-5);
    NaiveNetwork naive = data.naive;
    const auto user = user_network<double>(naive, data.likelihood);
    const Reparametrized<double> same(user, *random_prior<double>(diagonal_kind, model->parameters(), 92),
                                      data, 3);
    assert_close("gradient of a custom model", same.gradient, expected.gradient, 1e-12);
    assert_close("curvature of a custom model", same.h, expected.h, 1e-12);
  }
}

const Examples regression{{{2, 3, 1}, BDL_TANH, true}, gaussian(1, {2}), 30, 93};
constexpr Index data_size = 30, batch = 5, steps = 6, samples = 3;
constexpr double lambda = 1.5;

Examples minibatch(Index t) {
  Examples out = regression;
  out.x = columns_of(regression.x, t * batch, batch);
  out.y = columns_of(regression.y, t * batch, batch);
  out.scale = static_cast<double>(data_size) / batch;
  return out;
}

std::unique_ptr<Optimizer<double>> optimizer_for(const FamilyKind& kind, Options options) {
  const auto model = make_network<double>(regression.naive.sizes, regression.likelihood);
  const auto q = random_prior<double>(kind, model->parameters(), 94, 20);
  auto optimizer = std::make_unique<Optimizer<double>>(model, q, find_method("slang"), data_size);
  options.prior_precision = lambda;
  options.samples = samples;
  options.adam_beta2 = 0.9;
  optimizer->set_options(options);
  optimizer->set_draws(std::make_shared<KnownDraws<double>>());
  return optimizer;
}

double sigma_at(const Options& options, double rho) {
  return options.scale_parameter == ScaleParameter::log_sigma ? std::exp(rho) : std::log1p(std::exp(rho));
}

Dense sigma_at(const Options& options, Dense rho) {
  for (double& value : rho.values) value = sigma_at(options, value);
  return rho;
}

/// KL(N(mu, sigma^2) || N(0, 1 / lambda)).
double divergence(const Dense& mean, const Dense& sigma) {
  double sum = 0;
  for (Index i = 0; i < mean.rows; ++i)
    sum += (lambda * (std::pow(sigma(i, 0), 2) + std::pow(mean(i, 0), 2)) - 1 - std::log(lambda)) / 2 -
           std::log(sigma(i, 0));
  return sum;
}

void check_bbb(const FamilyKind& kind, DescentOption descent, ScaleParameter scale) {
  Options options = first_order_options(Rule::bbb, EstimateKind::mc_reparam, descent);
  options.scale_parameter = scale;
  options.learning_rate = descent == DescentOption::adam ? 0.02 : 0.3;
  const auto optimizer = optimizer_for(kind, options);
  options = optimizer->options();
  const auto& q = *optimizer->posterior();
  const Index dimension = q.dimension();
  Dense parameters(2 * dimension, 1);
  const Dense start = sigma_of(q);
  for (Index i = 0; i < dimension; ++i) {
    parameters(i, 0) = std::as_const(q).mean()[static_cast<std::size_t>(i)];
    parameters(dimension + i, 0) =
        scale == ScaleParameter::log_sigma ? std::log(start(i, 0)) : std::log(std::expm1(start(i, 0)));
  }
  Descent1 reference(options, 2 * dimension);
  const auto part = [&](const Dense& all, Index first) {
    Dense out(dimension, 1);
    std::copy_n(all.values.begin() + first, dimension, out.values.begin());
    return out;
  };
  for (Index t = 0; t < steps; ++t) {
    const Examples data = minibatch(t);
    const Dense eps = normals_of(t, dimension, samples);
    const auto loss = [&](const Dense& at) {
      const Dense mean = part(at, 0), sigma = sigma_at(options, part(at, dimension));
      return (data.expected(mean, sigma, eps) + divergence(mean, sigma)) / data_size;
    };
    reference.take(differences(loss, parameters), parameters);
    step_on(*optimizer, data.x, data.y);
    assert_close("mean", column_of(std::as_const(q).mean()), part(parameters, 0), 1e-6);
    assert_close("sigma", sigma_of(q), sigma_at(options, part(parameters, dimension)), 1e-6);
  }
  const Moments<double>& moments = optimizer->averages.moments.now();
  assert_int_equal(moments.steps, steps);
  assert_close("first moments", column_of(moments.first.first(moments.size)), reference.m, 1e-6);
  assert_true(moments.has_second() == (descent == DescentOption::adam));
  if (moments.has_second())
    assert_close("second moments", column_of(moments.second.first(moments.size)), reference.v, 1e-6);
}

void bbb_is_its_recursion(void**) {
  for (const FamilyKind& kind : diagonal_kinds)
    for (const auto descent : {DescentOption::sgd, DescentOption::adam})
      for (const auto scale : {ScaleParameter::log_sigma, ScaleParameter::softplus})
        check_bbb(kind, descent, scale);
}

/// Rule map is its recursion in every family, which keeps its covariance.
void map_is_its_recursion(void**) {
  for (const FamilyKind& kind : family_kinds)
    for (const auto descent : {DescentOption::sgd, DescentOption::adam}) {
      const auto optimizer =
          optimizer_for(kind, first_order_options(Rule::map, EstimateKind::lin_ef, descent));
      const auto& q = *optimizer->posterior();
      const Dense precision = dense_precision(q);
      Dense mean = column_of(std::as_const(q).mean());
      Descent1 reference(optimizer->options(), mean.rows);
      for (Index t = 0; t < steps; ++t) {
        const Examples data = minibatch(t);
        const auto loss = [&](const Dense& at) { return (data(at) + lambda / 2 * dot(at, at)) / data_size; };
        reference.take(differences(loss, mean), mean);
        step_on(*optimizer, data.x, data.y);
        assert_close("mean", column_of(std::as_const(q).mean()), mean, 1e-6);
        assert_same("precision", dense_precision(q), precision);
      }
    }
}

/// Averages of one kind of step are none of another's: each begins anew after the other.
void averages_are_of_one_kind_of_step(void**) {
  Options bbb = first_order_options(Rule::bbb, EstimateKind::mc_ef, DescentOption::adam), map = bbb,
          blr = bbb, sgd = bbb;
  map.rule = Rule::map;
  blr.rule = Rule::blr;
  sgd.descent = DescentOption::sgd;
  for (const Options& first : {bbb, map, blr, sgd})
    for (const Options& second : {bbb, map, blr, sgd}) {
      if (first.rule == second.rule && first.descent == second.descent) continue;
      Optimizer<double> optimizer(nullptr, random_prior<double>(diagonal_kind, 5, 95), find_method("slang"),
                                  50);
      Random random(96);
      const Dense rows[] = {random.normal(5, 3), random.normal(5, 3), random.normal(5, 3)};
      optimizer.set_options(second);
      fill(rows_to_fill(optimizer, 3), rows[0]);
      step_on_rows(optimizer);
      optimizer.set_options(first);
      fill(rows_to_fill(optimizer, 3), rows[1]);
      step_on_rows(optimizer);
      Optimizer<double> fresh(nullptr, optimizer.posterior()->clone(), find_method("slang"), 50);
      for (Optimizer<double>* each : {&optimizer, &fresh}) {
        each->set_options(second);
        fill(rows_to_fill(*each, 3), rows[2]);
        step_on_rows(*each);
      }
      assert_same("means", column_of(std::as_const(*optimizer.posterior()).mean()),
                  column_of(std::as_const(*fresh.posterior()).mean()));
      assert_same("precisions", dense_precision(*optimizer.posterior()), dense_precision(*fresh.posterior()));
    }
}

template <class T>
void failed_steps_leave_no_trace(void**) {
  for (const Rule rule : {Rule::bbb, Rule::map}) {
    std::unique_ptr<Optimizer<T>> optimizers[2];
    for (auto& each : optimizers) {
      each = std::make_unique<Optimizer<T>>(make_network<T>({2, 3, 1}, gaussian(1, {2})),
                                            random_prior<T>(diagonal_kind, 13, 97), find_method("slang"), 30);
      Options options = first_order_options(rule, EstimateKind::mc_reparam, DescentOption::adam);
      options.learn_from = 0;
      options.learn_noise = 1;
      options.learn_prior = rule != Rule::map;
      each->set_options(options);
    }
    auto &optimizer = *optimizers[0], &twin = *optimizers[1];
    for (Index t = 0; t < 4; ++t) {
      const Examples data = minibatch(t);
      step_on(optimizer, data.x, data.y);
      step_on(twin, data.x, data.y);
      Dense spoiled = data.x;
      spoiled(1, 2) = not_a_number;
      expect_error(Status::ERROR_DIVERGED, "not finite", [&] { step_on(optimizer, spoiled, data.y); });
      Dense far = data.y;  // gradients are finite, their squares are not
      far(0, 2) = sizeof(T) == 8 ? 1e200 : 1e25;
      char words[80];
      (void)std::snprintf(words, sizeof words, "is not finite after step %d", static_cast<int>(t + 2));
      expect_error(Status::ERROR_DIVERGED, "squared gradient", [&] { step_on(optimizer, data.x, far); });
      expect_error(Status::ERROR_DIVERGED, words, [&] { step_on(optimizer, data.x, far); });
      assert_int_equal(optimizer.state.step, t + 1);
      assert_int_equal(optimizer.averages.moments.now().steps, t + 1);
    }
    assert_same("means", column_of(std::as_const(*optimizer.posterior()).mean()),
                column_of(std::as_const(*twin.posterior()).mean()));
    assert_same("precisions", dense_precision(*optimizer.posterior()), dense_precision(*twin.posterior()));
    assert_true(optimizer.model()->likelihood.noise_precision(0) ==
                twin.model()->likelihood.noise_precision(0));
    assert_true(optimizer.prior().groups()[0] == twin.prior().groups()[0]);
  }
}

void what_does_not_fit_is_refused(void**) {
  const Examples data = minibatch(0);
  const auto refused = [&](const FamilyKind& kind, Rule rule, EstimateKind estimate, DescentOption descent,
                           const char* word) {
    const auto optimizer = optimizer_for(kind, first_order_options(rule, estimate, descent));
    const Dense before = column_of(std::as_const(*optimizer->posterior()).mean());
    expect_error(Status::ERROR_UNSUPPORTED, word, [&] { step_on(*optimizer, data.x, data.y); });
    assert_same("means", column_of(std::as_const(*optimizer->posterior()).mean()), before);
    assert_int_equal(optimizer->state.step, 0);
  };
  for (const FamilyKind& kind : {low_rank_kind, full_kind, full_moment_kind}) {
    refused(kind, Rule::bbb, EstimateKind::lin_hess, DescentOption::adam, "adam");
    refused(kind, Rule::blr, EstimateKind::mc_reparam, DescentOption::sgd, "mc-reparam");
    refused(kind, Rule::bbb, EstimateKind::mc_reparam, DescentOption::sgd, "mc-reparam");
  }
  const auto optimizer =
      optimizer_for(diagonal_kind, first_order_options(Rule::map, EstimateKind::lin_ef, DescentOption::sgd));
  fill(optimizer->batch_x(1), columns_of(data.x, 0, 1));
  fill(optimizer->batch_y(1), columns_of(data.y, 0, 1));
  double score = 0;
  expect_error(Status::ERROR_UNSUPPORTED, "map", [&] { observe_block(*optimizer, 1, {&score, 1}); });
}

}  // namespace

int test_first_order() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(reparametrized_gradients_are_the_differences),
      cmocka_unit_test(floats_and_user_models_agree),
      cmocka_unit_test(bbb_is_its_recursion),
      cmocka_unit_test(map_is_its_recursion),
      cmocka_unit_test(averages_are_of_one_kind_of_step),
      cmocka_unit_test(failed_steps_leave_no_trace<float>),
      cmocka_unit_test(failed_steps_leave_no_trace<double>),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
