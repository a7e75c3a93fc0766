#include <algorithm>

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

void check_categorical(const Likelihood& likelihood) {
  if (likelihood.kind() != BDL_CATEGORICAL)
    fail(Status::ERROR_UNSUPPORTED, "the likelihood is not BDL_CATEGORICAL");
}

/// Two or more different ones.
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
    fail(Status::ERROR_INVALID_ARGUMENT, "classes has %lld twice, expected different class numbers",
         static_cast<long long>(*twice));
  if (numbers.size() < 2)
    fail(Status::ERROR_INVALID_ARGUMENT, "classes has %lld numbers, expected 2 or more, or bdl_none()",
         static_cast<long long>(numbers.size()));
  return numbers;
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_model_set_classes(bdl_model* model, bdl_matrix classes) {
  return guard("bdl_model_set_classes", [&] {
    with(model, "model", [&](auto& m) {
      check_categorical(m.likelihood);
      if (given(classes))
        m.likelihood.set_classes(checked_classes(classes, m.outputs()));
      else
        m.likelihood.set_all_classes();
    });
  });
}

bdl_status bdl_model_get_classes(const bdl_model* model, bdl_matrix_out classes) {
  return guard("bdl_model_get_classes", [&] {
    with(model, "model", [&](const auto& m) {
      check_categorical(m.likelihood);
      const std::vector<Index> numbers = m.likelihood.classes();
      const auto count = static_cast<Index>(numbers.size());
      check_output(classes, 1, count, "classes");
      const std::vector<double> values(numbers.begin(), numbers.end());
      scatter<double>({values.data(), count, 1}, classes);
    });
  });
}

int64_t bdl_model_class_count(const bdl_model* model) {
  return model ? std::visit([](const auto& m) { return m->likelihood.class_count(); }, model->object) : 0;
}
