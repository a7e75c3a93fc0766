// Training by gradients through noise: expectations by every estimator, posteriors that are known, steps
// against their formulas, and what the options do.
#include <array>
#include <string>

#include "inference/batch/first_order.hpp"
#include "inference/methods/schedule.hpp"
#include "inference/noise/noisy_estimator.hpp"
#include "posterior/low_rank_moment/kl_gradient.hpp"
#include "prior/prior.hpp"
#include "support/likelihoods.hpp"
#include "support/noisy_networks.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr NoiseEstimator all_noise[] = {NoiseEstimator::local, NoiseEstimator::weights,
                                        NoiseEstimator::flipout, NoiseEstimator::shared};

/// visit(member, first parameter, its number).
template <class T, class Visit>
void for_each_block(Posterior<T>& q, Visit&& visit) {
  std::size_t number = 0;
  for_each_low_rank_moment(
      q, [&](LowRankMomentPosterior<T>& member, Index offset) { visit(member, offset, number++); });
}

/// Random mean, W and s.
template <class T>
void set_belief(Posterior<T>& q, double low_rank, double sigma, std::uint64_t seed) {
  Random random(seed);
  for (T& value : q.mean()) value = static_cast<T>(0.5 * random.normal());
  for_each_block(q, [&](LowRankMomentPosterior<T>& member, Index, std::size_t) {
    for (Index k = 0; k < member.rank(); ++k)
      for (T& value : member.w().column(k)) value = static_cast<T>(low_rank * random.normal());
    for (T& value : member.s()) value = static_cast<T>(sigma * sigma * (0.5 + random.uniform()));
    TallScratch scratch;
    member.factorize(scratch);
  });
  q.set_blank(false);
}

// Monte Carlo --------------------------------------------------------------------------------------------

struct MonteCarlo {
  double mean, error;
};

/// E[-log p] of all examples; draws are the samples, each of all examples.
MonteCarlo expected_loss(const Network<double>& network, const Posterior<double>& q, const Dense& x,
                         const Dense& y, NoiseEstimator noise) {
  Options options;
  options.samples = 500;
  options.noise_estimator = noise;
  options.diagonal_part = DiagonalPart::fixed;
  NoisyEstimator<double> estimator(network);
  double sum = 0, squares = 0, count = 0;
  for (Index step = 0; step < 20; ++step) {
    estimator.estimate(q, {x.values.data(), x.rows, x.cols}, {y.values.data(), y.rows, y.cols}, options, 1,
                       step, {{}, {}});
    const auto f = estimator.outputs();
    for (Index s = 0; s < options.samples; ++s, ++count) {
      double loss = 0;
      for (Index i = 0; i < x.cols; ++i)
        loss -= network.likelihood.log_density(f.column_data(s * x.cols + i), y.column(i));
      sum += loss;
      squares += loss * loss;
    }
  }
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / count)};
}

/// Within 4.5 standard errors of each other: three comparisons, so that a right library would fail once in
/// 49,000 seeds. The networks with another law must be told apart as surely.
void every_exact_estimator_has_the_same_expectation(void**) {
  const auto network = described_network<double>("input 3; dense 6; tanh; dense 3", BDL_CATEGORICAL);
  const auto q = layerwise_moment_posterior<double>(*network, 2);
  set_belief(*q, 0.7, 0.8, 4);
  Random random(5);
  const Dense x = random.normal(3, 4);
  Dense y(1, 4);
  for (Index i = 0; i < 4; ++i) y(0, i) = static_cast<double>(i % 3);
  const MonteCarlo local = expected_loss(*network, *q, x, y, NoiseEstimator::local);
  for (const NoiseEstimator noise : all_noise) {
    const MonteCarlo other = expected_loss(*network, *q, x, y, noise);
    assert_true(std::abs(other.mean - local.mean) <= 4.5 * std::hypot(other.error, local.error));
  }
  const auto narrower = layerwise_moment_posterior<double>(*network, 2);
  set_belief(*narrower, 0.7, 0.7, 4);
  const MonteCarlo other = expected_loss(*network, *narrower, x, y, NoiseEstimator::local);
  assert_true(std::abs(other.mean - local.mean) > 4.5 * std::hypot(other.error, local.error));
}

// Posteriors that are known ------------------------------------------------------------------------------

Dense covariance_of(Posterior<double>& q) {
  Dense out(q.dimension(), q.dimension());
  for_each_block(q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
    const Dense w = dense_of(member.w()), low_rank = w * transposed(w);
    for (Index i = 0; i < w.rows; ++i)
      for (Index j = 0; j < w.rows; ++j)
        out(offset + i, offset + j) = low_rank(i, j) + (i == j ? member.s()[at(i)] : 0);
  });
  return out;
}

/// KL(N(m, Sigma) || N(m0, P^-1)).
double kl_of(const Dense& mean, const Dense& sigma, const Dense& mean0, const Dense& precision) {
  const Dense distance = mean - mean0;
  return 0.5 * (trace(precision * sigma) + dot(distance, precision * distance) -
                static_cast<double>(mean.rows) - log_det(sigma) - log_det(precision));
}

constexpr Index inputs = 4, examples = 30;

struct Regression {
  Dense x, y, precision, mean;
};

/// Inputs that hang together, noise and prior of precision 1.
Regression regression() {
  Random random(11);
  Regression out{random.normal(inputs, examples), Dense(1, examples), {}, {}};
  for (Index i = 0; i < examples; ++i) {
    for (Index j = 1; j < inputs; ++j) out.x(j, i) = 0.5 * out.x(j, i) + 0.7 * out.x(0, i);
    out.y(0, i) = out.x(0, i) - 0.5 * out.x(2, i) + random.normal();
  }
  out.precision = out.x * transposed(out.x) + identity(inputs);
  out.mean = inverse_of(out.precision) * (out.x * transposed(out.y));
  return out;
}

double divergence_after_training(const char* method, Index rank, const Regression& data) {
  const auto network = described_network<double>("input 4; dense 1 nobias", BDL_GAUSSIAN);
  const double noise_precision = 1;
  network->likelihood.set_noise_precision({&noise_precision, 1});
  const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, rank);
  Optimizer<double> optimizer(network, q, find_method(method), examples);
  Options options = optimizer.options();
  options.learning_rate = 0.02;
  options.final_rate = 0;
  options.total_steps = 4000;
  options.samples = 1;
  options.learn_prior = options.learn_noise = 0;
  options.prior_scaling = PriorScaling::unit;
  options.initial_precision = 30;
  optimizer.set_options(options);
  for (int step = 0; step < 4000; ++step) step_on(optimizer, data.x, data.y);
  return kl_of(column_of(std::as_const(*q).mean()), covariance_of(*q), data.mean, data.precision);
}

/// Of D = 4 parameters: the mean field's own optimum has precisions Lambda_ii; rank 3 can be exact.
void regressions_end_at_their_posterior(void**) {
  const Regression data = regression();
  double optimum = -log_det(data.precision) / 2;
  for (Index i = 0; i < inputs; ++i) optimum += std::log(data.precision(i, i)) / 2;
  assert_true(optimum > 0.2);
  const double mean_field = divergence_after_training("mf-vi", 0, data),
               low_rank = divergence_after_training("elrg-d", 3, data);
  if (!(mean_field > optimum && mean_field < optimum + 0.02))
    fail_msg("mean field: %g, its optimum is %g", mean_field, optimum);
  if (!(low_rank > 0 && low_rank < 0.02)) fail_msg("rank 3: %g", low_rank);
}

// Steps of the class that takes them ---------------------------------------------------------------------

/// With nothing but the KL, and s fixed, W^T W ends at (gamma - s) I, whatever a is.
void the_divergence_alone_fills_the_prior(void**) {
  constexpr Index dimension = 12, rank = 3;
  constexpr double s = 0.04, gamma = 0.5;
  for (const double scale : {0.0, 1.0}) {
    Options options;
    options.descent = DescentOption::adam;
    options.diagonal_part = DiagonalPart::fixed;
    options.low_rank_scale = scale;
    const auto q = create_posterior<double>({Family::low_rank_moment, dimension, rank, {}, {}});
    const auto next = q->clone();
    set_belief(*q, 0.1, 1, 3);
    for_each_block(*q, [&](LowRankMomentPosterior<double>& member, Index, std::size_t) {
      std::ranges::fill(member.s(), s);
      TallScratch scratch;
      member.factorize(scratch);
    });
    const std::vector<double> precision(dimension, 1 / gamma);
    std::vector<double> slope(dimension), by_w(dimension * rank, 0.0);
    FirstOrder<double> steps;
    constexpr int count = 3000;
    for (int t = 1; t <= count; ++t) {
      for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = std::as_const(*q).mean()[i] / gamma;
      const double rate = 0.05 * (1 - (t - 1.0) / count);
      steps.move_low_rank({*q, slope, precision, 1, rate, t}, {{}, by_w, {}}, options, *next);
      q->swap(*next);
      steps.commit();
    }
    for_each_block(*q, [&](LowRankMomentPosterior<double>& member, Index, std::size_t) {
      const Dense w = dense_of(member.w());
      assert_close("W^T W", transposed(w) * w, (gamma - s) * identity(rank), 1e-4);
      for (const double value : member.s()) assert_true(value == s);
    });
    assert_true(max_abs(column_of(std::as_const(*q).mean())) < 1e-4);
  }
}

/// Two equal columns and a tiny s: in float the Gram matrix of W / sqrt(s) is singular.
void equal_columns_train_on(void**) {
  const auto network = described_network<float>("input 20; dense 30; relu; dense 3", BDL_CATEGORICAL);
  const std::shared_ptr<Posterior<float>> q = layerwise_moment_posterior<float>(*network, 2);
  set_belief(*q, 0.1, 1, 6);
  for_each_block(*q, [&](LowRankMomentPosterior<float>& member, Index, std::size_t) {
    std::ranges::copy(member.w().column(0), member.w().column(1).begin());
    std::ranges::fill(member.s(), std::exp(-12.0f));
    TallScratch scratch;
    member.factorize(scratch);
  });
  Optimizer<float> optimizer(network, q, find_method("elrg"), 1000);
  Random random(7);
  const Dense x = random.normal(20, 32);
  Dense y(1, 0);
  for (Index i = 0; i < 32; ++i) y = beside(y, random_targets(network->likelihood, random));
  for (int step = 0; step < 200; ++step) step_on(optimizer, x, y);
  for_each_block(*q, [&](LowRankMomentPosterior<float>& member, Index, std::size_t) {
    const Dense w = dense_of(member.w());
    assert_true(std::isfinite(max_abs(w)));
    assert_true(max_abs(columns_of(w, 0, 1) - columns_of(w, 1, 1)) > 1e-4);
  });
}

// Pairs of opposite signs --------------------------------------------------------------------------------

void pairs_have_the_mean_of_linear_networks(void**) {
  for (const char* const text : {"input 3; dense 2", "input 2 4 4; conv 3 3 pad 1 groups 1"})
    for (const NoiseEstimator noise : all_noise) {
      const auto network = described_network<double>(text, BDL_GAUSSIAN);
      const auto q = layerwise_moment_posterior<double>(*network, 2);
      set_belief(*q, 0.5, 0.5, 9);
      Options options;
      options.samples = 4;
      options.antithetic = 1;
      options.noise_estimator = noise;
      Random random(10);
      const Dense x = random.normal(network->inputs(), 5), y = random.normal(network->outputs(), 5);
      NoisyEstimator<double> estimator(*network);
      estimator.estimate(*q, {x.values.data(), x.rows, 5}, {y.values.data(), y.rows, 5}, options, 1, 3,
                         {{}, {}});
      const Dense f = dense_of(estimator.outputs());
      Dense at_mean(network->outputs(), 5);
      Buffer<double> scratch(network->scratch_size(5));
      network->forward(std::as_const(*q).mean(), {x.values.data(), x.rows, 5},
                       {at_mean.values.data(), at_mean.rows, 5}, scratch, {});
      for (const Index s : {0, 2}) {
        const Dense one = columns_of(f, s * 5, 5), other = columns_of(f, s * 5 + 5, 5);
        assert_close(text, 0.5 * (one + other), at_mean, 1e-14);
        assert_true(max_abs(one - other) > 0.1);
      }
      assert_true(max_abs(columns_of(f, 0, 5) - columns_of(f, 10, 5)) > 0.1);
    }
}

// Steps of the optimizer against their formulas ----------------------------------------------------------

constexpr Index data_size = 400;

struct Course {
  std::shared_ptr<Network<double>> network;
  std::shared_ptr<Posterior<double>> q;
  std::unique_ptr<Optimizer<double>> optimizer;
  Dense x, y;
};

Course course_of(const char* method, Index rank, void (*change)(Options&)) {
  Course out;
  out.network = described_network<double>("input 5; dense 4; tanh; dense 2", BDL_GAUSSIAN);
  out.q = layerwise_moment_posterior<double>(*out.network, rank);
  set_belief(*out.q, 0.3, 0.4, 12);
  out.optimizer = std::make_unique<Optimizer<double>>(out.network, out.q, find_method(method), data_size);
  Options options = out.optimizer->options();
  options.learn_prior = options.learn_noise = 0;
  options.prior_precision = 3;
  options.learning_rate = 0.1;
  options.momentum = 0;
  options.final_rate = 1;
  options.descent = DescentOption::sgd;
  change(options);
  out.optimizer->set_options(options);
  Random random(13);
  out.x = random.normal(5, 9);
  out.y = random.normal(2, 9);
  return out;
}

/// What is learned: means, W block by block, log standard deviations.
struct Numbers {
  Dense mean, w, log_sigma;
};

Numbers numbers_of(Posterior<double>& q) {
  Numbers out{column_of(std::as_const(q).mean()), Dense(0, 1), Dense(q.dimension(), 1)};
  for_each_block(q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
    const Dense w = dense_of(member.w());
    out.w.values.insert(out.w.values.end(), w.values.begin(), w.values.end());
    for (Index i = 0; i < member.dimension(); ++i)
      out.log_sigma(offset + i, 0) = std::log(member.s()[at(i)]) / 2;
  });
  out.w.rows = std::ssize(out.w.values);
  return out;
}

/// The gradient of N times the loss per example with so much of the KL, for the noise of the next step.
Numbers gradient_of(const Course& course, double kl_weight) {
  Posterior<double>& q = *course.q;
  Options options = course.optimizer->options();
  options.diagonal_part = DiagonalPart::free;  // number by number
  const Prior<double> prior(course.network->graph()->blocks(), options);
  NoisyEstimator<double> estimator(*course.network);
  const auto estimate = estimator.estimate(q, {course.x.values.data(), 5, 9}, {course.y.values.data(), 2, 9},
                                           options, data_size / 9.0, course.optimizer->state.step, {{}, {}});
  Numbers out{column_of(estimate.gradient.mean), column_of(estimate.gradient.w),
              column_of(estimate.gradient.log_sigma)};
  for (Index i = 0; i < q.dimension(); ++i)
    out.mean(i, 0) += kl_weight * prior.precision()[at(i)] * std::as_const(q).mean()[at(i)];
  for_each_block(q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
    const Index size = member.dimension(), rank = member.rank();
    std::vector<double> by_w(at(size * rank)), by_log_sigma(at(size));
    TallScratch scratch;
    reserve_kl_gradient(member, scratch);
    kl_gradient<double>(member, {}, prior.precision().subspan(at(offset), at(size)),
                        {{}, {by_w.data(), size, rank}, by_log_sigma}, scratch);
    add_multiple(kl_weight, by_w.data(), out.w.values.data() + offset * rank, size * rank);
    add_multiple(kl_weight, by_log_sigma.data(), out.log_sigma.values.data() + offset, size);
  });
  return out;
}

/// One step of plain gradient descent, a = 1 / 2 for W = sqrt(a) V.
void assert_step(const Course& course, double kl_weight, double of_log_sigma = 1) {
  const Numbers before = numbers_of(*course.q), gradient = gradient_of(course, kl_weight);
  step_on(*course.optimizer, course.x, course.y);
  const Numbers after = numbers_of(*course.q);
  const double rate = course.optimizer->options().learning_rate / data_size;
  assert_close("mean", after.mean, before.mean - rate * gradient.mean, 1e-12);
  assert_close("W", after.w, before.w - 0.5 * rate * gradient.w, 1e-12);
  assert_close("log sigma", after.log_sigma, before.log_sigma - of_log_sigma * rate * gradient.log_sigma,
               1e-12);
}

/// 0: the likelihood alone.
void the_divergence_has_its_weight(void**) {
  assert_step(course_of("elrg-d", 2, [](Options& o) { o.kl_weight = 0; }), 0);
  assert_step(course_of("elrg-d", 2, [](Options& o) { o.kl_weight = 0.125; }), 0.125);
  assert_step(course_of("elrg-d", 2, [](Options&) {}), 1);
}

/// Over the first half of ten steps, from 0.
void the_divergence_warms_up(void**) {
  const Course course = course_of("elrg-d", 2, [](Options& o) {
    o.kl_weight = 0.5;
    o.kl_warmup = 0.5;
    o.total_steps = 10;
  });
  for (int step = 0; step < 10; ++step) assert_step(course, 0.5 * std::min(1.0, step / 5.0));
}

/// By log sigma^2 the gradient is half as large, and the standard deviation's logarithm moves half as far as
/// what is moved.
void log_variances_move_a_quarter_as_far(void**) {
  assert_step(course_of("elrg-d", 2, [](Options& o) { o.scale_parameter = ScaleParameter::log_variance; }), 1,
              0.25);
}

/// Adam's first step is as long as the rate says.
void log_variances_move_by_the_rate(void**) {
  for (const auto& [parameter, factor] :
       {std::pair{ScaleParameter::log_sigma, 1.0}, std::pair{ScaleParameter::log_variance, 0.5}}) {
    Course course = course_of("elrg-d", 2, [](Options& o) {
      o.descent = DescentOption::adam;
      o.adam_epsilon = 1e-30;
    });
    Options options = course.optimizer->options();
    options.scale_parameter = parameter;
    course.optimizer->set_options(options);
    const Numbers before = numbers_of(*course.q);
    step_on(*course.optimizer, course.x, course.y);
    const Dense moved = numbers_of(*course.q).log_sigma - before.log_sigma;
    for (const double value : moved.values) assert_near("log sigma", std::abs(value), 0.1 * factor, 1e-12);
  }
}

/// One factor for all s of a block: what its common logarithm's gradient, the sum, makes of it.
void a_block_moves_as_one(void**) {
  const Course course = course_of("elrg-d", 2, [](Options& o) { o.diagonal_part = DiagonalPart::block; });
  for (int step = 0; step < 3; ++step) {
    const Numbers before = numbers_of(*course.q), gradient = gradient_of(course, 1);
    step_on(*course.optimizer, course.x, course.y);
    const Dense moved = numbers_of(*course.q).log_sigma - before.log_sigma;
    for_each_block(*course.q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
      double sum = 0;
      for (Index i = 0; i < member.dimension(); ++i) sum += gradient.log_sigma(offset + i, 0);
      for (Index i = 0; i < member.dimension(); ++i)
        assert_near("log sigma", moved(offset + i, 0), -0.1 / data_size * sum, 1e-13);
    });
  }
}

/// Also where it is known that all s are one number, as they are from the start.
void a_common_s_moves_as_one(void**) {
  const Course course = course_of("elrg", 2, [](Options& o) { o.diagonal_part = DiagonalPart::block; });
  for_each_block(*course.q, [&](LowRankMomentPosterior<double>& member, Index, std::size_t) {
    std::ranges::fill(member.s(), 0.2);
    TallScratch scratch;
    member.factorize(scratch);
  });
  for (int step = 0; step < 3; ++step) {
    const Numbers before = numbers_of(*course.q), gradient = gradient_of(course, 1);
    step_on(*course.optimizer, course.x, course.y);
    const Numbers after = numbers_of(*course.q);
    assert_close("mean", after.mean, before.mean - 0.1 / data_size * gradient.mean, 1e-12);
    for_each_block(*course.q, [&](LowRankMomentPosterior<double>& member, Index offset, std::size_t) {
      double sum = 0;
      for (Index i = 0; i < member.dimension(); ++i) sum += gradient.log_sigma(offset + i, 0);
      for (Index i = 0; i < member.dimension(); ++i) {
        assert_true(member.s()[at(i)] == member.s()[0]);
        assert_near("log sigma", after.log_sigma(offset + i, 0) - before.log_sigma(offset + i, 0),
                    -0.1 / data_size * sum, 1e-13);
      }
    });
  }
}

void a_fixed_s_stays(void**) {
  const Course course = course_of("elrg", 2, [](Options&) {});
  const Numbers before = numbers_of(*course.q), gradient = gradient_of(course, 1);
  step_on(*course.optimizer, course.x, course.y);
  const Numbers after = numbers_of(*course.q);
  assert_same("log sigma", after.log_sigma, before.log_sigma);
  assert_close("W", after.w, before.w - 0.05 / data_size * gradient.w, 1e-12);
}

/// Standard deviations of a weight matrix stay sums of k products, and do move.
void tied_deviations_have_rank_k(void**) {
  const auto network = described_network<double>("input 7; dense 6; tanh; dense 5", BDL_GAUSSIAN);
  const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, 0);
  Optimizer<double> optimizer(network, q, find_method("k-tied"), 100);
  Options options = optimizer.options();
  options.tied_rank = 2;
  options.learning_rate = 0.1;
  optimizer.set_options(options);
  Random random(14);
  const Dense x = random.normal(7, 20), y = random.normal(5, 20);
  Dense first;
  for (int step = 0; step < 30; ++step) {
    step_on(optimizer, x, y);
    const Dense log_sigma = numbers_of(*q).log_sigma;
    if (step == 0) first = log_sigma;
    for (const ParameterBlock& block : network->graph()->blocks()) {
      if (block.is_bias) continue;
      Dense sigma(block.cols, block.rows);
      for (Index i = 0; i < block.size(); ++i) sigma.values[at(i)] = std::exp(log_sigma(block.offset + i, 0));
      const Eigen eigen = eigen_of(transposed(sigma) * sigma);
      assert_true(eigen.values[1] > 1e-8 * eigen.values[0]);
      assert_true(std::abs(eigen.values[2]) <= 1e-13 * eigen.values[0]);
    }
  }
  assert_true(max_abs(numbers_of(*q).log_sigma - first) > 0.1);
}

/// log sigma of every parameter by u and t, factor by factor, and rho, block by block.
Dense tied_log_sigma(const std::vector<ParameterBlock>& blocks, Index rank, const Dense& values) {
  Dense out(0, 1);
  Index first = 0;
  for (const ParameterBlock& block : blocks) {
    const Index rows = block.is_bias ? block.size() : block.rows;
    for (Index o = 0; o < rows; ++o)
      for (Index j = 0; j < (block.is_bias ? 1 : block.cols); ++j) {
        double sigma = 0;
        for (Index l = 0; l < rank && !block.is_bias; ++l)
          sigma +=
              std::exp(values(first + l * rows + o, 0) + values(first + rank * rows + l * block.cols + j, 0));
        out.values.push_back(block.is_bias ? values(first + o, 0) : std::log(sigma));
      }
    first += block.is_bias ? rows : (rows + block.cols) * rank;
  }
  out.rows = std::ssize(out.values);
  return out;
}

/// Their gradient against differences of the standard deviations' logarithms.
void tied_factors_go_down_their_gradient(void**) {
  const Course course = course_of("k-tied", 0, [](Options& o) { o.tied_rank = 2; });
  const auto& blocks = course.network->graph()->blocks();
  const TiedScales<double>& tied = course.optimizer->first_order().tied();
  step_on(*course.optimizer, course.x, course.y);  // from then on s is that of the factors
  for (int step = 0; step < 3; ++step) {
    const Dense before = column_of(tied.values());
    assert_close("log sigma", numbers_of(*course.q).log_sigma, tied_log_sigma(blocks, 2, before), 1e-13);
    const Dense by_log_sigma = gradient_of(course, 1).log_sigma;
    step_on(*course.optimizer, course.x, course.y);
    Dense gradient(before.rows, 1);
    for (Index i = 0; i < before.rows; ++i) {
      Dense up = before, down = before;
      up(i, 0) += 1e-5;
      down(i, 0) -= 1e-5;
      gradient(i, 0) =
          dot(by_log_sigma, tied_log_sigma(blocks, 2, up) - tied_log_sigma(blocks, 2, down)) / 2e-5;
    }
    const double rate = course.optimizer->options().learning_rate / data_size;
    assert_close("moved", column_of(tied.values()) - before, -rate * gradient, 1e-7);
  }
}

/// Points are learned by their mean alone.
void points_have_no_noise(void**) {
  const auto network =
      described_network<double>("input 2 4 4; conv 3 3 pad 1 nobias; batchnorm; relu; dense 2", BDL_GAUSSIAN);
  for (const DiagonalPart part :
       {DiagonalPart::free, DiagonalPart::block, DiagonalPart::tied, DiagonalPart::fixed}) {
    const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, 2);
    Optimizer<double> optimizer(network, q, find_method("elrg-d"), 100);
    Options options = optimizer.options();
    options.diagonal_part = part;
    options.learning_rate = 0.05;
    options.learn_prior = 0;
    options.prior_precision = 10;
    optimizer.set_options(options);
    Random random(15);
    const Dense x = random.normal(32, 20), y = random.normal(2, 20);
    step_on(optimizer, x, y);
    const Dense start = column_of(std::as_const(*q).mean());
    for (int step = 0; step < 10; ++step) step_on(optimizer, x, y);
    const Dense covariance = covariance_of(*q), end = column_of(std::as_const(*q).mean());
    for (const ParameterRange& range : q->points().ranges)
      for (Index i = range.offset; i < range.offset + range.size; ++i) {
        assert_true(end(i, 0) != start(i, 0));
        for (Index j = 0; j < covariance.rows; ++j) assert_true(covariance(i, j) == (i == j ? 1 : 0));
      }
  }
}

/// precision x outputs of dense layers, x input channels of convolutions.
void priors_are_scaled_as_published(void**) {
  const Graph<double> graph("input 3 6 6; conv 4 3 groups 1; tanh; conv 2 3; tanh; dense 5");
  Options options;
  options.prior_precision = 0.25;
  options.prior_scaling = PriorScaling::elrg;
  const Prior<double> prior(graph.blocks(), options);
  const double expected[] = {3, 3, 4, 4, 5, 5};
  for (std::size_t b = 0; b < graph.blocks().size(); ++b)
    for (Index i = 0; i < graph.blocks()[b].size(); ++i)
      assert_near("precision", prior.precision()[at(graph.blocks()[b].offset + i)], 0.25 * expected[b],
                  1e-15);
}

// What a factor is worth ---------------------------------------------------------------------------------

/// The ELBO after training on two clouds of points, as in figure 1 of Tomczak et al. (2020).
double elbo_after_training(Index rank, const Dense& x, const Dense& y) {
  const auto network = described_network<double>("input 2; dense 10; elu; dense 1", BDL_BERNOULLI);
  const std::shared_ptr<Posterior<double>> q = layerwise_moment_posterior<double>(*network, rank);
  Optimizer<double> optimizer(network, q, find_method("elrg"), x.cols);
  Options options = optimizer.options();
  options.initial_precision = std::exp(6.0);
  options.prior_scaling = PriorScaling::unit;
  options.prior_precision = 1;
  options.learning_rate = 0.02;
  options.final_rate = 0;
  options.total_steps = 2500;
  optimizer.set_options(options);
  for (int step = 0; step < 2500; ++step) step_on(optimizer, x, y);
  NoisyEstimator<double> estimator(*network);
  options.samples = 2000;
  const auto estimate = estimator.estimate(*q, {x.values.data(), 2, x.cols}, {y.values.data(), 1, x.cols},
                                           options, 1, 1 << 20, {{}, {}});
  const Index dimension = q->dimension();
  return estimate.expected_log_likelihood - kl_of(column_of(std::as_const(*q).mean()), covariance_of(*q),
                                                  Dense(dimension, 1), identity(dimension));
}

/// A factor that lies where the data say nothing turns to the prior: (log(gamma / s) - 1 + s / gamma) / 2
/// nats in each of two blocks, 5.0 together.
void each_factor_is_worth_five_nats(void**) {
  Random random(16);
  Dense x(2, 100), y(1, 100);
  for (Index i = 0; i < 100; ++i) {
    y(0, i) = static_cast<double>(i % 2);
    x(0, i) = (i % 2 ? 1.5 : 0.5) + 0.5 * random.normal();
    x(1, i) = (i % 2 ? -0.5 : -1.0) + (i % 2 ? 0.5 : 1.0) * random.normal();
  }
  const double none = elbo_after_training(0, x, y), one = elbo_after_training(1, x, y),
               three = elbo_after_training(3, x, y);
  if (!(std::abs(one - none - 5) < 1 && std::abs(three - none - 15) < 1.5))
    fail_msg("ELBOs %g, %g, %g of rank 0, 1, 3", none, one, three);
}

}  // namespace

int test_noisy_training() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(every_exact_estimator_has_the_same_expectation),
      cmocka_unit_test(regressions_end_at_their_posterior),
      cmocka_unit_test(the_divergence_alone_fills_the_prior),
      cmocka_unit_test(equal_columns_train_on),
      cmocka_unit_test(pairs_have_the_mean_of_linear_networks),
      cmocka_unit_test(the_divergence_has_its_weight),
      cmocka_unit_test(the_divergence_warms_up),
      cmocka_unit_test(log_variances_move_a_quarter_as_far),
      cmocka_unit_test(log_variances_move_by_the_rate),
      cmocka_unit_test(a_block_moves_as_one),
      cmocka_unit_test(a_common_s_moves_as_one),
      cmocka_unit_test(a_fixed_s_stays),
      cmocka_unit_test(tied_deviations_have_rank_k),
      cmocka_unit_test(tied_factors_go_down_their_gradient),
      cmocka_unit_test(points_have_no_noise),
      cmocka_unit_test(priors_are_scaled_as_published),
      cmocka_unit_test(each_factor_is_worth_five_nats),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
