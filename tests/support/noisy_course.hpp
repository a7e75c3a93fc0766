// A course of training by plain gradients through noise, and the gradient of its next step.
#pragma once

#include "evidence/noisy_estimator.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"
#include "prior/prior.hpp"
#include "support/noisy_beliefs.hpp"
#include "support/training.hpp"

namespace bdl::testing {

inline constexpr Index data_size = 400;

struct Course {
  std::shared_ptr<Network<double>> network;
  std::shared_ptr<Posterior<double>> q;
  std::unique_ptr<Optimizer<double>> optimizer;
  Dense x, y;
};

inline Course course_of(const char* method, Index rank, void (*change)(Options&)) {
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

/// The learned numbers: means, W block by block, log standard deviations.
struct Numbers {
  Dense mean, w, log_sigma;
};

inline Numbers numbers_of(Posterior<double>& q) {
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
inline Numbers gradient_of(const Course& course, double kl_weight) {
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
    Scratch scratch;
    kl_gradient<double>(member, {}, prior.precision().subspan(at(offset), at(size)),
                        {{}, {by_w.data(), size, rank}, by_log_sigma}, scratch);
    add_multiple(kl_weight, by_w.data(), out.w.values.data() + offset * rank, size * rank);
    add_multiple(kl_weight, by_log_sigma.data(), out.log_sigma.values.data() + offset, size);
  });
  return out;
}

}  // namespace bdl::testing
