// Training steps, samples and predictions on three threads have the results of one, even if two callers want
// the threads at the same time.
#include <array>
#include <thread>

#include "parallel/parallel.hpp"
#include "predict/predict.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 24, steps = 3, draws = 4;

struct Setting {
  std::vector<Index> sizes;
  Index rank;  // -1: full family
  EstimateKind curvature;
  EigenMethod eigen_method;
};

/// The first network has enough parameters for every loop to have several tasks.
const std::vector<Setting> settings = {
    {{60, 300, 4}, 5, EstimateKind::mc_ef, EigenMethod::gram},
    {{60, 300, 4}, 5, EstimateKind::mc_ggn, EigenMethod::randomized},
    {{60, 300, 1}, 0, EstimateKind::mc_ef, EigenMethod::automatic},
    {{12, 12, 2}, 5, EstimateKind::mc_ef, EigenMethod::outer},
    {{12, 12, 2}, -1, EstimateKind::mc_ggn, EigenMethod::automatic},
};

template <class T>
std::shared_ptr<Posterior<T>> posterior_for(const Setting& setting, Index dimension) {
  if (setting.rank < 0) return std::make_shared<FullPosterior<T>>(dimension);
  return make_posterior<T>(dimension, setting.rank);
}

void append(std::vector<double>& all, const Dense& values) {
  all.insert(all.end(), values.values.begin(), values.values.end());
}

/// Posterior mean after some steps, samples, and moments of predictions.
template <class T>
std::vector<double> train_and_predict(const Setting& setting, Index threads) {
  Random random(3);
  const Index inputs = setting.sizes.front(), outputs = setting.sizes.back();
  const Dense x = random.normal(inputs, examples), y = random.normal(outputs, examples);
  const auto network = make_network<T>(setting.sizes, gaussian(outputs, {1}));
  const Index dimension = network->parameters();
  const auto q = posterior_for<T>(setting, dimension);
  Optimizer<T> optimizer(network, q, find_method("slang"), 10 * examples);
  Options options;
  options.curvature = setting.curvature;
  options.eigen_method = setting.eigen_method;
  options.threads = threads;
  options.samples = 2;
  options.learn_from = 0;
  options.guard = 1e-4;  // small enough to act
  optimizer.set_options(options);
  for (Index step = 0; step < steps; ++step) step_on(optimizer, x, y);
  assert_true(optimizer.state.guarded_steps > 0);

  const ThreadLimit limit(threads);
  std::vector<double> all;
  append(all, column_of(std::as_const(*q).mean()));
  Buffer<T> thetas(dimension * draws);
  Scratch scratch;
  sample(*q, {1, Stream::posterior_sample, 0, 0}, thetas.matrix(dimension, draws), scratch);
  append(all, dense_of(thetas.matrix(dimension, draws)));
  Dense mean = poison(outputs, examples), variance = poison(outputs, examples);
  const Query<T> query{*network, *q, bdl_f64(x.values.data(), examples, inputs), {BDL_MONTE_CARLO, draws, 1}};
  predict_moments(query, bdl_f64_out(mean.values.data(), examples, outputs),
                  bdl_f64_out(variance.values.data(), examples, outputs), bdl_none_out());
  append(all, mean);
  append(all, variance);
  return all;
}

template <class T>
std::vector<double> every_setting(Index threads) {
  std::vector<double> all;
  for (const Setting& setting : settings) {
    const std::vector<double> one = train_and_predict<T>(setting, threads);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

template <class T>
void three_threads_have_the_bits_of_one(void**) {
  const std::vector<double> expected = every_setting<T>(1);
  for (const double value : expected) assert_true(std::isfinite(value));
  std::array<std::vector<double>, 3> got;
  got[0] = every_setting<T>(3);
  std::thread first([&] { got[1] = every_setting<T>(3); }), second([&] { got[2] = every_setting<T>(3); });
  first.join();
  second.join();
  for (const auto& values : got) assert_true(values == expected);
}

}  // namespace

int test_training_threads() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(three_threads_have_the_bits_of_one<float>),
      cmocka_unit_test(three_threads_have_the_bits_of_one<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
