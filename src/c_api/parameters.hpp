// The argument theta of the functions of a model.
#pragma once

#include "c_api/convert.hpp"
#include "model/model.hpp"

namespace bdl {

template <class T>
Buffer<T> checked_parameters(const Model<T>& model, const Array& parameters) {
  check_shape(parameters, 1, model.parameters(), "parameters");
  check_finite<T>(parameters, "parameters");
  return gathered<T>(parameters);
}

}  // namespace bdl
