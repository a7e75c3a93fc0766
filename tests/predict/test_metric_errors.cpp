// Calls that metrics refuse: the status, and a message that names the argument, what was given and what was
// expected.
#include "metric_tables.hpp"
#include "metrics/metrics.hpp"
#include "metrics/ranking.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();

template <class Call>
void expect_error(Status status, const char* message, Call call) {
  try {
    call();
  } catch (const Error& error) {
    if (error.status() == status && std::strstr(error.what(), message)) return;
    fail_msg("got status %d, '%s'; expected %d, '%s'", static_cast<int>(error.status()), error.what(),
             static_cast<int>(status), message);
  }
  fail_msg("got success, expected '%s'", message);
}

/// One metric with its array arguments, all valid, that the tests spoil one at a time.
struct Case {
  std::vector<const char*> names;
  std::vector<Table> valid;
  std::function<void(const std::vector<Array>&)> call;

  void with(std::size_t argument, const Array& array) const {
    std::vector<Array> arrays;
    for (const Table& table : valid) arrays.push_back(table.array());
    arrays[argument] = array;
    call(arrays);
  }
  void with(std::size_t argument, const Table& table) const { with(argument, table.array()); }
};

std::vector<Case> all_metrics() {
  const Table four(2, 2, {1, 2, 3, 4}), more(2, 2, {2, 3, 4, 5}), labels(2, 1, {0, 1});
  const Table probabilities(2, 2, {0.5, 0.5, 0.25, 0.75});
  static double room[12];  // of outputs
  const auto curve = [](const auto& a) { calibration_curve(a[0], a[1], bdl_f64_out(room, 4, 3)); };
  const auto likelihood = [](const auto& a) { negative_log_likelihood(a[0], a[1]); };
  const auto correct = [](const auto& a) { auroc_of_correct(a[0], a[1], BDL_SCORE_CONFIDENCE); };
  return {
      {{"probabilities", "y"}, {probabilities, labels}, likelihood},
      {{"probabilities", "y"}, {probabilities, labels}, curve},
      {{"probabilities", "y"}, {probabilities, column({1, 1})}, correct},
      {{"logits", "y"}, {four, labels}, [](const auto& a) { fit_temperature(a[0], a[1]); }},
      {{"mean", "y"}, {four, more}, [](const auto& a) { rmse(a[0], a[1]); }},
      {{"log_density"}, {labels}, [](const auto& a) { mean_log_predictive_density(a[0]); }},
      {{"probabilities", "y"}, {probabilities, labels}, [](const auto& a) { accuracy(a[0], a[1]); }},
      {{"probabilities", "y"}, {probabilities, labels}, [](const auto& a) { brier_score(a[0], a[1]); }},
      {{"probabilities", "y"},
       {probabilities, labels},
       [](const auto& a) { expected_calibration_error(a[0], a[1], 15); }},
      {{"lower", "upper", "y"}, {four, more, four}, [](const auto& a) { coverage(a[0], a[1], a[2]); }},
      {{"draws", "y"}, {four, labels}, [](const auto& a) { crps(a[0], a[1]); }},
  };
}

/// Spoils every argument of every metric; spoil gets the case, the number of the argument and its name.
template <class Spoil>
void for_each_argument(Spoil spoil) {
  for (const Case& metric : all_metrics())
    for (std::size_t argument = 0; argument < metric.names.size(); ++argument)
      spoil(metric, argument, std::string(metric.names[argument]));
}

void valid_arguments_pass(void**) {
  for_each_argument([](const Case& metric, std::size_t argument, const std::string&) {
    metric.with(argument, metric.valid[argument]);
  });
}

void empty_arrays_and_unknown_types_are_refused(void**) {
  for_each_argument([](const Case& metric, std::size_t argument, const std::string& name) {
    const Table& valid = metric.valid[argument];
    Array unknown = valid.array();
    unknown.dtype = 9;
    expect_error(Status::ERROR_SHAPE, (name + " has unknown dtype 9").c_str(),
                 [&] { metric.with(argument, unknown); });
    expect_error(Status::ERROR_SHAPE, (name + " is empty (0 x 0)").c_str(),
                 [&] { metric.with(argument, bdl_none()); });
    expect_error(Status::ERROR_SHAPE, (name + " is empty (0 x ").c_str(),
                 [&] { metric.with(argument, bdl_f64(valid.values.data(), 0, valid.cols)); });
    expect_error(Status::ERROR_SHAPE, "sizes must not be negative",
                 [&] { metric.with(argument, bdl_f64(valid.values.data(), -2, valid.cols)); });
    expect_error(Status::ERROR_INVALID_ARGUMENT, (name + " has NULL data").c_str(),
                 [&] { metric.with(argument, bdl_f64(nullptr, valid.rows, valid.cols)); });
  });
}

void later_arguments_must_fit_the_first(void**) {
  for_each_argument([](const Case& metric, std::size_t argument, const std::string& name) {
    if (argument == 0) return;
    const Index cols = metric.valid[argument].cols;
    expect_error(Status::ERROR_SHAPE, (name + " has 3 rows, expected 2").c_str(),
                 [&] { metric.with(argument, Table(3, cols)); });
    expect_error(Status::ERROR_SHAPE, (name + " has 3 columns, expected " + std::to_string(cols)).c_str(),
                 [&] { metric.with(argument, Table(2, 3)); });
  });
  expect_error(Status::ERROR_SHAPE, "log_density has 2 columns, expected 1",
               [] { mean_log_predictive_density(Table(2, 2).array()); });
}

void numbers_must_be_finite(void**) {
  for_each_argument([](const Case& metric, std::size_t argument, const std::string& name) {
    for (const double bad : {nan, inf, -inf}) {
      Table spoiled = metric.valid[argument];
      spoiled(1, spoiled.cols - 1) = bad;
      const auto where = name + " is not finite at row 1, column " + std::to_string(spoiled.cols - 1);
      expect_error(Status::ERROR_NOT_FINITE, where.c_str(), [&] { metric.with(argument, spoiled); });
    }
  });
}

/// Calls check for the metrics of probabilities and labels.
void for_each_classification(const std::function<void(const Case&)>& check) {
  int count = 0;
  for (const Case& metric : all_metrics())
    if (std::strcmp(metric.names[0], "probabilities") == 0) check(metric), ++count;
  assert_int_equal(count, 6);
}

void probabilities_must_be_probabilities(void**) {
  for_each_classification([](const Case& metric) {
    const auto refuse = [&](const char* message, const Table& table) {
      expect_error(Status::ERROR_INVALID_ARGUMENT, message, [&] { metric.with(0, table); });
    };
    refuse("probabilities is 1.5 at row 1, column 0 (counting from 0), expected [0, 1]",
           Table(2, 2, {0.5, 0.5, 1.5, -0.5}));
    refuse("probabilities is -0.5 at row 1, column 1 (counting from 0), expected [0, 1]",
           Table(2, 3, {1, 0, 0, 0.75, -0.5, 0.75}));
    refuse("at row 0, column 0 (counting from 0), expected [0, 1]", Table(2, 2, {-2e-6, 1, 0, 1}));
    refuse("at row 0, column 1 (counting from 0), expected [0, 1]", Table(2, 2, {0, 1 + 2e-6, 0, 1}));
    refuse("probabilities is 2 at row 1, column 0 (counting from 0), expected [0, 1]", Table(2, 1, {1, 2}));
    refuse("probabilities is -1 at row 0, column 0 (counting from 0), expected [0, 1]", Table(2, 1, {-1, 1}));
    refuse("probabilities has sum 0.75 in row 1 (counting from 0), expected 1",
           Table(2, 2, {0.5, 0.5, 0.25, 0.5}));
    refuse("probabilities has sum 1.25 in row 0 (counting from 0), expected 1",
           Table(2, 2, {0.75, 0.5, 0.25, 0.75}));
    refuse("in row 1 (counting from 0), expected 1", Table(2, 2, {0.5, 0.5, 0.5, 0.5 + 2e-4}));
    refuse("in row 1 (counting from 0), expected 1", Table(2, 2, {0.5, 0.5, 0.5, 0.5 - 2e-4}));
  });
}

void labels_must_be_class_numbers(void**) {
  for_each_classification([](const Case& metric) {
    const auto refuse = [&](const char* message, const Table& labels) {
      expect_error(Status::ERROR_LABEL, message, [&] { metric.with(1, labels); });
    };
    refuse("y is 2 at row 1 (counting from 0), expected a class number 0 to 1", column({0, 2}));
    refuse("y is -1 at row 0 (counting from 0), expected a class number 0 to 1", column({-1, 0}));
    refuse("y is 0.5 at row 1 (counting from 0), expected a class number 0 to 1", column({1, 0.5}));
    refuse("y is 1e+300 at row 1 (counting from 0), expected a class number 0 to 1", column({1, 1e300}));
    const Case one_column{metric.names, {column({0.25, 0.75}), column({0, 1})}, metric.call};
    expect_error(Status::ERROR_LABEL, "y is 2 at row 1 (counting from 0), expected a class number 0 to 1",
                 [&] {
                   one_column.with(1, column({0, 2}));
                 });
    const Case three{metric.names, {Table(2, 3, {1, 0, 0, 0, 0, 1}), column({0, 2})}, metric.call};
    expect_error(Status::ERROR_LABEL, "y is 3 at row 0 (counting from 0), expected a class number 0 to 2",
                 [&] {
                   three.with(1, column({3, 2}));
                 });
  });
}

void bins_must_be_positive(void**) {
  const Table p(1, 2, {0.5, 0.5}), y = column({0});
  for (const Index bins : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()})
    expect_error(Status::ERROR_INVALID_ARGUMENT,
                 ("bins is " + std::to_string(bins) + ", expected at least 1").c_str(),
                 [&] { expected_calibration_error(p.array(), y.array(), bins); });
}

void intervals_must_not_be_reversed(void**) {
  const Table lower(2, 2, {0, 0, 0, 3}), upper(2, 2, {1, 0, 1, 2}), y(2, 2);
  expect_error(Status::ERROR_INVALID_ARGUMENT, "lower is 3 above upper 2 at row 1, column 1",
               [&] { coverage(lower.array(), upper.array(), y.array()); });
}

}  // namespace

int test_metric_errors() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(valid_arguments_pass),
      cmocka_unit_test(empty_arrays_and_unknown_types_are_refused),
      cmocka_unit_test(later_arguments_must_fit_the_first),
      cmocka_unit_test(numbers_must_be_finite),
      cmocka_unit_test(probabilities_must_be_probabilities),
      cmocka_unit_test(labels_must_be_class_numbers),
      cmocka_unit_test(bins_must_be_positive),
      cmocka_unit_test(intervals_must_not_be_reversed),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
