#include <algorithm>
#include <cstring>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

constexpr const char* nouns[] = {"inputs", "targets", "classes"};

/// Returns how many inputs, targets or classes have names; fails unless the index is below that.
template <class T>
Index checked_count(const Model<T>& model, const bdl_named& what, Index index) {
  check_enum(what, BDL_INPUT, BDL_CLASS, "what");
  const Index count = model.count_of(what);
  if (count == 0)
    fail(Status::ERROR_UNSUPPORTED,
         "the model has no classes: its likelihood is neither categorical nor Bernoulli with one output");
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

void check_categorical(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_CATEGORICAL)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not categorical");
}

/// Returns two or more different class numbers, sorted.
std::vector<Index> checked_classes(const Array& classes, Index outputs) {
  check_shape(classes, 1, classes.cols, "classes");
  check_finite(classes, "classes");
  std::vector<Index> numbers;
  for (Index k = 0; k < classes.cols; ++k) {
    const double number = element(classes, 0, k);
    if (number < 0 || number >= static_cast<double>(outputs) || number != std::floor(number))
      fail(Status::ERROR_INVALID_ARGUMENT,
           "classes has %g at column %lld (counting from 0), expected a class number, 0 to %lld", number,
           static_cast<long long>(k), static_cast<long long>(outputs - 1));
    numbers.push_back(static_cast<Index>(number));
  }
  std::ranges::sort(numbers);
  if (const auto twice = std::ranges::adjacent_find(numbers); twice != numbers.end())
    fail(Status::ERROR_INVALID_ARGUMENT,
         "classes has the number %lld twice, expected different class numbers",
         static_cast<long long>(*twice));
  if (numbers.size() < 2)
    fail(Status::ERROR_INVALID_ARGUMENT, "classes has %lld numbers, expected 2 or more, or no array for all",
         static_cast<long long>(numbers.size()));
  return numbers;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_name(bdl_model* model, bdl_named what, int64_t index, const char* name) {
  return guard(__func__, model, "model", [&](auto& m) {
    const Index count = checked_count(m, what, index);
    m.names.set(what, index, count, checked_name(name));
  });
}

bdl_status bdl_model_get_name(const bdl_model* model, bdl_named what, int64_t index, const char** name) {
  return guard(__func__, model, "model", [&](const auto& m) {
    checked_count(m, what, index);
    not_null(name, "name");
    *name = m.names.get(what, index).c_str();
  });
}

bdl_status bdl_model_set_class_type(bdl_model* model, bdl_class_type type) {
  return guard(__func__, [&] {
    check_enum(type, BDL_CLASS_TEXT, BDL_CLASS_BOOLEAN, "type");
    with(model, "model", [&](auto& m) {
      checked_count(m, BDL_CLASS, 0);
      m.names.class_type = type;
    });
  });
}

bdl_status bdl_model_get_class_type(const bdl_model* model, int32_t* type) {
  return guard(__func__, model, "model", [&](const auto& m) {
    checked_count(m, BDL_CLASS, 0);
    not_null(type, "type");
    *type = m.names.class_type;
  });
}

bdl_status bdl_model_set_classes(bdl_model* model, bdl_matrix classes) {
  return guard(__func__, model, "model", [&](auto& m) {
    check_categorical(m.likelihood);
    if (given(classes))
      m.likelihood.set_classes(checked_classes(classes, m.outputs()));
    else
      m.likelihood.set_all_classes();
  });
}

bdl_status bdl_model_get_classes(const bdl_model* model, bdl_matrix_out classes) {
  return guard(__func__, model, "model", [&](const auto& m) {
    check_categorical(m.likelihood);
    const std::vector<Index> numbers = m.likelihood.classes();
    const auto count = static_cast<Index>(numbers.size());
    check_output(classes, 1, count, "classes");
    const std::vector<double> values(numbers.begin(), numbers.end());
    scatter<double>({values.data(), count, 1}, classes);
  });
}

int64_t bdl_model_class_count(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->likelihood.class_count(); }, model->object) : 0;
}
