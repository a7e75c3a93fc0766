#include "io/deleted_options.hpp"

#include "io/shown.hpp"

namespace bdl {
namespace {

constexpr DeletedOption all_deleted[] = {
    {"exchange", "automatic", "rows"},
    {"matrix_gradient", "symmetric"},
    {"moment_jitter", "0"},
};

void check_deleted_option(const DeletedOption& option, const std::string& value) {
  if (value == option.default_value || (option.same_value && value == option.same_value)) return;
  fail(Status::ERROR_FORMAT,
       "option \"%s\" is \"%s\", but this version has no such option and does what \"%s\" did: load the file "
       "with the libbdl that wrote it, set the option to \"%s\" and save it again",
       option.name, shown(value).c_str(), option.default_value, option.default_value);
}

}  // namespace

std::span<const DeletedOption> deleted_options() {
  return all_deleted;
}

void check_deleted_options(const RecordReader& record) {
  for (const DeletedOption& option : all_deleted) {
    const std::string key = std::string("option.") + option.name;
    if (record.has(key)) check_deleted_option(option, record.text(key));
  }
}

}  // namespace bdl
