#include <cstring>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

constexpr const char* nouns[] = {"inputs", "targets", "classes"};

/// Number of what has names there; fails unless the index is one of them.
template <class T>
Index checked_count(const Model<T>& model, const bdl_named& what, Index index) {
  check_enum(what, BDL_INPUT, BDL_CLASS, "what");
  const Index count = model.count_of(what);
  if (count == 0)
    fail(Status::ERROR_UNSUPPORTED,
         "the model has no classes: its likelihood is neither BDL_CATEGORICAL nor BDL_BERNOULLI with one "
         "output");
  if (index < 0 || index >= count)
    fail(Status::ERROR_INVALID_ARGUMENT, "index is %lld, but the model has %lld %s",
         static_cast<long long>(index), static_cast<long long>(count), nouns[what - BDL_INPUT]);
  return count;
}

std::string checked_name(const char* name) {
  not_null(name, "name");
  const std::size_t length = strnlen(name, longest_name + 1);
  if (length > longest_name)
    fail(Status::ERROR_INVALID_ARGUMENT, "name has more than %zu bytes", longest_name);
  if (!is_utf8({name, length})) fail(Status::ERROR_INVALID_ARGUMENT, "name is not UTF-8");
  return {name, length};
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_name(bdl_model* model, bdl_named what, int64_t index, const char* name) {
  return guard("bdl_model_set_name", [&] {
    with(model, "model", [&](auto& m) {
      const Index count = checked_count(m, what, index);
      m.names.set(what, index, count, checked_name(name));
    });
  });
}

bdl_status bdl_model_get_name(const bdl_model* model, bdl_named what, int64_t index, const char** name) {
  return guard("bdl_model_get_name", [&] {
    with(model, "model", [&](const auto& m) {
      checked_count(m, what, index);
      not_null(name, "name");
      *name = m.names.get(what, index).c_str();
    });
  });
}

bdl_status bdl_model_set_class_type(bdl_model* model, bdl_class_type type) {
  return guard("bdl_model_set_class_type", [&] {
    check_enum(type, BDL_CLASS_TEXT, BDL_CLASS_BOOLEAN, "type");
    with(model, "model", [&](auto& m) {
      checked_count(m, BDL_CLASS, 0);
      m.names.class_type = type;
    });
  });
}

bdl_status bdl_model_get_class_type(const bdl_model* model, int32_t* type) {
  return guard("bdl_model_get_class_type", [&] {
    with(model, "model", [&](const auto& m) {
      checked_count(m, BDL_CLASS, 0);
      not_null(type, "type");
      *type = m.names.class_type;
    });
  });
}
