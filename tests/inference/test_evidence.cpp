// The evidence of Laplace's approximation: its derivatives against differences, its optimum, linear Gaussian
// models in closed form, and training by it.
#include <cmath>
#include <functional>

#include "posterior/families.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "train/approximate/laplace.hpp"
#include "train/fit.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Family every_family[] = {Family::full, Family::layerwise_full, Family::low_rank, Family::kronecker};

/// A network at random parameters, with an optimizer of method "laplace".
struct Problem {
  std::shared_ptr<Network<double>> network;
  std::vector<double> x, y;
  Index examples;
  std::shared_ptr<Posterior<double>> q;
  std::unique_ptr<Optimizer<double>> optimizer;

  Problem(std::shared_ptr<Network<double>> of, Index count, Family family, Index rank, Index times = 1)
      : network(std::move(of)), examples(count * times) {
    Random random(7);
    const bool is_real = network->likelihood.kind() == BDL_GAUSSIAN;
    for (Index k = 0; k < count * network->inputs(); ++k) x.push_back(random.normal());
    for (Index k = 0; k < count * network->likelihood.targets(); ++k)
      y.push_back(is_real ? random.normal() : std::floor(2 * random.uniform()));
    const std::vector<double> one_x = x, one_y = y;
    for (Index t = 1; t < times; ++t) {
      x.insert(x.end(), one_x.begin(), one_x.end());
      y.insert(y.end(), one_y.begin(), one_y.end());
    }
    PosteriorKind kind{family, network->parameters(), rank};
    if (family == Family::kronecker) kind.matrices = matrices_of<double>(*network);
    if (family == Family::layerwise_full)
      for (const MatrixShape& shape : matrices_of<double>(*network))
        kind.blocks.push_back(shape.parameters());
    q = create_posterior<double>(kind);
    std::ranges::copy(random.normal(network->parameters(), 1, 0.5).values, q->mean().begin());
    q->set_blank(false);
    optimizer = std::make_unique<Optimizer<double>>(network, q, find_method("laplace"), examples);
    set("prior_groups=layers evidence=none");
  }
  void set(const char* text) {
    Options options = optimizer->options();
    const bool resets = set_option_text(options, text);
    optimizer->check_options(options);
    optimizer->set_options(options, resets);
  }
  Array x_array() const { return bdl_f64(x.data(), examples, network->inputs()); }
  Array y_array() const { return bdl_f64(y.data(), examples, network->likelihood.targets()); }
  void take() { laplace(*optimizer, x_array(), y_array()); }
  LaplaceTerms<double> terms() const {
    return {network->likelihood, optimizer->prior(), optimizer->options().kl_weight};
  }
  /// log Z at logarithms of the groups' precisions and of the noise factor.
  LogEvidence at(const std::vector<double>& logs) const {
    GroupedPrecisions prior = optimizer->prior().grouped();
    for (std::size_t g = 0; g < prior.values.size(); ++g) prior.values[g] = std::exp(logs[g]);
    return optimizer->laplace->evidence(terms(), prior, std::exp(logs.back()), true);
  }
  double value() const { return evidence_of(*optimizer, optimizer->prior().grouped(), 1).value; }
};

std::shared_ptr<Network<double>> regression() {
  return make_network<double>({3, 4, 2}, gaussian(2, {1.7}));
}

void for_every_family(const std::function<void(Problem&)>& visit) {
  for (const Family family : every_family)
    for (const Index rank : {0, 3}) {
      if (rank > 0 && family != Family::low_rank) continue;
      Problem problem(regression(), 12, family, rank);
      problem.take();
      visit(problem);
    }
}

/// Central differences in all directions.
void derivatives_are_those_of_differences(void**) {
  for_every_family([](Problem& problem) {
    const std::vector<double> at{0.3, -0.7, 0.2};
    const LogEvidence here = problem.at(at);
    constexpr double step = 1e-4;
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::vector<double> up = at, down = at;
      up[i] += step;
      down[i] -= step;
      const LogEvidence above = problem.at(up), below = problem.at(down);
      assert_near("slope", here.slope[i], (above.value - below.value) / (2 * step), 1e-6);
      for (std::size_t j = 0; j < at.size(); ++j)
        assert_near("second derivative", here.second[i * at.size() + j],
                    (above.slope[j] - below.slope[j]) / (2 * step), 1e-6);
    }
  });
}

void it_is_concave_everywhere(void**) {
  Random random(3);
  for_every_family([&](Problem& problem) {
    for (int k = 0; k < 20; ++k) {
      const LogEvidence here =
          problem.at({8 * random.uniform() - 4, 8 * random.uniform() - 4, 8 * random.uniform() - 4});
      Dense second(3, 3);
      second.values = here.second;
      const Eigen eigen = eigen_of(second);
      for (const double value : eigen.values) assert_true(value < 1e-9);
    }
  });
}

void the_optimum_does_not_depend_on_the_start(void**) {
  for_every_family([](Problem& problem) {
    std::vector<double> optimum;
    for (const double start : {1.0, 1e-6, 1e6}) {
      problem.optimizer->prior().set_groups(std::vector<double>{start, start});
      problem.network->likelihood.learn_noise_precision(std::vector<double>{1.7 * std::sqrt(start)});
      const EvidenceOptimum found = maximize_evidence(*problem.optimizer, {true, true});
      std::vector<double> all = found.groups;
      all.push_back(problem.network->likelihood.noise_precision()[0]);
      if (optimum.empty()) optimum = all;
      for (std::size_t i = 0; i < all.size(); ++i) assert_near("optimum", all[i] / optimum[i], 1, 1e-6);
      for (const double slope : problem.at({std::log(all[0]), std::log(all[1]), 0}).slope)
        assert_near("slope", slope, 0, 1e-7);
    }
  });
}

/// y ~ N(0, X Lambda_0^-1 X^T + I / tau) for the mean at the mode; N counts each row three times.
void a_linear_gaussian_model_has_its_closed_form(void**) {
  constexpr double tau = 2.5, lambda = 0.4;
  Problem problem(make_network<double>({3, 1}, gaussian(1, {tau}), false), 8, Family::full, 0);
  Dense x(8, 3), y(8, 1);
  for (Index i = 0; i < 8; ++i) {
    y(i, 0) = problem.y[static_cast<std::size_t>(i)];
    for (Index j = 0; j < 3; ++j) x(i, j) = problem.x[static_cast<std::size_t>(3 * i + j)];
  }
  const Dense precision = tau * (transposed(x) * x) + lambda * identity(3),
              mode = tau * (inverse_of(precision) * transposed(x) * y);
  std::ranges::copy(mode.values, problem.q->mean().begin());
  problem.optimizer->prior().set_groups(std::vector<double>{lambda});
  problem.take();
  const Dense marginal = 1 / lambda * (x * transposed(x)) + 1 / tau * identity(8);
  const double expected =
      -0.5 * (dot(y, inverse_of(marginal) * y) + log_det(marginal) + 8 * std::log(2 * M_PI));
  assert_near("evidence", problem.value(), expected, 1e-10);
  assert_close("precision", dense_precision(*problem.q), precision, 1e-12);
  ArrayData data(problem.x_array(), problem.y_array());
  assert_near("mode gap", mode_gap(*problem.optimizer, data), 0, 1e-12);
}

/// The integral over one weight, by the trapezoidal rule.
void one_parameter_is_integrated(void**) {
  constexpr double tau = 2.5, lambda = 0.4;
  Problem problem(make_network<double>({1, 1}, gaussian(1, {tau}), false), 5, Family::full, 0);
  const auto log_joint = [&](double w) {
    double sum = 0.5 * std::log(lambda / (2 * M_PI)) - 0.5 * lambda * w * w;
    for (std::size_t i = 0; i < 5; ++i)
      sum += 0.5 * std::log(tau / (2 * M_PI)) - 0.5 * tau * std::pow(problem.y[i] - w * problem.x[i], 2);
    return sum;
  };
  double xx = 0, xy = 0, integral = 0;
  for (std::size_t i = 0; i < 5; ++i) xx += problem.x[i] * problem.x[i], xy += problem.x[i] * problem.y[i];
  for (double w = -20; w < 20; w += 1e-3) integral += 1e-3 * std::exp(log_joint(w));
  problem.q->mean()[0] = tau * xy / (tau * xx + lambda);
  problem.optimizer->prior().set_groups(std::vector<double>{lambda});
  problem.take();
  assert_near("evidence", problem.value(), std::log(integral), 1e-9);
}

void temperature_one_half_counts_each_row_twice(void**) {
  for (const Family family : every_family)
    for (const char* fisher : {"fisher=exact", "fisher=empirical"}) {
      Problem tempered(regression(), 12, family, 0), doubled(regression(), 12, family, 0, 2);
      for (Problem* problem : {&tempered, &doubled}) problem->set(fisher);
      tempered.set("kl_weight=0.5");
      tempered.take();
      doubled.take();
      assert_close("precision", dense_precision(*tempered.q), dense_precision(*doubled.q), 1e-12);
      assert_near("evidence", tempered.value() / doubled.value(), 1, 1e-12);
    }
}

/// One label an example, drawn by many seeds.
void sampled_labels_have_the_exact_mean(void**) {
  for (const Likelihood& likelihood : {gaussian(2, {1.7}), Likelihood(BDL_CATEGORICAL, 3)}) {
    const auto network = make_network<double>({2, 3, likelihood.outputs()}, likelihood);
    Problem exact(network, 6, Family::full, 0), sampled(network, 6, Family::full, 0);
    exact.take();
    sampled.set("fisher=sampled");
    constexpr int seeds = 3000;
    Dense sum(network->parameters(), network->parameters());
    for (int seed = 1; seed <= seeds; ++seed) {
      sampled.set(("seed=" + std::to_string(seed)).c_str());
      sampled.take();
      sum = sum + 1.0 / seeds * dense_precision(*sampled.q);
    }
    const Dense expected = dense_precision(*exact.q);
    assert_true(max_abs(sum - expected) < 0.15 * max_abs(expected));
  }
}

void shards_change_nothing(void**) {
  for (const Family family : every_family)
    for (const char* fisher : {"fisher=exact", "fisher=empirical", "fisher=sampled"})
      for (const Index rank : {0, 3}) {
        if (rank > 0 && family != Family::low_rank) continue;
        Problem one(regression(), 13, family, rank), three(regression(), 13, family, rank);
        three.set("shards=3");
        for (Problem* problem : {&one, &three}) problem->set(fisher), problem->take();
        assert_close("precision", dense_precision(*three.q), dense_precision(*one.q), 1e-10);
        assert_near("evidence", three.value() / one.value(), 1, 1e-12);
      }
}

/// Weights that no example reaches keep their prior, and so do groups whose mean is 0.
void groups_without_data_or_mean_keep_their_precision(void**) {
  Problem problem(regression(), 12, Family::full, 0);
  std::fill_n(problem.q->mean().begin(), 16, 0.0);  // the first layer: tanh(0) = 0
  problem.take();
  assert_near("first layer", maximize_evidence(*problem.optimizer, {true, false}).groups[0], 1, 0);
  assert_true(problem.optimizer->prior().groups()[1] != 1);
  Problem blind(make_network<double>({2, 3, 1}, gaussian(1, {1.7}), false), 6, Family::full, 0);
  std::ranges::fill(blind.x, 0.0);
  blind.take();
  const EvidenceOptimum found = maximize_evidence(*blind.optimizer, {true, false});
  assert_near("first layer", found.groups[0], 1, 0);
  assert_near("second layer", found.groups[1], 1, 0);
}

void what_has_changed_is_noticed(void**) {
  Problem problem(regression(), 12, Family::full, 0);
  expect_error(Status::ERROR_UNSUPPORTED, "call bdl_optimizer_laplace() first", [&] { problem.value(); });
  problem.take();
  const double before = problem.value();
  problem.network->likelihood.set_noise_precision(std::vector<double>{3.4});  // a factor on all noise
  const double louder = problem.value();
  problem.take();
  assert_near("other noise", louder / problem.value(), 1, 1e-12);
  assert_true(before != louder);
  problem.network->likelihood.set_noise_precision(std::vector<double>{3.4, 1});
  expect_error(Status::ERROR_UNSUPPORTED, "Laplace", [&] { problem.value(); });
  problem.take();
  problem.q->mean()[0] += 1;
  expect_error(Status::ERROR_UNSUPPORTED, "Laplace", [&] { problem.value(); });
}

void what_has_no_optimum_is_refused(void**) {
  Problem classes(make_network<double>({3, 4, 1}, Likelihood(BDL_BERNOULLI, 1)), 12, Family::full, 0);
  classes.take();
  const auto search = [](Problem& problem, bool prior, bool noise) {
    return [&problem, prior, noise] { maximize_evidence(*problem.optimizer, {prior, noise}); };
  };
  expect_error(Status::ERROR_UNSUPPORTED, "Gaussian", search(classes, false, true));
  classes.optimizer->prior().fix(std::vector<double>(static_cast<std::size_t>(classes.q->dimension()), 2.0));
  expect_error(Status::ERROR_UNSUPPORTED, "fixed", search(classes, true, false));
  Problem errors(regression(), 12, Family::full, 0), factors(regression(), 12, Family::kronecker, 0);
  errors.set("fisher=empirical");
  errors.take();
  expect_error(Status::ERROR_UNSUPPORTED, "empirical", search(errors, false, true));
  factors.set("prior_groups=blocks");
  factors.take();
  assert_true(std::isfinite(factors.value()));
  expect_error(Status::ERROR_UNSUPPORTED, "layers", search(factors, true, false));
}

/// A prior that is a posterior counts with its whole precision.
void a_posterior_as_prior_has_its_evidence(void**) {
  Problem first(regression(), 12, Family::full, 0), second(regression(), 12, Family::full, 0);
  first.take();
  second.q->mean()[0] += 0.5;
  second.optimizer->set_prior(std::shared_ptr<const Posterior<double>>(first.q->clone()));
  second.take();
  const Dense prior = dense_precision(*first.q), all = dense_precision(*second.q);
  const double likelihood =
      evidence_of(*second.optimizer, second.optimizer->prior().grouped(), 1).log_likelihood;
  assert_near("evidence", second.value(),
              likelihood - 0.125 * prior(0, 0) + (log_det(prior) - log_det(all)) / 2, 1e-9);
}

std::int32_t stop_in_the_middle(void* context) {
  return static_cast<const Optimizer<double>*>(context)->state.epoch == 7 ? 1 : 0;
}

/// Fits end at the evidence's optimum, and interrupted ones end with the same numbers.
void training_ends_at_the_optimum(void**) {
  const auto fresh = [] {
    auto problem = std::make_unique<Problem>(regression(), 40, Family::kronecker, 0);
    problem->q->reset();
    problem->network->likelihood = gaussian(2, {1});
    problem->network->likelihood.forget_learned_noise();
    problem->set("evidence=during evidence_every=2 evidence_from=0.2 minibatch=10");
    return problem;
  };
  const auto whole = fresh(), parts = fresh();
  assert_true(fit(*whole->optimizer, whole->x_array(), whole->y_array(), 20, {}) == Status::OK);
  assert_true(fit(*parts->optimizer, parts->x_array(), parts->y_array(), 20,
                  {stop_in_the_middle, parts->optimizer.get()}) == Status::STOPPED);
  assert_true(fit(*parts->optimizer, parts->x_array(), parts->y_array(), 0, {}) == Status::OK);
  assert_same("precision", dense_precision(*parts->q), dense_precision(*whole->q));
  const double before = whole->value();
  assert_near("evidence", maximize_evidence(*whole->optimizer, {true, true}).evidence.value, before, 1e-9);
  assert_true(whole->optimizer->prior().groups()[0] != 1);
}

/// Targets with noise of their own keep its ratios: those of their errors.
void targets_have_their_own_noise(void**) {
  Problem problem(regression(), 40, Family::kronecker, 0);
  problem.q->reset();
  for (std::size_t i = 0; i < problem.y.size(); i += 2) problem.y[i] *= 0.1;
  problem.network->likelihood = gaussian(2, {1, 1});
  problem.set("evidence=during minibatch=10");
  assert_true(fit(*problem.optimizer, problem.x_array(), problem.y_array(), 30, {}) == Status::OK);
  const auto noise = problem.network->likelihood.noise_precision();
  const std::vector<double>& errors = problem.optimizer->laplace->fit().squared_errors;
  assert_near("ratio", noise[0] / noise[1] * errors[0] / errors[1], 1, 1e-12);
  assert_true(noise[0] > 10 * noise[1]);
}

}  // namespace

int test_evidence() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_differences),
      cmocka_unit_test(it_is_concave_everywhere),
      cmocka_unit_test(the_optimum_does_not_depend_on_the_start),
      cmocka_unit_test(a_linear_gaussian_model_has_its_closed_form),
      cmocka_unit_test(one_parameter_is_integrated),
      cmocka_unit_test(temperature_one_half_counts_each_row_twice),
      cmocka_unit_test(sampled_labels_have_the_exact_mean),
      cmocka_unit_test(shards_change_nothing),
      cmocka_unit_test(groups_without_data_or_mean_keep_their_precision),
      cmocka_unit_test(what_has_changed_is_noticed),
      cmocka_unit_test(what_has_no_optimum_is_refused),
      cmocka_unit_test(a_posterior_as_prior_has_its_evidence),
      cmocka_unit_test(training_ends_at_the_optimum),
      cmocka_unit_test(targets_have_their_own_noise),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
