// The caller's x and y, checked against a model: whoever takes examples takes them from here.
#pragma once

#include "data/data_set.hpp"
#include "model/model.hpp"

namespace bdl {

/// Fails unless x is n x inputs and finite, standardised and as T, too.
template <class T>
void check_inputs(const Model<T>& model, const Array& x);

enum class Missing { refused, allowed };

/// Fails unless x and y are n x inputs and n x targets, finite likewise, and y suits the likelihood; where
/// targets may be missing they are NaN.
template <class T>
void check_data(const Model<T>& model, const Array& x, const Array& y, Missing missing = Missing::refused);

template <class T>
ArrayData checked_data(const Model<T>& model, const Array& x, const Array& y,
                       Missing missing = Missing::refused) {
  check_data(model, x, y, missing);
  return {x, y};
}

}  // namespace bdl
