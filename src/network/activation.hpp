// Element-wise activations with their derivatives.
#pragma once

#include "base/view.hpp"
#include "bdl/model.h"

namespace bdl {

/// a = phi(z) in place of z, and derivative = phi'(z).
template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative);

/// The same, and second = phi''(z), 0 for the piecewise linear ones.
template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative, MatrixView<T> second);

/// a = phi(z) in place of z.
template <class T>
void activate(bdl_activation kind, MatrixView<T> z);

}  // namespace bdl
