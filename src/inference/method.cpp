#include "inference/method.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr Method table[] = {
    {"slang", 0},      // Mishkin et al. 2018
    {"slang-ggn", 1},  // the same step with mc-ggn rows
};

}  // namespace

std::span<const Method> method_table() {
  return table;
}

const Method& find_method(const char* name) {
  std::string names;
  for (const Method& method : table) {
    if (std::strcmp(method.name, name) == 0) return method;
    names += names.empty() ? "\"" : ", \"";
    names += method.name + std::string("\"");
  }
  fail(Status::ERROR_INVALID_ARGUMENT, "method is \"%.60s\", expected one of %s", name, names.c_str());
}

}  // namespace bdl
