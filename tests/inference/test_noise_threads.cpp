// Steps by gradients through noise give identical results on one thread and on several.
#include "support/likelihoods.hpp"
#include "support/noisy_networks.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Setting {
  const char* method;
  Index rank;
  NoiseEstimator noise;
};

/// Mean and covariance after some steps, with enough parameters and outputs for several tasks.
template <class T>
Dense results_of(const Setting& setting, Index threads) {
  const auto network = described_network<T>(
      "input 6 12 12; conv 32 3 pad 1; batchnorm; relu; maxpool 2; conv 34 3 groups 2; tanh; dense 60; relu; "
      "dense 4",
      BDL_CATEGORICAL);
  const std::shared_ptr<Posterior<T>> q = layerwise_moment_posterior<T>(*network, setting.rank);
  Optimizer<T> optimizer(network, q, find_method(setting.method), 1000);
  Options options = optimizer.options();
  options.threads = threads;
  options.noise_estimator = setting.noise;
  options.samples = 2;
  optimizer.set_options(options);
  Random random(3);
  const Dense x = random.normal(network->inputs(), 35);
  Dense y(1, 0);
  for (Index i = 0; i < 35; ++i) y = beside(y, random_targets(network->likelihood, random));
  for (int step = 0; step < 3; ++step) step_on(optimizer, x, y);
  Dense all = column_of(std::as_const(*q).mean());
  for_each_low_rank_moment(std::as_const(*q), [&](const LowRankMomentPosterior<T>& member, Index) {
    all.values.insert(all.values.end(), member.s().begin(), member.s().end());
    for (Index k = 0; k < member.rank(); ++k)
      all.values.insert(all.values.end(), member.w().column(k).begin(), member.w().column(k).end());
  });
  for (const double value : all.values) assert_true(std::isfinite(value));
  return all;
}

template <class T>
void several_threads_have_the_bits_of_one(void**) {
  using enum NoiseEstimator;
  const Setting settings[] = {{"elrg", 2, local},      {"elrg-d", 2, weights}, {"elrg-d", 1, flipout},
                              {"mf-vi", 0, local},     {"k-tied", 0, shared},  {"low-rank-vi", 2, shared},
                              {"elrg-d", 1, automatic}};
  for (const Setting& setting : settings) {
    const Dense expected = results_of<T>(setting, 1);
    for (const Index threads : {2, 3})
      assert_same("results of several threads", results_of<T>(setting, threads), expected);
  }
}

}  // namespace

int test_noise_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(several_threads_have_the_bits_of_one<float>),
      cmocka_unit_test(several_threads_have_the_bits_of_one<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
