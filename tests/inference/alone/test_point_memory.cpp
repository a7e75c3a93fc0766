// Memory of training steps of networks with batch norm, convolutions and pools: stated and held, and that
// later steps allocate nothing.
#include "support/network_posteriors.hpp"
#include "support/training.hpp"
#include "support/verify_held.hpp"
#include "train/memory.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr const char* texts[] = {
    "input 5 2 2; batchnorm; dense 20; batchnorm; tanh; dense 8; batchnorm noaffine; dense 3",
    "input 5 2 2; conv 7 2 pad 1; relu; maxpool 2 stride 1; conv 4 1; flatten; dense 3",
    "input 1 4 5; conv 4 3 pad 1 nobias; batchnorm; tanh; residual; conv 4 3 pad 1 groups 2; dropout 0.2; "
    "end; "
    "avgpool 2; dense 3",
    "input 1 4 5; conv 4 3 pad 1 nobias; batchnorm; tanh; residual; conv 4 3 pad 1; end; avgpool 2; dense 3"};

struct Case {
  const char* method;
  Family family;
  Index rank;
};
constexpr Case cases[] = {{"slang", Family::low_rank, 2},       {"vogn", Family::low_rank, 0},
                          {"slang", Family::layerwise_full, 0}, {"slang", Family::full_moment, 0},
                          {"bbb", Family::low_rank, 0},         {"map", Family::full, 0},
                          {"mc-dropout", Family::dropout, 0},   {"kfac", Family::kronecker, 0},
                          {"noisy-kfac", Family::kronecker, 0}, {"ivon", Family::low_rank, 0}};

/// Convolutions in groups have no matrix.
bool suits(const char* text, const Case& item) {
  return item.family != Family::kronecker || !std::strstr(text, "groups");
}

template <class T>
void check_steps(const char* text, const Case& item, EigenMethod eigen_method, bool has_prior) {
  const auto model =
      std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(text), Likelihood(BDL_CATEGORICAL, 3));
  const std::shared_ptr<Posterior<T>> q = posterior_for<T>(item.family, item.rank, *model);
  Random random(9);
  const Dense x = random.normal(20, 30);
  Dense y(1, 30);
  for (Index i = 0; i < 30; ++i) y(0, i) = static_cast<double>(i % 3);
  const std::shared_ptr<Posterior<T>> prior = q->clone();
  const auto before = counting::Held::now();
  auto optimizer = std::make_unique<Optimizer<T>>(model, q, find_method(item.method), 300);
  Options options = optimizer->options();
  options.guard = 1e-6;
  options.samples = 3;
  options.eigen_method = eigen_method;
  if (options.descent == DescentOption::ivon) options.sample_groups = 2;
  options.eigen_interval = 3;
  optimizer->set_options(options);
  if (has_prior) optimizer->set_prior(std::shared_ptr<const Posterior<T>>(prior->clone()));
  const Index stated = memory_estimate(*optimizer, 30);
  for (int step = 1; step <= 6; ++step) {
    const std::size_t calls = counting::calls;
    fill(optimizer->batch_x(30), x);
    fill(optimizer->batch_y(30), y);
    train_step(*optimizer, 30);
    if (step > 1 && counting::calls != calls)
      fail_msg("%s, %s, %s: %zu allocations in step %d", text, item.method, family_word(item.family),
               counting::calls - calls, step);
  }
  check_held(item.method, counting::Held::now().since(before), stated);
  check_held(item.method, counting::Held::now().since(before), memory_estimate(*optimizer, 30));
}

/// Steps by the Gram matrix and by the range finder, if there are eigenpairs to find; and with a prior of the
/// family, if it holds more than a diagonal.
template <class T>
void steps_hold_what_they_state(void**) {
  for (const char* text : texts)
    for (const Case& item : cases) {
      if (!suits(text, item)) continue;
      check_steps<T>(text, item, EigenMethod::gram, false);
      if (item.rank > 0) check_steps<T>(text, item, EigenMethod::randomized, false);
      if (item.family == Family::kronecker) check_steps<T>(text, item, EigenMethod::gram, true);
    }
}

void posteriors_count_their_statistics(void**) {
  LowRankPosterior<double> q(10, 2);
  const Index before = tensor_bytes(q);
  q.adopt({{{3, 4}}, 12});
  assert_int_equal(tensor_bytes(q) - before, 12 * sizeof(double));
}

}  // namespace

int test_point_memory() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(steps_hold_what_they_state<float>),
      cmocka_unit_test(steps_hold_what_they_state<double>),
      cmocka_unit_test(posteriors_count_their_statistics),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
