// Ranges over options: points of the unit cube, the values they stand for, and what is refused.
#include <map>

#include "search/space.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

double first_value(const Space& space, double coordinate) {
  return space.values(std::vector<double>{coordinate}).front();
}

void reals_are_spread_by_their_scale(void**) {
  Space linear, log;
  linear.add_real("learning_rate", 0.5, 2.5, RangeScale::linear);
  log.add_real("prior_precision", 0.01, 100, RangeScale::log);
  for (const double u : {0.0, 0.25, 0.5, 1.0}) {
    assert_near("linear", first_value(linear, u), 0.5 + 2 * u, 1e-15);
    assert_near("log", std::log10(first_value(log, u)), -2 + 4 * u, 1e-14);
    std::vector<double> point{u};
    log.snap(point);
    assert_true(point.front() == u);  // reals stay as they are
  }
  for (const double u : {0.0, 1.0}) {  // not a rounding beyond
    assert_true(first_value(linear, u) >= 0.5 && first_value(linear, u) <= 2.5);
    assert_true(first_value(log, u) >= 0.01 && first_value(log, u) <= 100);
  }
}

/// Every whole number has the same part of the unit interval, and points within it become one.
void whole_numbers_are_as_likely_as_each_other(void**) {
  Space space;
  space.add_integer("samples", 3, 7, RangeScale::linear);
  std::map<double, int> counts, places;
  constexpr int points = 1000;
  for (int i = 0; i < points; ++i) {
    std::vector<double> point{(i + 0.5) / points};
    ++counts[first_value(space, point.front())];
    space.snap(point);
    ++places[point.front()];
    const std::vector<double> once = point;
    space.snap(point);
    assert_true(point == once);
  }
  assert_int_equal(counts.size(), 5);
  assert_int_equal(places.size(), 5);
  assert_true(counts.begin()->first == 3 && counts.rbegin()->first == 7);
  for (const auto& [value, count] : counts) assert_int_equal(count, points / 5);
  assert_true(first_value(space, 0) == 3 && first_value(space, 1) == 7);
}

void whole_numbers_on_a_log_scale(void**) {
  Space space;
  space.add_integer("samples", 1, 1000, RangeScale::log);
  assert_true(first_value(space, 0) == 1 && first_value(space, 1) == 1000);
  // exp of the middle between log 0.5 and log 1000.5
  assert_true(first_value(space, 0.5) == std::round(std::sqrt(0.5 * 1000.5)));
  for (double value = 1; value <= 1000; ++value) {
    std::vector<double> point{(std::log(value) - std::log(0.5)) / (std::log(1000.5) - std::log(0.5))};
    assert_true(first_value(space, point.front()) == value);
    space.snap(point);
    assert_true(first_value(space, point.front()) == value);
  }
}

void values_become_options(void**) {
  Space space;
  space.add_real("learning_rate", 0.1, 0.2, RangeScale::log);
  space.add_choice("curvature", "mc-ggn|  mc-ef ");
  space.add_integer("samples", 2, 9, RangeScale::linear);
  assert_int_equal(space.size(), 3);
  assert_true(!space.is_choice(0) && space.is_choice(1) && !space.is_choice(2));
  Options options;
  options.momentum = 0.25;
  for (const int word : {0, 1}) {
    space.set(std::vector<double>{0.15, static_cast<double>(word), 4}, options);
    assert_true(options.learning_rate == 0.15 && options.samples == 4 && options.momentum == 0.25);
    assert_int_equal(options.curvature, word == 0 ? 1 : 0);
  }
  assert_true(space.values(std::vector<double>{0, 0.2, 0})[1] == 0);
  assert_true(space.values(std::vector<double>{0, 0.7, 0})[1] == 1);
}

void the_prior_is_recognised(void**) {
  Space space;
  space.add_real("learning_rate", 0.1, 0.2, RangeScale::log);
  assert_false(space.has_prior_option());
  space.add_choice("prior_groups", "shared | layers");
  assert_true(space.has_prior_option());
}

/// A refused range is not added.
void bad_ranges_are_refused(void**) {
  Space space;
  const auto real = [&](const char* name, double low, double high, RangeScale scale = RangeScale::linear) {
    return [&space, name, low, high, scale] { space.add_real(name, low, high, scale); };
  };
  const auto whole = [&](const char* name, std::int64_t low, std::int64_t high,
                         RangeScale scale = RangeScale::linear) {
    return [&space, name, low, high, scale] { space.add_integer(name, low, high, scale); };
  };
  const auto choice = [&](const char* words) {
    return [&space, words] { space.add_choice("curvature", words); };
  };
  const Status invalid = Status::ERROR_INVALID_ARGUMENT;
  expect_error(Status::ERROR_UNKNOWN_OPTION, "did you mean \"prior_precision\"",
               real("prior_precison", 1, 2));
  expect_error(invalid, "is an integer, not a real number", real("samples", 1, 2));
  expect_error(invalid, "is a real number, not an integer", whole("momentum", 0, 1));
  expect_error(invalid, "low is 0.5 for option \"momentum\", expected less than high",
               real("momentum", 0.5, 0.1));
  expect_error(invalid, "expected less than high", real("momentum", 0.5, 0.5));
  expect_error(invalid, "\"momentum\" is 1, expected [0, 0.999999]", real("momentum", 0.5, 1));
  expect_error(invalid, "\"momentum\" is -0.1", real("momentum", -0.1, 0.5));
  expect_error(invalid, "nan", real("momentum", 0, not_a_number));
  expect_error(invalid, "nan", real("momentum", not_a_number, 0.5));
  expect_error(invalid, "expected more than 0 on a log scale", real("momentum", 0, 0.5, RangeScale::log));
  expect_error(invalid, "expected 1 to 100000", whole("samples", 0, 5));
  expect_error(invalid, "low is 5 for option \"samples\"", whole("samples", 5, 5));
  expect_error(invalid, "on a log scale", whole("total_steps", 0, 5, RangeScale::log));
  expect_error(invalid, "within -2^53 to 2^53", whole("seed", 0, INT64_MAX - 1));
  expect_error(invalid, "at least two of mc-ef", choice("mc-ef"));
  expect_error(invalid, "at least two", choice(""));
  expect_error(invalid, "at least two", choice("mc-ef |"));
  expect_error(invalid, "\"\", expected mc-ef", choice("mc-ef | | mc-ggn"));
  expect_error(invalid, "\"gauss\", expected mc-ef", choice("mc-ef | gauss"));
  expect_error(invalid, "has \"mc-ef\" twice", choice("mc-ef | mc-ggn | mc-ef"));
  assert_int_equal(space.size(), 0);
  real("momentum", 0, 0.5)();
  expect_error(invalid, "\"momentum\" has a range already", real("momentum", 0.1, 0.5));
  assert_int_equal(space.size(), 1);
}

}  // namespace

int test_spaces() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(reals_are_spread_by_their_scale),
      cmocka_unit_test(whole_numbers_are_as_likely_as_each_other),
      cmocka_unit_test(whole_numbers_on_a_log_scale),
      cmocka_unit_test(values_become_options),
      cmocka_unit_test(the_prior_is_recognised),
      cmocka_unit_test(bad_ranges_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
