// The table of options and methods: defaults within their ranges, limits enforced, near names offered.
#include <set>
#include <string>

#include "evidence/evidence.hpp"
#include "methods/method.hpp"
#include "options/options.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class Check>
void for_each_option(OptionType type, Check check) {
  int count = 0;
  for (const OptionInfo& info : option_table())
    if (info.type == type) check(info), ++count;
  assert_true(count > 0);
}

void names_are_unique_and_documented(void**) {
  std::set<std::string> names;
  for (const OptionInfo& info : option_table()) {
    assert_true(names.insert(info.name).second);
    assert_true(std::strlen(info.doc) > 10 && info.doc[std::strlen(info.doc) - 1] == '.');
    assert_true(std::strlen(info.range) > 0 && std::strlen(default_text(info)) > 0);
    assert_ptr_equal(&find_option(info.name, info.type), &info);
  }
}

void real_options_have_limits(void**) {
  for_each_option(OptionType::real, [](const OptionInfo& info) {
    Options options;
    assert_true(options.*info.real >= info.low && options.*info.real <= info.high && info.low < info.high);
    assert_true(std::stod(default_text(info)) == options.*info.real);
    for (const double value : {info.low, info.high}) {
      set_option(options, info, value);
      assert_true(options.*info.real == value);
    }
    for (const double bad :
         {std::nextafter(info.low, -infinity), std::nextafter(info.high, infinity), infinity, not_a_number})
      expect_error(Status::ERROR_INVALID_ARGUMENT, info.range, [&] { set_option(options, info, bad); });
    assert_true(options.*info.real == info.high);  // a refused value changes nothing
  });
}

void integer_options_have_limits(void**) {
  for_each_option(OptionType::integer, [](const OptionInfo& info) {
    Options options;
    const auto value = [&] { return options.*info.integer; };
    assert_true(static_cast<double>(value()) >= info.low && static_cast<double>(value()) <= info.high);
    assert_true(std::stoll(default_text(info)) == value());
    const bool any = info.low < -1e18;  // the seed
    const auto low = any ? std::numeric_limits<std::int64_t>::min() + 1 : static_cast<std::int64_t>(info.low);
    const auto high = any ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(info.high);
    for (const std::int64_t limit : {low, high}) {
      set_option(options, info, limit);
      assert_true(value() == limit);
    }
    if (any) return;
    for (const std::int64_t bad : {low - 1, high + 1})
      expect_error(Status::ERROR_INVALID_ARGUMENT, info.name, [&] { set_option(options, info, bad); });
    assert_true(value() == high);
  });
}

void choices_are_their_words(void**) {
  for_each_option(OptionType::choice, [](const OptionInfo& info) {
    Options options;
    assert_string_equal(choice_word(info, info.choice(options)), default_text(info));
    std::string joined;
    for (std::int32_t k = 0; joined != info.range; ++k) {
      assert_true(k < 10);
      joined += (k ? " | " : "") + std::string(choice_word(info, k));
      set_option(options, info, choice_word(info, k));
      assert_int_equal(info.choice(options), k);
    }
    for (const char* bad : {"", "nonsense", " "})
      expect_error(Status::ERROR_INVALID_ARGUMENT, info.range, [&] { set_option(options, info, bad); });
  });
}

void values_have_texts(void**) {
  Options options;
  set_option_text(options, "learning_rate=0.25 samples=3 curvature=mc-ggn");
  const auto text = [&](std::string_view name) { return value_text(options, find_option(name)); };
  assert_string_equal(text("learning_rate").c_str(), "0.25");
  assert_string_equal(text("samples").c_str(), "3");
  assert_string_equal(text("curvature").c_str(), "\"mc-ggn\"");
}

void unknown_names_get_the_nearest(void**) {
  const auto unknown = [](const char* name, const char* nearest) {
    expect_error(Status::ERROR_UNKNOWN_OPTION, (std::string("did you mean \"") + nearest + "\"?").c_str(),
                 [&] { find_option(name, OptionType::real); });
  };
  unknown("learning-rate", "learning_rate");
  unknown("LearningRate", "learning_rate");
  unknown("momentun", "momentum");
  unknown("sample", "samples");
  unknown("priorprecision", "prior_precision");
  unknown("sed", "seed");
  const std::string endless(10'000, 'x');
  expect_error(Status::ERROR_UNKNOWN_OPTION, "did you mean",
               [&] { find_option(endless.c_str(), OptionType::real); });
  expect_error(Status::ERROR_UNKNOWN_OPTION, "no option \"\"", [] { find_option("", OptionType::real); });
}

void other_types_are_refused(void**) {
  expect_error(Status::ERROR_INVALID_ARGUMENT, "\"samples\" is an integer, not a real number",
               [] { find_option("samples", OptionType::real); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "\"momentum\" is a real number, not a choice",
               [] { find_option("momentum", OptionType::choice); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "\"schedule\" is a choice, not an integer",
               [] { find_option("schedule", OptionType::integer); });
}

void methods_are_found_by_name(void**) {
  for (const Method& method : method_table()) {
    assert_ptr_equal(&find_method(method.name), &method);
    Options options;
    method.set_defaults(options, {});
    const bool gauss_newton = options.curvature == EstimateKind::mc_ggn;
    assert_int_equal(gauss_newton, std::strcmp(method.name, "slang-ggn") == 0);
    if (method.kind == MethodKind::stream)
      assert_true(options.momentum == 0 && !options.learn_prior && options.learn_noise);
  }
  expect_error(Status::ERROR_INVALID_ARGUMENT, "\"slang\", \"slang-ggn\"", [] { find_method("adam"); });
}

}  // namespace

int test_option_table() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(names_are_unique_and_documented), cmocka_unit_test(real_options_have_limits),
      cmocka_unit_test(integer_options_have_limits),     cmocka_unit_test(choices_are_their_words),
      cmocka_unit_test(unknown_names_get_the_nearest),   cmocka_unit_test(other_types_are_refused),
      cmocka_unit_test(methods_are_found_by_name),       cmocka_unit_test(values_have_texts),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
