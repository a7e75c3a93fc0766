// Files of networks: those from before descriptions, and those whose fields contradict one another.
#include "file_fields.hpp"

namespace {

std::string file_of(const bdl_model* model) {
  int64_t size = 0;
  OK(bdl_save_bytes(model, nullptr, nullptr, nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), ' ');
  OK(bdl_save_bytes(model, nullptr, nullptr, bytes.data(), size, &size));
  return bytes;
}

Model loaded(const std::string& bytes, bdl_status status) {
  bdl_model* model = nullptr;
  const bdl_status got =
      bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), nullptr, &model, nullptr, nullptr);
  if (got != status) fail_msg("loading gave %s: %s", bdl_status_name(got), bdl_last_error());
  return Model(model);
}

/// The layers as three fields.
void test_files_without_description(void**) {
  const Model model = make_mlp(BDL_F32, {3, 5, 4, 2}, BDL_GAUSSIAN, false, BDL_ELU);
  std::string old = with_value(file_of(model.get()), "model.description",
                               R"(none","model.sizes":"3 5 4 2","model.activation":"elu","model.bias":"0)");
  old.replace(old.find("model.description"), 17, "model.former_text");
  const Model same = loaded(with_value(old, "model.kind", "mlp"), BDL_OK);
  const char *text = nullptr, *expected = nullptr;
  OK(bdl_model_description(same.get(), &text));
  OK(bdl_model_description(model.get(), &expected));
  assert_string_equal(text, expected);
}

void test_contradictions(void**) {
  const Model model = make_mlp(BDL_F64, {3, 5, 1}, BDL_GAUSSIAN);
  const std::string good = file_of(model.get());
  loaded(good, BDL_OK);
  const std::pair<const char*, const char*> fields[] = {{"model.inputs", "7"},
                                                        {"model.parameters", "27"},
                                                        {"model.outputs", "2"},
                                                        {"model.kind", "user"},
                                                        {"model.description", "input 3"},
                                                        {"model.description", "input 3; dense 1000000000"},
                                                        {"model.description", ""}};
  for (const auto& [key, value] : fields)
    loaded(with_value(good, key, value),
           std::string(value) == "user" ? BDL_ERROR_INVALID_ARGUMENT : BDL_ERROR_FORMAT);
}

}  // namespace

int test_network_files() {
  const CMUnitTest tests[] = {cmocka_unit_test(test_files_without_description),
                              cmocka_unit_test(test_contradictions)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
