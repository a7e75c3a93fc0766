// Steps of gradients through noise against their formulas: the divergence's weight, standard deviations one
// by one, by blocks and fixed, and points.
#include "support/noisy_course.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

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

/// The gradient by log sigma^2 is half that by log sigma, and log sigma moves half as far as log sigma^2.
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
    Scratch scratch;
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
    for (const ParameterRange& range : q->point_parameters().ranges)
      for (Index i = range.offset; i < range.offset + range.size; ++i) {
        assert_true(end(i, 0) != start(i, 0));
        for (Index j = 0; j < covariance.rows; ++j) assert_true(covariance(i, j) == (i == j ? 1 : 0));
      }
  }
}

}  // namespace

int test_noisy_steps() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_divergence_has_its_weight),
      cmocka_unit_test(the_divergence_warms_up),
      cmocka_unit_test(log_variances_move_a_quarter_as_far),
      cmocka_unit_test(log_variances_move_by_the_rate),
      cmocka_unit_test(a_block_moves_as_one),
      cmocka_unit_test(a_common_s_moves_as_one),
      cmocka_unit_test(a_fixed_s_stays),
      cmocka_unit_test(points_have_no_noise),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
