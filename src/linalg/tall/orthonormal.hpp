// Orthonormal basis of a tall matrix's columns by Householder reflections: well defined for any rank.
#pragma once

#include "base/view.hpp"

namespace bdl {

template <class T>
class Orthonormalizer {
 public:
  void reserve(Index columns);
  /// Replaces the columns of Q (rows >= cols) by an orthonormal basis whose span contains theirs.
  void apply(MatrixView<T> q);

 private:
  Buffer<T> reflectors_, work_;
};

}  // namespace bdl
