// What the branches of a sum hand on, unchanged.
#pragma once

#include "parallel/parallel.hpp"

namespace bdl {

/// to = from, or to += from; nothing if they are the same.
template <class T>
void pass_on(ConstMatrixView<T> from, bool add, MatrixView<T> to) {
  if (from.data == to.data) return;
  const T* in = from.data;
  T* out = to.data;
  for_each_index(from.size(), [=](Index i) BDL_INLINE_LAMBDA { out[i] = add ? out[i] + in[i] : in[i]; });
}

}  // namespace bdl
