// Scales by the evidence (docs/theory/scales.md, "By the evidence"): the evidence in the space of rows
// against dense matrices and Laplace's; what a fit does when it falls; the refined posterior with which it
// ends.
#include <cmath>
#include <numbers>
#include <numeric>

#include "data/data_set.hpp"
#include "posterior/families.hpp"
#include "predict/predict.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "train/approximate/laplace.hpp"
#include "train/fit.hpp"
#include "train/scales/by_evidence.hpp"
#include "train/start.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Two groups of parameters, and rows that are multiplied by factors.
struct Rows {
  Dense first, second;  // parameters x rows
  std::vector<double> added, factors, precisions{0.7, 3};

  Rows() {
    Random random(11);
    first = random.normal(4, 6);
    second = random.normal(3, 6);
    for (Index r = 0; r < 6; ++r) {
      added.push_back(0.5 + 0.2 * static_cast<double>(r));
      factors.push_back(r == 2 ? 0 : 1.5 - 0.1 * static_cast<double>(r));
    }
  }
  const Dense& of(Index group) const { return group == 0 ? first : second; }
  /// The rows of a group with all factors.
  Dense scaled(Index group) const {
    Dense b = of(group);
    for (Index r = 0; r < b.cols; ++r)
      for (Index i = 0; i < b.rows; ++i)
        b(i, r) *= added[static_cast<std::size_t>(r)] * factors[static_cast<std::size_t>(r)];
    return b;
  }
  GramEvidence evidence() const {
    GramEvidence made;
    made.begin(6, 2);
    for (Index g = 0; g < 2; ++g) {
      Dense gram = transposed(of(g)) * of(g);
      made.add(g, 1, {gram.values.data(), 6, 6}, added);
    }
    return made;
  }
};

void sums_over_rows_are_those_over_parameters(void**) {
  const Rows rows;
  GramEvidence evidence = rows.evidence();
  assert_true(evidence.evaluate(rows.precisions, rows.factors));
  Dense b(7, 6), lambda(7, 7);
  for (Index r = 0; r < 6; ++r)
    for (Index i = 0; i < 7; ++i) b(i, r) = i < 4 ? rows.scaled(0)(i, r) : rows.scaled(1)(i - 4, r);
  for (Index i = 0; i < 7; ++i) lambda(i, i) = rows.precisions[i < 4 ? 0 : 1];
  const Dense curvature = b * transposed(b), sigma = inverse_of(curvature + lambda);
  assert_near("log det", evidence.log_det(), log_det(curvature + lambda) - log_det(lambda), 1e-12);
  double of_first = 4, of_second = 3;
  for (Index i = 0; i < 7; ++i) (i < 4 ? of_first : of_second) -= lambda(i, i) * sigma(i, i);
  assert_near("first group", evidence.effective_parameters(0), of_first, 1e-12);
  assert_near("second group", evidence.effective_parameters(1), of_second, 1e-12);
  for (Index r = 0; r < 6; ++r) {
    Dense row(7, 1);
    for (Index i = 0; i < 7; ++i) row(i, 0) = b(i, r);
    assert_near("leverage", evidence.leverage(r), dot(row, sigma * row), 1e-12);
  }
}

/// Equal rows with hardly any noise: A is I plus 1e17 times ones, not positive definite to rounding.
void rows_without_noise_have_an_evidence(void**) {
  constexpr Index rows = 40;
  GramEvidence evidence;
  evidence.begin(rows, 1);
  const std::vector<double> ones(rows * rows, 1.0);
  evidence.add(0, 1, {ones.data(), rows, rows}, std::vector<double>(rows, 1e7));
  const std::vector<double> precisions{1e-3}, factors(rows, 1.0);
  assert_true(evidence.evaluate(precisions, factors));
  assert_near("parameters", evidence.effective_parameters(0), 1, 0.02);
  assert_true(std::isfinite(evidence.log_det()) && evidence.log_det() > std::log(1e17));
  assert_false(
      evidence.evaluate(precisions, std::vector<double>(rows, std::numeric_limits<double>::infinity())));
}

/// Sums the log densities of values z ~ N(0, A), each given the others: A without its row and column.
double left_out_by_definition(const Dense& a, const std::vector<double>& z) {
  const Index others = a.rows - 1;
  double sum = 0;
  for (Index r = 0; r < a.rows; ++r) {
    const auto other = [r](Index i) { return i < r ? i : i + 1; };
    Dense covariance(others, others), values(others, 1), products(others, 1);
    for (Index i = 0; i < others; ++i) {
      values(i, 0) = z[static_cast<std::size_t>(other(i))];
      products(i, 0) = a(other(i), r);
      for (Index j = 0; j < others; ++j) covariance(i, j) = a(other(i), other(j));
    }
    const Dense weights = inverse_of(covariance) * products;
    const double error = z[static_cast<std::size_t>(r)] - dot(weights, values),
                 variance = a(r, r) - dot(weights, products);
    sum -= (std::log(2 * std::numbers::pi * variance) + error * error / variance) / 2;
  }
  return sum;
}

void values_left_out_are_predicted_from_the_others(void**) {
  const Rows rows;
  GramEvidence evidence = rows.evidence();
  assert_true(evidence.evaluate(rows.precisions, rows.factors));
  Dense a = identity(6);
  for (Index g = 0; g < 2; ++g)
    a = a +
        (1 / rows.precisions[static_cast<std::size_t>(g)]) * (transposed(rows.scaled(g)) * rows.scaled(g));
  auto z = Random(13).normal(6, 1).values;
  const double wanted = left_out_by_definition(a, z);
  assert_near("log density", evidence.left_out_log_density(z, std::vector<double>(6, 1)), wanted, 1e-12);
}

/// P = (H + lambda)^-1 H of a group alone.
void determined_parts_are_soft_projections(void**) {
  const Rows rows;
  GramEvidence evidence = rows.evidence();
  const Dense b = rows.scaled(1), curvature = b * transposed(b);
  Random random(12);
  const Dense u = random.normal(3, 1);
  const Dense projected = inverse_of(curvature + 3 * identity(3)) * (curvature * u);
  std::vector<double> products;
  for (Index r = 0; r < 6; ++r) {
    double product = 0;
    for (Index i = 0; i < 3; ++i) product += rows.second(i, r) * u(i, 0);
    products.push_back(product * rows.added[static_cast<std::size_t>(r)]);
  }
  assert_near("square", evidence.determined_square(1, 3, rows.factors, products), dot(projected, projected),
              1e-12);
}

/// A regression, or classes, with an optimizer; the data are rows of the caller's arrays.
struct Regression {
  Index examples;
  std::vector<double> x, y;
  std::shared_ptr<Network<double>> network;
  std::shared_ptr<Posterior<double>> q;
  std::unique_ptr<Optimizer<double>> optimizer;

  Regression(const char* method, Family family, const std::vector<Index>& sizes, Index count, double signal,
             bdl_likelihood kind = BDL_GAUSSIAN)
      : examples(count), network(make_network<double>(sizes, Likelihood(kind, sizes.back()))) {
    Random random(21);
    const Index targets = network->likelihood.targets();
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < sizes.front(); ++j) x.push_back(random.normal());
      for (Index c = 0; c < targets; ++c) {
        const double value = signal * std::sin(2 * x[x.size() - 1]) + random.normal();
        y.push_back(kind == BDL_BERNOULLI     ? value > 0
                    : kind == BDL_CATEGORICAL ? (value > 0) + (value > 1)
                                              : value);
      }
    }
    q = create_posterior<double>({family, network->parameters(), family == Family::low_rank ? 3 : 0});
    optimizer = std::make_unique<Optimizer<double>>(network, q, find_method(method), count);
    set("prior_groups=layers");
  }
  void set(const char* text) {
    Options options = optimizer->options();
    const bool resets = set_option_text(options, text);
    optimizer->set_options(options, resets);
  }
  Array inputs() const { return bdl_f64(x.data(), examples, network->inputs()); }
  Array targets() const { return bdl_f64(y.data(), examples, network->likelihood.targets()); }
  void train(Index epochs) const { fit(*optimizer, inputs(), targets(), epochs, {nullptr, nullptr}); }
  EvidenceSample<double> sample() const {
    ArrayData data(inputs(), targets());
    return EvidenceSample<double>(*optimizer, data, 1);
  }
};

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

double elbo_of(const Regression& of) {
  return expected_log_likelihood<double>({*of.network, *of.q, of.inputs(), {BDL_MONTE_CARLO, 20, 1}},
                                         of.targets());
}

/// Epistemic variances of all examples.
Dense variances_of(const Regression& of, const Posterior<double>& q,
                   bdl_predict_method method = BDL_LINEARIZED) {
  Dense out(of.examples, 1);
  predict_moments<double>({*of.network, q, of.inputs(), {method, 50, 1}}, {},
                          bdl_f64_out(out.values.data(), of.examples, 1), {});
  return out;
}

/// With all examples among the rows, the evidence is that of Laplace's full approximation. Of classes there
/// is no noise, and the rows are those of all logits.
void it_is_laplaces_evidence(void**) {
  struct Case {
    bdl_likelihood kind;
    Index outputs;
  };
  for (const auto& [kind, outputs] :
       {Case{BDL_GAUSSIAN, 1}, Case{BDL_GAUSSIAN, 2}, Case{BDL_BERNOULLI, 1}, Case{BDL_CATEGORICAL, 3}}) {
    Regression of("laplace", Family::full, {3, 5, outputs}, 40, 1, kind);
    of.set("evidence=none");
    std::ranges::copy(Random(5).normal(of.network->parameters(), 1, 0.5).values, of.q->mean().begin());
    of.q->set_blank(false);
    of.optimizer->prior().set_groups(std::vector<double>{0.4, 2.5});
    if (kind == BDL_GAUSSIAN) of.network->likelihood.set_noise_precision(std::vector<double>{1.7});
    laplace(*of.optimizer, of.inputs(), of.targets());
    const auto sample = of.sample();
    LinearizedEvidence<double> evidence(*of.optimizer, sample);
    const LogEvidence wanted = evidence_of(*of.optimizer, of.optimizer->prior().grouped(), 1);
    assert_near("evidence", evidence.value(), wanted.value, 1e-11);
    assert_near("effective", evidence.effective_parameters(), wanted.effective_parameters, 1e-11);
  }
}

/// Labels of noise bring doubt, by which the prior is learned; others do not.
void labels_of_noise_bring_doubt(void**) {
  for (const double signal : {0.0, 3.0}) {
    const Index inputs = signal == 0 ? 10 : 2;
    Regression of("slang", Family::low_rank, {inputs, 50, 1}, 150, signal, BDL_BERNOULLI);
    assert_true(of.optimizer->options().learn_prior == learn_in_doubt);
    const double before = of.optimizer->prior().groups()[0];
    of.train(60);
    const double after = of.optimizer->prior().groups()[0];
    assert_true(of.optimizer->state.is_in_doubt == (signal == 0));
    assert_true(signal == 0 ? after > 1.3 * before : after == before);
  }
}

/// Returns the parameters that all rows of a linear model determine, tr (H + lambda)^-1 H.
double determined_in_a_line(const Regression& of, double lambda, double tau) {
  const Index inputs = of.network->inputs(), parameters = inputs + 1;
  Dense rows(parameters, of.examples, 1);
  for (Index i = 0; i < of.examples; ++i)
    for (Index j = 0; j < inputs; ++j) rows(j, i) = of.x[static_cast<std::size_t>(i * inputs + j)];
  const Dense sigma = inverse_of(tau * (rows * transposed(rows)) + lambda * identity(parameters));
  auto sum = static_cast<double>(parameters);
  for (Index j = 0; j < parameters; ++j) sum -= lambda * sigma(j, j);
  return sum;
}

/// At most 192 of the 600 rows are looked at. Their parameters are counted to 5 or 10 %; of 400, the rows
/// alone would find half of what all determine.
void all_data_determine_more_than_the_rows(void**) {
  struct Case {
    Index inputs;
    double least, most;
  };
  for (const auto& [inputs, least, most] :
       {Case{10, 0.98, 1.05}, Case{100, 0.95, 1.05}, Case{400, 0.95, 1.1}}) {
    Regression of("slang", Family::low_rank, {inputs, 1}, 600, 1);
    of.q->set_blank(false);
    of.network->likelihood.set_noise_precision(std::vector<double>{1.7});
    of.optimizer->prior().set_groups(std::vector<double>{30});
    const auto sample = of.sample();
    LinearizedEvidence<double> evidence(*of.optimizer, sample);
    (void)evidence.value();
    const double share = evidence.effective_parameters() / determined_in_a_line(of, 30, 1.7);
    assert_true(share > least && share < most);
  }
}

/// A network that can fit every row still finds the noise.
void noise_beside_many_inputs_is_found(void**) {
  Regression of("slang", Family::low_rank, {60, 50, 1}, 600, 0);
  for (Index i = 0; i < of.examples; ++i)
    for (Index j = 0; j < 60; ++j)
      of.y[static_cast<std::size_t>(i)] += 0.3 * of.x[static_cast<std::size_t>(i * 60 + j)];
  of.train(100);
  const double noise = 1 / of.network->likelihood.noise_precision(0);  // 1 in truth
  assert_true(noise > 0.6 && noise < 1.7);
}

/// In a linear model rows left out are predicted by the exact posterior of the others in the sample, wherever
/// the mean is.
void rows_left_out_of_a_line_are_predicted_exactly(void**) {
  for (const Index rows : {12, 400}) {
    Regression of("laplace", Family::full, {3, 1}, rows, 1);
    of.y[0] = std::nan("");
    std::ranges::copy(Random(5).normal(4, 1).values, of.q->mean().begin());
    of.q->set_blank(false);
    of.network->likelihood.set_noise_precision(std::vector<double>{1.7});
    const auto sample = of.sample();
    LinearizedEvidence<double> evidence(*of.optimizer, sample);
    const double precision = of.optimizer->prior().precision()[0];
    const Index known = sample.curved_rows() - 1;  // the first target is missing
    Dense covariance(known, known);
    std::vector<double> y;
    for (Index r = 0; r < known; ++r) {
      const auto row = [&](Index i) { return sample.curved_x().column_data(i + 1); };
      y.push_back(sample.curved_y()(0, r + 1));
      for (Index s = 0; s < known; ++s)
        covariance(r, s) =
            std::inner_product(row(r), row(r) + 3, row(s), 1.0) / precision + (r == s ? 1 / 1.7 : 0);
    }
    const double weight = static_cast<double>(rows) / static_cast<double>(sample.curved_rows());
    assert_near("log density", evidence.left_out(), weight * left_out_by_definition(covariance, y), 1e-10);
  }
}

/// MacKay's steps end where the slopes of Laplace's evidence are 0.
void its_search_ends_at_the_optimum(void**) {
  Regression of("laplace", Family::full, {3, 5, 1}, 40, 3);
  of.set("evidence=none");
  of.train(200);
  laplace(*of.optimizer, of.inputs(), of.targets());
  const auto sample = of.sample();
  LinearizedEvidence<double> evidence(*of.optimizer, sample);
  evidence.search({}, 2000);
  const double noise = evidence.noise().precisions()[0];
  const EvidenceOptimum optimum = maximize_evidence(*of.optimizer, {true, true});
  for (std::size_t g = 0; g < 2; ++g) assert_near("prior", evidence.prior()[g], optimum.groups[g], 1e-5);
  assert_near("noise", noise, of.network->likelihood.noise_precision(0), 1e-5);
}

/// Optimism ends, training begins anew, and the noise becomes that of a constant.
void noise_alone_is_found_to_be_noise(void**) {
  Regression of("slang-ggn", Family::low_rank, {10, 30, 1}, 60, 0);
  of.train(120);
  const double variance = sum_of_squares(of.y) / 60;
  assert_true(of.optimizer->state.plan.begin > 0);
  const double noise = 1 / of.network->likelihood.noise_precision(0);
  assert_true(noise > 0.7 * variance && noise <= 1.01 * variance);
  Regression signal("slang-ggn", Family::low_rank, {2, 30, 1}, 60, 3);
  signal.train(120);
  assert_true(signal.optimizer->state.plan.begin == 0);
}

/// Returns the noise precision over that of a constant with which training starts.
double first_noise(const Regression& of) {
  ArrayData data(of.inputs(), of.targets());
  initialize(*of.optimizer);
  LooksAtEvidence<double> looks(*of.optimizer, data, 1);
  looks.start();
  const auto count = static_cast<double>(of.examples);
  const double mean = std::accumulate(of.y.begin(), of.y.end(), 0.0) / count;
  return of.network->likelihood.noise_precision(0) * (sum_of_squares(of.y) / count - mean * mean);
}

/// Where nothing is to be learned, noise starts 25,000 / (N d) = 6.25 times as precise as that of a constant.
void optimism_of_deep_networks_follows_the_evidence(void**) {
  const Regression noise("slang", Family::low_rank, {10, 20, 20, 1}, 400, 0);
  assert_near("noise", first_noise(noise), 6.25, 1e-12);
  const Regression many("slang", Family::low_rank, {50, 20, 20, 1}, 400, 0);
  assert_near("many inputs", first_noise(many), 3, 1e-12);
  Regression line("slang", Family::low_rank, {10, 20, 20, 1}, 400, 0);
  for (std::size_t i = 0; i < line.y.size(); ++i) line.y[i] = line.x[10 * i] + 0.3 * line.y[i];
  const double first = first_noise(line);
  assert_true(first > 2 * 6.25 && first <= 100);
}

void noise_that_the_caller_chose_stays(void**) {
  const Regression set("slang", Family::low_rank, {10, 20, 20, 1}, 400, 0);
  set.network->likelihood.set_noise_precision(std::vector<double>{40});
  first_noise(set);
  assert_true(set.network->likelihood.noise_precision(0) == 40);
  const Regression shallow("slang", Family::low_rank, {10, 20, 1}, 400, 0);
  first_noise(shallow);
  assert_true(shallow.network->likelihood.noise_precision(0) == 1);
}

/// Beside its own prior a mode of a few rows would count nearly all of them as determined, and the noise
/// would be all that the targets vary. Its prior stays.
void a_mode_states_the_noise(void**) {
  Regression of("map", Family::low_rank, {20, 50, 1}, 150, 4);
  of.train(200);
  const double variance = sum_of_squares(of.y) / 150, noise = 1 / of.network->likelihood.noise_precision(0);
  assert_true(noise > 0.1 * variance && noise < 0.8 * variance);
  for (const double precision : of.optimizer->prior().groups()) assert_true(precision == 1);
}

/// While log noise precisions are held, the means that give them stay where they began, also where the
/// curvature couples them to the others.
void held_log_precisions_do_not_move(void**) {
  Regression of("slang", Family::low_rank, {3, 20, 2}, 60, 3, BDL_HETEROSCEDASTIC);
  of.set("learning_rate=0.2 heteroscedastic_from=1");
  of.train(1);
  const auto means = [&] { return std::vector<double>(of.q->mean().begin(), of.q->mean().end()); };
  const auto before = means();
  of.train(100);
  const auto after = means();
  int moved = 0, others = 0;
  for (const ParameterBlock& block : of.optimizer->blocks())
    for (Index i = 0; i < block.size(); ++i) {
      const auto k = static_cast<std::size_t>(block.offset + i);
      const bool changes = before[k] != after[k], is_held = block.of_means > 0 && i >= block.of_means;
      (is_held ? moved : others) += changes;
    }
  assert_true(moved == 0 && others > 100);
}

/// Linearised predictions are those of the refinement; draws and the ELBO do not see it.
void a_fit_ends_with_a_refined_posterior(void**) {
  Regression of("slang-ggn", Family::low_rank, {3, 8, 1}, 50, 2);
  of.train(60);
  const auto refined = of.q->refinement();
  assert_true(refined != nullptr);
  assert_true(refined->family() == Family::full && of.q->clone()->refinement() == refined);
  const double elbo = elbo_of(of);
  const Dense variances = variances_of(of, *of.q), wanted = variances_of(of, *refined),
              drawn = variances_of(of, *of.q, BDL_MONTE_CARLO);
  assert_true(variances.values == wanted.values);
  of.q->refine(nullptr);
  assert_true(elbo_of(of) == elbo && variances_of(of, *of.q, BDL_MONTE_CARLO).values == drawn.values);
  assert_true(std::abs(variances_of(of, *of.q)(0, 0) - wanted(0, 0)) > 1e-3 * wanted(0, 0));
  of.q->refine(refined);
  of.q->mean()[0] += 1e-6;
  assert_true(of.q->refinement() == nullptr);
}

}  // namespace

int test_scales_by_evidence() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(sums_over_rows_are_those_over_parameters),
      cmocka_unit_test(rows_without_noise_have_an_evidence),
      cmocka_unit_test(values_left_out_are_predicted_from_the_others),
      cmocka_unit_test(determined_parts_are_soft_projections),
      cmocka_unit_test(it_is_laplaces_evidence),
      cmocka_unit_test(labels_of_noise_bring_doubt),
      cmocka_unit_test(all_data_determine_more_than_the_rows),
      cmocka_unit_test(noise_beside_many_inputs_is_found),
      cmocka_unit_test(rows_left_out_of_a_line_are_predicted_exactly),
      cmocka_unit_test(its_search_ends_at_the_optimum),
      cmocka_unit_test(noise_alone_is_found_to_be_noise),
      cmocka_unit_test(optimism_of_deep_networks_follows_the_evidence),
      cmocka_unit_test(noise_that_the_caller_chose_stays),
      cmocka_unit_test(a_mode_states_the_noise),
      cmocka_unit_test(held_log_precisions_do_not_move),
      cmocka_unit_test(a_fit_ends_with_a_refined_posterior),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
