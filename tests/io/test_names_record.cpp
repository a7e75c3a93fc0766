// Names in files: hostile ones are refused, and those of all versions load.
#include "io/checkpoint.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

using Fields = std::vector<std::pair<const char*, std::string>>;

/// A classifier of two inputs and three classes with these fields.
Names read_with(const Fields& fields) {
  const auto model = make_network<double>({2, 3}, Likelihood(BDL_CATEGORICAL, 3));
  RecordWriter record;
  for (const auto& [key, text] : fields) record.text(key, text);
  return read_names<double>(RecordReader(record.metadata()), *model, model->count_of(BDL_CLASS));
}

void names_are_read(void**) {
  const Names names = read_with({{"model.input_names", "a\\\\b\\nc\n"},
                                 {"model.class_names", "1\n2\n3"},
                                 {"model.class_type", "integer"}});
  assert_string_equal(names.get(BDL_INPUT, 0).c_str(), "a\\b\nc");
  assert_string_equal(names.get(BDL_INPUT, 1).c_str(), "");
  assert_string_equal(names.get(BDL_CLASS, 2).c_str(), "3");
  assert_true(names.all(BDL_TARGET).empty() && names.class_type == BDL_CLASS_INTEGER);
  assert_true(read_with({}).all(BDL_INPUT).empty());
}

void hostile_names_are_refused(void**) {
  const auto refuse = [](const char* words, const Fields& fields) {
    expect_error(Status::ERROR_FORMAT, words, [&] { read_with(fields); });
  };
  refuse("field model.input_names has 1 lines, expected 2", {{"model.input_names", "a"}});
  refuse("field model.input_names has too many lines", {{"model.input_names", "a\nb\nc"}});
  refuse("ends in a backslash", {{"model.class_names", "a\nb\nc\\"}});
  refuse("a backslash that stands for nothing", {{"model.class_names", "\\a\nb\nc"}});
  refuse("a name that is too long", {{"model.target_names", std::string(65536, 'n')}});
  refuse("field model.class_type has an unknown value", {{"model.class_type", "numbers"}});
}

}  // namespace

int test_names_record() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(names_are_read),
      cmocka_unit_test(hostile_names_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
