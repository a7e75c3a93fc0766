// Memory of steps that learn by gradients through noise: what the optimizer states against what it holds, and
// that later steps allocate nothing.
#include <string>

#include "support/likelihoods.hpp"
#include "support/noisy_networks.hpp"
#include "support/training.hpp"
#include "support/verify_held.hpp"
#include "train/memory.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 20;

struct Setting {
  const char *method, *description;
  Index rank;
  NoiseEstimator noise;
  void (*change)(Options&) = [](Options&) {};
};

const char* const dense_text = "input 30; dense 20; tanh; dense 12; relu; dense 3";
const char* const image_text =
    "input 2 9 9; conv 6 3 pad 1; relu; maxpool 2; conv 4 3 groups 2; tanh; dense 3";
const char* const normed_text =
    "input 2 6 6; conv 4 3 pad 1 nobias; batchnorm; relu; residual; conv 4 3 pad 1; tanh; batchnorm; end; "
    "dropout 0.2; dense 3";

std::vector<Setting> settings() {
  using enum NoiseEstimator;
  std::vector<Setting> all;
  for (const NoiseEstimator noise : {automatic, local, weights, flipout, shared})
    for (const char* const text : {dense_text, image_text, normed_text}) {
      all.push_back({"elrg", text, 3, noise});
      all.push_back({"elrg-d", text, 2, noise, [](Options& o) { o.samples = 2; }});
      all.push_back({"mf-vi", text, 0, noise});
      all.push_back({"k-tied", text, 0, noise, [](Options& o) { o.tied_rank = 3; }});
    }
  const auto with = [&](const char* method, Index rank, void (*change)(Options&)) {
    all.push_back({method, image_text, rank, automatic, change});
  };
  with("low-rank-vi", 4, [](Options& o) { o.noise_estimator = shared; });
  with("elrg", 2, [](Options& o) { o.diagonal_part = DiagonalPart::block; });
  with("elrg", 2, [](Options& o) { o.samples = 4, o.antithetic = 1; });
  with("elrg-d", 2, [](Options& o) { o.descent = DescentOption::sgd; });
  with("elrg-d", 2, [](Options& o) { o.learn_prior = 0, o.kl_weight = 0.25; });
  with("elrg-d", 2, [](Options& o) { o.prior_scaling = PriorScaling::elrg; });
  with("elrg-d", 300, [](Options&) {});
  return all;
}

std::string name_of(const Setting& setting) {
  return std::string(setting.method) + ", noise " + std::to_string(static_cast<int>(setting.noise)) + ", " +
         setting.description;
}

struct Data {
  Dense x, y;
};

template <class T>
std::unique_ptr<Optimizer<T>> optimizer_for(const Setting& setting, std::shared_ptr<Model<T>> model,
                                            std::shared_ptr<Posterior<T>> q) {
  auto optimizer =
      std::make_unique<Optimizer<T>>(std::move(model), std::move(q), find_method(setting.method), 1000);
  Options options = optimizer->options();
  options.noise_estimator = setting.noise;
  options.learn_from = 0;
  setting.change(options);
  optimizer->set_options(options);
  return optimizer;
}

template <class T>
struct Problem {
  std::shared_ptr<Network<T>> model;
  std::shared_ptr<Posterior<T>> q;
  Data data;
};

template <class T>
Problem<T> problem_of(const Setting& setting) {
  const auto network = described_network<T>(setting.description, BDL_CATEGORICAL);
  Random random(61);
  Problem<T> out{network, layerwise_moment_posterior<T>(*network, setting.rank), {}};
  out.data = {random.normal(network->inputs(), examples), Dense(1, 0)};
  for (Index i = 0; i < examples; ++i)
    out.data.y = beside(out.data.y, random_targets(network->likelihood, random));
  return out;
}

/// Bytes held after three steps, beyond model and posterior, which are the caller's.
template <class T>
void what_is_held_is_what_is_stated(void**) {
  for (const Setting& setting : settings()) {
    const Problem<T> problem = problem_of<T>(setting);
    const auto before = counting::Held::now();
    const auto optimizer = optimizer_for<T>(setting, problem.model, problem.q);
    const Index stated = memory_estimate(*optimizer, examples);
    for (int step = 0; step < 3; ++step) step_on(*optimizer, problem.data.x, problem.data.y);
    check_held(name_of(setting).c_str(), counting::Held::now().since(before), stated);
    check_held(name_of(setting).c_str(), counting::Held::now().since(before),
               memory_estimate(*optimizer, examples));
  }
}

/// Those on smaller minibatches, too.
template <class T>
void later_steps_allocate_nothing(void**) {
  for (const Setting& setting : settings()) {
    const Problem<T> problem = problem_of<T>(setting);
    const auto optimizer = optimizer_for<T>(setting, problem.model, problem.q);
    for (int step = 1; step <= 6; ++step) {
      const Index count = step > 3 ? examples - step % 2 : examples;
      fill(optimizer->batch_x(count), columns_of(problem.data.x, 0, count));
      fill(optimizer->batch_y(count), columns_of(problem.data.y, 0, count));
      const std::size_t before = counting::calls;
      train_step(*optimizer, count);
      if (step > 1 && counting::calls != before)
        fail_msg("%s: %zu allocations in step %d", name_of(setting).c_str(), counting::calls - before, step);
    }
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_noise_memory() {
  const CMUnitTest tests[] = {
      BOTH(what_is_held_is_what_is_stated),
      BOTH(later_steps_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
