// Element-wise activations phi with their derivatives.
#pragma once

#include "base/view.hpp"
#include "bdl/model.h"

namespace bdl {

/// Returns the words of descriptions for activations, from BDL_IDENTITY on.
std::span<const char* const> activation_words();
const char* activation_word(bdl_activation activation);

/// z = phi(z).
template <class T>
void activate(bdl_activation kind, MatrixView<T> z);

/// z = phi(z) and derivative = phi'(z).
template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative);

/// z = phi(z), derivative = phi'(z) and second = phi''(z), which is 0 for the piecewise linear ones.
template <class T>
void activate(bdl_activation kind, MatrixView<T> z, MatrixView<T> derivative, MatrixView<T> second);

}  // namespace bdl
