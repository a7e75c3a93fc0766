// Standard deviations that are sums of k products: their rank, and the steps of their factors.
#include "support/noisy_course.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

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
  const TiedScales<double>& tied = course.optimizer->averages.tied;
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

}  // namespace

int test_tied_scales() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(tied_deviations_have_rank_k),
      cmocka_unit_test(tied_factors_go_down_their_gradient),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
