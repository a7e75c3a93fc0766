// The arguments theta, x and y of the functions of a model.
#pragma once

#include "c_api/convert.hpp"
#include "model/checked_data.hpp"

namespace bdl {

template <class T>
Buffer<T> checked_parameters(const Model<T>& model, const Array& parameters) {
  check_shape(parameters, 1, model.parameters(), "parameters");
  check_finite<T>(parameters, "parameters");
  return gathered<T>(parameters);
}

/// Checked rows as columns of the core, standardised.
template <class T>
Buffer<T> gathered_inputs(const Model<T>& model, const Array& x) {
  Buffer<T> columns = columns_for<T>(x);
  gather_inputs(model, x, 0, columns.matrix(x.cols, x.rows));
  return columns;
}
template <class T>
Buffer<T> gathered_targets(const Model<T>& model, const Array& y) {
  Buffer<T> columns = columns_for<T>(y);
  gather_targets(model, y, 0, columns.matrix(y.cols, y.rows));
  return columns;
}

}  // namespace bdl
