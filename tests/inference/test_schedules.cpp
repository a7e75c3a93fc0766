// Rates over a course of training, and which examples each step sees.
#include <algorithm>
#include <numbers>
#include <set>

#include "data/minibatch.hpp"
#include "methods/schedule.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

void the_power_schedule_divides_by_one_plus_t_to_omega(void**) {
  Options options;
  options.schedule = ScheduleKind::power;
  for (const double decay : {0.51, 1.0, 2.0}) {
    options.decay = decay;
    for (const Index t : {1, 2, 100})
      assert_near("factor", rate_factor(options, {0, 10}, t),
                  1 / (1 + std::pow(static_cast<double>(t), decay)), 1e-15);
  }
  options.decay = 0;  // constant, not one half
  assert_true(rate_factor(options, {}, 1) == 1 && rate_factor(options, {}, 1000) == 1);
}

void the_cosine_schedule_falls_to_its_final_rate(void**) {
  Options options;
  options.final_rate = 0.2;
  const Plan plan{100, 110};
  assert_near("first", rate_factor(options, plan, 101), 1, 1e-15);
  assert_near("middle", rate_factor(options, plan, 106), 0.6, 1e-15);
  assert_near("last", rate_factor(options, plan, 110), 0.2 + 0.8 * (1 + std::cos(0.9 * std::numbers::pi)) / 2,
              1e-15);
  assert_near("after", rate_factor(options, plan, 500), 0.2, 1e-15);
  for (Index t = 101; t < 110; ++t)
    assert_true(rate_factor(options, plan, t + 1) < rate_factor(options, plan, t));
  assert_true(rate_factor(options, {}, 7) == 1);  // no plan, no fall
}

void fractions_of_the_plan_stay_between_zero_and_one(void**) {
  const Plan plan{4, 14};
  assert_true(plan_fraction(plan, 1) == 0 && plan_fraction(plan, 5) == 0 && plan_fraction(plan, 15) == 1);
  assert_near("half", plan_fraction(plan, 10), 0.5, 1e-15);
  assert_true(plan_fraction(plan, 1000) == 1 && plan_fraction({}, 1000) == 0);
}

Options batches_of(Index size, Sampling sampling = Sampling::shuffle, std::int64_t seed = 3) {
  Options options;
  options.minibatch = size;
  options.sampling = sampling;
  options.seed = seed;
  return options;
}

std::vector<Index> copy_of(ConstSpan<Index> indices) {
  return {indices.begin(), indices.end()};
}

void shuffled_epochs_hold_every_example_once(void**) {
  for (const auto& [examples, size] :
       {std::pair<Index, Index>{1, 1}, {10, 3}, {10, 10}, {97, 10}, {100, 33}, {1000, 7}}) {
    Minibatches minibatches(batches_of(size), examples);
    assert_int_equal(minibatches.batches(), (examples + size - 1) / size);
    for (const Index epoch : {0, 1, 5}) {
      std::set<Index> seen;
      std::size_t smallest = static_cast<std::size_t>(examples), largest = 0;
      for (Index b = 0; b < minibatches.batches(); ++b) {
        const auto batch = minibatches.batch(epoch, b);
        smallest = std::min(smallest, batch.size());
        largest = std::max(largest, batch.size());
        seen.insert(batch.begin(), batch.end());
      }
      assert_true(largest <= static_cast<std::size_t>(size) && largest - smallest <= 1);
      assert_true(std::ssize(seen) == examples && *seen.begin() == 0 && *seen.rbegin() == examples - 1);
    }
  }
}

void epochs_are_a_function_of_seed_and_number(void**) {
  for (const auto sampling : {Sampling::shuffle, Sampling::replacement}) {
    Minibatches first(batches_of(25, sampling), 100), again(batches_of(25, sampling), 100),
        other(batches_of(25, sampling, 4), 100);
    const auto epoch2 = copy_of(first.batch(2, 1));
    (void)first.batch(5, 3);  // position in between does not matter
    assert_true(copy_of(again.batch(2, 1)) == epoch2 && copy_of(first.batch(2, 1)) == epoch2);
    assert_false(copy_of(other.batch(2, 1)) == epoch2);
    assert_false(copy_of(first.batch(3, 1)) == epoch2);
    assert_false(copy_of(first.batch(2, 2)) == epoch2);
  }
}

/// 8,000 draws of 100 examples: each count within 6 standard deviations of 80 (false alarms below 2e-7
/// together).
void draws_with_replacement_are_uniform_and_repeat(void**) {
  Minibatches minibatches(batches_of(20, Sampling::replacement), 100);
  std::vector<int> counts(100, 0);
  bool repeated = false;
  for (Index epoch = 0; epoch < 80; ++epoch)
    for (Index b = 0; b < minibatches.batches(); ++b) {
      const auto batch = minibatches.batch(epoch, b);
      assert_int_equal(batch.size(), 20);
      for (const Index example : batch) ++counts[static_cast<std::size_t>(example)];
      repeated |= std::set<Index>(batch.begin(), batch.end()).size() < 20;
    }
  assert_true(repeated);
  for (const int count : counts) assert_true(std::abs(count - 80) < 6 * std::sqrt(80.0));
}

void sizes_are_chosen_by_the_data_or_checked(void**) {
  for (const auto& [examples, size] : {std::pair<Index, Index>{1, 1},
                                       {5, 5},
                                       {11, 10},
                                       {2000, 10},
                                       {4000, 20},
                                       {10'000, 50},
                                       {1'000'000, 200}})
    assert_int_equal(minibatch_size(batches_of(0), examples), size);
  Options few = batches_of(0);
  few.minibatches = 20;
  for (const auto& [examples, size] : {std::pair<Index, Index>{5, 5}, {100, 10}, {400, 20}, {60'000, 200}})
    assert_int_equal(minibatch_size(few, examples), size);
  assert_int_equal(minibatch_size(batches_of(7), 7), 7);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "\"minibatch\" is 8, but there are only 7 examples",
               [] { Minibatches(batches_of(8), 7); });
}

}  // namespace

int test_schedules() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_power_schedule_divides_by_one_plus_t_to_omega),
      cmocka_unit_test(the_cosine_schedule_falls_to_its_final_rate),
      cmocka_unit_test(fractions_of_the_plan_stay_between_zero_and_one),
      cmocka_unit_test(shuffled_epochs_hold_every_example_once),
      cmocka_unit_test(epochs_are_a_function_of_seed_and_number),
      cmocka_unit_test(draws_with_replacement_are_uniform_and_repeat),
      cmocka_unit_test(sizes_are_chosen_by_the_data_or_checked),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
